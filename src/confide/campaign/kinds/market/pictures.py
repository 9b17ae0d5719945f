"""What came in beside what would be expected under either answer to the whole question, as one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy.stats import binom

from confide.charts import intervals
from confide.contract.presentation import Picture

if TYPE_CHECKING:
    from confide.campaign.kinds.market.plan import BitPlan

__all__ = ["beside_expected"]

_COVERED = 0.95


def beside_expected(plan: BitPlan, ones: int, zeros: int) -> list[Picture]:
    """The share of ones among all reports, and between what it would lie under either state; none without reports.

    Args:
        plan: of a market whose reports depend on one state.
        ones: how many reported 1.
        zeros: how many reported 0.
    """
    people, it, bit = ones + zeros, plan.market, plan.config.bit
    if not people:
        return []
    chances: dict[str, Any] = {bit.one: it.reporting.agree, bit.zero: it.reporting.miss}
    rows = []
    for state, chance in chances.items():
        low, high = (float(end) / people for end in binom.interval(_COVERED, people, float(chance)))
        rows.append((f"expected if it is {state}", "share", float(chance), low, high))
    share = ones / people
    rows.append(("came in", "share", share, share, share))
    words = "; ".join(f"if the answer is {state}, {row[3]:.1%} to {row[4]:.1%} would be expected"
                      for state, row in zip(chances, rows, strict=False))
    return intervals(
        rows, title=f"Share of {bit.one} among the reports", axis=f"share of {bit.one}",
        alt=f"{share:.1%} of {people:,} reports say {bit.one}; {words}, in 19 of 20 campaigns, if the beliefs are "
            "right.")
