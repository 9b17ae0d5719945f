"""Prices by scaling, and a public lottery where too many ask, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from confide.allocation.sinkhorn_match import ScalingBillboard, SinkhornMatch
from confide.campaign.kinds.allocation.words import Said, worth
from confide.privacy.public_randomness import PUBLIC_RANGE, public_number_of

__all__ = ["ScalingWords"]

_UNIT = 2.0**-20  # of the billboard's prices


class ScalingWords:
    """`SinkhornMatch` in words."""

    def describe(self, market: SinkhornMatch) -> str:
        return (f"{market.rounds:,} releases of noisy demand, from which prices follow, and a public lottery where too "
                "many ask")

    def planned(self, market: SinkhornMatch) -> list[tuple[str, str]]:
        rows = [
            ("releases of demand", f"{market.rounds:,}"),
            ("temperatures, as shares of the highest value",
             f"{worth(market.start_temperature)} to {worth(market.end_temperature)}"),
            ("share of epsilon for the final count", f"{market.clear:.0%}"),
            ("noises drawn", f"{(market.rounds + 1) * market.goods:,}"),
        ]
        if market.charge:
            rows.append(("prices", "charged: who takes a good owes its final price"))
        return rows

    def limit(self, market: SinkhornMatch) -> str:
        return "one of them at most"

    def rule(self, market: SinkhornMatch) -> list[str]:
        return [
            f"Prices follow from {market.rounds:,} noisy sums of what everybody would take. "
            "At the last prices your device asks for the good that is worth most to you above its price, or for none.",
            "Where more ask for a good than there are copies, a public coin of yours, drawn after all records are in, "
            "says whether you are among those who get it."]

    def paths(self, market: SinkhornMatch, billboard: ScalingBillboard) -> NDArray[np.float64]:
        return np.asarray(billboard.paths.astype(np.float64) * _UNIT)

    def story(
        self, market: SinkhornMatch, billboard: ScalingBillboard, names: Sequence[str], record: NDArray[np.float64],
        index: int, said: Said,
    ) -> list[str]:
        best = market.wanted(record, index, billboard)
        if best < 0:
            return ["At the last prices no good is worth its price to you: you ask for none."]
        found = [f"At the last prices {names[best]} is the best for you, with what you lean to: it is worth "
                 f"{said(float(record[best]))}, at a price of {said(float(billboard.prices[best]))}. You ask for it."]
        rate = int(billboard.rates[best])
        if not billboard.public_seed or rate >= PUBLIC_RANGE:
            return [*found, "Everybody who asks for it gets it."]
        coin = public_number_of(billboard.public_seed, index)
        found.append(f"Who asks for it gets it with a coin below {rate / PUBLIC_RANGE:.4f}; yours is "
                     f"{coin / PUBLIC_RANGE:.4f}.")
        return found
