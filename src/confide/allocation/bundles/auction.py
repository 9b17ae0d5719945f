"""An auction of bundles in progress: bidders bid batch by batch, and all noisy bid counts are released after each
batch.

Between two releases of the counts no bidder's bid depends on any other bidder's bid. Compiled code takes the steps of
bidders with valuations in a table. Bidders with valuations that are programs are asked one by one. A bidder's own
device takes the same steps as the auction.

*The steps of a bidder.* A good that a bidder holds is priced at the price at which they won it. One more good is priced
at the current price. In their slot (turn to bid) bidders drop the goods on which they were outbid. After that, bidders
bid on one good of a most-preferred superset of the goods that they still hold, if that superset is strictly better than
the held goods.

Source: Wu 2017, Algorithm 6, corrected; spec allocation 5.

*The sensitivity of the counts.* How much can one bidder change the bids, and the reports at the end of each round? Take
two neighbouring data sets, called worlds, and one public history. In round r of the two worlds let

    b_r, b'_r in {0, 1}: whether the bidder bids
    u_r, u'_r in {0, 1}: the report at the end, whether the bidder would bid once more and has a bid left
    x_r: the l1 distance between the bids of the two worlds
    y_r = |u_r - u'_r|

The state of every other bidder follows from the public history and their own row, so along one history only the numbers
of this bidder differ. A bidder bids at most once in a round and at most C times in all. So x_r <= b_r + b'_r <= 2, and
the sum of all x_r is at most 2 min(C, R), where R is the number of rounds. After the last round there is no report.

A bidder who declines in their slot is idle: they neither bid nor report until they lose a good. At prices that only
rise, the rule on idle bidders changes nothing for any valuation. The auction enforces the rule, so the rule also binds
a program that contradicts itself.

In either world the first bid is in round 1, since a bidder who declines in round 1 holds nothing that they could lose.
A report says that a bid is left, so a bidder reports after at most min(C, R) - 1 of their bids. The reports of round 1
differ by at most one between the two worlds, so round 1 adds at most one to the distance, and not one for each world.

*Slot tests*, as in the printed algorithm. Goods are dropped in the bidder's slot, right before the bidder bids or
declines. So u_r = 1 only if b_r = 1: a bidder who declines in slot r is idle at the end of round r. After round 1 the
bidder therefore makes at most min(C, R) - 2 reports in either world. Bids and reports together satisfy, for C, R >= 2,

    x + y <= 2 min(C, R) + min(R - 1, 2 min(C, R) - 3).

Without a cap, and with a report after the last round as in the printed algorithm, the bound is 3R. The bound is
attained: a bidder may hold all that they want when the round ends, and lose a good before their next slot. The printed
proof has 2R in place of 3R.

*Round-end tests.* Goods are dropped at the end of a round, before the report. So u_r = 1 only if b_r = 1 or the bidder
lost a good at the end of round r. Bidders lose at most as many goods as they bid on, so after round 1 there are at most
2 min(C, R) - 3 reports in either world. A report u_r = 0 keeps the bidder from bidding in round r + 1, since no good is
dropped in between. So if the reports of round r differ (y_r = 1), only one of the two worlds can bid in round r + 1,
and x_{r+1} + y_r <= 2. With x_1 <= 2, the total is at most 2R, or 2R + 1 with a report after the last round.

Therefore, with round-end tests and a cap that does not bind (C >= R), reports cost nothing as long as their noise is
large enough. Let blocks of bids have noise scale a, and blocks of reports noise scale q a. A bid of round r + 1 lies in
M >= 1 blocks, and a report in at most q blocks. Then

    x M/a + y q/(q a) <= 2M/a.

The charge for the bids already covers the bound 2M/a. If C < R, slot tests have the smaller sensitivity.

*Bids as reports* (CountBids): y_r = |b_r - b'_r|.

Source: Wu 2017, Algorithm 6 (Theorem 4.4.1, corrected); spec allocation 3.2 and 5. The results on bid caps and free
reports are ours.
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
    """The largest l1 distance, at least 1, between the reports of two neighbouring data sets, over all rounds except
    the last. A report says that a bidder would bid once more.

    Args:
        rounds: number R >= 1 of rounds.
        bid_cap: largest number C >= 1 of bids of one bidder.
        tests: time at which bidders drop outbid goods: "slot" for the bidder's own slot, or "round_end" for the end of
            a round.
        worlds: number of the two neighbouring data sets in which the bidder's row may be nonzero: 2, or 1 if neighbours
            replace a row by zeros.

    Example:
        >>> [report_distance(rounds=30, bid_cap=8, tests=tests) for tests in ("slot", "round_end")]
        [13, 27]
    """
    one_of("outbid_tests", tests, ("slot", "round_end"))
    asked = whole("rounds", rounds, at_least=1) - 1
    return max(1, min(asked, _reports(min(whole("bid_cap", bid_cap, at_least=1), rounds), tests, worlds)))


def _reports(bids: int, tests: OutbidTests, worlds: int) -> int:
    """Largest number of reports that differ for a bidder with at most `bids` bids: one in round 1, and the later
    reports of each data set.
    """
    if bids < 2:
        return 0
    return 1 + worlds * (bids - 2 if tests == "slot" else 2 * bids - 3)


def joint_distance(*, rounds: int, bid_cap: int, tests: OutbidTests, last_report: bool = False) -> int:
    """The largest l1 distance between the bids and reports together of two data sets that differ in one replaced
    bidder.

    Args:
        rounds: number R >= 1 of rounds.
        bid_cap: largest number C >= 1 of bids of one bidder.
        tests: time at which bidders drop outbid goods: "slot" for the bidder's own slot, or "round_end" for the end of
            a round.
        last_report: whether there is a report after the last round too, as in the printed algorithm.

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
    """Whether reports cost no privacy beyond that of the bids, if the noise of the reports is large enough.

    Reports are free only with round-end tests, a cap that does not bind, and a bidder who may bid in both neighbouring
    data sets. If the bidder bids in one data set only, a report does not prevent a bid in the other.
    """
    return tests == "round_end" and bid_cap >= rounds and worlds == 2


