"""Shared code of the studies of targeted search: networks, and a group of targets in the network for each regime."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from confide.contract.errors import InvalidInput
from confide.evidence.wu_2017.targeted_search.networks import film_casts
from confide.search.discovery import Group, affiliation_network, made_up_group
from confide.search.graph import Graph

__all__ = ["BUDGETS", "COMPONENTS", "DELTA", "REGIMES", "Network", "casts", "costars", "group_of"]

BUDGETS = (500, 1000, 2000, 5000, 10_000, 15_000)
"""Numbers of examinations in a network of 27,262 people. In other networks these numbers are in proportion to the
number of people.
"""
COMPONENTS = 14
DELTA = 1e-6
REGIMES = ("dominant component", "even sizes", "fragmented")
_LEAVE = (0.5, 0.8, 0.9)
_SIZE = 27_262


@dataclass(frozen=True, kw_only=True, eq=False)
class Network:
    """A network for the studies: a graph, and settings for simulating groups of targets. A group is the outcome of a
    simulated contagion.

    Args:
        name: name of the network, in a few words.
        graph: graph of the network.
        start: index of the vertex at which contagions begin.
        seeds: seeds of the draws, one for each regime.
        degree_bound: public bound d on degrees, a round number above every degree.
        instead: text for the output that says why the network is not a real one; empty for a real network.
    """

    name: str
    graph: Graph
    start: int
    seeds: tuple[int, int, int]
    degree_bound: int
    instead: str = ""

    @property
    def budgets(self) -> tuple[int, ...]:
        """The numbers of examinations at which results are compared: `BUDGETS`, scaled in proportion to the number of
        people.
        """
        return tuple(max(1, round(each * self.graph.people / _SIZE)) for each in BUDGETS)


@cache
def costars(*, small: bool) -> Network:
    """A simulated network of people who appeared in the same film, with 6,000 people, or with 27,262 people as in the
    real film casts.

    Args:
        small: whether the network has 6,000 people; False for 27,262.
    """
    if small:
        graph = affiliation_network(6_000, 1_000, 20, 13.0, seed=1)
        return Network(name="made up, 6,000 people", graph=graph, start=0, seeds=(0, 0, 0), degree_bound=500,
                       instead=" (a quick run; nobody's data)")
    graph = affiliation_network(_SIZE, 4_000, 50, 13.0, seed=1)
    return Network(name="made up, 27,262 people", graph=graph, start=3314, seeds=(1, 1, 1), degree_bound=1_200,
                   instead=" (in place of the film casts: the package recbole, which ships them, is not installed)")


@cache
def casts() -> Network | None:
    """The network of film casts from the package recbole; None where recbole is not installed. Actors are numbered in
    the order of their ids in the data.
    """
    try:
        named = film_casts()
    except InvalidInput:
        return None
    graph = Graph(indptr=named.indptr, indices=named.indices)
    return Network(name="film casts", graph=graph, start=1500, seeds=(9, 9, 5), degree_bound=1_200)


def group_of(network: Network, regime: int) -> Group:
    """The simulated group of targets of a regime. The contagion has infection probability .05 and 5 rounds. At the end,
    each infected person leaves the group with probability .5, .8 or .9.

    Args:
        network: network in which the group is simulated.
        regime: index of the regime in `REGIMES`, from 0 to 2.

    Source: spec targeted_search 6.
    """
    return made_up_group(network.graph, network.start, _LEAVE[regime], network.seeds[regime])
