"""An auction of bundles in progress: rounds of slots, and a release of all counts after each batch of them.

Between two releases nobody's bid depends on another's. Tables are played by compiled slots, programs one by one.

How far one bidder moves what an auction of bundles counts: bids, and reports at the end of each round.

Write b_r, b'_r in {0, 1} for whether the bidder bids in round r in either of two neighbouring worlds, u_r, u'_r for the
report at its end (they would bid once more, and have a bid left), x_r for the l1 distance of their bids,
y_r = |u_r - u'_r|. Everybody else's state follows from the public record and their own row, so along one history only
these differ. A bidder bids once a round at most, C times in all, so x_r <= b_r + b'_r <= 2 and the x_r add up to
2 min(C, R) at most. Nobody asks after the last round.

Whoever declines in their slot is idle: they neither bid nor report until they lose a good. (At prices that only rise
that changes nothing for any valuation; the auction enforces it, so a program that contradicts itself is bound too.)

The first bid is in round 1, in either world: who declines then holds nothing that they could lose. A report leaves a
bid, so bidders report after min(C, R) - 1 of their bids at most, and what they say in round 1 counts once for both
worlds.

*Slot tests* (the print). Goods are dropped in the bidder's slot, right before they bid or decline. So u_r = 1 only
where b_r = 1: had they declined in slot r they would be idle at its end. After round 1 that leaves min(C, R) - 2
reports in either world. All together, with C, R >= 2,

    x + y <= 2 min(C, R) + min(R - 1, 2 min(C, R) - 3).

Without a cap, and with a report after the last round as in the print, that is 3R, and it is reached: a bidder may hold
all that they want when the round ends, and lose a good before their next slot. The printed proof has 2R.

*Round-end tests.* Goods are dropped at the end of a round, before the report. So u_r = 1 where b_r = 1, or where the
bidder lost a good at the end of round r; they lose no more goods than they bid on, so after round 1 there are 2
min(C, R) - 3 reports in either world. And a report u_r = 0 keeps them from bidding in round r + 1, since no good is
dropped in between: y_r = 1 leaves one possible bidder, x_{r+1} + y_r <= 2. With x_1 <= 2 all together are 2R at most,
or 2R + 1 with a report after the last round.

So where no cap binds (C >= R), reports cost nothing beside round-end tests if their noise is large enough: with blocks
of bids at scale a, a bid of round r + 1 in M >= 1 of them, and blocks of reports at scale q a, a report in q of them at
most, x M/a + y q/(q a) <= 2M/a, which is what the bids are paid for. With C < R, slot tests have the smaller distance.

*Bids as reports* (CountBids): y_r = |b_r - b'_r|.

Source: Wu 2017, Algorithm 6 (Theorem 4.4.1, corrected); spec allocation 3.2 and 5, for bid caps and free reports ours.

A bidder's slot in an auction of bundles, in plain numbers: the same steps on their device and in the auction.

Goods that bidders hold have the price that they were won at; one more good has today's. In their slot they drop what
was outbid, then bid on one good of a most-preferred superset of what they still hold, if that is strictly better.

Source: Wu 2017, Algorithm 6, corrected; spec allocation 5.

The slots of an auction of bundles for valuations that are tables: `bundle_slots`, compiled.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.allocation.ascending_auction import Rules, Running, publish
from confide.allocation.bundles.bidders import Bidder, BundleClass, Population, Table
from confide.contract.checks import one_of, whole
from confide.contract.wire import wire
from confide.privacy.noise import Noise
from confide.privacy.primitives.sessions import NoiseSession
from confide.privacy.tree_counter import TreeCounter

__all__ = [
    "BundleAuction",
    "BundleRules",
    "OutbidTests",
    "Standing",
    "bid",
    "end_round",
    "favourite_bundles",
    "free_reports",
    "joint_distance",
    "play",
    "report_distance",
    "start_bundles",
    "still_wanting",
]

# ---- exposure

OutbidTests = Literal["slot", "round_end"]


def report_distance(*, rounds: int, bid_cap: int, tests: OutbidTests, worlds: int = 2) -> int:
    """How far one neighbour step moves the reports of all rounds but the last together, in l1; at least 1.

    Args:
        rounds: R >= 1.
        bid_cap: C >= 1.
        tests: when goods are dropped: "slot" or "round_end".
        worlds: number of worlds in which the bidder has a row that is not zero: 2, or 1 where they are replaced by
            zeros.

    Example:
        >>> [report_distance(rounds=30, bid_cap=8, tests=tests) for tests in ("slot", "round_end")]
        [13, 27]
    """
    one_of("outbid_tests", tests, ("slot", "round_end"))
    asked = whole("rounds", rounds, at_least=1) - 1
    return max(1, min(asked, _reports(min(whole("bid_cap", bid_cap, at_least=1), rounds), tests, worlds)))


def _reports(bids: int, tests: OutbidTests, worlds: int) -> int:
    """Reports that differ, of who makes so many bids at most: one in round 1, and then those of each world."""
    if bids < 2:
        return 0
    return 1 + worlds * (bids - 2 if tests == "slot" else 2 * bids - 3)


def joint_distance(*, rounds: int, bid_cap: int, tests: OutbidTests, last_report: bool = False) -> int:
    """How far replacing a bidder moves bids and reports together, in l1.

    Args:
        rounds: R >= 1.
        bid_cap: C >= 1.
        tests: when goods are dropped.
        last_report: whether there is a report after the last round too, as in the print.

    Example:
        >>> [joint_distance(rounds=3, bid_cap=3, tests=tests, last_report=True) for tests in ("slot", "round_end")]
        [9, 7]
    """
    bids = 2 * min(bid_cap, rounds)
    if bid_cap >= rounds:
        last = 1 if last_report else 0
        return bids + (rounds - 1 if tests == "slot" else 0) + last
    # A capped bidder has no bid left after R of them, and a report after the last round is one like any other.
    asked = rounds if last_report else rounds - 1
    together = bids + min(asked, _reports(bid_cap, tests, 2))
    return together if tests == "slot" else min(together, 2 * rounds + (1 if last_report else 0))


def free_reports(*, rounds: int, bid_cap: int, tests: OutbidTests, worlds: int) -> bool:
    """Whether reports cost nothing where their noise is large enough: round-end tests, no cap that binds, and a bidder
    who may bid in both worlds, since one world's bid takes none from the other's.
    """
    return tests == "round_end" and bid_cap >= rounds and worlds == 2


# ---- slots


@wire("BundleRules", "people goods supply increment rounds batch bid_cap charge valuation bundle outbid_tests reports")
@dataclass(frozen=True, kw_only=True)
class BundleRules(Rules):
    """The public rules that everybody bids on bundles by.

    Args:
        valuation: the class of everybody's valuation.
        bundle: b, goods that one bidder may hold; who holds as many does not bid.
        outbid_tests: when goods are dropped: in the "slot" of who holds them, or at "round_end".
        reports: whether everybody is asked at the end of a round if they would bid once more.
    """

    valuation: BundleClass
    bundle: int
    outbid_tests: OutbidTests = "slot"
    reports: bool = False


@dataclass(kw_only=True, slots=True)
class Standing:
    """How one bidder stands. Private.

    Args:
        goods: goods that the bidder holds, in the order in which they were won.
        seen: the count of each just before the bid on it.
        bids: number of bids made.
        idle: whether nothing adds more than its price to what is held; so it stays until the bidder loses a good.
    """

    goods: list[int] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)
    bids: int = 0
    idle: bool = False

    def drop(self, counts: NDArray[np.int64], rules: Rules) -> None:
        """Drop the goods after whose bid too many others were counted.

        Args:
            counts: (k,) counts as published.
            rules: the auction's rules.
        """
        if self.bids >= rules.bid_cap:  # she never bids again: the end decides
            return
        kept = [(good, seen) for good, seen in zip(self.goods, self.seen, strict=True)
                if int(counts[good]) - seen <= rules.supply[good]]
        if len(kept) < len(self.goods):
            self.goods, self.seen = [good for good, _ in kept], [seen for _, seen in kept]
            self.idle = False

    def wants(self, bidder: Bidder, prices: NDArray[Any], rules: BundleRules) -> int:
        """The good that the bidder would bid on, -1 for none.

        Args:
            bidder: the bidder's valuation.
            prices: (k,) prices of one more of each good.
            rules: the auction's rules.
        """
        if self.bids >= rules.bid_cap or self.idle or len(self.goods) >= rules.bundle:
            return -1
        good = bidder.pick(self.goods, prices)
        self.idle = good < 0
        return good

    def slot(self, bidder: Bidder, prices: NDArray[Any], counts: NDArray[np.int64], rules: BundleRules) -> int:
        """Play the bidder's slot; returns the good that they bid on, -1 for none.

        Args:
            bidder: the bidder's valuation.
            prices: (k,) prices of the last release.
            counts: (k,) counts of the last release.
            rules: the auction's rules.
        """
        if rules.outbid_tests == "slot":
            self.drop(counts, rules)
        good = self.wants(bidder, prices, rules)
        if good >= 0:
            self.goods.append(good)
            self.seen.append(int(counts[good]))
            self.bids += 1
        return good

    def round_end(self, bidder: Bidder, prices: NDArray[Any], counts: NDArray[np.int64], rules: BundleRules) -> bool:
        """Play the end of a round; returns whether the bidder would bid once more, where anybody asks."""
        if rules.outbid_tests == "round_end":
            self.drop(counts, rules)
        return rules.reports and self.wants(bidder, prices, rules) >= 0


# ---- kernels

_Integers = NDArray[np.int64]
_Goods = NDArray[np.int32]
_Reals = NDArray[np.float64]


@kernel
def _pick(
    i: int, size: int, values: NDArray[Any], starts: _Integers, named: _Goods, dense: bool, counted: bool,
    prices: _Reals, held: _Goods,
) -> int:
    """What a bidder who holds `size` goods bids on; -1 for nothing."""
    goods = len(prices)
    best, surplus = -1, 0.0
    if counted:
        more = values[starts[i] + size + 1] - values[starts[i] + size]
        for j in range(goods):
            if more - prices[j] > surplus:
                best, surplus = j, more - prices[j]
        return best
    first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
    for x in range(first, last):
        j = x - first if dense else named[x]
        gain = np.float64(values[x]) - prices[j]
        if gain > surplus:
            mine = False
            for place in range(size):
                mine = mine or held[i, place] == j
            if not mine:
                best, surplus = j, gain
    return best


@kernel
def _drop(i: int, published: _Integers, supply: _Integers, held: _Goods, seen: _Integers, sizes: _Goods) -> bool:
    """Goods after whose bid too many others were counted are gone; whether there were any."""
    kept = 0
    for place in range(sizes[i]):
        j = held[i, place]
        if published[j] - seen[i, place] <= supply[j]:
            held[i, kept], seen[i, kept] = j, seen[i, place]
            kept += 1
    lost: bool = kept < sizes[i]
    for place in range(kept, sizes[i]):
        held[i, place] = -1
    sizes[i] = kept
    return lost


@kernel
def bid(
    first: int, last: int, values: NDArray[Any], starts: _Integers, named: _Goods, dense: bool, counted: bool,
    prices: _Reals, published: _Integers, supply: _Integers, cap: int, in_slot: bool, held: _Goods, seen: _Integers,
    sizes: _Goods, bids: _Goods, idle: NDArray[np.bool_], increments: _Integers,
) -> None:
    """The slots of bidders `first` to `last`: drop what was outbid where that is tested there, then bid."""
    increments[:] = 0
    for i in range(first, last):
        if bids[i] >= cap:
            continue
        if in_slot and _drop(i, published, supply, held, seen, sizes):
            idle[i] = False
        if idle[i] or sizes[i] >= held.shape[1]:
            continue
        j = _pick(i, sizes[i], values, starts, named, dense, counted, prices, held)
        if j < 0:
            idle[i] = True
            continue
        held[i, sizes[i]], seen[i, sizes[i]] = j, published[j]
        sizes[i] += 1
        bids[i] += 1
        increments[j] += 1


@kernel
def end_round(
    values: NDArray[Any], starts: _Integers, named: _Goods, dense: bool, counted: bool, prices: _Reals,
    published: _Integers, supply: _Integers, cap: int, dropping: bool, asking: bool, held: _Goods, seen: _Integers,
    sizes: _Goods, bids: _Goods, idle: NDArray[np.bool_],
) -> int:
    """The end of a round: drop what was outbid where that is tested there; how many would bid once more, if asked."""
    found = 0
    for i in range(len(sizes)):
        if bids[i] >= cap:
            continue
        if dropping and _drop(i, published, supply, held, seen, sizes):
            idle[i] = False
        if not asking or idle[i] or sizes[i] >= held.shape[1]:
            continue
        if _pick(i, sizes[i], values, starts, named, dense, counted, prices, held) >= 0:
            found += 1
        else:
            idle[i] = True
    return found


@kernel
def play(
    step: int, slot: int, batch: int, values: NDArray[Any], starts: _Integers, named: _Goods, dense: bool,
    counted: bool, increment: float, supply: _Integers, cap: int, in_slot: bool, arity: int, grid: int,
    noise: _Integers, held: _Goods, seen: _Integers, sizes: _Goods, bids: _Goods, idle: NDArray[np.bool_],
    sums: _Integers, noisy: _Integers, published: _Integers, prices: _Reals, changes: _Integers,
) -> int:
    """Some slots of a round, one release each; returns how many counts changed, written to `changes` (.., 3)."""
    goods, people = len(prices), len(sizes)
    increments, before = np.zeros(goods, dtype=np.int64), np.empty(goods, dtype=np.int64)
    drawn = np.empty(goods, dtype=np.int64)
    found = 0
    for number in range(noise.shape[1]):
        start = (slot + number) * batch
        bid(start, min(people, start + batch), values, starts, named, dense, counted, prices, published, supply, cap,
            in_slot, held, seen, sizes, bids, idle, increments)
        drawn[:] = noise[:, number]
        found = publish(step + number + 1, arity, grid, increment, supply, increments, drawn, sums, noisy, published,
                        before, prices, changes, found)
    return found


# ---- auction


class BundleAuction(Running):
    """A run in progress. All of its state but the published counts is private."""

    rules: BundleRules

    @abstractmethod
    def units(self) -> tuple[NDArray[np.int32], _Integers]:
        """Goods that everybody holds, (n, b), -1 for none, and counts that they saw; before the last are dropped."""


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
        session: the session that pays for the noise, as `Running` has it.
    """
    if population.table is None:
        return _ListAuction(rules, population, counter, noise, session)
    return _TableAuction(rules, population.table, counter, noise, stepwise, session)


def favourite_bundles(population: Population, bundle: int) -> NDArray[np.int32]:
    """The goods that everybody likes best where all is free, (n, b); -1 for none. Private.

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
