"""Made-up target groups: a contagion that starts somewhere and spreads over the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import finite, whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.search.graph import Graph

__all__ = ["infect"]


def infect(graph: Graph, seed_vertex: Any, p: float, q: float, rounds: int, *, seed: int = 0) -> NDArray[np.bool_]:
    """Who belongs to a made-up target group: a study of a search needs one, a release never does.

    In each round everybody who has an infected neighbour when the round begins, and is not infected, becomes so with
    probability p: one trial, whatever the number of infected neighbours, and another in the next round. So nobody is
    further from the start than the number of rounds. In the end each, the start included, stays with probability
    1 - q.

    Args:
        graph: the network.
        seed_vertex: the id where it starts, or several.
        p: of one trial, in [0, 1].
        q: of leaving in the end, in [0, 1].
        rounds: k >= 0.
        seed: of the draws.

    Returns:
        bool (n,): statuses, as an oracle of an investigation.

    Raises:
        InvalidInput: an unknown id, a probability out of range.

    Source: Wu 2017, Algorithm 15, read as synchronous rounds; spec targeted_search 3.5.

    Example:
        >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
        >>> infect(path, 0, p=1.0, q=0.0, rounds=2).tolist()
        [True, True, True, False, False]
    """
    join, leave = _probability("p", p), _probability("q", q)
    several = isinstance(seed_vertex, list | tuple | set | frozenset | np.ndarray)
    starts = [graph.index_of(each) for each in (seed_vertex if several else [seed_vertex])]
    draw = study_generator(seed, "infect")
    infected = np.zeros(graph.people, np.bool_)
    infected[starts] = True
    exposed = np.zeros(graph.people, np.bool_)
    news = np.flatnonzero(infected)
    for _ in range(whole("rounds", rounds)):
        exposed[_neighbours(graph, news)] = True
        frontier = np.flatnonzero(exposed & ~infected)
        news = frontier[draw.random(len(frontier)) < join]
        infected[news] = True
    members = np.flatnonzero(infected)
    infected[members[draw.random(len(members)) < leave]] = False
    return infected


def _probability(field: str, value: float) -> float:
    if not 0 <= finite(field, value) <= 1:
        raise InvalidInput(field, f"{value!r} is out of range", "must be in [0, 1]")
    return float(value)


def _neighbours(graph: Graph, vertices: NDArray[np.int64]) -> NDArray[np.int32]:
    """The lists of some vertices, one behind the other."""
    starts, ends = graph.indptr[vertices], graph.indptr[vertices + 1]
    lengths = ends - starts
    places = np.arange(int(lengths.sum())) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    found: NDArray[np.int32] = graph.indices[places]
    return found
