"""Privacy losses: how much one neighbour step may change the law of an output, and the proved conversions between such
losses.

Every conversion rounds towards less privacy: a returned epsilon, rho or delta is an upper bound of the exact number, at
most one or two ulps above it. The exact number is the result of the conversion at exactly the given doubles. Doubles
are used only to guess the result, and ball arithmetic (python-flint's `arb`) certifies it. A positive delta below the
smallest double is returned as that double.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from confide.contract.checks import fraction, non_negative, positive
from confide.contract.errors import InvalidInput
from confide.contract.wire import wire, wire_of, wire_parts, wire_types
from confide.privacy.noise.balls import precision

__all__ = [
    "BITS",
    "GDP",
    "LOSSES",
    "PROMISES_LITTLE",
    "ZCDP",
    "ApproxDP",
    "PureDP",
    "RenyiDP",
    "gaussian_delta",
    "largest",
    "least",
    "trade_off",
    "up",
]

BITS = 288  # of the balls: up to 120 cancel in a narrow difference of Mills ratios, 20 go to the exponent of a Gaussian
PROMISES_LITTLE = 10.0
"""The epsilon above which a loss hides next to nothing: a guess between two equally likely records may be right 99.995
% of the time.
"""

_TINY = 5e-324  # the least positive double
_FAR = 40  # Phi(-40) < 2^-1150: nothing between it and 0, or between 1 - it and 1, is a double
_SERIES = 2**10  # the series of Mills ratio has a relative 2^-300 from here on
_STEPS = 40  # of Newton's method, which needs about five
_CLOSE = 2.0**-50
_ENOUGH = 2**12  # ulps of an order: the bounds are flat at the best one, so that a relative 1e-12 costs them 1e-21


def _index(value: float) -> int:
    """The rank of a non-negative double among all non-negative doubles: 0.0 has rank 0, and infinity the highest."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def _double(index: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", index))[0])


_END = _index(math.inf)


def least(holds: Callable[[float], bool], guess: float, *, ulps: int = 1) -> float:
    """The least non-negative double at which a condition holds; infinity if it holds at no finite double.

    Args:
        holds: a condition on non-negative doubles that is first false and then true. The condition is not evaluated at
            infinity.
        guess: the double at which the search starts. The number of evaluations grows with the logarithm of the distance
            between the guess and the result, in ulps.
        ulps: the largest allowed distance of the result above the least such double, in ulps.

    Example:
        >>> least(lambda x: x * x >= 2.0, 1.0)
        1.4142135623730951
    """
    at = min(max(_index(guess), 0), _END - 1)
    step = ulps
    if holds(_double(at)):
        low, high = at - step, at
        while low >= 0 and holds(_double(low)):
            step *= 2
            low, high = low - step, low
        low = max(low, -1)
    else:
        low, high = at, at + step
        while high < _END and not holds(_double(high)):
            step *= 2
            low, high = high, high + step
        high = min(high, _END)
    while high - low > ulps:
        middle = (low + high) // 2
        if holds(_double(middle)):
            high = middle
        else:
            low = middle
    return _double(high)


def largest(holds: Callable[[float], bool], guess: float) -> float:
    """The largest double at which a condition holds, for a condition that is first true and then false; 0.0 if the
    condition holds at no double.
    """
    return max(0.0, math.nextafter(least(lambda value: not holds(value), guess), -math.inf))


def up(ball: Any) -> float:
    """The least double that is certainly not below any number in a ball (python-flint's `arb`, an interval given by a
    midpoint and a radius).
    """
    top = ball.upper()
    value = float(top)
    return value if top <= value else math.nextafter(value, math.inf)


def _half_square(value: float) -> float:
    """value^2/2, rounded up."""
    half = value * value / 2
    if math.isfinite(half) and Fraction(half) < Fraction(value) ** 2 / 2:
        return math.nextafter(half, math.inf)
    return half


