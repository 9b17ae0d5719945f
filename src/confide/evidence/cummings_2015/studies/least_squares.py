"""Lemma 2: the error of ordinary least squares, whose covariance has d eigenvalues and not one."""

from __future__ import annotations

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.evidence.cummings_2015.printed_numbers import printed_least_squares
from confide.evidence.findings import Findings, Study, advance, bound, evaluated
from confide.privacy.noise import Noise
from confide.regression.priors import UniformBall, UniformNoise
from confide.regression.setting import Setting
from confide.regression.stand_ins import stand_in

_PEOPLE, _TOLERANCE = 4000, 0.2


def _run(quick: bool, progress: Progress | None) -> Findings:
    dimensions, runs = ((1, 3, 10) if quick else (1, 2, 3, 5, 10, 20)), (100 if quick else 400)
    noise_law = UniformNoise(bound=0.5)
    rows, compared = [], []
    for k, d in enumerate(dimensions):
        setting = Setting(people=_PEOPLE, features=d, prior=UniformBall(dimension=d, radius=1.0), noise=noise_law)
        errors = []
        for run in range(runs):
            people = stand_in(setting, Noise.simulated(run))
            theta = np.linalg.solve(people.X.T @ people.X, people.X.T @ people.y)
            errors.append(float(np.sum((theta - people.theta) ** 2)))
            advance(progress, k * runs + run + 1, len(dimensions) * runs)
        measured = float(np.mean(errors))
        printed = printed_least_squares(_PEOPLE, d, noise_law.variance, _TOLERANCE)
        rows += [(float(d), measured, f"measured, mean of {runs} runs"), (float(d), printed, "printed bound"),
                 (float(d), d * printed, "d times the printed bound: proved")]
        compared.append(bound(f"squared error, n = {_PEOPLE:,}, d = {d}", measured, at_most=printed, slack=0.0,
                              remark=f"proved: {d * printed:.3g}",
                              origin=evaluated("Cummings, Ioannidis and Ligett 2015, Lemma 2, line 162")))
    picture = curves(rows, title="Error of least squares", x="dimension d", y="squared error", log_x=True, log_y=True,
                     alt="The measured error grows like d squared and stays below d times the printed bound; from "
                         "d = 2 on it is above the printed one.")
    return Findings(compared=tuple(compared), blocks=tuple(picture))


STUDY = Study(
    name="regression-least-squares",
    title="Accuracy without privacy",
    source="Cummings, Ioannidis and Ligett 2015, Lemma 2",
    statement="The expected squared error of least squares is at most sigma^2 (d + 2)/((1 - xi) n).",
    run=_run,
)
