"""Small graphs for the evidence of claims. The toy graph of 16 vertices is that of spec targeted_search 11."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.search.graph import Graph
from confide.search.noise_kinds import call_law
from confide.search.oracles import Investigation
from confide.search.statistics import Statistic

__all__ = ["TARGETS", "graph_of", "selection_loss", "toy", "values_of"]

TARGETS = frozenset({0, 1, 2, 14, 5, 6, 15, 9})
_TOY = ((0, 1), (0, 2), (1, 14), (2, 14), (0, 14), (5, 6), (6, 15), (1, 3), (3, 5), (3, 7), (0, 4), (4, 5), (4, 6),
        (2, 8), (8, 9), (8, 11), (14, 13), (7, 9), (7, 10), (10, 6), (10, 12), (11, 12), (11, 13), (12, 13), (13, 9),
        (3, 10))


def graph_of(edges: Iterable[tuple[int, int]], people: int) -> Graph:
    """The graph with the given edges.

    Args:
        edges: pairs of vertices, each a number from 0 to n - 1.
        people: number n of vertices.
    """
    pairs = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], people=people)


def toy() -> Investigation:
    """A small investigation: 16 vertices, eight targets in three components, and seed 0."""
    return Investigation(graph_of(_TOY, 16), 0, TARGETS)


def values_of(statistic: Statistic, edges: Iterable[tuple[int, int]], people: int,
              confirmed: Iterable[int]) -> NDArray[np.float64]:
    """The values of a statistic on the graph with the given edges, shape (n,).

    Args:
        statistic: statistic of proximity.
        edges: pairs of vertices, each a number from 0 to n - 1.
        people: number n of vertices.
        confirmed: set S of confirmed targets.
    """
    some: Any = np.array(sorted(confirmed), dtype=np.int64)
    return statistic.values(graph_of(edges, people), some)


def selection_loss(scale: float, ahead: float) -> float:
    """The privacy loss of selecting a noisy maximum under Laplace noise: the log ratio of a selection probability for
    the values (1, M) to that for (0, M + 1). The values differ by 1, the sensitivity. The log ratio tends to 2/b as M
    grows.

    Args:
        scale: scale b > 0 of the Laplace noise.
        ahead: value M >= 0 of the second candidate.

    Example:
        >>> [round(selection_loss(1.0, ahead), 4) for ahead in (0.0, 10.0, 20.0)]
        [0.9648, 1.8329, 1.909]
    """
    first, second = (call_law(values, scale, "laplace", None) for values in ([1.0, ahead], [0.0, ahead + 1.0]))
    return float(np.log(first[0] / second[0]))
