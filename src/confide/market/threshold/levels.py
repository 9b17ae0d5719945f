"""The privacy level that each type chooses, and how often a participant's report then differs from her bit.

A person of cost c <= c_th who is paid Q - T P(report differs from bit) takes the level xi(c) >= epsilon, where
T/(2 (1 + cosh xi)) = c. The share of flipped reports is an integral over the law of costs; it is computed per part of
the law, over its own quantile function, by the double exponential rule, and in closed form for uniform cells.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import SolverFailed
from confide.market.threshold.cost_laws import CostLaw, HistogramLaw, MixtureLaw, UniformLaw

__all__ = ["chosen_level", "cost_of_level", "flip_probability"]

ACCURACY = 1e-10
"""Largest error of a share of flipped reports, relative to it."""

_REACH = 3.2  # beyond it the double exponential weights are below 1e-16
_STEP = 1.0 / 32.0


def _double_exponential(step: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes in (0, 1) and weights, which sum to 1 but for 1e-16."""
    k = step * np.arange(-int(_REACH / step), int(_REACH / step) + 1)
    exponent = math.pi * np.sinh(k)
    below, above = scipy.special.expit(exponent), scipy.special.expit(-exponent)
    return below, step * math.pi * np.cosh(k) * below * above


@cache
def _rule() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Nodes, weights, and the weights of the rule with twice the step."""
    nodes, weights = _double_exponential(_STEP)
    return nodes, weights, np.where(np.arange(nodes.size) % 2 == int(_REACH / _STEP) % 2, 2.0 * weights, 0.0)


def chosen_level(cost: ArrayLike, threshold: float, epsilon: float, ceiling: float = math.inf) -> Any:
    """xi(c) = 2 arccosh(cosh(epsilon/2) sqrt(c_th/c)) for c <= c_th, and the ceiling where that is above it.

    Args:
        cost: c; above the threshold there is no level, and the result is nan.
        threshold: c_th.
        epsilon: the level at the threshold, the least.
        ceiling: the largest level that a client lets through.

    Source: Wang 2016, (4.1), whose printed form divides by 0 below c/c_th = 1e-16; the ceiling is ours, spec
    data_market section 3.

    Example:
        >>> round(float(chosen_level(1e-17, 1.0, 2.0)), 7), float(chosen_level(1.0, 1.0, 2.0))
        (41.3978026, 2.0)
    """
    c = np.asarray(cost, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # sinh^2(xi/2) = cosh^2(epsilon/2) (c_th - c)/c + sinh^2(epsilon/2)
        far = math.cosh(epsilon / 2.0) * np.sqrt((threshold - c) / c)
        level = 2.0 * np.arcsinh(np.hypot(far, math.sinh(epsilon / 2.0)))
    level = np.where(c == threshold, epsilon, np.minimum(np.maximum(level, epsilon), ceiling))
    return np.where(c <= threshold, level, np.nan)[()]


def cost_of_level(level: ArrayLike, threshold: Any, epsilon: float) -> Any:
    """The cost c at which xi(c) is that level >= epsilon: c_th cosh^2(epsilon/2)/cosh^2(level/2)."""
    x = np.asarray(level, dtype=np.float64)
    # cosh a/cosh b = e^(a-b) (1 + e^(-2a))/(1 + e^(-2b))
    ratio = np.exp((epsilon - x) / 2.0) * (1.0 + math.exp(-epsilon)) / (1.0 + np.exp(-x))
    return threshold * ratio**2


def _flip(cost: Any, threshold: Any, epsilon: float) -> Any:
    """1/(1 + e^xi(c)), of full relative accuracy."""
    share = np.clip(np.divide(cost, threshold), 0.0, 1.0)
    cosh = math.cosh(epsilon / 2.0)
    keep = np.sqrt(math.tanh(epsilon / 2.0) ** 2 + (1.0 - share) / cosh / cosh)  # tanh(xi/2)
    return 0.5 * (share / cosh / cosh) / (1.0 + keep)


def _in_cells(edges: NDArray[np.float64], weights: NDArray[np.float64], low: NDArray[np.float64],
              high: NDArray[np.float64], threshold: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """E[flip 1{low < C <= high}] of a law that is uniform within cells.

    With d = 1 - tanh(xi/2) at the two ends of a cell, the mean of d/2 over it is
    (3/2 (d0 + d1) - (d0^2 + d0 d1 + d1^2))/(3 (2 - d0 - d1)).
    """
    first = np.clip(edges[:-1], low[:, None], high[:, None])
    last = np.clip(edges[1:], low[:, None], high[:, None])
    d0, d1 = (2.0 * _flip(ends, threshold[:, None], epsilon) for ends in (first, last))
    mean = (1.5 * (d0 + d1) - (d0 * d0 + d0 * d1 + d1 * d1)) / (3.0 * (2.0 - d0 - d1))
    found: NDArray[np.float64] = (mean * (last - first)) @ (weights / np.diff(edges))
    return found


def _by_quantiles(law: CostLaw, low: NDArray[np.float64], high: NDArray[np.float64], threshold: NDArray[np.float64],
                  epsilon: float, *, rough: bool) -> NDArray[np.float64]:
    """E[flip 1{low < C <= high}] of any law, over its quantile function."""
    start = np.asarray(law.cdf(low), dtype=np.float64)
    mass = np.maximum(np.asarray(law.cdf(high), dtype=np.float64) - start, 0.0)

    def integrand(u: Any, k: Any) -> Any:
        return _flip(law.quantile(start[k] + mass[k] * u), threshold[k], epsilon)

    some = np.flatnonzero(mass > 0)
    found = np.zeros(low.size)
    if not some.size:
        return found
    nodes, weights, coarse = _rule()
    values = integrand(nodes[None, :], some[:, None])
    means = values @ weights
    if not rough:
        for index in np.flatnonzero(np.abs(values @ coarse - means) > ACCURACY * np.abs(means)):
            means[index] = _adaptive(lambda u, k=some[index]: float(integrand(u, k)))
    found[some] = mass[some] * means
    return found


def _adaptive(function: Any) -> float:
    """The integral over (0, 1) of what is not smooth enough for one rule."""
    from scipy.integrate import quad

    value, error, *_ = quad(function, 0.0, 1.0, epsabs=0.0, epsrel=1e-12, limit=1000, full_output=1)
    if not error <= ACCURACY * abs(value):
        raise SolverFailed("share of flipped reports", "the law of costs is too wide or too rough to integrate over")
    return float(value)


def _above(law: CostLaw, low: NDArray[np.float64], threshold: NDArray[np.float64], epsilon: float, *,
           rough: bool) -> NDArray[np.float64]:
    """E[flip 1{low < C <= c_th}]."""
    if isinstance(law, MixtureLaw):
        parts = [_above(part, low, threshold, epsilon, rough=rough) for part in law.laws]
        found: NDArray[np.float64] = np.asarray(law.weights) @ np.array(parts)
        return found
    if isinstance(law, UniformLaw):
        return _in_cells(np.array([law.low, law.high]), np.ones(1), low, threshold, threshold, epsilon)
    if isinstance(law, HistogramLaw):
        return _in_cells(law.edges, law.weights, low, threshold, threshold, epsilon)
    return _by_quantiles(law, low, threshold, threshold, epsilon, rough=rough)


def flip_probability(law: CostLaw, threshold: ArrayLike, participation: ArrayLike, epsilon: float,
                     ceiling: float = math.inf, *, rough: bool = False) -> Any:
    """1 - mu = E[1/(1 + e^xi(C)) | C <= c_th], to a relative 1e-10.

    Args:
        law: of the costs.
        threshold: c_th, a number or an array.
        participation: F(c_th).
        epsilon: the level at the threshold.
        ceiling: the largest level, >= epsilon.
        rough: leave the error of rough laws unchecked, for a search that checks what it finds.

    Raises:
        SolverFailed: a law that an adaptive rule cannot integrate over either (a log-normal one of sdlog 20, at a
            share of 1 - 1e-6).

    Source: Wang 2016, (4.2); spec data_market section 3.

    Example:
        >>> from confide.market.threshold.cost_laws import LogNormalLaw
        >>> law, p = LogNormalLaw(0.0, 1.0), 0.6187127996
        >>> round(1.0 - float(flip_probability(law, law.quantile(p), p, 2.0)), 8)
        0.94599686
    """
    top, p = (np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in np.broadcast_arrays(threshold,
                                                                                                 participation))
    low = np.zeros(top.size) if math.isinf(ceiling) else cost_of_level(ceiling, top, epsilon)
    capped = 0.0 if math.isinf(ceiling) else np.asarray(law.cdf(low)) * scipy.special.expit(-ceiling)
    found = (capped + _above(law, low, top, epsilon, rough=rough)) / p
    return np.minimum(found, scipy.special.expit(-epsilon)).reshape(np.shape(threshold))[()]