def _written(loss: Any) -> dict[str, Any]:
    """A loss as JSON; an infinite bound becomes the string "Infinity"."""
    parts = {word: part if math.isfinite(part) else "Infinity" for word, part in wire_parts(loss).items()}
    return {"loss": wire_of(type(loss)).tag, **parts}


@wire("PureDP", "epsilon")
@dataclass(frozen=True)
class PureDP:
    """Pure differential privacy: the probability of every event changes by at most the factor e^epsilon.

    Args:
        epsilon: the loss in nats, in [0, inf]; infinity promises nothing.

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
        """The epsilon proved at this delta, which is the loss's own epsilon for every delta."""
        return self.epsilon

    def delta_at(self, epsilon: float) -> float:
        """The least delta proved at the given epsilon, rounded up; 0 if the given epsilon is at least the loss's own
        epsilon E.

        Binary randomised response dominates every E-DP pair of laws, so its delta is the bound: (e^E -
        e^epsilon)/(e^E + 1).

        Source: Kairouz, Oh and Viswanath 2015, section 6.1.
        """
        epsilon = non_negative("epsilon", epsilon)
        if epsilon >= self.epsilon:
            return 0.0
        if math.isinf(self.epsilon):
            return 1.0
        from flint import arb

        with precision(BITS):
            top = arb(self.epsilon)
            return min(1.0, max(_TINY, up(-(arb(epsilon) - top).expm1() / (1 + (-top).exp()))))

    def to_zcdp(self) -> ZCDP:
        """The zCDP loss epsilon^2/2, rounded up (Bun and Steinke 2016, Proposition 1.4; spec query_release A2)."""
        return ZCDP(_half_square(self.epsilon))

    def to_gdp(self) -> GDP:
        """The least mu with Phi(-mu/2) <= 1/(1 + e^epsilon), rounded up to within 32 ulps.

        Binary randomised response dominates every epsilon-DP pair of laws. The trade-off curve of binary randomised
        response has one corner, on the diagonal, where both error probabilities are 1/(1 + e^epsilon). A Gaussian
        trade-off curve that passes below the corner of binary randomised response is convex. The Gaussian curve
        therefore stays below the straight lines from the corner to (0, 1) and (1, 0).
        """
        if self.epsilon == 0 or math.isinf(self.epsilon):
            return GDP(self.epsilon)
        from statistics import NormalDist

        from flint import arb

        with precision(BITS):
            error = 1 / (1 + arb(self.epsilon).exp())

            def dominates(mu: float) -> bool:
                return bool((arb(mu) / arb(8).sqrt()).erfc() <= 2 * error)

            guess = float(error)
            start = -2.0 * NormalDist().inv_cdf(guess) if 0 < guess < 0.5 else math.sqrt(8.0 * self.epsilon)
            return GDP(least(dominates, max(_TINY, start), ulps=32))

    def to_dict(self) -> dict[str, Any]:
        return _written(self)

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:g}"


