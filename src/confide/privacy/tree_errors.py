"""The exact law of a tree counter's largest error for noise on the integers. The computation goes through the tree
level by level.

All block noises are independent. Let E be a bound on the error. Let I_l(x) be the probability that every estimate
strictly inside a block of level l has an error of at most E, given that the blocks before this block have contributed
the noise x. The block contains r smaller blocks, of level l-1. After each of the r smaller blocks except the last, the
noise y of this smaller block is added, with probability P(y):

    I_l = S^(r-1) I_{l-1},   (S v)(x) = I_{l-1}(x) sum over y of P(y) v(x + y) 1[|x + y| <= E],   I_0 = 1.

The same recursion goes through the base-r digits of the horizon. Each sum over y is a convolution on 2E + 1 points.

Source: ours; the exact law replaces the simulated quantile of spec allocation 2 (bound 4) where noise is on the
    integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.checks import fraction, non_negative, positive, whole
from confide.contract.errors import Unsupported
from confide.privacy.noise.discrete import DiscreteLaw
from confide.privacy.tree_blocks import digits

__all__ = ["largest_error", "log_within", "variance"]

_Array = NDArray[np.float64]
_Step = Callable[[_Array], _Array]
_ROOM = 1e-12  # more than the rounding of the convolutions
_RATE = {"discrete_laplace": 8e7, "discrete_gaussian": 1.5e7}  # points a second that a step takes, roughly
_SECONDS = 10.0
_BYTES = {"discrete_laplace": 64, "discrete_gaussian": 400}  # of a point: its arrays, and what a convolution makes
_MOST_BYTES = 2**30


def _gaussian(sigma: float, most: int) -> _Array:
    """The probabilities P(k) of discrete Gaussian noise, for |k| <= most."""
    reach = max(most, math.ceil(40.0 * sigma) + 1)
    points = np.arange(-reach, reach + 1, dtype=np.float64)
    law = np.exp(-(points**2) / (2.0 * sigma**2))
    law /= law.sum()
    return law[reach - most : reach + most + 1]


def variance(law: DiscreteLaw, scale: float) -> float:
    """The exact variance of noise on the integers.

    Args:
        law: "discrete_laplace" or "discrete_gaussian".
        scale: scale of discrete Laplace noise, or sigma of discrete Gaussian noise.

    Example:
        >>> round(variance("discrete_laplace", 8.0), 3), round(variance("discrete_gaussian", 8.0), 3)
        (127.833, 64.0)
    """
    scale = positive("scale", scale)
    if law == "discrete_laplace":
        half = 1.0 / (2.0 * scale)
        return 0.5 / math.sinh(half) ** 2 if half < 350 else 0.0
    if scale > 4.0:
        return scale**2  # the rest is below exp(-2 pi^2 16)
    most = math.ceil(40.0 * scale) + 1
    return float(_gaussian(scale, most) @ np.arange(-most, most + 1, dtype=np.float64) ** 2)


def _laplace_step(scale: float) -> _Step:
    """The linear map v -> sum over y of P(y) v(x + y) on the window, for discrete Laplace noise. The map is computed by
    the recurrence y[x] = v[x] + ratio y[x - 1] from both ends.
    """
    ratio = math.exp(-1.0 / scale)
    front = -math.expm1(-1.0 / scale) / (1.0 + ratio)

    def step(values: _Array) -> _Array:
        bands = np.full((2, values.size), -ratio, order="F")
        forward = scipy.linalg.blas.dtbsv(1, bands, values, lower=1, diag=1)  # the unit diagonal is not read
        backward = scipy.linalg.blas.dtbsv(1, bands, values[::-1], lower=1, diag=1)[::-1]
        out: _Array = front * (forward + backward - values)
        return out

    return step


def _gaussian_step(sigma: float, bound: int) -> _Step:
    law = _gaussian(sigma, 2 * bound)

    def step(values: _Array) -> _Array:
        size = scipy.fft.next_fast_len(values.size + law.size - 1, real=True)
        whole = scipy.fft.irfft(scipy.fft.rfft(values, size) * scipy.fft.rfft(law, size), size)
        out: _Array = np.clip(whole[2 * bound : 4 * bound + 1], 0.0, 1.0)
        return out

    return step


def _bounded(bound: int, horizon: int, arity: int, law: DiscreteLaw, turns: int = 1) -> None:
    """Refuse a computation that would take too long or too much memory, before it starts."""
    places = digits(whole("horizon", horizon, at_least=1), arity)
    points, steps = 2 * bound + 1, sum(places) + (arity - 1) * len(places)
    seconds, size = points * steps * turns / _RATE[law], points * _BYTES[law]
    if seconds > _SECONDS or size > _MOST_BYTES:
        proved = "chernoff" if law == "discrete_laplace" else "gaussian"
        raise Unsupported("bound", f'the "exact" bound for errors up to {bound:,} over {horizon:,} steps (about '
                          f"{seconds:.2g} seconds and {size / 2**30:.2g} GiB)",
                          f'must take at most {_SECONDS:g} seconds and 1 GiB; use "{proved}", a larger bound that is '
                          'proved for all sizes')


def log_within(bound: int, horizon: int, arity: int, law: DiscreteLaw, scale: float) -> float:
    """The natural logarithm of the probability that the errors of one counter's estimates, before the running maximum,
    never exceed E.

    Args:
        bound: the error E, a whole number >= 0.
        horizon: the number N of steps.
        arity: the arity r of the tree.
        law: the law of the noise of each block.
        scale: scale of discrete Laplace noise, or sigma of discrete Gaussian noise.

    Returns:
        A number in [-inf, 0], with an absolute error of about 1e-13.

    Raises:
        Unsupported: the computation would take more than about ten seconds, or more than a GiB of memory.

    Example:
        >>> p = math.exp(-1 / 2)  # a single step: P[|noise| <= 3]
        >>> abs(math.exp(log_within(3, 1, 2, "discrete_laplace", 2.0)) - (1 - 2 * p**4 / (1 + p))) < 1e-14
        True
    """
    bound, scale = whole("bound", bound), positive("scale", scale)
    _bounded(bound, horizon, arity, law)
    walk = _laplace_step(scale) if law == "discrete_laplace" else _gaussian_step(scale, bound)
    inside = np.ones(2 * bound + 1)
    rest = np.ones(2 * bound + 1)
    for digit in digits(whole("horizon", horizon, at_least=1), arity):
        for _ in range(digit):  # finished blocks of this level, and what comes after them
            rest = inside * walk(rest)
        deeper = inside
        for _ in range(arity - 1):
            deeper = inside * walk(deeper)
        inside = deeper
    chance = float(rest[bound])
    return math.log(chance) if chance > 0 else -math.inf


def largest_error(
    horizon: int, arity: int, law: DiscreteLaw, scale: float, *, counters: int, gamma: float, enough: float
) -> int:
    """The least E that no error of an estimate exceeds, for all counters and steps, except with probability gamma. The
    estimates are the counts before the running maximum.

    Args:
        horizon: the number N of steps.
        arity: the arity r of the tree.
        law: the law of the noise of each block.
        scale: scale of discrete Laplace noise, or sigma of discrete Gaussian noise.
        counters: the number k of counters, with independent noise.
        gamma: failure probability, in (0, 1).
        enough: a valid bound on the error, at which the search starts.

    Raises:
        Unsupported: the computation would take more than about ten seconds, or more than a GiB of memory.
    """
    goal = math.log1p(-fraction("gamma", gamma))
    counters = whole("counters", counters, at_least=1)
    low, high = -1, math.ceil(non_negative("enough", enough))
    _bounded(high, horizon, arity, law, turns=high.bit_length())
    while high - low > 1:
        middle = (low + high) // 2
        if counters * (log_within(middle, horizon, arity, law, scale) - _ROOM) >= goal:
            high = middle
        else:
            low = middle
    return high
