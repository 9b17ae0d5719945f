"""Evidence for the rows of `claims.toml`: each function recomputes what decides one published claim.

The tests recompute every row; a verdict that changes fails them.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import linprog

from confide.contract.claims import Finding
from confide.market.binomials import majority_errors
from confide.market.costs import LinearCost, PowerCost
from confide.market.decision import error_probability
from confide.market.enumeration import PaymentRule, enumerated_interim, genie_replica, relabelled_rule
from confide.market.equilibrium import check_equilibrium, symmetric_equilibria
from confide.market.genie import GenieMarket
from confide.market.heterogeneous import HeterogeneousMarket
from confide.market.majority import MajorityMarket, proof_function
from confide.market.matching import payment_unit, price_floor
from confide.market.optimum import least_payment
from confide.market.planner import plan
from confide.market.price_levels import best_price_level, thesis_bounds
from confide.market.replies import best_response, regret
from confide.market.signal_model import Reporting, SignalModel
from confide.market.strategies import NONE, Strategy

__all__: list[str] = []

COST = LinearCost(1.0)
NATURE = SignalModel(prior_one=0.7, signal_accuracy=0.8)


def _market(people: int, epsilon: float = 1.0, theta: float = 0.8) -> MajorityMarket:
    return MajorityMarket(people, theta, 0.7, COST, epsilon)


def _matrices(signed: bool) -> list[np.ndarray]:
    """Interim matrices on a fixed grid of payments; `none` is paid nothing."""
    index = np.arange(1, 2001)[:, None]
    rows = 4.0 * np.modf(index * np.sqrt([2.0, 3.0, 5.0, 7.0]))[0] - (2.0 if signed else 0.0)
    return [np.vstack([row.reshape(2, 2), np.zeros(2)]) for row in rows]


def shape_of_best_replies() -> Finding:
    """Best replies to 2000 nonnegative matrices that are neither symmetric randomised responses nor uninformative."""
    wrong = sum(NONE in {reply.on_one, reply.on_zero} and reply.informative
                for a in _matrices(signed=False) for reply in best_response(a, COST).replies)
    return Finding("holds" if wrong == 0 else "false", 0.0, float(wrong))


def replies_where_absence_is_paid() -> Finding:
    """A nonnegative mechanism that pays for staying out: the level of a best reply that stays out on bit 0."""
    best = best_response([[0.0, 0.0], [0.0, 5.0], [5.0, 0.0]], COST)
    odd = best.unique and {best.replies[0].on_one, best.replies[0].on_zero} == {1, NONE}
    return Finding("holds-with-correction" if odd else "holds", 0.0, best.level)


def _any_rule() -> tuple[PaymentRule, list[Strategy]]:
    table = np.modf(np.arange(81.0) * math.sqrt(2.0))[0].reshape(3, 3, 3, 3)
    profile = [Strategy.randomised(-1.0), Strategy.randomised(0.5).thinned(0.8), Strategy.always("1")]
    return (lambda reports: table[reports]), profile


def exchanged_labels() -> Finding:
    """The most that any of three people's interim utilities move when one exchanges labels under the changed rule."""
    rule, profile = _any_rule()
    changed, exchanged = relabelled_rule(rule, 0), [profile[0].relabelled(), *profile[1:]]
    moved = 0.0
    for person in range(3):
        before = enumerated_interim(rule, person, profile, NATURE)
        after = enumerated_interim(changed, person, exchanged, NATURE)
        moved = max(moved, float(np.abs(after - (before[[1, 0, NONE]] if person == 0 else before)).max()))
    return Finding("holds" if moved < 1e-12 else "false", 0.0, moved)


def genie_replicas() -> Finding:
    """The most that any interim utility moves when a genie pays by the state instead of the others' reports."""
    rule, profile = _any_rule()
    moved = max(float(np.abs(genie_replica(rule, i, profile, NATURE) @ NATURE.joint
                             - enumerated_interim(rule, i, profile, NATURE)).max()) for i in range(3))
    return Finding("holds" if moved < 1e-12 else "false", 0.0, moved)


