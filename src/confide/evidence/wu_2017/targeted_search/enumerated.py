"""Sensitivities by enumeration of all pairs of small graphs that differ in the edges of one protected vertex, with
every set of targets.

    >>> from confide.search.statistics import CommonNeighbours, Contacts
    >>> enumerate_pairs(CommonNeighbours(), 2, people=4).target_change, enumerate_pairs(Contacts(), 2, people=4).changed
    (1.0, 1)

Statistics do not depend on the numbering of vertices, so the protected vertex is always the last one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.search.exact_laws import Rows
from confide.search.statistics import Statistic

__all__ = ["SHIFTED_BRIDGE", "Enumerated", "enumerate_pairs"]

_Array = NDArray[np.float64]

_FIXED = ((0, 2),)
SHIFTED_BRIDGE = (
    (*_FIXED, (0, 6), (2, 6), (3, 6)), (*_FIXED, (1, 6), (4, 6), (5, 6)), (0, 1),
)
"""Edges of two graphs on seven vertices with degrees up to 3, and the set S. Rewiring the last vertex changes the
common neighbours of all seven vertices, while Claim 7.7.2 says that at most d + 1 = 4 change (spec targeted_search 2).
"""


@dataclass(frozen=True, kw_only=True)
class Enumerated:
    """The largest changes of a statistic f over all pairs of graphs that differ in the edges of one protected vertex. S
    is the set of confirmed targets, and N[S] contains S and all neighbours of vertices in S.

    Args:
        target_change: largest change of the value of a vertex that is neither protected nor in S. The sensitivity Delta
            of the statistic bounds this change.
        changed: largest number of vertices with changed values. The impact cardinality of the statistic bounds this
            number.
        count_unconfirmed: largest change of the number of vertices outside S with f(v) >= x, over all x.
        count_outside: largest change of the number of vertices outside N[S] with f(v) >= x, over all x. The sensitivity
            of the search's threshold bounds this change.
        pairs: number of compared ordered pairs of graphs, each with one set S. Pairs of a graph with itself are
            included.
    """

    target_change: float
    changed: int
    count_unconfirmed: int
    count_outside: int
    pairs: int


@dataclass(frozen=True, eq=False)
class _Star:
    """All graphs that result from rewiring one vertex while the others stay unchanged, with one set S of targets."""

    degrees: NDArray[np.int64]  # (graphs,) the largest one
    values: _Array  # (graphs, n)
    outside: NDArray[np.bool_]  # (graphs, n)
    confirmed: tuple[int, ...]


def enumerate_pairs(statistic: Statistic, degree_bound: int, *, people: int = 5, every: int = 1) -> Enumerated:
    """Largest changes of a statistic over all pairs of graphs on a given number of vertices, with degrees within a
    bound.

    Args:
        statistic: statistic of proximity, such as the number of common neighbours.
        degree_bound: largest degree d.
        people: number of vertices, from 2 to 6. The enumeration for six vertices takes minutes.
        every: step k >= 1. Only every k-th graph on the vertices other than the protected one is used, which saves time
            for slow statistics.

    Raises:
        InvalidInput: the number of people is not between 2 and 6, or another number is out of range.

    Source: spec targeted_search 2 and 11 (check 9).
    """
    if not 2 <= whole("people", people) <= 6:
        raise InvalidInput("people", f"{people} is out of range", "must be 2..6")
    bound = whole("degree_bound", degree_bound, at_least=1)
    most, changed, unconfirmed, beyond, pairs = 0.0, 0, 0, 0, 0
    for star in _stars(statistic, people, whole("every", every, at_least=1)):
        values, outside = star.values[star.degrees <= bound], star.outside[star.degrees <= bound]
        if len(values) < 2:
            continue
        targets = [v for v in range(people - 1) if v not in star.confirmed]
        if targets:
            most = max(most, float(np.ptp(values[:, targets], axis=0).max()))
        differs = (np.abs(values[:, None, :] - values[None, :, :]) > 1e-6).sum(axis=2)
        changed = max(changed, int(differs.max()))
        others = np.ones(people, dtype=np.bool_)
        others[list(star.confirmed)] = False
        for x in np.unique(values):
            reached = values >= x
            unconfirmed = max(unconfirmed, int(np.ptp((reached & others).sum(axis=1))))
            beyond = max(beyond, int(np.ptp((reached & outside).sum(axis=1))))
        pairs += len(values) ** 2
    return Enumerated(target_change=most, changed=changed, count_unconfirmed=unconfirmed, count_outside=beyond,
                      pairs=pairs)


@lru_cache(maxsize=4)
def _stars(statistic: Statistic, people: int, every: int) -> tuple[_Star, ...]:
    last = people - 1
    links = list(combinations(range(last), 2))
    out = []
    for code in range(0, 1 << len(links), every):
        base = np.zeros((people, people), dtype=np.bool_)
        for k, (u, v) in enumerate(links):
            base[u, v] = base[v, u] = bool(code >> k & 1)
        matrices = []
        for known in range(1 << last):
            joined = base.copy()
            joined[last, :last] = joined[:last, last] = [bool(known >> v & 1) for v in range(last)]
            matrices.append(joined)
        graphs = [Rows.of_matrix(joined) for joined in matrices]
        degrees = np.array([joined.sum(axis=1).max() for joined in matrices])
        for size in range(1, last + 1):
            for confirmed in combinations(range(last), size):
                some = np.array(confirmed, dtype=np.int64)
                values = np.array([statistic.values(graph, some) for graph in graphs])
                near = np.array([joined[some].any(axis=0) for joined in matrices])
                near[:, some] = True
                out.append(_Star(degrees, values, ~near, confirmed))
    return tuple(out)
