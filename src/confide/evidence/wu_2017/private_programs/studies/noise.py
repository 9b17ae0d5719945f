"""Two studies of noise and of the start of a run.

`NOISE`: noise in the load of a row, averaged over all rounds, by the printed composition, by zCDP and by exact Gaussian
accounting, together with the noise of an actual run. Spec convex_programs 9.1 and 11.5.

`START_UP`: the effect of the first rounds, in which prices are too low. Because of these rounds, an average over all
rounds exceeds the supply even without noise. Spec convex_programs 9.4.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import (
    OWN_CERTIFICATE,
    OWN_COMPARISON,
    Compared,
    Findings,
    Study,
    advance,
    bound,
    evaluated,
    in_words,
    near,
)
from confide.evidence.wu_2017.private_programs.printed_bounds import (
    concentrated_factor,
    gaussian_factor,
    printed_factor,
)
from confide.evidence.wu_2017.private_programs.studies.runs import DELTA, REFERENCE, quiet
from confide.privacy.noise import Noise
from confide.programs.dual_dynamics import squared_budget
from confide.programs.families.unit_demand import UnitDemand
from confide.programs.instances import popular
from confide.programs.priv_dude import PrivDude

__all__ = ["NOISE", "START_UP"]

# ---- noise

_EPSILONS = (0.1, 1.0)


def _noise(quick: bool, progress: Progress | None) -> Findings:
    compared: list[Compared] = []
    rows: list[tuple[float, ...]] = []
    for epsilon in _EPSILONS:
        ours, textbook = gaussian_factor(epsilon, DELTA), concentrated_factor(epsilon, DELTA)
        printed = {rounds: printed_factor(epsilon, DELTA, rounds) for rounds in (1e3, 1e8)}
        discrete = float(squared_budget("discrete_gaussian", epsilon, DELTA)) ** -0.5
        rows.append((epsilon, *printed.values(), textbook, discrete, ours))
        compared += [bound(f"noise of an averaged row over sigma, T = {rounds:,.0f}, epsilon = {epsilon:g}", ours,
                           at_most=each, remark=f"{each / ours:.1f} times less for the same guarantee",
                           origin=evaluated("Wu 2017, Algorithm 8 and Theorem 5.3.7, lines 3969 and 4044"))
                     for rounds, each in printed.items()]
    # One good, values in even steps: mean load - 250 = mean noise + (last - first price)/(eta T).
    program, runs, rounds = UnitDemand(1_000, (250.0,)), *((16, 100) if quick else (300, 400))
    values = ((np.arange(1_000) + 0.5) / 1_000)[:, None]
    mechanism = PrivDude(program, 1.0, DELTA, rounds, rounds // 2, neighbours="add_or_remove")
    errors, spreads, said = [], [], mechanism.noise_std
    for seed in range(1, runs + 1):
        outcome: Any = mechanism.run(values, Noise.simulated(seed))
        errors.append(float(outcome.diagnostics["load"][0]) - 250.0)
        spreads.append(outcome.billboard.main_prices[:, 0].std() / 2**24)
        advance(progress, seed, runs)
    measured = float(np.std(errors))
    compared += [
        near(f"deviation of a row's mean load over {runs} runs; planned: that of the mean noise", said, measured,
             within=4.0 / math.sqrt(2.0 * runs) * said, origin=OWN_CERTIFICATE,
             remark=f"sigma = 1, epsilon = 1, T = {rounds} + {rounds // 2}; within four standard errors"),
        Compared(quantity="deviation of prices within a run", published=None, ours=float(np.mean(spreads)),
                 agreement="not published")]
    points = [(float(t), printed_factor(epsilon, DELTA, float(t)), f"the print, epsilon = {epsilon:g}")
              for epsilon in _EPSILONS for t in np.geomspace(100, 1e10, 12 if quick else 40)]
    points += [(t, gaussian_factor(epsilon, DELTA), f"exact, epsilon = {epsilon:g}")
               for epsilon in _EPSILONS for t in (100.0, 1e10)]
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title="Noise of an averaged row over sigma, delta = 10^-6", x="rounds T", y="noise over sigma",
                log_x=True, log_y=True,
                alt="Noise of a row's average against rounds, both logarithmic. With exact accounting the noise does "
                    "not depend on the number of rounds. The printed noise is 17 times as large, and grows slowly."),
        Table(columns=("epsilon", "print, T = 1,000", "print, T = 10^8", "zCDP, textbook",
                       "zCDP, tight (discrete law)", "exact"), rows=tuple(rows),
              note="delta = 10^-6; over sigma, the largest l2 change by one record. A number agrees with the printed "
                   "number if it is no larger: the printed number is a bound, and the same guarantee needs less noise. "
                   "The measured deviation agrees if it is within four standard errors of the planned deviation.")))


NOISE = Study(
    name="programs-noise",
    title="Noise of an averaged row",
    source="Wu 2017, Algorithm 8 and Theorem 5.3.7",
    statement="T rounds of noise (4 sigma/epsilon) sqrt(T ln(2/delta) ln(2.5 T/delta)) are (epsilon, delta)-private.",
    run=_noise,
)


# ---- start up


def _start_up(quick: bool, progress: Progress | None) -> Findings:
    sizes = (4_000,) if quick else (20_000, 100_000)
    compared: list[Compared] = []
    rows: list[tuple[float, ...]] = []
    points: list[tuple[float, float, str]] = []
    for done, n in enumerate(sizes, 1):
        program, values = UnitDemand(n, n / 20.0, goods=10), popular(n, 10, 1)
        over = -quiet(program, values, 1_000, 0).billboard.natural_slacks
        shares = {drop: float(np.maximum(0.0, over[drop:].mean(axis=0)).sum()) / (n / 2.0)
                  for drop in (0, 50, 100, 200, 300, 400, 500, 700)}
        half = quiet(program, values, 200, 100).diagnostics["excess"].sum() / (n / 2.0)
        points += [(float(drop), share, f"n = {n:,}") for drop, share in shares.items()]
        rows.append((n, shares[0], shares[200], shares[500], float(half)))
        compared += [
            bound(f"excess of all rows over all supply without noise, 1,000 rounds, all averaged, n = {n:,}; "
                  "the source: none in the end", shares[0], at_most=0.01, remark="prices begin at 0",
                  origin=in_words("Wu 2017, Algorithm 8, line 3969")),
            bound(f"the same without the first 500 rounds, n = {n:,}", shares[500], at_most=0.01,
                  origin=OWN_COMPARISON),
            Compared(quantity=f"the same, 200 rounds after 100 with steps of their own, n = {n:,}", published=None,
                     ours=float(half), agreement="not published")]
        advance(progress, done, len(sizes))
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title="Excess without noise, by rounds that are not averaged", x="first rounds left out",
                y="excess over all supply",
                alt="Excess of all rows over all supply, against rounds left out of the average. The excess falls from "
                    "a fifth to nearly nothing."),
        Table(columns=("n", "all 1,000 rounds", "last 800", "last 500", "200 after 100"), rows=tuple(rows),
              note="Unit demand, k = 10, supply for half of all, no noise. "
                   f"{REFERENCE} These runs have 21% and 18% with all rounds, .9% and .15% with the last 800, at n = "
                   "20,000 and 100,000.")))


START_UP = Study(
    name="programs-start-up",
    title="The transient of the start",
    source="Wu 2017, Algorithm 8",
    statement="The average of all rounds is handed out.",
    run=_start_up,
)
