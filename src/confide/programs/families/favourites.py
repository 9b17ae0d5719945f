"""Everybody's favourite of a few goods at posted prices: where an action is one good, or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.numerics.compiled import kernel

__all__ = ["favourites"]


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
            best = max(best, worth[i, j] - prices[j])
        left = none  # goods from the first best one on
        for j in range(k):
            left = max(left, np.int32(k - j) if worth[i, j] - prices[j] == best else none)
        chosen[i, 0] = np.int32(k - left) if best > 0 else np.int32(-1)
