"""The rows of values of all bidders, and the welfare of baseline rules on these rows, for studies and audits only. Rows
and welfare are private.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.allocation.baselines import greedy, serial_dictatorship
from confide.allocation.bundles.auction import favourite_bundles
from confide.allocation.bundles.bidders import BundleClass, Population
from confide.allocation.bundles.classes import SymmetricConcave
from confide.allocation.bundles.rows import population_of, record_of, width
from confide.allocation.duality import bundle_dual_bound, dual_bound
from confide.allocation.favourites import best_goods
from confide.allocation.optimum.solver import exact_optimum
from confide.allocation.tables import Rows, gathered
from confide.allocation.valuations import Valuations
from confide.privacy.noise.simulated import study_generator

__all__ = ["BundleCrowd", "Crowd", "SingleCrowd", "counted_optimum", "counted_serially", "counts", "greedy_bundles",
           "lottery_of_bundles", "lottery_welfare", "most_welfare", "serial_bundles", "spread_evenly"]

_Reals = NDArray[np.float64]


# ---- sums


def lottery_of_bundles(values: _Reals, supply: tuple[int, ...], most: int) -> float:
    """The expected welfare if every bidder asks for their best goods and each good is raffled among those who ask for
    it.

    Args:
        values: value of each good to each bidder, shape (n, k).
        supply: number of copies of each good, shape (k,).
        most: largest number b of goods that one bidder asks for.

    Example:
        >>> lottery_of_bundles(np.array([[0.5, 0.25], [0.5, 0.0]]), (1, 1), most=2)
        0.75
    """
    asked = _best(values, most)
    wanted = (asked & (values > 0.0)).sum(axis=0)
    worth = np.where(asked, values, 0.0).sum(axis=0)
    return math.fsum(worth * np.minimum(1.0, np.array(supply) / np.maximum(1, wanted)))


def _best(values: _Reals, most: int) -> NDArray[np.bool_]:
    """Whether each value is among the `most` largest of its row, shape (n, k). Among equal values the first counts as
    larger.
    """
    order = np.argsort(-values, axis=1, kind="stable")
    found = np.zeros(values.shape, dtype=np.bool_)
    np.put_along_axis(found, order[:, :most], True, axis=1)
    return found


def serial_bundles(values: _Reals, supply: tuple[int, ...], most: int, seed: int = 0) -> float:
    """The welfare if the bidders take turns in a random order, each taking their best remaining goods.

    Args:
        values: value of each good to each bidder, shape (n, k).
        supply: number of copies of each good, shape (k,).
        most: largest number b of goods of one bidder.
        seed: seed of the order.

    Example:
        >>> serial_bundles(np.array([[0.5, 0.25]]), (1, 1), most=2)
        0.75
    """
    left, total = np.array(supply), list[float]()
    for person in study_generator(seed, "order of bidders").permutation(len(values)).tolist():
        row = np.where(left > 0, values[person], 0.0)
        best = np.argsort(-row, kind="stable")[:most]
        best = best[row[best] > 0.0]
        left[best] -= 1
        total += row[best].tolist()
    return math.fsum(total)


def greedy_bundles(values: _Reals, supply: tuple[int, ...], most: int) -> float:
    """The welfare if the largest value of all bidders and goods is served first, then the largest remaining value, and
    so on.

    This greedy welfare is at least half of the optimum, since the allocation is a greedy basis of an intersection of
    two matroids.

    Args:
        values: value of each good to each bidder, shape (n, k).
        supply: number of copies of each good, shape (k,).
        most: largest number b of goods of one bidder.

    Example:
        >>> greedy_bundles(np.array([[0.5, 0.375], [0.25, 0.0]]), (1, 1), most=1)
        0.5
    """
    left, room, total = list(supply), [most] * len(values), list[float]()
    flat = values.reshape(-1)
    goods, over = values.shape[1], sum(supply)
    for cell in np.argsort(-flat, kind="stable").tolist():
        person, good = divmod(cell, goods)
        if flat[cell] <= 0.0 or not over:
            break
        if left[good] and room[person]:
            left[good] -= 1
            room[person] -= 1
            over -= 1
            total.append(float(flat[cell]))
    return math.fsum(total)


# ---- counted


def counted_optimum(steps: NDArray[Any], copies: int) -> float:
    """The best welfare for bidders who value only the number of their goods. The best welfare is the sum of the largest
    steps of all bidders, as many steps as there are copies.

    A step is the value that one more good adds. Steps fall along each row, so no bidder's second good is counted before
    their first.

    Args:
        steps: value that each further good adds for each bidder, shape (n, L).
        copies: number of copies of all goods together.

    Example:
        >>> counted_optimum(np.array([[0.5, 0.25], [0.375, 0.0]]), 2)
        0.875
    """
    return math.fsum(np.sort(steps.astype(np.float64), axis=None)[::-1][:copies].tolist())


def counted_serially(steps: NDArray[Any], copies: int, seed: int = 0) -> float:
    """The welfare if bidders who value only the number of their goods take turns in a random order. Each bidder takes
    as many goods as they want.

    Args:
        steps: value that each further good adds for each bidder, shape (n, L).
        copies: number of copies of all goods together.
        seed: seed of the order.

    Example:
        >>> counted_serially(np.array([[0.5, 0.25]]), 1)
        0.5
    """
    ordered = steps[study_generator(seed, "order of bidders").permutation(len(steps))].astype(np.float64).reshape(-1)
    return math.fsum(ordered[ordered > 0.0][:copies].tolist())


def spread_evenly(steps: NDArray[Any], copies: int) -> float:
    """The expected welfare of bidders who value only the number of their goods, if every bidder gets the same number of
    copies. The remaining copies go to bidders chosen at random.

    Args:
        steps: value that each further good adds for each bidder, shape (n, L).
        copies: number of copies of all goods together.

    Example:
        >>> spread_evenly(np.array([[0.5, 0.25], [0.25, 0.25]]), 3)
        1.0
    """
    each, over = divmod(min(copies, steps.size), len(steps))
    sums = steps.astype(np.float64).sum(axis=0)
    return math.fsum([*sums[:each].tolist(), *(sums[each : each + 1] * over / len(steps)).tolist()])


_STEPS = 120  # of prices towards those that bound the welfare best


def lottery_welfare(values: Valuations, supply: tuple[int, ...]) -> float:
    """The expected welfare if each good is raffled among the bidders whose favourite it is, and losers get no good. The
    welfare is private.

    Args:
        values: valuations of all bidders.
        supply: number of copies of each good, shape (k,).

    Example:
        >>> lottery_welfare(Valuations.of([[1.0, 0.5], [0.5, 0.0]], people=2, goods=2), (1, 1))
        0.75
    """
    wanted = best_goods(values, np.zeros(values.goods))
    there = wanted >= 0
    asked = np.bincount(wanted[there], minlength=values.goods)
    liked = np.bincount(wanted[there], weights=values.of_goods(wanted)[there], minlength=values.goods)
    return math.fsum(liked * np.minimum(1.0, np.array(supply) / np.maximum(1, asked)))


def most_welfare(values: Valuations, supply: tuple[int, ...]) -> float:
    """An upper bound on the welfare of every allocation: the least bound by weak duality over a sequence of prices that
    follow demand. The bound is private.

    Args:
        values: valuations of all bidders.
        supply: number of copies of each good, shape (k,).

    Example:
        >>> round(most_welfare(Valuations.of([[1.0], [0.5], [0.2]], people=3, goods=1), (1,)), 2)
        1.0
    """
    copies = np.array(supply, dtype=np.float64)
    prices = np.zeros(values.goods)
    least = dual_bound(values, supply, prices)
    for step in range(_STEPS):
        wanted = best_goods(values, prices)
        asked = np.bincount(wanted[wanted >= 0], minlength=values.goods)
        excess = np.clip((asked - copies) / copies, -1.0, 1.0)
        prices = np.clip(prices + 0.2 * 0.96**step * excess, 0.0, 1.0)
        least = min(least, dual_bound(values, supply, prices))
    return least


MOST_CELLS = 2_000_000
"""Largest number of values for which the best allocation is found exactly and all baselines are computed."""

Compared = tuple[str, float]
"""Pair of the name of a baseline rule and the welfare of that rule."""


class Crowd(Protocol):
    """The rows of values of all bidders of a campaign. The rows are private."""

    @property
    def data(self) -> Any:
        """The data set in the form that a run accepts."""
        ...

    def record(self, place: int) -> Any:
        """The record of the person at position `place`, from 0, in the form in which the person submits it."""
        ...

    def welfare(self, shares: pa.Table) -> float:
        """The total value of all shares to their holders."""
        ...

    def bound(self, supply: tuple[int, ...], prices: NDArray[Any]) -> float:
        """An upper bound on the welfare of every allocation, by weak duality at given prices."""
        ...

    def favourites(self) -> pa.Table:
        """The shares of all bidders if there were enough copies of every good."""
        ...

    def best(self, supply: tuple[int, ...], prices: NDArray[Any]) -> tuple[float, bool]:
        """The optimal welfare, with True if this number is exact. With False, the number is an upper bound on the
        optimal welfare.
        """
        ...

    def baselines(self, supply: tuple[int, ...], seed: int) -> list[Compared]:
        """The welfare of baseline rules, none of them private. With very many values some baselines are left out."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class SingleCrowd:
    """The rows of bidders who want one good each.

    Args:
        values: valuations of all bidders.
    """

    values: Valuations

    @classmethod
    def of(cls, batches: Iterable[Rows], people: int, goods: int) -> SingleCrowd:
        """Gather batches of collected rows into the rows of all n people, with zeros for people without a row."""
        return cls(gathered(batches, people, goods))

    @property
    def data(self) -> Valuations:
        return self.values

    def record(self, place: int) -> NDArray[np.float64]:
        return self.values.row(place)

    def welfare(self, shares: pa.Table) -> float:
        return self.values.welfare(shares["good"].to_numpy())

    def bound(self, supply: tuple[int, ...], prices: NDArray[Any]) -> float:
        return dual_bound(self.values, supply, prices)

    def favourites(self) -> pa.Table:
        return pa.table({"good": pa.array(best_goods(self.values, np.zeros(self.values.goods)))})

    def best(self, supply: tuple[int, ...], prices: NDArray[Any]) -> tuple[float, bool]:
        if _few(self.values):
            return exact_optimum(self.values, supply).welfare, True
        return min(most_welfare(self.values, supply), self.bound(supply, prices)), False

    def baselines(self, supply: tuple[int, ...], seed: int) -> list[Compared]:
        raffled = ("a lottery for everybody's favourite, on average", lottery_welfare(self.values, supply))
        if not _few(self.values):
            return [raffled]
        return [("the largest value of all first (greedy)", greedy(self.values, supply).welfare),
                ("everybody's best remaining choice, in a random order (serial dictatorship)",
                 serial_dictatorship(self.values, supply, seed=seed).welfare), raffled]


