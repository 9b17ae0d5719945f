"""Privacy losses: what one neighbour step may do to the law of an output, and the proved conversions between them.

Every conversion rounds towards "less private": a returned epsilon, rho or delta is an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scipy.special import log_ndtr

from confide.contract.checks import fraction, non_negative, positive
from confide.contract.errors import InvalidInput

__all__ = ["GDP", "ZCDP", "ApproxDP", "PureDP", "RenyiDP", "gaussian_delta"]


def _least_epsilon(delta_at: Callable[[float], float], delta: float, guess: float) -> float:
    """The least epsilon with delta_at(epsilon) <= delta, from above: bisection to the last bit.

    Args:
        delta_at: decreasing in epsilon.
        delta: in (0, 1].
        guess: about an upper bound.
    """
    if delta_at(0.0) <= delta:
        return 0.0
    low, high = 0.0, guess + 1e-9
    while delta_at(high) > delta:
        high *= 2.0
    while (middle := (low + high) / 2) not in (low, high):
        if delta_at(middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def _json(value: float) -> float | str:
    return value if math.isfinite(value) else "Infinity"


@dataclass(frozen=True)
class PureDP:
    """Likelihood ratios of every event stay within e^epsilon.

    Args:
        epsilon: in nats, [0, inf]; infinity promises nothing.

    Example:
        >>> PureDP(0.5).to_zcdp()
        ZCDP(rho=0.125)
    """

    epsilon: float

    def __post_init__(self) -> None:
        if self.epsilon != math.inf:
            non_negative("epsilon", self.epsilon)

    @property
    def vacuous(self) -> bool:
        return math.isinf(self.epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Least epsilon proved at this delta: epsilon itself."""
        return self.epsilon

    def to_zcdp(self) -> ZCDP:
        """epsilon^2/2 (Bun and Steinke 2016, Proposition 1.4; spec query_release A2)."""
        return ZCDP(self.epsilon**2 / 2)

    def to_dict(self) -> dict[str, Any]:
        return {"loss": "PureDP", "epsilon": _json(self.epsilon)}

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:g}"


@dataclass(frozen=True)
class ApproxDP:
    """P[S] <= e^epsilon P'[S] + delta for every event S.

    Args:
        epsilon: in nats, [0, inf].
        delta: in [0, 1]; 1 promises nothing.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if self.epsilon != math.inf:
            non_negative("epsilon", self.epsilon)
        non_negative("delta", self.delta, at_most=1.0)

    @property
    def vacuous(self) -> bool:
        return math.isinf(self.epsilon) or self.delta >= 1.0

    def epsilon_at(self, delta: float) -> float:
        """epsilon if `delta` is at least this loss's delta; nothing is proved below it."""
        return self.epsilon if delta >= self.delta else math.inf

    def to_dict(self) -> dict[str, Any]:
        return {"loss": "ApproxDP", "epsilon": _json(self.epsilon), "delta": self.delta}

    def __str__(self) -> str:
        return f"(epsilon = {self.epsilon:g}, delta = {self.delta:g})"


@dataclass(frozen=True)
class ZCDP:
    """Zero-concentrated: the Renyi divergence of order a is at most a*rho, for every a > 1.

    Args:
        rho: [0, inf].
    """

    rho: float

    def __post_init__(self) -> None:
        if self.rho != math.inf:
            non_negative("rho", self.rho)

    @property
    def vacuous(self) -> bool:
        return math.isinf(self.rho)

    def delta_at(self, epsilon: float) -> float:
        """Least proved delta at epsilon: min over a > 1 of exp((a-1)(a rho - epsilon)) (1-1/a)^a / (a-1).

        Source: Canonne, Kamath and Steinke 2020, Proposition 12; spec query_release A2.
        """
        epsilon = non_negative("epsilon", epsilon)
        if self.rho == 0:
            return 0.0
        if math.isinf(self.rho):
            return 1.0

        # With x = a - 1, the logarithm of the bound has derivative (1 + 2x) rho - epsilon - ln(1 + 1/x): one root.
        def slope(log_excess: float) -> float:
            excess = math.exp(log_excess)
            return (1.0 + 2.0 * excess) * self.rho - epsilon - math.log1p(1.0 / excess)

        high = 0.0
        while slope(high) < 0:
            high += 8.0
        low = high - 8.0
        while slope(low) > 0:
            low -= 8.0
        from scipy.optimize import brentq  # slow to import, and most losses never need it

        excess = math.exp(float(brentq(slope, low, high, xtol=1e-12)))
        order = 1.0 + excess
        log_delta = excess * (order * self.rho - epsilon) - math.log(excess) - order * math.log1p(1.0 / excess)
        # Any order gives a valid bound, so the root cannot err on the private side; 1e-12 covers rounding.
        return float(min(1.0, math.exp(min(0.0, log_delta)) * (1.0 + 1e-12)))

    def epsilon_at(self, delta: float) -> float:
        """Least epsilon with `delta_at(epsilon) <= delta`; infinity at delta = 0 unless rho is 0."""
        delta = non_negative("delta", delta, at_most=1.0)
        if self.rho == 0:
            return 0.0
        if delta == 0 or math.isinf(self.rho):
            return math.inf
        return _least_epsilon(self.delta_at, delta, self.rho + 2.0 * math.sqrt(self.rho * -math.log(delta)))

    @classmethod
    def within(cls, epsilon: float, delta: float) -> ZCDP:
        """The largest rho, rounded down, that implies (epsilon, delta)-DP."""
        epsilon = positive("epsilon", epsilon)
        fraction("delta", delta)
        low, high = 0.0, epsilon  # doubled until it fails
        while cls(high).delta_at(epsilon) <= delta:
            low, high = high, 2.0 * high
        for _ in range(200):
            middle = (low + high) / 2
            if middle in (low, high):
                break
            if cls(middle).delta_at(epsilon) <= delta:
                low = middle
            else:
                high = middle
        return cls(low)

    def to_dict(self) -> dict[str, Any]:
        return {"loss": "ZCDP", "rho": _json(self.rho)}

    def __str__(self) -> str:
        return f"rho = {self.rho:g} (zCDP)"


