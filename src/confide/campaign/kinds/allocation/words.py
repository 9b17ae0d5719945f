"""The texts that pages show about each method that hands out goods, and the texts that ask participants for their
values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from confide.allocation.billboards import AuctionBillboard
from confide.allocation.decoding import BundleReplay, Replay, replay, replay_bundle
from confide.allocation.palloc import PAlloc
from confide.allocation.scales import Points, Ranks, Scale
from confide.allocation.sinkhorn_match import ScalingBillboard, SinkhornMatch
from confide.contract.asked import Field
from confide.privacy.public_randomness import PUBLIC_RANGE, public_number_of
from confide.tables.column_rows import MOVED

__all__ = ["AuctionWords", "BundleWords", "MethodWords", "Said", "ScalingWords", "asked_for_goods", "asked_for_order",
           "fields_of_goods", "worth"]

Said = Callable[[float], str]
"""Function that writes a value or a price as text, on the scale from 0 to 1 and in points."""


class MethodWords(Protocol):
    """The texts that pages show about one method that hands out goods."""

    def describe(self, market: Any) -> str:
        """Describe the method in a sentence."""

    def planned(self, market: Any) -> list[tuple[str, str]]:
        """The rows of the plan's table on the method, as pairs of a name and an amount."""

    def limit(self, market: Any) -> str:
        """The largest number of goods that one participant gets, in words."""
        return "at most one good"

    def rule(self, market: Any) -> list[str]:
        """The rule by which goods are handed out, as a participant reads it."""

    def paths(self, market: Any, billboard: Any) -> NDArray[np.float64]:
        """The prices of k goods before the first of R rounds and after each round, shape (R + 1, k)."""

    def story(
        self, market: Any, billboard: Any, names: Sequence[str], record: Any, index: int, said: Said
    ) -> list[str]:
        """Explain, in sentences to a participant, how their share follows from their record and the public
        billboard.
        """


def _charged(market: Any) -> list[tuple[str, str]]:
    return [("prices", "charged: a person who takes a good owes its final "
                       "price")] if getattr(market, "charge", False) else []


def worth(value: float) -> str:
    """A value or a price on the scale from 0 to 1, as text with three significant digits."""
    return f"{value:.3g}"


def fields_of_goods(labels: Sequence[tuple[str, str]], scale: Scale, together: str = "") -> list[Field]:
    """Form fields, each for the value of one good, or for the value that one further good adds. An empty field counts
    as 0.

    Args:
        labels: pairs of a column and the question for this column, one pair for each field.
        scale: public rule that turns the numbers into values in [0, 1].
        together: sentence on a rule that the row must keep as a whole, shown at the last field; empty for no rule.
    """
    found = []
    for place, (column, label) in enumerate(labels, 1):
        rule = together if place == len(labels) else ""
        if isinstance(scale, Points):
            ends = (f"Give a number from {scale.lowest:.12g} to {scale.highest:.12g}. An empty field means that the "
                    "good is worth nothing to you.")
            clip = scale.out_of_bounds == "clip"
            found.append(Field(
                column=column, label=label, form="number", required=False, lowest=None if clip else scale.lowest,
                highest=None if clip else scale.highest,
                note=" ".join(filter(None, (ends, MOVED if clip else "", rule)))))
        else:
            note = ("Give the rank of the good: 1 for the best, ties allowed. An empty field means that the good is "
                    "worth nothing to you.")
            found.append(Field(column=column, label=label, form="number", required=False, lowest=1.0, whole=True,
                               note=" ".join(filter(None, (note, rule)))))
    return found


def asked_for_goods(scale: Scale) -> str:
    """The text that asks participants for a number for each good.

    Args:
        scale: public rule that turns the numbers into values in [0, 1].
    """
    if isinstance(scale, Points):
        return (f"for each good a number from {scale.lowest:g} to {scale.highest:g}. An empty cell is worth nothing, "
                f"like the number {scale.lowest:g}")
    return asked_for_order(scale.points if isinstance(scale, Ranks) else (1.0,), 1)


