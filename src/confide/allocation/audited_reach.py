"""The largest change of all counts by one bidder, along any public history. A public history is a sequence of published
counts. The noise of the counts is calibrated to that largest change.

Two neighbouring data sets, called worlds, differ in one bidder's row. Along one public history the bidder sees the same
prices in both worlds, and bids only while they hold no good. The history decides whether the bidder is outbid. So an
adversary who writes the history decides, in each round, what happens to the bidder in either world.

Dynamic programming over the bidder's two states covers all choices of the adversary. The adversary in this computation
may do more than real counts allow, so the result is an upper bound. `staggered_auction` and `staggered_bundles` write
histories that attain the bound, which the bidder's own replay confirms.

Source: spec allocation 3.2 and 5 (what a replaced row moves), 13.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending_auction import Rules
from confide.allocation.billboards import AuctionBillboard
from confide.allocation.decoding import replay
from confide.contract.checks import one_of, whole
from confide.contract.renamed import renamed

__all__ = ["BundleBidder", "Counted", "Staggered", "Tested", "auction_reach", "bids_and_reports", "bundle_reach",
           "staggered_auction", "staggered_bundles"]

Counted = Literal["bids", "unsatisfied", "bidding"]
"""Names of the counted quantities. "bids" stands for bids alone. The other names stand for bids and one report of the
bidder after each round. With "unsatisfied", the report says whether the bidder is unsatisfied. With "bidding", the
report says whether the bidder has bid.
"""

Tested = Literal["slot", "round_end"]
"""The time at which a bidder drops outbid goods: in the bidder's own slot, which is their turn to bid in a round, or at
the end of a round.
"""

_COUNTED: tuple[Counted, ...] = ("bids", "unsatisfied", "bidding")
_Free, _Held, _Out = 0, 1, 2
_World = tuple[int, int, int]  # bids so far, then the bidder's state
_Moves = Callable[[_World], Iterator[tuple[int, int, _World]]]  # bids and reports of a round, and what follows


@renamed(add_remove="absent")
def auction_reach(
    rounds: int, counted: Counted = "bids", *, bid_cap: int | None = None, absent: bool = False,
    last_report: bool = True, bids_count: bool = True,
) -> int:
    """The largest change of all counts together by one bidder of `PMatch`, in l1, along the worst public history.

    Args:
        rounds: number of rounds, >= 1.
        counted: counted quantities: "bids" alone, or bids and one report in each round. With "unsatisfied" the report
            says that the bidder was outbid, and with "bidding" that the bidder has bid.
        bid_cap: largest number C of bids of the bidder in each data set; None for no cap.
        absent: whether the bidder is absent from one of the two neighbouring data sets.
        last_report: whether the report of the last round is released too.
        bids_count: whether the result includes the change of the bids; False for the change of the reports alone.

    Example:
        >>> [auction_reach(4, counted) for counted in ("bids", "unsatisfied", "bidding")]
        [8, 9, 8]
        >>> auction_reach(9, "unsatisfied", bid_cap=2)
        8
    """
    cap = _checked(rounds, counted, bid_cap)

    def moves(world: _World) -> Iterator[tuple[int, int, _World]]:
        used, state, _ = world
        if state == _Free:
            yield 0, 0, (used, _Out, 0)  # no price suits the bidder, or no bid is left
            if used < cap:
                yield 1, 0, (used + 1, _Held, 0)
                yield 1, 1, (used + 1, _Free, 0)  # outbid at once
        else:
            yield 0, 0, world
            if state == _Held:
                yield 0, 1, (used, _Free, 0)

    other = (0, _Out if absent else _Free, 0)
    return _most(rounds, moves, ((0, _Free, 0), other), counted, last_report=last_report, bids_count=bids_count)


@renamed(add_remove="absent")
def bundle_reach(
    rounds: int, counted: Counted = "unsatisfied", *, tested: Tested, bid_cap: int | None = None,
    absent: bool = False, last_report: bool = True, bids_count: bool = True,
) -> int:
    """The largest change of bids and reports together by one bidder of `PAlloc`, in l1, along the worst public history.

    After a round bidders report whether they would bid once more. A bidder who declines to bid, in their slot (turn to
    bid) or in their report, does not bid until they lose a good. If outbid goods are dropped only in the bidder's slot,
    a bidder who reported that they would not bid may still bid in the next round. If outbid goods are dropped at the
    end of a round, before the report, such a bidder does not bid in the next round.

    Args:
        rounds: number of rounds, >= 1.
        counted: counted quantities: "bids" alone, or bids and one report in each round. With "unsatisfied" the report
            says that the bidder would bid once more, and with "bidding" that the bidder has bid.
        tested: time at which outbid goods are dropped: "slot" or "round_end".
        bid_cap: largest number C of bids of the bidder in each data set; None for no cap.
        absent: whether the bidder is absent from one of the two neighbouring data sets.
        last_report: whether the report of the last round is released too.
        bids_count: whether the result includes the change of the bids; False for the change of the reports alone.

    Example:
        >>> bundle_reach(3, tested="slot"), bundle_reach(3, tested="round_end")
        (9, 7)
    """
    cap = _checked(rounds, counted, bid_cap)
    one_of("tested", tested, ("slot", "round_end"))
    # Without a cap the bidder may report a bid for a round that does not exist.
    cap += bid_cap is None

    def dropped(world: _World, now: bool) -> Iterator[_World]:
        used, held, _ = world
        yield world
        if now and held and used < cap:
            yield used, held - 1, 0

    def moves(world: _World) -> Iterator[tuple[int, int, _World]]:
        for used, held, idle in dropped(world, tested == "slot"):
            may = used < cap and not idle
            for bid, stands in ((0, (used, held, 1)), (1, (used + 1, held + 1, 0)))[: 1 + may]:
                for after in dropped(stands, tested == "round_end"):
                    yield bid, 0, (*after[:2], 1)
                    if after[0] < cap and not after[2]:
                        yield bid, 1, after

    other = (cap, 0, 1) if absent else (0, 0, 0)
    return _most(rounds, moves, ((0, 0, 0), other), counted, last_report=last_report, bids_count=bids_count)


def _checked(rounds: int, counted: str, bid_cap: int | None) -> int:
    whole("rounds", rounds, at_least=1)
    one_of("counted", counted, _COUNTED)
    return rounds if bid_cap is None else whole("bid_cap", bid_cap, at_least=1)


def _most(
    rounds: int, moves: _Moves, start: tuple[_World, _World], counted: Counted, *, last_report: bool, bids_count: bool,
) -> int:
    """The largest sum, over all rounds, of the number of bids in both worlds and the number of reports that differ. At
    worst the two worlds' bids are on different goods.
    """
    known: dict[_World, tuple[tuple[int, int, _World], ...]] = {}

    @cache
    def most(left: int, first: _World, second: _World) -> int:
        if not left:
            return 0
        for world in (first, second):
            if world not in known:
                known[world] = tuple(dict.fromkeys(moves(world)))
        found = 0
        for (bid, report, after), (other, reported, then) in product(known[first], known[second]):
            counted_now = {"bids": 0, "unsatisfied": report != reported, "bidding": bid != other}[counted]
            step = (bid + other) * bids_count + counted_now * (left > 1 or last_report)
            found = max(found, step + most(left - 1, *sorted((after, then))))
        return found

    return most(rounds, *sorted(start))


# ---- histories that attain it


@dataclass(frozen=True, kw_only=True, eq=False)
class Staggered:
    """A public history, and two rows of one bidder that lead to very different bids along this history.

    Args:
        billboard: billboard of a market with one bidder. The counts rise whatever the bidder does.
        first: bidder's row in one world, shape (k,).
        second: bidder's row in the other world, shape (k,).
    """

    billboard: AuctionBillboard
    first: NDArray[np.float64]
    second: NDArray[np.float64]


def staggered_auction(
    rounds: int, *, bid_cap: int | None = None, apart: bool = False, last: bool = True
) -> Staggered:
    """A history along which a bidder with either of two rows bids on different goods. Under both rows the bidder bids
    in every round, or the two rows take turns.

    Args:
        rounds: number of rounds, >= 1.
        bid_cap: largest number C of bids of one row; None for no cap.
        apart: whether the two rows take turns at being outbid. If False, both rows are outbid after each round and bid
            on new goods. If True, the first row is outbid until its bids are used up, while the second row holds its
            good. Once the first row's bids are used up, the second row is outbid.
        last: whether only one of the rows is outbid in the last round; used only if `apart` is False.

    Example:
        >>> history = staggered_auction(4)
        >>> bids_and_reports(history.first, history.second, history.billboard)
        (8, 1)
    """
    cap = rounds if bid_cap is None else min(bid_cap, rounds)
    k = 2 * cap
    rules = Rules(people=1, goods=k, supply=(1,) * k, increment=2.0**-20, rounds=rounds, batch=1, bid_cap=cap)
    rows = np.zeros((2, k))
    rows[0, :cap] = rows[1, cap:] = 1.0 - 2.0**-4 * np.arange(cap) / cap  # each takes its goods in turn
    rises = [(good, cap + good) for good in range(cap)]  # goods that are outbid after bid number 1, 2, ...
    ends: dict[int, int] = {}  # good -> the round after which it is
    for number, (one, other) in enumerate(rises, 1):
        ends[one] = number
        ends[other] = cap + number if apart else number
    if last and not apart:
        ends[rises[-1][1]] = rounds + 1
    # The count of a good that is outbid after round r jumps there, and its price to 1: the bidder bids no more on it.
    changes = sorted((good, r, 2**20) for good, r in ends.items() if r <= rounds)
    table = np.array(changes, dtype=np.int64).reshape(-1, 3)
    board = AuctionBillboard(rules=rules, rounds=rounds, step=table[:, 1], good=table[:, 0].astype(np.int32),
                      count=table[:, 2], reports=np.empty(0, dtype=np.int64))
    return Staggered(billboard=board, first=rows[0], second=rows[1])


def bids_and_reports(first: NDArray[np.float64], second: NDArray[np.float64],
                     billboard: AuctionBillboard) -> tuple[int, int]:
    """The l1 distances between the bids, and between the reports of being outbid, of two rows along a history. Both
    distances follow from replays of the history with each of the two rows.

    Args:
        first: bidder's row in one world, shape (k,).
        second: bidder's row in the other world, shape (k,).
        billboard: billboard that holds the history.
    """
    rules = billboard.rules
    counted = []
    for row in (first, second):
        found = replay(row, 0, billboard)
        bids = np.zeros((billboard.steps + 1, rules.goods), dtype=np.int64)
        np.add.at(bids, (np.array(found.steps, dtype=np.int64), np.array(found.goods, dtype=np.int64)), 1)
        counted.append((bids, reports_of(found.steps, found.goods, billboard)))
    return tuple(int(np.abs(one - other).sum()) for one, other in zip(*counted, strict=True))  # type: ignore[return-value]


def reports_of(steps: Sequence[int], goods: Sequence[int], billboard: AuctionBillboard) -> NDArray[np.int64]:
    """A bidder's reports of being outbid after each round, shape (rounds,), from the bidder's bids and the public
    counts.

    Args:
        steps: for each bid, the number, from 1, of the first release of counts that includes the bid.
        goods: for each bid, the good that the bidder bid on.
        billboard: billboard that holds the history.
    """
    rules = billboard.rules
    out = np.zeros(billboard.rounds, dtype=np.int64)
    ends = billboard.after_rounds()
    for step, good in zip(steps, goods, strict=True):
        before = int(billboard.counts(np.array([step - 1]), np.array([good]))[0, 0])
        played = (step - 1) // rules.slots
        gone = np.flatnonzero(ends[played + 1 :, good] - before > rules.supply[good])
        if len(gone):
            out[played + gone[0]] += 1
    return out


@dataclass(kw_only=True, eq=False)
class BundleBidder:
    """Reference implementation of one bidder of `PAlloc` with capped additive valuations, along a public history.

    Args:
        row: value of each good, shape (k,). A bundle is worth the sum of its `most` best goods.
        most: largest number of goods that add to the value of a bundle.
        supply: effective supply s'. A held good is outbid when more than s' bids were counted after the bidder's own.
        increment: step alpha from one price to the next.
        tested: time at which outbid goods are dropped: "slot" or "round_end".
        held: mapping from each good that the bidder holds to the published count of bids on the good just before the
            bidder's bid on it.
    """

    row: NDArray[np.float64]
    most: int
    supply: int
    increment: float
    tested: Tested
    held: dict[int, int] = field(default_factory=dict)

    def bid(self, counts: NDArray[np.int64]) -> int:
        """Play the bidder's slot (turn to bid). Returns the good that the bidder bids on, or -1 for none.

        Args:
            counts: counts published before the slot, shape (k,).
        """
        if self.tested == "slot":
            self._drop(counts)
        good = self._wanted(counts)
        if good >= 0:
            self.held[good] = int(counts[good])
        return good

    def report(self, counts: NDArray[np.int64]) -> bool:
        """Finish a round. Returns whether the bidder would bid once more.

        Args:
            counts: counts published at the end of the round, shape (k,).
        """
        if self.tested == "round_end":
            self._drop(counts)
        return self._wanted(counts) >= 0

    def _drop(self, counts: NDArray[np.int64]) -> None:
        self.held = {good: seen for good, seen in self.held.items() if counts[good] - seen <= self.supply}

    def _wanted(self, counts: NDArray[np.int64]) -> int:
        """The good that adds the largest gain (value less price) to the held goods, or -1 if no good adds a positive
        gain.
        """
        worth = sorted((float(self.row[good]) for good in self.held), reverse=True)[: self.most]
        replaced = worth[-1] if len(worth) == self.most else 0.0
        gains = np.maximum(self.row - replaced, 0.0) - self.increment * (counts // self.supply)
        gains[list(self.held)] = -1.0  # a second copy adds nothing
        best = int(np.argmax(gains))
        return best if gains[best] > 0.0 else -1


def staggered_bundles(rounds: int, *, tested: Tested) -> int:
    """The l1 distance, along one history, between the bids and reports of two bidders: an additive bidder, and a bidder
    who wants one good.

    The additive bidder bids in every round. The bidder who wants one good is content until their good is outbid, which
    happens between the end of a round and the bidder's next slot (turn to bid). With tests at the end of a round, the
    good is already outbid before this bidder reports.

    Args:
        rounds: number T of rounds; the market has 2T goods.
        tested: time at which outbid goods are dropped.

    Example:
        >>> staggered_bundles(3, tested="slot"), staggered_bundles(3, tested="round_end")
        (9, 7)
    """
    one_of("tested", tested, ("slot", "round_end"))
    k = 2 * whole("rounds", rounds, at_least=1)
    rows = np.zeros((2, k))
    rows[0, :rounds] = np.linspace(1.0, 0.5, rounds) / k
    rows[0, rounds:] = 0.25 / k  # so that the bidder always wants another
    rows[1, rounds:] = np.linspace(1.0, 0.5, rounds)
    common = {"supply": 1, "increment": 2.0**-20, "tested": tested}
    bidders = [BundleBidder(row=rows[0], most=k, **common),  # type: ignore[arg-type]
               BundleBidder(row=rows[1], most=1, **common)]  # type: ignore[arg-type]
    counts, distance = np.zeros(k, dtype=np.int64), 0
    for r in range(rounds):
        bids = [bidder.bid(counts) for bidder in bidders]
        distance += sum(good >= 0 for good in bids) if bids[0] != bids[1] else 0
        outbid = max(bids[1], 0)
        early = tested == "round_end" and r + 1 < rounds
        counts[outbid] += 2 * early
        reports = [bidder.report(counts) for bidder in bidders]
        distance += reports[0] != reports[1]
        counts[outbid] += 2 * (not early)
    return distance
