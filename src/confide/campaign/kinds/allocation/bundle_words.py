"""The auction of bundles in words: its plan, its rule, and how it went for one person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.billboards import AuctionBillboard
from confide.allocation.bundles.decoding import BundleWalk, walk_bundle
from confide.allocation.palloc import PAlloc
from confide.campaign.kinds.allocation.words import Said, worth

__all__ = ["BundleWords", "bundle_story"]


class BundleWords:
    """`PAlloc` in words."""

    def describe(self, market: PAlloc) -> str:
        return (f"an ascending auction of {'up to ' if market.halting != 'fixed' else ''}{market.rounds:,} rounds in "
                f"steps of {worth(market.increment)}, at most {market.bid_cap:,} bids and {market.largest_bundle:,} "
                "goods each, and "
                + ("a final clearing" if market.clearing is not None else
                   f"{market.effective_reserve:,} copies of each good in reserve"))

    def planned(self, market: PAlloc) -> list[tuple[str, str]]:
        error, least = market.error, min(market.effective_supply)
        wanted = market.valuation.largest(market.goods)
        fewer = f"; more would be worth something up to {wanted:,}" if market.largest_bundle < wanted else ""
        rows = [
            ("goods that one person may hold", f"{market.largest_bundle:,}{fewer}"),
            ("from one price to the next, as a share of the highest total", worth(market.increment)),
            ("rounds; bids of one person at most", f"{market.rounds:,}; {market.bid_cap:,}"),
            ("people who bid between two releases; releases", f"{market.batch:,}; {market.counter.horizon:,}"),
            (f"E: no published count is off by more, but with probability {market.failure_probability:g}",
             f"{error:,.0f} bids, {error / least:.0%} of the scarcest good's supply"),
            ("copies of each good in reserve", f"{market.effective_reserve:,}"),
            ("noises drawn", f"{market.counter.horizon * market.goods:,}"),
        ]
        if market.halting != "fixed":
            rows.append(("what may end it before its last round", f"{market.halting}, below {market.halt_below:,}"))
        return rows

    def limit(self, market: PAlloc) -> str:
        return f"up to {market.largest_bundle:,} of them" if market.largest_bundle > 1 else "one of them at most"

    def rule(self, market: PAlloc) -> list[str]:
        when = ("it lets go of goods" if market.outbid_tests == "slot" else "goods are let go of at the end of a round")
        found = [
            f"Your device bids for you, by what you wrote, in up to {market.rounds:,} "
            "rounds. All prices start at 0 and rise with the published counts of bids. In your turn of a round "
            f"{when} after which more bids were counted than there are copies, and it bids on one more, the one that "
            "adds most above its price to what you hold, or on none where nothing does. You hold "
            f"{market.largest_bundle:,} at most, and bid {market.bid_cap:,} times at most."]
        if market.clearing is not None:
            found.append("In the end each good goes to those who hold it and after whose bid few enough others were "
                         "counted: who that is follows from a public number for each good.")
        return found

    def paths(self, market: PAlloc, billboard: AuctionBillboard) -> NDArray[np.float64]:
        return np.stack([billboard.rules.prices(counts) for counts in billboard.after_rounds()])

    def story(
        self, market: PAlloc, billboard: AuctionBillboard, names: Sequence[str], record: Any, index: int, said: Said
    ) -> list[str]:
        return bundle_story(market, billboard, names, record, index, said)


def bundle_story(
    market: PAlloc, billboard: AuctionBillboard, names: Sequence[str], record: Any, index: int, said: Said
) -> list[str]:
    """Her bids, and what became of each good that she held in the end.

    Args:
        market: as it was settled.
        billboard: of the run.
        names: of the goods.
        record: hers, as the class has it.
        index: her place.
        said: prices in words.
    """
    hers = walk_bundle(market.valuation.bidder(record, market.goods), index, billboard)
    slots = billboard.rules.slots
    found = [f"Your place in the public order is {index + 1:,}: you bid in batch "
             f"{index // billboard.rules.batch + 1:,} of each round."]
    tried = set[int]()
    for step, good in zip(hers.steps, hers.bid_on, strict=True):
        before = billboard.counts(np.array([step - 1]))[0]
        price = float(billboard.rules.prices(before)[good])
        again = " again, having been outbid on it" if good in tried and not market.valuation.repeats else ""
        tried.add(good)
        found.append(f"In round {(step - 1) // slots + 1:,} you bid on {names[good]}{again}, at a price of "
                     f"{said(price)}: it added most above its price to what you held.")
    if not hers.steps:
        return [*found, "You bid on nothing: no good was worth its price to you."]
    lost = sorted(set(hers.bid_on) - set(hers.goods))
    if lost:
        found.append(f"You were outbid on {_listed([names[good] for good in lost])}.")
    return [*found, *_ends(billboard, names, hers, index)]


def _ends(billboard: AuctionBillboard, names: Sequence[str], hers: BundleWalk, index: int) -> list[str]:
    found = list[str]()
    for good, seen in sorted(zip(hers.goods, hers.seen, strict=True)):
        age, clearing = int(billboard.final_counts[good]) - seen, billboard.clearing
        most = int(billboard.rules.supply[good] if clearing is None else clearing.cuts[good])
        counted = f"{names[good]}: from your bid on, {age:,} bids on it were counted until the end"
        if age > most:
            found.append(f"{counted}; it goes to those for whom that is at most {most:,}. So you go without it."
                         if most >= 0 else
                         f"{names[good]}: of it, the noisy counts left nothing to hand out for sure.")
        elif billboard.cutoffs is not None and index >= int(billboard.cutoffs[good]):
            found.append(f"{counted}, few enough. But there were too many, and the last in the public order go "
                         "without.")
        else:
            found.append(f"{counted}; it goes to those for whom that is at most {most:,}. So it is yours.")
    return found


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
