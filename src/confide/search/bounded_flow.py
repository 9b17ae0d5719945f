"""The largest flow over paths of bounded length, by a linear program on copies of the graph, one for each step.

What the solver says is not believed: its flow is cut down to one that is conserved and within all capacities, and its
prices of edges are stretched until no short path is cheaper than 1. One is a lower bound, the other an upper one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import SolverFailed
from confide.search.neighbourhoods import Adjacency

__all__ = ["FLOW_GAP", "FLOW_ROOM", "bounded_flow", "bounded_flows"]

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
    """(n,) the flow of every vertex into the set, to within 2^-21; 0 for its members.

    Args:
        graph: compressed rows.
        inside: (n,) the set S that absorbs.
        length: the most edges of a path.

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
