"""The integer program for a best response, as printed: one constraint (row) for the three literals of a query, and a
row for parities that wrongly forbids some records.

    x_a + x_b + x_c >= 3 c for a query; sum of (1 - x) >= c for a negation; every c binary

Source: Wu 2017, sections 3.5 and 3.6; spec query_release E1, E3, erratum 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.release.oracle.bounds import Rows
from confide.release.oracle.integer_program import IntegerProgram
from confide.release.oracle.terms import ParityRow, parity_row

__all__ = ["MisprintedRows", "PrintedIntegerProgram", "PrintedRows", "printed_parity_row", "row_defects"]


def printed_parity_row(size: int, *, positive: bool) -> ParityRow:
    """The printed constraint (row) for a parity query over a set S of attributes: `sum x = 2 d + c - 1`. The sum is
    over S, d is a whole number, and the binary variable c says whether the record satisfies the query. No record with
    three ones in S satisfies the printed row.

    Args:
        size: number of attributes in S, >= 0.
        positive: whether the row is for the query itself, which is true for an even number of ones. If False, the row
            is for the negated query, and the printed row is right.

    Example:
        >>> printed_parity_row(3, positive=True)
        ParityRow(half=-2, clause=-1, total=-1, most=1)
    """
    corrected = parity_row(size, positive=positive)
    return corrected._replace(clause=-1, total=-1) if positive else corrected


class PrintedRows(Rows):
    """The constraints (rows) of the printed program, except that parities have the corrected row."""

    widest_facets: ClassVar[int] = 0
    whole_clauses: ClassVar[bool] = True

    def literals(self, index: NDArray[np.int64], bits: NDArray[np.bool_], clause: NDArray[np.int64]) -> None:
        """Add one row r c <= (sum of the literals) for each query with r literals. The binary variable c says whether
        the clause of the query holds.
        """
        width = index.shape[1]
        sign = np.where(bits, 1, -1)
        self.add(np.column_stack([index, clause]), np.column_stack([-sign, np.full(len(clause), width)]),
                 width - bits.sum(axis=1, dtype=np.int64))


class MisprintedRows(PrintedRows):
    """The constraints (rows) of the printed program, including the printed row for parities."""

    parity_row: ClassVar = staticmethod(printed_parity_row)


@wire("PrintedIntegerProgram", "form time_limit search literal")
@dataclass(frozen=True, kw_only=True)
class PrintedIntegerProgram(IntegerProgram):
    """The printed program, solved in the same way as `IntegerProgram`. The printed program has a looser linear
    relaxation than `IntegerProgram` and the same optimum.

    With the printed row for parities, the program forbids records with three ones in a parity's set. The record that
    the program finds need not be the best of all records then.

    Example:
        >>> from confide.release.oracle import Terms
        >>> terms = Terms(kind="conjunctions", attributes=2, index=[[0, 1], [1, -1]], bits=[[1, 0], [1, 1]],
        ...               weights=[2, -1], constant=1)
        >>> answer = PrintedIntegerProgram(search=None).solve(terms, (np.zeros(2, dtype=bool),), seed=0)
        >>> answer.record.tolist(), answer.value
        ([True, False], 3)
    """

    form: Annotated[Literal["printed"], Parameter("as files say it")] = "printed"  # type: ignore[assignment]
    literal: Annotated[bool, Parameter("whether parities have the row as printed, too")] = False

    def rows(self) -> type[Rows]:
        """The class that creates the rows of the program. If `literal` is True, parities have the printed row."""
        return MisprintedRows if self.literal else PrintedRows


def row_defects(*, literal: bool, sizes: tuple[int, ...] = (1, 2, 3)) -> list[tuple[int, int]]:
    """The pairs (size of the set S, number of ones in S) for which a parity's row does not force the variable c to
    equal the truth value of the clause.

    Args:
        literal: whether to check the printed row; False for the corrected row.
        sizes: sizes of the sets S to check.

    Example:
        >>> row_defects(literal=True), row_defects(literal=False)
        ([(3, 3)], [])
    """
    row_of = printed_parity_row if literal else parity_row
    defects = set()
    for size in sizes:
        for positive in (True, False):
            row = row_of(size, positive=positive)
            for ones in range(size + 1):
                allowed = {c for c in (0, 1) for d in range(row.most + 1)
                           if ones + row.half * d + row.clause * c == row.total}
                if allowed != {int((ones % 2 == 0) == positive)}:
                    defects.add((size, ones))
    return sorted(defects)
