"""Decoding of one bidder's good or bundle, on the bidder's own device, from their valuation, their position in the
public order of bidders, and the billboard (the public record of the run).

Decoding replays the rounds of the auction for one bidder. The replay uses the same subtractions as the run, so both
give the same result bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending_auction import FREE, OUT
from confide.allocation.billboards import AuctionBillboard
from confide.allocation.bundles.auction import BundleRules, Standing
from confide.allocation.bundles.bidders import Bidder
from confide.allocation.valuations import as_row
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.outcome import as_billboard
from confide.tables.frames import own_row

__all__ = ["BundleReplay", "Replay", "decode", "decode_bundle", "replay", "replay_bundle"]

# ---- decoding


@dataclass(frozen=True, kw_only=True)
class Replay:
    """The bids of one bidder in an auction of single goods, and the bidder's state at the end.

    Args:
        good: number of the good that the bidder holds at the end, before any final clearing; -1 for none.
        out: whether the bidder left the auction, because no good is worth more to them than its price, or because no
            bid is left.
        latest: good of the bidder's last bid; -1 if the bidder made no bid, or left the auction because no good is
            worth more to them than its price.
        seen: published count of bids on the good of the bidder's last bid, just before that bid.
        steps: for each bid, the number, from 1, of the first release of counts that includes the bid.
        goods: for each bid, the good that the bidder bid on.
    """

    good: int
    out: bool
    latest: int
    seen: int
    steps: tuple[int, ...]
    goods: tuple[int, ...]


def decode(record: Any, index: int, billboard: AuctionBillboard) -> int:
    """The good that one bidder was assigned in an auction of single goods.

    Args:
        record: bidder's valuations in [0, 1], shape (k,), or a mapping from the number of a good to its valuation; None
            for a bidder without a record.
        index: bidder's position in the public order of bidders, from 0.
        billboard: billboard (public record) of the run.

    Returns:
        The good, or -1 for none.

    Raises:
        InvalidInput: a record that is no row of valuations, a position that does not exist, or a billboard of another
            kind of mechanism.
    """
    if not isinstance(as_billboard(billboard), AuctionBillboard):
        raise InvalidInput("billboard", f"{type(billboard).__name__} is not the billboard of an auction",
                           "use mechanism.decode(record, index, billboard), since each mechanism decodes its own "
                           "billboards")
    row = as_row(record, billboard.rules.goods)
    found = replay(row, index, billboard)
    clearing, good = billboard.clearing, found.good
    if clearing is not None:
        age = int(billboard.final_counts[found.latest]) - found.seen
        good = found.latest if found.latest >= 0 and age <= int(clearing.cuts[found.latest]) else -1
    if good >= 0 and billboard.rules.charge and not row[good] >= billboard.prices[good]:
        return -1
    if good >= 0 and billboard.cutoffs is not None and index >= int(billboard.cutoffs[good]):
        return -1
    return good


def replay(row: NDArray[np.float64], index: int, billboard: AuctionBillboard) -> Replay:
    """Replay one bidder's bids in an auction of single goods, against the published counts.

    Args:
        row: bidder's valuations in [0, 1], shape (k,), which the function does not check.
        index: bidder's position in the public order of bidders, from 0.
        billboard: billboard (public record) of the run.
    """
    rules = billboard.rules
    if not 0 <= whole("index", index, at_least=-1) < rules.people:
        raise InvalidInput("index", f"{index} is not a place", f"must be in 0..{rules.people - 1}")
    if not billboard.rounds:  # there is enough of everything
        favourite = int(np.argmax(row)) if bool((row > 0.0).any()) else -1
        return Replay(good=favourite, out=favourite < 0, latest=favourite, seen=0, steps=(), goods=())
    slot = index // rules.batch
    named = np.flatnonzero(row > 0.0)  # no price is below 0
    values, supply = row[named], np.array(rules.supply, dtype=np.int64)[named]
    starts = np.arange(billboard.rounds, dtype=np.int64) * rules.slots
    at_slot, at_end = billboard.counts(starts + slot, named), billboard.counts(starts + rules.slots, named)
    held, latest, seen = FREE, -1, 0
    steps, goods = list[int](), list[int]()
    for r in range(billboard.rounds):
        if held == FREE:
            gains = values - rules.increment * (at_slot[r] // supply).astype(np.float64)
            best = int(np.argmax(gains)) if len(gains) else -1
            if best < 0 or not gains[best] > 0.0:
                held, latest = OUT, -1
            elif len(steps) >= rules.bid_cap:
                held = OUT
            else:
                held = latest = best
                seen = int(at_slot[r, best])
                steps.append(int(starts[r]) + slot + 1)
                goods.append(int(named[best]))
        if held >= 0 and at_end[r, held] - seen > supply[held]:
            held = FREE
    return Replay(good=int(named[held]) if held >= 0 else -1, out=held == OUT, latest=int(named[latest]) if latest >= 0
                  else -1, seen=seen, steps=tuple(steps), goods=tuple(goods))


# ---- decoding


@dataclass(frozen=True, kw_only=True)
class BundleReplay:
    """The bids of one bidder in an auction of bundles, and the goods that the bidder holds at the end, before any
    clearing.

    Args:
        goods: goods that the bidder holds, in the order in which they were won. The tuple may include goods on which
            the bidder was outbid after they last dropped outbid goods.
        seen: for each held good, the published count of bids on the good just before the bidder's bid on that good.
        steps: for each bid, the number, from 1, of the first release of counts that includes the bid.
        bid_on: for each bid, the good that the bidder bid on.
        reports: numbers, from 1, of the rounds after which the bidder reported that they would bid once more. The tuple
            is empty in auctions without reports.
    """

    goods: tuple[int, ...]
    seen: tuple[int, ...]
    steps: tuple[int, ...]
    bid_on: tuple[int, ...]
    reports: tuple[int, ...]


def decode_bundle(record: Any, index: int, billboard: AuctionBillboard) -> list[int]:
    """The goods that one bidder was assigned in an auction of bundles.

    Args:
        record: bidder's record in the form of the class of valuations that the billboard's rules name, or a row in any
            form that a run accepts; None for a bidder without a record.
        index: bidder's position in the public order of bidders, from 0.
        billboard: billboard (public record) of the run.

    Returns:
        Goods in ascending order, one entry for each copy.

    Raises:
        InvalidInput: a record of another class than the billboard's rules name, a position that does not exist, or a
            billboard of another kind of mechanism.
    """
    if not isinstance(billboard.rules, BundleRules):
        raise InvalidInput("billboard", "belongs to an auction of single goods")
    bidder = billboard.rules.valuation.bidder(own_row(record), billboard.rules.goods)
    replayed = replay_bundle(bidder, index, billboard)
    final = billboard.final_counts
    most = np.array(billboard.rules.supply, dtype=np.int64) if billboard.clearing is None else billboard.clearing.cuts
    return sorted(
        good for good, seen in zip(replayed.goods, replayed.seen, strict=True)
        if (not billboard.rounds or int(final[good]) - seen <= int(most[good]))
        and (billboard.cutoffs is None or index < int(billboard.cutoffs[good])))


def replay_bundle(bidder: Bidder, index: int, billboard: AuctionBillboard) -> BundleReplay:
    """Replay one bidder's bids in an auction of bundles, against the published counts.

    Args:
        bidder: valuation of the bidder.
        index: bidder's position in the public order of bidders, from 0.
        billboard: billboard (public record) of the run.
    """
    rules = cast("BundleRules", billboard.rules)
    if not 0 <= index < rules.people:
        raise InvalidInput("index", f"{index} is not a place", f"must be in 0..{rules.people - 1}")
    if not billboard.rounds:  # there is enough of everything
        goods = bidder.demand((), np.zeros(rules.goods), rules.bundle)
        return BundleReplay(goods=goods, seen=(0,) * len(goods), steps=(), bid_on=(), reports=())
    slot, named = index // rules.batch, bidder.named
    starts = np.arange(billboard.rounds, dtype=np.int64) * rules.slots
    at_slot, at_end = billboard.counts(starts + slot, named), billboard.counts(starts + rules.slots, named)
    supply = np.array(rules.supply, dtype=np.int64)[named]
    counts, prices = np.zeros(rules.goods, dtype=np.int64), np.full(rules.goods, np.inf)
    standing, steps, bid_on, reports = Standing(), list[int](), list[int](), list[int]()
    for r in range(billboard.rounds):
        counts[named], prices[named] = at_slot[r], rules.increment * (at_slot[r] // supply).astype(np.float64)
        good = standing.slot(bidder, prices, counts, rules)
        if good >= 0:
            steps.append(int(starts[r]) + slot + 1)
            bid_on.append(good)
        counts[named], prices[named] = at_end[r], rules.increment * (at_end[r] // supply).astype(np.float64)
        if standing.round_end(bidder, prices, counts, rules):
            reports.append(r + 1)
    return BundleReplay(goods=tuple(standing.goods), seen=tuple(standing.seen), steps=tuple(steps),
                        bid_on=tuple(bid_on), reports=tuple(reports))
