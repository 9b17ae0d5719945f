"""The state of a search and its compiled steps: statistic-first search, and common neighbours kept up to date.

A step goes on as far as the known statuses reach, and stops at the first vertex whose status is unknown: it is called
again, with the same arrays, when that is known. A table of all statuses runs through in one call.

Source: spec targeted_search 3.1, 9.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.numerics.compiled import kernel
from confide.search.graph import Graph

__all__ = ["CAPPED", "FINISHED", "FOUND", "MORE", "STOPPED", "UNKNOWN", "Walk"]

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
    """Statistic-first search, from a new target or on from where it stopped. An unknown vertex, or a code."""
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
    """Count common neighbours through every contact of the new targets that no earlier target had."""
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
    """Examine candidates in their order from position `at`: where it ended, and why."""
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
    """What a search has done so far: examined I, confirmed T, and what follows from them. All of it is private.

    Args:
        graph: the contacts.
        known: (n,) int8 statuses, -1 where unknown; shared with whoever fills it in.
        cap: vertices that may be examined at most; None for no limit.
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
        """How many vertices had been examined when each of `order` was confirmed."""
        return self._when[: self._place[_ORDER]]

    @property
    def seen(self) -> NDArray[np.int64]:
        """Examined vertices in their order, without the seeds."""
        return self._seen[: self._place[_SEEN]]

    @property
    def outside(self) -> NDArray[np.bool_]:
        """(n,) V minus N[T]: neither a target nor a contact of one, whatever was examined."""
        return np.asarray((self.contacts == 0) & ~self.confirmed)

    def add(self, confirmed: NDArray[np.int64], examined: NDArray[np.int64]) -> None:
        """Take over an earlier search's T and I, before the first step."""
        self.examined[examined] = True
        self.examined[confirmed] = True
        for vertex in confirmed.tolist():
            self.confirmed[vertex] = True
            self._order[self._place[_ORDER]] = vertex
            self._when[self._place[_ORDER]] = 0
            self._place[_ORDER] += 1
            self.contacts[self.graph.indices[self.graph.indptr[vertex] : self.graph.indptr[vertex + 1]]] += 1

    def explore(self, start: int = -1) -> int:
        """Walk through the component of a new target, or go on with it: FINISHED, CAPPED, or an unknown vertex."""
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
        """Unexamined contacts of the component's targets whose status is unknown, the next one first."""
        keys = self._heap[: self._place[_HEAP]]
        vertices = _LOW - (keys & _LOW)
        current = ~self.examined[vertices] & (keys >> 32 == self.contacts[vertices]) & (self.known[vertices] < 0)
        return np.asarray(_LOW - (np.sort(keys[current])[::-1] & _LOW))

    def common_neighbours(self) -> NDArray[np.int32]:
        """(n,) |N(v) and N(T)| for the targets so far; the array is kept and brought up to date by later calls."""
        found = int(self._place[_ORDER])
        _bridge(self._counted, found, self.graph.indptr, self.graph.indices, self._order, self._reached, self._common)
        self._counted = found
        return self._common

    def examine(self, candidates: NDArray[np.int64], at: int) -> tuple[int, int]:
        """Examine candidates from a position on: (position, FOUND | MORE | STOPPED | UNKNOWN | CAPPED).

        Args:
            candidates: vertices that are not examined; negative where the search for a component ends.
            at: the first position.
        """
        position, ended = _examine(at, self.most, candidates, self.known, self.examined, self._seen, self._place)
        return int(position), int(ended)
