"""Calibration of Gaussian noise by its exact trade-off between epsilon and delta, for any epsilon and without the
constant of the classical formula.
"""

from __future__ import annotations

import math
from fractions import Fraction

from confide.contract.checks import fraction, positive
from confide.privacy.losses import BITS, gaussian_delta, largest, trade_off
from confide.privacy.noise.balls import precision

__all__ = ["gaussian_noise_std", "gdp_mu"]

_STEPS = 40  # of Newton's method, which needs about five
_CLOSE = 2.0**-50


def gdp_mu(epsilon: float, delta: float) -> float:
    """The largest mu such that mu-Gaussian DP implies (epsilon, delta)-DP.

    Args:
        epsilon: the loss in nats, > 0.
        delta: a probability in (0, 1).

    Returns:
        mu, rounded down: the largest double for which `gaussian_delta(epsilon, mu) <= delta` is certified.

    Source: Balle and Wang 2018, Theorem 8; spec query_release A3, allocation section 2.

    Example:
        >>> round(gdp_mu(1.0, 1e-8), 5)
        0.19607
    """
    epsilon, delta = positive("epsilon", epsilon), fraction("delta", delta)
    from statistics import NormalDist

    # Two lower bounds to start from: Phi(-t) = delta, without the second term of the trade-off, and mu phi(0) = delta.
    t = -NormalDist().inv_cdf(delta)
    root = math.hypot(t, math.sqrt(2.0) * math.sqrt(epsilon))
    mu = max(2.0 * (epsilon / (root + t)) if t > 0 else root - t, 2.5 * delta)
    with precision(BITS):
        for _ in range(_STEPS):
            value, slope, _ = trade_off(epsilon, mu)
            if not slope > 0:
                break
            # In logarithms of both: delta is nearly a power of mu where it is small.
            before, mu = mu, mu * math.exp(-float((value / delta).log() * value / (slope * mu)))
            if abs(mu - before) <= _CLOSE * mu:
                break
    return largest(lambda mu: mu == 0 or gaussian_delta(epsilon, mu) <= delta, mu)


def gaussian_noise_std(epsilon: float, delta: float, sensitivity: float) -> float:
    """The least standard deviation of Gaussian noise that gives (epsilon, delta)-DP: the analytic Gaussian mechanism.

    Args:
        epsilon: the loss in nats, > 0; epsilon may exceed 1, unlike in the classical formula.
        delta: a probability in (0, 1).
        sensitivity: the largest L2 distance by which one neighbour step can change the query's answer, > 0.

    Returns:
        Standard deviation in the unit of `sensitivity`, rounded up; infinity where no double is large enough.

    Source: Balle and Wang 2018, Algorithm 1; spec query_release A3.

    Example:
        >>> round(gaussian_noise_std(1.0, 1e-6, 1.0), 4)
        4.2247
    """
    sensitivity = positive("sensitivity", sensitivity)
    mu = gdp_mu(epsilon, delta)
    sigma = sensitivity / mu
    if math.isfinite(sigma) and Fraction(sigma) * Fraction(mu) < Fraction(sensitivity):
        return math.nextafter(sigma, math.inf)
    return sigma
