"""Theorem 1 with its constants: how well any estimator can do at given local losses, and how well a linear one does.

alpha = 2, VAR = 1/4 at most, equal levels. Formulas: spec two_part_acquisition section 3.
"""

from __future__ import annotations

import math

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Picture, Table
from confide.evidence.fallah_2022.minimax import LOWER_CONSTANT, UPPER_CONSTANT, minimax_bounds
from confide.evidence.findings import OWN_COMPARISON, Compared, Findings, Study, advance, bound

__all__ = ["STUDY"]

_ORDER = 2.0
_PEOPLE = (10, 1000)


def _run(quick: bool, progress: Progress | None) -> Findings:
    pictures: list[Picture] = []
    rows: list[tuple[float, ...]] = []
    worst, least, linear = 0.0, math.inf, 0.0
    for done, n in enumerate(_PEOPLE, 1):
        points: list[tuple[float, float, str]] = []
        for total in np.geomspace(0.01, n, 12 if quick else 80).tolist():
            bounds = minimax_bounds(np.full(n, total / n), order=_ORDER)
            points += [(total, bounds.lower, "no estimator does better"), (total, bounds.upper, "linear estimator"),
                       (total, bounds.shrunk_upper, "drawn to the middle"), (total, 0.25, "a constant")]
            least = min(least, bounds.lower / min(1.0, 1.0 / total))
            linear = max(linear, bounds.upper * total / _ORDER)
            if total >= 1.0:
                worst = max(worst, bounds.shrunk_upper / bounds.lower)
        for total in (0.1, 1.0, 10.0):
            bounds = minimax_bounds(np.full(n, total / n), order=_ORDER)
            rows.append((n, total, bounds.lower, bounds.upper, bounds.shrunk_upper, bounds.gap))
        pictures += curves(points, title=f"Worst-case error of {n:,} people", x="sum of their local losses, nats",
                           y="mean squared error", log_x=True, log_y=True,
                           alt="Error against the sum of the local losses, both logarithmic: the linear estimator "
                               "falls like its inverse, in parallel to the lower bound; where the sum is small it is "
                               "worse than a constant, and drawn to the middle it is never worse.")
        advance(progress, done, len(_PEOPLE))
    compared = (
        bound("c: least of minimax error over min(1, 1/sum)", least, at_least=LOWER_CONSTANT, origin=OWN_COMPARISON,
              remark="1/(8 (e - 1)); the source says that there is one"),
        bound("O(1): largest of linear error times sum/alpha", linear, at_most=UPPER_CONSTANT, origin=OWN_COMPARISON,
              remark="5/8; the source says that there is one"),
        bound("largest ratio of the two where the sum is 1 or more", worst, at_most=5.0 * (math.e - 1.0) * _ORDER,
              remark="5 (e - 1) alpha: optimal up to this factor", origin=OWN_COMPARISON),
        Compared(quantity="linear error where 10 people's losses sum to .1", published=None,
                 ours=minimax_bounds(np.full(10, 0.01), order=_ORDER).upper, agreement="not published",
                 remark="a constant has 1/4"),
    )
    return Findings(compared=compared, blocks=(*pictures, Table(
        columns=("people n", "sum of losses", "lower bound", "linear", "drawn to the middle", "ratio"),
        rows=tuple(rows))))


STUDY = Study(
    name="acquisition-minimax",
    title="What local losses allow",
    source="Fallah et al. 2022, Theorem 1",
    statement="The minimax error is at least c min(1/sum eps, 1), and a linear estimator's at most O(1) alpha/sum eps.",
    run=_run,
)
