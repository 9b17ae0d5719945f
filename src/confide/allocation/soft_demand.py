"""What bidders would ask for at some prices, softly: shares of the goods that are nearly as good as the best.

At temperature tau a bidder asks for a good of value v > 0 with weight exp((v - p)/tau), for nothing with weight 1, and
for a good that is worth nothing to her not at all; her shares are these weights over their sum. Sums of such demands
change smoothly with prices, so that few noisy ones say where prices must go.

Sensitivity. Shares are rounded down to whole units of 2^-16, and a row's units are given out until 2^16 are gone: a row
is a vector of whole numbers >= 0 with a sum of at most 2^16, whatever the rounding of exp or of a sum did. Two rows
are therefore at most 2^17 apart in l1. A row of zeros asks for nothing, as an absent bidder does: one that is replaced
by it moves the sums by 2^16 at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.valuations import Valuations
from confide.numerics.compiled import kernel
from confide.numerics.map_reduce import map_blocks, threads

__all__ = ["WHOLE", "soft_demand"]

WHOLE = 1 << 16
"""A whole unit of demand."""

_ALONE = 2**20  # values that one thread is done with sooner than others can be told of

_Reals = NDArray[np.float64]
_Integers = NDArray[np.int64]


@kernel
def _soft(
    start: int, stop: int, values: NDArray[Any], starts: _Integers, named: NDArray[np.int32], dense: bool,
    prices: _Reals, temperature: float, whole: int, reach: float, out: _Integers,
) -> None:
    goods = len(prices)
    weights = np.empty(goods)
    places = np.empty(goods, dtype=np.int64)
    for i in range(start, stop):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        best = -np.inf
        wanted = 0
        for x in range(first, last):
            if values[x] > 0.0:
                j = x - first if dense else named[x]
                gain = np.float64(values[x]) - prices[j]
                places[wanted] = j
                weights[wanted] = gain
                wanted += 1
                best = max(best, gain)
        least = best - reach * temperature  # weights that end below a unit
        total = 0.0
        near = 0
        for y in range(wanted):
            if weights[y] > least:
                weight = np.exp((weights[y] - best) / temperature)
                total += weight
                places[near] = places[y]
                weights[near] = weight
                near += 1
        total *= 1.0 + np.exp(-best / temperature)
        left = whole
        for y in range(near):
            units = min(left, np.int64(whole * (weights[y] / total)))
            out[places[y]] += units
            left -= units


def soft_demand(values: Valuations, prices: _Reals, temperature: float) -> _Integers:
    """(k,) everybody's units of each good, of which a bidder has `WHOLE` at most. Private.

    Args:
        values: everybody's.
        prices: (k,).
        temperature: tau > 0.

    Example:
        >>> of = Valuations.of([[0.5, 0.0], [0.5, 0.5], [0.0, 0.0]], people=3, goods=2)
        >>> (soft_demand(of, np.zeros(2), 0.25) / WHOLE).round(3).tolist()  # e^2 = 7.389 against 1, and twice against 1
        [1.349, 0.468]
    """
    starts = np.zeros(1, dtype=np.int64) if values.starts is None else values.starts
    at, reach = np.ascontiguousarray(prices, dtype=np.float64), float(np.log(WHOLE))

    def part(rows: tuple[int, int]) -> _Integers:
        out = np.zeros(values.goods, dtype=np.int64)
        _soft(*rows, values.values, starts, values.named, values.dense, at, temperature, WHOLE, reach, out)
        return out

    if len(values.values) <= _ALONE or threads() == 1:
        return part((0, values.people))
    ends = np.linspace(0, values.people, 4 * threads() + 1).astype(int).tolist()
    # Sums of whole numbers are the same in any order.
    return np.sum(list(map_blocks(part, zip(ends[:-1], ends[1:], strict=True))), axis=0, dtype=np.int64)
