"""Statistics of proximity, which measure how near an unexamined person is to the confirmed targets. The module also
bounds the change of each statistic that one protected person can make.

    >>> CommonNeighbours().sensitivity(None), Paths(3).sensitivity(10), LargestFlow(3).sensitivity(10) >= 5
    (1.0, 180.0, True)

*Sensitivity.* Only the targeted sensitivity matters: the largest change of the statistic of a *target* that is not yet
confirmed, when one protected vertex is rewired in any way. The sensitivity of every statistic except common neighbours
needs a public bound d on all degrees.

*Signal.* After the search of a component, every unexamined vertex lies outside the neighbourhood of the confirmed
targets. For such vertices the statistics `Contacts` and `Triangles` are 0 and carry no information, so their `signal`
is False. The flow over two edges equals the number of common neighbours. The number of paths of two edges equals the
number of common neighbours with multiplicity.

*Flows.* The largest flow over paths of bounded length comes from a linear program on copies of the graph, one copy for
each step. The solver's answer is not trusted. The solver's flow is reduced until it is conserved and within all
capacities, which gives a lower bound. The solver's dual prices of edges are scaled up until no short path costs less
than 1, which gives an upper bound.
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
"""Largest distance between the certified lower and upper bounds of a flow."""

FLOW_ROOM = 2.0**-20
"""Amount by which the sensitivity of computed flows exceeds that of exact flows."""

_FAR = 1 << 30

_Arc = tuple[int, int, int]  # step, from, to


def _steps_to(graph: Adjacency, start: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The least number of edges from each vertex to any of `start`, shape (n,). Distances beyond `most` are replaced by
    a large number.
    """
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
    """The largest flow from every vertex into a set, to within 2^-21, shape (n,); 0 for members of the set.

    Args:
        graph: compressed rows of the graph.
        inside: whether each vertex belongs to the set S, which absorbs flow; shape (n,).
        length: largest number of edges of a path.

    Raises:
        SolverFailed: a linear program whose solution could not be certified.
    """
    to_set = _steps_to(graph, np.flatnonzero(inside), length)
    out = np.zeros(graph.people)
    for v in np.flatnonzero((to_set >= 1) & (to_set <= length)):
        out[v] = bounded_flow(graph, int(v), to_set, length)
    return out


