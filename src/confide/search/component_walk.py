"""The state of a search and its compiled steps, and the course of a whole search, component by component.

The status of a vertex says whether the vertex is a target. A step proceeds over vertices with known statuses, and stops
at the first vertex with an unknown status. Once the status is known, the step is called again with the same arrays.
With a table of all statuses one call runs to the end. Among the steps are statistic-first search and the update of
common neighbours.

All kinds of searches run through `SearchState`, which pauses at each vertex with an unknown status. Searches differ
only in the step that looks for a new component (`Finder`).

Source: spec targeted_search 3.1, 3.3, 9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.checks import whole
from confide.contract.errors import BudgetExceeded, InvalidInput
from confide.search.graph import Graph
from confide.search.oracles import Investigation, OracleUnavailable, SeedNotTargeted
from confide.search.releases import Ended, OperatorLog

__all__ = [
    "CAPPED",
    "FINISHED",
    "FOUND",
    "MORE",
    "STOPPED",
    "UNKNOWN",
    "Candidates",
    "Finder",
    "SearchState",
    "Walk",
    "as_cap",
    "as_components",
    "check_investigation",
]

# ---- component walk

FINISHED, CAPPED, FOUND, MORE, STOPPED, UNKNOWN = -1, -2, -3, -4, -5, -6
_CROWDED = -7

_LOW = 2**32 - 1  # a key of the heap: contacts << 32 | (2^32 - 1 - index), so that the largest has the lowest index
_HEAP, _ORDER, _SEEN = 0, 1, 2  # positions of the counters


@kernel
def _push(heap: NDArray[np.int64], size: int, key: int) -> None:
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap[above] >= key:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = key


@kernel
def _pop(heap: NDArray[np.int64], size: int) -> None:
    """Remove the largest of `size` keys."""
    key = heap[size - 1]
    last = size - 1
    at = 0
    while True:
        below = 2 * at + 1
        if below >= last:
            break
        if below + 1 < last and heap[below + 1] > heap[below]:
            below += 1
        if heap[below] <= key:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = key


@kernel
def _explore(
    start: int, most: int, indptr: NDArray[np.int64], indices: NDArray[np.int32], known: NDArray[np.int8],
    examined: NDArray[np.bool_], confirmed: NDArray[np.bool_], contacts: NDArray[np.int32], heap: NDArray[np.int64],
    order: NDArray[np.int64], when: NDArray[np.int64], seen: NDArray[np.int64], place: NDArray[np.int64],
) -> int:
    """Run statistic-first search from a new target, or from the point where it stopped. Returns the vertex whose status
    is needed next, or a negative code.
    """
    fresh = start
    while True:
        vertex = fresh
        if vertex < 0:
            while place[_HEAP] > 0:
                key = heap[0]
                vertex = _LOW - (key & _LOW)
                if not examined[vertex] and (key >> 32) == contacts[vertex]:
                    break
                _pop(heap, place[_HEAP])
                place[_HEAP] -= 1
                vertex = -1
            if vertex < 0:
                return FINISHED
            if known[vertex] < 0:
                return vertex
            if place[_SEEN] >= most:
                return CAPPED
        if known[vertex] == 1 and place[_HEAP] + indptr[vertex + 1] - indptr[vertex] > len(heap):
            return _CROWDED
        if fresh < 0:
            _pop(heap, place[_HEAP])
            place[_HEAP] -= 1
            seen[place[_SEEN]] = vertex
            place[_SEEN] += 1
        fresh = -1
        examined[vertex] = True
        if known[vertex] != 1:
            continue
        confirmed[vertex] = True
        order[place[_ORDER]] = vertex
        when[place[_ORDER]] = place[_SEEN]
        place[_ORDER] += 1
        for j in range(indptr[vertex], indptr[vertex + 1]):
            contact = indices[j]
            contacts[contact] += 1
            if not examined[contact]:
                _push(heap, place[_HEAP], (np.int64(contacts[contact]) << 32) | (_LOW - contact))
                place[_HEAP] += 1


@kernel
def _bridge(
    begin: int, end: int, indptr: NDArray[np.int64], indices: NDArray[np.int32], order: NDArray[np.int64],
    reached: NDArray[np.bool_], common: NDArray[np.int32],
) -> None:
    """Update the common neighbours for new targets, through each of their contacts that was not a contact of an earlier
    target.
    """
    for t in range(begin, end):
        target = order[t]
        for j in range(indptr[target], indptr[target + 1]):
            between = indices[j]
            if not reached[between]:
                reached[between] = True
                for i in range(indptr[between], indptr[between + 1]):
                    common[indices[i]] += 1


@kernel
def _examine(
    at: int, most: int, candidates: NDArray[np.int64], known: NDArray[np.int8], examined: NDArray[np.bool_],
    seen: NDArray[np.int64], place: NDArray[np.int64],
) -> tuple[int, int]:
    """Examine candidates in their order from position `at`. The function returns the position where the examination
    ended, and the reason.
    """
    for j in range(at, len(candidates)):
        vertex = candidates[j]
        if vertex < 0:
            return j, STOPPED
        if known[vertex] < 0:
            return j, UNKNOWN
        if place[_SEEN] >= most:
            return j, CAPPED
        examined[vertex] = True
        seen[place[_SEEN]] = vertex
        place[_SEEN] += 1
        if known[vertex] == 1:
            return j, FOUND
    return len(candidates), MORE


class Walk:
    """The private state of a search: the examined vertices I, the confirmed targets T, and arrays that follow from
    both.

    Args:
        graph: private network of contacts between people.
        known: statuses of all vertices, int8, shape (n,): 1 for a target, 0 for any other person, -1 for unknown. The
            array is shared with the code that fills in the statuses.
        cap: largest number of vertices that may be examined; None for no limit.
    """

    def __init__(self, graph: Graph, known: NDArray[np.int8], cap: int | None = None) -> None:
        n = graph.people
        self.graph, self.known = graph, known
        self.most = n if cap is None else min(cap, n)
        self.examined, self.confirmed, self._reached = (np.zeros(n, np.bool_) for _ in range(3))
        self.contacts, self._common = np.zeros(n, np.int32), np.zeros(n, np.int32)
        self._heap = np.empty(1024, np.int64)
        self._order, self._when, self._seen = (np.empty(n, np.int64) for _ in range(3))
        self._place = np.zeros(3, np.int64)
        self._counted = 0

    def __repr__(self) -> str:
        return "<Walk>"  # private

    @property
    def order(self) -> NDArray[np.int64]:
        """Confirmed targets in the order in which they were found."""
        return self._order[: self._place[_ORDER]]

    @property
    def when(self) -> NDArray[np.int64]:
        """Number of vertices that had been examined when each target of `order` was confirmed."""
        return self._when[: self._place[_ORDER]]

    @property
    def seen(self) -> NDArray[np.int64]:
        """Examined vertices in the order of their examination, without the seeds."""
        return self._seen[: self._place[_SEEN]]

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Whether each vertex is neither a confirmed target nor a contact of one (V minus N[T]), examined or not; shape
        (n,).
        """
        return np.asarray((self.contacts == 0) & ~self.confirmed)

    def add(self, confirmed: NDArray[np.int64], examined: NDArray[np.int64]) -> None:
        """Add the confirmed targets T and the examined vertices I of an earlier search to the state, before the first
        step.
        """
        self.examined[examined] = True
        self.examined[confirmed] = True
        for vertex in confirmed.tolist():
            self.confirmed[vertex] = True
            self._order[self._place[_ORDER]] = vertex
            self._when[self._place[_ORDER]] = 0
            self._place[_ORDER] += 1
            self.contacts[self.graph.indices[self.graph.indptr[vertex] : self.graph.indptr[vertex + 1]]] += 1

    def explore(self, start: int = -1) -> int:
        """Search the component of a new target, or continue a search if `start` is -1. The result is FINISHED at the
        end of the component, CAPPED if the largest number of examinations is reached, or else the vertex with the
        status that is needed next.
        """
        graph = self.graph
        while True:
            ended = int(_explore(start, self.most, graph.indptr, graph.indices, self.known, self.examined,
                                 self.confirmed, self.contacts, self._heap, self._order, self._when, self._seen,
                                 self._place))
            if ended != _CROWDED:
                return ended
            if start >= 0 and self.confirmed[start]:
                start = -1  # it was another target's contacts that did not fit
            used, largest = int(self._place[_HEAP]), graph.largest_degree
            grown = np.empty(max(2 * len(self._heap), used + largest), np.int64)
            grown[:used] = self._heap[:used]
            self._heap = grown

    def frontier(self) -> NDArray[np.int64]:
        """Unexamined contacts of the component's targets with an unknown status, in the order in which they are to be
        examined.
        """
        keys = self._heap[: self._place[_HEAP]]
        vertices = _LOW - (keys & _LOW)
        current = ~self.examined[vertices] & (keys >> 32 == self.contacts[vertices]) & (self.known[vertices] < 0)
        return np.asarray(_LOW - (np.sort(keys[current])[::-1] & _LOW))

    def common_neighbours(self) -> NDArray[np.int32]:
        """Number |N(v) and N(T)| of common neighbours of each vertex v with the targets T found so far, shape (n,). The
        array is updated in place as the search proceeds.
        """
        found = int(self._place[_ORDER])
        _bridge(self._counted, found, self.graph.indptr, self.graph.indices, self._order, self._reached, self._common)
        self._counted = found
        return self._common

    def examine(self, candidates: NDArray[np.int64], at: int) -> tuple[int, int]:
        """Examine candidates from a position on. The result is the position at which the examination ended, and the
        reason: FOUND (a target), MORE (all candidates were examined), STOPPED (a negative entry), UNKNOWN (a missing
        status) or CAPPED (the largest number of examinations is reached).

        Args:
            candidates: unexamined vertices; a negative entry ends the search for a component.
            at: position of the first candidate to examine.
        """
        position, ended = _examine(at, self.most, candidates, self.known, self.examined, self._seen, self._place)
        return int(position), int(ended)


