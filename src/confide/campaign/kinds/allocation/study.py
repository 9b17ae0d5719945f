"""The study beside a simulated run: what everybody got, and what else there could have been. Never a release."""

from __future__ import annotations

import numpy as np

from confide.campaign.kinds.allocation.crowds import Crowd, counts
from confide.campaign.kinds.allocation.plan import GoodsPlan
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Section, Table

__all__ = ["study_sections"]

_SHOWN = 20


def study_sections(plan: GoodsPlan, crowd: Crowd, outcome: SimulatedOutcome) -> list[Section]:
    """Welfare beside the best there is and rules of thumb, and copies that were given beyond the supply.

    Args:
        plan: the plan.
        crowd: everybody.
        outcome: of the simulated run.
    """
    it, told = plan.market, outcome.diagnostics
    prices: np.ndarray = outcome.billboard.prices  # type: ignore[attr-defined]
    best, exact = crowd.best(it.copies, prices)
    given = counts(outcome.shares, it.goods)
    rows = [("this run (simulated noise)", told["welfare"]), *crowd.baselines(it.copies, seed=0),
            ("the best allocation (exact optimum)" if exact else "no allocation gives more (by weak duality)", best)]
    note = "In units of " + plan.most + "." + ("" if exact else " The best allocation may be below the bound.")
    order = np.argsort(-prices, kind="stable")[:_SHOWN]
    return [Section(title="Welfare, beside what there could have been", study=True, blocks=(
        Table(columns=("allocation", "welfare", "share of the best" if exact else "share of the bound"),
              rows=tuple((name, welfare, welfare / best if best else None) for name, welfare in rows), note=note),
        Table(columns=("good", "copies", "given"), rows=tuple(
            (plan.names[good], it.copies[good], int(given[good])) for good in order.tolist()),
            note=f"{int(given.sum()):,} copies are given, {int(told['over_allocated']):,} of them beyond the supply; "
                 "only the run itself hides anybody's values."),
    ))]
