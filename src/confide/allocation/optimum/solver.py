"""The optimal allocation of several goods in several copies, computed exactly, for any size that fits in memory.

A sample of the bidders gives approximate prices. At approximate prices the best goods of most bidders are certain, and
only a few goods have more holders than copies. The remaining copies move along shortest paths between goods (`balance`)
until prices and allocation prove each other optimal. With very many goods the paths would be long, and prices are first
found by a smoothed demand (`smoothed_prices`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.allocation.duality import exact_sums
from confide.allocation.optimum.choices import Choices, smoothed_prices
from confide.allocation.optimum.paths import balance
from confide.allocation.valuations import Valuations
from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput, SolverFailed
from confide.contract.words import counted

__all__ = ["Handout", "OptimalAllocation", "as_supply", "cells", "exact_optimum", "replicated", "welfare_of"]


def cells(people: int, supply: NDArray[np.int64]) -> int:
    """Number of pairs of a bidder and a single copy of a good. For n bidders at most n copies of each good count."""
    return int(people * np.minimum(supply, people).sum())


def replicated(
    values: Valuations, supply: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Optimal prices, shape (k,), and optimal goods, shape (n, 1), with -1 for none, by an assignment of bidders to
    single copies.

    Args:
        values: valuations of all bidders.
        supply: number of copies of each good, shape (k,).
    """
    from scipy.optimize import linear_sum_assignment

    table = _table(values)
    of_column = np.repeat(np.arange(values.goods, dtype=np.int32), np.minimum(supply, values.people))
    rows, columns = linear_sum_assignment(table[:, of_column], maximize=True)
    held = np.full(values.people, -1, dtype=np.int32)
    held[rows] = of_column[columns]
    held[np.flatnonzero(held >= 0)[table[held >= 0, held[held >= 0]] <= 0.0]] = -1
    return _least_prices(table, held), held[:, None]


def _table(values: Valuations) -> NDArray[np.float64]:
    if values.starts is None:
        return values.values.reshape(values.people, values.goods).astype(np.float64)
    table = np.zeros((values.people, values.goods))
    table[np.repeat(np.arange(values.people), np.diff(values.starts)), values.named] = values.values
    return table


def _least_prices(table: NDArray[np.float64], held: NDArray[np.int32]) -> NDArray[np.float64]:
    goods = table.shape[1]
    prices = np.max(table[held < 0], axis=0, initial=0.0)
    rather = np.full((goods, goods), -np.inf)
    for j in np.unique(held[held >= 0]).tolist():
        own = table[held == j]
        rather[j] = (own - own[:, j : j + 1]).max(axis=0)
    for _ in range(goods):
        risen = np.maximum(prices, (prices[:, None] + rather).max(axis=0))
        if np.array_equal(risen, prices):
            break
        prices = risen
    return np.asarray(prices)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Handout:
    """An allocation that is not private, for studies with synthetic bidders, and for an operator's own comparisons.

    Args:
        method: name of the method that found the allocation.
        allocation: good of each bidder, shape (n,), with -1 for none. Shape (n, b) if bidders may have several goods,
            in ascending order with -1 after the last good.
        welfare: sum of the values of all goods to their holders, rounded once.
    """

    method: str
    allocation: NDArray[np.int32]
    welfare: float

    label: ClassVar[str] = "not private: only for studies and for the operator"
    release_safe: ClassVar[bool] = False

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} of {len(self.allocation):,} bidders by {self.method}, "
                f"welfare {self.welfare:,.6g}, {self.label}>")

    def given(self, goods: int) -> NDArray[np.int64]:
        """Number of copies of each good that are given, shape (k,).

        Args:
            goods: number k of goods.
        """
        return np.bincount(self.allocation[self.allocation >= 0], minlength=goods).astype(np.int64)


def welfare_of(values: Valuations, allocation: NDArray[Any]) -> float:
    """The sum of the values of all assigned goods to their holders, rounded once. The allocation holds the good of each
    bidder, shape (n,), with -1 for none.
    """
    return math.fsum(values.of_goods(allocation).tolist())


_Integers = NDArray[np.int64]
_Reals = NDArray[np.float64]

