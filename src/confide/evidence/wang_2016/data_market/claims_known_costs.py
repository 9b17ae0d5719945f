"""Claims of chapter 3 of Wang 2016, about buying bits at known costs.

Each public function recomputes the evidence for a claim. The argument `line` of a claim is a line number in the
plain-text copy of the source that was checked.

A person's interim matrix contains P(S = s) E[R | X = x, S = s] for each report x and each bit s of the person, where R
is the payment. V_LB is the source's lower bound on the expected payment of one person. A genie is an imaginary
mechanism that knows the state.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import linprog

from confide.evidence.claim import Recomputed, claims_of
from confide.evidence.wang_2016.data_market.enumeration import (
    PaymentRule,
    enumerated_interim,
    genie_replica,
    relabelled_rule,
)
from confide.evidence.wang_2016.data_market.genie import GenieMarket
from confide.evidence.wang_2016.data_market.heterogeneous import HeterogeneousMarket
from confide.market.binomials import error_probability, majority_errors
from confide.market.costs import LinearCost, PowerCost
from confide.market.equilibrium import check_equilibrium, symmetric_equilibria
from confide.market.majority import MajorityMarket, proof_function
from confide.market.matching import payment_unit, price_floor
from confide.market.optimum import least_payment
from confide.market.planner import plan
from confide.market.price_levels import best_price_level, thesis_bounds
from confide.market.signal_model import Reporting, SignalModel
from confide.market.strategies import NONE, Strategy, best_response, regret

__all__: list[str] = []

claim = claims_of("Wang 2016", family="market")

COST = LinearCost(1.0)
NATURE = SignalModel(prior_one=0.7, signal_accuracy=0.8)


def _market(people: int, epsilon: float = 1.0, theta: float = 0.8) -> MajorityMarket:
    return MajorityMarket(people, theta, 0.7, COST, epsilon)


def _matrices(signed: bool) -> list[np.ndarray]:
    """Interim matrices with payments on a fixed grid. The report `none` is paid nothing."""
    index = np.arange(1, 2001)[:, None]
    rows = 4.0 * np.modf(index * np.sqrt([2.0, 3.0, 5.0, 7.0]))[0] - (2.0 if signed else 0.0)
    return [np.vstack([row.reshape(2, 2), np.zeros(2)]) for row in rows]


@claim(
    id="market/lemma-1", statement="Lemma 1", line=634, verdict="holds", pinned=(0.0, 0.0),
    claim="A best response to nonnegative payments is a symmetric randomised response or non-informative.",
    correction="Where taking no part pays nothing, which all mechanisms of the chapter keep to.",
)
def shape_of_best_replies() -> Recomputed:
    """Number of best replies that are neither symmetric randomised responses nor uninformative. The replies are those
    to 2000 interim matrices without negative payments.
    """
    wrong = sum(NONE in {reply.on_one, reply.on_zero} and reply.informative
                for a in _matrices(signed=False) for reply in best_response(a, COST).replies)
    return Recomputed("holds" if wrong == 0 else "false", 0.0, float(wrong))


@claim(
    id="market/lemma-1-absence", statement="Lemma 1 for every nonnegative mechanism", line=634,
    verdict="holds-with-correction", pinned=(0.0, 2.06343707),
    claim="Also where a mechanism pays people who take no part.",
    correction="Not then: the best reply can be a randomised response on the labels 1 and none. The source assumes "
               "R(none, .) = 0 (E4).",
)
def replies_where_absence_is_paid() -> Recomputed:
    """Privacy level of the best reply to a mechanism that pays people who stay out, without negative payments. The best
    reply is a randomised response between two choices: reporting 1, and staying out.
    """
    best = best_response([[0.0, 0.0], [0.0, 5.0], [5.0, 0.0]], COST)
    odd = best.unique and {best.replies[0].on_one, best.replies[0].on_zero} == {1, NONE}
    return Recomputed("holds-with-correction" if odd else "holds", 0.0, best.level)


def _any_rule() -> tuple[PaymentRule, list[Strategy]]:
    table = np.modf(np.arange(81.0) * math.sqrt(2.0))[0].reshape(3, 3, 3, 3)
    profile = [Strategy.randomised(-1.0), Strategy.randomised(0.5).thinned(0.8), Strategy.always("1")]
    return (lambda reports: table[reports]), profile


@claim(
    id="market/lemma-2", statement="Lemma 2", line=640, verdict="holds", pinned=(0.0, 5.55111512e-17),
    claim="An equilibrium at level -eps turns into one at eps, with the same payments, by reading i's report the "
          "other way.",
    correction="It swaps two rows of i's interim matrix and leaves everybody else's.",
)
def exchanged_labels() -> Recomputed:
    """Largest change of the interim utilities of three people when one of them exchanges the labels 0 and 1 and the
    payment rule is changed to match.
    """
    rule, profile = _any_rule()
    changed, exchanged = relabelled_rule(rule, 0), [profile[0].relabelled(), *profile[1:]]
    moved = 0.0
    for person in range(3):
        before = enumerated_interim(rule, person, profile, NATURE)
        after = enumerated_interim(changed, person, exchanged, NATURE)
        moved = max(moved, float(np.abs(after - (before[[1, 0, NONE]] if person == 0 else before)).max()))
    return Recomputed("holds" if moved < 1e-12 else "false", 0.0, moved)


@claim(
    id="market/lemma-3", statement="Lemma 3", line=648, verdict="holds", pinned=(0.0, 0.0),
    claim="A genie who pays E[R_i | X_i, W] leaves the equilibrium and all expected payments as they are.",
    correction="Every interim matrix is unchanged.",
)
def genie_replicas() -> Recomputed:
    """Largest change of an interim utility when payments depend on the state, through a genie, instead of the other
    people's reports.
    """
    rule, profile = _any_rule()
    moved = max(float(np.abs(genie_replica(rule, i, profile, NATURE) @ NATURE.joint
                             - enumerated_interim(rule, i, profile, NATURE)).max()) for i in range(3))
    return Recomputed("holds" if moved < 1e-12 else "false", 0.0, moved)


@claim(
    id="market/theorem-3", statement="Theorem 3, (3.5)", line=608, verdict="holds", pinned=(5.41366892, 5.41366892),
    claim="Any nonnegative mechanism, in any equilibrium where i's level is eps, pays i at least V_LB(eps) in "
          "expectation.",
    correction="Equal to the least payment of a linear program over all genies, also of those that pay for staying "
               "out (E4).",
)
def price_of_privacy() -> Recomputed:
    """The lower bound V_LB(1) on the payment for privacy level 1, compared with the least payment of any genie whose
    payments are nonnegative. A linear program computes the least payment. The genie may also pay for staying out.
    """
    keep = 1.0 / (1.0 + math.exp(-1.0))
    # R(x, w) for x = 0, 1, none; a = R joint; a[1,1] + a[0,0] - a[1,0] - a[0,1] = 2 c keeps level 1 stationary.
    power = np.array([[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]]) @ NATURE.joint.T
    paid = np.array([[keep, 1 - keep], [1 - keep, keep], [0.0, 0.0]]) @ NATURE.joint.T
    found = linprog(paid.ravel(), A_eq=power.reshape(1, -1), b_eq=[2.0 * payment_unit(COST, 1.0)], method="highs")
    claimed = price_floor(COST, 1.0, NATURE.edge)
    return Recomputed("holds" if abs(found.fun - claimed) < 1e-8 else "false", claimed, float(found.fun))


@claim(
    id="market/genie", statement="(3.6)", line=616, verdict="holds", pinned=(5.41366892, 5.41366892),
    claim="The genie-aided mechanism makes the eps-strategy a best response and pays V_LB(eps).",
    correction="No channel at all is better, by the nine-pair solver; g' sinh eps - g above every uninformative "
               "report.",
)
def genie_attains_the_bound() -> Recomputed:
    """The genie's expected payment in equilibrium, compared with the lower bound V_LB. In this equilibrium no channel
    has a positive regret.
    """
    genie = GenieMarket(10, 0.8, 0.7, COST, 1.0)
    strategy, a = Strategy.randomised(1.0), genie.interim_matrix(NATURE)
    paid, floor = float(np.sum(a * strategy.channel)), price_floor(COST, 1.0, NATURE.edge)
    sound = abs(paid - floor) < 1e-10 and abs(regret(a, strategy, COST)) < 1e-10
    return Recomputed("holds" if sound else "false", floor, paid)


@claim(
    id="market/not-attained", statement="Remark after the proof of Theorem 3", line=748,
    verdict="holds", pinned=(0.0, 0.0679251846),
    claim="No standard nonnegative mechanism attains V_LB.",
    correction="The least excess at finite N has a closed form (.0679 at N = 10, theta = .8, P1 = .7, g = x, eps = 1).",
)
def no_mechanism_attains_it() -> Recomputed:
    """The difference V_opt - V_LB for ten people, where V_opt is the least expected payment of any mechanism that pays
    by the reports.
    """
    gap = least_payment(10, 0.8, 0.7, COST, 1.0).gap
    return Recomputed("holds" if gap > 0 else "false", 0.0, gap)


@claim(
    id="market/not-attained-everywhere", statement="Its proof: R(x) = 0 for every x", line=748,
    verdict="holds-with-correction", pinned=(0.0, 200.0),
    claim="A mechanism that attained V_LB would pay nothing on every vector of reports.",
    correction="On vectors of positive probability only, which is enough. Where one of three stays out, which has "
               "none, the two others can be paid 100 each, and nobody's interim payments move (E9).",
)
def payments_that_cost_nothing() -> Recomputed:
    """Largest sum of extra payments to three people that changes no interim payment. The extra payments go to the first
    and the third person if the second person stays out, which has probability 0 in the equilibrium.
    """
    market = _market(3)
    profile = [market.strategy] * 3

    def generous(reports: tuple[int, ...]) -> list[float]:
        paid = [float(each) for each in market.pay_reports(reports)]
        if reports[1] == NONE:  # only this person decides on that, and is not paid for it
            paid[0], paid[2] = paid[0] + 100.0, paid[2] + 100.0
        return paid

    usual = market.interim_matrix()
    moved = max(float(np.abs(enumerated_interim(generous, i, profile, NATURE) - usual).max()) for i in range(3))
    added = [sum(generous(each)) - float(np.sum(market.pay_reports(each)))
             for each in itertools.product((0, 1, NONE), repeat=3)]
    found = max(added)
    free = moved < 1e-12 and min(added) >= 0.0
    return Recomputed("holds-with-correction" if free and found > 1.0 else "holds" if free else "false", 0.0, found)


@claim(
    id="market/theorem-4", statement="Theorem 4", line=759, verdict="holds", pinned=(0.0, 1.42108547e-14),
    claim="All eps-strategies are a Nash equilibrium of R^(N,eps).",
    correction="Strict, with margin g' sinh eps - g over every uninformative report, for every N.",
)
def majority_equilibrium() -> Recomputed:
    """Largest regret over all channels in the majority mechanism, for 2 to 50 people and three privacy levels."""
    worst = max(abs(check_equilibrium(_market(n, epsilon)).regret) for n in range(2, 51) for epsilon in (0.3, 1.0, 3.0))
    return Recomputed("holds" if worst < 1e-9 else "false", 0.0, worst)


@claim(
    id="market/theorem-4-alone", statement="Theorem 4, for every N", line=759,
    verdict="holds-with-correction", pinned=(5.41366892, 0.0),
    claim="R^(N,eps) buys level eps from N people.",
    correction="From two on: R^(1,eps) pays nothing (E5).",
)
def one_participant() -> Recomputed:
    """Payment of the source's mechanism R^(N, epsilon) to a single participant, N = 1. The payment is 0, so the
    mechanism cannot buy the bit at any privacy level.
    """
    paid = _market(2).pay(1, 0).total
    return Recomputed("holds-with-correction" if paid == 0 else "holds", _market(2).quote().lower_bound, paid)


@claim(
    id="market/theorem-4-equilibria", statement="Theorem 4, the equilibrium", line=763,
    verdict="holds-with-correction", pinned=(8.85410191, 20.3907857),
    claim="R^(N,eps) obtains eps units of privacy at the stated payment.",
    correction="In one of its equilibria: all reporting 0 (or 1) is another, pays 20.39 (12.32) beside 8.85 at N = "
               "10, and tells nothing.",
)
def other_equilibria() -> Recomputed:
    """Payment in the most expensive symmetric equilibrium of ten people, compared with the payment in the honest
    equilibrium. Reports in the expensive equilibrium carry no information about the bits.
    """
    found = symmetric_equilibria(_market(10))
    honest = _market(10).quote().expected_payment
    dearer = not found[0].informative and found[0].payment > honest
    return Recomputed("holds-with-correction" if dearer else "holds", honest, found[0].payment)


@claim(
    id="market/theorem-4-rate", statement="Theorem 4, O(e^(-Nd))", line=759,
    verdict="holds", pinned=(0.0, -0.499961592),
    claim="Its excess over V_LB is O(e^(-Nd)).",
    correction="Sharp: e^(-Nd)/sqrt(N).",
)
def rate_of_the_gap() -> Recomputed:
    """The power a, where the excess of the payment over its lower bound is proportional to N^a e^(-N d) for large N.
    Here N is the number of people, and d the Chernoff information of one report. The power is fitted between 10^5 and
    10^6 people.
    """
    few, many = (_market(n) for n in (100_001, 1_000_001))
    rest = [market.log_gap + market.people * float(market.reporting.chernoff) for market in (few, many)]
    power = (rest[1] - rest[0]) / math.log(many.people / few.people)
    return Recomputed("holds" if power < 0.01 else "false", 0.0, power)


@claim(
    id="market/theorem-4-premise", statement="Proof of Theorem 4", line=941,
    verdict="holds-with-correction", pinned=(2.0, 62.0),
    claim="h(beta) <= h(gamma - e^(-(N-1)d)), which bounds the payment.",
    correction="Only where 2 e^(-(N-1)d) < gamma (E5): for no N below 62 at eps = 2, theta = .6.",
)
def premise_of_the_rate() -> Recomputed:
    """The least number of people for which the bound of the proof is defined, at privacy level epsilon = 2 and signal
    accuracy theta = .6.
    """
    least = next(n for n in range(2, 1000) if _market(n, 2.0, 0.6).proof_bound is not None)
    return Recomputed("holds-with-correction" if least > 2 else "holds", 2.0, float(least))


def _proofs_h() -> np.ndarray:
    """The proof's function h(beta) on the range of beta, for eleven people."""
    errors = majority_errors(10, Reporting.of(0.8, 1.0))
    gamma = 1.0 - float(errors.low) + float(errors.high)
    return np.asarray(proof_function(NATURE, np.linspace(gamma / 2 + 0.05, gamma, 200), gamma))


