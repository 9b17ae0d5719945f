"""Evidence for the rows of `claims.toml`: each function recomputes what decides one published claim.

The tests recompute every row; a verdict that changes fails them.
"""

from __future__ import annotations

import math

import numpy as np

from confide.contract.claims import Finding
from confide.market.costs import LinearCost
from confide.market.replies import best_response
from confide.market.signal_model import Reporting
from confide.market.threshold.cost_laws import CostLaw, ExponentialLaw, LogNormalLaw, UniformLaw
from confide.market.threshold.levels import chosen_level, cost_of_level
from confide.market.threshold.planner import plan_unknown_costs
from confide.market.threshold.random_attendance import thesis_attendance
from confide.market.threshold.threshold_market import ThresholdMarket
from confide.market.threshold.type_equilibrium import check_types, common_equilibria

__all__: list[str] = []

LAW = LogNormalLaw(0.0, 1.0)
GOAL, THETA, EPSILON = 0.05, 0.8, 2.0  # of Figure 4.2
ATTENDANCE = thesis_attendance(GOAL, THETA, EPSILON)


def _market(people: int = 200, law: CostLaw = LAW, epsilon: float = EPSILON) -> ThresholdMarket:
    """The thesis' choice for the goal of Figure 4.2."""
    return ThresholdMarket(people, THETA, 0.7, law, epsilon,
                           participation=thesis_attendance(GOAL, THETA, epsilon) / people)


def _various() -> list[ThresholdMarket]:
    return [ThresholdMarket(people, 0.7, 0.4, law, epsilon, participation=0.3)
            for people in (2, 3, 10, 101) for law in (LAW, UniformLaw(0.0, 2.0), ExponentialLaw(1.0))
            for epsilon in (0.1, 1.0, 3.0)]


def threshold_equilibrium() -> Finding:
    """The largest regret of 27 types over all channels, in units of T, over 36 markets."""
    worst = max(abs(check_types(market, types=25).regret) / market.terms.stake for market in _various())
    return Finding("holds" if worst < 1e-9 else "false", 0.0, worst)


def equilibria_beside_it() -> Finding:
    """What a participant is paid in the dearest common equilibrium, which says nothing about the bits."""
    first, market = common_equilibria(_market())[0], _market()
    dearer = not first.informative and first.payment > market.expected_payment
    return Finding("holds-with-correction" if dearer else "holds", market.expected_payment, first.payment)


def level_above_the_threshold() -> Finding:
    """The largest c/c_th at which xi(c) exists, at epsilon = 1; the proof takes one for every c above the threshold."""
    market = ThresholdMarket(50, THETA, 0.7, LAW, 1.0, threshold=1.0)
    last = float(cost_of_level(0.0, 1.0, 1.0))
    beyond = best_response(market.interim_matrix(), LinearCost(last * (1.0 + 1e-9)))
    gone = beyond.name == "always none" and beyond.margin == -math.inf
    return Finding("holds-with-correction" if gone and math.isfinite(last) else "holds", math.inf, last)


def payment_without_loss() -> Finding:
    """The level of a strategy whose payment and utility are at least 0, which the proof's Step 2 takes to be 0."""
    market = _market()
    good = market.payment_of(1.0) > 0 and market.utility_of(1.0) > 0
    level = float(market.level_of(1.0))
    return Finding("holds-with-correction" if good and level > 0 else "holds", 0.0, level)


def printed_level() -> Finding:
    """The largest difference between (4.1) as printed and 2 arccosh(...), where the print can be evaluated."""
    share = np.geomspace(1e-6, 1.0, 200)
    with np.errstate(divide="ignore"):
        printed = np.log(1.0 / (0.5 - np.sqrt(0.25 - share / (4.0 * math.cosh(EPSILON / 2.0) ** 2))) - 1.0)
    off = float(np.abs(printed - chosen_level(share, 1.0, EPSILON)).max())
    return Finding("holds" if off < 1e-8 else "false", 0.0, off)


def signs_of_payments() -> Finding:
    """The largest payment for disagreeing, in units of T, over 36 markets and all numbers of participants."""
    tables = [market.payment_tables() / market.terms.stake for market in _various()]
    mismatch = max(float(np.maximum(table[:, 0, 1], table[:, 1, 0]).max()) for table in tables)
    match = min(float(np.minimum(table[:, 0, 0], table[:, 1, 1]).min()) for table in tables)
    return Finding("holds" if mismatch < 0 < match else "false", 0.0, mismatch)


