"""Each bidder's best bundle at given prices, and the goods that small changes of the prices could bring into this
bundle.

A bidder takes up to b different goods. The bidder's mark is their b-th largest surplus, or 0 if 0 is larger. A good
must reach the mark to be taken. Among goods at the mark, bidders keep the goods that they held, and then take goods
with copies left.

With very many goods a search for the optimum would be long. So with very many goods the search starts at prices at
which supply meets a smoothed demand. These prices minimise

    min over p >= 0 of  sum_j s_j p_j + tau sum_i ln(1 + sum_j exp((v_ij - p_j)/tau)),

where p_j is the price of good j, s_j its supply and v_ij its value to bidder i. The objective is the dual of the
assignment problem with each bidder's best surplus replaced by a soft maximum, at falling temperatures tau.

Source: spec allocation 12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.allocation.valuations import Valuations

__all__ = ["Choices", "Window", "smoothed_prices"]

# ---- choices

_Integers = NDArray[np.int64]
_Goods = NDArray[np.int32]
_Reals = NDArray[np.float64]

_TIED = 2.0**-44
"""Largest difference at which two surpluses count as equal. Prices are sums of many differences of values, with
rounding.
"""


@kernel
def _mark(
    first: int, last: int, dense: bool, values: NDArray[Any], named: _Goods, prices: _Reals, top: _Reals
) -> float:
    """The bidder's mark: the b-th largest surplus of a row, or 0 if 0 is larger. The b largest surpluses are written to
    `top`.
    """
    top[:] = 0.0
    each = len(top)
    for x in range(first, last):
        surplus = np.float64(values[x]) - prices[x - first if dense else named[x]]
        if surplus > top[each - 1]:
            at = each - 1
            while at > 0 and top[at - 1] < surplus:
                top[at] = top[at - 1]
                at -= 1
            top[at] = surplus
    return float(top[each - 1])


@kernel
def _holds(good: int, bundle: _Goods, size: int) -> bool:
    found = False
    for place in range(size):
        found = found or bundle[place] == good
    return bool(found)


@kernel
def _choose(
    values: NDArray[Any], starts: _Integers, named: _Goods, dense: bool, prices: _Reals, supply: _Integers,
    held: _Goods, used: _Integers,
) -> None:
    """Write the best bundles to `held`, shape (n, b), with -1 after the last good, and the number of holders of each
    good to `used`, shape (k,).
    """
    people, each = held.shape
    goods = len(prices)
    top = np.empty(each)
    chosen = np.empty(each, dtype=np.int32)
    unsure = np.zeros(people, dtype=np.bool_)
    used[:] = 0
    for i in range(people):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        mark = _mark(first, last, dense, values, named, prices, top)
        size, tied = 0, 0
        for x in range(first, last):
            if np.float64(values[x]) - prices[x - first if dense else named[x]] > mark + _TIED:
                chosen[size] = x - first if dense else named[x]
                size += 1
        for x in range(first, last):
            j = x - first if dense else named[x]
            if values[x] > 0 and abs(np.float64(values[x]) - prices[j] - mark) <= _TIED:
                if size < each and _holds(j, held[i], each):
                    chosen[size] = j
                    size += 1
                else:
                    tied += 1
        unsure[i] = size < each and tied > 0
        for place in range(each):
            held[i, place] = chosen[place] if place < size else -1
            if place < size:
                used[chosen[place]] += 1
    for i in range(people):
        if not unsure[i]:
            continue
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        mark = _mark(first, last, dense, values, named, prices, top)
        size = 0
        while held[i, size] >= 0:
            size += 1
        for insist in range(2):  # first what there is room for, then what would be given up else
            if insist == 1 and mark <= _TIED:
                break
            for x in range(first, last):
                j = x - first if dense else named[x]
                if (size < each and values[x] > 0 and abs(np.float64(values[x]) - prices[j] - mark) <= _TIED
                        and (insist == 1 or used[j] < supply[j]) and not _holds(j, held[i], size)):
                    held[i, size] = j
                    size += 1
                    used[j] += 1


@kernel
def _window(
    values: NDArray[Any], starts: _Integers, named: _Goods, dense: bool, prices: _Reals, width: float,
    held: _Goods, fill: bool, bounds: _Integers, found: _Integers, worth: _Reals, holds: _Integers,
) -> None:
    """Write the number of goods in doubt of each row to `bounds`, shape (n,). With `fill`, write the goods in doubt
    instead, at the positions that `bounds`, shape (n + 1,), gives.
    """
    people, each = held.shape
    goods = len(prices)
    top = np.empty(each)
    for i in range(people):
        if fill and bounds[i + 1] == bounds[i]:
            continue
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        mark = _mark(first, last, dense, values, named, prices, top)
        size = 0
        while size < each and held[i, size] >= 0:
            size += 1
        count = 0
        for x in range(first, last):
            j = x - first if dense else named[x]
            surplus = np.float64(values[x]) - prices[j]
            if values[x] > 0 and mark - width <= surplus:
                has = _holds(j, held[i], size)
                if not (has and surplus > mark + width):
                    if fill:
                        at = bounds[i] + count
                        found[at], worth[at], holds[at] = j, values[x], 1 if has else 0
                    count += 1
        if mark <= width:
            if fill:
                at = bounds[i] + count
                found[at], worth[at], holds[at] = goods, 0.0, each - size
            count += 1
        if not fill:
            bounds[i] = count if count > 1 else 0


@kernel
def _store(bounds: _Integers, rows: _Integers, found: _Integers, holds: _Integers, goods: int, held: _Goods) -> None:
    """Write the decisions about goods in doubt back into the bidders' bundles `held`."""
    each = held.shape[1]
    for number in range(len(rows)):
        i, size = rows[number], 0
        for place in range(each):
            j, sure = held[i, place], True
            for at in range(bounds[number], bounds[number + 1]):
                sure = sure and found[at] != j
            if j >= 0 and sure:
                held[i, size] = j
                size += 1
        for at in range(bounds[number], bounds[number + 1]):
            if found[at] < goods and holds[at] > 0:
                held[i, size] = found[at]
                size += 1
        for place in range(size, each):
            held[i, place] = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class Window:
    """The bidders whose best bundle may change while prices change, if no difference between two prices changes by more
    than a given width. Goods in doubt are the goods that may enter or leave these bundles.

    Args:
        rows: indices of the m bidders among all bidders, from 0, shape (m,).
        bounds: index in `found` at which the goods of each bidder begin, shape (m + 1,).
        found: goods in doubt of all m bidders, one bidder after another, shape (z,); k stands for no good.
        worth: value of each good in doubt to its bidder, shape (z,); 0 for no good.
        holds: number of copies of each good in doubt that its bidder has, 0 or 1, shape (z,). For "no good", the number
            of goods by which the bidder's bundle is smaller than b.
    """

    rows: _Integers
    bounds: _Integers
    found: _Integers
    worth: _Reals
    holds: _Integers