# ---- slots


@wire("BundleRules", "people goods supply increment rounds batch bid_cap charge valuation bundle outbid_tests reports")
@dataclass(frozen=True, kw_only=True)
class BundleRules(Rules):
    """The public rules of an auction of bundles, by which every bidder bids.

    Args:
        valuation: class of all bidders' valuations.
        bundle: largest number b of goods that one bidder may hold. A bidder who holds b goods does not bid.
        outbid_tests: time at which outbid goods are dropped: "slot", when the holder may bid, or "round_end", at the
            end of each round.
        reports: whether bidders report, at the end of each round, whether they would bid once more.
    """

    valuation: BundleClass
    bundle: int
    outbid_tests: OutbidTests = "slot"
    reports: bool = False


@dataclass(kw_only=True, slots=True)
class Standing:
    """The state of one bidder in an auction of bundles. The state is private.

    Args:
        goods: goods that the bidder holds, in the order in which they were won.
        seen: for each held good, the published count of bids on the good just before the bidder's bid on that good.
        bids: number of bids that the bidder has made.
        idle: whether the bidder declined to bid, because no further good adds more than its price. An idle bidder stays
            idle until they lose a good.
    """

    goods: list[int] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)
    bids: int = 0
    idle: bool = False

    def drop(self, counts: NDArray[np.int64], rules: Rules) -> None:
        """Drop each good on which the bidder was outbid, because more bids than the good's effective supply were
        counted after the bidder's bid. A bidder without a bid left drops nothing before the end of the auction.

        Args:
            counts: published counts of bids on each good, shape (k,).
            rules: public rules of the auction.
        """
        if self.bids >= rules.bid_cap:  # no bid follows: the end decides
            return
        kept = [(good, seen) for good, seen in zip(self.goods, self.seen, strict=True)
                if int(counts[good]) - seen <= rules.supply[good]]
        if len(kept) < len(self.goods):
            self.goods, self.seen = [good for good, _ in kept], [seen for _, seen in kept]
            self.idle = False

    def wants(self, bidder: Bidder, prices: NDArray[Any], rules: BundleRules) -> int:
        """The good that the bidder would bid on, or -1 for none.

        Args:
            bidder: valuation of the bidder.
            prices: price of one more copy of each good, shape (k,).
            rules: public rules of the auction.
        """
        if self.bids >= rules.bid_cap or self.idle or len(self.goods) >= rules.bundle:
            return -1
        good = bidder.pick(self.goods, prices)
        self.idle = good < 0
        return good

    def slot(self, bidder: Bidder, prices: NDArray[Any], counts: NDArray[np.int64], rules: BundleRules) -> int:
        """Play the bidder's turn in a round. Returns the good that the bidder bids on, or -1 for none.

        Args:
            bidder: valuation of the bidder.
            prices: prices after the last release, shape (k,).
            counts: published counts of bids on each good after the last release, shape (k,).
            rules: public rules of the auction.
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
        """Play the end of a round. Returns whether the bidder would bid once more; always False in auctions without
        reports.
        """
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
    """The good that bidder `i`, who holds `size` goods, bids on; -1 for none."""
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
    """Drop the outbid goods of bidder `i`. Returns whether any good was dropped."""
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
    """Play the slots of the bidders from position `first` to position `last` - 1. With slot tests a bidder first drops
    outbid goods; then the bidder bids.
    """
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
    """Play the end of a round for all bidders. With round-end tests all bidders first drop outbid goods. Returns the
    number of bidders who report that they would bid once more; 0 in auctions without reports.
    """
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
    """Play some slots of a round, with one release after each slot. Returns the number of changes of counts, which are
    written to `changes`, shape (.., 3).
    """
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
    """An auction of bundles in progress. The state of the auction is private, except for the published counts."""

    rules: BundleRules

    @abstractmethod
    def units(self) -> tuple[NDArray[np.int32], _Integers]:
        """The goods that each bidder holds, with -1 for none, and the published count of each good just before the
        bidder's bid on this good; two arrays of shape (n, b). Goods on which the bidder was outbid after the last test
        are included.
        """


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
    """An auction in which programs bid, one by one. Each release makes its own draw, of the true sums plus noise,
    however many releases there are.
    """

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
    """Start an auction of bundles, without playing any round.

    Args:
        rules: public rules of the auction.
        population: valuations of all bidders.
        counter: public parameters of the counters of bids.
        noise: source of the noise.
        stepwise: whether each release makes its own draw, of the true sums plus noise. If False, the noise of many
            releases is drawn in one block, and the run adds the noise to the counts. The default is True for runs with
            few releases. Auctions in which programs bid ignore `stepwise` and draw release by release.
        session: session that charges the privacy loss of the noise. By default a session is opened that charges the
            loss under the name `COUNTS`.
    """
    if population.table is None:
        return _ListAuction(rules, population, counter, noise, session)
    return _TableAuction(rules, population.table, counter, noise, stepwise, session)


def favourite_bundles(population: Population, bundle: int) -> NDArray[np.int32]:
    """The bundle that each bidder likes best if all goods are free, shape (n, b), with -1 for none. The bundles are
    private.

    Args:
        population: valuations of all bidders.
        bundle: largest number b of goods in a bundle.
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
    """Number of bidders who would add a good to their bundle at given prices, if they had a bid left. The number is
    private.

    Args:
        population: valuations of all bidders.
        held: goods of each bidder, shape (n, b), with -1 for none.
        prices: price of each good, shape (k,).
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
