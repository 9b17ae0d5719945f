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

__all__ = ["Made", "crowd", "fitted", "network", "rivals", "shared_bridge", "spread", "tree_of"]

_Edges = tuple[tuple[int, int], ...]

_WIDEST = 300  # bridges at most: the law of a network with so many still takes milliseconds


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


def rivals(scale: float) -> Made:
    """Two hidden targets, one far ahead: one stranger moves from the one behind to the one ahead.

    Args:
        scale: b: it takes some scales of bridges to come near the worst case.
    """
    count = min(_WIDEST, math.ceil(6 * scale) + 1)
    fixed: list[tuple[int, int]] = []
    for bridge in range(4, 4 + count):
        fixed += [(0, bridge), (2, bridge)]
    contacts = ((0, 1), (0, 2), (0,), (), (0, 1, 2))
    return Made("two hidden targets, one ahead", 4 + count, tuple(fixed), 3, contacts, (0, 1, 2), count + 1)


def shared_bridge(others: int = 30) -> Made:
    """Many hidden targets, whom one stranger joins to the seed, or not.

    Args:
        others: how many.
    """
    targets = tuple(range(2, 2 + others))
    return Made(f"{others} hidden targets behind one vertex", 2 + others, (), 1, ((0,), (0, *targets), targets, ()),
                (0, *targets), others + 1, stopping_target=others // 2)


def crowd(scale: float) -> Made:
    """One hidden target, and a stranger who shares many contacts with the seed, or none.

    Args:
        scale: b.
    """
    count = min(_WIDEST, math.ceil(6 * scale) + 1)
    near = tuple(range(3, 3 + count))
    return Made("a stranger in the crowd around the seed", 3 + count, tuple((0, v) for v in near), 2, ((), near),
                (0, 1), count)


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
    """The largest log ratio of any outcome between any two of the laws.

    Args:
        laws: arrays over the same outcomes.

    Example:
        >>> round(spread([np.array([0.5, 0.5]), np.array([0.25, 0.75])]), 6)
        0.693147
    """
    table = np.array(list(laws))
    possible = table[:, table.max(axis=0) > 0]
    if (possible == 0).any():
        return math.inf
    logs = np.log(possible)
    return float(np.max(logs.max(axis=0) - logs.min(axis=0), initial=0.0))
