"""Statistics of proximity: how near an unexamined person is to the confirmed targets, and how far a stranger moves the
value.

    >>> CommonNeighbours().sensitivity(None), Paths(3).sensitivity(10), LargestFlow(3).sensitivity(10) >= 5
    (1.0, 180.0, True)

The sensitivity that counts here is the targeted one: how far the statistic of a *target* who is not yet confirmed moves
when one protected vertex is rewired in any way. It needs a public bound d on all degrees, but for common neighbours.

After a component has been searched, everybody who is not examined lies outside the neighbourhood of the confirmed
targets. There contacts and triangles are 0 for everybody, so that they tell nothing: `signal` is False. There, too, the
flow over two edges equals the common neighbours, and paths of two edges equal their multiset version.

The largest flow over paths of bounded length, by a linear program on copies of the graph, one for each step.

What the solver says is not believed: its flow is cut down to one that is conserved and within all capacities, and its
prices of edges are stretched until no short path is cheaper than 1. One is a lower bound, the other an upper one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput, SolverFailed
from confide.contract.parameters import Declared, Parameter
from confide.contract.wire import wire
from confide.search.adjacency import Adjacency, neighbour_sums, simple_paths, triangles

__all__ = [
    "FLOW_GAP",
    "FLOW_ROOM",
    "CommonNeighbours",
    "CommonNeighboursMulti",
    "Contacts",
    "LargestFlow",
    "Paths",
    "Statistic",
    "Triangles",
    "Walks",
    "bounded_flow",
    "bounded_flows",
    "needed_bound",
]

# ---- bounded flow

FLOW_GAP = 2.0**-21
"""The certified bounds of a flow lie no further apart than this."""

FLOW_ROOM = 2.0**-20
"""What the sensitivity of computed flows has above that of exact ones."""

_FAR = 1 << 30

_Arc = tuple[int, int, int]  # step, from, to


def _steps_to(graph: Adjacency, start: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """(n,) the least number of edges to any of `start`; large beyond `most`."""
    distance = np.full(graph.people, _FAR, dtype=np.int64)
    distance[start] = 0
    layer = [int(v) for v in start]
    for step in range(1, most + 1):
        following = []
        for u in layer:
            for v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]]:
                if distance[v] == _FAR:
                    distance[v] = step
                    following.append(int(v))
        layer = following
    return distance


def bounded_flows(graph: Adjacency, inside: NDArray[np.bool_], length: int) -> NDArray[np.float64]:
    """Flow of every vertex into the set, to within 2^-21, shape (n,); 0 for its members.

    Args:
        graph: compressed rows.
        inside: (n,) the set S that absorbs.
        length: largest number of edges of a path.

    Raises:
        SolverFailed: a linear program that could not be certified.
    """
    to_set = _steps_to(graph, np.flatnonzero(inside), length)
    out = np.zeros(graph.people)
    for v in np.flatnonzero((to_set >= 1) & (to_set <= length)):
        out[v] = bounded_flow(graph, int(v), to_set, length)
    return out


def bounded_flow(graph: Adjacency, source: int, to_set: NDArray[np.int64], length: int) -> float:
    """The flow of one vertex.

    Args:
        graph: compressed rows.
        source: the vertex, outside the set.
        to_set: (n,) the least number of edges to the set; 0 for its members.
        length: the most edges of a path.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    arcs = _arcs(graph, source, to_set, length)
    edges = {edge: k for k, edge in enumerate(sorted({(min(u, v), max(u, v)) for _, u, v in arcs}))}
    of_edge = np.array([edges[min(u, v), max(u, v)] for _, u, v in arcs])
    middle = {(t, v) for t, _, v in arcs if to_set[v] > 0}
    rows = {node: k for k, node in enumerate(sorted(middle))}
    entry: list[tuple[float, int, int]] = []
    gain = np.zeros(len(arcs))
    for k, (t, u, v) in enumerate(arcs):
        if to_set[v] == 0:
            gain[k] = -1.0
        else:
            entry.append((1.0, rows[t, v], k))
        if t > 0:
            entry.append((-1.0, rows[t - 1, u], k))
    parts, row, column = (np.array(each) for each in zip(*entry, strict=True)) if entry else (np.zeros(0),) * 3
    conserved = csr_matrix((parts, (row, column)), shape=(len(rows), len(arcs)))
    load = csr_matrix((np.ones(len(arcs)), (of_edge, np.arange(len(arcs)))), shape=(len(edges), len(arcs)))
    found = linprog(gain, A_ub=load, b_ub=np.ones(len(edges)), A_eq=conserved if rows else None,
                    b_eq=np.zeros(len(rows)) if rows else None, bounds=(0, None), method="highs")
    if found.status != 0:
        raise SolverFailed("bounded flow", "the linear program was not solved")
    low = _flow(arcs, found.x, of_edge, to_set, source)
    high = _cut(arcs, -found.ineqlin.marginals, of_edge, to_set, source)
    if not high - low <= FLOW_GAP:
        raise SolverFailed("bounded flow", "the bounds of a flow do not meet")
    return high


