"""Networks at published sizes, made up: people of communities who appear together in groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.search.graph import Graph

__all__ = ["affiliation_network", "coauthors_like_dblp", "costars_like_imdb"]


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


def costars_like_imdb(*, at_least: int = 1, seed: int = 0) -> Graph:
    """A network of the size of the published co-appearance graph: 235,710 people, 4,652,511 edges with seed 0.

    34,200 films of 400 communities, 14 places on average, one in ten of them for anybody.

    Args:
        at_least: how many films neighbours share.
        seed: of the draws.

    Source: Wu 2017, Table 3 (235,710 and 4,587,715); spec targeted_search 8.
    """
    return affiliation_network(235_710, 34_200, 400, 13.0, at_least=at_least, seed=seed)


def coauthors_like_dblp(*, at_least: int = 1, seed: int = 0) -> Graph:
    """A network of the size of the published co-author graph: 956,043 people, 3,733,731 edges with seed 0.

    1,060,000 papers of 20,000 communities, 3.1 authors on average, 15 in a hundred of them anybody.

    Args:
        at_least: how many papers neighbours share.
        seed: of the draws.

    Source: Wu 2017, Table 3 (956,043 and 3,738,044); spec targeted_search 8.
    """
    return affiliation_network(956_043, 1_060_000, 20_000, 2.1, outside=0.15, at_least=at_least, seed=seed)
