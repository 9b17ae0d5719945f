"""The ascending auction in words: its plan, its rule, and how it went for one person."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from confide.allocation.billboards import AuctionBillboard
from confide.allocation.decoding import Walk, walk
from confide.allocation.pmatch import PMatch
from confide.campaign.kinds.allocation.words import Said, worth

__all__ = ["AuctionWords"]


class AuctionWords:
    """`PMatch` in words."""

    def describe(self, market: PMatch) -> str:
        return (f"an ascending auction of {'up to ' if market.halting != 'fixed' else ''}{market.rounds:,} rounds in "
                f"steps of {worth(market.increment)}, at most {market.bid_cap:,} bids each, and "
                + ("a final clearing" if market.clearing is not None else
                   f"{market.effective_reserve:,} copies of each good in reserve"))

    def planned(self, market: PMatch) -> list[tuple[str, str]]:
        error, least = market.error, min(market.effective_supply)
        rows = [
            ("from one price to the next, as a share of the highest value", worth(market.increment)),
            ("rounds; bids of one person at most", f"{market.rounds:,}; {market.bid_cap:,}"),
            ("people who bid between two releases; releases", f"{market.batch:,}; {market.counter.horizon:,}"),
            (f"E: no published count is off by more, but with probability {market.failure_probability:g}",
             f"{error:,.0f} people, {error / least:.0%} of the scarcest good's supply"),
            ("copies of each good in reserve", f"{market.effective_reserve:,}"),
            ("noises drawn", f"{market.counter.horizon * market.goods:,}"),
        ]
        if market.halting != "fixed":
            rows.append(("what may end it before its last round", f"{market.halting}, below {market.halt_below:,}"))
        if market.charge:
            rows.append(("prices", "charged: who takes a good owes its final price"))
        return rows

    def limit(self, market: PMatch) -> str:
        return "one of them at most"

    def rule(self, market: PMatch) -> list[str]:
        found = [
            f"Your device bids for you, by what you wrote, in up to {market.rounds:,} "
            "rounds. All prices start at 0 and rise with the published counts of bids. Each time that you hold no "
            "good, it bids on the one that is worth most to you above its price, and on none where no price suits you; "
            f"at most {market.bid_cap:,} times. You are outbid when more bids were counted after yours than there are "
            "copies."]
        if market.clearing is not None:
            found.append("In the end each good goes to those who bid on it last and after whom few enough others were "
                         "counted: who that is follows from a public number for each good.")
        return found

    def paths(self, market: PMatch, billboard: AuctionBillboard) -> NDArray[np.float64]:
        return np.stack([billboard.rules.prices(counts) for counts in billboard.after_rounds()])

    def story(
        self, market: PMatch, billboard: AuctionBillboard, names: Sequence[str], record: NDArray[np.float64],
        index: int,
        said: Said,
    ) -> list[str]:
        hers = walk(record, index, billboard)
        slots = billboard.rules.slots
        found = [f"Your place in the public order is {index + 1:,}: you bid in batch "
                 f"{index // billboard.rules.batch + 1:,} of each round."]
        for step, good in zip(hers.steps, hers.goods, strict=True):
            before = billboard.counts(np.array([step - 1]))[0]
            price = float(billboard.rules.prices(before)[good])
            found.append(f"In round {(step - 1) // slots + 1:,} you bid on {names[good]}: worth "
                         f"{said(float(record[good]))} to you, at a price of {said(price)}, it was the best for you "
                         "above its price.")
        if hers.latest < 0:
            found.append("No good was worth its price to you." if hers.steps else "You bid on nothing.")
        else:
            found.append(self._end(billboard, names, record, hers, index, said))
        return found

    def _end(
        self, billboard: AuctionBillboard, names: Sequence[str], row: NDArray[np.float64], hers: Walk, index: int,
        said: Said,
    ) -> str:
        good, clearing = hers.latest, billboard.clearing
        name, age = names[good], int(billboard.final_counts[good]) - hers.seen
        if clearing is None:
            if hers.good < 0:
                return (f"You were outbid on {name}, with no bid left: {age:,} bids were counted from yours on, and "
                        f"{billboard.rules.supply[good]:,} may be.")
            ends = f"Nobody outbid you on {name}."
        else:
            cut = int(clearing.cuts[good])
            ends = (f"From your last bid, on {name}, {age:,} bids on it were counted until the end; it goes to those "
                    f"for whom that is at most {cut:,}" if cut >= 0 else
                    f"Your last bid was on {name}; of it, the noisy counts left nothing to hand out for sure")
            if age > cut:
                return f"{ends}. So you go without."
            ends += "."
        if billboard.rules.charge and not row[good] >= billboard.prices[good]:
            price = said(float(billboard.prices[good]))
            return f"{ends} But its final price is {price}, more than it is worth to you."
        if billboard.cutoffs is not None and index >= int(billboard.cutoffs[good]):
            return f"{ends} But there were too many, and the last in the public order go without."
        return ends
