"""Step-by-step execution of Algorithm 4. In each step one bidder acts, every counter is released, and the prices are
updated.

Here s' is the effective supply, the number of copies less the reserve. As printed, a price rises by at most one
increment in a step, and a bidder who holds a good is outbid when s' bids were counted since the bidder's own bid. In
the corrected version a price follows the count, and a holder is outbid when more than s' bids were counted since their
own bid.

Source: Wu 2017, Algorithm 4; spec allocation 3.1; errata 4, 5, 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.allocation.ascending_auction import FREE, bid
from confide.allocation.valuations import Valuations
from confide.privacy.primitives.sessions import NoiseSession
from confide.privacy.tree_kernel import advance

__all__ = ["Playing", "outbid", "price_levels"]

_BLOCK = 2**20  # noises that are held at once
_NO_CAP = 2**31 - 1

_Integers = NDArray[np.int64]
_Reals = NDArray[np.float64]


@kernel
def _raise_prices(published: _Integers, supply: int, corrected: bool, levels: _Integers) -> None:
    """Update the number of increments in each price after a release of the counters."""
    for j in range(len(levels)):
        if corrected:
            levels[j] = published[j] // supply
        elif published[j] >= (levels[j] + 1) * supply:
            levels[j] += 1


@kernel
def price_levels(counts: _Integers, supply: int, corrected: bool) -> _Integers:
    """The number of increments in each price before the first step and after each step, shape (steps + 1, k).

    Args:
        counts: (steps, k) published counts.
        supply: effective supply s' >= 1: copies of each good less the reserve.
        corrected: whether prices follow the counts, as in the corrected rule; False for the printed rule.
    """
    steps, goods = counts.shape
    out = np.zeros((steps + 1, goods), dtype=np.int64)
    for t in range(steps):
        out[t + 1] = out[t]
        _raise_prices(counts[t], supply, corrected, out[t + 1])
    return out


def outbid(counted: Any, supply: int, corrected: bool) -> Any:
    """Whether a bidder who holds a good is outbid. The argument `counted`, a number or an array, is the increase of the
    good's count since the count that the bidder saw before bidding.
    """
    return counted > supply if corrected else counted >= supply


@kernel
def _bids(
    first: int, step: int, values: NDArray[Any], starts: _Integers, named: NDArray[np.int32], dense: bool,
    increment: float, supply: int, corrected: bool, noise: _Integers, held: NDArray[np.int32], seen: _Integers,
    latest: NDArray[np.int32], bids: NDArray[np.int32], sums: _Integers, noisy: _Integers, published: _Integers,
    levels: _Integers, prices: _Reals, out: _Integers,
) -> None:
    """The slots of several bidders one after the other, with one release for each. The published counts are written to
    `out`, shape (steps, k).
    """
    goods = len(prices)
    increments = np.zeros(goods, dtype=np.int64)
    drawn = np.empty(goods, dtype=np.int64)
    for number in range(len(out)):
        bid(first + number, first + number + 1, values, starts, named, dense, prices, published, _NO_CAP, held, seen,
             latest, bids, increments)
        for j in range(goods):
            drawn[j] = noise[j, number]
        advance(step + number + 1, 2, 0, corrected, increments, drawn, sums, noisy, published)
        _raise_prices(published, supply, corrected, levels)
        for j in range(goods):
            prices[j] = increment * np.float64(levels[j])
            out[number, j] = published[j]


@kernel
def _reports(
    step: int, corrected: bool, reports: _Integers, noise: _Integers, sums: _Integers, noisy: _Integers,
    published: _Integers, out: _Integers,
) -> None:
    """Everybody's report to the halting counter, one tick for each bidder."""
    one, drawn = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.int64)
    for number in range(len(out)):
        one[0], drawn[0] = reports[number], noise[0, number]
        advance(step + number + 1, 2, 0, corrected, one, drawn, sums, noisy, published)
        out[number] = published[0]


class Playing:
    """A run of Algorithm 4 in progress. Only `counts` and `reports` are published; all other state is private.

    Args:
        values: valuations of all bidders.
        supply: effective supply s' >= 1: copies of each good less the reserve.
        increment: price increment alpha.
        corrected: whether the corrected rules for prices and outbidding apply; False for the printed rules.
        levels: number h of levels of the binary trees in the counters.
        session: session from which all counters draw their noise, and to which the privacy loss of this noise is
            charged.
    """

    def __init__(
        self, *, values: Valuations, supply: int, increment: float, corrected: bool, levels: int,
        session: NoiseSession,
    ) -> None:
        n, k = values.people, values.goods
        self._values, self._supply, self._increment, self._corrected = values, supply, increment, corrected
        self._session = session
        self.held, self._latest = np.full(n, FREE, dtype=np.int32), np.full(n, -1, dtype=np.int32)
        self._seen, self._bid_counts = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int32)
        self._sums, self._noisy = np.zeros((2, k, levels), dtype=np.int64)
        self._report_sums, self._report_noisy = np.zeros((2, 1, levels), dtype=np.int64)
        self._published, self._reported = np.zeros(k, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self._levels, self._prices = np.zeros(k, dtype=np.int64), np.zeros(k)
        self.rounds = 0
        self.counts: list[_Integers] = []
        self.reports: list[_Integers] = []

    def play_round(self) -> int:
        """Run one round of bids and reports. The result is the increase of the published halting counter."""
        n, k = self._values.people, self._values.goods
        before, step = int(self._reported[0]), self.rounds * n
        for first, width in self._blocks(k):
            out = np.empty((width, k), dtype=np.int64)
            drawn = self._session.draw("block", (k, width), stream=("bids", self.rounds, first))
            _bids(first, step + first, *self._values.rows,
                  self._increment, self._supply, self._corrected, drawn, self.held, self._seen, self._latest,
                  self._bid_counts, self._sums, self._noisy, self._published, self._levels, self._prices, out)
            self.counts.append(out)
        counted = self._published[np.maximum(self.held, 0)] - self._seen
        reported = (self.held >= 0) & outbid(counted, self._supply, self._corrected)
        self.held[reported] = FREE
        reports = reported.astype(np.int64)
        for first, width in self._blocks(1):
            ticks = np.empty(width, dtype=np.int64)
            drawn = self._session.draw("block", (1, width), stream=("reports", self.rounds, first))
            _reports(step + first, self._corrected, reports[first : first + width], drawn, self._report_sums,
                     self._report_noisy, self._reported, ticks)
            self.reports.append(ticks)
        self.rounds += 1
        return int(self._reported[0]) - before

    def _blocks(self, counters: int) -> Iterator[tuple[int, int]]:
        n = self._values.people
        width = max(1, _BLOCK // counters)
        return ((first, min(width, n - first)) for first in range(0, n, width))
