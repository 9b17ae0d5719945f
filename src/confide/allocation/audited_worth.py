"""What a run is worth to its bidders, one by one: promises about the final prices and about taking part."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.allocation.valuations import Valuations
from confide.audit import AuditRow, Concern
from confide.contract.guarantees import Accuracy, Guarantees, Participation

__all__ = ["dear", "worth_rows"]

_ASKED = 2000
_BETTER = "how much better a bidder with a good would do"


def worth_rows(
    mechanism: Any, values: Any, outcome: Any, promised: Guarantees, paid: float | None = None
) -> list[AuditRow]:
    """One row for each promise that a run of one good to each person can be held against; else none.

    Args:
        mechanism: that ran.
        values: what it ran on.
        outcome: what came of it.
        promised: by the campaign's own mechanism, of which the one that ran may be a smaller copy.
        paid: by everybody, in place of the prices.
    """
    if "good" not in outcome.shares.column_names:
        return []
    least, most, asked = _found(
        mechanism, values, outcome, outcome.shares["price"].to_numpy() if paid is None else np.full(len(values), paid))
    evidence = f"{asked:,} made-up bidders of one run, by their own rows and the public prices"
    rows, own = list[AuditRow](), mechanism.guarantees()
    for part in own.of(Participation):
        rows.append(AuditRow.at_least(
            "participation: what a bidder gets, less its price", part.utility, least, evidence,
            unit="in value", concern=Concern.PARTICIPATION).holding(*promised.of(Participation)))
    for promise in own.of(Accuracy):
        if promise.measure.startswith(_BETTER) and most is not None:
            rows.append(AuditRow.at_most(
                f"accuracy: {promise.measure}", promise.bound, most, evidence, vacuous=promise.vacuous,
                note="no better than any good" if promise.vacuous else "",
                unit="in value", concern=Concern.ACCURACY).holding(*(
                    each for each in promised.of(Accuracy) if each.measure == promise.measure)))
    return rows


def dear(mechanism: Any) -> dict[str, float]:
    """What everybody pays where prices are above all values: a fault of a market that promises that nobody loses.

    Args:
        mechanism: whose rows are held.
    """
    promised = isinstance(mechanism, PMatch | SinkhornMatch) and any(mechanism.guarantees().of(Participation))
    return {"a price above all values": 2.0} if promised else {}


def _found(mechanism: Any, values: Any, outcome: Any, paid: Any) -> tuple[float, float | None, int]:
    """The least utility at what is paid; by how much others' goods would be better at the public prices."""
    rows = Valuations.of(values, people=mechanism.people, goods=mechanism.goods)
    good, prices = outcome.shares["good"].to_numpy(), np.asarray(outcome.billboard.prices, dtype=np.float64)
    places = np.unique(np.linspace(0, mechanism.people - 1, min(_ASKED, mechanism.people)).astype(np.int64))
    least, most = 0.0, None
    for place in places.tolist():
        if good[place] < 0:
            least = min(least, -float(paid[place]))
            continue
        row = np.asarray(rows.row(place), dtype=np.float64)
        least = min(least, float(row[good[place]]) - float(paid[place]))
        better = float((row - prices).max()) - float(row[good[place]] - prices[good[place]])
        most = max(most or 0.0, better)
    return least, most, len(places)
