"""What the studies of targeted search share: networks, target groups, and what the three searches find."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.search.baselines import random_order, target
from confide.search.component_search import sfs
from confide.search.graph import Graph
from confide.search.infection import infect
from confide.search.instances import film_casts
from confide.search.oracles import Investigation
from confide.search.releases import OperatorLog
from confide.search.synthetic import affiliation_network
from confide.search.targeted import PTarget

__all__ = ["BUDGETS", "COMPONENTS", "DELTA", "Found", "Group", "Network", "casts", "components_of", "costars",
           "group_of", "no_noise", "private", "random"]

BUDGETS = (500, 1000, 2000, 5000, 10_000, 15_000)
"""Examinations, in a network of 27,262 people; in another one in proportion."""
COMPONENTS = 14
DELTA = 1e-6
_SIZE = 27_262
_ROUNDS, _JOIN = 5, 0.05

NAMES = ("dominant component", "even sizes", "fragmented")
_LEAVE = (0.5, 0.8, 0.9)


@dataclass(frozen=True, kw_only=True, eq=False)
class Network:
    """A graph and where contagions begin.

    Args:
        name: in a few words.
        graph: the network.
        start: index of the vertex where they begin.
        seeds: of the draws, one a regime.
        degree_bound: d, public: a round number above every degree.
    """

    name: str
    graph: Graph
    start: int
    seeds: tuple[int, int, int]
    degree_bound: int

    @property
    def budgets(self) -> tuple[int, ...]:
        """`BUDGETS`, in proportion to the people."""
        return tuple(max(1, round(each * self.graph.people / _SIZE)) for each in BUDGETS)


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """A made-up target group, and where its search begins.

    Args:
        regime: its name.
        investigation: with a table of statuses, and a seed in the second largest component.
        sizes: of the components, falling.
    """

    regime: str
    investigation: Investigation
    sizes: tuple[int, ...]

    @property
    def targets(self) -> int:
        """How many there are."""
        return sum(self.sizes)


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What runs of one search found.

    Args:
        curves: (runs, last + 1) targets found after q examinations.
        begun: (runs, last + 1) searches for a component that had begun by then.
        queries: (runs,) examinations of a whole run.
        ended_with: (runs,) targets of a whole run.
    """

    curves: NDArray[np.int16]
    begun: NDArray[np.int16]
    queries: NDArray[np.int64]
    ended_with: NDArray[np.int64]

    def at(self, budgets: tuple[int, ...]) -> NDArray[np.float64]:
        """Means at these budgets."""
        return np.asarray(self.curves[:, list(budgets)].mean(axis=0))

    def error(self, budget: int) -> float:
        """Standard error of the mean at a budget."""
        runs = len(self.curves)
        return float(self.curves[:, budget].std(ddof=1) / runs**0.5) if runs > 1 else 0.0

    def calls(self, budget: int) -> float:
        """Searches for a component that had begun after so many examinations, on average."""
        return float(self.begun[:, budget].mean())


@cache
def costars(*, small: bool) -> Network:
    """A made-up network of people who share films: 6,000, or 27,262 as many as the film casts have.

    Args:
        small: 6,000.
    """
    if small:
        graph = affiliation_network(6_000, 1_000, 20, 13.0, seed=1)
        return Network(name="made up, 6,000 people", graph=graph, start=0, seeds=(0, 0, 0), degree_bound=500)
    graph = affiliation_network(_SIZE, 4_000, 50, 13.0, seed=1)
    return Network(name="made up, 27,262 people", graph=graph, start=3314, seeds=(1, 1, 1), degree_bound=1_200)


@cache
def casts() -> Network | None:
    """The film casts that recbole ships, with ranks of the actors' ids as ids; None where it is not installed."""
    try:
        named = film_casts()
    except InvalidInput:
        return None
    graph = Graph(indptr=named.indptr, indices=named.indices)
    return Network(name="film casts", graph=graph, start=1500, seeds=(9, 9, 5), degree_bound=1_200)


def components_of(graph: Graph, targeted: NDArray[np.bool_]) -> list[list[int]]:
    """Indices of the targets of each component among targets: the largest first, of equals the one found first.

    Args:
        graph: with ids 0 ... n-1 or others.
        targeted: (n,) who is a target.
    """
    left, out = targeted.copy(), []
    for vertex in np.flatnonzero(targeted).tolist():
        if left[vertex]:
            part = graph.indices_of(sfs(graph, graph.id_of(vertex), targeted))
            left[part] = False
            out.append(part.tolist())
    return sorted(out, key=len, reverse=True)


def group_of(network: Network, regime: int) -> Group:
    """The target group of a regime: p = .05, 5 rounds; .5, .8 or .9 leave in the end.

    Args:
        network: where.
        regime: 0, 1, 2: dominant component, even sizes, fragmented.

    Source: spec targeted_search 6.
    """
    graph = network.graph
    targeted = infect(graph, graph.id_of(network.start), _JOIN, _LEAVE[regime], _ROUNDS, seed=network.seeds[regime])
    parts = components_of(graph, targeted)
    seed = min(parts[min(1, len(parts) - 1)])
    return Group(regime=NAMES[regime], investigation=Investigation(graph, graph.id_of(seed), targeted),
                 sizes=tuple(len(part) for part in parts))


def _found(logs: list[OperatorLog], last: int) -> Found:
    steps = np.arange(last + 1)
    return Found(
        curves=np.array([log.curve(last) for log in logs], np.int16),
        begun=np.array([np.searchsorted(log.call_began, steps, side="right") for log in logs], np.int16),
        queries=np.array([log.queries for log in logs]),
        ended_with=np.array([len(log.found_after) for log in logs]))


def no_noise(group: Group, last: int) -> Found:
    """Target, which is not private: one run.

    Args:
        group: who is searched for.
        last: the largest budget.
    """
    return _found([target(group.investigation, COMPONENTS).log], last)


def random(group: Group, last: int, runs: int) -> Found:
    """Random order between components: what costs no privacy.

    Args:
        group: who is searched for.
        last: the largest budget.
        runs: how many, with seeds 0, 1, ....
    """
    return _found([random_order(group.investigation, COMPONENTS, Noise.simulated(seed)).log for seed in range(runs)],
                  last)


def private(group: Group, search: PTarget, last: int, runs: int) -> Found:
    """The private search. No run is cut off: the curve of a whole run is looked at.

    Args:
        group: who is searched for.
        search: the mechanism.
        last: the largest budget.
        runs: how many, with seeds 0, 1, ....
    """
    logs = []
    for seed in range(runs):
        log = OperatorLog()
        search.run(group.investigation, Noise.simulated(seed), log=log)
        logs.append(log)
    return _found(logs, last)