@claim(
    id="market/theorem-4-concave", statement="Proof of Theorem 4", line=900,
    verdict="holds-with-correction", pinned=(0.0, 9.16637295e-05),
    claim="h is concave.",
    correction="f is, which is meant; h, defined later, is convex (E8).",
)
def concavity_of_h() -> Recomputed:
    """Least second difference of h(beta) on an even grid. In the proof of Theorem 4, h(beta) gives the expected payment
    (`confide.market.majority.proof_function`). The proof calls h concave, but means another function f.
    """
    least = float(np.diff(_proofs_h(), 2).min())
    return Recomputed("holds-with-correction" if least > 0 else "holds", 0.0, least)


@claim(
    id="market/theorem-4-monotone", statement="Proof of Theorem 4", line=941,
    verdict="holds", pinned=(0.0, -0.0114422934),
    claim="h is non-increasing in beta.",
    correction="The same.",
)
def payment_falls_with_beta() -> Recomputed:
    """Largest increase of h(beta) from one grid point of beta to the next, where h(beta) gives the expected payment in
    the proof of Theorem 4. If the function h is non-increasing, no increase is positive.
    """
    most = float(np.diff(_proofs_h()).max())
    return Recomputed("holds" if most <= 0 else "false", 0.0, most)


@claim(
    id="market/heterogeneous", statement="Section 3.3.3", line=982, verdict="holds", pinned=(0.0, 2.84217094e-14),
    claim="With known costs g_i and g_i' in place of g', the same mechanism and bounds hold.",
    correction="Also with different levels, where the majority is Poisson-binomial.",
)
def costs_of_everybody() -> Recomputed:
    """Largest regret of any of ten people with ten different costs. Each person is paid by the table of the majority
    mechanism, with their own marginal cost g'.
    """
    market = HeterogeneousMarket(0.8, 0.7, [PowerCost(1.0 + i, 1.0 + i / 5) for i in range(10)], 1.0)
    worst = max(abs(regret(market.interim_matrix(i), market.strategy(i), market.costs[i])) for i in range(10))
    return Recomputed("holds" if worst < 1e-9 else "false", 0.0, worst)


