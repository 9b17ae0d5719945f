"""Tables on the result page of a release of answers: shares of the records for the values of single columns and of
pairs of columns.

All tables follow from published data. An answer that is not published itself is a sum of released answers, each with
its own noise, or is computed from released synthetic rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from confide.campaign.kinds.release.plan import QueriesPlan
from confide.contract.errors import InvalidInput
from confide.contract.presentation import Table
from confide.contract.words import Measured
from confide.release.baselines import NoisyAnswers
from confide.release.columns import Bit
from confide.release.marginal_fit import FittedMarginals
from confide.release.measured_sums import Sums, noise_bar
from confide.release.results import LEVEL, AnyOutcome, bars
from confide.release.workload import Workload

__all__ = ["Cells", "Column", "column_table", "columns_of", "cross_tables"]

Literal = tuple[int, bool]
"""Condition on a record: the index of an attribute of the schema, and whether the record must have this attribute."""

_MOST = 600  # cells that are looked up for one page
_ACROSS, _DOWN = 6, 24  # cells of a cross table


class Cells:
    """Shares of the records with given values, as far as a release determines these shares. At most 600 shares are
    looked up.

    Args:
        plan: plan with which the campaign was settled.
        outcome: outcome of the run.
    """

    def __init__(self, plan: QueriesPlan, outcome: AnyOutcome) -> None:
        self.plan, self._outcome, self._left = plan, outcome, _MOST
        self._board: Any = outcome.billboard
        it, kind = plan.mechanism, plan.workload.kind
        self._sums = Sums(it, plan.schema) if isinstance(it, NoisyAnswers) and kind == "conjunctions" else None
        self._parities = isinstance(it, NoisyAnswers) and kind == "parities"

    def values(self, column: int) -> list[tuple[str, Literal]]:
        """The values of a column, each as a pair of its name and the condition that a record has this value. The column
        is given by its position in the schema, from 0.
        """
        schema = self.plan.schema
        role, start = schema.columns[column], int(schema.starts[column])
        if isinstance(role, Bit):
            return [(role.true or "yes", (start, True)), (role.false or "no", (start, False))]
        cells = schema.cell_attributes[column].tolist()
        return [(schema.names[each][len(role.column):].removeprefix(" = ").removeprefix(" in "), (each, True))
                for each in cells]

    def words(self, literal: Literal) -> str:
        """A condition in words, such as "sex = male"."""
        return (self.plan.schema.names if literal[1] else self.plan.schema.negated)[literal[0]]

    def shares(self, asked: Sequence[Sequence[Literal]]) -> list[Measured | None]:
        """The shares of the records that meet all conditions of a list, one share for each given list of conditions on
        different columns. A share is None where the release does not determine the share, or where too many shares were
        looked up before.
        """
        self._left -= len(asked)
        if self._left < 0 or not asked:
            return [None] * len(asked)
        if self._sums is not None:
            return [self._added(self._sums, each) for each in asked]
        return [self._parity(each) for each in asked] if self._parities else self._read(asked)

    def _added(self, sums: Sums, literals: Sequence[Literal]) -> Measured | None:
        try:
            parts = sums.of(literals)
        except InvalidInput:  # too many combinations
            return None
        if parts is None:
            return None
        return _cell(parts.share(self._board.noisy[sums.measured], self.plan.records),
                     noise_bar(sums.mechanism, parts.times.values(), 1 - LEVEL))

    def _parity(self, literals: Sequence[Literal]) -> Measured | None:
        """The share of records with one attribute, from the released parity of this attribute alone. A record without
        the attribute has an even parity.
        """
        if len(literals) != 1:
            return None
        (attribute, bit), workload = literals[0], self.plan.workload
        for place in np.flatnonzero((workload.index == attribute).any(axis=1)).tolist():
            if (workload.index[place] >= 0).sum() == 1:
                even = float(self._board.uncut(workload)[place])
                bar = bars(self.plan.mechanism, self._board, None, workload).each[place]
                return _cell(1.0 - even if bit else even, float(bar))
        return None

    def _read(self, asked: Sequence[Sequence[Literal]]) -> list[Measured | None]:
        """The shares of records that fulfil each conjunction, computed from the released population or from the
        released product of shares.
        """
        made = _workload(self.plan, asked)
        try:
            found = np.asarray(self._board.answers(made), dtype=np.float64)
        except InvalidInput:  # it answers its own queries alone
            return [None] * len(asked)
        held = np.full(len(made), math.nan)
        if isinstance(self._board, FittedMarginals):
            held = bars(self.plan.mechanism, self._board, self._outcome.certificate, made).each
        return [_cell(share, bar) for share, bar in zip(found.tolist(), held.tolist(), strict=True)]


def _workload(plan: QueriesPlan, asked: Sequence[Sequence[Literal]]) -> Workload:
    """The workload that asks for these conjunctions, in this order."""
    width = max(map(len, asked))
    index, bits = np.full((len(asked), width), -1, np.int32), np.ones((len(asked), width), np.bool_)
    for place, literals in enumerate(asked):
        for k, (attribute, bit) in enumerate(sorted(literals)):
            index[place, k], bits[place, k] = attribute, bit
    return Workload(kind="conjunctions", attributes=plan.schema.attributes, index=index, bits=bits)


def _cell(share: float, bar: float) -> Measured:
    return Measured(min(max(share, 0.0), 1.0), bar if 0.0 < bar < 1.0 else None, share=True)


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of the custodian's table, with the share of the records for each of its values.

    Args:
        name: name of the column.
        values: for each value, its name, the condition that a record has this value, and the share of the records.
    """

    name: str
    values: Sequence[tuple[str, Literal, Measured]]

    @property
    def most(self) -> tuple[Literal, Measured]:
        """The most frequent value: the condition that a record has this value, and its share of the records."""
        _, literal, cell = max(self.values, key=lambda each: each[2])
        return literal, cell

    @property
    def open(self) -> bool:
        """Whether another value may be the most frequent one, because its interval overlaps that of `most`. The result
        is False where no bound on the error of the share is proved.
        """
        literal, cell = self.most
        return cell.error is not None and any(
            other + (other.error or 0.0) >= cell - cell.error for _, its, other in self.values if its != literal)


