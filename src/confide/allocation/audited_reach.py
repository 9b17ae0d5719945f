"""How far one bidder can move everything that is counted, along any public history: the numbers that noise rests on.

Two worlds differ in one bidder's row. Whatever is published, the bidder sees the same prices in both, bids where they
are free, and is outbid or not: so an adversary who writes the public history decides, in each round, what becomes of
the bidder in either world. All that the adversary can do is gone through here, by dynamic programming over the bidder's
two states. The adversary may do more than counts allow, so nothing beyond what is found is possible; that it is
attained is shown by histories for a bidder's own walk, which `staggered_auction` and `staggered_bundles` write.

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
from confide.allocation.decoding import walk
from confide.contract.checks import one_of, whole
from confide.contract.renamed import renamed

__all__ = ["BundleBidder", "Counted", "Staggered", "Tested", "auction_reach", "bids_and_reports", "bundle_reach",
           "staggered_auction", "staggered_bundles"]

Counted = Literal["bids", "unsatisfied", "bidding"]
"""What is counted: bids alone; bids, and after each round her report; bids, and whether she bid."""

Tested = Literal["slot", "round_end"]
"""When goods that were outbid are dropped."""

_COUNTED: tuple[Counted, ...] = ("bids", "unsatisfied", "bidding")
_Free, _Held, _Out = 0, 1, 2
_World = tuple[int, int, int]  # bids so far, then how she stands
_Moves = Callable[[_World], Iterator[tuple[int, int, _World]]]  # bids and reports of a round, and what follows


@renamed(add_remove="absent")
def auction_reach(
    rounds: int, counted: Counted = "bids", *, bid_cap: int | None = None, absent: bool = False,
    last_report: bool = True, bids_count: bool = True,
) -> int:
    """How far a bidder of `PMatch` moves all counts together, in l1, along the worst public history.

    Args:
        rounds: T or R.
        counted: reports that are counted beside bids: "unsatisfied", who was outbid.
        bid_cap: C, bids in each world at most; None for no cap.
        absent: whether the bidder is not there in one of the worlds.
        last_report: whether the report of the last round is released too.
        bids_count: False for the reports alone.

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
            yield 0, 0, (used, _Out, 0)  # no price suits her, or no bid is left
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
    """How far a bidder of `PAlloc` moves bids and reports together, in l1, along the worst public history.

    After a round bidders report whether they would bid once more. Who declines, in their slot or in their report, does
    not bid before they lose a good. Where goods that were outbid are dropped in a bidder's slot only, a content bidder
    may bid all the same in the next round; where they are dropped at the end of a round, before the report, a content
    bidder does not.

    Args:
        rounds: T or R.
        counted: reports that are counted beside bids: "unsatisfied", who would bid once more.
        tested: when outbid goods are dropped, in the bidder's "slot" or at the end of a round.
        bid_cap: C, bids in each world at most; None for no cap.
        absent: whether the bidder is not there in one of the worlds.
        last_report: whether the report of the last round is released too.
        bids_count: False for the reports alone.

    Example:
        >>> bundle_reach(3, tested="slot"), bundle_reach(3, tested="round_end")
        (9, 7)
    """
    cap = _checked(rounds, counted, bid_cap)
    one_of("tested", tested, ("slot", "round_end"))
    # Without a cap she may report that she would bid in a round that there is not.
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
    """The largest sum over rounds of bids in both worlds, which are on different goods at worst, and reports that
    differ.
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
    """A public history, and two rows of one bidder that it drives apart.

    Args:
        billboard: the billboard of one bidder's market; its counts rise whatever the bidder does.
        first: (k,) the bidder's row in one world.
        second: (k,) the bidder's row in the other.
    """

    billboard: AuctionBillboard
    first: NDArray[np.float64]
    second: NDArray[np.float64]


def staggered_auction(
    rounds: int, *, bid_cap: int | None = None, apart: bool = False, last: bool = True
) -> Staggered:
    """A history along which two worlds bid on different goods in every round, or one after the other.

    Args:
        rounds: T or R.
        bid_cap: C; None for no cap.
        apart: False: both are outbid after each round, and bid on fresh goods. True: one of them is, until its bids are
            used up, while the other holds its good; then the other.
        last: whether, in the last round, only one of them is outbid (where they go together).

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
    # The count of a good that is outbid after round r jumps there, and its price to 1: no later bid of hers is on it.
    changes = sorted((good, r, 2**20) for good, r in ends.items() if r <= rounds)
    table = np.array(changes, dtype=np.int64).reshape(-1, 3)
    board = AuctionBillboard(rules=rules, rounds=rounds, step=table[:, 1], good=table[:, 0].astype(np.int32),
                      count=table[:, 2], reports=np.empty(0, dtype=np.int64))
    return Staggered(billboard=board, first=rows[0], second=rows[1])