@claim(
    id="market/lemma-4-limit", statement="Proof of Lemma 4", line=2322, verdict="false", pinned=(0.0, 0.00449986499),
    claim="D(eps)/V_LB(eps) -> 0 as eps -> 0, so that eps~ exists.",
    correction="For g = x^3 it tends to its supremum (2 theta - 1)^3/48: more people at smaller levels are ever "
               "cheaper (E1).",
)
def limit_of_the_ratio() -> Recomputed:
    """The ratio D/V_LB of the Chernoff information D of a report to the lower bound V_LB on the payment, at privacy
    level epsilon = 1e-4 and for the cost g(x) = x^3. The proof of Lemma 4 says that this ratio tends to 0 as epsilon
    falls to 0.
    """
    epsilon, cost = 1e-4, PowerCost(1.0, 3.0)
    ratio = float(Reporting.of(0.8, epsilon).chernoff) / price_floor(cost, epsilon, 0.6)
    return Recomputed("false" if ratio > 1e-3 else "holds", 0.0, ratio)


@claim(
    id="market/theorem-5-lower", statement="Theorem 5, Lemma 4", line=1023,
    verdict="holds-with-correction", pinned=(212.806088, 220.232019),
    claim="(N~ - 1) V_LB(eps~) <= F(tau).",
    correction="Where x^2/g'(x) -> 0 at 0 (E1). Its proof gives ln(1/tau) V_LB/D, which is larger.",
)
def bounds_on_the_total() -> Recomputed:
    """The lower bound of Theorem 5 on the total payment at error goal tau = .1, compared with the tighter bound in the
    proof of Theorem 5.
    """
    bounds = thesis_bounds(0.1, 0.8, 0.7, COST)
    ordered = bounds.lower <= bounds.tighter <= plan(0.1, 0.8, 0.7, COST, "chernoff").total <= bounds.total
    return Recomputed("holds-with-correction" if ordered else "false", bounds.lower, bounds.tighter)


