"""The exhaustive oracle, for tiny instances and for tests of the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.wire import wire
from confide.release.oracle.answer import Answer, answered, checked_start
from confide.release.oracle.one_hot import Clauses, group_of, separated
from confide.release.oracle.terms import Bits, Terms

__all__ = ["Enumeration"]


@wire("Enumeration", "most")
@dataclass(frozen=True, kw_only=True)
class Enumeration(Declared):
    """Every valid record of the active attributes; of the best ones, one that is nearest to the default record.

    Raises:
        InvalidInput: `most` below 1; in `solve`, terms with more active values.

    Example:
        >>> terms = Terms(kind="conjunctions", attributes=3, index=[[0, 1], [1, 2]], bits=[[1, 0], [1, 1]],
        ...               weights=[2, 3])
        >>> answer = Enumeration().solve(terms, (np.zeros(3, dtype=bool),), seed=0)
        >>> answer.record.tolist(), answer.value, answer.upper_bound
        ([False, True, True], 3, 3.0)
    """

    most: Annotated[int, Parameter("values of active attributes at most: 2 for each free one, one for each attribute "
                                   "of a group", at_least=1)] = 2**20

    def solve(self, terms: Terms, start: tuple[Bits, ...], seed: int) -> Answer:
        """The optimum; the seed has no part in it.

        Args:
            terms: the netted samples.
            start: records of d bits; the first one is the default record.
            seed: public, >= 0.

        Raises:
            InvalidInput: too many active values, or an argument that is not as described.
        """
        default = checked_start(terms, start)[0]
        whole("seed", seed)
        clauses = separated(terms)
        axes = _axes(terms, clauses, default)
        states = math.prod(len(axis) for axis in axes)
        if states > self.most or len(axes) > 60:
            raise InvalidInput("terms", f"have {states} values of active attributes", f"at most {self.most}")
        table = _values(terms, clauses, axes)
        ties = np.flatnonzero(table == table.max())
        places = np.unravel_index(ties, table.shape) if axes else ()
        moved = np.sum([place != 0 for place in places], axis=0) if axes else np.zeros(1)
        best = int(np.argmin(moved))  # the first value of an axis is the default's
        record = default.copy()
        for axis, place in zip(axes, places, strict=True):
            record[[abs(attribute) - 1 for attribute in axis]] = False
            chosen = axis[int(place[best])]
            record[abs(chosen) - 1] = chosen > 0
        return answered(terms, record, upper_bound=float(terms.value(record)))


_Axis = list[int]
"""Values of a free attribute a: a + 1 (on) and -(a + 1) (off); of a group: a + 1 for each; the default's first."""


def _axes(terms: Terms, clauses: Clauses, default: Bits) -> list[_Axis]:
    home = group_of(terms)
    active = np.unique(clauses.attributes[clauses.attributes >= 0])
    axes: list[_Axis] = [[a + 1, -a - 1] if default[a] else [-a - 1, a + 1] for a in active[home[active] < 0].tolist()]
    for g in np.unique(home[active[home[active] >= 0]]).tolist():
        members = terms.groups[g]
        on = int(members[int(np.argmax(default[members]))])
        values = [int(a) for a in members if a in active and a != on]
        idle = [int(a) for a in members if a not in active and a != on]
        spare = idle[:1] if on in active else []  # the others have no part in any query
        axes.append([a + 1 for a in (on, *values, *spare)])
    return axes


def _values(terms: Terms, clauses: Clauses, axes: list[_Axis]) -> NDArray[np.int64]:
    """The objective at every point of the axes, less the shift."""
    where = {abs(value) - 1: n for n, axis in enumerate(axes) for value in axis}
    table = np.zeros([len(axis) for axis in axes], dtype=np.int64)
    parity = terms.kind == "parities"
    for row, weight in enumerate(clauses.weights.tolist()):
        term = np.ones([1] * len(axes), dtype=np.int64)
        for attribute, bit in zip(clauses.attributes[row].tolist(), clauses.bits[row].tolist(), strict=True):
            if attribute < 0:
                break
            n = where[attribute]
            on = np.array([value == attribute + 1 for value in axes[n]])
            factor = np.where(on, -1, 1) if parity else (on == bit).astype(np.int64)
            term = term * factor.reshape([-1 if m == n else 1 for m in range(len(axes))])
        table += weight * ((1 + term) // 2 if parity else term)
    return table
