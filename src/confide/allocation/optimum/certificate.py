"""What any prices prove of an allocation, computed exactly: no allocation has more welfare than the dual bound.

    OPT <= sum_j s_j p_j + sum_i (sum of the b largest of max(0, v_ij - p_j))

Every difference is kept as two doubles, which together are exact, and all are summed exactly and rounded once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.valuations import Valuations
from confide.numerics.compiled import kernel

__all__ = ["exact_sums"]

_Reals = NDArray[np.float64]

_PART = 2**18  # numbers that are lists of Python's at one time


@kernel
def _terms(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, prices: _Reals,
    held: NDArray[np.int32], surplus: _Reals, rest: _Reals, worth: _Reals,
) -> None:
    """Of each row the b largest surpluses, what they lack of being exact, and what her goods are worth to her."""
    people, each = held.shape
    goods = len(prices)
    surplus[:], rest[:], worth[:] = 0.0, 0.0, 0.0
    for i in range(people):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        for x in range(first, last):
            j = x - first if dense else int(named[x])
            value, price = np.float64(values[x]), prices[j]
            for place in range(each):
                if held[i, place] == j:
                    worth[i, place] = value
            gain = value - price
            back = value - gain
            lack = (value - (gain + back)) + (back - price)
            at = each - 1
            # Rounding keeps order: a larger difference is never rounded to less, and equal ones differ in `lack`.
            if gain < surplus[i, at] or (gain == surplus[i, at] and lack <= rest[i, at]):
                continue
            while at > 0 and (gain > surplus[i, at - 1] or (gain == surplus[i, at - 1] and lack > rest[i, at - 1])):
                surplus[i, at], rest[i, at] = surplus[i, at - 1], rest[i, at - 1]
                at -= 1
            surplus[i, at], rest[i, at] = gain, lack


def exact_sums(
    values: Valuations, supply: NDArray[np.int64], prices: _Reals, held: NDArray[np.int32]
) -> tuple[float, float, float]:
    """The dual bound at some prices, the welfare of an allocation, and their difference; each rounded once.

    Args:
        values: everybody's.
        supply: (k,) copies.
        prices: (k,) >= 0.
        held: (n, b) goods of each bidder, all different, -1 for none.
    """
    surplus, rest, worth = (np.empty(held.shape) for _ in range(3))
    _terms(*values.rows, prices, held, surplus, rest, worth)
    revenue = []
    for copies, price in zip(supply.tolist(), prices.tolist(), strict=True):
        product = copies * Fraction(price)
        revenue += [float(product), float(product - Fraction(float(product)))]
    bound = [np.array(revenue), surplus.ravel(), rest[rest != 0.0]]
    gained = [worth.ravel()]
    return _sum(bound), _sum(gained), _sum([*bound, -worth.ravel()])


def _sum(arrays: list[_Reals]) -> float:
    parts = (array[at : at + _PART] for array in arrays for at in range(0, len(array), _PART))
    return math.fsum(chain.from_iterable(part.tolist() for part in parts))