@claim(
    id="market/theorem-5-upper", statement="Theorem 5, Lemma 5", line=1056,
    verdict="holds", pinned=(31.8076068, 31.8076068),
    claim="F(tau) <= N~ V_LB(eps~) + O(tau ln(1/tau)).",
    correction="With max(N~, 2) people.",
)
def excess_of_the_total() -> Recomputed:
    """Excess of the mechanism's total payment over N V_LB, the lower bound for N people, divided by tau ln(1/tau). The
    largest ratio is taken over error goals tau from .1 to 1e-12, at the privacy level that the thesis calls eps tilde.
    The ratio must be at least as large at tau = .1 as at tau = 1e-12.
    """
    level = best_price_level(COST, 0.8)
    ratios = []
    for k in range(1, 13):
        tau = 10.0**-k
        market = _market(thesis_bounds(tau, 0.8, 0.7, COST).people, level)
        ratios.append(market.people * math.exp(market.log_gap) / (tau * math.log(1.0 / tau)))
    return Recomputed("holds" if ratios[-1] <= ratios[0] else "false", ratios[0], max(ratios))


@claim(
    id="market/figure-3.2", statement="Figure 3.2", line=1035, verdict="holds", pinned=(212.806088, 229.382498),
    claim="Lower and upper bounds of the total payment for tau in [.001, .4].",
    correction="212.806 and 229.382 at tau = .1; the cheapest market within the same target costs 227.681.",
)
def figure_3_2() -> Recomputed:
    """Total payment of the majority mechanism at error goal tau = .1, compared with the lower bound of Theorem 5."""
    bounds = thesis_bounds(0.1, 0.8, 0.7, COST)
    good = bounds.people == 24 and abs(bounds.total / 229.382 - 1) < 1e-4
    return Recomputed("holds" if good else "false", bounds.lower, bounds.total)


