"""Valuations that add up: unit demand, additive, and capped additive, one number for each good.

A second copy of a good is worth nothing. A bundle is worth the sum of its best goods, as many as the cap: a weighted
uniform matroid. Who holds fewer than that gains the good's full value; nobody who holds as many bids.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.bundles.bidders import (
    MOST,
    Bidder,
    Bundle,
    BundleClass,
    Population,
    Table,
    refuse_total,
    same_kind,
)
from confide.allocation.valuations import Valuations, as_row
from confide.contract.parameters import Parameter
from confide.contract.unusable import Unusable
from confide.contract.wire import wire
from confide.numerics.compiled import kernel

__all__ = ["Additive", "CappedAdditiveValuation", "UnitDemandValuation"]

_Reals = NDArray[np.float64]


@kernel
def _best_sums(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, prices: _Reals, most: int,
    out: _Reals,
) -> None:
    """The sum of each row's largest gains above the prices, at most so many, none below 0."""
    goods = len(prices)
    best = np.empty(most)
    for i in range(len(out)):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        size, total = 0, 0.0
        for x in range(first, last):
            j = x - first if dense else named[x]
            gain = np.float64(values[x]) - prices[j]
            if gain <= 0.0:
                continue
            if last - first <= most:  # all of them
                total += gain
                continue
            if size == most and gain <= best[size - 1]:
                continue
            place = size if size < most else size - 1
            size = min(size + 1, most)
            while place > 0 and best[place - 1] < gain:
                best[place] = best[place - 1]
                place -= 1
            best[place] = gain
        for place in range(size):
            total += best[place]
        out[i] = total


def _sums(values: Valuations, prices: _Reals, most: int) -> _Reals:
    out = np.empty(values.people)
    _best_sums(*values.rows, np.ascontiguousarray(prices, dtype=np.float64),
               most, out)
    return out


class _SumBidder(Bidder):
    def __init__(self, row: _Reals, most: int) -> None:
        self.goods, self._row, self._most = len(row), row, most

    @property
    def named(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._row > 0.0)

    def _best(self, bundle: Bundle) -> list[float]:
        return sorted((float(self._row[good]) for good in set(bundle)), reverse=True)[: self._most]

    def value(self, bundle: Bundle) -> float:
        return math.fsum(self._best(bundle))

    def gains(self, held: Bundle) -> _Reals:
        best = self._best(held)
        found = self._row.copy() if len(best) < self._most else np.maximum(self._row - best[-1], 0.0)
        found[list(held)] = 0.0
        return found

    def surplus(self, prices: _Reals) -> float:
        above = np.sort(self._row - prices)[::-1][: self._most]
        return math.fsum(above[above > 0.0].tolist())


class _Summed(Population):
    def __init__(self, values: Valuations, most: int, valuation: BundleClass) -> None:
        self.valuation = valuation
        self.people, self.goods, self._values, self._most = values.people, values.goods, values, most
        numbers, starts, named, dense = values.rows
        self.table = Table(values=numbers, starts=starts, named=named, dense=dense, counted=False)

    def bidder(self, index: int) -> Bidder:
        return _SumBidder(self._values.row(index), self._most)

    def worth(self, held: NDArray[Any]) -> _Reals:
        found = np.zeros(self.people)
        for column in range(held.shape[1]):
            found += self._values.of_goods(held[:, column])
        return found

    def surpluses(self, prices: _Reals) -> _Reals:
        return _sums(self._values, prices, self._most)


@dataclass(frozen=True, kw_only=True)
class _SumClass(BundleClass):
    def bidder(self, record: Any, goods: int) -> Bidder:
        row = as_row(record, goods)
        alone = Valuations.of(row[None, :], people=1, goods=goods)
        total = float(_sums(alone, np.zeros(goods), self.largest(goods))[0])
        if total > MOST:
            raise refuse_total(total)
        return _SumBidder(row, self.largest(goods))

    def population(self, data: Any, *, people: int, goods: int, unusable: Unusable = "refuse") -> Population:
        """Everybody's valuations.

        Args:
            data: (n, k) numbers in [0, 1], dense or sparse, or `Valuations`; no row's bundles worth more than 1.
            people: n.
            goods: k.
            unusable: "refuse" the table for one bad row, or take that row as zeros ("null").
        """
        if isinstance(data, Population):
            return same_kind(data, self, people, goods)
        values = Valuations.of(data, people=people, goods=goods, unusable=unusable)
        totals = _sums(values, np.zeros(goods), self.largest(goods))
        bad = np.flatnonzero(totals > MOST)
        if len(bad) and unusable == "refuse":
            raise refuse_total(float(totals[bad[0]]), int(bad[0]))
        return _Summed(values if not len(bad) else _emptied(values, bad), self.largest(goods), self)


def _emptied(values: Valuations, rows: NDArray[np.int64]) -> Valuations:
    numbers = values.values.copy()
    for row in rows.tolist():
        numbers[values._place(row)] = 0.0
    return Valuations(people=values.people, goods=values.goods, values=numbers, starts=values.starts,
                      named=values.named)


@wire("UnitDemand", "")
@dataclass(frozen=True, kw_only=True)
class UnitDemandValuation(_SumClass):
    """v(S) = max of v_j over S: one good is wanted.

    Example:
        >>> UnitDemandValuation().bidder([0.5, 1.0], goods=2).value((0, 1))
        1.0
    """

    def largest(self, goods: int) -> int:
        return 1


@wire("Additive", "")
@dataclass(frozen=True, kw_only=True)
class Additive(_SumClass):
    """v(S) = sum of v_j over S.

    Example:
        >>> Additive().bidder([0.5, 0.25], goods=2).value((0, 1))
        0.75
    """

    def largest(self, goods: int) -> int:
        return goods


@wire("CappedAdditive", "cap")
@dataclass(frozen=True, kw_only=True)
class CappedAdditiveValuation(_SumClass):
    """v(S) = sum of the largest v_j over S, at most `cap` of them.

    Example:
        >>> CappedAdditiveValuation(cap=2).bidder([0.5, 0.25, 0.5], goods=3).value((0, 1, 2))
        1.0
    """

    cap: Annotated[int, Parameter("number of goods that one bidder wants at most", at_least=1)]

    def largest(self, goods: int) -> int:
        return min(self.cap, goods)
