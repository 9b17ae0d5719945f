"""Studies of chapters 3 to 5 of Wang 2016. Each study examines one figure, theorem or data set.

`UNKNOWN_COSTS`: Figure 4.2, the total payment for an error probability of .05 as a function of the number of invited
people. People's costs of privacy are unknown to the buyer. The study has signal accuracy theta = .8, prior P1 = .7 and
privacy level epsilon = 2, and 200 to 600 people are invited. Costs per nat are log-normal. The source gives no
parameters of that law, so the study uses standard deviations of 1 and of 5 for the logarithm of costs. Formulas: spec
data_market section 3; numbers: section 6.

`ACCURACY`: Figure 3.2, the total payment that reaches a given accuracy. The study shows the bounds, the mechanism and
two cheaper plans, for prior P1 = .7, signal accuracy theta = .8 and privacy cost g(x) = x. Formulas: spec data_market
2.5; numbers: section 6.

`CONVERGENCE`: Theorem 4, the rate at which the payment of one person falls to the least payment as the number of people
grows. The study has prior P1 = .7, signal accuracy theta = .8 and privacy cost g(x) = x. Formulas: spec data_market 2.2
(rate, sharp tails), 2.3 (least payment at finite N).

`PAIRS`: chapter 5, the cost of a pair of reports compared with its lower bound. The source says that the ratio of cost
to bound tends to 1. The bits of 10 people are beta-binomial(2, 3), and the privacy cost is g(x) = x. Formulas: spec
data_market section 4, errata E2 and E3.

`AFFAIRS`: the pair mechanism on a real survey. The study computes the cost of answers, and the number of people who
know enough about their group to gain from a lie. The survey groups 6,366 women by the rating of their marriage and
counts the affairs in each group (Fair 1978, as statsmodels ships it; the counts are public). A person's peers are drawn
from a group that the person does not know: spec data_market 6.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Block, Table
from confide.evidence.findings import Compared, Findings, Study, advance, as_printed, bound, evaluated, in_words, near
from confide.evidence.wang_2016.data_market.least_pair import least_pair_payment
from confide.market.costs import LinearCost
from confide.market.majority import MajorityMarket
from confide.market.matching import price_floor
from confide.market.optimum import least_payment
from confide.market.pairs.market import PairMarket, audit_groups
from confide.market.pairs.prices import cheapest_level, pair_floor, pair_prices
from confide.market.pairs.prior import PairPrior
from confide.market.planner import MarketPlan, plan
from confide.market.price_levels import best_price_level, thesis_bounds
from confide.market.signal_model import Reporting
from confide.market.threshold.cost_laws import LogNormalLaw
from confide.market.threshold.planner import CRITERIA, plan_unknown_costs
from confide.market.threshold.signed_payments import thesis_attendance
from confide.market.threshold.threshold_market import ThresholdMarket

__all__ = ["ACCURACY", "AFFAIRS", "CONVERGENCE", "PAIRS", "UNKNOWN_COSTS", "log_gap"]

# ---- accuracy

_PRIOR, _ACCURACY, _COST = 0.7, 0.8, LinearCost(1.0)
_TARGETS = (0.4, 0.1, 0.05, 0.01, 0.001)


def _cheaper(tau: float, criterion: str) -> MarketPlan:
    return plan(tau, _ACCURACY, _PRIOR, _COST, criterion)


def _accuracy(quick: bool, progress: Progress | None) -> Findings:
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
        *curves(points, title="The cost of accuracy", x="target tau", y="expected total payment", log_x=True,
                alt="Total payments against the target. The source's mechanism lies between its bounds and falls in "
                    "steps. A plan by Chernoff's bound is a little cheaper. A plan by the exact error is far cheaper, "
                    "even below the source's lower bound, because the source's tau bounds the error and is not the "
                    "error itself."),
        Table(columns=("tau", "lower bound", "of its proof", "source's mechanism", "by Chernoff's bound", "people",
                       "by the exact error", "people", "error"), rows=tuple(rows),
              note="The bounds are for e^(-sum of D) <= tau, which implies an error of at most tau sqrt(P1 P0); the "
                   "last plan asks for an error of at most tau itself."),
    ))


ACCURACY = Study(
    name="market-accuracy",
    title="The cost of accuracy",
    source="Wang 2016, Figure 3.2, Theorem 5",
    statement="The total payment of the mechanism is within one person's payment of the least, up to O(tau ln(1/tau)).",
    run=_accuracy,
)


# ---- convergence


def _market(people: int, level: float) -> MajorityMarket:
    return MajorityMarket(people, 0.8, 0.7, LinearCost(1.0), level)


def log_gap(people: int, level: float) -> float:
    """The logarithm ln(E[R] - V_LB) of the excess of a person's expected payment over the lower bound V_LB, for a
    number of people and a privacy level in nats.
    """
    return _market(people, level).log_gap


def _convergence(quick: bool, progress: Progress | None) -> Findings:
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
                alt="Logarithm of the payment above its lower bound against the number of people. Each level has one "
                    "line, which falls with slope -D. The payment for odd numbers of people is a little higher than "
                    "for even numbers next to them."),
        *curves(least, title="The least that any market of N people pays, above the same", x="people N",
                y="ln(payment - V_LB)",
                alt="The same for the least payment at finite N, which falls eight to thirty times as fast."),
        Table(columns=("epsilon", "D", "slope from N = 20,000 to 40,000", "with sqrt(N) corrected",
                       "ln gap at N = 10^6"), rows=tuple(rows)),
    ))


CONVERGENCE = Study(
    name="market-convergence",
    title="How fast the payment falls to the least",
    source="Wang 2016, Theorem 4, (3.19)",
    statement="E[R] = V_LB + O(e^(-N D)) for the majority mechanism.",
    run=_convergence,
)


# ---- pairs

_PAIRS_PRIOR, _PAIRS_COST = PairPrior.beta_binomial(2.0, 3.0, people=10), LinearCost(1.0)


def _pairs(quick: bool, progress: Progress | None) -> Findings:
    levels = np.geomspace(0.2, 8.0, 16 if quick else 120)
    prices, floors = pair_prices(_PAIRS_PRIOR, _PAIRS_COST, levels), pair_floor(_PAIRS_COST, levels)
    least = np.array([least_pair_payment(_PAIRS_PRIOR, _PAIRS_COST, float(level)).payment for level in levels])
    points = [(float(level), float(each), name)
              for name, column in (("mechanism", prices), ("least at N = 10", least), ("Proposition 1", floors))
              for level, each in zip(levels, column, strict=True)]
    limit = (1.0 + 1.0 / abs(_PAIRS_PRIOR.correlation)) / 2.0
    far = 20.0
    ratio = float(pair_prices(_PAIRS_PRIOR, _PAIRS_COST, far) / pair_floor(_PAIRS_COST, far))
    best = cheapest_level(_PAIRS_PRIOR, _PAIRS_COST)
    advance(progress, 1, 1)
    compared = (
        Compared(quantity=f"payment over its lower bound at epsilon = {far:g}", published=1.0, ours=ratio,
                 agreement="differs", remark="the term that is left out is of the same order (erratum E2)",
                 origin=in_words("Wang 2016, section 5.3, after (5.21), line 1651")),
        Compared(quantity="limit of that ratio, (1 + 1/|correlation|)/2", published=None, ours=limit,
                 agreement="not published"),
        Compared(quantity="cheapest epsilon", published=None, ours=best, agreement="not published",
                 remark="a smaller epsilon costs more"),
        Compared(quantity="payment at it", published=None, ours=float(pair_prices(_PAIRS_PRIOR, _PAIRS_COST, best)),
                 agreement="not published"),
    )
    shown = (0.5, 1.0, best, 2.0, 4.0, 8.0)
    table = Table(columns=("epsilon", "payment", "least at N = 10", "Proposition 1", "ratio to it"), rows=tuple(
        (level, float(pair_prices(_PAIRS_PRIOR, _PAIRS_COST, level)),
         least_pair_payment(_PAIRS_PRIOR, _PAIRS_COST, level).payment, float(pair_floor(_PAIRS_COST, level)),
         float(pair_prices(_PAIRS_PRIOR, _PAIRS_COST, level) / pair_floor(_PAIRS_COST, level)))
        for level in shown))
    picture = curves(
        points, title="What one report costs, general prior", x="epsilon", y="expected payment", log_y=True,
        alt="Expected payment of one person against epsilon. The mechanism's curve has a minimum near 1.27, and stays "
            "above its lower bound by a factor that tends to 3.5. The least payment at 10 people lies between the "
            "curve and the bound.")
    return Findings(compared=compared, blocks=(*picture, table))


PAIRS = Study(
    name="market-pairs",
    title="A general prior: the cost of a report",
    source="Wang 2016, section 5.4, (5.17)-(5.21)",
    statement="The pair mechanism's payment is asymptotically optimal as epsilon grows.",
    run=_pairs,
)


# ---- affairs

_SIZES = (99, 348, 993, 2242, 2684)  # rate_marriage 1 to 5
_ONES = (74, 221, 547, 724, 487)
_AFFAIRS_COST = LinearCost(1.0)


def _affairs(quick: bool, progress: Progress | None) -> Findings:
    prior = PairPrior.of_groups(_SIZES, _ONES)
    levels = np.geomspace(0.3, 4.0, 8 if quick else 40).tolist()
    points: list[tuple[float, float, str]] = []
    for level in levels:
        market = PairMarket(prior, _AFFAIRS_COST, level)
        points.append((level, market.quote().expected_payment, "expected payment"))
        gains = [row.gain for row in audit_groups(market, _SIZES, _ONES)]
        points += [(level, gain, f"gain of a member who knows group {k}") for k, gain in enumerate(gains, 1)]
    at_one = PairMarket(prior, _AFFAIRS_COST, 1.0)
    found = audit_groups(at_one, _SIZES, _ONES)
    advance(progress, 1, 1)
    compared = (
        Compared(quantity="expected payment at epsilon = 1, g(x) = x", published=None,
                 ours=at_one.quote().expected_payment, agreement="not published"),
        Compared(quantity="share of ones", published=None, ours=prior.signal_one, agreement="not published"),
        Compared(quantity="covariance of two bits of one group", published=None, ours=prior.covariance,
                 agreement="not published"),
        Compared(quantity="correlation", published=None, ours=prior.correlation, agreement="not published"),
        Compared(quantity="groups, of 5, where the mechanism's report stays best for members who know them",
                 published=None, ours=float(sum(row.truthful for row in found)), agreement="not published",
                 remark="the theorem needs that people do not know their own group"),
    )
    table = Table(columns=("group", "women", "ones", "best report, group known", "gain over the mechanism's"),
                  rows=tuple((k, size, ones, row.best.name, row.gain) for k, (size, ones, row) in
                             enumerate(zip(_SIZES, _ONES, found, strict=True), 1)),
                  note="At epsilon = 1. Within a known group, bits are independent. So the peers' bits show nothing, "
                       "and a constant report is best.")
    picture = curves(points, title="A real survey: what a report costs, and what knowing one's group gains",
                     x="epsilon", y="in units of the cost of one nat", log_y=True,
                     alt="Payment and gains against epsilon, on a logarithmic scale. The payment is least near 1.3, "
                         "and a person who knows their group gains by a constant report at every level.")
    return Findings(compared=compared, blocks=(*picture, table))


AFFAIRS = Study(
    name="market-affairs",
    title="Correlated bits of a real survey",
    source="Wang 2016, Theorem 9 (the source has no experiment)",
    statement="It is an equilibrium that everybody randomises their bit at the level that is paid for.",
    run=_affairs,
)


# ---- unknown costs

_SIGNAL, _BELIEF, _ERROR, _LEVEL = 0.8, 0.7, 0.05, 2.0
_FEW, _MANY = 200, 600
_SPREADS = (5.0, 1.0)  # of ln C
_ATTENDANCE = thesis_attendance(_ERROR, _SIGNAL, _LEVEL)


def _source(people: int, spread: float) -> ThresholdMarket:
    """The market that the source chooses for a given number of people."""
    return ThresholdMarket(people, _SIGNAL, _BELIEF, LogNormalLaw(0.0, spread), _LEVEL,
                           participation=_ATTENDANCE / people)


def _fall(spread: float) -> float:
    """Relative fall of the exact total from the smallest to the largest number of people."""
    return 1.0 - _source(_MANY, spread).expected_total / _source(_FEW, spread).expected_total


def _own(quantity: str, ours: float, remark: str = "") -> Compared:
    return Compared(quantity=quantity, published=None, ours=ours, agreement="not published", remark=remark)


def _compared() -> list[Compared]:
    information = float(Reporting.of(_SIGNAL, _LEVEL).chernoff)
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
                        remark="far below the goal, so it costs too much",
                        origin=as_printed("Wang 2016, Figure 4.2, line 1400")) for each in (few, many)]
    return found


def _unknown_costs(quick: bool, progress: Progress | None) -> Findings:
    sizes = np.linspace(_FEW, _MANY, 3 if quick else 41).astype(int).tolist()
    compared, pictures = _compared(), list[Block]()
    for k, spread in enumerate(_SPREADS):
        law, points = LogNormalLaw(0.0, spread), list[tuple[float, float, str]]()
        for done, people in enumerate(sizes, 1):
            chosen = _source(people, spread)
            points += [(people, chosen.total_bound, "source's bound"), (people, chosen.expected_total, "exact total")]
            points += [(people, plan_unknown_costs(_ERROR, _SIGNAL, _BELIEF, law, criterion, people=people,
                                                   epsilon=_LEVEL).total, name)
                       for criterion, name in (("pgf", "ours, by a bound on the error"),
                                               ("exact", "ours, by the exact error"))]
            advance(progress, k * len(sizes) + done, len(_SPREADS) * len(sizes))
        pictures += curves(
            points, title=f"An error of {_ERROR:g} at epsilon = {_LEVEL:g}, sd of ln C = {spread:g}",
            x="people invited N", y="expected total payment", log_y=True,
            alt="Expected total payment, logarithmic, against the number of invited people. The source's bound and its "
                "exact total fall together, by "
                + ("more than 99 in 100" if spread > 4 else "two thirds")
                + ". Plans by the exact error cost a small part of the source's total.")
    plans = []
    for criterion in CRITERIA:
        for level in (_LEVEL, None):
            found = plan_unknown_costs(_ERROR, _SIGNAL, _BELIEF, LogNormalLaw(0.0, 1.0), criterion, people=_FEW,
                                       epsilon=level)
            plans.append((criterion, "given" if level else "best", found.epsilon, found.participants,
                          found.total, found.error))
    compared += [_own(f"plan by {row[0]}, sd of ln C = 1, N = {_FEW}, {row[1]} epsilon", row[4]) for row in plans]
    return Findings(compared=tuple(compared), blocks=(
        *pictures,
        Table(columns=("criterion", "", "epsilon", "participants", "expected total", "error"),
              rows=tuple(plans), note=f"{_FEW} people, sd of ln C = 1, median cost 1."),
    ))


UNKNOWN_COSTS = Study(
    name="market-unknown-costs",
    title="The cost of accuracy where valuations are unknown",
    source="Wang 2016, Figure 4.2, Theorem 8",
    statement="Tripling the people who are invited, from 200 to 600, drives the cost down by more than 99%.",
    run=_unknown_costs,
)
