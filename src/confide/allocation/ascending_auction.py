"""An ascending auction in progress. Bidders bid in batches, and the noisy counts of bids on all goods are released
after each batch.

Between two releases of the counts no bidder's bid depends on any other bidder's bid, so the bidders of a batch may bid
in any order. Bidders learn about each other from the published counts alone. Counts are released after every batch,
even a batch without a bid, so the times of the releases are public.

The module holds the compiled steps of a bidder who bids on single goods, and the run of all rounds.

Source: Wu 2017, Algorithm 4, corrected; spec allocation 3.1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.allocation.valuations import Valuations
from confide.contract.wire import wire
from confide.privacy.noise import Noise
from confide.privacy.primitives.sessions import NoiseSession
from confide.privacy.tree_counter import TreeCounter
from confide.privacy.tree_kernel import advance

__all__ = ["COUNTS", "FREE", "OUT", "Auction", "Changes", "Rules", "Running", "bid", "many_steps", "outbid", "publish"]

# ---- running

COUNTS = "counts"
"""Name of the privacy charge for the counters of bids. The names of the counters' noise draws begin with the same word.
"""

_STEPWISE = 2**12
"""Largest number of releases in a run for which the noise is drawn release by release, around the true sums. With noise
around true sums, an audit can replay a neighbouring data set with the same published counts.
"""
_BLOCK = 2**20  # noises that are held at once

_Integers = NDArray[np.int64]
_Reals = NDArray[np.float64]


def many_steps(horizon: int) -> bool:
    """Whether the noise of a run with `horizon` releases is drawn in blocks of many releases, and then added to the
    counts.

    Args:
        horizon: public number of releases in all rounds.
    """
    return horizon > _STEPWISE


@wire("Rules", "people goods supply increment rounds batch bid_cap charge")
@dataclass(frozen=True, kw_only=True)
class Rules:
    """The public rules of an auction, by which every bidder bids.

    Args:
        people: number n of positions for bidders. The positions are public and in a fixed order, and some may be empty.
        goods: number k of goods.
        supply: effective supply s'_j of each good j: the number of copies less the reserve. A holder of good j is
            outbid when more than s'_j bids on good j were counted after the holder's own bid.
        increment: step alpha from one price to the next.
        rounds: largest number R of rounds.
        batch: number g of consecutive bidders who bid between two releases of the counts.
        bid_cap: largest number C of bids of one bidder.
        charge: whether holders pay the final price. If they do, no bidder takes a good that is worth less to them than
            the final price.
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
        """Number of releases of the counts in one round, ceil(n/g), for n bidders in batches of g."""
        return -(-self.people // self.batch)

    @property
    def horizon(self) -> int:
        """Number N of releases of the counts in all rounds together."""
        return self.rounds * self.slots

    def prices(self, counts: NDArray[Any]) -> _Reals:
        """The prices p_j = alpha floor(count_j / s'_j) at given counts, shape (k,). Each price is rounded once, to a
        floating-point number.

        Args:
            counts: published counts of bids, shape (k,).
        """
        prices: _Reals = self.increment * (np.asarray(counts) // np.array(self.supply, dtype=np.int64)).astype(float)
        return prices


@dataclass(frozen=True, kw_only=True)
class Changes:
    """The changes of the published counts, from which the counts after each release follow.

    Args:
        step: number of the release of each of c changes, from 1, shape (c,).
        good: good whose count changed, shape (c,).
        count: published count of that good from the release on, shape (c,).
    """

    step: _Integers
    good: NDArray[np.int32]
    count: _Integers


@kernel
def publish(
    step: int, arity: int, grid: int, increment: float, supply: _Integers, increments: _Integers, drawn: _Integers,
    sums: _Integers, noisy: _Integers, published: _Integers, before: _Integers, prices: _Reals, changes: _Integers,
    found: int,
) -> int:
    """Make one release of the counts, with noise from a block, and update the prices. Returns the number of changes of
    counts that are recorded so far, including the changes of this release.
    """
    before[:] = published
    advance(step, arity, grid, True, increments, drawn, sums, noisy, published)
    for j in range(len(prices)):
        if published[j] != before[j]:
            prices[j] = increment * np.float64(published[j] // supply[j])
            changes[found, 0], changes[found, 1], changes[found, 2] = step, j, published[j]
            found += 1
    return found


class Running(ABC):
    """An auction run in progress. The state of the auction is private, except for the published counts.

    Args:
        rules: public rules of the auction.
        counter: public parameters of the counters of bids.
        noise: source of the noise.
        stream: first word of the names of the noise draws.
        stepwise: whether each release makes its own draw, of the true sums plus noise. If False, the noise of many
            releases is drawn in one block, and the run adds the noise to the counts. The default is True for runs with
            few releases.
        session: session that charges the privacy loss of the noise. By default a session is opened that charges the
            loss under the name `COUNTS`.
    """

    def __init__(
        self, rules: Rules, counter: TreeCounter, noise: Noise, stream: str = COUNTS, *, stepwise: bool | None = None,
        session: NoiseSession | None = None,
    ) -> None:
        self.rules, self.counter, self.stream = rules, counter, stream
        self.round = 0
        self.published = np.zeros(rules.goods, dtype=np.int64)
        self._changes: list[_Integers] = []
        self._supply = np.array(rules.supply, dtype=np.int64)
        self._sums = np.zeros((rules.goods, counter.levels), dtype=np.int64)
        self._noisy = np.zeros_like(self._sums)
        # The number of steps is public, and so is how the noise is asked for.
        by_step = not many_steps(rules.horizon) if stepwise is None else stepwise
        self.session = counter.open(noise, stream, line=COUNTS) if session is None else session
        self._running = counter.start_within(self.session, "block", stream) if by_step else None

    @abstractmethod
    def _bids(self) -> int:
        """Number of bids so far."""

    @abstractmethod
    def _slot(self, first: int, last: int, prices: _Reals) -> _Integers:
        """Let the bidders from position `first` to position `last` - 1 bid. Returns the number of new bids on each
        good, shape (k,).
        """

    @abstractmethod
    def _play(self, slot: int, drawn: _Integers, prices: _Reals, changes: _Integers) -> int:
        """Play some slots of the current round with noise that is already drawn. A slot is the turn of one batch to
        bid, and ends with one release. Returns the number of changes of counts.

        Args:
            slot: first slot that is played.
            drawn: noise, shape (k, slots).
            prices: prices at the published counts, shape (k,), updated in place.
            changes: output array of shape (.., 3), filled with release, good and count of each change.
        """

    @abstractmethod
    def _end(self, prices: _Reals) -> int:
        """Finish a round. Returns the number of unsatisfied bidders."""

    def play_round(self) -> tuple[int, int]:
        """Play one round. Returns two private numbers: the number of bids in the round, and the number of bidders who
        are unsatisfied at the end of the round.
        """
        before = self._bids()
        if self._running is not None:
            self._slots()
        else:
            self._blocks()
        self.round += 1
        return self._bids() - before, self._end(self.rules.prices(self.published))

    def _slots(self) -> None:
        rules = self.rules
        for slot in range(rules.slots):
            start = slot * rules.batch
            increments = self._slot(start, min(rules.people, start + rules.batch), rules.prices(self.published))
            after = self._running.feed(increments)  # type: ignore[union-attr]
            moved = np.flatnonzero(after != self.published)
            step = self.round * rules.slots + slot + 1
            self._changes.append(np.stack([np.full(len(moved), step), moved, after[moved]], axis=1))
            self.published = after

    def _blocks(self) -> None:
        rules = self.rules
        width = max(1, _BLOCK // rules.goods)
        changes = np.empty((rules.goods * min(width, rules.slots), 3), dtype=np.int64)
        prices = rules.prices(self.published)
        for slot in range(0, rules.slots, width):
            size = (rules.goods, min(width, rules.slots - slot))
            drawn = self.counter.draw_block(self.session, size, (self.stream, self.round, slot))
            found = self._play(slot, drawn, prices, changes)
            self._changes.append(changes[:found].copy())

    @property
    def changes(self) -> Changes:
        """All changes of published counts so far, ordered by good, then by release."""
        all_of = np.concatenate(self._changes) if self._changes else np.empty((0, 3), dtype=np.int64)
        order = np.lexsort((all_of[:, 0], all_of[:, 1]))
        return Changes(step=all_of[order, 0], good=all_of[order, 1].astype(np.int32), count=all_of[order, 2])


# ---- auction

FREE, OUT = -1, -2
"""Codes for bidders who hold no good: FREE may bid again, OUT does not bid any more."""


@kernel
def bid(
    first: int, last: int, values: NDArray[Any], starts: _Integers, named: NDArray[np.int32], dense: bool,
    prices: _Reals, published: _Integers, cap: int, held: NDArray[np.int32], seen: _Integers,
    latest: NDArray[np.int32], bids: NDArray[np.int32], increments: _Integers,
) -> None:
    """Let each bidder without a good, from position `first` to position `last` - 1, bid on the good with the largest
    gain (value less price), if this gain is positive.
    """
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
            latest[i] = -1  # no price that the bidder would pay
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
    """Play some slots of a round, with one release after each slot. Returns the number of changes of counts, which are
    written to `changes`, shape (.., 3).
    """
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
    """Free each holder who was outbid, because more bids than the good's effective supply were counted after the
    holder's bid. Returns the number of freed holders.
    """
    freed = 0
    for i in range(len(held)):
        j = held[i]
        if j >= 0 and published[j] - seen[i] > supply[j]:
            held[i] = -1
            freed += 1
    return freed


class Auction(Running):
    """An auction of single goods in progress. The state of the auction is private, except for the published counts.

    Args:
        rules: public rules of the auction.
        values: valuations of all bidders.
        counter: public parameters of the counters of bids.
        noise: source of the noise.
        stream: first word of the names of the noise draws.
        stepwise: whether each release makes its own draw, of the true sums plus noise. If False, the noise of many
            releases is drawn in one block, and the run adds the noise to the counts. The default is True for runs with
            few releases.
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