_STEP = 8
"""Ratio of the sizes of successive samples: the next smaller sample holds every eighth bidder."""
_SMALL, _LEAST = 1000, 8
"""Thresholds above which a sample is made smaller still: its number of bidders, and its number of copies of a median
good.
"""
_WIDEST = 2.0
"""Upper bound on the distance by which two prices in [0, 1] can move apart."""
_LEAST_WIDTH = 1e-3
_TEMPERATURES = (0.1, 0.03, 0.01, 0.003, 0.001)
_SMOOTHED_WIDTH = 0.01
_SLOWER = 100
"""Cost of the smoothing for one number of a row, as a multiple of the cost of one arc in a search."""
_MANY = 2**22
"""Number of goods in doubt from which on a window is not widened any more, but moves with the prices."""
_ATTEMPTS = 10_000
_MOST_CELLS = 2**24
_MOST_COPIES = 2**53
_OFF = 1e-9
"""Largest gap at which a solution is accepted, for each of the n b goods that n bidders may hold."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OptimalAllocation(Handout):
    """An optimal allocation, with prices that prove its optimality. The allocation is not private.

    Args:
        prices: optimal prices of the dual, shape (k,). At these prices each bidder holds a best bundle, and each good
            with a positive price has as many holders as copies.
        bound: upper bound on the optimal welfare OPT that the prices prove.
        gap: bound - welfare, >= 0. Bound, welfare and gap are computed exactly and rounded once.
        each: largest number b of goods of one bidder.
    """

    prices: _Reals
    bound: float
    gap: float
    each: int


def exact_optimum(
    values: Any, supply: ArrayLike, *, each: int = 1, method: Literal["paths", "assignment"] | None = None,
) -> OptimalAllocation:
    """An allocation with the largest welfare, in which each bidder gets at most b different goods, and the values of a
    bidder's goods add up. The allocation is not private.

    Args:
        values: valuations in [0, 1], shape (n, k), dense or scipy sparse, or `Valuations`.
        supply: number of copies s_j of each good, in 1..2^53: one whole number for all, or k numbers.
        each: largest number b of goods of one bidder, in 1..k: 1 for unit demand, more for capped additive demand.
        method: "paths", the default; or "assignment", by scipy, for b = 1 and at most 2^24 pairs of bidder and copy.

    Returns:
        The good of each bidder, the prices, and the proof of optimality. No bidder gets a good that is worth 0 to them.

    Raises:
        InvalidInput: `values`, `supply` or `method` of another form or out of range, or too large a table for
            "assignment".
        SolverFailed: the gap between bound and welfare is above n b 10^-9, or the search found no allocation within the
            supply.

    Source: spec allocation 12; weak duality: 4.2.

    Example:
        >>> found = exact_optimum([[1.0, 0.75], [0.75, 0.25], [0.5, 0.25]], 1)
        >>> found.allocation.tolist(), found.welfare, found.gap
        ([1, 0, -1], 1.5, 0.0)
        >>> exact_optimum([[1.0, 0.75], [0.75, 0.5], [0.5, 0.25]], 2, each=2).allocation.tolist()
        [[0, 1], [0, 1], [-1, -1]]
    """
    of = Valuations.whole(values)
    copies = as_supply(supply, of.goods)
    if whole("each", each, at_least=1) > of.goods:
        raise InvalidInput("each", f"{each} is out of range for {counted(of.goods, 'good')}",
                           f"must be in 1..{of.goods}")
    chosen = "paths" if method is None else one_of("method", method, ("paths", "assignment"))
    if chosen == "assignment":
        if each > 1 or cells(of.people, copies) > _MOST_CELLS:
            raise InvalidInput("method", "'assignment' needs a small table, in which each bidder gets at most one good",
                               "take 'paths'")
        prices, held = replicated(of, copies)
    else:
        prices, held = _paths(of, copies, each)
    given = np.bincount(held[held >= 0], minlength=of.goods)
    if bool((given > copies).any()):
        raise SolverFailed("exact_optimum", "the allocation gives more copies of a good than the supply")
    bound, welfare, gap = exact_sums(of, copies, prices, held)
    if not 0.0 <= gap <= _OFF * of.people * each:
        raise SolverFailed("exact_optimum", "prices and allocation do not prove each other")
    return OptimalAllocation(method=chosen, allocation=held[:, 0].copy() if each == 1 else _ascending(held),
                             welfare=welfare,
                   prices=prices, bound=bound, gap=gap, each=each)


def _ascending(held: NDArray[np.int32]) -> NDArray[np.int32]:
    """Sort the goods of each bundle in ascending order, with -1 after the last good."""
    as_large = np.sort(held.view(np.uint32), axis=1)  # -1 is the largest
    return np.asarray(as_large.view(np.int32))


def as_supply(supply: ArrayLike, goods: int) -> _Integers:
    """Number of copies of each good, shape (k,), from one number or k numbers."""
    found = np.asarray(supply)
    if found.dtype.kind not in "iu" or found.shape not in ((), (goods,)) or not bool(
            ((found >= 1) & (found <= _MOST_COPIES)).all()):
        raise InvalidInput("supply", "is not a whole number of copies of each good",
                           f"must be one number, or {goods}, in 1..2^53")
    return np.broadcast_to(found, (goods,)).astype(np.int64)


def _paths(values: Valuations, supply: _Integers, each: int) -> tuple[_Reals, NDArray[np.int32]]:
    """Optimal prices and goods by shortest paths. Samples of the bidders come first, from the smallest sample to the
    largest. The search on the smallest sample starts at prices of 0. Each later search starts at the prices that the
    search before it found.
    """
    steps = [1]
    while values.people // steps[-1] > _SMALL and np.median(supply) // steps[-1] >= _LEAST:
        steps.append(steps[-1] * _STEP)
    prices, width = np.zeros(values.goods + 1), _WIDEST
    for number, step in enumerate(reversed(steps)):
        part = values if step == 1 else _sample(values, step)
        copies = np.maximum(1, np.rint(supply * (part.people / values.people)).astype(np.int64))
        choices = Choices(values=part, supply=copies, each=each)
        start = prices.copy()
        _settle(choices, prices, width)
        moved = _spread(prices - start)
        width = moved if number else 1.0 / float(np.sqrt(np.median(copies)))
    return prices[:-1], choices.held


def _settle(choices: Choices, prices: _Reals, width: float) -> None:
    """Find optimal prices and choices. Both `choices` and `prices`, shape (k + 1,), are updated in place."""
    values, supply = choices.values, choices.supply
    choices.choose(prices[:-1])
    over = int(np.maximum(0, choices.used - supply).sum())
    if choices.each == 1 and over * len(prices) ** 2 > _SLOWER * len(values.values):
        prices[:-1] = smoothed_prices(values, supply, prices[:-1], _TEMPERATURES)
        choices.choose(prices[:-1])
        width = _SMOOTHED_WIDTH
    for _ in range(_ATTEMPTS):
        left = prices[:-1][choices.used < supply]
        if bool((choices.used <= supply).all()) and not left.any():
            return
        width = min(_WIDEST, max(width, _LEAST_WIDTH))
        window = choices.window(prices[:-1], width)
        done, _, _ = balance(window, prices, choices.used, supply, width)
        choices.store(window)
        if done:
            return
        if len(window.found) < _MANY:
            width *= 2.0
        choices.choose(prices[:-1])
    raise SolverFailed("exact_optimum", "prices and choices did not settle")


def _spread(moved: _Reals) -> float:
    """The largest difference between the movements of two prices. The constant price of no good counts as a price."""
    return float(moved.max() - moved.min())


def _sample(values: Valuations, step: int) -> Valuations:
    """The valuations of every `step`-th bidder."""
    if values.starts is None:
        part = values.values.reshape(values.people, values.goods)[::step]
        return Valuations(people=len(part), goods=values.goods, values=np.ascontiguousarray(part).reshape(-1),
                          starts=None, named=values.named)
    sizes = np.diff(values.starts)[::step]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.arange(starts[-1]) + np.repeat(values.starts[:-1:step] - starts[:-1], sizes)
    return Valuations(people=len(sizes), goods=values.goods, values=values.values[places], starts=starts,
                      named=values.named[places])
