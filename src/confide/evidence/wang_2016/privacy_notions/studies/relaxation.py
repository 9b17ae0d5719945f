"""Figure 2.3: both problems relax to the same one, by three linear programs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from confide.channels.kernels import h
from confide.channels.priors import Prior
from confide.channels.solvers.programs import distances
from confide.charts import curves
from confide.contract.errors import SolverFailed
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Findings, Study, advance, bound, in_words, near
from confide.evidence.wang_2016.privacy_notions.relaxation import relaxed_distortion
from confide.evidence.wang_2016.privacy_notions.worked_priors import PAIR

__all__ = ["uncertified_distortion"]

_Vector = NDArray[np.float64]


def uncertified_distortion(prior: Prior, epsilon: float, *, joint: bool) -> float:
    """PD-I (joint) or PD-DP of a small prior as one dense linear program. For comparison: nothing of it is certified.

    Args:
        prior: with few databases.
        epsilon: in nats.
        joint: whether the joint law is limited (identifiability), or the channel (differential privacy).
    """
    m, n, law = prior.letters, prior.records, prior.vector()
    size, d = len(law), distances(m, n)
    left, right = np.nonzero(d == 1.0)
    limits = np.zeros((len(left) * size, size * size))
    for y in range(size):
        at = np.arange(len(left)) + y * len(left)
        limits[at, left * size + y] = math.exp(-epsilon)
        limits[at, right * size + y] = -1.0
    sums = np.repeat(np.eye(size), size, axis=1)
    cost = d if joint else d * law[:, None]
    return _solved(cost.reshape(-1), limits, sums, law if joint else np.ones(size))


def _solved(cost: _Vector, limits: _Vector, sums: _Vector, right: _Vector) -> float:
    found = linprog(cost, A_ub=limits, b_ub=np.zeros(len(limits)), A_eq=sums, b_eq=right, method="highs")
    if found.status != 0:
        raise SolverFailed("relaxation", "the linear program was not solved")
    return float(found.fun)


def _run(quick: bool, progress: Progress | None) -> Findings:
    own = math.log(9)
    grid = np.linspace(0.0, 2.0, 6 if quick else 21).tolist()
    rows, table = [], []
    for k, step in enumerate(grid):
        level = own + step
        relaxed = relaxed_distortion(level, 2, 2)
        joint, plain = uncertified_distortion(PAIR, level, joint=True), uncertified_distortion(PAIR, step, joint=False)
        rows += [(level, relaxed, "relaxed: h"), (level, joint, "identifiability at the level"),
                 (level, plain, "differential privacy at the level less eps_X")]
        table.append((level, relaxed, joint, plain))
        advance(progress, k + 1, len(grid))
    worst = max(abs(relaxed - h(level, 2, 2)) for level, relaxed, _, _ in table)
    below = min(min(joint, plain) - relaxed for _, relaxed, joint, plain in table)
    compared = (
        near("relaxed program less h, largest", 0.0, worst, within=1e-9,
             origin=in_words("Wang 2016, Lemma 7, line 1758")),
        bound("distance of both programs from the relaxed one, least", below, at_least=0.0, remark="never negative",
              origin=in_words("Wang 2016, Figure 2.3, line 375")),
    )
    picture = curves(rows, title="Two problems and their relaxation", x="level, nats", y="least distortion, rows",
                     alt="The relaxed program is below both. Identifiability meets it at eps~_X = 2.887, differential "
                         "privacy, shifted by eps_X, nowhere.")
    return Findings(compared=compared, blocks=(*picture, Table(
        columns=("level, nats", "relaxed", "identifiability", "differential privacy at the level less eps_X"),
        rows=tuple(table))))


STUDY = Study(
    name="channels-relaxation",
    title="One relaxation for two problems",
    source="Wang 2016, Figure 2.3, Lemma 7",
    statement="Both problems relax to one whose value is h; with (2.19), D_relaxed(eps + eps_X) <= D_d*(eps).",
    run=_run,
)
