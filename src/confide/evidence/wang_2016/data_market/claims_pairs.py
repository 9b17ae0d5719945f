"""Claims of chapter 5 of Wang 2016, about buying bits under a general prior to estimate the mean of the bits.

Each public function recomputes the evidence for a claim. The argument `line` of a claim is a line number in the
plain-text copy of the source that was checked.

P11, P01 and P00 are the joint probabilities of two people's bits.
"""

from __future__ import annotations

import math

import numpy as np

from confide.evidence.claim import Recomputed, claims_of
from confide.evidence.wang_2016.data_market.least_pair import least_pair_payment
from confide.market.costs import LinearCost, PowerCost
from confide.market.equilibrium import check_equilibrium, symmetric_equilibria
from confide.market.matching import payment_unit
from confide.market.pairs.accuracy import chebyshev_level, failure_probability, thesis_level
from confide.market.pairs.market import PairMarket, audit_groups
from confide.market.pairs.prices import pair_excess, pair_floor, pair_prices
from confide.market.pairs.prior import PairPrior, log_report_law

__all__: list[str] = []

claim = claims_of("Wang 2016", family="market")

COST = LinearCost(1.0)
AGREE = PairPrior.beta_binomial(2.0, 3.0, 10)
DISAGREE = PairPrior.of_counts([0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0])
FAIR = ([99, 348, 993, 2242, 2684], [74, 221, 547, 724, 487])
"""Fair's survey of women, in five groups by the rating of their marriage: size of each group, and number of bits 1
(affairs)."""


@claim(
    id="pairs/covariance", statement="(5.5)", line=1555, verdict="holds", pinned=(0.0, 2.08166817e-17),
    claim="D = P11 P00 - P01 P10 is the covariance of two bits, and D = 0 exactly if two bits are independent.",
    correction="For two bits. Not for a person's belief: a person who knows the common cause of the bits sees D = 0 "
               "(pairs/covariates).",
)
def covariance_of_two_bits() -> Recomputed:
    """Largest difference between P11 P00 - P01^2 and the covariance of two bits, for priors given by two probabilities
    and by the law of the number of ones.
    """
    off = 0.0
    for prior in (AGREE, DISAGREE):
        p = prior.pairs
        off = max(off, abs(float(p[1, 1] * p[0, 0] - p[0, 1] * p[1, 0]) - prior.covariance))
    off = max(off, abs(PairPrior.of_counts(np.exp(np.asarray(AGREE.log_counts))).covariance - AGREE.covariance))
    return Recomputed("holds" if off < 1e-15 else "false", 0.0, off)


@claim(
    id="pairs/theorem-9", statement="Theorem 9", line=1589, verdict="holds", pinned=(0.0, 1.13686838e-13),
    claim="All epsilon-strategies are a Nash equilibrium of R^(N,eps), whether bits agree (D > 0) or disagree (D < 0).",
    correction="Strict: no regret over all channels, and g' sinh eps - g above every report that ignores the bit; "
               "averaged or not.",
)
def pair_equilibrium() -> Recomputed:
    """Largest regret over all channels in the pair mechanism, for bits of positive and of negative covariance, two
    costs and three privacy levels.
    """
    worst = max(abs(check_equilibrium(PairMarket(prior, cost, level)).regret) for prior in (AGREE, DISAGREE)
                for cost in (COST, PowerCost(1.0, 2.0)) for level in (0.3, 1.0, 3.0))
    return Recomputed("holds" if worst < 1e-9 else "false", 0.0, worst)


@claim(
    id="pairs/theorem-9-equilibria", statement="Theorem 9 as quality control", line=1605,
    verdict="holds-with-correction", pinned=(35.275826, 75.1465519),
    claim="With R^(N,eps) the data collector knows and controls the quality of the collected data.",
    correction="In this equilibrium. Where D > 0, everybody reporting 1 is one too: 75.15 instead of 35.28 for "
               "beta-binomial(2,3).",
)
def other_equilibria() -> Recomputed:
    """Expected payment of a person in the most expensive symmetric equilibrium, compared with that in the honest
    equilibrium. Reports in the expensive equilibrium carry no information about the bits.
    """
    market = PairMarket(AGREE, COST, 1.0)
    found, honest = symmetric_equilibria(market)[0], market.quote().expected_payment
    dearer = not found.informative and found.payment > honest
    return Recomputed("holds-with-correction" if dearer else "holds", honest, found.payment)


