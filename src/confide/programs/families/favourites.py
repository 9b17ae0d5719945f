"""Everybody's favourite of a few goods at posted prices: where an action is one good, or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.numerics.compiled import kernel

__all__ = ["favourite_counts", "favourites", "favourites_along"]

_FEW = 1 << 16  # numbers up to which numpy is as fast as a kernel, whose compiler takes half a second to import

_TOGETHER = 1024  # people whose best goods so far stay in the fastest cache


def favourites(worth: Any, prices: Any, chosen: Any) -> None:
    """Everybody's best good at the prices, the first of equals; -1 where none is worth more than its price.

    Args:
        worth: (n, k) int32.
        prices: (k,) int32.
        chosen: (n, 1) int32, filled in.
    """
    if worth.size > _FEW:
        compiled_favourites(worth, prices, chosen)
    else:
        chosen[:, 0] = _best(worth - prices)


def favourites_along(worth: Any, prices: Any, chosen: Any) -> None:
    """The same for many rounds.

    Args:
        worth: (n, k) int32.
        prices: (k, T) int32.
        chosen: (n, T, 1) int32, filled in.
    """
    if worth.size > _FEW:
        compiled_favourites_along(worth, prices, chosen)
        return
    for i, row in enumerate(worth):
        chosen[i, :, 0] = _best(row - prices.T)


def favourite_counts(columns: Any, prices: Any, counts: Any) -> None:
    """How many choose each good, as `favourites` finds it.

    Args:
        columns: (k, n) int32, everybody's worth of a good side by side.
        prices: (k,) int32.
        counts: (1 + k,) int64, added to; the first are those who choose nothing.
    """
    if columns.size > _FEW:
        compiled_favourite_counts(columns, prices, counts)
    else:
        counts += np.bincount(1 + _best((columns - prices[:, None]).T), minlength=len(counts))


def _best(surplus: Any) -> Any:
    """(n,) of (n, k): where each row is largest, the first of equals; -1 where it is nowhere positive."""
    best = surplus.argmax(axis=1)
    return np.where(np.take_along_axis(surplus, best[:, None], axis=1)[:, 0] > 0, best, -1)


@kernel
def compiled_favourites(worth: Any, prices: Any, chosen: Any) -> None:
    """See `favourites`: two passes without branches."""
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
def compiled_favourites_along(worth: Any, prices: Any, chosen: Any) -> None:
    """See `favourites_along`: the inner loops are made of rounds, so that a row is read once for all of them."""
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
def compiled_favourite_counts(columns: Any, prices: Any, counts: Any) -> None:
    """See `favourite_counts`: good by good for many people at once."""
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