def bids_and_reports(first: NDArray[np.float64], second: NDArray[np.float64],
                     billboard: AuctionBillboard) -> tuple[int, int]:
    """How far two rows are apart in bids, and in reports of being outbid, in l1, by own walks along a history.

    Args:
        first: (k,) the bidder's row in one world.
        second: (k,) the bidder's row in the other.
        billboard: the history.
    """
    rules = billboard.rules
    counted = []
    for row in (first, second):
        found = walk(row, 0, billboard)
        bids = np.zeros((billboard.steps + 1, rules.goods), dtype=np.int64)
        np.add.at(bids, (np.array(found.steps, dtype=np.int64), np.array(found.goods, dtype=np.int64)), 1)
        counted.append((bids, reports_of(found.steps, found.goods, billboard)))
    return tuple(int(np.abs(one - other).sum()) for one, other in zip(*counted, strict=True))  # type: ignore[return-value]


def reports_of(steps: Sequence[int], goods: Sequence[int], billboard: AuctionBillboard) -> NDArray[np.int64]:
    """Reports of being outbid after each round, (rounds,), from a bidder's bids and the public counts.

    Args:
        steps: steps of the bids, from 1.
        goods: goods of the bids.
        billboard: the history.
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
    """One bidder of `PAlloc` with capped additive valuations, along a public history: a reference to measure with.

    Args:
        row: (k,) what each good is worth; a bundle is worth its `most` best ones.
        most: number of goods of use to the bidder.
        supply: s', a held good is outbid when more bids than this were counted after theirs.
        increment: alpha.
        tested: when outbid goods are dropped, in the bidder's "slot" or at the end of a round.
    """

    row: NDArray[np.float64]
    most: int
    supply: int
    increment: float
    tested: Tested
    held: dict[int, int] = field(default_factory=dict)

    def bid(self, counts: NDArray[np.int64]) -> int:
        """The bidder's slot: the good that they bid on, -1 for none.

        Args:
            counts: (k,) counts as published before the slot.
        """
        if self.tested == "slot":
            self._drop(counts)
        good = self._wanted(counts)
        if good >= 0:
            self.held[good] = int(counts[good])
        return good

    def report(self, counts: NDArray[np.int64]) -> bool:
        """The end of a round: whether the bidder wants to bid on.

        Args:
            counts: (k,) counts as published then.
        """
        if self.tested == "round_end":
            self._drop(counts)
        return self._wanted(counts) >= 0

    def _drop(self, counts: NDArray[np.int64]) -> None:
        self.held = {good: seen for good, seen in self.held.items() if counts[good] - seen <= self.supply}

    def _wanted(self, counts: NDArray[np.int64]) -> int:
        """The good that adds most to what she holds, if that is more than its price."""
        worth = sorted((float(self.row[good]) for good in self.held), reverse=True)[: self.most]
        replaced = worth[-1] if len(worth) == self.most else 0.0
        gains = np.maximum(self.row - replaced, 0.0) - self.increment * (counts // self.supply)
        gains[list(self.held)] = -1.0  # a second copy adds nothing
        best = int(np.argmax(gains))
        return best if gains[best] > 0.0 else -1


def staggered_bundles(rounds: int, *, tested: Tested) -> int:
    """The distance of bids and reports along one history: an additive bidder against one who wants one good.

    The additive one goes on bidding; the other is content until their good is outbid, which happens between the end of
    a round and their slot. With tests at the end of a round it happens before they report.

    Args:
        rounds: T; the market has 2T goods.
        tested: when outbid goods are dropped.

    Example:
        >>> staggered_bundles(3, tested="slot"), staggered_bundles(3, tested="round_end")
        (9, 7)
    """
    one_of("tested", tested, ("slot", "round_end"))
    k = 2 * whole("rounds", rounds, at_least=1)
    rows = np.zeros((2, k))
    rows[0, :rounds] = np.linspace(1.0, 0.5, rounds) / k
    rows[0, rounds:] = 0.25 / k  # so that she always wants another
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
