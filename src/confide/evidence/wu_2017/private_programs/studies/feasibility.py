"""The welfare that is lost when people get whole goods and every good stays within the supply. The study compares three
methods: flags that stop a good before its supply is used up, an audit, and the printed margins.

Programs have unit demand for 10 goods, epsilon = 1, delta = 10^-6 and failure probability .05. Spec convex_programs
9.6.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from confide.charts import intervals
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, bound, in_words
from confide.evidence.wu_2017.private_programs.studies.runs import DELTA, REFERENCE, market
from confide.privacy.noise import Noise
from confide.programs.dude import Dude
from confide.programs.grids import LOAD_UNIT
from confide.programs.guarantees import regret_bound
from confide.programs.priv_dude import PrivDude
from confide.programs.round_dude import RoundDude
from confide.programs.tight_dude import reserve_needed
from confide.programs.tighten_and_audit import TightenAndAudit

__all__ = ["STUDY"]

_SPEC = {20_000: (0.12, 0.071, 0.115), 100_000: (0.026, 0.016, 0.024)}
"""Welfare losses from the specification: of an audit with a tenth of the budget, of an audit with half of the budget,
and of flags with l1 accounting.
"""


def _printed_flags(people: int) -> float:
    """Printed margin B of Algorithm 9 with the factor sqrt(k) that composition requires."""
    epsilon = 1.0 / (2.0 * math.sqrt(80.0 * math.log(2.0 / DELTA)))
    return 8.0 * (math.log(people) + math.log(30.0 / 0.05)) / epsilon


def _margin(mechanism: Dude) -> float:
    if isinstance(mechanism, TightenAndAudit):
        return float(mechanism.reserve_units.max()) / LOAD_UNIT
    return mechanism.flags.reserve / LOAD_UNIT if isinstance(mechanism, RoundDude) else math.nan


def _run(quick: bool, progress: Progress | None) -> Findings:
    sizes, runs = ((20_000,), 1) if quick else ((20_000, 100_000), 6)
    compared: list[Compared] = []
    rows: list[tuple[str | float, ...]] = []
    points: list[tuple[str, str, float, float, float]] = []
    for size, n in enumerate(sizes):
        program, values, best = market(n, 10)
        audits, halves, flagged = _SPEC[n]
        modes: tuple[tuple[str, Dude, float], ...] = (
            ("audit, a tenth of the budget", TightenAndAudit(program, 1.0, DELTA, audit_share=0.1), audits),
            ("audit, half of the budget", TightenAndAudit(program, 1.0, DELTA), halves),
            ("flags", RoundDude(program, 1.0, DELTA), flagged),
            ("flags with stops", RoundDude(program, 1.0, DELTA, truncate=True), math.nan))
        for done, (name, mechanism, spec) in enumerate(modes, 1):
            lost, over, accepted = [], 0.0, 0
            for seed in range(1, runs + 1):
                outcome: Any = mechanism.run(values, Noise.simulated(seed))
                taken = getattr(outcome.billboard, "accepted", True)
                accepted += taken
                over = max(over, float(outcome.diagnostics["excess"].max()))
                if taken:
                    lost.append(1.0 - outcome.diagnostics["value"] / best)
            mean = float(np.mean(lost)) if lost else 1.0
            compared.append(bound(f"largest excess of a row, {name}, n = {n:,}; the source: none", over, at_most=0.0,
                                  remark=f"{mean:.1%} of the optimum lost, {accepted} of {runs} runs accepted",
                                  origin=in_words("Wu 2017, Theorems 5.5.3, 6.3.5, 6.3.6, lines 4816, 5365, 5412")))
            rows.append((n, name, _margin(mechanism), mean, spec, accepted / runs))
            points.append((name, f"n = {n:,}", mean, min(lost, default=1.0), max(lost, default=1.0)))
            advance(progress, size * len(modes) + done, len(sizes) * len(modes))
        compared.append(bound(f"margin of the printed flags, n = {n:,}; the source: below the supply",
                              _printed_flags(n), at_most=program.supplies[0], remark="no run is feasible",
                              origin=in_words("Wu 2017, Theorem 6.3.5, line 5365")))
        path = PrivDude(program, 1.0, DELTA)
        regret = regret_bound(program.constants, path.schedule, path.failure_probability / 3.0)
        kept = float((reserve_needed(program, regret, supplies=program.supplies, rounds=path.rounds, alpha=1.0,
                                     failure_probability=path.failure_probability) / program.supplies).max())
        compared.append(bound(f"share that TightDude's margin keeps back, T = 200, n = {n:,}; the source: below 1",
                              kept, at_most=1.0, remark="refused, since it depends on a bound that is known before the "
                                                        "run",
                              origin=in_words("Wu 2017, Theorem 5.5.3, line 4816")))
    return Findings(compared=tuple(compared), blocks=(
        *intervals(points, title="What whole parts within every supply cost", axis="share of the optimum",
                   alt="Lost share of the optimum for audits and flags at each size. The loss is a few percent with a "
                       "hundred thousand people, and about ten percent with twenty thousand."),
        Table(columns=("n", "mode", "margin of a row", "lost", "reference: lost", "accepted"), rows=tuple(rows),
              note=f"Unit demand, k = 10, supply n/20, epsilon = 1, delta = 10^-6, beta = .05, {runs} runs. "
                   f"{REFERENCE} These runs query the flags after each participant; our runs query them after each "
                   "batch, with the exact law of the noise.")))


STUDY = Study(
    name="programs-feasibility",
    title="Whole parts within every supply",
    source="Wu 2017, Theorems 5.5.3, 6.3.5 and 6.3.6",
    statement="Every row is kept exactly, at a small additional cost in welfare.",
    run=_run,
)