def asked_for_order(given: tuple[float, ...], parts: int) -> str:
    """The text that asks participants for ranks of the goods, and states the value of each rank.

    Args:
        given: points of rank 1, rank 2, and so on, in the order of ranks.
        parts: largest number of goods whose values add up for one participant; a good of rank 1 has the value 1/parts.
    """
    points = ", ".join(worth(each / given[0] / parts) for each in given[:6])
    more = ", ..." if len(given) > 6 else ""
    return ("an order of the goods, in which several goods may have the same rank. The values of ranks 1, 2, and so on "
            f"are {points}{more}. Omitted goods are worth nothing")


class AuctionWords(MethodWords):
    """The texts about `PMatch`. `BundleWords` replaces a few of these texts for `PAlloc`."""

    most, counted = "highest value", "people"

    def describe(self, market: Any) -> str:
        return (f"an ascending auction of {'up to ' if market.halting != 'fixed' else ''}{market.rounds:,} rounds in "
                f"steps of {worth(market.increment)}, at most {market.bid_cap:,} bids{self.goods(market)} each, and "
                + ("a final clearing" if market.clearing is not None else
                   f"{market.effective_reserve:,} copies of each good in reserve"))

    def goods(self, market: Any) -> str:
        """A phrase on the largest number of goods that one participant gets. `describe` puts the phrase after the
        number of bids. The phrase is empty where each participant gets at most one good.
        """
        return ""

    def planned(self, market: Any) -> list[tuple[str, str]]:
        error, least = market.error, min(market.effective_supply)
        rows = [
            (f"price step, as a share of the {self.most}", worth(market.increment)),
            ("rounds; largest number of bids of one person", f"{market.rounds:,}; {market.bid_cap:,}"),
            ("people who bid between two publications of the counts; publications",
             f"{market.batch:,}; {market.counter.horizon:,}"),
            (f"E, largest error of any published count, except with probability {market.failure_probability:g}",
             f"{error:,.0f} {self.counted}, {error / least:.0%} of the scarcest good's supply"),
            ("copies of each good in reserve", f"{market.effective_reserve:,}"),
            ("number of noise draws", f"{market.counter.horizon * market.goods:,}"),
        ]
        if market.halting != "fixed":
            rows.append(("rule for an end before the last round", f"{market.halting}, below {market.halt_below:,}"))
        return [*rows, *_charged(market)]

    def rule(self, market: Any) -> list[str]:
        found = [
            f"Your device bids for you from your row, in up to {market.rounds:,} rounds. All prices start at 0 and "
            "rise with the published counts of bids. When you hold no good, your device bids on the good with the "
            "largest value above its price to you. It does not bid if no good is worth its price, and it bids at most "
            f"{market.bid_cap:,} times. You are outbid when more bids are counted after yours than there are copies."]
        if market.clearing is not None:
            found.append("At the end, a good goes to each person who bid on it last, if at most a limited number of "
                         "bids on the good were counted after theirs. The limit is a public number for each good.")
        return found

    def paths(self, market: Any, billboard: AuctionBillboard) -> NDArray[np.float64]:
        return np.stack([billboard.rules.prices(counts) for counts in billboard.after_rounds()])

    def story(
        self, market: Any, billboard: AuctionBillboard, names: Sequence[str], record: Any, index: int, said: Said
    ) -> list[str]:
        own = replay(record, index, billboard)
        slots = billboard.rules.slots
        found = [_place(billboard, index)]
        for step, good in zip(own.steps, own.goods, strict=True):
            before = billboard.counts(np.array([step - 1]))[0]
            price = float(billboard.rules.prices(before)[good])
            found.append(f"In round {(step - 1) // slots + 1:,} you bid on {names[good]}. It was worth "
                         f"{said(float(record[good]))} to you, and its price was {said(price)}: the largest difference "
                         "of all goods.")
        if own.latest < 0:
            found.append("No good was worth its price to you." if own.steps else "You bid on nothing.")
        else:
            found.append(self._end(billboard, names, record, own, index, said))
        return found

    def _end(
        self, billboard: AuctionBillboard, names: Sequence[str], row: NDArray[np.float64], own: Replay, index: int,
        said: Said,
    ) -> str:
        good, clearing = own.latest, billboard.clearing
        name, age = names[good], int(billboard.final_counts[good]) - own.seen
        if clearing is None:
            if own.good < 0:
                return (f"You were outbid on {name}, and had no bid left: {age:,} bids were counted from your bid on, "
                        f"and the limit is {billboard.rules.supply[good]:,}.")
            ends = f"Nobody outbid you on {name}."
        else:
            cut = int(clearing.cuts[good])
            ends = (f"Your last bid was on {name}. From this bid to the end, {age:,} bids on this good were counted, "
                    f"and the limit is {cut:,}" if cut >= 0 else
                    f"Your last bid was on {name}. By the noisy counts, no copy of this good could be handed out "
                    "safely")
            if age > cut:
                return f"{ends}. You get no good."
            ends += "."
        if billboard.rules.charge and not row[good] >= billboard.prices[good]:
            price = said(float(billboard.prices[good]))
            return f"{ends} But the final price of the good is {price}, more than its value to you."
        if billboard.cutoffs is not None and index >= int(billboard.cutoffs[good]):
            return f"{ends} But there were too many buyers, and the last buyers in the public order get no good."
        return ends


