"""Evidence for the rows of `claims.toml`: each function recomputes what decides one published claim.

The tests recompute every row; a verdict that changes fails them.
"""

from __future__ import annotations

import math

import numpy as np

from confide.contract.claims import Finding
from confide.market.costs import LinearCost, PowerCost
from confide.market.equilibrium import check_equilibrium, symmetric_equilibria
from confide.market.matching import payment_unit
from confide.market.pairs.accuracy import chebyshev_level, failure_probability, thesis_level
from confide.market.pairs.insiders import audit_groups
from confide.market.pairs.least import least_pair_payment
from confide.market.pairs.market import PairMarket
from confide.market.pairs.prices import pair_excess, pair_floor, pair_prices
from confide.market.pairs.prior import PairPrior
from confide.market.pairs.reports import log_report_law

__all__: list[str] = []

COST = LinearCost(1.0)
AGREE = PairPrior.beta_binomial(2.0, 3.0, 10)
DISAGREE = PairPrior.of_counts([0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0])
FAIR = ([99, 348, 993, 2242, 2684], [74, 221, 547, 724, 487])
"""Fair's survey: sizes of the groups by the rating of one's marriage, and ones."""


def covariance_of_two_bits() -> Finding:
    """The most that P11 P00 - P01^2 from the law of the number of ones differs from the closed covariance."""
    off = 0.0
    for prior in (AGREE, DISAGREE):
        p = prior.pairs
        off = max(off, abs(float(p[1, 1] * p[0, 0] - p[0, 1] * p[1, 0]) - prior.covariance))
    off = max(off, abs(PairPrior.of_counts(np.exp(np.asarray(AGREE.log_counts))).covariance - AGREE.covariance))
    return Finding("holds" if off < 1e-15 else "false", 0.0, off)


def pair_equilibrium() -> Finding:
    """The largest regret over all channels, for both signs of D, two costs and three levels."""
    worst = max(abs(check_equilibrium(PairMarket(prior, cost, level)).regret) for prior in (AGREE, DISAGREE)
                for cost in (COST, PowerCost(1.0, 2.0)) for level in (0.3, 1.0, 3.0))
    return Finding("holds" if worst < 1e-9 else "false", 0.0, worst)


def other_equilibria() -> Finding:
    """The dearest symmetric equilibrium, which says nothing about the bits, beside the honest one."""
    market = PairMarket(AGREE, COST, 1.0)
    found, honest = symmetric_equilibria(market)[0], market.quote().expected_payment
    dearer = not found.informative and found.payment > honest
    return Finding("holds-with-correction" if dearer else "holds", honest, found.payment)


def who_knows_her_group() -> Finding:
    """How many of the five groups' members would not use their bit if they knew their group."""
    rows = audit_groups(PairMarket(PairPrior.of_groups(*FAIR), COST, 1.0), *FAIR)
    silent = sum(not row.truthful for row in rows)
    return Finding("holds-with-correction" if silent else "holds", 0.0, float(silent))


def moments_of_the_estimate() -> Finding:
    """The variance of the estimate over all reports of 20 people, 7 of them ones, against the print."""
    n, ones, level = 20, 7, 1.0
    with np.errstate(divide="ignore"):
        law = np.exp(log_report_law(np.log(np.equal(np.arange(n + 1), ones).astype(np.float64)), level))
    values = ((math.exp(level) + 1) * np.arange(n + 1) / n - 1) / (math.exp(level) - 1)
    bias, claimed = float(law @ values) - ones / n, math.exp(level) / (n * (math.exp(level) - 1) ** 2)
    variance = float(law @ (values - law @ values) ** 2)
    sound = abs(bias) < 1e-12 and abs(variance / claimed - 1) < 1e-12
    return Finding("holds" if sound else "false", claimed, variance)


def printed_level() -> Finding:
    """The exact failure probability at (5.16)'s level, the worst over all bits, against delta."""
    n, alpha, delta = 1000, 0.05, 0.05
    worst = failure_probability(n, thesis_level(n, alpha, delta), alpha)
    return Finding("holds" if worst <= delta else "false", delta, worst)


def levels_below_ln_2() -> Finding:
    """(5.16) for 10^8 people beside the level that the same inequality needs."""
    target = (10**8, 0.01, 0.05)
    printed, needed = thesis_level(*target), chebyshev_level(*target)
    return Finding("holds-with-correction" if needed < math.log(2) < printed else "holds", printed, needed)


def failure_rises_with_the_level() -> Finding:
    """N = 1000, ten ones, alpha = .05: the exact failure probability at 1.0038 and at 1.0110."""
    lower, higher = (failure_probability(1000, level, 0.05, ones=10) for level in (1.0038, 1.0110))
    return Finding("holds-with-correction" if higher > lower else "holds", lower, higher)


def bound_of_proposition_1() -> Finding:
    """The bound per person beside the exact least payment, for one prior of the several that are tried."""
    least = {prior: [least_pair_payment(prior, COST, level).gap for level in (0.2, 1.0, 4.0)]
             for prior in (AGREE, DISAGREE, PairPrior.two_state(30, 0.9, 0.3))}
    holds = min(gap for gaps in least.values() for gap in gaps) >= 0
    return Finding("holds" if holds else "false", float(pair_floor(COST, 1.0)),
                   least_pair_payment(AGREE, COST, 1.0).payment)


def _printed(prior: PairPrior, level: float) -> float:
    """(5.18)-(5.21) for one person."""
    e, p, d = math.exp(level), prior.pairs, abs(prior.covariance)
    one, zero = prior.signal_one, prior.signal_zero
    bracket = e**2 * p[0, 1] + e * (one**2 + zero**2) + one * p[1, 1] + zero * p[0, 0]
    return float(pair_floor(COST, level)) + payment_unit(COST, level) * float(bracket) / ((e**2 - 1) * d)


def _payment_as_printed(prior: PairPrior) -> Finding:
    """At level 1, against what the equilibrium pays by its interim matrix."""
    market = PairMarket(prior, COST, 1.0)
    claimed, found = _printed(prior, 1.0), float(np.sum(market.interim_matrix() * market.strategy.channel))
    ours = float(pair_prices(prior, COST, 1.0))
    return Finding("false" if abs(claimed - found) > 1e-3 and abs(ours - found) < 1e-9 else "holds", claimed, found)


def printed_payment() -> Finding:
    """What a person is paid at level 1 by the print, and by the equilibrium itself, for bits that agree."""
    return _payment_as_printed(AGREE)


def printed_payment_where_bits_disagree() -> Finding:
    """The same for bits that disagree."""
    return _payment_as_printed(DISAGREE)


def ratio_to_the_bound() -> Finding:
    """E[R] over the bound at level 20, which is said to tend to 1."""
    level = 20.0
    unit = payment_unit(COST, level)
    ratio = 1.0 + unit * float(pair_excess(AGREE, level)) / float(pair_floor(COST, level))
    limit = (1.0 + 1.0 / abs(AGREE.correlation)) / 2.0
    return Finding("false" if abs(ratio / limit - 1) < 1e-6 and ratio > 1.1 else "holds", 1.0, ratio)