@dataclass(frozen=True, eq=False, repr=False)
class BundleCrowd:
    """The rows of bidders who want bundles of goods.

    Args:
        valuation: class of the bidders' valuations.
        rows: numbers that all bidders submitted, one row for each bidder.
        goods: number k of goods.
    """

    valuation: BundleClass
    rows: Valuations
    goods: int

    @classmethod
    def of(cls, valuation: BundleClass, batches: Iterable[Rows], people: int, goods: int) -> BundleCrowd:
        """Gather batches of collected rows into the rows of all n people, with zeros for people without a row."""
        return cls(valuation, gathered(batches, people, width(valuation, goods)), goods)

    @cached_property
    def data(self) -> Population:
        rows = self.rows
        index = np.arange(rows.people)
        row, named = _cells(rows)
        starts = np.searchsorted(row, np.arange(rows.people + 1)).astype(np.int64)
        batch = Rows(index, starts, named, _of(rows, row, named))
        return population_of(self.valuation, iter([batch]), people=rows.people, goods=self.goods)

    def record(self, place: int) -> Any:
        row = self.rows.row(place)
        return record_of(self.valuation, {int(at): float(row[at]) for at in np.flatnonzero(row)})

    def welfare(self, shares: pa.Table) -> float:
        return float(self.data.worth(_held(shares)).sum())

    def bound(self, supply: tuple[int, ...], prices: NDArray[Any]) -> float:
        return bundle_dual_bound(self.data, supply, prices)

    def favourites(self) -> pa.Table:
        held = favourite_bundles(self.data, self._most)
        return pa.table({"bundle": pa.array([row[row >= 0].tolist() for row in held], pa.list_(pa.int32()))})

    def best(self, supply: tuple[int, ...], prices: NDArray[Any]) -> tuple[float, bool]:
        if self._counted:
            return counted_optimum(self._steps, sum(supply)), True
        if _few(self.rows):
            return exact_optimum(self.rows, supply, each=self._most).welfare, True
        return min(self.bound(supply, prices), self.bound(supply, np.zeros(self.goods))), False

    def baselines(self, supply: tuple[int, ...], seed: int) -> list[Compared]:
        serial = "everybody's best remaining choice, in a random order (serial dictatorship)"
        if self._counted:
            return [(serial, counted_serially(self._steps, sum(supply), seed)),
                    ("the same number of goods for everybody, without any reports",
                     spread_evenly(self._steps, sum(supply)))]
        raffled = ("a lottery of each good among the people who value it most, on average",
                   lottery_of_bundles(self._table, supply, self._most) if _few(self.rows) else math.nan)
        if not _few(self.rows):
            return []
        return [("the largest value of all first (greedy)", greedy_bundles(self._table, supply, self._most)),
                (serial, serial_bundles(self._table, supply, self._most, seed)), raffled]

    @property
    def _counted(self) -> bool:
        return isinstance(self.valuation, SymmetricConcave)

    @property
    def _most(self) -> int:
        return self.valuation.largest(self.goods)

    @property
    def _steps(self) -> NDArray[Any]:
        return self.rows.values.reshape(self.rows.people, -1)

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        return np.stack([self.rows.row(place) for place in range(self.rows.people)])


