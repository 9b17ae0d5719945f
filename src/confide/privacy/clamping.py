"""Noise that is clamped to a public bound, and the delta that clamping costs. Noise is clamped if a property of the
output must hold with certainty.

Clamping changes the law only where the noise is beyond the bound. Let t bound the probability that any of the noise
draws of a run is beyond the bound, on each of two neighbouring data sets. Clamping then makes an epsilon-DP mechanism
(epsilon, (1 + e^epsilon) t)-DP. Let P and P_2 be the laws of the output on the two data sets without clamping, and P'
and P'_2 the laws with clamping:

    P'[S] <= P[S] + t <= e^epsilon P_2[S] + t <= e^epsilon (P'_2[S] + t) + t

The probability t that noise is beyond the bound must therefore be as small as a delta. With t = 1/100, the delta would
be above 1/50, and even a mechanism that publishes one record in fifty has such a delta.

Source: spec allocation 3.2, convex_programs section 5.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction, non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.losses import up
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.arguments import Integers, as_integers, as_shape
from confide.privacy.noise.balls import precision
from confide.privacy.primitives.additive import add_discrete_laplace

__all__ = ["added_delta", "clamped_discrete_laplace", "clamping_bound", "clamping_delta", "tail_probability"]

_BITS = 160
_FAR = 2**62  # noise of any admissible scale stays below


def clamped_discrete_laplace(
    scale: float | Fraction, bound: int, size: int | tuple[int, ...], noise: Noise, *, stream: Stream,
    center: Integers | None = None, l1_sensitivity: int = 0, line: str | None = None,
) -> NDArray[np.int64]:
    """Draw center + discrete Laplace noise of the given scale, where the noise is clamped to [-bound, bound].

    Args:
        scale: noise scale in (0, 2^55], used without rounding.
        bound: public bound on the noise, a whole number in [0, 2^62].
        size: the number of draws, or the shape of the array of draws.
        noise: the source of randomness.
        stream: the name of the random stream that the draw uses.
        center: whole numbers in the shape `size`; zeros if left out. A number outside [-2^62, 2^62] is replaced by the
            nearest end of this interval.
        l1_sensitivity: the largest l1 distance by which one neighbour step changes `center`.
        line: the name of the line of the run's charge that pays for the noise. The delta of the clamping is charged
            separately, as a cost without a draw.

    Example:
        >>> clamped_discrete_laplace(5.0, 2, 4, Noise.simulated(3), stream="load", center=[10, 10, 10, 10]).tolist()
        [8, 8, 8, 12]
    """
    reach, shape = whole("bound", bound), as_shape(size)
    if reach > _FAR:
        raise InvalidInput("bound", f"{reach} is too large", "must be at most 2^62")
    numbers = [min(max(c, -_FAR), _FAR) for c in as_integers(center, shape) or [0] * math.prod(shape)]
    middle = np.array(numbers, dtype=object).reshape(shape)
    noisy = add_discrete_laplace(noise, middle, noise_scale=scale, l1_sensitivity=l1_sensitivity, stream=stream,
                                 line=line)
    held = [min(max(value, c - reach), c + reach) for value, c in zip(noisy.flat, numbers, strict=True)]
    return np.array(held, dtype=np.int64).reshape(shape)


def tail_probability(scale: float | Fraction, bound: float, *, lattice: bool = True) -> float:
    """The probability P[|Z| > bound] that Laplace noise Z exceeds a bound, rounded up. On the integers P[|Z| > bound] =
    2 p^(bound + 1) / (1 + p), with p = e^(-1/scale).

    Args:
        scale: noise scale, > 0.
        bound: bound on the noise, >= 0; a whole number for noise on the integers.
        lattice: True for noise on the integers; False for noise on the real line, for which the probability is
            e^(-bound/scale).

    Example:
        >>> round(tail_probability(2.0, 10), 6), round(tail_probability(2.0, 10, lattice=False), 6)
        (0.005088, 0.006738)
    """
    return up(_tail(scale, bound, lattice=lattice))


def _tail(scale: float | Fraction, bound: float, *, lattice: bool) -> Any:
    from flint import arb, fmpq

    positive("scale", scale)
    reach = whole("bound", bound) + 1 if lattice else non_negative("bound", bound)
    exact = Fraction(scale)
    with precision(_BITS):
        rate = arb(fmpq(-exact.denominator, exact.numerator))
        tail = (rate * reach).exp()
        return 2 * tail / (1 + rate.exp()) if lattice else tail


def clamping_delta(scale: float | Fraction, bound: int, epsilon: float, draws: int = 1) -> float:
    """The delta that clamping adds to an epsilon-DP mechanism: (1 + e^epsilon) times the number of draws times P[|Z| >
    bound], at most 1.

    Args:
        scale: the scale of the discrete Laplace noise, > 0.
        bound: the bound to which the noise is clamped, >= 0.
        epsilon: the epsilon of the mechanism as a whole, in nats, >= 0.
        draws: the number of draws that are clamped in one run, >= 1.

    Returns:
        delta, rounded up.

    Example:
        >>> clamping_delta(2.0, 60, 1.0) < 1e-12
        True
    """
    tail = _tail(scale, bound, lattice=True)
    with precision(_BITS):
        return added_delta(epsilon, whole("draws", draws, at_least=1) * tail)


def added_delta(epsilon: float, tail: Any) -> float:
    """An upper bound on the delta that clamping adds: (1 + e^epsilon) `tail`, rounded up and at most 1.

    Args:
        epsilon: the epsilon of the mechanism as a whole, in nats, >= 0.
        tail: probability that at least one draw of noise in a run is beyond the bound, as a double or a ball (an
            interval, python-flint's `arb`).
    """
    from flint import arb

    with precision(_BITS):
        return min(1.0, up((1 + arb(non_negative("epsilon", epsilon)).exp()) * arb(tail)))


def clamping_bound(scale: float | Fraction, epsilon: float, delta: float, draws: int = 1) -> int:
    """The least bound on the noise at which clamping adds no more than `delta`.

    Args:
        scale: the scale of the discrete Laplace noise, > 0.
        epsilon: the epsilon of the mechanism as a whole, in nats, >= 0.
        delta: a probability in (0, 1).
        draws: the number of draws that are clamped in one run, >= 1.

    Example:
        >>> bound = clamping_bound(2.0, 1.0, 1e-9)
        >>> clamping_delta(2.0, bound, 1.0) <= 1e-9 < clamping_delta(2.0, bound - 1, 1.0)
        True
    """
    fraction("delta", delta)
    low, high = -1, 1
    while clamping_delta(scale, high, epsilon, draws) > delta:
        low, high = high, 2 * high
        if high > _FAR:
            raise InvalidInput("scale", f"{float(scale):g} is too large", "no bound below 2^62 is enough")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if clamping_delta(scale, middle, epsilon, draws) <= delta else (middle, high)
    return high