def columns_of(cells: Cells) -> list[Column]:
    """All columns whose shares the release determines. Columns with more than 24 values are left out."""
    roles = [(role.column, cells.values(place)) for place, role in enumerate(cells.plan.schema.columns)]
    roles = [(name, values) for name, values in roles if len(values) <= _DOWN]
    shares = iter(cells.shares([[literal] for _, values in roles for _, literal in values]))
    found = list[Column]()
    for name, values in roles:
        known = [(said, literal, cell) for (said, literal), cell in zip(values, shares, strict=False)
                 if cell is not None]
        if len(known) == len(values):
            found.append(Column(name=name, values=known))
    return found


def column_table(found: Sequence[Column], note: str) -> Table:
    """One table with the shares of all values of all columns, and a note below the table."""
    return Table(columns=("column", "value", "share of the records"), note=note, rows=tuple(
        (column.name, name, cell) for column in found for name, _, cell in column.values))


def cross_tables(cells: Cells) -> Iterator[Table]:
    """A cross table of shares for every pair of columns whose shares the release determines. The column with fewer
    values runs across the top. Pairs with too many values are left out.
    """
    schema = cells.plan.schema
    for pair in combinations(range(len(schema.columns)), 2):
        down, across = sorted(pair, key=lambda place: -schema.sizes[place])
        if schema.sizes[across] > _ACROSS or schema.sizes[down] > _DOWN:
            continue
        rows, heads = cells.values(down), cells.values(across)
        reported = cells.shares([[mine, theirs] for _, mine in rows for _, theirs in heads])
        if any(each is None for each in reported):
            continue
        width = len(heads)
        yield Table(columns=(schema.columns[down].column, *(f"{schema.columns[across].column}: {name}"
                                                            for name, _ in heads)),
                    rows=tuple((name, *reported[k * width : (k + 1) * width])
                               for k, (name, _) in enumerate(rows)))
