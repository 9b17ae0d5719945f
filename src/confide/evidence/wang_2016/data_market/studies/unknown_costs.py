"""Figure 4.2: what an error of .05 costs as more people are invited, where nobody knows what privacy is worth to them.

theta = .8, P1 = .7, epsilon = 2, 200 to 600 people, log-normal costs per nat of which the source gives no parameters:
here with a standard deviation of ln C of 5 and of 1. Formulas: spec data_market section 3; numbers: section 6.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Block, Table
from confide.evidence.findings import Compared, Findings, Study, advance, as_printed, bound
from confide.market.signal_model import Reporting
from confide.market.threshold.cost_laws import LogNormalLaw
from confide.market.threshold.planner import CRITERIA, plan_unknown_costs
from confide.market.threshold.signed_payments import thesis_attendance
from confide.market.threshold.threshold_market import ThresholdMarket

__all__ = ["STUDY"]

_ACCURACY, _PRIOR, _ERROR, _LEVEL = 0.8, 0.7, 0.05, 2.0
_FEW, _MANY = 200, 600
_SPREADS = (5.0, 1.0)  # of ln C
_ATTENDANCE = thesis_attendance(_ERROR, _ACCURACY, _LEVEL)


def _source(people: int, spread: float) -> ThresholdMarket:
    """The market that the source chooses for so many people."""
    return ThresholdMarket(people, _ACCURACY, _PRIOR, LogNormalLaw(0.0, spread), _LEVEL,
                           participation=_ATTENDANCE / people)


def _fall(spread: float) -> float:
    """By which share of itself the exact total falls."""
    return 1.0 - _source(_MANY, spread).expected_total / _source(_FEW, spread).expected_total


def _own(quantity: str, ours: float, remark: str = "") -> Compared:
    return Compared(quantity=quantity, published=None, ours=ours, agreement="not published", remark=remark)


def _compared() -> list[Compared]:
    information = float(Reporting.of(_ACCURACY, _LEVEL).chernoff)
    # The bound is proportional to c_th, the quantile of the share that takes part: its mean does not matter.
    least = math.log(100.0) / float(ndtri(_ATTENDANCE / _FEW) - ndtri(_ATTENDANCE / _MANY))
    found = [_own("D at epsilon", information),
             _own("n_e", -math.log(_ERROR / 2.0) / information),
             _own("rho n_e, participants", _ATTENDANCE, "one n_e less is enough (erratum E6)"),
             _own("sd of ln C from which on the bound falls by 99%", least, "the source does not give its law"),
             _own("the same for the exact total", float(brentq(lambda sd: _fall(sd) - 0.99, 1.0, 10.0, xtol=1e-10)))]
    for spread in _SPREADS:
        few, many = _source(_FEW, spread), _source(_MANY, spread)
        fall, name = 1.0 - many.total_bound / few.total_bound, f"sd of ln C = {spread:g}"
        found += [_own(f"bound on the total, {name}, N = {each.people}", each.total_bound) for each in (few, many)]
        found += [_own(f"exact total, {name}, N = {each.people}", each.expected_total) for each in (few, many)]
        words = f"fall of the bound, {name}"
        found.append(bound(words, fall, at_least=0.99,
                           origin=as_printed("Wang 2016, Figure 4.2, line 1412")) if spread > least else _own(
            words, fall, "with this law the source's sentence would not hold"))
        found += [bound(f"error, {name}, N = {each.people}", each.error_probability(), at_most=_ERROR,
                        remark="far below the goal: what it costs too much",
                        origin=as_printed("Wang 2016, Figure 4.2, line 1400")) for each in (few, many)]
    return found


def _run(quick: bool, progress: Progress | None) -> Findings:
    sizes = np.linspace(_FEW, _MANY, 3 if quick else 41).astype(int).tolist()
    compared, pictures = _compared(), list[Block]()
    for k, spread in enumerate(_SPREADS):
        law, points = LogNormalLaw(0.0, spread), list[tuple[float, float, str]]()
        for done, people in enumerate(sizes, 1):
            chosen = _source(people, spread)
            points += [(people, chosen.total_bound, "source's bound"), (people, chosen.expected_total, "exact total")]
            points += [(people, plan_unknown_costs(_ERROR, _ACCURACY, _PRIOR, law, criterion, people=people,
                                                   epsilon=_LEVEL).total, name)
                       for criterion, name in (("pgf", "ours, by a bound on the error"),
                                               ("exact", "ours, by the exact error"))]
            advance(progress, k * len(sizes) + done, len(_SPREADS) * len(sizes))
        pictures += curves(
            points, title=f"An error of {_ERROR:g} at epsilon = {_LEVEL:g}, sd of ln C = {spread:g}",
            x="people invited N", y="expected total payment", log_y=True,
            alt="Expected total payment, logarithmic, against the number of people invited: the source's bound and its "
                "exact total fall together, by "
                + ("more than 99 in 100" if spread > 4 else "two thirds")
                + "; plans that look at the error itself cost a small part of that.")
    plans = []
    for criterion in CRITERIA:
        for level in (_LEVEL, None):
            found = plan_unknown_costs(_ERROR, _ACCURACY, _PRIOR, LogNormalLaw(0.0, 1.0), criterion, people=_FEW,
                                       epsilon=level)
            plans.append((criterion, "given" if level else "best", found.epsilon, found.participants,
                          found.total, found.error))
    compared += [_own(f"plan by {row[0]}, sd of ln C = 1, N = {_FEW}, {row[1]} epsilon", row[4]) for row in plans]
    return Findings(compared=tuple(compared), blocks=(
        *pictures,
        Table(columns=("criterion", "", "epsilon", "participants", "expected total", "error"),
              rows=tuple(plans), note=f"{_FEW} people, sd of ln C = 1, median cost 1."),
    ))


STUDY = Study(
    name="market-unknown-costs",
    title="What accuracy costs where valuations are unknown",
    source="Wang 2016, Figure 4.2, Theorem 8",
    statement="Tripling the people who are invited, from 200 to 600, drives the cost down by more than 99%.",
    run=_run,
)