@wire("ApproxDP", "epsilon delta")
@dataclass(frozen=True)
class ApproxDP:
    """Approximate differential privacy: P[S] <= e^epsilon P'[S] + delta for every event S and neighbouring laws P and
    P'.

    Args:
        epsilon: the loss in nats, in [0, inf].
        delta: a probability in [0, 1]; 1 promises nothing.
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
        """The loss's own epsilon if `delta` is at least the loss's delta; infinity otherwise."""
        return self.epsilon if delta >= self.delta else math.inf

    def delta_at(self, epsilon: float) -> float:
        """The least delta proved at this epsilon, rounded up: d + (1 - d) p, where d is the loss's delta, and p is the
        delta of a pure loss with the same epsilon (`PureDP.delta_at`).

        Source: Kairouz, Oh and Viswanath 2015, section 6.1.
        """
        pure = Fraction(PureDP(self.epsilon).delta_at(epsilon))
        exact = Fraction(self.delta) + (1 - Fraction(self.delta)) * pure
        nearest = float(exact)
        return min(1.0, nearest if nearest >= exact else math.nextafter(nearest, math.inf))

    def to_dict(self) -> dict[str, Any]:
        return _written(self)

    def __str__(self) -> str:
        return f"(epsilon = {self.epsilon:g}, delta = {self.delta:g})"


def _excess(slope: Callable[[float], float]) -> float:
    """The root of an increasing function of x = a - 1, where a > 1 is a Rényi order, between 1e-30 and 1e300."""
    root = least(lambda x: x > 1e-30 and slope(x) >= 0.0, 1.0, ulps=_ENOUGH)
    return min(root, 1e300)


def _order_term(x: Any) -> Any:
    """The gain ln x + (1 + x) ln(1 + 1/x), with x = a - 1, of Proposition 12 over the plain Rényi bound at order a."""
    return x.log() + (1 + x) * (1 / x).log1p()


@wire("ZCDP", "rho")
@dataclass(frozen=True)
class ZCDP:
    """Zero-concentrated differential privacy: the Rényi divergence of order a is at most a rho, for every a > 1.

    Args:
        rho: the loss, in [0, inf].
    """

    rho: float

    def __post_init__(self) -> None:
        if self.rho != math.inf:
            non_negative("rho", self.rho)

    @property
    def vacuous(self) -> bool:
        return math.isinf(self.rho)

    def delta_at(self, epsilon: float) -> float:
        """The least delta proved at epsilon: the minimum over orders a > 1 of exp((a-1)(a rho - epsilon)) (1-1/a)^a /
        (a-1).

        Source: Canonne, Kamath and Steinke 2020, Proposition 12; spec query_release A2.
        """
        epsilon = non_negative("epsilon", epsilon)
        if self.rho == 0:
            return 0.0
        if math.isinf(self.rho):
            return 1.0
        # The derivative of the logarithm of the bound in x = a - 1: it increases, and the best order is its root.
        excess = _excess(lambda x: (self.rho - epsilon) + 2.0 * x * self.rho - math.log1p(1.0 / x))
        from flint import arb

        # Any order gives a valid bound: the root need not be exact. The difference of two doubles is rounded once.
        with precision(BITS):
            x, rho = arb(excess), arb(self.rho)
            bound = x * ((rho - epsilon) + x * rho) - _order_term(x)
            if bound >= 0:
                return 1.0
            if bound < -800:
                return _TINY
            return min(1.0, up(bound.exp()))

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon with `delta_at(epsilon) <= delta`; infinity at delta = 0 unless rho is 0."""
        delta = non_negative("delta", delta, at_most=1.0)
        if self.rho == 0:
            return 0.0
        if delta == 0 or math.isinf(self.rho):
            return math.inf
        if self.delta_at(0.0) <= delta:
            return 0.0
        room = -math.log(delta)
        x = _excess(lambda x: x * (x * self.rho) + math.log1p(x) - room)
        from flint import arb

        with precision(BITS):
            guess = up(arb(self.rho) * (1 + arb(x)) - (arb(delta).log() + _order_term(arb(x))) / x)
        return least(lambda epsilon: self.delta_at(epsilon) <= delta, max(0.0, guess))

    def to_renyi(self, alpha: float) -> RenyiDP:
        """The Rényi loss alpha rho at order alpha, rounded up, by the definition of zCDP."""
        alpha = positive("alpha", alpha)
        bound = alpha * self.rho
        if math.isfinite(bound) and Fraction(bound) < Fraction(alpha) * Fraction(self.rho):
            bound = math.nextafter(bound, math.inf)
        return RenyiDP(alpha, bound)

    @classmethod
    def within(cls, epsilon: float, delta: float) -> ZCDP:
        """The largest rho, rounded down, that implies (epsilon, delta)-DP."""
        epsilon = positive("epsilon", epsilon)
        room = -math.log(fraction("delta", delta))
        x = _excess(lambda x: x * (epsilon + math.log1p(1.0 / x)) / (1.0 / x + 2.0) + math.log1p(x) - room)
        from flint import arb

        with precision(BITS):
            order = 1 + arb(x)
            guess = up((arb(epsilon) + (arb(delta).log() + _order_term(arb(x))) / x) / order)
        return cls(largest(lambda rho: cls(rho).delta_at(epsilon) <= delta, max(0.0, guess)))

    def to_dict(self) -> dict[str, Any]:
        return _written(self)

    def __str__(self) -> str:
        return f"rho = {self.rho:g} (zCDP)"


