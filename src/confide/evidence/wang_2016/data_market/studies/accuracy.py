"""Figure 3.2: the total payment that reaches an accuracy, bounds and mechanism, with the two cheaper plans.

P1 = .7, theta = .8, g(x) = x. Formulas: spec data_market 2.5; numbers: section 6.
"""

from __future__ import annotations

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, bound, evaluated
from confide.market.costs import LinearCost
from confide.market.matching import price_floor
from confide.market.planner import MarketPlan, plan
from confide.market.price_levels import best_price_level, thesis_bounds
from confide.market.signal_model import Reporting

__all__ = ["STUDY"]

_PRIOR, _ACCURACY, _COST = 0.7, 0.8, LinearCost(1.0)
_TARGETS = (0.4, 0.1, 0.05, 0.01, 0.001)


def _cheaper(tau: float, criterion: str) -> MarketPlan:
    return plan(tau, _ACCURACY, _PRIOR, _COST, criterion)


def _run(quick: bool, progress: Progress | None) -> Findings:
    targets = np.geomspace(0.001, 0.4, 9 if quick else 60)
    level = best_price_level(_COST, _ACCURACY)
    information = float(Reporting.of(_ACCURACY, level).chernoff)
    floor = price_floor(_COST, level, 2.0 * _ACCURACY - 1.0)
    points: list[tuple[float, float, str]] = []
    for k, tau in enumerate(targets.tolist(), 1):
        bounds = thesis_bounds(tau, _ACCURACY, _PRIOR, _COST)
        points += [(tau, bounds.lower, "source's lower bound"), (tau, bounds.tighter, "lower bound of its proof"),
                   (tau, bounds.total, "source's mechanism"),
                   (tau, _cheaper(tau, "chernoff").total, "ours, by Chernoff's bound"),
                   (tau, _cheaper(tau, "exact").total, "ours, by the exact error")]
        advance(progress, k, len(targets))
    compared: list[Compared] = [
        Compared(quantity=name, published=None, ours=value, agreement="not published", remark="a figure has no digits")
        for name, value in (("epsilon of the source's mechanism", level), ("D at it", information),
                            ("V_LB at it", floor))]
    rows = []
    for tau in _TARGETS:
        bounds, exact, chernoff = thesis_bounds(tau, _ACCURACY, _PRIOR, _COST), *(
            _cheaper(tau, each) for each in ("exact", "chernoff"))
        compared.append(bound(f"total, tau = {tau:g}", bounds.total, at_least=bounds.lower,
                              remark=f"{bounds.people} people; the source's lower bound beside it",
                              origin=evaluated("Wang 2016, Theorem 5, line 1023")))
        rows.append((tau, bounds.lower, bounds.tighter, bounds.total, chernoff.total, chernoff.people, exact.total,
                     exact.people, exact.error))
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title="What accuracy costs", x="target tau", y="expected total payment", log_x=True,
                alt="Total payments against the target: the source's mechanism lies between its bounds and falls in "
                    "steps; a plan by Chernoff's bound is a little cheaper, one by the exact error far cheaper, below "
                    "the source's lower bound, because tau there bounds the error and is not the error."),
        Table(columns=("tau", "lower bound", "of its proof", "source's mechanism", "by Chernoff's bound", "people",
                       "by the exact error", "people", "error"), rows=tuple(rows),
              note="The bounds are for e^(-sum of D) <= tau, which implies an error of at most tau sqrt(P1 P0); the "
                   "last plan asks for an error of at most tau itself."),
    ))


STUDY = Study(
    name="market-accuracy",
    title="What accuracy costs",
    source="Wang 2016, Figure 3.2, Theorem 5",
    statement="The total payment of the mechanism is within one person's payment of the least, up to O(tau ln(1/tau)).",
    run=_run,
)