def _few(values: Valuations) -> bool:
    return values.people * values.goods <= MOST_CELLS


def _cells(rows: Valuations) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Row and column of each nonzero number."""
    if rows.starts is None:
        row, named = np.nonzero(rows.values.reshape(rows.people, rows.goods))
        return row, named.astype(np.int32)
    return np.repeat(np.arange(rows.people), np.diff(rows.starts)), rows.named


def _of(rows: Valuations, row: NDArray[np.int64], named: NDArray[np.int32]) -> NDArray[np.float32]:
    found = rows.values.reshape(rows.people, rows.goods)[row, named] if rows.starts is None else rows.values
    return np.asarray(found, dtype=np.float32)


def _held(shares: pa.Table) -> NDArray[np.int32]:
    """The goods in the column of bundles, shape (n, b), with -1 for none."""
    column = shares["bundle"].combine_chunks()
    offsets, flat = column.offsets.to_numpy(), column.values.to_numpy()
    sizes = np.diff(offsets)
    held = np.full((len(sizes), max(1, int(sizes.max(initial=0)))), -1, dtype=np.int32)
    who = np.repeat(np.arange(len(sizes)), sizes)
    held[who, np.arange(offsets[0], offsets[-1]) - np.repeat(offsets[:-1], sizes)] = flat[offsets[0]:offsets[-1]]
    return held


def counts(shares: pa.Table, goods: int) -> NDArray[np.int64]:
    """The number of copies of each good in all shares together, shape (k,). The numbers are private.

    Args:
        shares: table with a column "good" or "bundle".
        goods: number k of goods.

    Example:
        >>> counts(pa.table({"bundle": [[0, 2], [], [2]]}), 3).tolist()
        [1, 0, 2]
    """
    held = shares["good"].to_numpy() if "good" in shares.column_names else _held(shares).reshape(-1)
    return np.bincount(held[held >= 0], minlength=goods)
