"""The transient of the start: what an average over all rounds exceeds without noise. Spec convex_programs 9.4."""

from __future__ import annotations

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import OWN_COMPARISON, Compared, Findings, Study, advance, bound, in_words
from confide.evidence.wu_2017.private_programs.studies.runs import REFERENCE, quiet
from confide.programs.families.unit_demand import UnitDemand
from confide.programs.instances import popular

__all__ = ["STUDY"]


def _run(quick: bool, progress: Progress | None) -> Findings:
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
                alt="Excess of all rows over all supply against rounds left out of the average: it falls from a fifth "
                    "to nearly nothing."),
        Table(columns=("n", "all 1,000 rounds", "last 800", "last 500", "200 after 100"), rows=tuple(rows),
              note="Unit demand, k = 10, supply for half of all, no noise. "
                   f"{REFERENCE} They have 21% and 18% with all rounds, .9% and .15% with the last 800, at n = 20,000 "
                   "and 100,000.")))


STUDY = Study(
    name="programs-start-up",
    title="The transient of the start",
    source="Wu 2017, Algorithm 8",
    statement="The average of all rounds is handed out.",
    run=_run,
)
