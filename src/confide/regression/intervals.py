"""How far the privacy noise can have moved a released number: quantiles of one coordinate of vector Laplace noise.

If v has density proportional to exp(-||v||) in d dimensions, u'v for a unit vector u is R*T with R ~ Gamma(d) and T a
coordinate of a uniform direction, independent: P[|u'v| > x] = E[P(|T| > x/R)].
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincc, gammainccinv, gammaincinv, roots_legendre
from scipy.stats import norm

from confide.contract.checks import fraction, whole

__all__ = ["laplace_marginal_quantile", "laplace_marginal_tail", "mean_of_two_quantile", "normal_quantile"]


_NODES, _WEIGHTS = roots_legendre(160)


def laplace_marginal_tail(x: float, dimension: int) -> float:
    """P[|u'v| > x] for vector Laplace noise of scale 1 in `dimension` dimensions, u a unit vector, x >= 0."""
    if whole("dimension", dimension, at_least=1) == 1:
        return math.exp(-x)
    # Only radii above x count; r = x + t^2 makes the integrand smooth at its lower end, whatever the dimension.
    low = max(x, float(gammaincinv(dimension, 1e-17)))
    high = max(float(gammainccinv(dimension, 1e-17)), low + 40.0)
    start = math.sqrt(low - x)
    width = math.sqrt(high - x) - start
    t = start + width * (_NODES + 1) / 2
    r = x + t * t
    density = np.exp((dimension - 1) * np.log(r) - r - math.lgamma(dimension)) * 2 * t * _WEIGHTS * width / 2
    tail = betaincc(0.5, (dimension - 1) / 2, np.minimum((x / r) ** 2, 1.0))
    return min(1.0, float(density @ tail))


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
    fraction("level", level)
    high = float(gammaincinv(dimension, 1 - (1 - level) / 4)) + 1.0
    return float(brentq(lambda x: laplace_marginal_tail(x, dimension) - (1 - level), 0.0, high, xtol=1e-12))


@cache
def mean_of_two_quantile(level: float, dimension: int) -> float:
    """The x with P[|u'(v0+v1)/2| <= x] = level for two independent draws of scale 1 (the averaged release)."""
    fraction("level", level)
    half = 3.0 * laplace_marginal_quantile(1 - 1e-10, dimension) / 2
    grid = np.linspace(-half, half, 8193)
    step = grid[1] - grid[0]
    edges = np.abs(np.concatenate([grid - step / 2, [grid[-1] + step / 2]]))
    tail = np.array([laplace_marginal_tail(float(e), dimension) for e in edges]) / 2
    distribution = np.where(np.concatenate([grid - step / 2, [half]]) < 0, tail, 1 - tail)
    mass = np.diff(distribution)
    total = np.convolve(mass, mass)  # the law of v0 + v1 on a grid of the same step
    inside = np.cumsum(total[len(total) // 2 :]) * 2 - total[len(total) // 2]
    at = int(np.searchsorted(inside, level))
    return float(step * (at + 0.5) / 2)


def normal_quantile(level: float) -> float:
    """The x with P[|Z| <= x] = level for a standard normal Z."""
    return float(norm.ppf(0.5 + fraction("level", level) / 2))
