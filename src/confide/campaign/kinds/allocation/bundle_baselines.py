"""What bundles could be handed out by instead: rules of thumb that look at everybody's numbers. None is private.

Of sums, (n, k) tables of what each good is worth, of which the best b count. Of counted goods, (n, L) tables of what
the first good adds, the second, and so on, falling in each row: any good will do, so only how many there are counts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.privacy.noise.simulated import study_generator

__all__ = ["counted_optimum", "counted_serially", "greedy_bundles", "lottery_of_bundles", "serial_bundles",
           "spread_evenly"]

_Reals = NDArray[np.float64]


# ---- sums


def lottery_of_bundles(values: _Reals, supply: tuple[int, ...], most: int) -> float:
    """The expected welfare where everybody asks for her best goods, and each good is raffled among those who ask.

    Args:
        values: (n, k).
        supply: (k,).
        most: b.

    Example:
        >>> lottery_of_bundles(np.array([[0.5, 0.25], [0.5, 0.0]]), (1, 1), most=2)
        0.75
    """
    asked = _best(values, most)
    wanted = (asked & (values > 0.0)).sum(axis=0)
    worth = np.where(asked, values, 0.0).sum(axis=0)
    return math.fsum(worth * np.minimum(1.0, np.array(supply) / np.maximum(1, wanted)))


def _best(values: _Reals, most: int) -> NDArray[np.bool_]:
    """(n, k) whose value is among the largest of its row; of equal ones the first."""
    order = np.argsort(-values, axis=1, kind="stable")
    found = np.zeros(values.shape, dtype=np.bool_)
    np.put_along_axis(found, order[:, :most], True, axis=1)
    return found


def serial_bundles(values: _Reals, supply: tuple[int, ...], most: int, seed: int = 0) -> float:
    """The welfare where one after another, in an order by lot, takes the best goods of what is left.

    Args:
        values: (n, k).
        supply: (k,).
        most: b.
        seed: of the order.

    Example:
        >>> serial_bundles(np.array([[0.5, 0.25]]), (1, 1), most=2)
        0.75
    """
    left, total = np.array(supply), list[float]()
    for person in study_generator(seed, "order of bidders").permutation(len(values)).tolist():
        row = np.where(left > 0, values[person], 0.0)
        best = np.argsort(-row, kind="stable")[:most]
        best = best[row[best] > 0.0]
        left[best] -= 1
        total += row[best].tolist()
    return math.fsum(total)


def greedy_bundles(values: _Reals, supply: tuple[int, ...], most: int) -> float:
    """The welfare where the largest value of all is served first, then the largest of what is left.

    At least half of the best: a greedy basis of an intersection of two matroids.

    Args:
        values: (n, k).
        supply: (k,).
        most: b.

    Example:
        >>> greedy_bundles(np.array([[0.5, 0.375], [0.25, 0.0]]), (1, 1), most=1)
        0.5
    """
    left, room, total = list(supply), [most] * len(values), list[float]()
    flat = values.reshape(-1)
    goods, over = values.shape[1], sum(supply)
    for cell in np.argsort(-flat, kind="stable").tolist():
        person, good = divmod(cell, goods)
        if flat[cell] <= 0.0 or not over:
            break
        if left[good] and room[person]:
            left[good] -= 1
            room[person] -= 1
            over -= 1
            total.append(float(flat[cell]))
    return math.fsum(total)


# ---- counted


def counted_optimum(steps: NDArray[Any], copies: int) -> float:
    """The best welfare: the largest steps of all, as many as there are copies. They fall in each row, so nobody's
    second good comes before her first.

    Args:
        steps: (n, L).
        copies: of all goods together.

    Example:
        >>> counted_optimum(np.array([[0.5, 0.25], [0.375, 0.0]]), 2)
        0.875
    """
    return math.fsum(np.sort(steps.astype(np.float64), axis=None)[::-1][:copies].tolist())


def counted_serially(steps: NDArray[Any], copies: int, seed: int = 0) -> float:
    """The welfare where one after another, in an order by lot, takes as many as she wants.

    Args:
        steps: (n, L).
        copies: of all goods together.
        seed: of the order.

    Example:
        >>> counted_serially(np.array([[0.5, 0.25]]), 1)
        0.5
    """
    ordered = steps[study_generator(seed, "order of bidders").permutation(len(steps))].astype(np.float64).reshape(-1)
    return math.fsum(ordered[ordered > 0.0][:copies].tolist())


def spread_evenly(steps: NDArray[Any], copies: int) -> float:
    """The expected welfare where everybody gets as many, and a lot says who gets one of those that are left over.

    Args:
        steps: (n, L).
        copies: of all goods together.

    Example:
        >>> spread_evenly(np.array([[0.5, 0.25], [0.25, 0.25]]), 3)
        1.0
    """
    each, over = divmod(min(copies, steps.size), len(steps))
    sums = steps.astype(np.float64).sum(axis=0)
    return math.fsum([*sums[:each].tolist(), *(sums[each : each + 1] * over / len(steps)).tolist()])
