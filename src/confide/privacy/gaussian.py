"""Calibration of Gaussian noise, exact in the trade-off it promises (no classical constant, any epsilon)."""

from __future__ import annotations

import math

from confide.contract.checks import fraction, positive
from confide.privacy.losses import gaussian_delta

__all__ = ["gaussian_sigma", "gdp_mu"]

_SLACK = 1e-10  # the returned noise meets delta*(1 - slack): the rounding of the formula stays on the private side


def gdp_mu(epsilon: float, delta: float) -> float:
    """The largest mu such that mu-Gaussian DP implies (epsilon, delta)-DP.

    Args:
        epsilon: in nats, > 0.
        delta: in (0, 1).

    Returns:
        mu, rounded down: `gaussian_delta(epsilon, mu) <= delta`.

    Source: Balle and Wang 2018, Theorem 8; spec query_release A3, allocation section 2.

    Example:
        >>> round(gdp_mu(1.0, 1e-8), 5)
        0.19607
    """
    epsilon = positive("epsilon", epsilon)
    target = fraction("delta", delta) * (1.0 - _SLACK)
    low, high = 0.0, 1.0
    while gaussian_delta(epsilon, high) <= target and high < 1e300:
        low, high = high, high * 2.0
    for _ in range(2000):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if gaussian_delta(epsilon, middle) <= target:
            low = middle
        else:
            high = middle
    return low


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """The least standard deviation of Gaussian noise that gives (epsilon, delta)-DP: the analytic Gaussian mechanism.

    Args:
        epsilon: in nats, > 0 (any size: the classical formula's limit of 1 does not apply).
        delta: in (0, 1).
        sensitivity: L2 distance that one neighbour step can move the query, > 0.

    Returns:
        sigma, in the unit of `sensitivity`, rounded up.

    Source: Balle and Wang 2018, Algorithm 1; spec query_release A3.

    Example:
        >>> round(gaussian_sigma(1.0, 1e-6, 1.0), 4)
        4.2247
    """
    sensitivity = positive("sensitivity", sensitivity)
    return math.nextafter(sensitivity / gdp_mu(epsilon, delta), math.inf)
