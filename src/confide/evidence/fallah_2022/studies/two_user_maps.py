"""The case study of two people as heat maps: what the first is offered, for every pair of reports.

Uniform sensitivities, alpha = 2, VAR = 1/12, gamma in {10, 100, 400}. Formulas: spec two_part_acquisition section 11.
"""

from __future__ import annotations

import math

import numpy as np

from confide.charts import heat_map
from confide.contract.kinds import Progress
from confide.contract.presentation import Picture, Table
from confide.evidence.fallah_2022.studies.two_users import PRICES, case
from confide.evidence.findings import Compared, Findings, Study, advance

__all__ = ["STUDY"]


def _alone(switch: float) -> float:
    """Probability that c1 c2, a product of two uniforms, is above the switch."""
    return 1.0 - switch + switch * math.log(switch) if switch < 1 else 0.0


def _run(quick: bool, progress: Progress | None) -> Findings:
    squares = 10 if quick else 50
    middles = (np.arange(squares) + 0.5) / squares
    pairs = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)
    compared: list[Compared] = []
    pictures: list[Picture] = []
    rows: list[tuple[float, ...]] = []
    for done, gamma in enumerate(PRICES, 1):
        offers, share = case(gamma).offers(pairs), _alone(case(gamma).switch)
        # What is 0 has no colour on a logarithmic scale: white says that nothing is bought from her.
        shown = {"local loss": np.where(offers.epsilon_local > 0, offers.epsilon_local, math.nan),
                 "central loss": offers.epsilon_central, "payment": offers.payments}
        for quantity, values in shown.items():
            pictures += heat_map(
                [(float(a), float(b), float(v)) for (a, b), v in zip(pairs, values[:, 0], strict=True)],
                step=1.0 / squares, title=f"{quantity.capitalize()} of the first, gamma = {gamma:g}",
                x="c1, her report", y="c2, the other's", value=quantity, log=quantity == "local loss",
                alt=f"{quantity.capitalize()} of the first person by both reports: it falls from left to right" + (
                    "." if share == 0 else "; in the upper right corner one person alone is bought from, above the "
                    "diagonal the first, below it the second."))
        compared.append(Compared(
            quantity=f"probability that one alone is bought from, gamma = {gamma:g}", published=None, ours=share,
            agreement="not published"))
        rows.append((gamma, share, float(np.mean((offers.weights == 1).any(axis=-1))),
                     float(offers.payments.max()), float(offers.payments.sum(axis=-1).mean())))
        advance(progress, done, len(PRICES))
    return Findings(compared=tuple(compared), blocks=(*pictures, Table(
        columns=("gamma", "one alone, probability", "on the map", "largest payment on it", "mean payments on it"),
        rows=tuple(rows))))


STUDY = Study(
    name="acquisition-two-user-maps",
    title="Two people: heat maps of what the first is offered",
    source="Fallah et al. 2022, case study with two users",
    statement="Privacy levels and payments of two people as functions of the reported sensitivities.",
    run=_run,
)
