"""Theorem 4: the error of the released estimate, as printed, as proved, and as measured in simulated runs."""

from __future__ import annotations

import numpy as np

from confide.charts import curves
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress
from confide.evidence.cummings_2015.printed_numbers import printed_guarantees
from confide.evidence.findings import Findings, Study, advance, bound, evaluated
from confide.privacy.noise import Noise
from confide.regression import plan
from confide.regression.private_truthful_regression import RegressionBillboard
from confide.regression.stand_ins import stand_in

_DIMENSION = 3


def _run(quick: bool, progress: Progress | None) -> Findings:
    sizes = (2_000, 8_000, 32_000) if quick else (2_000, 8_000, 32_000, 128_000, 512_000)
    runs = 6 if quick else 24
    rows, compared = [], []
    for k, n in enumerate(sizes):
        found = plan(people=n, features=_DIMENSION, parameter_bound=1.0, noise_bound=0.5, epsilon_release=1.0,
                     epsilon_payment=1.0, truth_radius=1.5, release="ridge")
        mechanism = found.mechanism
        errors = []
        for run in range(runs):
            people = stand_in(mechanism.setting, Noise.simulated(2 * run))
            board = mechanism.run((people.X, people.y), Noise.simulated(2 * run + 1)).billboard
            if not isinstance(board, RegressionBillboard):
                raise InvalidInput("mechanism", "made another billboard")
            errors.append(float(np.sum((board.estimate - people.theta) ** 2)))
            advance(progress, k * runs + run + 1, len(sizes) * runs)
        printed = next(row for row in printed_guarantees(mechanism) if row.promise == "squared error of the release")
        measured = float(np.mean(errors))
        rows += [(float(n), measured, f"measured, mean of {runs} runs"), (float(n), printed.corrected, "proved bound"),
                 (float(n), printed.printed, "printed bound"), (float(n), 1.0, "publishing zeros")]
        compared.append(bound(
            f"squared error, n = {n:,}", measured, at_most=printed.printed, slack=0.0,
            remark=f"proved {printed.corrected:.3g}; the print is {printed.printed / measured:.0f} times too large"
            + (" and says nothing: zeros err by 1 at most" if printed.printed >= 1 else ""),
            origin=evaluated("Cummings, Ioannidis and Ligett 2015, Theorem 4, line 270"),
        ))
    picture = curves(rows, title="Error of the released coefficients, d = 3, two releases at epsilon 1 each",
                     x="people n", y="squared error", log_x=True, log_y=True,
                     alt="The measured error falls with n and stays below the proved bound; the printed bound is far "
                         "above both.")
    return Findings(compared=tuple(compared), blocks=tuple(picture))


STUDY = Study(
    name="regression-accuracy",
    title="Accuracy of the release",
    source="Cummings, Ioannidis and Ligett 2015, Theorem 4",
    statement="The expected squared error is at most the last display of the proof.",
    run=_run,
)
