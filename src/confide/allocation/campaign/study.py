"""The study beside a simulated run: what everybody got, and what else there could have been. Never a release."""

from __future__ import annotations

import numpy as np

from confide.allocation.campaign.plan import GoodsPlan
from confide.allocation.campaign.predicted import lottery_welfare, most_welfare
from confide.allocation.valuations import Valuations
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Section, Table

__all__ = ["study_sections"]


def study_sections(plan: GoodsPlan, values: Valuations, outcome: SimulatedOutcome) -> list[Section]:
    """Welfare beside an upper bound and a lottery, and copies that were given beyond the supply.

    Args:
        plan: the plan.
        values: everybody's.
        outcome: of the simulated run.
    """
    it, told = plan.market, outcome.diagnostics
    prices: np.ndarray = outcome.billboard.prices  # type: ignore[attr-defined]
    best, raffled = most_welfare(values, it.copies), lottery_welfare(values, it.copies)
    held = outcome.shares["good"].to_numpy()
    given = np.bincount(held[held >= 0], minlength=it.goods)
    rows: list[tuple[str, float, float | None]] = [
        ("this run (simulated noise)", told["welfare"], told["welfare"] / best if best else None),
        ("a lottery for everybody's favourite, on average", raffled, raffled / best if best else None),
        ("no allocation gives more (by weak duality)", best, 1.0),
    ]
    order = np.argsort(-prices, kind="stable")[:20]
    return [Section(title="Welfare, beside what there could have been", study=True, blocks=(
        Table(columns=("allocation", "welfare", "share of the bound"), rows=tuple(rows),
              note="In units of the most that one person can write. The best allocation may be below the bound."),
        Table(columns=("good", "copies", "given"), rows=tuple(
            (plan.names[good], it.copies[good], int(given[good])) for good in order.tolist()),
            note=f"{int((held >= 0).sum()):,} people get a good, {int(told['over_allocated']):,} of them beyond the "
                 "supply."),
    ))]