def bounded_flow(graph: Adjacency, source: int, to_set: NDArray[np.int64], length: int) -> float:
    """The largest flow from one vertex into a set.

    Args:
        graph: compressed rows of the graph.
        source: index of a vertex outside the set.
        to_set: least number of edges from each vertex to the set, 0 for members of the set; shape (n,).
        length: largest number of edges of a path.
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
        raise SolverFailed("bounded flow", "the solver found no optimum of the linear program")
    low = _flow(arcs, found.x, of_edge, to_set, source)
    high = _cut(arcs, -found.ineqlin.marginals, of_edge, to_set, source)
    if not high - low <= FLOW_GAP:
        raise SolverFailed("bounded flow", "the bounds of a flow still differ")
    return high


def _arcs(graph: Adjacency, source: int, to_set: NDArray[np.int64], length: int) -> list[_Arc]:
    """Steps along edges that can be part of a short path from the source into the absorbing set, in order of time."""
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
    """A lower bound on the largest flow: the value of a flow that is conserved and within all capacities."""
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
    """An upper bound on the largest flow, by duality: the total of edge prices at which no short path is cheaper than
    1.
    """
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
    """Check that a public degree bound is given and is at least 1, for a statistic that needs one, and return it.

    Raises:
        InvalidInput: the bound is missing or below 1.
    """
    if degree_bound is None:
        raise InvalidInput("degree_bound", "is missing", "declare a public bound on every degree, since the "
                                                         "sensitivity depends on it")
    return whole("degree_bound", degree_bound, at_least=1)


def _inside(graph: Adjacency, confirmed: NDArray[np.int64]) -> NDArray[np.int64]:
    members = np.zeros(graph.people, dtype=np.int64)
    members[np.asarray(confirmed, dtype=np.int64)] = 1
    return members


def _sums(graph: Adjacency, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    return neighbour_sums(graph.indptr, graph.indices, weights)


def _reached(degree_bound: int, steps: int) -> int:
    """Largest number of vertices within `steps` steps of one vertex, without that vertex."""
    return sum(degree_bound * (degree_bound - 1) ** j for j in range(steps))


@dataclass(frozen=True)
class Statistic(Declared, ABC):
    """A statistic of proximity f(G, v, S) of a vertex v and the confirmed targets S.

    Source: Wu 2017, section 7.4 (lines 5925-5995); spec targeted_search 2.
    """

    name: ClassVar[str] = "statistic"

    signal: ClassVar[bool] = True
    """Whether the statistic can guide the search for another component. The value is False if the statistic is 0 for
    every vertex outside the neighbourhood of the confirmed targets.
    """

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return True

    @abstractmethod
    def sensitivity(self, degree_bound: int | None) -> float:
        """Targeted sensitivity Delta: the largest change of the value of an unconfirmed target by one protected vertex.

        Args:
            degree_bound: public bound d on every degree of every admissible graph.

        Raises:
            InvalidInput: a missing bound that the statistic needs.
        """

    def impact_cardinality(self, degree_bound: int | None) -> int:
        """Impact cardinality IC: the largest number of vertices whose values change when one protected vertex is
        rewired, including the rewired vertex.

        Raises:
            InvalidInput: a missing bound.

        Example:
            >>> CommonNeighbours().impact_cardinality(3)  # Claim 7.7.2 says 4; seven do change
            7
        """
        return 2 * _reached(needed_bound(degree_bound), self._steps()) + 1

    def count_sensitivity(self, degree_bound: int | None) -> float:
        """Sensitivity of a count: the largest change, when one protected vertex is rewired, of the number of vertices v
        outside N[S] with f(v) >= x, over all x. N[S] is the set S with its neighbours.

        Vertices with a larger value lie within the rewired vertex's reach in the new graph, and vertices with a smaller
        value lie within its reach in the old graph. The rewired vertex itself adds one more to the change: its value
        may change, or it may be counted in only one of the graphs. For statistics over at most two edges, the rewired
        vertex affects other vertices only if it is adjacent to S. In this case one of the d edges of the rewired vertex
        leads to S, and the rewired vertex itself is not counted.

        Raises:
            InvalidInput: a missing bound.

        Source: spec targeted_search 2 and 3.2 (i).
        """
        bound = needed_bound(degree_bound)
        return float(max(bound - 1, 1) if self._steps() == 1 else _reached(bound, self._steps()) + 1)

    @abstractmethod
    def most(self, degree_bound: int | None) -> int | None:
        """The largest possible value of a vertex outside N[S]; None if no bound is known. For the stop "private", this
        value is the default largest threshold.
        """

    @abstractmethod
    def values(self, graph: Adjacency, confirmed: NDArray[np.int64]) -> NDArray[np.float64]:
        """The value of every vertex, shape (n,). The values of confirmed vertices have no meaning.

        Args:
            graph: compressed rows of the graph.
            confirmed: indices of the confirmed targets, the set S.
        """

    def _steps(self) -> int:
        """Largest number of edges between a rewired vertex and a vertex whose value it changes."""
        return 1


@wire("CommonNeighbours", "")
@dataclass(frozen=True)
class CommonNeighbours(Statistic):
    """Common neighbours |N(v) and N(S)|: the neighbours of v that are neighbours of any confirmed target, each counted
    once.

    Rewiring a vertex i adds or removes at most i itself among the common neighbours of an unconfirmed target t.
    Therefore Delta = 1, whatever the degrees.

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
    """Common neighbours with multiplicity: the sum over w in S of |N(v) and N(w)|. A neighbour of several confirmed
    targets counts for each of them.

    A vertex that is adjacent to v and to d - 1 members of S adds d - 1 to the sum. Therefore Delta = d - 1, not 1 as
    printed in Wu 2017.

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
    """Base of statistics that count over 1 to `length` edges."""

    length: Annotated[int, Parameter("largest number of edges of a path", symbol="l", at_least=2, at_most=6)] = 2

    def _steps(self) -> int:
        return self.length - 1


@wire("Paths", "length")
@dataclass(frozen=True)
class Paths(_OverEdges):
    """Number of simple paths of 1 to `length` edges from v that end in S.

    A path of l edges that changes has the rewired vertex i at one of the positions 1 to l - 1. There are (d-1)^(l-1)
    paths of l edges with i at position 1, and d (d-1)^(l-2) with i at each other position. The old and the new graph
    share all paths that avoid vertex i, so the larger number of paths through i bounds the difference.

    Beyond two edges, the running time of `values` is proportional to the number of simple paths.

    Raises:
        InvalidInput: a length out of range (for paths of one edge use `Contacts`).

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
    """Number of walks of 1 to `length` edges from v that end in S. Unlike a simple path, a walk may return to a vertex.
    The number of walks is fast to compute for every length.

    Delta is the sum over l of (l - 1) d^(l-1): the rewired vertex i is at one of l - 1 positions, and each of the other
    l - 1 steps has at most d choices.

    Raises:
        InvalidInput: a length out of range, or a degree bound d at which counts would not be exact doubles.

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
                               "use a smaller length, since counts must be at most 2^50")
        return d


@wire("Flow", "length")
@dataclass(frozen=True)
class LargestFlow(_OverEdges):
    """The largest flow from v into S along paths of at most `length` edges, where each edge carries at most 1.

    Flow that avoids the rewired vertex i is in both graphs, and flow through i uses two of its edges, so Delta = d/2.
    Over two edges the flow equals |N(v) and N[S]|, and Delta = 1. For paths of more than two edges the largest flow may
    be fractional. The computation solves one linear program with HiGHS for each vertex within reach of S, which is
    slow. Each value is certified to 2^-21 by a flow and a cut, and Delta is increased by 2^-20 for this error. The
    computation of the largest flow in whole numbers would be NP-hard for paths of 5 or more edges.

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
    """Number of contacts |N(v) and S| of v among the confirmed targets S, called Path_1 in Wu 2017. This number
    determines the order of the search inside a component, and is 0 for every vertex outside the component and its
    contacts.

    No protected vertex can change a target's number of contacts in S, so Delta = 0.
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
    """Number of triangles {v, a, b} with at least `ends` of a and b in S. This number of triangles is 0 for every
    vertex outside N[S].

    With `ends` = 2 the number of triangles of a target is a function of edges between targets, so Delta = 0. With
    `ends` = 1 a rewired vertex i can close a triangle with a target t and each of d - 1 other vertices, so Delta = d -
    1.

    Raises:
        InvalidInput: `ends` is neither 1 nor 2.

    Example:
        >>> Triangles(2).sensitivity(None), Triangles(1).sensitivity(5), Triangles(1).signal
        (0.0, 4.0, False)
    """

    ends: Annotated[int, Parameter("number of ends of a triangle, apart from v, that are confirmed targets", at_least=1,
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
