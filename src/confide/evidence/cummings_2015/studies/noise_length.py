"""Lemma 9: how long the noise vector is."""

from __future__ import annotations

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.evidence.findings import Findings, Study, advance, evaluated, near
from confide.privacy.noise import Noise


def _run(quick: bool, progress: Progress | None) -> Findings:
    dimensions, draws = (1, 2, 5, 10, 20, 50), 400 if quick else 4000
    noise = Noise.simulated(1)
    measured, errors = {}, {}
    for k, d in enumerate(dimensions):
        vectors = np.array([noise.vector_laplace(1.0, d, stream=("v", d, i)) for i in range(draws)])
        squares = np.sum(vectors**2, axis=1)
        measured[d], errors[d] = float(np.mean(squares)), float(np.std(squares)) / draws**0.5
        advance(progress, k + 1, len(dimensions))
    rows = [(float(d), value, "measured") for d, value in measured.items()]
    rows += [(float(d), float(d * (d + 1)), "d(d + 1)") for d in dimensions]
    rows += [(float(d), 2.0, "printed: 2") for d in dimensions]
    picture = curves(rows, title="Mean squared length of the noise", x="dimension d", y="E||v||^2, in units of s^2",
                     log_x=True, log_y=True,
                     alt="The measured mean squared length follows d(d + 1); the printed value 2 is right at d = 1.")
    return Findings(
        compared=tuple(
            near(f"E||v||^2 / s^2 at d = {d}, mean of {draws} draws", 2.0, measured[d], within=4 * errors[d],
                 remark=f"standard error {errors[d]:.2g}; d(d + 1) = {d * (d + 1)}",
                 origin=evaluated("Cummings, Ioannidis and Ligett 2015, Lemma 9, line 548"))
            for d in (1, 10, 50)
        ),
        blocks=tuple(picture),
    )


STUDY = Study(
    name="regression-noise",
    title="Length of the noise vector",
    source="Cummings, Ioannidis and Ligett 2015, Lemma 9",
    statement="Noise with density proportional to exp(-||v||/s) has E||v|| = s and E||v||^2 = 2 s^2.",
    run=_run,
)