def quality_floor() -> Finding:
    """mu beside e^epsilon/(e^epsilon + 1), and the level that one participant in a hundred exceeds."""
    market = _market()
    floor = 1.0 / (1.0 + math.exp(-EPSILON))
    return Finding("holds" if floor <= market.match else "false", floor, market.match)


def levels_of_participants() -> Finding:
    """The level that one participant in a hundred exceeds, where epsilon is 2."""
    level = float(_market().level_quantile(0.99))
    return Finding("holds-with-correction" if level > EPSILON else "holds", EPSILON, level)


def payment_of_a_participant() -> Finding:
    """c_th (1 + e^-epsilon + epsilon) beside the exact expected payment of a participant."""
    market = _market()
    return Finding("holds" if market.expected_payment <= market.terms.truth else "false", market.terms.truth,
                   market.expected_payment)


def revealed_costs() -> Finding:
    """P(C <= c_th) before and after a person is seen to take part."""
    market = _market()
    takes = float(market.takes_part(market.cost_law.quantile(np.linspace(0.01, 1.0, 50) * market.presence)).mean())
    return Finding("holds-with-correction" if takes > market.presence else "holds", market.presence, takes)


def rounds_of_repetition() -> Finding:
    """Rounds after which the dearest participant's running total is nonnegative with probability .95."""
    market = _market()
    rounds = market.rounds_until_nonnegative(0.05)
    return Finding("holds-with-correction" if market.negative_probability() > 0.05 and rounds > 1 else "holds", 1.0,
                   float(rounds))


def accuracy_of_the_choice() -> Finding:
    """The exact error of the thesis' choice at N = 200, for the goal .05."""
    error = _market().error_probability()
    return Finding("holds" if error <= GOAL else "false", GOAL, error)


def constant_of_the_attendance() -> Finding:
    """rho n_e with +2 as printed and with the +1 that the proof uses: the square roots are then equal."""
    needed = -math.log(GOAL / 2.0) / float(Reporting.of(THETA, EPSILON).chernoff)
    least = ATTENDANCE - needed
    root = math.sqrt(1.0 / (2.0 * GOAL)) + math.sqrt(1.0 / (2.0 * GOAL) + needed)
    enough = abs(math.sqrt(least) - root) < 1e-12 * root
    return Finding("holds-with-correction" if enough else "holds", ATTENDANCE, least)


def vanishing_total() -> Finding:
    """The exact expected total of the thesis' choice at a hundred million people, beside that at two hundred."""
    few, many = (_market(people).expected_total for people in (200, 10**8))
    return Finding("holds" if many < 1e-2 * few else "false", few, many)


def vanishing_threshold() -> Finding:
    """c_th of the thesis' choice at a hundred million people, beside that at two hundred."""
    few, many = (_market(people).cost_threshold for people in (200, 10**8))
    return Finding("holds" if many < 1e-2 * few else "false", few, many)


def _fall(sdlog: float) -> float:
    """By which share the bound (4.13) falls from 200 to 600 people, for a log-normal law."""
    few, many = (float(LogNormalLaw(0.0, sdlog).quantile(ATTENDANCE / people)) for people in (200, 600))
    return 1.0 - many / few


def figure_4_2() -> Finding:
    """By which share the bound falls when N triples, if the sd of ln C is 1; the figure does not give it."""
    return Finding("holds-with-correction" if _fall(1.0) < 0.99 < _fall(5.0) else "holds", 0.99, _fall(1.0))


def price_of_the_choice() -> Finding:
    """The exact expected total of the thesis' choice at its best epsilon, beside the least whose error is the goal."""
    loose = plan_unknown_costs(GOAL, THETA, 0.7, LAW, "thesis", people=200)
    exact = plan_unknown_costs(GOAL, THETA, 0.7, LAW, people=200, epsilon=2.5)
    good = exact.error <= GOAL and exact.total < loose.total / 10.0
    return Finding("holds-with-correction" if good else "holds", loose.total, exact.total)
