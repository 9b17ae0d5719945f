"""Exact oracles. `IntegerProgram` combines local search, a certified bound, and branch and bound if the bound does not
prove that the found record is optimal. `Enumeration` is for tiny instances and for tests of the other oracles.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.wire import wire
from confide.release.oracle.answer import Answer, answered, checked_start
from confide.release.oracle.bounds import Rows, build, linear_bound, solve
from confide.release.oracle.local_search import LocalSearch
from confide.release.oracle.terms import Bits, Clauses, Terms, group_of, separated

__all__ = ["Enumeration", "IntegerProgram"]

# ---- integer program

_SEARCH = LocalSearch()
_NEAREST = LocalSearch(flips_per_variable=0, flips=0, random_starts=0)


@wire("IntegerProgram", "form time_limit search literal")
@dataclass(frozen=True, kw_only=True)
class IntegerProgram(Declared):
    """An oracle that uses the branch-and-bound solver of HiGHS, starting from the record of a local search. If a time
    limit ends the search, the oracle returns the best record that was found.

    First a linear program bounds the optimum and a local search finds a record. If the record's value equals the bound,
    the record is optimal. If the record's value is below the bound, HiGHS continues from that record. The bound of
    HiGHS and its claim of optimality rely on floating-point arithmetic and cannot be checked. Therefore
    `Answer.upper_bound` is always the certified bound.

    The time limit does not include the local search. If the time limit is reached, the answer depends on the speed of
    the machine.

    Raises:
        InvalidInput: a parameter is out of range.

    Source: Wu 2017 gave each round 20 s (L1423-1429); spec query_release E1, E2, E3.

    Example:
        >>> terms = Terms(kind="parities", attributes=3, index=[[0, 1, 2], [0, 1, -1], [2, -1, -1]],
        ...               bits=np.ones((3, 3), dtype=bool), weights=[-2, 3, -1], constant=3)
        >>> answer = IntegerProgram().solve(terms, (np.zeros(3, dtype=bool),), seed=0)
        >>> answer.record.tolist(), answer.value, answer.upper_bound, answer.timed_out
        ([False, False, True], 6, 6.0, False)
    """

    form: Annotated[Literal["disaggregated"], Parameter("always this value in a campaign file")] = "disaggregated"
    time_limit: Annotated[float, Parameter("largest time of a round, in seconds", unit="seconds", above=0)] = 20.0
    search: Annotated[LocalSearch | None, Parameter(
        "search for the first record; None begins with the start records")] = _SEARCH
    literal: Annotated[bool, Parameter("always False in a campaign file")] = False

    def __post_init__(self) -> None:
        if self.rows() is Rows and (self.literal or str(self.form) == "printed"):
            raise InvalidInput("literal" if self.literal else "form", "the printed program is another class",
                               "take confide.evidence.wu_2017.query_release.PrintedIntegerProgram")
        super().__post_init__()

    def rows(self) -> type[Rows]:
        """The class that builds the rows of the oracle's program."""
        return Rows

    def solve(self, terms: Terms, start: tuple[Bits, ...], seed: int) -> Answer:
        """Find the best record within the time limit.

        Args:
            terms: the weighted queries to satisfy, from the netted samples of one round.
            start: records of d bits; the first record is the default record.
            seed: public seed, >= 0.

        Raises:
            InvalidInput: an argument is not as described.
        """
        records = checked_start(terms, start)
        seed = whole("seed", seed)
        began = time.monotonic()
        bound = linear_bound(terms, self.time_limit)
        left = self.time_limit - (time.monotonic() - began)
        stopped = bound.timed_out
        found = (self.search or _NEAREST).towards(terms, records, seed, bound.clauses)
        open_gap = terms.value(found) < bound.clauses
        stopped = stopped or (open_gap and left <= 0)
        if open_gap and left > 0:
            solved = solve(build(terms, self.rows()), start=found, time_limit=left)
            stopped = stopped or solved.timed_out
            if solved.record is not None:
                # Free bits, and those that cost nothing, return to the default.
                record = _whole_record(terms, records[0], solved.record)
                record = _NEAREST.towards(terms, (records[0], record), seed, bound.clauses)
                found = max(found, record, key=terms.value)
        return answered(terms, found, upper_bound=float(bound.clauses), timed_out=stopped)


def _whole_record(terms: Terms, default: Bits, solved: Bits) -> Bits:
    """A valid record with the solver's values of the active attributes and the default's values of the other
    attributes.
    """
    record, active = default.copy(), terms.active()
    record[active] = solved[active]
    for members in terms.groups:
        chosen = members[solved[members]]
        if chosen.size:  # in place of the default's, where that one is not active
            record[members] = False
            record[chosen[0]] = True
        elif not record[members].any():
            record[np.setdiff1d(members, active)[:1]] = True
    return record


# ---- enumeration


@wire("Enumeration", "most")
@dataclass(frozen=True, kw_only=True)
class Enumeration(Declared):
    """An oracle that tries every valid combination of values of the active attributes, which are the attributes in some
    query. Among the best records the oracle returns a record that is nearest to the default record.

    Raises:
        InvalidInput: `most` is below 1; in `solve`, there are more combinations of values of the active attributes than
            `most` allows.

    Example:
        >>> terms = Terms(kind="conjunctions", attributes=3, index=[[0, 1], [1, 2]], bits=[[1, 0], [1, 1]],
        ...               weights=[2, 3])
        >>> answer = Enumeration().solve(terms, (np.zeros(3, dtype=bool),), seed=0)
        >>> answer.record.tolist(), answer.value, answer.upper_bound
        ([False, True, True], 3, 3.0)
    """

    most: Annotated[int, Parameter("largest number of values of active attributes: 2 for each free attribute, 1 for "
                                   "each attribute of a group", at_least=1)] = 2**20

    def solve(self, terms: Terms, start: tuple[Bits, ...], seed: int) -> Answer:
        """Find an optimal record. The result does not depend on the seed.

        Args:
            terms: the weighted queries to satisfy, from the netted samples of one round.
            start: records of d bits; the first record is the default record.
            seed: public seed, >= 0.

        Raises:
            InvalidInput: there are too many combinations of values of the active attributes, or an argument is not as
                described.
        """
        default = checked_start(terms, start)[0]
        whole("seed", seed)
        clauses = separated(terms)
        axes = _axes(terms, clauses, default)
        states = math.prod(len(axis) for axis in axes)
        if states > self.most or len(axes) > 60:
            raise InvalidInput("terms", f"have {states} values of active attributes", f"must be at most {self.most}")
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
"""The values of one coordinate of the enumeration, with the default's value first. A free attribute a has the values
a + 1 (on) and -(a + 1) (off). A one-hot group has the value a + 1 for each attribute a.
"""


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
    """The objective, without its constant shift, at every combination of the coordinates' values."""
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