# ---- course

_FIRST_BLOCK, _LARGEST_BLOCK = 256, 65536


class Candidates(Protocol):
    """Unexamined vertices in the order in which they are to be examined, until one of them is a target."""

    @property
    def threshold(self) -> float | None:
        """Value of the fake target before noise; None if there is no fake target."""
        ...

    def take(self, count: int) -> NDArray[np.int64]:
        """Take the next `count` vertices, or fewer at the end. The entry -1 stands for the fake target."""
        ...


Finder = Callable[[Walk, int], Candidates]
"""A function from the state of a search and the number of the call, 0 for the first, to the candidates for a new
component.
"""


class SearchState:
    """One search in progress. The search advances until it needs an unknown status, and reports the vertices that are
    examined next.

    Args:
        investigation: private data of the search.
        finder: function that looks for a new component.
        components: largest number k of components to find; `finder` is called at most k - 1 times.
        charge: function that receives the number of each call of `finder`, from 0, before the call. If the function
            raises `BudgetExceeded`, the search ends.
        cap: largest number of vertices that may be examined; None for no limit.
        answers: mapping from the id of a person to whether they are a target, with answers to earlier questions.
        log: log that is filled during the search.
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
        """Confirmed targets so far, in the order in which they were found."""
        return self.walk.order

    def advance(self) -> bool:
        """Advance until the search ends or needs an unknown status. The result is whether the search has ended.

        Raises:
            SeedNotTargeted: a seed that is not a target, by the oracle's answer.
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
        """Begin with the component of the next seed or, after the last seed, with the next search for a component."""
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
        """Examine candidates. The result is False if the search stopped at an unknown status, and True if it found a
        target or ended.
        """
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
        """Vertices with an unknown status, in the order in which they are to be examined if all earlier vertices turn
        out not to be targets.

        Args:
            count: largest number of vertices. With None inside a component, the result is all unexamined contacts,
                which will be examined in any case. With None in the search for a component, the result is one vertex,
                since later vertices may turn out to be unnecessary.
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
        """Advance to the end, and ask the oracle for unknown statuses.

        Raises:
            OracleUnavailable: an oracle that gives no answer. After the error, another call of `run` continues the
                search.
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
        """Update the operator's log."""
        seen = self.walk.seen.copy()
        self.log.fill(seen, self.statuses.known[seen] == 1, self.walk.when.copy(), graph=self.investigation.graph)


def as_cap(cap: object) -> int | None:
    """Check a limit on the number of examinations, and return it; None stands for no limit."""
    return None if cap is None else whole("cap", cap)


def as_components(components: object) -> int:
    """Check that a number k of components is a whole number of at least 1, and return it.

    Raises:
        InvalidInput: the value is not a whole number of at least 1.
    """
    return whole("components", components, at_least=1)


def check_investigation(investigation: object, people: int | None = None) -> Investigation:
    """Check that an object is an investigation, and return it. If `people` is given, the graph of the investigation
    must have this number of vertices.

    Raises:
        InvalidInput: the object is not an investigation, or its graph has another number of vertices.
    """
    if not isinstance(investigation, Investigation):
        raise InvalidInput("data", f"{type(investigation).__name__} is not an Investigation",
                           "use Investigation(graph, seed_vertex, oracle)")
    if people is not None and investigation.graph.people != people:
        raise InvalidInput("people", f"is {people:,}", f"the graph has {investigation.graph.people:,} vertices")
    return investigation
