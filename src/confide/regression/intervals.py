"""How far the privacy noise can have moved a released number: quantiles of one coordinate of vector Laplace noise.

If v has density proportional to exp(-||v||) in d dimensions, u'v for a unit vector u is R*T with R ~ Gamma(d) and T a
coordinate of a uniform direction, independent: P[|u'v| > x] = E[P(|T| > x/R)].
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy

from confide.contract.checks import fraction, whole

__all__ = ["laplace_marginal_quantile", "laplace_marginal_tail", "mean_of_two_quantile", "normal_quantile"]


_NODES, _WEIGHTS = scipy.special.roots_legendre(160)


def _tails(x: np.ndarray, dimension: int) -> np.ndarray:
    """P[|u'v| > x] for an array of x >= 0, shape (k,)."""
    if dimension == 1:
        return np.asarray(np.exp(-x))
    # Only radii above x count; r = x + t^2 makes the integrand smooth at its lower end, whatever the dimension.
    low = np.maximum(x, scipy.special.gammaincinv(dimension, 1e-17))
    high = np.maximum(scipy.special.gammainccinv(dimension, 1e-17), low + 40.0)
    start = np.sqrt(low - x)[:, None]
    width = np.sqrt(high - x)[:, None] - start
    t = start + width * (_NODES + 1) / 2
    r = x[:, None] + t * t
    density = np.exp((dimension - 1) * np.log(r) - r - math.lgamma(dimension)) * 2 * t * _WEIGHTS * width / 2
    tail = scipy.special.betaincc(0.5, (dimension - 1) / 2, np.minimum((x[:, None] / r) ** 2, 1.0))
    return np.asarray(np.minimum(1.0, np.sum(density * tail, axis=1)))


def laplace_marginal_tail(x: float, dimension: int) -> float:
    """P[|u'v| > x] for vector Laplace noise of scale 1 in `dimension` dimensions, u a unit vector, x >= 0."""
    return float(_tails(np.array([x], dtype=np.float64), whole("dimension", dimension, at_least=1))[0])


@cache
def laplace_marginal_quantile(level: float, dimension: int) -> float:
    """The x with P[|u'v| <= x] = level, for scale 1.

    Args:
        level: coverage in (0, 1).
        dimension: d >= 1.

    Example:
        >>> round(laplace_marginal_quantile(0.95, 1), 6)  # one dimension: ln 20
        2.995732
    """
    from scipy.optimize import brentq

    fraction("level", level)
    high = float(scipy.special.gammaincinv(dimension, 1 - (1 - level) / 4)) + 1.0
    return float(brentq(lambda x: laplace_marginal_tail(x, dimension) - (1 - level), 0.0, high, xtol=1e-12))


@cache
def mean_of_two_quantile(level: float, dimension: int) -> float:
    """The x with P[|u'(v0+v1)/2| <= x] = level for two independent draws of scale 1 (the averaged release)."""
    fraction("level", level)
    half = 1.5 * laplace_marginal_quantile(1 - 1e-9, dimension)
    edges = np.linspace(0.0, half, 2049)
    step = float(edges[1])
    # The law of u'v on cells of this width centred at multiples of it, by symmetry from one side.
    tail = _tails(edges[:-1] + step / 2, dimension) / 2
    side = tail[:-1] - tail[1:]
    mass = np.concatenate([side[::-1], [1 - 2 * tail[0]], side])
    total = np.convolve(mass, mass)  # the law of v0 + v1 on a grid of the same step
    inside = np.cumsum(total[len(total) // 2 :]) * 2 - total[len(total) // 2]
    at = int(np.searchsorted(inside, level))
    return float(step * (at + 0.5) / 2)


def normal_quantile(level: float) -> float:
    """The x with P[|Z| <= x] = level for a standard normal Z."""
    return float(scipy.special.ndtri(0.5 + fraction("level", level) / 2))