def _mills(s: Any) -> Any:
    """The ratio of Mills, R(s) = Phi(-s)/phi(s): positive and decreasing, with derivative R' = s R - 1."""
    from flint import arb

    if s > _SERIES:
        # (1 - 1/s^2 + 3/s^4 - 15/s^6 + ...)/s, enveloping: what is left out is a part, in [0, 1], of its first term.
        rest = arb(0.5, 0.5)
        for odd in range(39, 0, -2):
            rest = 1 - odd * rest / (s * s)
        return rest / s
    return (s * s / 2).exp() * (s / arb(2).sqrt()).erfc() * (arb.pi() / 2).sqrt()


def trade_off(epsilon: float, mu: float) -> tuple[Any, Any, Any]:
    """Three balls (python-flint's `arb`): the delta of a Gaussian mechanism (`gaussian_delta`), the derivative of delta
    in mu, and minus the derivative of delta in epsilon.

    Let t = epsilon/mu - mu/2 and x = t + mu; then e^epsilon phi(x) = phi(t). It follows that delta = phi(t) (R(t) -
    R(x)), where R is the ratio of Mills, and that the derivatives are phi(t) and phi(t) R(x). Where t and x are close,
    the difference is computed as mu (1 - s R(s)) for an s between t and x (mean value theorem). The relative width of a
    ball is at most 2^-80, unless delta or 1 - delta is below 2^-1150. If delta or 1 - delta is below 2^-1150, the balls
    of the derivatives are 0, which bounds nothing. `trade_off` must be called within `precision(BITS)`.

    Args:
        epsilon: the loss in nats, >= 0.
        mu: sensitivity divided by the standard deviation of the noise, > 0.
    """
    from flint import arb

    square, width = arb(mu) * arb(mu), arb(mu)  # exact, so that the next line is rounded once and nothing cancels
    t, x = (2 * arb(epsilon) - square) / (2 * width), (2 * arb(epsilon) + square) / (2 * width)
    beyond = arb(0).union(arb(2) ** -1150)
    if t > _FAR:
        return beyond, arb(0), arb(0)
    if t < -_FAR:
        return 1 - beyond, arb(0), arb(0)
    density = (-t * t / 2).exp() / (2 * arb.pi()).sqrt()
    right = _mills(x)
    if mu < 2.0**-100:
        between = t.union(x)
        gap = width * (1 - between * _mills(between))
    else:
        gap = _mills(t) - right
    return density * gap, density, density * right


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The delta of a Gaussian mechanism with standard deviation sensitivity/mu: Phi(mu/2 - epsilon/mu) - e^epsilon
    Phi(-mu/2 - epsilon/mu).

    Args:
        epsilon: the loss in nats, >= 0.
        mu: sensitivity divided by the standard deviation of the noise, > 0.

    Returns:
        delta, rounded up; never 0.

    Source: Balle and Wang 2018, Theorem 8; spec query_release A3.

    Example:
        >>> round(gaussian_delta(1.0, 1.0), 6)
        0.126937
    """
    epsilon, mu = non_negative("epsilon", epsilon), positive("mu", mu)
    with precision(BITS):
        return min(1.0, max(_TINY, up(trade_off(epsilon, mu)[0])))


@wire("GDP", "mu")
@dataclass(frozen=True)
class GDP:
    """Gaussian differential privacy: neighbouring laws are at least as hard to tell apart as N(0,1) and N(mu,1).

    Args:
        mu: the loss, in [0, inf]. The loss is proved for continuous Gaussian noise only; for discrete Gaussian noise
            use `ZCDP`.
    """

    mu: float

    def __post_init__(self) -> None:
        if self.mu != math.inf:
            non_negative("mu", self.mu)

    @property
    def vacuous(self) -> bool:
        return math.isinf(self.mu)

    def delta_at(self, epsilon: float) -> float:
        """The exact delta at this epsilon, `gaussian_delta(epsilon, mu)`, rounded up."""
        epsilon = non_negative("epsilon", epsilon)
        if self.mu == 0:
            return 0.0
        if math.isinf(self.mu):
            return 1.0
        return gaussian_delta(epsilon, self.mu)

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon with `delta_at(epsilon) <= delta`."""
        delta = non_negative("delta", delta, at_most=1.0)
        if self.mu == 0:
            return 0.0
        if delta == 0 or math.isinf(self.mu):
            return math.inf
        if self.delta_at(0.0) <= delta:
            return 0.0
        from statistics import NormalDist

        # Newton's method from above: there Phi(-t) = delta, without the second term.
        guess = max(_TINY, self.mu * (self.mu / 2 - NormalDist().inv_cdf(delta)))
        with precision(BITS):
            for _ in range(_STEPS if math.isfinite(guess) else 0):
                value, _, slope = trade_off(guess, self.mu)
                if not slope > 0:
                    break
                step = float((value / delta).log() * value / slope)
                before, guess = guess, guess + step if guess + step > 0 else guess / 8
                if abs(guess - before) <= _CLOSE * guess:
                    break
            return least(lambda epsilon: self.delta_at(epsilon) <= delta, guess)

    def to_zcdp(self) -> ZCDP:
        """The zCDP loss mu^2/2, rounded up."""
        return ZCDP(_half_square(self.mu))

    def to_dict(self) -> dict[str, Any]:
        return _written(self)

    def __str__(self) -> str:
        return f"mu = {self.mu:g} (Gaussian DP)"