def _arcs(graph: Adjacency, source: int, to_set: NDArray[np.int64], length: int) -> list[_Arc]:
    """Steps that can be part of a short path from the source into the set, which absorbs; in order of time."""
    layer, out = {source}, []
    for t in range(length):
        following = set()
        for u in sorted(layer):
            for v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]].tolist():
                if v != source and t + 1 + to_set[v] <= length:
                    out.append((t, u, v))
                    if to_set[v] > 0:
                        following.add(v)
        layer = following
    return out


def _flow(
    arcs: list[_Arc], x: NDArray[np.float64], of_edge: NDArray[np.int64], to_set: NDArray[np.int64], source: int
) -> float:
    """What a conserved flow within all capacities carries: a lower bound."""
    x = np.maximum(x, 0.0)
    leaving: dict[tuple[int, int], float] = {}
    for k, (t, u, _) in enumerate(arcs):
        leaving[t, u] = leaving.get((t, u), 0.0) + x[k]
    entering: dict[tuple[int, int], float] = {(0, source): leaving.get((0, source), 0.0)}
    load = np.zeros(int(of_edge.max()) + 1)
    arrived = 0.0
    for k, (t, u, v) in enumerate(arcs):
        out = leaving[t, u]
        part = x[k] * min(1.0, entering.get((t, u), 0.0) / out) if out > 0 else 0.0
        load[of_edge[k]] += part
        if to_set[v] == 0:
            arrived += part
        else:
            entering[t + 1, v] = entering.get((t + 1, v), 0.0) + part
    return float(arrived / max(1.0, load.max()))


def _cut(
    arcs: list[_Arc], price: NDArray[np.float64], of_edge: NDArray[np.int64], to_set: NDArray[np.int64], source: int
) -> float:
    """The total of prices at which no short path is cheaper than 1: an upper bound, by duality."""
    price = np.maximum(price, 0.0)
    cost: dict[tuple[int, int], float] = {(0, source): 0.0}
    cheapest = np.inf
    for k, (t, u, v) in enumerate(arcs):
        reached = cost.get((t, u), np.inf) + price[of_edge[k]]
        if to_set[v] == 0:
            cheapest = min(cheapest, reached)
        else:
            cost[t + 1, v] = min(cost.get((t + 1, v), np.inf), reached)
    # Every vertex whose flow is asked for has a short path; without prices on it nothing is shown.
    return float(price.sum() / cheapest) if cheapest > 0 else np.inf


# ---- statistics

_EXACT = 2**50  # counts beyond this would not be exact doubles


def needed_bound(degree_bound: int | None) -> int:
    """The public degree bound, where one is needed.

    Raises:
        InvalidInput: there is none, or it is below 1.
    """
    if degree_bound is None:
        raise InvalidInput("degree_bound", "None", "declare a public bound on every degree: the sensitivity needs it")
    return whole("degree_bound", degree_bound, at_least=1)


def _inside(graph: Adjacency, confirmed: NDArray[np.int64]) -> NDArray[np.int64]:
    members = np.zeros(graph.people, dtype=np.int64)
    members[np.asarray(confirmed, dtype=np.int64)] = 1
    return members


