"""What bidders would ask for at some prices, softly: shares of the goods that are nearly as good as the best.

At temperature tau a bidder asks for good j with weight exp((v_j - p_j)/tau), and for nothing with weight 1; her shares
are these weights over their sum. Sums of such demands change smoothly with prices, so that few noisy ones say where
prices must go. Shares are rounded down to a grid, so that one bidder's row is a vector of whole numbers with a sum of at most
2^16: two rows are at most 2^17 apart in l1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.valuations import Valuations
from confide.numerics.compiled import kernel

__all__ = ["WHOLE", "soft_demand"]

WHOLE = 1 << 16
"""A whole unit of demand."""

_Reals = NDArray[np.float64]


@kernel
def _soft(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, people: int, prices: _Reals,
    temperature: float, whole: int, out: NDArray[np.int64],
) -> None:
    goods = len(prices)
    weights = np.empty(goods)
    places = np.arange(goods)
    for i in range(people):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        best = 0.0
        for x in range(first, last):
            j = x - first if dense else named[x]
            places[x - first] = j
            gain = np.float64(values[x]) - prices[j]
            weights[x - first] = gain
            best = max(best, gain)
        total = np.exp(-best / temperature)
        for y in range(last - first):
            weights[y] = np.exp((weights[y] - best) / temperature)
            total += weights[y]
        for y in range(last - first):
            out[places[y]] += np.int64(whole * (weights[y] / total))


def soft_demand(values: Valuations, prices: _Reals, temperature: float) -> NDArray[np.int64]:
    """(k,) everybody's shares of each good, in units of 1/WHOLE. Private.

    Args:
        values: everybody's.
        prices: (k,).
        temperature: tau > 0.
    """
    out = np.zeros(values.goods, dtype=np.int64)
    starts = np.zeros(1, dtype=np.int64) if values.starts is None else values.starts
    _soft(values.values, starts, values.named, values.dense, values.people, np.ascontiguousarray(prices), temperature,
          WHOLE, out)
    return out
