"""How far one bidder can move everything that is counted, along any public history: the numbers that noise rests on.

Two worlds differ in one bidder's row. Whatever is published, she sees the same prices in both, bids where she is free,
and is outbid or not: so an adversary who writes the public history decides, in each round, what becomes of her in
either world. All that he can do is gone through here, by dynamic programming over her two states. He may do more than
counts allow, so nothing beyond what is found is possible; that it is attained is shown by histories for a bidder's own
walk, which `staggered_auction` and `staggered_bundles` write.

Source: spec allocation 3.2 and 5 (what a replaced row moves), 13.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from confide.allocation.auction import Rules
from confide.allocation.billboards import Billboard
from confide.allocation.decoding import walk
from confide.contract.checks import one_of, whole

__all__ = ["BundleBidder", "Counted", "Staggered", "auction_reach", "bids_and_reports", "bundle_reach",
           "staggered_auction", "staggered_bundles"]

Counted = Literal["bids", "unsatisfied", "bidding"]
"""What is counted: bids alone; bids, and after each round whether she was outbid; bids, and whether she bid."""

_COUNTED: tuple[Counted, ...] = ("bids", "unsatisfied", "bidding")
_Free, _Held, _Out = 0, 1, 2
_World = tuple[int, int]  # her state in a world, and her bids there


def auction_reach(
    rounds: int, counted: Counted = "bids", *, bid_cap: int | None = None, add_remove: bool = False,
    last_report: bool = True, bids_count: bool = True,
) -> int:
    """How far a bidder of `PMatch` moves all counts together, in l1, along the worst public history.

    Args:
        rounds: T or R.
        counted: which reports are counted beside bids.
        bid_cap: C, bids in each world at most; None for no cap.
        add_remove: she is not there in one of the worlds.
        last_report: whether the report of the last round is released too.
        bids_count: False for the reports alone.

    Example:
        >>> [auction_reach(4, counted) for counted in ("bids", "unsatisfied", "bidding")]
        [8, 9, 8]
        >>> auction_reach(9, "unsatisfied", bid_cap=2)
        8
    """
    whole("rounds", rounds, at_least=1)
    one_of("counted", counted, _COUNTED)
    cap = rounds if bid_cap is None else whole("bid_cap", bid_cap, at_least=1)

    @cache
    def most(left: int, first: _World, second: _World, same: bool) -> int:
        if not left:
            return 0
        found = 0
        for moved, one, other, alike in _bids(first, second, same, cap):
            for outbid in _outbid(one, other, alike):
                reports = _reports(counted, (one, other), (first, second), outbid)
                step = moved * bids_count + reports * (left > 1 or last_report)
                after = [(_Free if gone else state, used) for gone, (state, used) in zip(
                    outbid, (one, other), strict=True)]
                still = alike and not any(outbid)
                found = max(found, step + most(left - 1, after[0], after[1], still))
        return found

    return most(rounds, (_Free, 0), (_Out if add_remove else _Free, 0), False)


def _bids(first: _World, second: _World, same: bool, cap: int) -> Iterator[tuple[int, _World, _World, bool]]:
    """What she may do in her slot in both worlds, and how far the bids are apart; whether both hold one bid's good."""
    for one, other in product(_options(first, cap), _options(second, cap)):
        both = first[0] == second[0] == _Free and one[0] == other[0] == _Held
        if both:  # of the same good, at the same count, or of two
            yield 0, one, other, True
            yield 2, one, other, False
        else:
            bids = (one[1] - first[1]) + (other[1] - second[1])
            yield bids, one, other, same


def _options(world: _World, cap: int) -> Iterator[_World]:
    state, used = world
    if state != _Free:
        yield world
        return
    yield _Out, used  # no price suits her, or no bid is left
    if used < cap:
        yield _Held, used + 1


def _outbid(first: _World, second: _World, alike: bool) -> Iterator[tuple[bool, bool]]:
    for one, other in product((False, True), repeat=2):
        if one <= (first[0] == _Held) and other <= (second[0] == _Held) and (one == other or not alike):
            yield one, other


