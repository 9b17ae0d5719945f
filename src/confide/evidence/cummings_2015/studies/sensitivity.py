"""Lemma 6: how far one record moves a ridge estimate, as printed, as it is, and constrained to a ball."""

from __future__ import annotations

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.evidence.findings import Compared, Findings, Study, advance, bound, crossing, evaluated
from confide.regression.sensitivity import counterexample, diameter, printed_constant

_BOUND = 1.0  # B and M


def _attained(rows: int, ridge: float) -> float:
    """gamma times the distance of the plain estimates of two data sets that differ in one record."""
    first, second = counterexample(rows, ridge, _BOUND, _BOUND)
    return ridge * float(np.linalg.norm(first.ridge(ridge) - second.ridge(ridge)))


def _run(quick: bool, progress: Progress | None) -> Findings:
    people = 10**6
    ratios = np.geomspace(2.0, 1e5, 15 if quick else 60)
    printed, constrained = printed_constant(_BOUND, _BOUND), diameter(1.25 * _BOUND, 2 * _BOUND)
    plain = []
    for k, ratio in enumerate(ratios.tolist()):
        plain.append((ratio, _attained(people, people / ratio)))
        advance(progress, k + 1, len(ratios))
    rows = [(a, b, "plain ridge, attained") for a, b in plain]
    rows += [(a, printed, "printed bound 4B + 2M") for a, _ in plain]
    rows += [(a, constrained, "constrained to a ball of radius 1.25: proved") for a, _ in plain]
    crossed = crossing(plain, printed)
    picture = curves(
        rows, title="One record moves plain ridge further than the lemma says", x="n / gamma",
        y="gamma x distance", log_x=True, log_y=True,
        alt=f"The attained distance of plain ridge crosses the printed constant {printed:g} near "
            f"n/gamma = {crossed:.2g} and grows like its square root; "
            f"the estimate constrained to a ball stays below {constrained:.3g}.",
    )
    at_size = _attained(10_000, 10.0)
    return Findings(
        compared=(
            bound("gamma x sensitivity, n = 10,000, gamma = 10, B = M = 1", at_size, at_most=printed,
                  remark=f"{at_size / printed:.1f} times the printed bound",
                  origin=evaluated("Cummings, Ioannidis and Ligett 2015, Lemma 6, line 466")),
            Compared(quantity="largest n/gamma at which the printed bound holds", published=None,
                     ours=crossed, agreement="not published", remark="the lemma claims it for all"),
            Compared(quantity="gamma x sensitivity of the constrained estimate", published=None, ours=constrained,
                     agreement="not published", remark="any n and gamma"),
        ),
        blocks=tuple(picture),
    )


STUDY = Study(
    name="regression-sensitivity",
    title="Sensitivity of ridge regression",
    source="Cummings, Ioannidis and Ligett 2015, Lemma 6",
    statement="Replacing one record moves the ridge estimate by at most (4B + 2M)/gamma.",
    run=_run,
)
