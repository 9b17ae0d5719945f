"""The problem R-PD of Wang 2016, a relaxation of both the identifiability and the differential privacy problem. The
variables of R-PD are the probabilities of the distances 0 to n between a data set of n rows and an output. The least
mean distance, as a function of the privacy level, is the function h.

Source: Wang 2016, Lemma 7; spec privacy_notions 3.

The module also contains the priors that examples, figures and claims use.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog

from confide.channels.priors import FullPrior, IndependentRows, as_law
from confide.contract.errors import SolverFailed

__all__ = ["FIVE_STARS", "PAIR", "relaxed_distortion"]

# ---- worked priors

PAIR = FullPrior([0.45, 0.05, 0.05, 0.45], letters=2, records=2)
"""Prior of two bits that agree with probability .9 (spec privacy_notions 11)."""

FIVE_STARS = IndependentRows([as_law("prior", [0.2533, 0.1821, 0.1821, 0.1873, 0.1953], normalise=True)])
"""The law of a movie's ratings that Wang 2016 prints (L430), normalised because the printed law sums to 1.0001. The
prior has one row. Privacy levels computed from this prior hold for any number of rows, and distortions are per row.
"""


# ---- relaxation


def relaxed_distortion(epsilon: float, letters: int, rows: int) -> float:
    """Value of R-PD: the least mean distance between the data set and one output, under a posterior of the given
    privacy level. The value is computed by a linear program in the probabilities of the n + 1 distances.

    Args:
        epsilon: privacy level in nats.
        letters: number m >= 2 of values (letters) that a row can have.
        rows: number n of rows.
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