def _sums(graph: Adjacency, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    return neighbour_sums(graph.indptr, graph.indices, weights)


def _reached(degree_bound: int, steps: int) -> int:
    """How many vertices can lie within so many steps of one, itself apart."""
    return sum(degree_bound * (degree_bound - 1) ** j for j in range(steps))


@dataclass(frozen=True)
class Statistic(Declared, ABC):
    """A statistic of proximity f(G, v, S) of a vertex v and the confirmed targets S.

    Source: Wu 2017, section 7.4 (lines 5925-5995); spec targeted_search 2.
    """

    name: ClassVar[str] = "statistic"

    signal: ClassVar[bool] = True
    """False where it is 0 for everybody who is not examined: it cannot find another component."""

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return True

    @abstractmethod
    def sensitivity(self, degree_bound: int | None) -> float:
        """Delta: how far one protected vertex can move the value of an unconfirmed target, at most.

        Args:
            degree_bound: d, a public bound on every degree of every admissible graph.

        Raises:
            InvalidInput: no bound, where one is needed.
        """

    def impact_cardinality(self, degree_bound: int | None) -> int:
        """IC: how many vertices' values one protected vertex can change, at most; its own counts.

        Raises:
            InvalidInput: no bound.

        Example:
            >>> CommonNeighbours().impact_cardinality(3)  # Claim 7.7.2 says 4; seven do change
            7
        """
        return 2 * _reached(needed_bound(degree_bound), self._steps()) + 1

    def count_sensitivity(self, degree_bound: int | None) -> float:
        """How far one protected vertex can move #{v outside N[S]: f(v) >= x}, at most, for every x.

        Gains lie within its reach in the new graph and losses within its reach in the old one; its own value, and
        whether it is counted at all, make one more. Over two edges it must be adjacent to S to reach anybody, so one
        of its d edges is taken, and it is then not counted itself.

        Raises:
            InvalidInput: no bound.

        Source: spec targeted_search 2 and 3.2 (i).
        """
        bound = needed_bound(degree_bound)
        return float(max(bound - 1, 1) if self._steps() == 1 else _reached(bound, self._steps()) + 1)

    @abstractmethod
    def most(self, degree_bound: int | None) -> int | None:
        """The largest value that a vertex outside N[S] can have, where a bound is known: the threshold's grid."""

    @abstractmethod
    def values(self, graph: Adjacency, confirmed: NDArray[np.int64]) -> NDArray[np.float64]:
        """Value of every vertex, shape (n,); those of confirmed ones are of no use.

        Args:
            graph: compressed rows.
            confirmed: the vertices S.
        """

    def _steps(self) -> int:
        """How many edges lie between a rewired vertex and one whose value it changes, at most."""
        return 1


@wire("CommonNeighbours", "")
@dataclass(frozen=True)
class CommonNeighbours(Statistic):
    """Common neighbours |N(v) and N(S)|: neighbours of v who are neighbours of any confirmed target, each counted once.

    Rewiring i moves i alone in or out of N(t) and of N(S): Delta = 1 whatever the degrees.

    Example:
        >>> CommonNeighbours().sensitivity(None), CommonNeighbours().count_sensitivity(5)
        (1.0, 4.0)
    """

    name: ClassVar[str] = "common neighbours"

    def sensitivity(self, degree_bound: int | None) -> float:
        return 1.0

    def most(self, degree_bound: int | None) -> int | None:
        return None if degree_bound is None else needed_bound(degree_bound)

    def values(self, graph: Adjacency, confirmed: NDArray[np.int64]) -> NDArray[np.float64]:
        near = _sums(graph, _inside(graph, confirmed)) > 0
        return _sums(graph, near.astype(np.int64)).astype(np.float64)


@wire("CommonNeighboursMulti", "")
@dataclass(frozen=True)
class CommonNeighboursMulti(Statistic):
    """The sum over w in S of |N(v) and N(w)|: a neighbour of several confirmed targets counts for each.

    One who is adjacent to v and to d - 1 of S adds d - 1: Delta = d - 1, not the printed 1.

    Source: Wu 2017, line 6294; spec targeted_search 5, erratum E1.

    Example:
        >>> CommonNeighboursMulti().sensitivity(5)
        4.0
    """

    name: ClassVar[str] = "common neighbours, counted for each target"

    def sensitivity(self, degree_bound: int | None) -> float:
        return float(needed_bound(degree_bound) - 1)

    def most(self, degree_bound: int | None) -> int | None:
        return None if degree_bound is None else _reached(needed_bound(degree_bound), 2) - needed_bound(degree_bound)

    def values(self, graph: Adjacency, confirmed: NDArray[np.int64]) -> NDArray[np.float64]:
        return _sums(graph, _sums(graph, _inside(graph, confirmed))).astype(np.float64)


@dataclass(frozen=True)
class _OverEdges(Statistic):
    """What is counted over 1..length edges."""

    length: Annotated[int, Parameter("most edges of a path", symbol="l", at_least=2, at_most=6)] = 2

    def _steps(self) -> int:
        return self.length - 1


@wire("Paths", "length")
@dataclass(frozen=True)
class Paths(_OverEdges):
    """Simple paths of 1..length edges from v that end in S.

    A changed path holds i at position j of 1..l-1: (d-1)^(l-1) choices for j = 1, d (d-1)^(l-2) for each other j. Both
    graphs share all paths that avoid i, so the larger count bounds the difference.

    Beyond two edges, `values` takes as long as there are such paths.

    Raises:
        InvalidInput: a length out of range (over one edge: `Contacts`).

    Example:
        >>> Paths(2).sensitivity(5), Paths(3).sensitivity(5)
        (4.0, 40.0)
    """

    name: ClassVar[str] = "simple paths"

    def sensitivity(self, degree_bound: int | None) -> float:
        d = needed_bound(degree_bound)
        return float(sum((d - 1) ** (k - 2) * ((d - 1) + (k - 2) * d) for k in range(2, self.length + 1)))

    def most(self, degree_bound: int | None) -> int | None:
        return None if degree_bound is None else _reached(needed_bound(degree_bound), self.length)

    def values(self, graph: Adjacency, confirmed: NDArray[np.int64]) -> NDArray[np.float64]:
        inside = _inside(graph, confirmed)
        if self.length == 2:
            direct = _sums(graph, inside)
            found = direct + _sums(graph, direct)
            found[inside > 0] -= np.diff(graph.indptr)[inside > 0]  # there and back is not simple
            return found.astype(np.float64)
        starts = np.flatnonzero(inside).astype(np.int64)
        return simple_paths(graph.indptr, graph.indices, starts, self.length).astype(np.float64)


@wire("Walks", "length")
@dataclass(frozen=True)
class Walks(_OverEdges):
    """Walks of 1..length edges from v that end in S: paths that may come back to a vertex. Cheap for every length.

    Delta = the sum over l of (l - 1) d^(l-1): i stands at one of l - 1 positions, the other l - 1 steps are free.

    Raises:
        InvalidInput: a length out of range; a bound d at which counts would not be exact doubles.

    Example:
        >>> Walks(2).sensitivity(5), Walks(3).sensitivity(5)
        (5.0, 55.0)
    """

    name: ClassVar[str] = "walks"

    def sensitivity(self, degree_bound: int | None) -> float:
        d = self._counted(degree_bound)
        return float(sum((k - 1) * d ** (k - 1) for k in range(2, self.length + 1)))

    def count_sensitivity(self, degree_bound: int | None) -> float:
        return super().count_sensitivity(self._counted(degree_bound))

    def most(self, degree_bound: int | None) -> int | None:
        if degree_bound is None:
            return None
        d = self._counted(degree_bound)
        return int(sum(d**k for k in range(1, self.length + 1)))

    def values(self, graph: Adjacency, confirmed: NDArray[np.int64]) -> NDArray[np.float64]:
        step = _inside(graph, confirmed)
        total = np.zeros(graph.people, dtype=np.int64)
        for _ in range(self.length):
            step = _sums(graph, step)
            total += step
        return total.astype(np.float64)

    def _counted(self, degree_bound: int | None) -> int:
        d = needed_bound(degree_bound)
        if self.length * d**self.length > _EXACT:
            raise InvalidInput("length", f"walks of {self.length} edges at degrees up to {d} are too many",
                               "take a smaller length: counts must stay within 2^50")
        return d


@wire("Flow", "length")
@dataclass(frozen=True)
class LargestFlow(_OverEdges):
    """The largest flow from v into S along paths of at most `length` edges, every edge carrying at most 1.

    Flow that avoids i is in both graphs; what passes through i takes two of its edges: Delta = d/2. Over two edges it
    is |N(v) and N[S]|, with Delta = 1. Beyond that the value is fractional: one linear program for each vertex within
    reach of S, by HiGHS, which is slow; each is certified between a flow and a cut to 2^-21, and Delta has 2^-20 more.
    (A whole-numbered flow with bounded paths is NP-hard from 5 edges on.)

    Raises:
        InvalidInput: a length out of range.

    Example:
        >>> LargestFlow(2).sensitivity(None), LargestFlow(2).whole, LargestFlow(3).whole
        (1.0, True, False)
    """

    name: ClassVar[str] = "flow"

    @property
    def whole(self) -> bool:
        return self.length == 2

    def sensitivity(self, degree_bound: int | None) -> float:
        return 1.0 if self.length == 2 else needed_bound(degree_bound) / 2 + FLOW_ROOM

    def most(self, degree_bound: int | None) -> int | None:
        return None if degree_bound is None else needed_bound(degree_bound)

    def values(self, graph: Adjacency, confirmed: NDArray[np.int64]) -> NDArray[np.float64]:
        inside = _inside(graph, confirmed)
        if self.length == 2:
            near = (inside > 0) | (_sums(graph, inside) > 0)
            return _sums(graph, near.astype(np.int64)).astype(np.float64)
        return bounded_flows(graph, inside > 0, self.length)


@wire("Contacts", "")
@dataclass(frozen=True)
class Contacts(Statistic):
    """Contacts |N(v) and S|, the printed Path_1: it orders the search of a component, and is 0 for everybody beyond it.

    No protected vertex can change it for a target: Delta = 0.
    """

    name: ClassVar[str] = "contacts"
    signal: ClassVar[bool] = False

    def sensitivity(self, degree_bound: int | None) -> float:
        return 0.0

    def count_sensitivity(self, degree_bound: int | None) -> float:
        return 1.0  # outside N[S] all values are 0: only the rewired vertex comes or goes

    def impact_cardinality(self, degree_bound: int | None) -> int:
        return 1

    def most(self, degree_bound: int | None) -> int | None:
        return 0

    def values(self, graph: Adjacency, confirmed: NDArray[np.int64]) -> NDArray[np.float64]:
        return _sums(graph, _inside(graph, confirmed)).astype(np.float64)


@wire("Triangles", "ends")
@dataclass(frozen=True)
class Triangles(Statistic):
    """Triangles {v, a, b} with at least `ends` of a and b in S; 0 for everybody outside N[S].

    With both ends in S it is a function of edges between targets: Delta = 0. With one, i can close a triangle with t
    and each of d - 1 others: Delta = d - 1.

    Raises:
        InvalidInput: another number of ends.

    Example:
        >>> Triangles(2).sensitivity(None), Triangles(1).sensitivity(5), Triangles(1).signal
        (0.0, 4.0, False)
    """

    ends: Annotated[int, Parameter("ends of a triangle, apart from v, that are confirmed targets", at_least=1,
                                   at_most=2)] = 2

    name: ClassVar[str] = "triangles"
    signal: ClassVar[bool] = False

    def sensitivity(self, degree_bound: int | None) -> float:
        return 0.0 if self.ends == 2 else float(needed_bound(degree_bound) - 1)

    def count_sensitivity(self, degree_bound: int | None) -> float:
        return 1.0

    def most(self, degree_bound: int | None) -> int | None:
        return 0

    def values(self, graph: Adjacency, confirmed: NDArray[np.int64]) -> NDArray[np.float64]:
        return triangles(graph.indptr, graph.indices, _inside(graph, confirmed), self.ends).astype(np.float64)
