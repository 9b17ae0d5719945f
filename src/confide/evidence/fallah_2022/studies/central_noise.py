"""Proposition 1: noise that the platform adds to the published mean makes everything dearer.

psi = (.3, 1.7), g = 1, kappa = 2, and three people with psi = (.1, .5, 1.5). Formulas: spec two_part_acquisition
section 10. The variance of the noise is alpha/2 times 1/epsilon.
"""

from __future__ import annotations

import numpy as np

from confide.acquisition.optimum.problem import problem7
from confide.acquisition.optimum.solver import solve
from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.fallah_2022.central_noise import with_central_noise, without_central_noise
from confide.evidence.findings import Compared, Findings, Study, advance, bound, in_words

__all__ = ["STUDY"]

_G, _KAPPA = 1.0, 2.0
_PROFILES = {"psi = (.3, 1.7)": (0.3, 1.7), "psi = (.1, .5, 1.5)": (0.1, 0.5, 1.5)}


def _run(quick: bool, progress: Progress | None) -> Findings:
    exponents = (-12, -3, 0) if quick else tuple(range(-15, 2))
    compared: list[Compared] = []
    points: list[tuple[float, float, str]] = []
    rows: list[tuple[str | float, ...]] = []
    for step, (name, psi) in enumerate(_PROFILES.items()):
        least = solve(psi, variance_price=_G, noise_price=_KAPPA).value
        for done, exponent in enumerate(exponents, 1):
            central = float(np.exp(exponent))
            forced = with_central_noise(psi, central, variance_price=_G, noise_price=_KAPPA)
            lowered = without_central_noise(forced.weights, forced.epsilon_local, central)
            moved = problem7(forced.weights, lowered, psi, variance_price=_G, noise_price=_KAPPA)
            points.append((central, forced.value - least, name))
            if exponent in {-12, -9, -6, -3}:
                compared.append(bound(f"what noise of 1/epsilon = e^{exponent} adds to the cost, {name}",
                                      forced.value - least, at_least=0.0,
                                      origin=in_words("Fallah et al. 2022, Proposition 1, line 873")))
                rows.append((name, central, forced.value, moved, least))
            advance(progress, step * len(exponents) + done, len(_PROFILES) * len(exponents))
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title="What central noise costs, g = 1, kappa = 2", x="1/epsilon of the central noise",
                y="cost above the optimum", log_x=True, log_y=True,
                alt="Cost above the optimum against the central noise, both logarithmic: it rises with it in "
                    "proportion, and is never 0."),
        Table(columns=("virtual costs", "1/epsilon", "cost with it", "the same error and public losses without it",
                       "optimum"), rows=tuple(rows),
              note="Third against second cost: the noise is moved into the local channels, weights as they are.")))


STUDY = Study(
    name="acquisition-central-noise",
    title="Noise on the published mean",
    source="Fallah et al. 2022, Proposition 1",
    statement="It is never optimal to add noise to the published estimate.",
    run=_run,
)
