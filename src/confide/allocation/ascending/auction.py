"""The auction of single goods: what a bidder does in her slot, compiled, and a run of all rounds.

Source: Wu 2017, Algorithm 4, corrected; spec allocation 3.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending.running import Rules, Running, publish
from confide.allocation.valuations import Valuations
from confide.numerics.compiled import kernel
from confide.privacy.noise import Noise
from confide.privacy.tree_counter import TreeCounter

__all__ = ["FREE", "OUT", "Auction", "bid", "outbid"]

FREE, OUT = -1, -2
"""States of a bidder who holds no good: she may bid, and she does not bid again."""

_Integers = NDArray[np.int64]
_Reals = NDArray[np.float64]


@kernel
def bid(
    first: int, last: int, values: NDArray[Any], starts: _Integers, named: NDArray[np.int32], dense: bool,
    prices: _Reals, published: _Integers, cap: int, held: NDArray[np.int32], seen: _Integers,
    latest: NDArray[np.int32], bids: NDArray[np.int32], increments: _Integers,
) -> None:
    """Everybody from `first` to `last` who is free bids on the good that is worth most above its price, if any is."""
    goods = len(prices)
    increments[:] = 0
    for i in range(first, last):
        if held[i] != -1:
            continue
        best, surplus = -1, 0.0
        if dense:
            for j in range(goods):
                gain = np.float64(values[i * goods + j]) - prices[j]
                if gain > surplus:
                    best, surplus = j, gain
        else:
            for place in range(starts[i], starts[i + 1]):
                gain = np.float64(values[place]) - prices[named[place]]
                if gain > surplus:
                    best, surplus = named[place], gain
        if best < 0:
            held[i] = -2
            latest[i] = -1  # no price that she would pay
        elif bids[i] >= cap:
            held[i] = -2
        else:
            held[i] = best
            latest[i] = best
            seen[i] = published[best]
            bids[i] += 1
            increments[best] += 1


@kernel
def _play(
    step: int, slot: int, batch: int, values: NDArray[Any], starts: _Integers, named: NDArray[np.int32], dense: bool,
    increment: float, supply: _Integers, cap: int, arity: int, grid: int, noise: _Integers, held: NDArray[np.int32],
    seen: _Integers, latest: NDArray[np.int32], bids: NDArray[np.int32], sums: _Integers, noisy: _Integers,
    published: _Integers, prices: _Reals, changes: _Integers,
) -> int:
    """Some slots of a round, one release each; returns how many counts changed, written to `changes` (.., 3)."""
    goods, people = len(prices), len(held)
    increments, before = np.zeros(goods, dtype=np.int64), np.empty(goods, dtype=np.int64)
    drawn = np.empty(goods, dtype=np.int64)
    found = 0
    for number in range(noise.shape[1]):
        start = (slot + number) * batch
        bid(start, min(people, start + batch), values, starts, named, dense, prices, published, cap, held, seen,
            latest, bids, increments)
        drawn[:] = noise[:, number]
        found = publish(step + number + 1, arity, grid, increment, supply, increments, drawn, sums, noisy, published,
                        before, prices, changes, found)
    return found


@kernel
def outbid(
    held: NDArray[np.int32], seen: _Integers, published: _Integers, supply: _Integers
) -> int:
    """Holders after whom too many bids were counted become free; returns how many."""
    freed = 0
    for i in range(len(held)):
        j = held[i]
        if j >= 0 and published[j] - seen[i] > supply[j]:
            held[i] = -1
            freed += 1
    return freed


class Auction(Running):
    """A run in progress. All of its state but the published counts is private.

    Args:
        rules: public.
        values: everybody's.
        counter: the counters' public parameters.
        noise: where the noise comes from.
        stream: first word of the draws' names.
        stepwise: whether each release is drawn around its true sums; by default where there are few of them.
    """

    def __init__(
        self, rules: Rules, values: Valuations, counter: TreeCounter, noise: Noise, stream: str = "counts", *,
        stepwise: bool | None = None,
    ) -> None:
        super().__init__(rules, counter, noise, stream, stepwise=stepwise)
        n = rules.people
        self.held, self.latest = np.full(n, FREE, dtype=np.int32), np.full(n, -1, dtype=np.int32)
        self.seen, self.bids = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int32)
        self._rows = values.rows

    def _bids(self) -> int:
        return int(self.bids.sum())

    def _slot(self, first: int, last: int, prices: _Reals) -> _Integers:
        increments = np.zeros(self.rules.goods, dtype=np.int64)
        bid(first, last, *self._rows, prices, self.published, self.rules.bid_cap, self.held, self.seen, self.latest,
            self.bids, increments)
        return increments

    def _play(self, slot: int, drawn: _Integers, prices: _Reals, changes: _Integers) -> int:
        rules = self.rules
        return int(_play(self.round * rules.slots + slot, slot, rules.batch, *self._rows, rules.increment, self._supply,
                         rules.bid_cap, self.counter.arity, self.counter.grid, drawn, self.held, self.seen, self.latest,
                         self.bids, self._sums, self._noisy, self.published, prices, changes))

    def _end(self, prices: _Reals) -> int:
        return int(outbid(self.held, self.seen, self.published, self._supply))
