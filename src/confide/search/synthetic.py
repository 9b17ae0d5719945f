"""Made-up networks and target groups: people of communities who appear together, and a contagion among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import finite, non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.search.graph import Graph

__all__ = ["affiliation_network", "infect"]


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


def affiliation_network(
    people: int, groups: int, communities: int, mean_extra: float, *, outside: float = 0.1, inequality: float = 0.55,
    at_least: int = 1, seed: int = 0,
) -> Graph:
    """Who shares a group with whom, where most of a group comes from one community.

    A group has 1 + L places, L geometric from 1 with the given mean, and belongs to a community drawn uniformly. Each
    place goes to somebody of that community, or with probability `outside` to anybody, drawn by activity; who is drawn
    twice takes one place. The activity of the r-th most active person is r^-inequality; the ranks are shuffled, and
    the communities are equally large (within one).

    Args:
        people: n.
        groups: films, papers, classes.
        communities: 1 to n.
        mean_extra: of L, from 1.
        outside: in [0, 1].
        inequality: of activities, from 0: everybody alike.
        at_least: how many groups neighbours share.
        seed: of the draws.

    Raises:
        InvalidInput: a size below 1, more communities than people, a probability out of range.

    Source: spec targeted_search 8.

    Example:
        >>> affiliation_network(1000, 300, 10, 2.0, seed=4)
        Graph(people=1000)
    """
    n, k = whole("people", people, at_least=1), whole("groups", groups, at_least=1)
    if whole("communities", communities, at_least=1) > n:
        raise InvalidInput("communities", f"{communities} are more than the people", f"at most {n}")
    if positive("mean_extra", mean_extra) < 1:
        raise InvalidInput("mean_extra", f"{mean_extra!r} is out of range", "must be at least 1")
    if not 0 <= outside <= 1:
        raise InvalidInput("outside", f"{outside!r} is out of range", "must be in [0, 1]")
    non_negative("inequality", inequality)
    draw = study_generator(seed, "affiliations")
    sizes = 1 + draw.geometric(1 / mean_extra, k)
    group = np.repeat(np.arange(k, dtype=np.int32), sizes)
    home = draw.integers(0, communities, k)[group]
    everybody = draw.permutation(n)  # those of a community are neighbours in this order
    activity = np.arange(1, n + 1, dtype=np.float64)[draw.permutation(n)] ** -float(inequality)
    ends = np.cumsum(activity)
    cuts = np.arange(communities + 1) * n // communities
    marks = np.append(0.0, ends)[cuts]
    away = draw.random(len(group)) < outside
    low = np.where(away, 0.0, marks[home])
    high = np.where(away, ends[-1], marks[home + 1])
    places = np.searchsorted(ends, low + draw.random(len(group)) * (high - low), side="right")
    member: NDArray[np.int64] = everybody[np.minimum(places, n - 1)]
    return Graph.from_groups(group, member, vertices=n, at_least=at_least)
