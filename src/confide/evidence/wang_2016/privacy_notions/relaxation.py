"""R-PD, the problem that both problems of a level relax to: n + 1 masses by distance, whose least mean distance is h.

Source: Wang 2016, Lemma 7; spec privacy_notions 3.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog

from confide.contract.errors import SolverFailed

__all__ = ["relaxed_distortion"]


def relaxed_distortion(epsilon: float, letters: int, rows: int) -> float:
    """R-PD: the least mean distance of a posterior of this level from one output; n + 1 masses by distance.

    Args:
        epsilon: in nats.
        letters: m.
        rows: n.
    """
    factor, m, n = math.exp(epsilon), letters, rows
    limits = np.zeros((2 * n, n + 1))
    for k in range(1, n + 1):
        up, down = (n - k + 1) * (m - 1), k
        scale = max(up, factor * down)
        limits[2 * k - 2, [k - 1, k]] = np.array([up, -factor * down]) / scale
        scale = max(down, factor * up)
        limits[2 * k - 1, [k - 1, k]] = np.array([-factor * up, down]) / scale
    found = linprog(np.arange(n + 1.0), A_ub=limits, b_ub=np.zeros(2 * n), A_eq=np.ones((1, n + 1)), b_eq=[1.0],
                    method="highs")
    if found.status != 0:
        raise SolverFailed("relaxation", "the linear program was not solved")
    return float(found.fun)
