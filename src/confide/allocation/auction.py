"""The ascending auction itself: bids against published counts, in batches of a public order.

Between two releases nobody's bid depends on another's, so bidders of a batch may bid in any order. What they see of
each other is the published counts alone. The counts tick at every batch, zeros included: the clock is public.

Source: Wu 2017, Algorithm 4, corrected; spec allocation 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.valuations import Valuations
from confide.numerics.compiled import kernel
from confide.privacy.noise import Noise
from confide.privacy.tree_counter import TreeCounter
from confide.privacy.tree_kernel import advance

__all__ = ["FREE", "OUT", "Auction", "Changes", "Rules", "many_steps"]

FREE, OUT = -1, -2
"""States of a bidder who holds no good: she may bid, and she does not bid again."""

_STEPWISE = 2**12
"""Steps up to which each release is drawn around its true sums: an audit can walk a neighbour along one history."""
_BLOCK = 2**20  # noises that are held at once

_Integers = NDArray[np.int64]
_Reals = NDArray[np.float64]


def many_steps(horizon: int) -> bool:
    """Whether noise is drawn in blocks, and added by the run.

    Args:
        horizon: releases of all rounds; public.
    """
    return horizon > _STEPWISE


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What everybody has to know to bid.

    Args:
        people: n, public slots in a fixed order.
        goods: k.
        supply: s'_j, effective: a holder is outbid when more than so many bids were counted after hers.
        increment: alpha, from one price to the next.
        rounds: R, at most.
        batch: g, how many bidders in a row bid between two releases.
        bid_cap: C, bids of one bidder at most.
        charge: whether the final price is charged: then nobody takes a good that is worth less to her.
    """

    people: int
    goods: int
    supply: tuple[int, ...]
    increment: float
    rounds: int
    batch: int
    bid_cap: int
    charge: bool = False

    @property
    def slots(self) -> int:
        """Releases of a round: ceil(n/g)."""
        return -(-self.people // self.batch)

    @property
    def horizon(self) -> int:
        """N, releases of all rounds."""
        return self.rounds * self.slots

    def prices(self, counts: NDArray[Any]) -> _Reals:
        """p_j = alpha floor(count_j / s'_j), rounded once.

        Args:
            counts: (k,) as published.
        """
        prices: _Reals = self.increment * (np.asarray(counts) // np.array(self.supply, dtype=np.int64)).astype(float)
        return prices


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Published counts, where they changed.

    Args:
        step: from 1.
        good: whose count.
        count: from this step on.
    """

    step: _Integers
    good: NDArray[np.int32]
    count: _Integers


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
    step: int, slot: int, batch: int, people: int, values: NDArray[Any], starts: _Integers, named: NDArray[np.int32],
    dense: bool, increment: float, supply: _Integers, cap: int, arity: int, grid: int, noise: _Integers,
    held: NDArray[np.int32], seen: _Integers, latest: NDArray[np.int32], bids: NDArray[np.int32], sums: _Integers,
    noisy: _Integers, published: _Integers, prices: _Reals, changes: _Integers,
) -> int:
    """Some slots of a round, one release each; returns how many counts changed, written to `changes` (.., 3)."""
    goods = len(prices)
    increments = np.zeros(goods, dtype=np.int64)
    before = np.empty(goods, dtype=np.int64)
    drawn = np.empty(goods, dtype=np.int64)
    found = 0
    for number in range(noise.shape[1]):
        start = (slot + number) * batch
        bid(start, min(people, start + batch), values, starts, named, dense, prices, published, cap, held, seen,
             latest, bids, increments)
        for j in range(goods):
            before[j] = published[j]
            drawn[j] = noise[j, number]
        advance(step + number + 1, arity, grid, True, increments, drawn, sums, noisy, published)
        for j in range(goods):
            if published[j] != before[j]:
                prices[j] = increment * np.float64(published[j] // supply[j])
                changes[found, 0], changes[found, 1], changes[found, 2] = step + number + 1, j, published[j]
                found += 1
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


@dataclass(kw_only=True, eq=False)
class Auction:
    """A run in progress. All of its state but the published counts is private.

    Args:
        rules: public.
        values: everybody's.
        counter: the counters' public parameters.
        noise: where the noise comes from.
        stream: first word of the draws' names.
        stepwise: whether each release is drawn around its true sums; by default where there are few of them.
    """

    rules: Rules
    values: Valuations
    counter: TreeCounter
    noise: Noise
    stream: str = "counts"
    stepwise: bool | None = None

    held: NDArray[np.int32] = field(init=False)
    seen: _Integers = field(init=False)
    latest: NDArray[np.int32] = field(init=False)
    bids: NDArray[np.int32] = field(init=False)
    published: _Integers = field(init=False)
    round: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        n, k = self.rules.people, self.rules.goods
        self.held, self.latest = np.full(n, FREE, dtype=np.int32), np.full(n, -1, dtype=np.int32)
        self.seen, self.bids = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int32)
        self.published = np.zeros(k, dtype=np.int64)
        self._changes: list[_Integers] = []
        self._supply = np.array(self.rules.supply, dtype=np.int64)
        self._starts = np.zeros(1, dtype=np.int64) if self.values.starts is None else self.values.starts
        self._sums = np.zeros((k, self.counter.levels), dtype=np.int64)
        self._noisy = np.zeros_like(self._sums)
        # The number of steps is public, and so is how the noise is asked for.
        stepwise = not many_steps(self.rules.horizon) if self.stepwise is None else self.stepwise
        self._running = self.counter.start(self.noise, self.stream) if stepwise else None

    def play_round(self) -> tuple[int, int]:
        """One round of bids, and its outbid holders; returns how many there are of either (private)."""
        before = int(self.bids.sum())
        for _ in self._slots() if self._running is not None else self._blocks():
            pass
        self.round += 1
        return int(self.bids.sum()) - before, int(outbid(self.held, self.seen, self.published, self._supply))

    def _slots(self) -> Iterator[None]:
        rules, running = self.rules, self._running
        increments = np.zeros(rules.goods, dtype=np.int64)
        for slot in range(rules.slots):
            start = slot * rules.batch
            bid(start, min(rules.people, start + rules.batch), self.values.values, self._starts, self.values.named,
                 self.values.dense, rules.prices(self.published), self.published, rules.bid_cap, self.held, self.seen,
                 self.latest, self.bids, increments)
            after = running.feed(increments)  # type: ignore[union-attr]
            moved = np.flatnonzero(after != self.published)
            step = self.round * rules.slots + slot + 1
            self._changes.append(np.stack([np.full(len(moved), step), moved, after[moved]], axis=1))
            self.published = after
            yield

    def _blocks(self) -> Iterator[None]:
        rules = self.rules
        width = max(1, _BLOCK // rules.goods)
        changes = np.empty((rules.goods * min(width, rules.slots), 3), dtype=np.int64)
        prices = rules.prices(self.published)
        for slot in range(0, rules.slots, width):
            size = (rules.goods, min(width, rules.slots - slot))
            drawn = self.counter._draw(self.noise, size, (self.stream, self.round, slot), None)
            found = _play(
                self.round * rules.slots + slot, slot, rules.batch, rules.people, self.values.values, self._starts,
                self.values.named, self.values.dense, rules.increment, self._supply, rules.bid_cap, self.counter.arity,
                self.counter.grid, drawn, self.held, self.seen, self.latest, self.bids, self._sums, self._noisy,
                self.published, prices, changes)
            self._changes.append(changes[:found].copy())
            yield

    @property
    def changes(self) -> Changes:
        """What was published so far, by good and step."""
        all_of = np.concatenate(self._changes) if self._changes else np.empty((0, 3), dtype=np.int64)
        order = np.lexsort((all_of[:, 0], all_of[:, 1]))
        return Changes(step=all_of[order, 0], good=all_of[order, 1].astype(np.int32), count=all_of[order, 2])