_UNIT = 2.0**-20  # of the billboard's prices


class ScalingWords(MethodWords):
    """The texts about `SinkhornMatch`."""

    def describe(self, market: SinkhornMatch) -> str:
        return (f"prices from {market.rounds:,} releases of noisy demand, and a public lottery if too many people ask "
                "for a good")

    def planned(self, market: SinkhornMatch) -> list[tuple[str, str]]:
        rows = [
            ("releases of demand", f"{market.rounds:,}"),
            ("temperatures, as shares of the highest value",
             f"{worth(market.start_temperature)} to {worth(market.end_temperature)}"),
            ("share of epsilon for the final count", f"{market.clear:.0%}"),
            ("number of noise draws", f"{(market.rounds + 1) * market.goods:,}"),
        ]
        return [*rows, *_charged(market)]

    def rule(self, market: SinkhornMatch) -> list[str]:
        return [
            f"Prices follow from {market.rounds:,} noisy sums of everybody's demand. At the last prices, your device "
            "asks for the good with the largest value above its price to you, or for none.",
            "If more people ask for a good than there are copies, your public random number, which is drawn after all "
            "records have arrived, decides whether you get it."]

    def paths(self, market: SinkhornMatch, billboard: ScalingBillboard) -> NDArray[np.float64]:
        return np.asarray(billboard.paths.astype(np.float64) * _UNIT)

    def story(
        self, market: SinkhornMatch, billboard: ScalingBillboard, names: Sequence[str], record: NDArray[np.float64],
        index: int, said: Said,
    ) -> list[str]:
        best = market.wanted(record, index, billboard)
        if best < 0:
            return ["At the last prices, no good is worth its price to you, so you ask for none."]
        found = [f"At the last prices, {names[best]} is the best good for you, with your random bonus added: it is "
                 f"worth {said(float(record[best]))} at a price of {said(float(billboard.prices[best]))}. You ask for "
                 "this good."]
        rate = int(billboard.rates[best])
        if not billboard.public_seed or rate >= PUBLIC_RANGE:
            return [*found, "Everybody who asks for this good gets it."]
        coin = public_number_of(billboard.public_seed, index)
        found.append(f"People who ask for this good get it if their public number is below {rate / PUBLIC_RANGE:.4f}. "
                     f"Your number is {coin / PUBLIC_RANGE:.4f}.")
        return found


