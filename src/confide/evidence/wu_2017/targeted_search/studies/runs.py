"""Shared code of the studies of targeted search: networks, and a target group for each regime in them."""

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
    """A graph, and the vertex at which contagions begin.

    Args:
        name: name, in a few words.
        graph: graph of the network.
        start: index of the vertex at which contagions begin.
        seeds: seeds of the draws, one for each regime.
        degree_bound: public bound d on degrees, a round number above every degree.
        instead: text for the output: the real network that a simulated one replaces, and the reason.
    """

    name: str
    graph: Graph
    start: int
    seeds: tuple[int, int, int]
    degree_bound: int
    instead: str = ""

    @property
    def budgets(self) -> tuple[int, ...]:
        """The numbers of examinations in `BUDGETS`, scaled to the number of people."""
        return tuple(max(1, round(each * self.graph.people / _SIZE)) for each in BUDGETS)


@cache
def costars(*, small: bool) -> Network:
    """A simulated network of people who share films, with 6,000 people, or with 27,262 as in the film casts.

    Args:
        small: whether the network has 6,000 people.
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
    """The network of film casts that recbole ships, with ranks of the actors' ids as ids; None where recbole is not
    installed.
    """
    try:
        named = film_casts()
    except InvalidInput:
        return None
    graph = Graph(indptr=named.indptr, indices=named.indices)
    return Network(name="film casts", graph=graph, start=1500, seeds=(9, 9, 5), degree_bound=1_200)


def group_of(network: Network, regime: int) -> Group:
    """The target group of a regime: p = .05, 5 rounds, and a share of .5, .8 or .9 that leaves at the end.

    Args:
        network: network of the group.
        regime: index in `REGIMES`.

    Source: spec targeted_search 6.
    """
    return made_up_group(network.graph, network.start, _LEAVE[regime], network.seeds[regime])