@dataclass(kw_only=True, eq=False)
class Choices:
    """The goods that each bidder holds, and the number of holders of each good.

    Args:
        values: valuations of all bidders.
        supply: number of copies of each good, int64, shape (k,).
        each: largest number b of goods of one bidder.
    """

    values: Valuations
    supply: _Integers
    each: int

    def __post_init__(self) -> None:
        self.held = np.full((self.values.people, self.each), -1, dtype=np.int32)
        self.used = np.zeros(self.values.goods, dtype=np.int64)

    def choose(self, prices: _Reals) -> None:
        """Let each bidder take a best bundle at given prices, shape (k,)."""
        of = self.values
        _choose(*of.rows, prices, self.supply, self.held, self.used)

    def window(self, prices: _Reals, width: float) -> Window:
        """The bidders with a bundle that may change, and their goods in doubt, if differences between the prices, shape
        (k,), change by at most `width`.
        """
        of, none = self.values, np.empty(0, dtype=np.int64)
        counts = np.zeros(of.people + 1, dtype=np.int64)
        _window(*of.rows, prices, width, self.held, False, counts[1:], none,
                np.empty(0), none)
        rows = np.flatnonzero(counts[1:])
        bounds = np.cumsum(counts)
        size = int(bounds[-1])
        found, holds = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        worth = np.empty(size)
        _window(*of.rows, prices, width, self.held, True, bounds, found, worth,
                holds)
        return Window(rows=rows, bounds=np.append(bounds[rows], size), found=found, worth=worth, holds=holds)

    def store(self, window: Window) -> None:
        """Copy the decisions about goods in doubt from a window into the bidders' bundles."""
        _store(window.bounds, window.rows, window.found, window.holds, self.values.goods, self.held)


# ---- smoothing

_FAR = 30.0
"""Distance below the best good, in temperatures, beyond which a good's share is ignored. A share that is ignored is
below 10^-13.
"""
_STEPS = 100
_SLACK = 1e-4
"""Copies out of balance, summed over all goods, at which the search at a temperature ends, as a share of the people."""
_GRID = 2.0**30
"""Inverse of the grid step of prices. Rounded to multiples of 2^-30, prices keep all sums of differences with float32
values exact.
"""


@kernel
def _soft_demand(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, prices: _Reals, tau: float,
    demand: _Reals, share: _Reals, people: int,
) -> float:
    """Write the expected number of holders of each good to `demand`, shape (k,). Returns the sum of the soft surpluses.
    `share` is scratch space for one row.
    """
    goods, total = len(prices), 0.0
    demand[:] = 0.0
    for i in range(people):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        best = 0.0
        for x in range(first, last):
            share[x - first] = np.float64(values[x]) - prices[x - first if dense else named[x]]
            best = max(best, share[x - first])
        weight = math.exp(-best / tau)
        for x in range(first, last):
            behind = (share[x - first] - best) / tau
            share[x - first] = math.exp(behind) if behind > -_FAR else 0.0
            weight += share[x - first]
        total += best + tau * math.log(weight)
        for x in range(first, last):
            if share[x - first] > 0.0:
                demand[x - first if dense else named[x]] += share[x - first] / weight
    return total


def smoothed_prices(
    values: Valuations, supply: NDArray[np.int64], prices: _Reals, temperatures: tuple[float, ...]
) -> _Reals:
    """The prices at the minimum of the smoothed dual at the last temperature, shape (k,). The search at each
    temperature starts from the prices of the temperature before. The prices are private.

    Args:
        values: valuations of all bidders.
        supply: number of copies of each good, shape (k,).
        prices: prices at the start, shape (k,).
        temperatures: falling temperatures, > 0.
    """
    from scipy.optimize import minimize

    copies, demand = supply.astype(np.float64), np.empty(values.goods)
    longest = values.goods if values.starts is None else int(np.diff(values.starts).max())
    share = np.empty(longest)
    found = np.asarray(prices, dtype=np.float64)
    for tau in temperatures:

        def dual(at: _Reals, tau: float = tau) -> tuple[float, _Reals]:
            soft = _soft_demand(*values.rows, at, tau, demand,
                                share, values.people)
            return (float(copies @ at) + soft) / values.people, (copies - demand) / values.people

        found = minimize(dual, found, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * values.goods,
                         options={"maxiter": _STEPS, "maxcor": 20, "ftol": 0.0, "gtol": _SLACK / len(found)}).x
    return np.rint(found * _GRID) / _GRID