class BundleWords(AuctionWords):
    """The texts about `PAlloc`."""

    most, counted = "highest total value of goods", "bids"

    def goods(self, market: PAlloc) -> str:
        return f" and {market.largest_bundle:,} of the goods"

    def planned(self, market: PAlloc) -> list[tuple[str, str]]:
        wanted = market.valuation.largest(market.goods)
        fewer = f"; a person can value up to {wanted:,}" if market.largest_bundle < wanted else ""
        return [("largest number of goods that one person may hold",
                 f"{market.largest_bundle:,}{fewer}"), *super().planned(market)]

    def limit(self, market: PAlloc) -> str:
        return f"up to {market.largest_bundle:,} goods" if market.largest_bundle > 1 else "at most one good"

    def rule(self, market: PAlloc) -> list[str]:
        outbid = "each good on which more bids were counted after yours than there are copies"
        when = (f"In each round, your device has one turn. It first gives up {outbid}. Then it bids"
                if market.outbid_tests == "slot" else
                "In each round, your device has one turn, in which it bids")
        end = "" if market.outbid_tests == "slot" else f" At the end of each round, it gives up {outbid}."
        found = [
            f"Your device bids for you from your row, in up to {market.rounds:,} rounds. All prices start at 0 and "
            f"rise with the published counts of bids. {when} on the good with the largest added value for you "
            f"after its price is subtracted, or on none if no added value is above the price.{end} You hold at most "
            f"{market.largest_bundle:,} of the goods at a time, and bid at most {market.bid_cap:,} times."]
        if market.clearing is not None:
            found.append("At the end, a good goes to each person who holds it, if at most a limited number of bids on "
                         "the good were counted after theirs. The limit is a public number for each good.")
        return found

    def story(
        self, market: PAlloc, billboard: AuctionBillboard, names: Sequence[str], record: Any, index: int, said: Said
    ) -> list[str]:
        own = replay_bundle(market.valuation.bidder(record, market.goods), index, billboard)
        slots = billboard.rules.slots
        found = [_place(billboard, index)]
        tried = set[int]()
        for step, good in zip(own.steps, own.bid_on, strict=True):
            before = billboard.counts(np.array([step - 1]))[0]
            price = float(billboard.rules.prices(before)[good])
            again = " again, after you were outbid on it" if good in tried and not market.valuation.repeats else ""
            tried.add(good)
            found.append(f"In round {(step - 1) // slots + 1:,} you bid on {names[good]}{again}, at a price of "
                         f"{said(price)}. Of all goods, it added most to your bundle above its price.")
        if not own.steps:
            return [*found, "You bid on nothing: no good was worth its price to you."]
        lost = sorted(set(own.bid_on) - set(own.goods))
        if lost:
            found.append(f"You were outbid on {_listed([names[good] for good in lost])}.")
        return [*found, *_ends(billboard, names, own, index)]


def _place(billboard: AuctionBillboard, index: int) -> str:
    return (f"Your place in the public order is {index + 1:,}: you bid in batch "
            f"{index // billboard.rules.batch + 1:,} of each round.")


def _ends(billboard: AuctionBillboard, names: Sequence[str], own: BundleReplay, index: int) -> list[str]:
    found = list[str]()
    for good, seen in sorted(zip(own.goods, own.seen, strict=True)):
        age, clearing = int(billboard.final_counts[good]) - seen, billboard.clearing
        most = int(billboard.rules.supply[good] if clearing is None else clearing.cuts[good])
        counted = f"{names[good]}: {age:,} bids on this good were counted from your bid to the end"
        if age > most:
            found.append(f"{counted}. The limit is {most:,}, so you do not get the good."
                         if most >= 0 else
                         f"{names[good]}: by the noisy counts, no copy of this good could be handed out safely.")
        elif billboard.cutoffs is not None and index >= int(billboard.cutoffs[good]):
            found.append(f"{counted}, few enough. But there were too many buyers, and the last buyers in the public "
                         "order do not get the good.")
        else:
            found.append(f"{counted}. The limit is {most:,}, so you get the good.")
    return found


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
