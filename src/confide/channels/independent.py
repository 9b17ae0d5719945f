"""Independent rows: all three trade-offs exactly, at any n, from row laws alone.

Source: spec privacy_notions 5, item 5 (proved there).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from confide.channels.kernels import h, h_inverse
from confide.channels.priors import IndependentRows
from confide.channels.rows import least_row_level, row_losses, tails, water_information

__all__ = ["dp_distortion", "dp_level", "identifiability_distortion", "identifiability_level", "information",
           "row_distortions"]

_Vector = NDArray[np.float64]


def dp_distortion(prior: IndependentRows, epsilon: float) -> float:
    """D_d*(epsilon) = sum over rows of 1 - Theta(epsilon), the least distortion under epsilon-DP."""
    return float(prior.counts @ row_losses(tails(prior.laws), epsilon))


def identifiability_distortion(prior: IndependentRows, epsilon: float) -> float:
    """D_i*(epsilon) = sum over rows of max(1 - e^epsilon min p, h), for epsilon >= eps_X."""
    return float(prior.counts @ _identifiable(prior, epsilon))


def _identifiable(prior: IndependentRows, epsilon: float) -> _Vector:
    with np.errstate(over="ignore"):
        found: _Vector = np.maximum(1.0 - np.exp(min(epsilon, 700.0)) * prior.laws.min(axis=1),
                                    h(epsilon, prior.letters, 1))
    return found


def dp_level(prior: IndependentRows, distortion: float) -> float:
    """eps_d*(D): 0 from D_0 on, the inverse of `dp_distortion` before."""
    constant = float(prior.counts @ (1.0 - prior.laws.max(axis=1)))
    if distortion >= constant - 1e-12 * prior.records:
        return 0.0
    if len(prior.laws) == 1:
        return least_row_level(prior.laws[0], distortion / prior.records)
    left = tails(prior.laws)
    return _inverted(lambda epsilon: float(prior.counts @ row_losses(left, epsilon)), distortion,
                     h_inverse(distortion, prior.letters, prior.records))


def identifiability_level(prior: IndependentRows, distortion: float, prior_level: float) -> float:
    """eps_i*(D): eps_X from D_i*(eps_X) on."""
    if distortion >= identifiability_distortion(prior, prior_level) - 1e-12 * prior.records:
        return prior_level
    if len(prior.laws) == 1:
        share = distortion / prior.records
        return max(h_inverse(distortion, prior.letters, prior.records),
                   math.log((1.0 - share) / float(prior.laws.min())), prior_level)
    highest = max(h_inverse(distortion, prior.letters, prior.records),
                  -math.log(float(prior.laws.min())), prior_level)
    return _inverted(lambda epsilon: identifiability_distortion(prior, epsilon), distortion, highest)


def information(prior: IndependentRows, distortion: float) -> float:
    """eps_m*(D) in nats: water-filling in all rows at one slope, eps_d*(D)."""
    return float(prior.counts @ water_information(prior.laws, row_distortions(prior, distortion)))


def row_distortions(prior: IndependentRows, distortion: float) -> _Vector:
    """(u,) delta of each row law at the common slope: 1 - Theta(eps_d*(D))."""
    if len(prior.laws) == 1:
        return np.array([distortion / prior.records])
    slope = dp_level(prior, distortion)
    deltas = row_losses(tails(prior.laws), slope)
    # Rounding of the slope is made up for, so that the distortions add up to D.
    return np.asarray(np.minimum(deltas * (distortion / max(float(prior.counts @ deltas), 1e-300)), 1.0))


def _inverted(distortion_at: Callable[[float], float], distortion: float, high: float) -> float:
    """The epsilon at which a falling function has a value, by bisection down to rounding."""
    low, high = 0.0, max(high, 1e-12)
    while distortion_at(high) > distortion:
        low, high = high, 2.0 * high
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if distortion_at(middle) > distortion else (low, middle)
    return high
