"""Evidence for the rows of `claims.toml` about whole parts within supply: each function recomputes one of them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from confide.contract.claims import Finding
from confide.privacy.halting_law import LaplaceLaw
from confide.privacy.losses import GDP
from confide.privacy.noise import Noise
from confide.programs.averages import tally_of
from confide.programs.bounds import bernstein, corrected_regret
from confide.programs.evidence_solved import optimum, values_of
from confide.programs.families.capped_additive import CappedAdditive
from confide.programs.families.unit_demand import UnitDemand
from confide.programs.flag_law import FlagLaw
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.incentives import alpha_units, judged
from confide.programs.instances import popular
from confide.programs.printed_bounds import (
    gaussian_factor,
    printed_flag_epsilon,
    printed_flag_margin,
    printed_tight_margin,
)
from confide.programs.round_dude import RoundDude

__all__: list[str] = []

_ROOM = 1e-9
_S = math.sqrt(2.0) * gaussian_factor(1.0, 1e-6)


_USUAL: dict[str, float] = {"epsilon": 1.0, "delta": 1e-6}


def _flag_margin(people: int, rows: int) -> float:
    return printed_flag_margin(people, rows, **_USUAL, failure_probability=0.05)


# ---- Algorithm 9


def draws_above_their_mean() -> Finding:
    """What all rows may gain by drawing, beside 3 sqrt(k Cinf |b| ln(k/beta)): k = 10, b = 5,000, beta = .05."""
    k, b, log = 10, 5_000.0, math.log(10 / 0.05)
    printed, ours = 3.0 * math.sqrt(k * k * b * log), k * bernstein(b, 1.0, log)
    return Finding("holds-with-correction" if ours < printed else "false", printed, ours)


def one_contribution_too_many() -> Finding:
    """By how much a row is exceeded that is stopped B below its supply, noise being B together, at most: Cinf."""
    supply, level, query, load = 100, 7, 5, 0  # noise of the level, and of each query, at its worst
    threshold = supply - (level + query)
    while load - query <= threshold + level:  # the flag is down: one more contribution of 1, then the query
        load += 1
    return Finding("holds-with-correction" if load - supply > 0 else "holds", 0.0, float(load - supply))


def margin_of_the_print() -> Finding:
    """Room that the printed noise asks for over the printed B: n = 10^5, k = 10, beta = .05, with Cinf."""
    people, rows, failure = 100_000, 10, 0.05 / 3.0
    each = printed_flag_epsilon(rows, **_USUAL)
    laws = (LaplaceLaw(2.0 / each, False), rows), (LaplaceLaw(4.0 / each, False), people * rows)
    reaches = [law.scale * math.log(draws / failure) for law, draws in laws]
    beyond = [2 * draws * math.exp(float(law.log_above(np.array(reach))))  # of all draws, either sign
              for (law, draws), reach in zip(laws, reaches, strict=True)]
    found = (1.0 + sum(reaches)) / _flag_margin(people, rows)
    kept = all(chance <= failure * (1.0 + _ROOM) for chance in beyond)
    return Finding("holds" if found <= 1.0 and kept else "false", 1.0, found)


def margin_at_a_hundred_thousand() -> Finding:
    """The printed B at n = 10^5, k = 10, epsilon = 1, delta = 10^-6, beforehand, beside a supply of 5,000."""
    found = _flag_margin(100_000, 10)
    return Finding("vacuous-at-practical-size" if found > 5_000.0 else "holds", 5_000.0, found)


def who_goes_without() -> Finding:
    """Participants who go without over what is promised after the run, at most over 3 runs: n = 4,000, k = 5."""
    program, worst = UnitDemand(4_000, 400, goods=5), 0.0
    mechanism = RoundDude(program, 4.0, 1e-6, 100, 50)
    for seed in range(3):
        outcome: Any = mechanism.run(popular(4_000, 5, seed), Noise.simulated(seed))
        if outcome.diagnostics["excess"].any():
            return Finding("false", 1.0, math.inf)
        worst = max(worst, outcome.diagnostics["unserved"] / mechanism.unserved(outcome.billboard))
    return Finding("holds" if 0.0 < worst <= 1.0 else "false", 1.0, worst)


def _worst_loss(rows: int, scale: tuple[float, float], changed: float) -> float:
    """The largest loss of flags over everybody else's contributions: three people, the first one replaced."""
    law = FlagLaw(people=3, levels=(1.0,) * rows, level=LaplaceLaw(scale[0], False), query=LaplaceLaw(scale[1], False))
    worst = 0.0
    for others in itertools.product((0.0, 1.0), repeat=2):
        worlds = [np.repeat(np.array([[mine], *[[one] for one in others]]), rows, axis=1) for mine in (0.0, changed)]
        worst = max(worst, law.loss(*worlds))
    return worst


