"""Made-up networks that stretch a private search, each with the graphs that one protected vertex can make of it.

Nobody's data is used. All degrees are within a bound that belongs to the network, so every two of its graphs are
neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.search.exact_laws import LawTree, Rows, rewirings
from confide.search.targeted import PTarget

__all__ = ["WIDEST", "Made", "crowd", "fitted", "hub_bridge", "hub_rivals", "network", "rivals", "shared_bridge",
           "spread", "tied", "tree_of"]

_Edges = tuple[tuple[int, int], ...]

_RAREST = 1e-150  # the largest chance of an outcome whose other chances doubles may not hold any more

WIDEST = 300
"""Bridges at most: the law of a network with so many still takes milliseconds."""


@dataclass(frozen=True)
class Made:
    """A network, its targets, and every way in which one protected vertex is rewired.

    Args:
        name: in a few words.
        people: n.
        fixed: the edges of all others.
        vertex: who is rewired; protected.
        contacts: for each graph, whom that vertex knows. The first is the graph itself.
        targets: who is targeted; the first one is the seed.
        degree_bound: d.
        stopping_target: K.
    """

    name: str
    people: int
    fixed: _Edges
    vertex: int
    contacts: tuple[tuple[int, ...], ...]
    targets: tuple[int, ...]
    degree_bound: int
    stopping_target: int = 2

    @cached_property
    def graphs(self) -> tuple[Rows, ...]:
        """Every two of them are neighbours."""
        base = np.zeros((self.people, self.people), dtype=np.bool_)
        for u, v in self.fixed:
            base[u, v] = base[v, u] = True
        out = []
        for known in self.contacts:
            joined = base.copy()
            joined[self.vertex, list(known)] = joined[list(known), self.vertex] = True
            out.append(Rows.of_matrix(joined))
        return tuple(out)

    @cached_property
    def targeted(self) -> NDArray[np.bool_]:
        """(n,) who is a target."""
        out = np.zeros(self.people, dtype=np.bool_)
        out[list(self.targets)] = True
        return out


@lru_cache(maxsize=1)
def network() -> Made:
    """Ten people, three groups of targets, and all rewirings of one stranger between them with degrees up to 4."""
    fixed = ((0, 1), (0, 2), (1, 3), (2, 4), (4, 5), (3, 6), (6, 7), (3, 7), (2, 9), (9, 6))
    targets, vertex, bound = (0, 1, 4, 5, 7), 8, 4
    joined = np.zeros((10, 10), dtype=np.bool_)
    for u, v in fixed:
        joined[u, v] = joined[v, u] = True
    contacts = [tuple(graph.indices[graph.indptr[vertex] : graph.indptr[vertex + 1]].tolist())
                for graph in rewirings(Rows.of_matrix(joined), vertex, bound)]
    return Made("all rewirings of one vertex among ten people", 10, fixed, vertex, tuple(contacts), targets, bound)


def rivals(scale: float, lift: int = 0) -> Made:
    """Two hidden targets, one far ahead: one stranger moves from the one behind to the one ahead.

    Args:
        scale: b: it takes some scales of bridges to come near the worst case.
        lift: bridges to both: what the one behind shares with the seed in any case.
    """
    count = min(WIDEST, math.ceil(6 * scale) + 1)
    fixed: list[tuple[int, int]] = []
    for bridge in range(4, 4 + count + lift):
        fixed += [(0, bridge), (2, bridge)]
        if bridge >= 4 + count:
            fixed.append((1, bridge))
    contacts = ((0, 1), (0, 2), (0,), (), (0, 1, 2))
    return Made("two hidden targets, one ahead", 4 + count + lift, tuple(fixed), 3, contacts, (0, 1, 2),
                count + lift + 1)


def shared_bridge(others: int = 30, lift: int = 0) -> Made:
    """Many hidden targets, whom one stranger joins to the seed, or not.

    Args:
        others: how many.
        lift: bridges to all of them: what each shares with the seed in any case.
    """
    targets = tuple(range(2, 2 + others))
    fixed = [(end, bridge) for bridge in range(2 + others, 2 + others + lift) for end in (0, *targets)]
    return Made(f"{others} hidden targets behind one vertex", 2 + others + lift, tuple(fixed), 1,
                ((0,), (0, *targets), targets, ()), (0, *targets), max(others, lift) + 1, stopping_target=others // 2)


def crowd(scale: float, lift: int = 0) -> Made:
    """One hidden target, and a stranger who shares many contacts with the seed, or none.

    Args:
        scale: b.
        lift: bridges to the hidden target.
    """
    count = min(WIDEST, math.ceil(6 * scale) + 3) + lift
    near = tuple(range(3, 3 + count))
    fixed = [*((0, v) for v in near), *((1, v) for v in near[:lift])]
    return Made("a stranger in the crowd around the seed", 3 + count, tuple(fixed), 2, ((), near), (0, 1), count + 1)


def _hub(found: int) -> tuple[tuple[int, ...], list[_Edges]]:
    """Targets who all know each other, and the edges between them."""
    members = tuple(range(found))
    return members, [((u, v),) for u in members for v in members if u < v]


def hub_rivals(scale: float) -> Made:
    """Two hidden targets, one ahead, and a stranger who knows a whole group: for statistics that count each of it.

    Args:
        scale: b, in units of the statistic's sensitivity.
    """
    ahead = min(WIDEST // 3, math.ceil(2.5 * scale) + 1)
    members, fixed = _hub(min(WIDEST, max(40, 3 * ahead)))
    here = len(members)
    behind, front, stranger = here, here + 1, here + 2
    for bridge in range(here + 3, here + 3 + ahead):
        fixed += [((front, bridge),), *(((one, bridge),) for one in members)]
    contacts = ((*members, behind), (*members, front), members, ())
    return Made("two hidden targets, one ahead, around a group", here + 3 + ahead, tuple(edge for (edge,) in fixed),
                stranger, contacts, (*members, behind, front), here + ahead + 1)


def hub_bridge(found: int = 40, others: int = 40) -> Made:
    """Many hidden targets, whom one stranger joins to a whole group, or not.

    Args:
        found: of the group.
        others: hidden targets.
    """
    members, fixed = _hub(found)
    hidden = tuple(range(found, found + others))
    contacts = (members, (*members, *hidden), hidden, ())
    return Made(f"{others} hidden targets behind one who knows a group", found + others + 1,
                tuple(edge for (edge,) in fixed), found + others, contacts, (*members, *hidden), found + others,
                stopping_target=others // 2)


@lru_cache(maxsize=1)
def tied() -> Made:
    """One component of five targets in which the walk meets ties, and all rewirings of one stranger."""
    fixed, targets, vertex, bound = ((0, 1), (0, 2), (1, 3), (2, 4), (5, 6)), (0, 1, 2, 3, 4), 7, 4
    joined = np.zeros((8, 8), dtype=np.bool_)
    for u, v in fixed:
        joined[u, v] = joined[v, u] = True
    contacts = [tuple(graph.indices[graph.indptr[vertex] : graph.indptr[vertex + 1]].tolist())
                for graph in rewirings(Rows.of_matrix(joined), vertex, bound)]
    return Made("all rewirings of one vertex around a component with ties", 8, fixed, vertex, tuple(contacts), targets,
                bound)


def fitted(mechanism: PTarget, made: Made, components: int = 2, stopping_target: int | None = None) -> Any:
    """The mechanism with the public numbers of a made-up network; its noise, stop and statistic stay.

    Args:
        mechanism: sound or broken.
        made: the network.
        components: k.
        stopping_target: K; None for the network's own.
    """
    target = made.stopping_target if stopping_target is None else stopping_target
    return replace(mechanism, people=made.people, components=components, degree_bound=made.degree_bound,
                   stopping_target=None if mechanism.stopping_target is None else target)


def tree_of(one: Any, made: Made, components: int = 2, kind: type[LawTree] = LawTree) -> LawTree:
    """Exact laws for all graphs of a network.

    Args:
        one: of one call.
        made: the network.
        components: k.
        kind: a broken kind of search, or the sound one.
    """
    return kind(one, components, made.targets[:1], made.targeted)


def spread(laws: Iterable[NDArray[np.float64]]) -> float:
    """The largest log ratio of any outcome between any two of the laws, of those that doubles can compare.

    Args:
        laws: arrays over the same outcomes.

    Example:
        >>> round(spread([np.array([0.5, 0.5]), np.array([0.25, 0.75])]), 6)
        0.693147
    """
    table = np.array(list(laws))
    possible = table[:, table.max(axis=0) > _RAREST]
    if (possible == 0).any():
        return math.inf
    logs = np.log(possible)
    return float(np.max(logs.max(axis=0) - logs.min(axis=0), initial=0.0))
