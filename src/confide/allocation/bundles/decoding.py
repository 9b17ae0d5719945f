"""One bidder's bundle, from her own valuation, her public place and the billboard: on her own device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from confide.allocation.billboards import AuctionBillboard
from confide.allocation.bundles.bidders import Bidder
from confide.allocation.bundles.slots import BundleRules, Standing
from confide.contract.errors import InvalidInput
from confide.tables.frames import own_row

__all__ = ["BundleWalk", "decode_bundle", "walk_bundle"]


@dataclass(frozen=True, kw_only=True)
class BundleWalk:
    """What one bidder did, and what she holds before the last goods are dropped.

    Args:
        goods: that she holds, as she won them.
        seen: the count of each just before her bid.
        steps: of her bids, from 1.
        bid_on: the goods of her bids.
        reports: of the rounds after which she would have bid once more; none where nobody asks.
    """

    goods: tuple[int, ...]
    seen: tuple[int, ...]
    steps: tuple[int, ...]
    bid_on: tuple[int, ...]
    reports: tuple[int, ...]


def decode_bundle(record: Any, index: int, billboard: AuctionBillboard) -> list[int]:
    """Her goods.

    Args:
        record: of the class that the billboard's rules name, or a row in whatever form a run takes rows; None for a
            slot without one.
        index: her public place, from 0.
        billboard: of the run.

    Returns:
        Goods in ascending order, one for each copy.

    Raises:
        InvalidInput: not a record of that class, no such place, a billboard of another kind.
    """
    if not isinstance(billboard.rules, BundleRules):
        raise InvalidInput("billboard", "is of an auction of single goods")
    bidder = billboard.rules.valuation.bidder(own_row(record), billboard.rules.goods)
    walked = walk_bundle(bidder, index, billboard)
    final = billboard.final_counts
    most = np.array(billboard.rules.supply, dtype=np.int64) if billboard.clearing is None else billboard.clearing.cuts
    return sorted(
        good for good, seen in zip(walked.goods, walked.seen, strict=True)
        if (not billboard.rounds or int(final[good]) - seen <= int(most[good]))
        and (billboard.cutoffs is None or index < int(billboard.cutoffs[good])))


def walk_bundle(bidder: Bidder, index: int, billboard: AuctionBillboard) -> BundleWalk:
    """Her part of the auction.

    Args:
        bidder: her valuation.
        index: her public place.
        billboard: of the run.
    """
    rules = cast("BundleRules", billboard.rules)
    if not 0 <= index < rules.people:
        raise InvalidInput("index", f"{index} is no place", f"must be in 0..{rules.people - 1}")
    if not billboard.rounds:  # there is enough of everything
        goods = bidder.demand((), np.zeros(rules.goods), rules.bundle)
        return BundleWalk(goods=goods, seen=(0,) * len(goods), steps=(), bid_on=(), reports=())
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
    return BundleWalk(goods=tuple(standing.goods), seen=tuple(standing.seen), steps=tuple(steps),
                      bid_on=tuple(bid_on), reports=tuple(reports))