def price_of_privacy() -> Finding:
    """V_LB(1) against the least payment of any nonnegative genie, by a linear program, absence paid or not."""
    keep = 1.0 / (1.0 + math.exp(-1.0))
    # R(x, w) for x = 0, 1, none; a = R joint; a[1,1] + a[0,0] - a[1,0] - a[0,1] = 2 c keeps level 1 stationary.
    power = np.array([[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]]) @ NATURE.joint.T
    paid = np.array([[keep, 1 - keep], [1 - keep, keep], [0.0, 0.0]]) @ NATURE.joint.T
    found = linprog(paid.ravel(), A_eq=power.reshape(1, -1), b_eq=[2.0 * payment_unit(COST, 1.0)], method="highs")
    claimed = price_floor(COST, 1.0, NATURE.edge)
    return Finding("holds" if abs(found.fun - claimed) < 1e-8 else "false", claimed, float(found.fun))


def genie_attains_the_bound() -> Finding:
    """The genie's expected payment in its equilibrium, whose regret over all channels is 0."""
    genie = GenieMarket(10, 0.8, 0.7, COST, 1.0)
    strategy, a = Strategy.randomised(1.0), genie.interim_matrix(NATURE)
    paid, floor = float(np.sum(a * strategy.channel)), price_floor(COST, 1.0, NATURE.edge)
    sound = abs(paid - floor) < 1e-10 and abs(regret(a, strategy, COST)) < 1e-10
    return Finding("holds" if sound else "false", floor, paid)


def no_mechanism_attains_it() -> Finding:
    """V_opt - V_LB, the least excess of any standard mechanism of ten people."""
    gap = least_payment(10, 0.8, 0.7, COST, 1.0).gap
    return Finding("holds" if gap > 0 else "false", 0.0, gap)


def payments_that_cost_nothing() -> Finding:
    """The most that is paid beyond the mechanism, on vectors of reports that have probability 0, while no interim
    payment of any of the three moves, a deviator's included: the others are paid if the second stays out.
    """
    market = _market(3)
    profile = [market.strategy] * 3

    def generous(reports: tuple[int, ...]) -> list[float]:
        paid = [float(each) for each in market.pay_reports(reports)]
        if reports[1] == NONE:  # nobody but she decides on that, and she is not paid for it
            paid[0], paid[2] = paid[0] + 100.0, paid[2] + 100.0
        return paid

    usual = market.interim_matrix()
    moved = max(float(np.abs(enumerated_interim(generous, i, profile, NATURE) - usual).max()) for i in range(3))
    added = [sum(generous(each)) - float(np.sum(market.pay_reports(each)))
             for each in itertools.product((0, 1, NONE), repeat=3)]
    found = max(added)
    free = moved < 1e-12 and min(added) >= 0.0
    return Finding("holds-with-correction" if free and found > 1.0 else "holds" if free else "false", 0.0, found)


def majority_equilibrium() -> Finding:
    """The largest regret over all channels, for 2 to 50 people and three levels."""
    worst = max(abs(check_equilibrium(_market(n, epsilon)).regret) for n in range(2, 51) for epsilon in (0.3, 1.0, 3.0))
    return Finding("holds" if worst < 1e-9 else "false", 0.0, worst)


def one_participant() -> Finding:
    """What R^(1, epsilon) pays: nothing, so that nobody's level is bought."""
    paid = _market(2).pay(1, 0).total
    return Finding("holds-with-correction" if paid == 0 else "holds", _market(2).quote().lower_bound, paid)


def other_equilibria() -> Finding:
    """The dearest symmetric equilibrium of ten people, which says nothing about the bits, beside the honest one."""
    found = symmetric_equilibria(_market(10))
    honest = _market(10).quote().expected_payment
    dearer = not found[0].informative and found[0].payment > honest
    return Finding("holds-with-correction" if dearer else "holds", honest, found[0].payment)


def rate_of_the_gap() -> Finding:
    """The power of N beside e^(-N d) in the gap, between 10^5 and 10^6 people."""
    few, many = (_market(n) for n in (100_001, 1_000_001))
    rest = [market.log_gap + market.people * float(market.reporting.chernoff) for market in (few, many)]
    power = (rest[1] - rest[0]) / math.log(many.people / few.people)
    return Finding("holds" if power < 0.01 else "false", 0.0, power)


def premise_of_the_rate() -> Finding:
    """The least number of people for which the proof's bound says anything, at epsilon = 2 and theta = .6."""
    least = next(n for n in range(2, 1000) if _market(n, 2.0, 0.6).proof_bound is not None)
    return Finding("holds-with-correction" if least > 2 else "holds", 2.0, float(least))