def loss_of_a_sparse_vector() -> Finding:
    """The exact loss of one flag with noise Lap(2/epsilon') and Lap(4/epsilon') at epsilon' = 1, at most."""
    found = _worst_loss(1, (2.0, 4.0), 1.0)
    return Finding("holds" if 0.0 < found <= 1.0 else "false", 1.0, found)


def loss_of_all_flags() -> Finding:
    """The same of three flags if one contribution is in all rows, over that of one flag."""
    found = _worst_loss(3, (2.0, 4.0), 1.0) / _worst_loss(1, (2.0, 4.0), 1.0)
    return Finding("holds-with-correction" if found > 1.0 + 1e-6 else "holds", 1.0, found)


def welfare_of_bundles() -> Finding:
    """The exponent of k in what all flags' margins cost together: k B, beside 1."""
    costs = [k / printed_flag_epsilon(k, **_USUAL) for k in (10, 20)]
    found = math.log2(costs[1] / costs[0])
    return Finding("holds-with-correction" if found > 1.0 + _ROOM else "holds", 1.0, found)


def people_for_flags() -> Finding:
    """The exponent of epsilon in the n from which on k d/epsilon is below n (d epsilon)^(1/3), beside -7/3."""
    k, d = 10.0, 2.0
    n = [brentq(lambda n, e=epsilon: n * (d * e) ** (1.0 / 3.0) - k * d / e, 1e-3, 1e9) for epsilon in (0.5, 1.0)]
    found = math.log2(n[1] / n[0])
    return Finding("holds-with-correction" if abs(found + 7.0 / 3.0) > 0.5 else "holds", -7.0 / 3.0, found)


# ---- Algorithm 11


def reduced_optimum() -> Finding:
    """The least optimum with a quarter less supply over that with all of it, beside 3/4: 10 instances."""
    found = min(optimum(UnitDemand(30, 3.0, goods=4), values_of(30, 4, seed))
                / optimum(UnitDemand(30, 4.0, goods=4), values_of(30, 4, seed)) for seed in range(10))
    return Finding("holds" if found >= 0.75 - _ROOM else "false", 0.75, found)