def _reports(counted: Counted, after: Sequence[_World], before: Sequence[_World], outbid: Sequence[bool]) -> int:
    if counted == "unsatisfied":
        return abs(outbid[0] - outbid[1])
    if counted == "bidding":
        return abs((after[0][1] - before[0][1]) - (after[1][1] - before[1][1]))
    return 0


def bundle_reach(rounds: int, *, tested: Literal["slot", "round_end"], last_report: bool = True) -> int:
    """How far a bidder of `PAlloc` moves bids and reports together, in l1, along the worst public history.

    After a round she reports whether she wants to bid on. Where goods that were outbid are dropped in her slot only, a
    content bidder may bid all the same in the next round. Where they are dropped at the end of a round, she does not:
    while held goods stay as they are, more of them get no cheaper.

    Args:
        rounds: T.
        tested: when outbid goods are dropped, in her "slot" or at the end of a round.
        last_report: whether the report of the last round is released too.

    Example:
        >>> bundle_reach(3, tested="slot"), bundle_reach(3, tested="round_end")
        (9, 7)
    """
    whole("rounds", rounds, at_least=1)
    one_of("tested", tested, ("slot", "round_end"))

    @cache
    def most(left: int, may: tuple[bool, bool]) -> int:
        if not left:
            return 0
        found = 0
        for bids in product(*((False, True) if each else (False,) for each in may)):
            for wants in product((False, True), repeat=2):
                step = sum(bids) + (wants[0] != wants[1]) * (left > 1 or last_report)
                nxt = (wants[0], wants[1]) if tested == "round_end" else (True, True)
                found = max(found, step + most(left - 1, nxt))
        return found

    return most(rounds, (True, True))


# ---- histories that attain it


@dataclass(frozen=True, kw_only=True, eq=False)
class Staggered:
    """A public history, and two rows of one bidder that it drives apart.

    Args:
        billboard: of one bidder's market; its counts rise whatever she does.
        first: (k,) her row in one world.
        second: (k,) in the other.
    """

    billboard: Billboard
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
    board = Billboard(rules=rules, rounds=rounds, step=table[:, 1], good=table[:, 0].astype(np.int32),
                      count=table[:, 2], reports=np.empty(0, dtype=np.int64))
    return Staggered(billboard=board, first=rows[0], second=rows[1])


def bids_and_reports(first: NDArray[np.float64], second: NDArray[np.float64], billboard: Billboard) -> tuple[int, int]:
    """How far two rows are apart in bids, and in reports of being outbid, in l1, by her own walk along a history.

    Args:
        first: (k,) her row in one world.
        second: (k,) in the other.
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


def reports_of(steps: Sequence[int], goods: Sequence[int], billboard: Billboard) -> NDArray[np.int64]:
    """(rounds,) after which rounds a bidder was outbid, from her bids and the public counts.

    Args:
        steps: of her bids, from 1.
        goods: of her bids.
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
        most: goods of use to her.
        supply: s', a held good is outbid when more bids than this were counted after hers.
        increment: alpha.
        tested: when outbid goods are dropped, in her "slot" or at the end of a round.
    """

    row: NDArray[np.float64]
    most: int
    supply: int
    increment: float
    tested: Literal["slot", "round_end"]
    held: dict[int, int] = field(default_factory=dict)

    def bid(self, counts: NDArray[np.int64]) -> int:
        """Her slot: the good that she bids on, -1 for none.

        Args:
            counts: (k,) as published before it.
        """
        if self.tested == "slot":
            self._drop(counts)
        good = self._wanted(counts)
        if good >= 0:
            self.held[good] = int(counts[good])
        return good

    def report(self, counts: NDArray[np.int64]) -> bool:
        """The end of a round: whether she wants to bid on.

        Args:
            counts: (k,) as published then.
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


def staggered_bundles(rounds: int, *, tested: Literal["slot", "round_end"]) -> int:
    """The distance of bids and reports along one history: an additive bidder against one who wants one good.

    The additive one goes on bidding; the other is content until her good is outbid, which happens between the end of a
    round and her slot. With tests at the end of a round it happens before she reports.

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
