"""Everybody's favourite good at given prices, with the same subtraction as an auction and a decode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.scaling.leanings import NONE, Leanings, leaning
from confide.allocation.valuations import Valuations
from confide.numerics.compiled import kernel

__all__ = ["best_goods"]

_Reals = NDArray[np.float64]


@kernel
def _best(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, prices: _Reals,
    first_place: int, key: np.uint64, spread: float, out: NDArray[np.int32],
) -> None:
    goods = len(prices)
    for i in range(len(out)):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        best, surplus = -1, 0.0
        for x in range(first, last):
            j = x - first if dense else named[x]
            value = np.float64(values[x])
            gain = value - prices[j]
            if spread > 0.0 and value > 0.0:
                gain += leaning(key, (first_place + i) * goods + j, spread)
            if gain > surplus and value > 0.0:
                best, surplus = j, gain
        out[i] = best


def best_goods(
    values: Valuations, prices: _Reals, leanings: Leanings = NONE, *, first: int = 0
) -> NDArray[np.int32]:
    """(n,) the good that each bidder gains most from at some prices, the first of equals; -1 for none. Private.

    Args:
        values: everybody's.
        prices: (k,) >= 0.
        leanings: added to what goods are worth to her, if anything.
        first: place of the first row.
    """
    out = np.empty(values.people, dtype=np.int32)
    _best(*values.rows, np.ascontiguousarray(prices), first, leanings.key,
          leanings.spread, out)
    return out
