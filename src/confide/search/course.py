"""The course of a search: components one by one, pausing wherever a status is unknown.

All searches share it: they differ in how a new component is looked for (`Finder`).

Source: spec targeted_search 3.1, 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import BudgetExceeded, InvalidInput
from confide.search.component_walk import CAPPED, FINISHED, FOUND, MORE, UNKNOWN, Walk
from confide.search.oracles import Investigation, OracleUnavailable, SeedNotTargeted
from confide.search.releases import Ended, OperatorLog

__all__ = ["Candidates", "Course", "Finder", "as_cap", "as_components", "check_investigation"]

_FIRST_BLOCK, _LARGEST_BLOCK = 256, 65536


class Candidates(Protocol):
    """Unexamined vertices in the order in which they are to be examined until one of them is a target."""

    @property
    def threshold(self) -> float | None:
        """The fake target's value, where there is one."""
        ...

    def take(self, count: int) -> NDArray[np.int64]:
        """The next ones, fewer at the end; -1 stands for the fake target."""
        ...


Finder = Callable[[Walk, int], Candidates]
"""Looks for a component: from the state of a search and the number of the call, 0 for the first."""


class Course:
    """One search under way. It advances as far as the known statuses reach, and can be asked who comes next.

    Args:
        investigation: the private data.
        finder: how a new component is looked for.
        components: k: the finder is called k - 1 times at most.
        charge: called before each call with its number; where it raises `BudgetExceeded` the search ends.
        cap: vertices that may be examined at most; None for no limit.
        answers: id -> status, of earlier asking.
        log: filled while the search goes on.
    """

    def __init__(
        self, investigation: Investigation, finder: Finder, components: int, *,
        charge: Callable[[int], None] | None = None, cap: int | None = None,
        answers: Mapping[Any, bool] | None = None, log: OperatorLog | None = None,
    ) -> None:
        self.investigation, self.statuses = investigation, investigation.statuses()
        if answers is not None:
            if investigation.oracle is not None and (self.statuses.known >= 0).all():
                self.statuses.known = self.statuses.known.copy()  # a table is shared by all runs
            self.statuses.give(answers)
        self.walk = Walk(investigation.graph, self.statuses.known, cap)
        self.log = OperatorLog() if log is None else log
        self.calls, self.joined = 0, list[int]()
        self.ended: Ended | None = None
        self._finder, self._charge, self._most_calls = finder, charge, components - 1
        self._seeds = investigation.seeds.tolist()
        self._candidates: Candidates | None = None
        self._block, self._at, self._size = np.zeros(0, np.int64), 0, _FIRST_BLOCK
        self._walking = False
        self._waits = -1  # the vertex whose status is needed next

    def __repr__(self) -> str:
        return f"<Course, {'ended' if self.ended else 'under way'}>"

    @property
    def order(self) -> NDArray[np.int64]:
        """Confirmed targets so far."""
        return self.walk.order

    def advance(self) -> bool:
        """Go on as far as the known statuses reach. Whether the search has ended.

        Raises:
            SeedNotTargeted: by what the oracle says of a seed.
        """
        while self.ended is None:
            if not self.joined:
                seeds = self.statuses.known[self.investigation.seeds]
                if (seeds == 0).any():
                    raise SeedNotTargeted
                if (seeds < 0).any():
                    self._waits = int(self.investigation.seeds[seeds < 0][0])
                    return False
            if self._walking:
                ended = self.walk.explore()
                if ended >= 0:
                    self._waits = ended
                    return False
                self._arrived(ended)
            elif self._candidates is not None:
                if not self._seek(self._candidates):
                    return False
            else:
                self._begin()
        self._write()
        return True

    def _begin(self) -> None:
        """The next seed's component, or the next call."""
        while self._seeds:
            seed = self._seeds.pop(0)
            if not self.walk.confirmed[seed]:
                self._enter(seed)
                return
        if self.calls >= self._most_calls:
            self.ended = "all components"
            return
        if self._charge is not None:
            try:
                self._charge(self.calls)
            except BudgetExceeded:
                self.ended = "budget"
                return
        self._candidates = self._finder(self.walk, self.calls)
        self.calls += 1
        self._block, self._at, self._size = np.zeros(0, np.int64), 0, _FIRST_BLOCK
        self.log.call_began.append(len(self.walk.seen))
        self.log.thresholds.append(self._candidates.threshold)

    def _enter(self, target: int) -> None:
        self.joined.append(len(self.walk.order))
        self._walking, self._candidates = True, None
        self._arrived(self.walk.explore(target))

    def _arrived(self, ended: int) -> None:
        if ended == FINISHED:
            self._walking = False
        elif ended == CAPPED:
            self.ended = "query cap"

    def _seek(self, candidates: Candidates) -> bool:
        """Examine candidates; whether it came to something before an unknown status."""
        while True:
            self._at, ended = self.walk.examine(self._block, self._at)
            if ended == MORE:
                self._block, self._at = candidates.take(self._size), 0
                self._size = min(2 * self._size, _LARGEST_BLOCK)
                if len(self._block):
                    continue
                self.ended = "nothing found"
            elif ended == UNKNOWN:
                self._waits = int(self._block[self._at])
                return False
            elif ended == FOUND:
                self._enter(int(self._block[self._at]))
            else:
                self.ended = "query cap" if ended == CAPPED else "nothing found"
            return True

    def upcoming(self, count: int | None = None) -> NDArray[np.int64]:
        """Unknown vertices in the order in which they are to be examined if the earlier ones are no targets.

        Args:
            count: how many at most; None for all of a frontier, which will be examined whatever the answers are, and
                one where a component is sought, where later ones may turn out to be unnecessary.
        """
        known = self.statuses.known
        if self.ended is not None:
            return np.zeros(0, np.int64)
        if not self.joined:
            return np.asarray(self.investigation.seeds[known[self.investigation.seeds] < 0][:count])
        room = self.walk.most - len(self.walk.seen)
        if self._walking:
            return self.walk.frontier()[: room if count is None else min(count, room)]
        if self._candidates is None:
            return np.zeros(0, np.int64)
        count = min(room, 1 if count is None else count)
        while True:
            ahead = self._block[self._at :]
            stops = np.flatnonzero(ahead < 0)
            if stops.size:
                ahead = ahead[: stops[0]]
            unknown = ahead[known[ahead] < 0]
            if len(unknown) >= count or stops.size:
                return np.asarray(unknown[:count])
            more = self._candidates.take(self._size)
            if not len(more):
                return np.asarray(unknown)
            self._block, self._at = np.concatenate([self._block[self._at :], more]), 0

    def run(self) -> None:
        """Advance to the end, asking the oracle for what is unknown.

        Raises:
            OracleUnavailable: it gave no answer. Call again to go on.
        """
        while not self.advance():
            if self.statuses.in_batches:
                batch = self.upcoming(self.investigation.ahead if self._candidates is not None else None)
            else:
                batch = np.array([self._waits])
            try:
                self.statuses.ask(batch)
            except OracleUnavailable:
                self._write()
                raise

    def _write(self) -> None:
        """Bring the operator's log up to date."""
        seen = self.walk.seen.copy()
        self.log.fill(seen, self.statuses.known[seen] == 1, self.walk.when.copy(), graph=self.investigation.graph)


def as_cap(cap: object) -> int | None:
    """A limit of examinations, or None."""
    return None if cap is None else whole("cap", cap)


def as_components(components: object) -> int:
    """k >= 1.

    Raises:
        InvalidInput: another number.
    """
    return whole("components", components, at_least=1)


def check_investigation(investigation: object, people: int | None = None) -> Investigation:
    """An investigation, of so many vertices where that is given.

    Raises:
        InvalidInput: another thing, or other people.
    """
    if not isinstance(investigation, Investigation):
        raise InvalidInput("data", f"{type(investigation).__name__} is no Investigation",
                           "use Investigation(graph, seed_vertex, oracle)")
    if people is not None and investigation.graph.people != people:
        raise InvalidInput("people", f"is {people:,}", f"the graph has {investigation.graph.people:,} vertices")
    return investigation
