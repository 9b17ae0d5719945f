"""The shared part of the studies of targeted search: networks, and a target group for each regime in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from confide.contract.errors import InvalidInput
from confide.evidence.wu_2017.targeted_search.networks import film_casts
from confide.search.discovery import Group, affiliation_network, made_up_group
from confide.search.graph import Graph

__all__ = ["BUDGETS", "COMPONENTS", "DELTA", "REGIMES", "Network", "casts", "costars", "group_of"]

BUDGETS = (500, 1000, 2000, 5000, 10_000, 15_000)
"""Examinations, in a network of 27,262 people; in another one in proportion."""
COMPONENTS = 14
DELTA = 1e-6
REGIMES = ("dominant component", "even sizes", "fragmented")
_LEAVE = (0.5, 0.8, 0.9)
_SIZE = 27_262


@dataclass(frozen=True, kw_only=True, eq=False)
class Network:
    """A graph and the place where contagions begin.

    Args:
        name: name, in a few words.
        graph: the network.
        start: index of the vertex where they begin.
        seeds: seeds of the draws, one a regime.
        degree_bound: d, public: a round number above every degree.
        instead: for the output: the network that a made-up one stands in for, and the reason.
    """

    name: str
    graph: Graph
    start: int
    seeds: tuple[int, int, int]
    degree_bound: int
    instead: str = ""

    @property
    def budgets(self) -> tuple[int, ...]:
        """`BUDGETS`, in proportion to the people."""
        return tuple(max(1, round(each * self.graph.people / _SIZE)) for each in BUDGETS)


@cache
def costars(*, small: bool) -> Network:
    """A made-up network of people who share films: 6,000, or 27,262 as many as the film casts have.

    Args:
        small: 6,000.
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
    """The film casts that recbole ships, with ranks of the actors' ids as ids; None where it is not installed."""
    try:
        named = film_casts()
    except InvalidInput:
        return None
    graph = Graph(indptr=named.indptr, indices=named.indices)
    return Network(name="film casts", graph=graph, start=1500, seeds=(9, 9, 5), degree_bound=1_200)


def group_of(network: Network, regime: int) -> Group:
    """The target group of a regime: p = .05, 5 rounds; .5, .8 or .9 leave in the end.

    Args:
        network: where.
        regime: index in `REGIMES`.

    Source: spec targeted_search 6.
    """
    return made_up_group(network.graph, network.start, _LEAVE[regime], network.seeds[regime])
