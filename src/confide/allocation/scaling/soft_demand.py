"""What bidders would ask for at some prices, softly: shares of the goods that are nearly as good as the best.

At temperature tau a bidder takes part with chance 1/(1 + exp(-g/tau)), where g is her best gain v - p among the goods
that are worth anything to her, and asks for each of these with a share in proportion to exp((v - p)/tau). Whether she
takes part depends on her best gain alone: with one weight for each good, many goods would look as good as a better one,
and the warmer it is, the higher all prices would go. Goods that are worth nothing to her she never asks for, at no
price either. Sums of such demands change smoothly with prices, so that few noisy ones say where prices must go.

Sensitivity. Shares are rounded down to whole units of 2^-16, and a row's units are given out until 2^16 are gone: a row
is a vector of whole numbers >= 0 with a sum of at most 2^16, whatever the rounding of an exponential or of a sum did.
Two rows are therefore at most 2^17 apart in l1. A row of zeros asks for nothing, as an absent bidder does: one that is
replaced by it moves the sums by 2^16 at most.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.scaling.leanings import NONE, Leanings, leaning
from confide.allocation.valuations import Valuations
from confide.numerics.compiled import kernel
from confide.numerics.map_reduce import map_blocks, threads

__all__ = ["WHOLE", "soft_demand"]

WHOLE = 1 << 16
"""A whole unit of demand."""

_ALONE = 2**20  # values that one thread is done with sooner than others can be told of

_MOST = 2**30  # rows of a block: their units stay far below 2^53
_NEVER = -1e300
_FAR = -11.0903  # -ln(2^16): weights below that of one unit

_Reals = NDArray[np.float64]
_Integers = NDArray[np.int64]


@kernel
def _exponentials(gains: _Reals, count: int, best: float, rate: float, weights: _Reals) -> None:
    """exp((gain - best) rate), to some 1e-5, where it is above 2^-16, else 0: sums and products in simple loops."""
    for y in range(count):
        x = (gains[y] - best) * rate
        t = max(x, _FAR) * 0.0625
        e = 1.0 + t * (1.0 + t * (1.0 / 2 + t * (1.0 / 6 + t * (1.0 / 24 + t * (1.0 / 120 + t * (
            1.0 / 720 + t * (1.0 / 5040)))))))
        e *= e
        e *= e
        e *= e
        e *= e
        weights[y] = e if x > _FAR else 0.0


@kernel
def _largest(numbers: _Reals, count: int) -> float:
    a = b = c = d = -np.inf  # four at a time, which a processor does at once
    whole = count - count % 4
    for y in range(0, whole, 4):
        a, b = max(a, numbers[y]), max(b, numbers[y + 1])
        c, d = max(c, numbers[y + 2]), max(d, numbers[y + 3])
    for y in range(whole, count):
        a = max(a, numbers[y])
    return max(a, b, c, d)


@kernel
def _total(numbers: _Reals, count: int) -> float:
    a = b = c = d = 0.0
    whole = count - count % 4
    for y in range(0, whole, 4):
        a += numbers[y]
        b += numbers[y + 1]
        c += numbers[y + 2]
        d += numbers[y + 3]
    for y in range(whole, count):
        a += numbers[y]
    return (a + b) + (c + d)


@kernel
def _soft(
    start: int, stop: int, values: NDArray[Any], starts: _Integers, named: NDArray[np.int32], dense: bool,
    prices: _Reals, temperature: float, whole: float, first_place: int, key: np.uint64, spread: float, out: _Reals,
) -> None:
    goods = len(prices)
    gains, weights = np.empty(goods), np.empty(goods)
    rate = 1.0 / temperature
    for i in range(start, stop):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        count = last - first
        if dense:
            for y in range(count):
                value = np.float64(values[first + y])
                gains[y] = value - prices[y] if value > 0.0 else _NEVER
                if spread > 0.0 and value > 0.0:
                    gains[y] += leaning(key, (first_place + i) * goods + y, spread)
        else:
            for y in range(count):
                value = np.float64(values[first + y])
                gains[y] = value - prices[named[first + y]] if value > 0.0 else _NEVER
                if spread > 0.0 and value > 0.0:
                    gains[y] += leaning(key, (first_place + i) * goods + named[first + y], spread)
        best = _largest(gains, count)
        if not best > _NEVER:
            continue  # nothing is worth anything to her
        _exponentials(gains, count, best, rate, weights)
        scale = whole / (_total(weights, count) * (1.0 + np.exp(-best * rate)))
        for y in range(count):
            weights[y] = np.floor(weights[y] * scale)
        if _total(weights, count) > whole:  # of whole numbers, hence exact
            left = whole
            for y in range(count):
                weights[y] = min(weights[y], left)
                left -= weights[y]
        if dense:
            for y in range(count):
                out[y] += weights[y]
        else:
            for y in range(count):
                out[named[first + y]] += weights[y]


def soft_demand(
    values: Valuations, prices: _Reals, temperature: float, leanings: Leanings = NONE, *, first: int = 0
) -> _Integers:
    """(k,) everybody's units of each good, of which a bidder has `WHOLE` at most. Private.

    Args:
        values: everybody's.
        prices: (k,).
        temperature: tau > 0.
        leanings: added to what goods are worth to a bidder, if anything.
        first: place of the first row.

    Example:
        >>> of = Valuations.of([[0.5, 0.0], [0.5, 0.5], [0.0, 0.0]], people=3, goods=2)
        >>> (soft_demand(of, np.zeros(2), 0.25) / WHOLE).round(3).tolist()  # 1/(1 + e^-2) = .881, and half of it
        [1.321, 0.44]
    """
    at = np.ascontiguousarray(prices, dtype=np.float64)

    def part(rows: tuple[int, int]) -> _Integers:
        # Whole numbers below 2^53 add up exactly as doubles, in any order.
        out = np.zeros(values.goods)
        _soft(rows[0], rows[1], *values.rows, at, temperature, float(WHOLE), first,
              leanings.key, leanings.spread, out)
        return out.astype(np.int64)

    if len(values.values) <= _ALONE or threads() == 1:
        return part((0, values.people))
    ends = np.linspace(0, values.people, max(4 * threads(), -(-values.people // _MOST)) + 1).astype(int).tolist()
    found = np.zeros(values.goods, dtype=np.int64)
    for units in map_blocks(part, pairwise(ends)):
        found += units
    return found
