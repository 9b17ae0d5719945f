"""Theorem 4: how fast the payment of one person falls to the least, with more and more people.

P1 = .7, theta = .8, g(x) = x. Formulas: spec data_market 2.2 (rate, sharp tails), 2.3 (least payment at finite N).
"""

from __future__ import annotations

import math

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Findings, Study, advance, evaluated, near
from confide.market.costs import LinearCost
from confide.market.majority import MajorityMarket
from confide.market.optimum import least_payment

__all__ = ["STUDY", "log_gap"]


def _market(people: int, level: float) -> MajorityMarket:
    return MajorityMarket(people, 0.8, 0.7, LinearCost(1.0), level)


def log_gap(people: int, level: float) -> float:
    """ln(E[R] - V_LB)."""
    return _market(people, level).log_gap


def _run(quick: bool, progress: Progress | None) -> Findings:
    levels, sizes = (0.5, 1.0, 2.0), range(4, 41 if quick else 121)
    points, least, rows, compared = [], [], [], []
    for k, level in enumerate(levels, 1):
        rate = float(_market(4, level).reporting.chernoff)
        for n in sizes:
            points.append((float(n), log_gap(n, level), f"epsilon = {level:g}"))
            excess = least_payment(n, 0.8, 0.7, LinearCost(1.0), level).gap
            least.append((float(n), math.log(excess), f"epsilon = {level:g}"))
        # At even differences of N the sqrt(N) correction is left: ln gap + N d + ln(N)/2 tends to a constant.
        far, further = 20_000, 40_000
        slope = (log_gap(further, level) - log_gap(far, level)) / (further - far)
        corrected = slope + 0.5 * math.log((further - 1) / (far - 1)) / (further - far)
        compared += [
            near(f"slope of ln gap, epsilon = {level:g}", -rate, corrected, within=1e-5 * rate,
                 remark="after the correction by sqrt(N), which the source's rate leaves out",
                 origin=evaluated("Wang 2016, Theorem 4, line 759")),
        ]
        rows.append((level, rate, slope, corrected, log_gap(1_000_000, level)))
        advance(progress, k, len(levels))
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title="Majority market: payment of one person above the least for any N", x="people N",
                y="ln(payment - V_LB)",
                alt="Logarithm of the payment above its lower bound against the number of people: one line for each "
                    "level, which falls with slope -D; odd numbers of people pay a little more than their neighbours."),
        *curves(least, title="The least that any market of N people pays, above the same", x="people N",
                y="ln(payment - V_LB)",
                alt="The same for the least payment at finite N, which falls eight to thirty times as fast."),
        Table(columns=("epsilon", "D", "slope from N = 20,000 to 40,000", "with sqrt(N) corrected",
                       "ln gap at N = 10^6"), rows=tuple(rows)),
    ))


STUDY = Study(
    name="market-convergence",
    title="How fast the payment falls to the least",
    source="Wang 2016, Theorem 4, (3.19)",
    statement="E[R] = V_LB + O(e^(-N D)) for the majority mechanism.",
    run=_run,
)
