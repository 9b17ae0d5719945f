"""An auction of bundles in progress: rounds of slots, and a release of all counts after each batch of them.

Between two releases nobody's bid depends on another's. Tables are played by compiled slots, programs one by one.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending.running import Running
from confide.allocation.bundles.bidders import Population, Table
from confide.allocation.bundles.kernels import bid, end_round, play
from confide.allocation.bundles.slots import BundleRules, Standing
from confide.privacy.noise import Noise
from confide.privacy.primitives.sessions import NoiseSession
from confide.privacy.tree_counter import TreeCounter

__all__ = ["BundleAuction", "favourite_bundles", "start_bundles", "still_wanting"]

_Integers = NDArray[np.int64]
_Reals = NDArray[np.float64]


class BundleAuction(Running):
    """A run in progress. All of its state but the published counts is private."""

    rules: BundleRules

    @abstractmethod
    def units(self) -> tuple[NDArray[np.int32], _Integers]:
        """(n, b) goods that everybody holds, -1 for none, and the counts that they saw; before the last are dropped."""


class _TableAuction(BundleAuction):
    def __init__(
        self, rules: BundleRules, table: Table, counter: TreeCounter, noise: Noise, stepwise: bool | None = None,
        session: NoiseSession | None = None,
    ) -> None:
        super().__init__(rules, counter, noise, stepwise=stepwise, session=session)
        n, b = rules.people, rules.bundle
        self._held, self._seen = np.full((n, b), -1, dtype=np.int32), np.zeros((n, b), dtype=np.int64)
        self._sizes, self._made = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
        self._idle = np.zeros(n, dtype=np.bool_)
        self._rows = (table.values, table.starts, table.named, table.dense, table.counted)
        self._in_slot, self._asking = rules.outbid_tests == "slot", rules.reports

    def _bids(self) -> int:
        return int(self._made.sum())

    def _slot(self, first: int, last: int, prices: _Reals) -> _Integers:
        increments = np.zeros(self.rules.goods, dtype=np.int64)
        bid(first, last, *self._rows, prices, self.published, self._supply, self.rules.bid_cap, self._in_slot,
            self._held, self._seen, self._sizes, self._made, self._idle, increments)
        return increments

    def _play(self, slot: int, drawn: _Integers, prices: _Reals, changes: _Integers) -> int:
        rules = self.rules
        return int(play(self.round * rules.slots + slot, slot, rules.batch, *self._rows, rules.increment, self._supply,
                        rules.bid_cap, self._in_slot, self.counter.arity, self.counter.grid, drawn, self._held,
                        self._seen, self._sizes, self._made, self._idle, self._sums, self._noisy, self.published,
                        prices, changes))

    def _end(self, prices: _Reals) -> int:
        if self._in_slot and not self._asking:
            return 0
        return int(end_round(*self._rows, prices, self.published, self._supply, self.rules.bid_cap, not self._in_slot,
                             self._asking, self._held, self._seen, self._sizes, self._made, self._idle))

    def units(self) -> tuple[NDArray[np.int32], _Integers]:
        return self._held, self._seen


class _ListAuction(BundleAuction):
    """Programs, one by one: each release is drawn around its true sums, however many there are."""

    def __init__(
        self, rules: BundleRules, population: Population, counter: TreeCounter, noise: Noise,
        session: NoiseSession | None = None,
    ) -> None:
        super().__init__(rules, counter, noise, stepwise=True, session=session)
        self._bidders = [population.bidder(i) for i in range(rules.people)]
        self._standings = [Standing() for _ in self._bidders]

    def _bids(self) -> int:
        return sum(standing.bids for standing in self._standings)

    def _slot(self, first: int, last: int, prices: _Reals) -> _Integers:
        increments = np.zeros(self.rules.goods, dtype=np.int64)
        for i in range(first, last):
            good = self._standings[i].slot(self._bidders[i], prices, self.published, self.rules)
            if good >= 0:
                increments[good] += 1
        return increments

    def _play(self, slot: int, drawn: _Integers, prices: _Reals, changes: _Integers) -> int:
        raise NotImplementedError

    def _end(self, prices: _Reals) -> int:
        return sum(standing.round_end(bidder, prices, self.published, self.rules)
                   for standing, bidder in zip(self._standings, self._bidders, strict=True))

    def units(self) -> tuple[NDArray[np.int32], _Integers]:
        held = np.full((self.rules.people, self.rules.bundle), -1, dtype=np.int32)
        seen = np.zeros(held.shape, dtype=np.int64)
        for i, standing in enumerate(self._standings):
            held[i, : len(standing.goods)], seen[i, : len(standing.goods)] = standing.goods, standing.seen
        return held, seen


def start_bundles(
    rules: BundleRules, population: Population, counter: TreeCounter, noise: Noise, *, stepwise: bool | None = None,
    session: NoiseSession | None = None,
) -> BundleAuction:
    """An auction before its first round.

    Args:
        rules: public.
        population: everybody's valuations.
        counter: the counters' public parameters.
        noise: where the noise comes from.
        stepwise: as `Running` has it; programs are always played so.
        session: what pays for the noise, as `Running` has it.
    """
    if population.table is None:
        return _ListAuction(rules, population, counter, noise, session)
    return _TableAuction(rules, population.table, counter, noise, stepwise, session)


def favourite_bundles(population: Population, bundle: int) -> NDArray[np.int32]:
    """(n, b) what everybody likes best where all is free; -1 for none. Private.

    Args:
        population: everybody's valuations.
        bundle: b.
    """
    n, k, table = population.people, population.goods, population.table
    held = np.full((n, bundle), -1, dtype=np.int32)
    if table is None:
        for i in range(n):
            goods = population.bidder(i).demand((), np.zeros(k), bundle)
            held[i, : len(goods)] = goods
        return held
    state = (held, np.zeros((n, bundle), dtype=np.int64), np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32),
             np.zeros(n, dtype=np.bool_))
    nothing = np.zeros(k, dtype=np.int64)
    for _ in range(bundle):
        bid(0, n, table.values, table.starts, table.named, table.dense, table.counted, np.zeros(k), nothing, nothing,
            bundle, False, *state, np.zeros(k, dtype=np.int64))
    return held


def still_wanting(population: Population, held: NDArray[Any], prices: _Reals) -> int:
    """How many would add a good to their bundle at some prices, if they might. Private.

    Args:
        population: everybody's valuations.
        held: (n, b) goods, -1 for none.
        prices: (k,).
    """
    (n, b), table = held.shape, population.table
    sizes = (held >= 0).sum(axis=1).astype(np.int32)
    if table is None:
        return sum(int(size) < b and population.bidder(i).pick([good for good in row if good >= 0], prices) >= 0
                   for i, (size, row) in enumerate(zip(sizes, held.tolist(), strict=True)))
    first = np.sort(held, axis=1)[:, ::-1].astype(np.int32)  # goods, then -1
    nothing = np.zeros(len(prices), dtype=np.int64)
    return int(end_round(table.values, table.starts, table.named, table.dense, table.counted, prices, nothing, nothing,
                         1, False, True, np.ascontiguousarray(first), np.zeros((n, b), dtype=np.int64), sizes,
                         np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.bool_)))
