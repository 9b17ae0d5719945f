"""Algorithm 1 as printed beside the optimum, on the three cases that break it and on drawn ones.

Spec two_part_acquisition section 8: the formulas are first-order conditions with everybody bought from, without a
look at signs. 4001 points of S on an interval that holds the best one.
"""

from __future__ import annotations

import numpy as np

from confide.acquisition.optimum.solver import solve, solve_grid
from confide.acquisition.priors import UniformPrior, prior_draws
from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.fallah_2022.algorithm_1 import algorithm1_as_printed
from confide.evidence.findings import Compared, Findings, Study, advance, bound, evaluated, in_words, near

__all__ = ["CASES", "STUDY"]

DELTA = 0.01
CASES: dict[str, tuple[tuple[float, ...], float]] = {
    "psi = (.1, 1, 1.9), g = .1": ((0.1, 1.0, 1.9), 0.1),
    "psi = (2, 2), g = .001": ((2.0, 2.0), 0.001),
    "ten from .1 to 1.9, g = 1": (tuple(np.linspace(0.1, 1.9, 10).tolist()), 1.0),
}
"""Virtual costs and g; kappa = 1."""

_REMARKS = ("a saddle: weights that do not fall with the virtual cost", "one person alone is cheaper",
            "negative weights: below what anybody can reach")


def _case(name: str, remark: str) -> list[Compared]:
    psi, g = CASES[name]
    best = solve(psi, variance_price=g, noise_price=1.0)
    printed = algorithm1_as_printed(psi, variance_price=g, noise_price=1.0)
    repaired = solve_grid(psi, DELTA, variance_price=g, noise_price=1.0)
    right, most = printed.feasible and printed.value <= (1.0 + DELTA) * best.value, (1.0 + DELTA) * best.value
    return [Compared(quantity=f"cost by the printed algorithm, {name}", published=most, ours=printed.value,
                     agreement="stands" if right else "differs", remark=remark,
                     relation="bound holds: ours <= bound" if right else
                     "bound fails: ours > bound" if printed.value > most else "bound fails: no feasible choice",
                     origin=evaluated("Fallah et al. 2022, Theorem 3, line 989")),
            bound(f"cost by the repaired scheme, {name}", repaired.value, at_most=(1.0 + DELTA) * best.value,
                  origin=evaluated("Fallah et al. 2022, Theorem 3, line 989"))]


def _drawn(people: int, draws: int, gamma: float, points: int) -> tuple[float, float]:
    """Shares of drawn profiles for which it returns what nobody can do, and what is more than delta too dear."""
    g, kappa = gamma / 12.0, gamma
    impossible = dear = 0
    for _, psi in prior_draws(UniformPrior(), people, draws, seed=0):
        printed = algorithm1_as_printed(psi, variance_price=g, noise_price=kappa, points=points)
        impossible += not printed.feasible
        best = solve(psi, variance_price=g, noise_price=kappa).value
        dear += printed.feasible and printed.value > (1.0 + DELTA) * best
    return impossible / draws, dear / draws


def _run(quick: bool, progress: Progress | None) -> Findings:
    points, draws, sizes = (51, 5, (2, 10)) if quick else (401, 100, (2, 3, 5, 10, 30))
    thirds = np.linspace(0.2, 3.0, 8 if quick else 57)
    steps = len(CASES) + 2 * len(sizes) + 1
    compared: list[Compared] = []
    for done, (name, remark) in enumerate(zip(CASES, _REMARKS, strict=True), 1):
        compared += _case(name, remark)
        advance(progress, done, steps)
    lines: list[tuple[float, float, str]] = []
    for third in thirds.tolist():
        psi = (0.1, 1.0, third)
        printed = algorithm1_as_printed(psi, variance_price=0.1, noise_price=1.0, points=points)
        best = solve(psi, variance_price=0.1, noise_price=1.0)
        lines += [(third, printed.value, "Algorithm 1 as printed"), (third, best.value, "optimum")]
    advance(progress, len(CASES) + 1, steps)
    rows: list[tuple[float, ...]] = []
    for gamma in (10.0, 100.0):
        for n in sizes:
            impossible, dear = _drawn(n, draws, gamma, points)
            rows.append((gamma, n, impossible, dear))
            compared.append(near(f"share of profiles that it fails on, gamma = {gamma:g}, n = {n}", 0.0,
                                 impossible + dear, within=0.0,
                                 origin=in_words("Fallah et al. 2022, Theorem 3, line 989")))
            advance(progress, len(CASES) + 1 + len(rows), steps)
    return Findings(compared=tuple(compared), blocks=(
        *curves(lines, title="Three people, psi = (.1, 1, x), g = .1, kappa = 1", x="x", y="cost",
                alt="Cost against the third person's virtual cost: the optimum stays level where she is no longer "
                    "bought from, soon after 1; the printed algorithm goes on buying from her and rises."),
        Table(columns=("gamma", "people n", "returns negative weights or levels", "feasible, but above 1.01 optimum"),
              rows=tuple(rows), note=f"Shares of {draws} profiles under the uniform prior, VAR = 1/12, alpha = 2.")))


STUDY = Study(
    name="acquisition-as-printed",
    title="The printed algorithm",
    source="Fallah et al. 2022, Algorithm 1, Theorem 3",
    statement="Algorithm 1 finds a cost of at most 1 + delta times the optimum.",
    run=_run,
)
