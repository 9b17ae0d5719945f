"""Bounds on the largest error of a tree counter's counts, over all counters and all steps.

All bounds are functions of public numbers, because the noise does not depend on the data. All bounds except the
published ones are rounded up.

Source: spec allocation 2, bounds 1 to 4.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.tree_blocks import levels, terms

__all__ = [
    "best_arity",
    "chernoff_bound",
    "gaussian_bound",
    "quantile_bound",
    "runs_needed",
    "single_sum_bound",
    "source_bound",
    "sub_gaussian_bound",
]

_ROUNDED_UP = 1.0 + 2.0**-40  # more than the rounding of a few logarithms
_LARGEST_ARITY = 512  # h sqrt(h r) with r = N^(1/h) is least near r = e^3, far below


def source_bound(epsilon: float, horizon: int, beta: float) -> float:
    """The bound (2 sqrt2/epsilon) ln(2/beta) (log2 N)^(5/2) for one counter, as published.

    Args:
        epsilon: privacy loss h/b, for depth h and blocks with Laplace noise of scale b.
        horizon: the number N of steps.
        beta: failure probability, in (0, 1).

    Source: Wu 2017, Theorem 4.2.4.

    Example:
        >>> round(source_bound(1.0, 1023, 0.05 / 200))
        8036
    """
    beta = fraction("beta", beta)
    logs = math.log2(whole("horizon", horizon, at_least=1))
    return 2.0 * math.sqrt(2.0) / positive("epsilon", epsilon) * math.log(2.0 / beta) * math.pow(logs, 2.5)


def _events(horizon: int, counters: int, gamma: float) -> float:
    """The logarithm ln(2 N k/gamma) of a union bound over N steps, k counters and both signs, at failure probability
    gamma.
    """
    pairs = whole("horizon", horizon, at_least=1) * whole("counters", counters, at_least=1)
    return math.log(2.0 * pairs / fraction("gamma", gamma))


def single_sum_bound(scale: float, most_terms: int, horizon: int, counters: int, gamma: float) -> float:
    """The published bound 2 sqrt2 b sqrt(M) ln(2 N k/gamma) for a sum of M Laplace variables, with a union bound over N
    steps and k counters.

    The proof needs a logarithm of at least 1, so a smaller logarithm is replaced by 1.

    Args:
        scale: scale b of the Laplace noise of each block.
        most_terms: the largest number M of blocks in one prefix of the stream.
        horizon: the number N of steps.
        counters: the number k of counters.
        gamma: failure probability, in (0, 1).

    Example:
        >>> round(single_sum_bound(10.0, 10, 1023, 100, 0.05))
        1362
    """
    scale, most = positive("scale", scale), whole("most_terms", most_terms, at_least=1)
    return 2.0 * math.sqrt(2.0 * most) * scale * max(1.0, _events(horizon, counters, gamma)) * _ROUNDED_UP


def chernoff_bound(scale: float, most_terms: int, horizon: int, counters: int, gamma: float) -> float:
    """The Chernoff bound, which is the minimum over 0 < theta < 1/b of (ln(2 N k/gamma) - M ln(1 - b^2 theta^2))/theta.

    The bound holds for Laplace noise on the real line. The Chernoff bound also holds for noise on the integers, where
    the moment-generating function is no larger. Any theta gives a valid Chernoff bound, so an inexact minimum cannot
    make the result wrong.

    Args:
        scale: scale b of the Laplace noise of each block.
        most_terms: the largest number M of blocks in one prefix of the stream.
        horizon: the number N of steps.
        counters: the number k of counters.
        gamma: failure probability, in (0, 1).

    Example:
        >>> round(chernoff_bound(10.0, 10, 1023, 100, 0.05))
        313
    """
    scale, most = positive("scale", scale), whole("most_terms", most_terms, at_least=1)
    goal = _events(horizon, counters, gamma)
    # With u = (b theta)^2 the minimum is where 2 M u/(1-u) + M ln(1-u) = goal, of which the left side rises from 0.
    low, high = 0.0, 1.0 - 2.0**-53
    for _ in range(60):
        u = (low + high) / 2
        low, high = (u, high) if most * (2.0 * u / (1.0 - u) + math.log1p(-u)) < goal else (low, u)
    u = low or high
    return scale * (goal - most * math.log1p(-u)) / math.sqrt(u) * _ROUNDED_UP


def gaussian_bound(sigma: float, most_terms: int, horizon: int, counters: int, gamma: float) -> float:
    """The bound sigma sqrt(M) Phi^-1(1 - gamma/(2 N k)), for Gaussian noise on the real line.

    Args:
        sigma: standard deviation of the noise of each block.
        most_terms: the largest number M of blocks in one prefix of the stream.
        horizon: the number N of steps.
        counters: the number k of counters.
        gamma: failure probability, in (0, 1).
    """
    sigma, most = positive("sigma", sigma), whole("most_terms", most_terms, at_least=1)
    quantile = -float(scipy.special.ndtri(math.exp(-_events(horizon, counters, gamma))))
    return sigma * math.sqrt(most) * quantile * _ROUNDED_UP


def sub_gaussian_bound(sigma: float, most_terms: int, horizon: int, counters: int, gamma: float) -> float:
    """The bound sigma sqrt(2 M ln(2 N k/gamma)), for discrete Gaussian noise, whose tails are sub-Gaussian but not
    Gaussian.

    Args:
        sigma: the parameter sigma of the noise of each block.
        most_terms: the largest number M of blocks in one prefix of the stream.
        horizon: the number N of steps.
        counters: the number k of counters.
        gamma: failure probability, in (0, 1).

    Source: Canonne, Kamath and Steinke 2020, Corollary 17 (sub-Gaussian with parameter sigma^2).
    """
    sigma, most = positive("sigma", sigma), whole("most_terms", most_terms, at_least=1)
    return sigma * math.sqrt(2.0 * most * _events(horizon, counters, gamma)) * _ROUNDED_UP


def runs_needed(gamma: float, miss: float) -> int:
    """The smallest number of independent runs such that the largest value of these runs is at least the (1 - gamma)
    quantile, except with probability `miss`.

    Example:
        >>> runs_needed(0.01, 0.001)
        688
    """
    return math.ceil(math.log(fraction("miss", miss)) / math.log1p(-fraction("gamma", gamma)))


def quantile_bound(values: ArrayLike, gamma: float, miss: float) -> float:
    """An upper confidence bound of a quantile, computed from independent values. The bound is the order statistic whose
    rank follows from a binomial tail.

    Args:
        values: independent draws of one law, shape (runs,).
        gamma: tail probability in (0, 1); the bound is for the quantile at level 1 - gamma.
        miss: probability that the bound lies below the quantile, in (0, 1).

    Raises:
        InvalidInput: too few values for any order statistic.

    Example:
        >>> quantile_bound(range(1000), 0.1, 0.01)
        921.0
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    runs = len(ordered)
    if runs < runs_needed(gamma, miss):
        raise InvalidInput("values", f"{runs} are too few", f"at least {runs_needed(gamma, miss)} are needed")
    from scipy.stats import binom

    # The m-th smallest is below the quantile only if m values are, each with probability 1 - gamma at most.
    rank = int(binom.isf(miss, runs, 1.0 - gamma)) + 1
    return float(ordered[min(rank, runs) - 1])


def best_arity(
    horizon: int, counters: int = 1, gamma: float = 0.05, *, noise: Literal["laplace", "gaussian"] = "laplace"
) -> int:
    """The arity with the least error bound at equal privacy. The bound is the Chernoff bound for Laplace noise, and
    sqrt(h M) for Gaussian noise, where h is the depth and M the largest number of blocks in a prefix.

    Args:
        horizon: the number N of steps.
        counters: the number k of counters.
        gamma: failure probability, in (0, 1).
        noise: "laplace", for which the noise scale grows in proportion to h, or "gaussian", for which it grows as
            sqrt(h).

    Source: spec allocation 2 ("choose arity by minimising bound 3").

    Example:
        >>> best_arity(255), best_arity(1023), best_arity(10**5, 50, 0.01)
        (16, 32, 18)
    """
    one_of("noise", noise, ("laplace", "gaussian"))
    horizon = whole("horizon", horizon, at_least=1)

    def error(arity: int) -> float:
        height, most = levels(horizon, arity), terms(horizon, arity)
        if noise == "laplace":
            return chernoff_bound(float(height), most, horizon, counters, gamma)
        return math.sqrt(height * most)

    return min(range(2, max(3, min(horizon + 1, _LARGEST_ARITY) + 1)), key=error)
