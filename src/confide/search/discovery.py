"""Comparison of searches by their number of found targets after each number of examinations, on synthetic target
groups.

The comparison is for studies. The comparison uses data that only the operator may see, and that no release contains.

The module also makes synthetic networks of people who share groups, and synthetic target groups by a contagion in a
network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import finite, non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.search.baselines import random_order, target
from confide.search.component_search import sfs
from confide.search.graph import Graph
from confide.search.oracles import Investigation
from confide.search.releases import OperatorLog
from confide.search.targeted import PTarget

__all__ = [
    "Found",
    "Group",
    "affiliation_network",
    "compare_searches",
    "components_of",
    "in_random_order",
    "infect",
    "made_up_group",
    "privately",
    "without_noise",
]

# ---- synthetic


def infect(graph: Graph, seed_vertex: Any, p: float, q: float, rounds: int, *, seed: int = 0) -> NDArray[np.bool_]:
    """A synthetic target group by contagion. Studies of a search need synthetic groups; a release never does.

    In each round a vertex that is not infected, and has an infected neighbour at the beginning of the round, becomes
    infected with probability p. Therefore no infected vertex is further from the start than the number of rounds. In
    each round a vertex has only one trial, even if several of its neighbours are infected. At the end each infected
    vertex, including the start, stays in the group with probability 1 - q.

    Args:
        graph: private network of contacts between people.
        seed_vertex: id of the vertex where the contagion starts, or several ids.
        p: probability that a vertex with an infected neighbour becomes infected in a round, in [0, 1].
        q: probability that an infected vertex leaves the group at the end, in [0, 1].
        rounds: number of rounds, >= 0.
        seed: seed of the draws.

    Returns:
        Whether each vertex is a target, bool, shape (n,). The array can serve as the oracle of an `Investigation`.

    Raises:
        InvalidInput: an unknown id, or a probability out of range.

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
    """The concatenated lists of neighbours of the given vertices."""
    starts, ends = graph.indptr[vertices], graph.indptr[vertices + 1]
    lengths = ends - starts
    places = np.arange(int(lengths.sum())) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    found: NDArray[np.int32] = graph.indices[places]
    return found


def affiliation_network(
    people: int, groups: int, communities: int, mean_extra: float, *, outside: float = 0.1, inequality: float = 0.55,
    at_least: int = 1, seed: int = 0,
) -> Graph:
    """A synthetic network of people who share groups, where most members of a group come from one community.

    A group has 1 + L places, where L >= 1 is geometric with the mean `mean_extra`. The group belongs to a community
    drawn uniformly. Each place goes to a person of the group's community, or with probability `outside` to a person of
    any community. In both cases each person is drawn with a probability in proportion to their activity. A person who
    is drawn twice takes one place. The activity of the r-th most active person is r^-inequality. The ranks are
    shuffled, and the sizes of communities differ by at most one.

    Args:
        people: number n of people.
        groups: number of groups, such as films, papers or classes.
        communities: number of communities, 1 to n.
        mean_extra: mean of L, the number of places of a group beyond the first, at least 1.
        outside: probability that a place goes to a person of any community, in [0, 1].
        inequality: exponent >= 0 in the activity r^-inequality; 0 makes all people equally active.
        at_least: least number of groups that two people must share to be neighbours.
        seed: seed of the draws.

    Raises:
        InvalidInput: a size below 1, more communities than people, or a probability out of range.

    Source: spec targeted_search 8.

    Example:
        >>> affiliation_network(1000, 300, 10, 2.0, seed=4)
        Graph(people=1000)
    """
    n, k = whole("people", people, at_least=1), whole("groups", groups, at_least=1)
    if whole("communities", communities, at_least=1) > n:
        raise InvalidInput("communities", f"{communities} are more than the people", f"must be at most {n}")
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


# ---- discovery


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """A synthetic target group, and the start of the search for it.

    Args:
        investigation: investigation whose oracle is the table of all statuses. The seed is the lowest id in the second
            largest component, or in the only component.
        sizes: numbers of targets in the components, in decreasing order.
    """

    investigation: Investigation
    sizes: tuple[int, ...]

    @property
    def targets(self) -> int:
        """Number of targets in the group."""
        return sum(self.sizes)


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """Results of several runs of one search.

    Args:
        curves: number of targets that each run had found after q examinations, for q = 0..last, shape (runs, last + 1).
        begun: number of searches for a component that each run had begun after q examinations, shape (runs, last + 1).
        queries: number of examinations of each whole run, shape (runs,).
        ended_with: number of targets found in each whole run, shape (runs,).
    """

    curves: NDArray[np.int32]
    begun: NDArray[np.int32]
    queries: NDArray[np.int64]
    ended_with: NDArray[np.int64]

    def at(self, budgets: tuple[int, ...]) -> NDArray[np.float64]:
        """Mean number of targets found after each of the given numbers of examinations."""
        return np.asarray(self.curves[:, list(budgets)].mean(axis=0))

    def error(self, budget: int) -> float:
        """Standard error of the mean number of targets found after a number of examinations."""
        runs = len(self.curves)
        return float(self.curves[:, budget].std(ddof=1) / runs**0.5) if runs > 1 else 0.0

    def calls(self, budget: int) -> float:
        """Mean number of searches for a component that had begun after a number of examinations."""
        return float(self.begun[:, budget].mean())


