"""Everybody's favourite of a few goods at posted prices: where an action is one good, or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.numerics.compiled import kernel

__all__ = ["favourite_counts", "favourites", "favourites_along"]

_TOGETHER = 1024  # people whose best goods so far stay in the fastest cache


@kernel
def favourites(worth: Any, prices: Any, chosen: Any) -> None:
    """Everybody's best good at the prices, the first of equals: two passes without branches.

    Args:
        worth: (n, k) int32.
        prices: (k,) int32.
        chosen: (n, 1) int32, filled in.
    """
    k, none = np.int32(len(prices)), np.int32(0)
    for i in range(len(worth)):
        best = none
        for j in range(k):
            best = max(best, np.int32(worth[i, j] - prices[j]))
        left = none  # goods from the first best one on
        for j in range(k):
            left = max(left, np.int32(k - j) if np.int32(worth[i, j] - prices[j]) == best else none)
        chosen[i, 0] = np.int32(k - left) if best > 0 else np.int32(-1)


@kernel
def favourites_along(worth: Any, prices: Any, chosen: Any) -> None:
    """The same for many rounds, of which the inner loops are made: a row is read once for all of them.

    Args:
        worth: (n, k) int32.
        prices: (k, T) int32.
        chosen: (n, T, 1) int32, filled in.
    """
    k, rounds = prices.shape
    best, left, none = np.empty(rounds, dtype=np.int32), np.empty(rounds, dtype=np.int32), np.int32(0)
    for i in range(len(worth)):
        best[:] = none
        left[:] = none
        for j in range(k):
            value = worth[i, j]
            for t in range(rounds):
                best[t] = max(best[t], np.int32(value - prices[j, t]))
        for j in range(k):
            value, from_here = worth[i, j], np.int32(k - j)
            for t in range(rounds):
                left[t] = max(left[t], from_here if np.int32(value - prices[j, t]) == best[t] else none)
        for t in range(rounds):
            chosen[i, t, 0] = np.int32(k) - left[t] if best[t] > 0 else np.int32(-1)


@kernel
def favourite_counts(columns: Any, prices: Any, counts: Any) -> None:
    """How many choose each good, as `favourites` finds it: good by good for many people at once.

    Args:
        columns: (k, n) int32, everybody's worth of a good side by side.
        prices: (k,) int32.
        counts: (1 + k,) int64, added to; the first are those who choose nothing.
    """
    k, n = columns.shape
    top, which, none = np.empty(_TOGETHER, dtype=np.int32), np.empty(_TOGETHER, dtype=np.int32), np.int32(0)
    for at in range(0, n, _TOGETHER):
        size = min(_TOGETHER, n - at)
        best, good = top[:size], which[:size]
        best[:] = none
        good[:] = none
        for j in range(k):
            price, number, row = prices[j], np.int32(j + 1), columns[j, at : at + size]
            for i in range(len(row)):
                surplus, before = np.int32(row[i] - price), best[i]
                good[i] = max(good[i] if surplus <= before else number, none)
                best[i] = max(before, surplus)
        for i in range(size):
            counts[good[i]] += 1
