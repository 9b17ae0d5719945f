"""Everybody's favourite good at given prices, with the same subtraction as an auction and a decode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.valuations import Valuations
from confide.numerics.compiled import kernel

__all__ = ["best_goods"]

_Reals = NDArray[np.float64]


@kernel
def _best(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, prices: _Reals,
    out: NDArray[np.int32],
) -> None:
    goods = len(prices)
    for i in range(len(out)):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        best, surplus = -1, 0.0
        for x in range(first, last):
            j = x - first if dense else named[x]
            gain = np.float64(values[x]) - prices[j]
            if gain > surplus:
                best, surplus = j, gain
        out[i] = best


def best_goods(values: Valuations, prices: _Reals) -> NDArray[np.int32]:
    """(n,) the good that each bidder gains most from at some prices, the first of equals; -1 for none. Private."""
    out = np.empty(values.people, dtype=np.int32)
    starts = np.zeros(1, dtype=np.int64) if values.starts is None else values.starts
    _best(values.values, starts, values.named, values.dense, np.ascontiguousarray(prices), out)
    return out