@claim(
    id="pairs/covariates", statement="Section 5.2, common prior", line=1507,
    verdict="holds-with-correction", pinned=(0.0, 5.0),
    claim="People's joint law is common knowledge, and their beliefs about peers follow from their own bits alone.",
    correction="A condition on everybody's ignorance: in Fair's survey, a constant report is best in every group "
               "for a person who knows their own rating.",
)
def who_knows_her_group() -> Recomputed:
    """Number of groups, of five, in which a member who knows their group would not report according to their bit."""
    rows = audit_groups(PairMarket(PairPrior.of_groups(*FAIR), COST, 1.0), *FAIR)
    silent = sum(not row.truthful for row in rows)
    return Recomputed("holds-with-correction" if silent else "holds", 0.0, float(silent))


@claim(
    id="pairs/estimator", statement="(5.2)", line=1530, verdict="holds", pinned=(0.0460336797, 0.0460336797),
    claim="The estimate is unbiased with variance e^eps/(N (e^eps - 1)^2), for all bits.",
    correction="When all take part; otherwise it estimates the participants' share, and needs one participant at "
               "least.",
)
def moments_of_the_estimate() -> Recomputed:
    """Variance of the estimate of the mean from the reports of 20 people, 7 of them with bit 1, compared with the
    printed variance.
    """
    n, ones, level = 20, 7, 1.0
    with np.errstate(divide="ignore"):
        law = np.exp(log_report_law(np.log(np.equal(np.arange(n + 1), ones).astype(np.float64)), level))
    values = ((math.exp(level) + 1) * np.arange(n + 1) / n - 1) / (math.exp(level) - 1)
    bias, claimed = float(law @ values) - ones / n, math.exp(level) / (n * (math.exp(level) - 1) ** 2)
    variance = float(law @ (values - law @ values) ** 2)
    sound = abs(bias) < 1e-12 and abs(variance / claimed - 1) < 1e-12
    return Recomputed("holds" if sound else "false", claimed, variance)


@claim(
    id="pairs/theorem-10", statement="Theorem 10, (5.16)", line=1611, verdict="holds", pinned=(0.05, 1.33984413e-05),
    claim="eps >= ln(2 + 1/(N alpha^2 delta)) makes the estimate (alpha, delta)-accurate.",
    correction="Loose: at (N, alpha, delta) = (1000, .05, .05) it asks for 2.3026; the exact failure probability "
               "there is 1.3e-5.",
)
def printed_level() -> Recomputed:
    """Exact failure probability at the privacy level of formula (5.16), compared with the allowed failure probability
    delta. The exact probability is that for the worst data set.
    """
    n, alpha, delta = 1000, 0.05, 0.05
    worst = failure_probability(n, thesis_level(n, alpha, delta), alpha)
    return Recomputed("holds" if worst <= delta else "false", delta, worst)


@claim(
    id="pairs/theorem-10-floor", statement="Theorem 10, many people", line=1619,
    verdict="holds-with-correction", pinned=(0.694146681, 0.0447176336),
    claim="The level that an accuracy needs is (5.16)'s, which never falls below ln 2.",
    correction="The same Chebyshev bound, inverted exactly, needs 2 asinh(1/(2 sqrt(N alpha^2 delta))), which goes to "
               "0.",
)
def levels_below_ln_2() -> Recomputed:
    """The privacy level of formula (5.16) for 10^8 people, compared with the smaller level that is sufficient by
    Chebyshev's inequality, from which the source derives the formula.
    """
    target = (10**8, 0.01, 0.05)
    printed, needed = thesis_level(*target), chebyshev_level(*target)
    return Recomputed("holds-with-correction" if needed < math.log(2) < printed else "holds", printed, needed)


@claim(
    id="pairs/higher-quality", statement="Section 5.3.3", line=1619,
    verdict="holds-with-correction", pinned=(0.093393551, 0.0999863473),
    claim="The data collector achieves higher accuracy by increasing eps.",
    correction="True for the bounds. The exact failure probability can rise with eps, because counts are whole numbers "
               "and the set of failing counts jumps.",
)
def failure_rises_with_the_level() -> Recomputed:
    """Exact probability that the estimate misses the mean by more than alpha = .05, at the privacy levels 1.0038 and
    1.0110, for 1000 people, ten of them with bit 1.
    """
    lower, higher = (failure_probability(1000, level, 0.05, ones=10) for level in (1.0038, 1.0110))
    return Recomputed("holds-with-correction" if higher > lower else "holds", lower, higher)