def _proofs_h() -> np.ndarray:
    """h(beta) on its range, for eleven people."""
    errors = majority_errors(10, Reporting.of(0.8, 1.0))
    gamma = 1.0 - float(errors.low) + float(errors.high)
    return np.asarray(proof_function(NATURE, np.linspace(gamma / 2 + 0.05, gamma, 200), gamma))


def concavity_of_h() -> Finding:
    """The least second difference of h(beta), which the proof calls concave and means f."""
    least = float(np.diff(_proofs_h(), 2).min())
    return Finding("holds-with-correction" if least > 0 else "holds", 0.0, least)


def payment_falls_with_beta() -> Finding:
    """The largest difference of h(beta) on its range: not positive."""
    most = float(np.diff(_proofs_h()).max())
    return Finding("holds" if most <= 0 else "false", 0.0, most)


def costs_of_everybody() -> Finding:
    """Ten people of ten costs: the largest regret of any of them at the majority's table with her own g'."""
    market = HeterogeneousMarket(0.8, 0.7, [PowerCost(1.0 + i, 1.0 + i / 5) for i in range(10)], 1.0)
    worst = max(abs(regret(market.interim_matrix(i), market.strategy(i), market.costs[i])) for i in range(10))
    return Finding("holds" if worst < 1e-9 else "false", 0.0, worst)


def limit_of_the_ratio() -> Finding:
    """D/V_LB at epsilon = 1e-4 for g = x^3, which Lemma 4's proof takes to 0."""
    epsilon, cost = 1e-4, PowerCost(1.0, 3.0)
    ratio = float(Reporting.of(0.8, epsilon).chernoff) / price_floor(cost, epsilon, 0.6)
    return Finding("false" if ratio > 1e-3 else "holds", 0.0, ratio)


def bounds_on_the_total() -> Finding:
    """Theorem 5 at tau = .1: its lower bound, and the tighter one that its proof gives."""
    bounds = thesis_bounds(0.1, 0.8, 0.7, COST)
    ordered = bounds.lower <= bounds.tighter <= plan(0.1, 0.8, 0.7, COST, "chernoff").total <= bounds.total
    return Finding("holds-with-correction" if ordered else "false", bounds.lower, bounds.tighter)


def excess_of_the_total() -> Finding:
    """(N E[R] - N V_LB)/(tau ln(1/tau)) at eps tilde: the largest over tau from .1 to 1e-12; bounded."""
    level = best_price_level(COST, 0.8)
    ratios = []
    for k in range(1, 13):
        tau = 10.0**-k
        market = _market(thesis_bounds(tau, 0.8, 0.7, COST).people, level)
        ratios.append(market.people * math.exp(market.log_gap) / (tau * math.log(1.0 / tau)))
    return Finding("holds" if ratios[-1] <= ratios[0] else "false", ratios[0], max(ratios))


def figure_3_2() -> Finding:
    """The mechanism's total at tau = .1 beside the lower bound."""
    bounds = thesis_bounds(0.1, 0.8, 0.7, COST)
    good = bounds.people == 24 and abs(bounds.total / 229.382 - 1) < 1e-4
    return Finding("holds" if good else "false", bounds.lower, bounds.total)


def bhattacharyya_bound() -> Finding:
    """e^(-N D) against the exact error, for 1 to 200 people; sqrt(P1 P0) e^(-N D) holds too."""
    reporting = Reporting.of(0.8, 1.0)
    worst = max(error_probability(n, NATURE, reporting) / math.exp(-n * float(reporting.chernoff))
                for n in range(1, 201))
    return Finding("holds" if worst <= math.sqrt(0.21) else "false", 1.0, worst)


def exponent_of_the_error() -> Finding:
    """-ln(p_e)/N against D at N = 15,000."""
    reporting, people = Reporting.of(0.8, 1.0), 15_000
    found = -math.log(error_probability(people, NATURE, reporting)) / people
    claimed = float(reporting.chernoff)
    return Finding("holds" if abs(found / claimed - 1) < 0.02 else "false", claimed, found)


def exact_error() -> Finding:
    """The error that is called intractable: the exact cheapest total for p_e <= .01 beside the thesis' choice."""
    loose, exact = (plan(0.01, 0.8, 0.7, COST, criterion) for criterion in ("thesis", "exact"))
    return Finding("false" if exact.error <= 0.01 and exact.total < loose.total else "holds", loose.total, exact.total)