def gaussian_delta(epsilon: float, mu: float) -> float:
    """delta of a Gaussian mechanism whose noise is sensitivity/mu: Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu).

    Args:
        epsilon: in nats, >= 0.
        mu: sensitivity divided by the standard deviation of the noise, > 0.

    Source: Balle and Wang 2018, Theorem 8; spec query_release A3.

    Example:
        >>> round(gaussian_delta(1.0, 1.0), 6)
        0.126937
    """
    upper = float(log_ndtr(mu / 2 - epsilon / mu))
    lower = float(log_ndtr(-mu / 2 - epsilon / mu))
    return math.exp(upper) * -math.expm1(min(0.0, epsilon + lower - upper))


@dataclass(frozen=True)
class GDP:
    """Gaussian differential privacy: at least as hard to tell apart as N(0,1) from N(mu,1).

    Args:
        mu: [0, inf]. Exact for continuous Gaussian noise only; discrete noise is claimed as zCDP.
    """

    mu: float

    def __post_init__(self) -> None:
        if self.mu != math.inf:
            non_negative("mu", self.mu)

    @property
    def vacuous(self) -> bool:
        return math.isinf(self.mu)

    def delta_at(self, epsilon: float) -> float:
        """Exact trade-off: `gaussian_delta(epsilon, mu)`."""
        if self.mu == 0:
            return 0.0
        if math.isinf(self.mu):
            return 1.0
        return min(1.0, gaussian_delta(non_negative("epsilon", epsilon), self.mu) * (1.0 + 1e-10))

    def epsilon_at(self, delta: float) -> float:
        """Least epsilon with `delta_at(epsilon) <= delta`."""
        delta = non_negative("delta", delta, at_most=1.0)
        if self.mu == 0:
            return 0.0
        if delta == 0 or math.isinf(self.mu):
            return math.inf
        return _least_epsilon(self.delta_at, delta, self.mu**2 / 2 + self.mu * math.sqrt(-2.0 * math.log(delta)))

    def to_zcdp(self) -> ZCDP:
        """mu^2/2, exactly."""
        return ZCDP(self.mu**2 / 2)

    def to_dict(self) -> dict[str, Any]:
        return {"loss": "GDP", "mu": _json(self.mu)}

    def __str__(self) -> str:
        return f"mu = {self.mu:g} (Gaussian DP)"


@dataclass(frozen=True)
class RenyiDP:
    """The Renyi divergence of one order is at most epsilon.

    Args:
        alpha: the order, in (1, inf).
        epsilon: in nats, [0, inf].
    """

    alpha: float
    epsilon: float

    def __post_init__(self) -> None:
        positive("alpha", self.alpha)
        if self.alpha <= 1:
            raise InvalidInput("alpha", f"{self.alpha!r} is out of range", "must be above 1")
        if self.epsilon != math.inf:
            non_negative("epsilon", self.epsilon)

    @property
    def vacuous(self) -> bool:
        return math.isinf(self.epsilon)

    def epsilon_at(self, delta: float) -> float:
        """epsilon + ln(1-1/a) - (ln delta + ln a)/(a-1) (Canonne, Kamath and Steinke 2020, Proposition 12)."""
        delta = fraction("delta", delta, zero=True)
        if delta == 0 or math.isinf(self.epsilon):
            return 0.0 if self.epsilon == 0 else math.inf
        excess = self.alpha - 1.0
        return max(0.0, self.epsilon + math.log1p(-1 / self.alpha)
                   - (math.log(delta) + math.log(self.alpha)) / excess)

    def to_dict(self) -> dict[str, Any]:
        return {"loss": "RenyiDP", "alpha": self.alpha, "epsilon": _json(self.epsilon)}

    def __str__(self) -> str:
        return f"Renyi divergence of order {self.alpha:g} at most {self.epsilon:g}"