@claim(
    id="market/error-bound", statement="(3.22)", line=1073, verdict="holds", pinned=(1.0, 0.312242414),
    claim="p_e <= e^(-sum of D).",
    correction="Even sqrt(P1 P0) times that.",
)
def bhattacharyya_bound() -> Recomputed:
    """Largest ratio of the exact error probability to the bound e^(-N D), where D is the Chernoff information of one
    report, for N from 1 to 200 people. The verdict requires a ratio of at most sqrt(P1 P0), where P1 and P0 are the
    prior probabilities of the states.
    """
    reporting = Reporting.of(0.8, 1.0)
    worst = max(error_probability(n, NATURE, reporting) / math.exp(-n * float(reporting.chernoff))
                for n in range(1, 201))
    return Recomputed("holds" if worst <= math.sqrt(0.21) else "false", 1.0, worst)


@claim(
    id="market/error-exponent", statement="Remark after (3.22)", line=1075,
    verdict="holds", pinned=(0.0399973798, 0.0403015497),
    claim="The bound is tight in exponent for equal levels.",
    correction="The same.",
)
def exponent_of_the_error() -> Recomputed:
    """The exponent -ln(p_e)/N of the exact error probability p_e of N = 15,000 people, compared with the Chernoff
    information D of one report.
    """
    reporting, people = Reporting.of(0.8, 1.0), 15_000
    found = -math.log(error_probability(people, NATURE, reporting)) / people
    claimed = float(reporting.chernoff)
    return Recomputed("holds" if abs(found / claimed - 1) < 0.02 else "false", claimed, found)


@claim(
    id="market/error-intractable", statement="Section 3.5", line=1068, verdict="false", pinned=(445.169512, 251.799736),
    claim="The exact form of p_e is intractable.",
    correction="Two incomplete beta functions for equal levels. Planning by it costs 251.80 where the thesis' choice "
               "costs 445.17 (p_e <= .01).",
)
def exact_error() -> Recomputed:
    """The least total payment at which the exact error probability is at most .01, compared with the total payment that
    the thesis chooses. The thesis calls the exact error probability intractable.
    """
    loose, exact = (plan(0.01, 0.8, 0.7, COST, criterion) for criterion in ("thesis", "exact"))
    return Recomputed("false" if exact.error <= 0.01 and exact.total < loose.total else "holds",
                      loose.total, exact.total)
