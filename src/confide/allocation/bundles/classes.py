"""Classes of valuations of bundles that are rows of numbers: sums, counted goods, and assignments.

Sums are unit-demand, additive, and capped additive valuations. Their records have one number for each good. A second
copy of a good is worth 0. A bundle is worth the sum of its best goods, as many as the cap allows: a weighted uniform
matroid. A bidder who holds fewer goods than the cap gains a further good's full value. A bidder who holds as many goods
as the cap does not bid.

With counted goods, a valuation depends only on the number of goods. Each further good adds no more value than the good
before.

Assignment valuations (OXS) are for bidders with a few places, each of which may be filled by one good. The value v(S)
is the largest total value over all ways to fill the places with copies from S, at most one in each place. Such a bidder
is like several unit-demand bidders merged into one bidder. A second copy of a good may fill another place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
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
from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.tables.frames import own_row

__all__ = ["Additive", "Assignment", "CappedAdditiveValuation", "SymmetricConcave", "UnitDemandValuation"]

# ---- counted

_Reals = NDArray[np.float64]

_ROUNDING = 2.0**-40  # by which rounded steps of a concave row may grow


def _wrong(rows: _Reals) -> NDArray[np.bool_]:
    """Whether each row is unusable: it does not begin at 0, it falls, it grows faster than before, or it
    ends above 1.
    """
    steps = np.diff(rows, axis=1)
    with np.errstate(invalid="ignore"):
        fine = (rows[:, 0] == 0.0) & (steps >= 0.0).all(axis=1) & (rows[:, -1] <= MOST)
        fine &= (np.diff(steps, axis=1) <= _ROUNDING).all(axis=1)
    return np.asarray(~fine)


class _CountBidder(Bidder):
    def __init__(self, row: _Reals, goods: int) -> None:
        self.goods, self._row = goods, row

    def value(self, bundle: Bundle) -> float:
        return float(self._row[min(len(bundle), len(self._row) - 1)])

    def gains(self, held: Bundle) -> _Reals:
        size = min(len(held), len(self._row) - 1)
        more = self._row[min(size + 1, len(self._row) - 1)] - self._row[size]
        return np.full(self.goods, more)

    def surplus(self, prices: _Reals) -> float:
        return float(_surpluses(self._row[None, :], prices)[0])


def _surpluses(rows: _Reals, prices: _Reals) -> _Reals:
    sizes = np.arange(rows.shape[1], dtype=np.float64)
    found: _Reals = (rows - sizes * float(np.min(prices))).max(axis=1)
    return found


class _Counted(Population):
    def __init__(self, rows: _Reals, goods: int, valuation: BundleClass) -> None:
        self.valuation = valuation
        self.people, self.goods, self._rows = len(rows), goods, rows
        starts = np.arange(self.people + 1, dtype=np.int64) * rows.shape[1]
        self.table = Table(values=rows.reshape(-1), starts=starts, named=np.empty(0, dtype=np.int32), dense=False,
                           counted=True)

    def bidder(self, index: int) -> Bidder:
        return _CountBidder(self._rows[index], self.goods)

    def worth(self, held: NDArray[Any]) -> _Reals:
        sizes = np.minimum((np.asarray(held) >= 0).sum(axis=1), self._rows.shape[1] - 1)
        found: _Reals = self._rows[np.arange(self.people), sizes]
        return found

    def surpluses(self, prices: _Reals) -> _Reals:
        return _surpluses(self._rows, prices)


@wire("SymmetricConcave", "most")
@dataclass(frozen=True, kw_only=True)
class SymmetricConcave(BundleClass):
    """A symmetric concave valuation v(S) = f(|S|), where |S| is the number of copies in S. A record is the list of the
    numbers f(0), ..., f(most), with f(0) = 0.

    The function f must not fall, and each good must add no more than the good before it. To allow for rounding, a good
    may add up to 2^-40 more than the good before it.

    Args:
        most: largest number L >= 1 of goods that add value.

    Example:
        >>> bidder = SymmetricConcave(most=2).bidder([0.0, 0.5, 0.75], goods=4)
        >>> bidder.value((3, 3)), bidder.pick((3,), [0.3, 0.2, 0.1, 0.1])
        (0.75, 2)
    """

    most: Annotated[int, Parameter("largest number of goods that one bidder wants", symbol="L", at_least=1)]

    @property
    def repeats(self) -> bool:
        return True

    def largest(self, goods: int) -> int:
        return self.most

    def bidder(self, record: Any, goods: int) -> Bidder:
        row = self._rows("record", [np.zeros(self.most + 1) if record is None else own_row(record, self.most + 1)], 1)
        if _wrong(row)[0]:
            raise InvalidInput("record", "is not a concave sequence f(0), f(1), ...",
                               "must begin at 0, rise by steps that never grow, and end at a value of at most 1")
        return _CountBidder(row[0], goods)

    def population(self, data: Any, *, people: int, goods: int, unusable: Unusable = "refuse") -> Population:
        """All bidders' valuations.

        Args:
            data: records f(0), ..., f(most) of all bidders, shape (n, most + 1).
            people: number n of bidders.
            goods: number k of goods.
            unusable: treatment of a bad row: "refuse" refuses the whole table, and "null" treats the row as zeros.
        """
        one_of("unusable", unusable, ("refuse", "null"))
        if isinstance(data, Population):
            return same_kind(data, self, people, goods)
        rows = self._rows("values", data, whole("people", people, at_least=1))
        bad = np.flatnonzero(_wrong(rows))
        if len(bad) and unusable == "refuse":
            raise InvalidInput("values", f"row {int(bad[0])} is not a concave sequence f(0), f(1), ...",
                               "each must begin at 0, rise by steps that never grow, and end at a value of at most 1")
        if len(bad):
            rows = rows.copy()
            rows[bad] = 0.0
        return _Counted(rows, goods, self)

    def _rows(self, field: str, data: Any, people: int) -> _Reals:
        try:
            rows = np.ascontiguousarray(data, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(field, "is not a table of numbers") from None
        if rows.shape != (people, self.most + 1):
            shape = rows.shape if field == "values" else rows.shape[1:]
            raise InvalidInput(field, f"its shape is {shape}", f"must be f(0) to f({self.most}) in a row")
        return rows


# ---- summed


@kernel
def _best_sums(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, prices: _Reals, most: int,
    out: _Reals,
) -> None:
    """Write the sum of each row's largest positive gains above the prices, at most `most` of them, to `out`."""
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
        """All bidders' valuations.

        Args:
            data: values in [0, 1] of all bidders, shape (n, k), dense or sparse, or `Valuations`. No bundle may be
                worth more than 1.
            people: number n of bidders.
            goods: number k of goods.
            unusable: treatment of a bad row: "refuse" refuses the whole table, and "null" treats the row as zeros.
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
    """A unit-demand valuation, v(S) = max of v_j over S, for a bidder who wants one good.

    Example:
        >>> UnitDemandValuation().bidder([0.5, 1.0], goods=2).value((0, 1))
        1.0
    """

    def largest(self, goods: int) -> int:
        return 1


@wire("Additive", "")
@dataclass(frozen=True, kw_only=True)
class Additive(_SumClass):
    """An additive valuation, v(S) = sum of v_j over S.

    Example:
        >>> Additive().bidder([0.5, 0.25], goods=2).value((0, 1))
        0.75
    """

    def largest(self, goods: int) -> int:
        return goods


@wire("CappedAdditive", "cap")
@dataclass(frozen=True, kw_only=True)
class CappedAdditiveValuation(_SumClass):
    """A capped additive valuation: v(S) is the sum of the `cap` largest values v_j of goods j in S.

    Example:
        >>> CappedAdditiveValuation(cap=2).bidder([0.5, 0.25, 0.5], goods=3).value((0, 1, 2))
        1.0
    """

    cap: Annotated[int, Parameter("largest number of goods that one bidder wants", at_least=1)]

    def largest(self, goods: int) -> int:
        return min(self.cap, goods)


# ---- assigning

_GRID = 2.0**40
_MOST_PLACES = 10


class _PlaceBidder(Bidder):
    """One bidder with an assignment valuation. Values are multiples of 2^-40, so that sums are exact and every way to
    find the maximum gives the same number.
    """

    def __init__(self, rows: _Reals) -> None:
        self._rows = np.floor(rows * _GRID) / _GRID
        places, self.goods = rows.shape
        masks = np.arange(1 << places)
        self._without = [masks[(masks >> place) & 1 == 0] for place in range(places)]

    @property
    def named(self) -> NDArray[np.int64]:
        return np.flatnonzero((self._rows > 0.0).any(axis=0))

    def _filled(self, bundle: Bundle) -> _Reals:
        """The largest value of the bundle's goods in each set of the m places, with at most one good in each place;
        shape (2^m,).
        """
        best = np.zeros(1 << len(self._rows))
        for good in bundle:
            before = best.copy()
            for place, free in enumerate(self._without):
                with_it = free | (1 << place)
                best[with_it] = np.maximum(best[with_it], before[free] + self._rows[place, good])
        return best

    def value(self, bundle: Bundle) -> float:
        return float(self._filled(bundle)[-1])

    def gains(self, held: Bundle) -> _Reals:
        best = self._filled(held)
        found = np.zeros(self.goods)
        full = len(best) - 1
        for place in range(len(self._rows)):  # a further good leaves its place to none of those that are held
            found = np.maximum(found, best[full ^ (1 << place)] + self._rows[place] - best[full])
        return found

    def surplus(self, prices: _Reals) -> float:
        # With copies enough each place takes its own best.
        return float(np.maximum(0.0, (self._rows - prices).max(axis=1)).sum())


@wire("Assignment", "places")
@dataclass(frozen=True, kw_only=True)
class Assignment(BundleClass):
    """An assignment valuation: v(S) is the largest total value of a matching between the bidder's places and the copies
    of goods in S. A record is a table of numbers in [0, 1], shape (places, k), with the value of each good in each
    place.

    Each number is rounded down to a multiple of 2^-40. The sum over the places of the value of each place's best good
    must be at most 1.

    Source: Shapley 1962; Lehmann, Lehmann and Nisan 2006 (OXS); spec allocation 5.

    Example:
        >>> bidder = Assignment(places=2).bidder([[0.5, 0.25, 0.0], [0.5, 0.0, 0.125]], goods=3)
        >>> bidder.value((0, 1)), bidder.value((0, 0)), bidder.value((1, 2))
        (0.75, 1.0, 0.375)
    """

    places: Annotated[int, Parameter("number of places", symbol="m", at_least=1, at_most=_MOST_PLACES)]

    @property
    def repeats(self) -> bool:
        return True

    def largest(self, goods: int) -> int:
        return self.places

    def bidder(self, record: Any, goods: int) -> Bidder:
        try:
            rows = np.zeros((self.places, goods)) if record is None else np.asarray(record, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput("record", "is not a table of numbers") from None
        if rows.shape != (self.places, goods):
            raise InvalidInput("record", f"its shape is {rows.shape}", f"must be ({self.places}, {goods})")
        if not bool(((rows >= 0.0) & (rows <= 1.0)).all()):
            raise InvalidInput("record", "holds a value that is not a number in [0, 1]", "each must be in [0, 1]")
        found = _PlaceBidder(rows)
        total = found.surplus(np.zeros(goods))
        if total > MOST:
            raise refuse_total(total)
        return found