@wire("RenyiDP", "alpha epsilon")
@dataclass(frozen=True)
class RenyiDP:
    """Rényi differential privacy: the Rényi divergence of the one order alpha is at most epsilon.

    Args:
        alpha: the order, in (1, inf).
        epsilon: the loss in nats, in [0, inf].
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
        """The epsilon proved at delta: epsilon + ln(1-1/a) - (ln delta + ln a)/(a-1), where a is the order, rounded up
        (Canonne, Kamath and Steinke 2020, Prop. 12).
        """
        delta = fraction("delta", delta, zero=True)
        if self.epsilon == 0:
            return 0.0
        if delta == 0 or math.isinf(self.epsilon):
            return math.inf
        from flint import arb

        with precision(BITS):
            x = arb(self.alpha) - 1
            return max(0.0, up(self.epsilon - (arb(delta).log() + _order_term(x)) / x))

    def delta_at(self, epsilon: float) -> float:
        """The delta proved at epsilon: exp((a-1)(D - epsilon)) (1-1/a)^a / (a-1), where a is the order and D the loss's
        own epsilon, rounded up. `delta_at` is the inverse of `epsilon_at`.
        """
        epsilon = non_negative("epsilon", epsilon)
        if self.epsilon == 0:
            return 0.0
        if math.isinf(self.epsilon):
            return 1.0
        from flint import arb

        with precision(BITS):
            x = arb(self.alpha) - 1
            return min(1.0, max(_TINY, up((x * (arb(self.epsilon) - arb(epsilon)) - _order_term(x)).exp())))

    def to_dict(self) -> dict[str, Any]:
        return _written(self)

    def __str__(self) -> str:
        return f"Renyi divergence of order {self.alpha:g} at most {self.epsilon:g}"


LOSSES = wire_types(ApproxDP, GDP, PureDP, RenyiDP, ZCDP)
"""Mapping from the name of a loss type in JSON to the type, for all losses that a promise may state."""