@claim(
    id="pairs/proposition-1", statement="Proposition 1, (5.17)", line=1625,
    verdict="holds", pinned=(3.71828183, 6.39610352),
    claim="Any nonnegative mechanism with this equilibrium pays at least N g'(eps)(e^eps + 1).",
    correction="Not attained: beta-binomial(2,3), N = 10, eps = 1 needs 6.396 a person, not 3.718, by the exact "
               "optimum V_opt.",
)
def bound_of_proposition_1() -> Recomputed:
    """The printed lower bound on the expected payment of one person, compared with the exact least payment. Several
    priors are checked, and the returned numbers are for one of them.
    """
    least = {prior: [least_pair_payment(prior, COST, level).gap for level in (0.2, 1.0, 4.0)]
             for prior in (AGREE, DISAGREE, PairPrior.two_state(30, 0.9, 0.3))}
    holds = min(gap for gaps in least.values() for gap in gaps) >= 0
    return Recomputed("holds" if holds else "false", float(pair_floor(COST, 1.0)),
                   least_pair_payment(AGREE, COST, 1.0).payment)


def _printed(prior: PairPrior, level: float) -> float:
    """The printed payment (5.18)-(5.21) for one person."""
    e, p, d = math.exp(level), prior.pairs, abs(prior.covariance)
    one, zero = prior.signal_one, prior.signal_zero
    bracket = e**2 * p[0, 1] + e * (one**2 + zero**2) + one * p[1, 1] + zero * p[0, 0]
    return float(pair_floor(COST, level)) + payment_unit(COST, level) * float(bracket) / ((e**2 - 1) * d)


def _payment_as_printed(prior: PairPrior) -> Recomputed:
    """The printed payment of a person at level 1, compared with the payment that the equilibrium gives by its interim
    matrix.
    """
    market = PairMarket(prior, COST, 1.0)
    claimed, found = _printed(prior, 1.0), float(np.sum(market.interim_matrix() * market.strategy.channel))
    ours = float(pair_prices(prior, COST, 1.0))
    return Recomputed("false" if abs(claimed - found) > 1e-3 and abs(ours - found) < 1e-9 else "holds", claimed, found)


@claim(
    id="pairs/expected-payment", statement="(5.18)-(5.21)", line=1637, verdict="false", pinned=(35.673863, 35.275826),
    claim="The total exceeds the bound by (5.19)-(5.21) with last bracket P1 P11 + P0 P00.",
    correction="P1 P0 + D there (E3). At eps = 1 for beta-binomial(2,3) the source says 35.674 a person, and 35.276 is "
               "paid.",
)
def printed_payment() -> Recomputed:
    """The printed expected payment of a person at privacy level 1, compared with the payment in equilibrium, for
    positively correlated bits.
    """
    return _payment_as_printed(AGREE)


@claim(
    id="pairs/expected-payment-negative", statement="(5.18)-(5.21), D < 0", line=1637,
    verdict="false", pinned=(67.8239539, 61.1456447),
    claim="The same formula holds for D < 0.",
    correction="Its first bracket is off too (P01), so that it is wrong in the limit as well: 67.82 for 61.15 with 3 "
               "or 4 ones of 10.",
)
def printed_payment_where_bits_disagree() -> Recomputed:
    """The printed expected payment of a person at privacy level 1, compared with the payment in equilibrium, for
    negatively correlated bits.
    """
    return _payment_as_printed(DISAGREE)


@claim(
    id="pairs/asymptotic-optimality", statement="Section 5.3.4", line=1651, verdict="false", pinned=(1.0, 3.50000002),
    claim="The total is dominated by the lower bound as eps grows: the mechanism is asymptotically optimal.",
    correction="The second term is as large: the ratio tends to (1 + 1/|corr|)/2, 3.5 for beta-binomial(2,3), 1 for "
               "equal bits (E2).",
)
def ratio_to_the_bound() -> Recomputed:
    """Ratio of the expected payment E[R] to the lower bound of Proposition 1 at privacy level 20. The source says that
    the ratio tends to 1 as the level grows.
    """
    level = 20.0
    unit = payment_unit(COST, level)
    ratio = 1.0 + unit * float(pair_excess(AGREE, level)) / float(pair_floor(COST, level))
    limit = (1.0 + 1.0 / abs(AGREE.correlation)) / 2.0
    return Recomputed("false" if abs(ratio / limit - 1) < 1e-6 and ratio > 1.1 else "holds", 1.0, ratio)
