"""An independent reading of the search, in plain Python on sets: graphs are dictionaries, nothing is incremental."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations, pairwise

import numpy as np

TOY = [
    (0, 1), (0, 2), (1, 14), (2, 14), (0, 14), (5, 6), (6, 15), (1, 3), (3, 5), (3, 7), (0, 4), (4, 5), (4,
    6), (2, 8), (8, 9), (8, 11), (14, 13), (7, 9), (7, 10), (10, 6), (10, 12), (11, 12), (11, 13), (12, 13),
    (13, 9), (3, 10),
]
TOY_TARGETS = frozenset({0, 1, 2, 14, 5, 6, 15, 9})

Friends = dict[int, set[int]]


def friends_of(people: int, edges: Iterable[tuple[int, int]]) -> Friends:
    out: Friends = {v: set() for v in range(people)}
    for u, v in edges:
        out[u].add(v)
        out[v].add(u)
    return out


def arrays_of(friends: Friends) -> tuple[np.ndarray, np.ndarray]:
    """indptr and indices."""
    rows = [sorted(friends[v]) for v in range(len(friends))]
    return (np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
            np.array([v for row in rows for v in row], dtype=np.int32))


def around(friends: Friends, some: Iterable[int]) -> set[int]:
    """N(S)."""
    return set().union(*(friends[v] for v in some)) if some else set()


def common_neighbours(friends: Friends, v: int, confirmed: set[int]) -> int:
    return len(friends[v] & around(friends, confirmed))


def common_neighbours_multi(friends: Friends, v: int, confirmed: set[int]) -> int:
    return sum(len(friends[v] & friends[w]) for w in confirmed)


def contacts(friends: Friends, v: int, confirmed: set[int]) -> int:
    return len(friends[v] & confirmed)


def triangles(friends: Friends, v: int, confirmed: set[int], ends: int) -> int:
    return sum(1 for a, b in combinations(sorted(friends[v]), 2)
               if b in friends[a] and (a in confirmed) + (b in confirmed) >= ends)


def short_paths(friends: Friends, v: int, confirmed: set[int], length: int) -> list[tuple[int, ...]]:
    """Simple paths of 1..length edges from v that end in S."""
    out = []

    def go(path: tuple[int, ...]) -> None:
        if len(path) > 1 and path[-1] in confirmed:
            out.append(path)
        if len(path) <= length:
            for u in friends[path[-1]] - set(path):
                go((*path, u))

    go((v,))
    return out


def walks(friends: Friends, v: int, confirmed: set[int], length: int) -> int:
    if length == 0:
        return 0
    return sum((u in confirmed) + walks(friends, u, confirmed, length - 1) for u in friends[v])


def flow(friends: Friends, v: int, confirmed: set[int], length: int) -> float:
    """The largest fractional flow, with a variable for each path."""
    from scipy.optimize import linprog

    paths = short_paths(friends, v, confirmed, length)
    if not paths:
        return 0.0
    edges = {edge: k for k, edge in enumerate({tuple(sorted(pair)) for path in paths
                                               for pair in pairwise(path)})}
    load = np.zeros((len(edges), len(paths)))
    for column, path in enumerate(paths):
        for pair in pairwise(path):
            load[edges[tuple(sorted(pair))], column] = 1
    return float(-linprog(-np.ones(len(paths)), A_ub=load, b_ub=np.ones(len(edges)), method="highs").fun)


def sfs(friends: Friends, seed: int, targets: frozenset[int], examined: set[int]) -> list[int]:
    found, order = {seed}, [seed]
    examined.add(seed)
    while frontier := around(friends, found) - examined:
        v = min(frontier, key=lambda x: (-len(friends[x] & found), x))
        examined.add(v)
        if v in targets:
            found.add(v)
            order.append(v)
    return order


def threshold_law(friends: Friends, confirmed: set[int], bound: int, aim: int, epsilon: float) -> list[float]:
    """The private stop's, for common neighbours."""
    outside = set(friends) - around(friends, confirmed) - confirmed
    values = [common_neighbours(friends, v, confirmed) for v in outside]
    misses = [abs(sum(value >= x for value in values) - aim) for x in range(bound + 1)]
    weights = [math.exp(-epsilon * miss / (4 * max(bound - 1, 1))) for miss in misses]
    return [weight / sum(weights) for weight in weights]


def laplace_winner(values: list[float], scale: float, grid: int = 100_001, wide: float = 45.0) -> list[float]:
    """P(each value is the largest), by the trapezoidal rule on the distribution functions."""
    y = np.linspace(min(values) - wide * scale, max(values) + wide * scale, grid)
    falls = [np.where(y < f, np.exp(np.minimum(y - f, 0) / scale) / 2, 1 - np.exp(-np.maximum(y - f, 0) / scale) / 2)
             for f in values]
    return [float(np.trapezoid(np.exp(-np.abs(y - f) / scale) / (2 * scale)
                               * np.prod([fall for j, fall in enumerate(falls) if j != k], axis=0), y))
            for k, f in enumerate(values)]