def compare_searches(
    investigation: Investigation, search: PTarget, checks: int, *, runs: int = 10, seed: int = 0
) -> dict[str, NDArray[np.float64]]:
    """Number of targets found after each number of examinations by three searches: without noise, private, and in
    random order. The function is for studies only.

    All results are functions of the private network. Use the function only for a synthetic network, or for a network
    that may be shown. All runs end after `checks` examinations at the latest. A run for a release has no such limit.

    Args:
        investigation: investigation with an oracle that knows all statuses.
        search: the private search to run. The other two searches look for the same number of components.
        checks: largest number of examinations in the comparison, at least 1.
        runs: number of runs of the private search, and of the search in random order, at least 1.
        seed: seed of the first run. Later runs have the next seeds.

    Returns:
        A mapping from name to numbers of found targets, the first seed included, shape (checks + 1,). The names are
        "without noise", "private" (the mean of the runs), "private, lowest tenth" and "private, highest tenth"
        (quantiles of the runs), and "random order" (a mean).

    Raises:
        InvalidInput: a number out of range, or a network of another size than the search expects.

    Source: spec targeted_search 6.

    Example:
        >>> path = Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 3])
        >>> found = compare_searches(Investigation(path, 0, {0, 2, 4}), PTarget(5, 3, None, 1.0, None, "none"), 4)
        >>> found["without noise"].tolist()
        [1.0, 1.0, 2.0, 2.0, 3.0]
    """
    whole("checks", checks, at_least=1)
    whole("runs", runs, at_least=1)
    logs = [OperatorLog() for _ in range(runs)]
    for number, log in enumerate(logs, seed):
        search.run(investigation, Noise.simulated(number), log=log, query_cap=checks, without_guarantee=True)
    private = np.array([log.curve(checks) for log in logs], np.float64)
    free = [random_order(investigation, search.components, Noise.simulated(seed + number), cap=checks).log.curve(checks)
            for number in range(runs)]
    return {
        "without noise": target(investigation, search.components, cap=checks).log.curve(checks).astype(np.float64),
        "private": np.asarray(private.mean(axis=0)),
        "private, lowest tenth": np.asarray(np.quantile(private, 0.1, axis=0)),
        "private, highest tenth": np.asarray(np.quantile(private, 0.9, axis=0)),
        "random order": np.asarray(np.mean(free, axis=0)),
    }


def components_of(graph: Graph, targeted: NDArray[np.bool_]) -> list[list[int]]:
    """Indices of the targets in each component of the graph that the targets form. Components are sorted by decreasing
    size. Among components of equal size, the component that was found first comes first.

    Args:
        graph: network of contacts, with any ids.
        targeted: whether each vertex is a target, shape (n,).
    """
    left, out = targeted.copy(), []
    for vertex in np.flatnonzero(targeted).tolist():
        if left[vertex]:
            part = graph.indices_of(sfs(graph, graph.id_of(vertex), targeted))
            left[part] = False
            out.append(part.tolist())
    return sorted(out, key=len, reverse=True)


def made_up_group(graph: Graph, start: int, leave: float, seed: int, *, join: float = 0.05, rounds: int = 5) -> Group:
    """A synthetic group by contagion, and an investigation that starts from the lowest id in the second largest
    component of the group.

    Args:
        graph: private network of contacts between people.
        start: index of the vertex where the contagion starts.
        leave: probability q that an infected vertex leaves the group at the end, in [0, 1].
        seed: seed of the draws.
        join: probability p that a vertex with an infected neighbour becomes infected in a round, in [0, 1].
        rounds: number of rounds of the contagion, >= 0.

    Source: spec targeted_search 6.
    """
    targeted = infect(graph, graph.id_of(start), join, leave, rounds, seed=seed)
    parts = components_of(graph, targeted)
    first = min(parts[min(1, len(parts) - 1)])
    return Group(investigation=Investigation(graph, graph.id_of(first), targeted),
                 sizes=tuple(len(part) for part in parts))


def _found(logs: list[OperatorLog], last: int) -> Found:
    steps = np.arange(last + 1)
    return Found(
        curves=np.array([log.curve(last) for log in logs], np.int32),
        begun=np.array([np.searchsorted(log.call_began, steps, side="right") for log in logs], np.int32),
        queries=np.array([log.queries for log in logs]),
        ended_with=np.array([len(log.found_after) for log in logs]))


def without_noise(group: Group, components: int, last: int) -> Found:
    """One run of the search without noise, which is not private.

    Args:
        group: target group, and the investigation from which the search starts.
        components: largest number k of components to find.
        last: largest number of examinations for which the result has a column.
    """
    return _found([target(group.investigation, components).log], last)


def in_random_order(group: Group, components: int, last: int, runs: int) -> Found:
    """Runs of the search in random order between components, which costs no privacy.

    Args:
        group: target group, and the investigation from which the search starts.
        components: largest number k of components to find.
        last: largest number of examinations for which the result has a column.
        runs: number of runs, with seeds 0, 1, ....
    """
    return _found([random_order(group.investigation, components, Noise.simulated(seed)).log for seed in range(runs)],
                  last)


def privately(group: Group, search: PTarget, last: int, runs: int) -> Found:
    """Runs of the private search. No run is ended early, so the numbers come from whole runs.

    Args:
        group: target group, and the investigation from which the search starts.
        search: the private search to run.
        last: largest number of examinations for which the result has a column.
        runs: number of runs, with seeds 0, 1, ....
    """
    logs = []
    for seed in range(runs):
        log = OperatorLog()
        search.run(group.investigation, Noise.simulated(seed), log=log)
        logs.append(log)
    return _found(logs, last)