def price_of_a_drawn_part() -> Finding:
    """Utility of a drawn part of somebody who is satisfied to within .06: value .4, prices 0 and 1 in two rounds.

    Her average is half a unit: .5 (.4 - .5) = -.05. Drawn whole it is .4 - .5.
    """
    program, prices = UnitDemand(1, (1.0,)), np.array([[0], [PRICE_UNIT]], dtype=np.int64)
    records: Any = program.read([[0.4]])
    charged = np.array([PRICE_UNIT // 2], dtype=np.int64)
    kept = judged(program, records, tally_of(records, program, prices), charged, 2, alpha_units(program, 0.06))
    action = program.respond(records, prices[0])
    drawn = int(program.values(records, action)[0]) - int(program.paid(records, action, charged)[0])
    found = drawn / PRICE_UNIT
    return Finding("holds-with-correction" if not kept.unsatisfied[0] and found < -0.06 else "holds", -0.06, found)


def chance_of_two() -> Finding:
    """P[X > .1 + sqrt(3 (.1) ln 10^4)] = P[X >= 2], X binomial with 1,000 trials and mean .1, beside beta = 10^-4."""
    beta, mean = 1e-4, 0.1
    threshold = mean + math.sqrt(3.0 * mean * math.log(1.0 / beta))
    found = float(binom.sf(math.floor(threshold), 1000, mean / 1000))
    ours = float(binom.sf(math.floor(mean + bernstein(mean, 1.0, math.log(1.0 / beta))), 1000, mean / 1000))
    return Finding("false" if found > beta >= ours else "holds", beta, found)


def chance_of_few() -> Finding:
    """P[X < mu - sqrt(2 mu ln(1/beta))] over beta, at most: binomials of means .1 to 100, beta 10^-1 to 10^-6."""
    worst = 0.0
    for mean in (0.1, 1.0, 5.0, 20.0, 100.0):
        for beta in (1e-1, 1e-2, 1e-4, 1e-6):
            below = math.ceil(mean - math.sqrt(2.0 * mean * math.log(1.0 / beta))) - 1
            worst = max(worst, float(binom.cdf(below, 1000, mean / 1000)) / beta if below >= 0 else 0.0)
    return Finding("holds" if worst <= 1.0 else "false", 1.0, worst)


def _tight_margin(alpha: float) -> float:
    """At n = 10^5, k = 10, b = 5,000."""
    return printed_tight_margin(1e5, 10, 5_000.0, alpha, **_USUAL, failure_probability=0.05)


def margin_of_tight() -> Finding:
    """xi at n = 10^5, k = 10, epsilon = 1 if nobody is ever reassigned, beside a supply of 5,000."""
    found = _tight_margin(math.inf)
    return Finding("vacuous-at-practical-size" if found > 5_000.0 else "holds", 5_000.0, found)


def welfare_of_tight() -> Finding:
    """kappa = xi/b there: what the welfare of Theorem 6.3.5 loses of the optimum must be below 1."""
    found = _tight_margin(math.inf) / 5_000.0
    return Finding("vacuous-at-practical-size" if found > 1.0 else "holds", 1.0, found)


def missing_parameter() -> Finding:
    """xi at alpha = .01 over xi at alpha = .1: what Algorithm 11 is not given."""
    found = _tight_margin(0.01) / _tight_margin(0.1)
    return Finding("holds-with-correction" if found > 1.0 else "holds", 1.0, found)


def row_of_a_reassigned() -> Finding:
    """What one row gains by a reassigned participant, beside k Cinf = 10: her contribution to it is Cinf at most."""
    program = CappedAdditive(1, 5, goods=10, cap=10)
    records: Any = program.read(np.ones((1, 10)))
    added = program.contributions(records, program.respond(records, np.zeros(10, dtype=np.int64)))[0] / LOAD_UNIT
    printed, ours = float(added.sum()), float(added.max())
    return Finding("holds-with-correction" if ours < printed else "holds", printed, ours)


def nobody_reassigned() -> Finding:
    """Our margin at alpha = 10^6 over the one without reassignment, T without end: it degrades gracefully."""
    regret = corrected_regret(rows=10, tau=1.0, width=1e5, noise_std=_S, rounds=math.inf,
                              failure_probability=0.05 / 3.0)
    drawn = bernstein(5_000.0, 1.0, math.log(3.0 * 10 / 0.05))
    each = [regret * (1.0 + reassigned) + drawn for reassigned in (1e-6, 0.0)]
    falls = regret / 0.01 > regret / 0.1 > regret * 1e-6
    return Finding("holds" if falls and each[0] / each[1] < 1.0 + 1e-5 else "false", 1.0, each[0] / each[1])


def half_of_the_budget() -> Finding:
    """Noise at (epsilon/2, delta/2), where Algorithm 11 runs, over that at (epsilon, delta), where it may."""
    half, whole = gaussian_factor(0.5, 5e-7), gaussian_factor(1.0, 1e-6)
    losses = [GDP(1.0 / half).epsilon_at(5e-7), GDP(1.0 / half).epsilon_at(1e-6), GDP(1.0 / whole).epsilon_at(1e-6)]
    private = losses[0] <= 0.5 * (1.0 + _ROOM) and losses[1] < losses[2] <= 1.0 + _ROOM
    return Finding("holds" if private else "false", 1.0, half / whole)


def supply_of_tight() -> Finding:
    """Our R over b where b = k d/epsilon, k = 10, d = epsilon = 1, T without end and alpha too: it must be below 1."""
    found = corrected_regret(rows=10, tau=1.0, width=20.0, noise_std=_S, rounds=math.inf,
                             failure_probability=0.05) / 10.0
    return Finding("vacuous-at-practical-size" if found > 1.0 else "holds", 1.0, found)


def people_for_tight() -> Finding:
    """The n from which on k d/epsilon + OPT is below n (d^2/k)^(1/3), over the n of erratum 16.

    That is k^(4/3) d^(1/3)/epsilon + k^(1/3)/d^(2/3) OPT.
    """
    k, d, epsilon, best = 20.0, 3.0, 0.5, 700.0
    n = brentq(lambda n: n * (d * d / k) ** (1.0 / 3.0) - k * d / epsilon - best, 1e-3, 1e9, xtol=1e-12)
    found = n / (k ** (4.0 / 3.0) * d ** (1.0 / 3.0) / epsilon + k ** (1.0 / 3.0) / d ** (2.0 / 3.0) * best)
    return Finding("holds-with-correction" if abs(found - 1.0) < 1e-12 else "false", 1.0, found)


def flags_of_a_run() -> Finding:
    """Our flags' margin at n = 10^5, k = 10, epsilon = 1, beside the printed one."""
    flags = RoundDude(UnitDemand(100_000, 5_000, goods=10), 1.0, 1e-6).flags
    found = flags.reserve / LOAD_UNIT
    return Finding("holds-with-correction" if found < 5_000.0 else "false", _flag_margin(100_000, 10), found)
