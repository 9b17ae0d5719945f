"""Bounds on the eigenvalues of X'X for independent rows of length at most one: matrix Chernoff tails with explicit
constants.

The law of the rows is public, and no bound in this module is computed from the rows themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.remedies import printed
from confide.regression.records import GRID_BITS

__all__ = ["Spectrum", "ridge_shrinkage", "ridge_shrinkage_error", "smallest_eigenvalue_ball", "sufficient_rows"]


def smallest_eigenvalue_ball(dimension: int) -> float:
    """The common value 1 / (d + 2) of all eigenvalues of E[x x'] for x uniform in the unit ball.

    Source: Cummings et al. 2015, Lemma 11.
    """
    return 1.0 / (whole("dimension", dimension, at_least=1) + 2)


def _lower_exponent(xi: float) -> float:
    return xi + (1 - xi) * math.log1p(-xi)


def _upper_exponent(xi: float) -> float:
    return (1 + xi) * math.log1p(xi) - xi


@dataclass(frozen=True, kw_only=True)
class Spectrum(Declared):
    """Bounds on the eigenvalues of X'X, and their probability, for m independent rows with ||x|| <= 1.

    Let mu be the bound `smallest` and nu the bound `largest` on the eigenvalues of E[x x'], and xi the `tolerance`. The
    least eigenvalue of X'X is below (1 - xi) m mu with probability at most d exp(-m mu (xi + (1 - xi) ln(1 - xi))). The
    largest eigenvalue of X'X is above (1 + xi) m nu with probability at most d exp(-m nu ((1 + xi) ln(1 + xi) - xi)).
    The bounds concern second moments, without centring.

    Source: matrix Chernoff in place of Cummings et al. 2015, Theorem 7, whose constant is unknown; spec
    truthful_regression section 6.

    Example:
        >>> event = Spectrum.uniform_ball(rows=500_000, dimension=5, tolerance=0.05)
        >>> round(event.lower), event.failure_probability < 1e-30
        (67857, True)
    """

    rows: Annotated[int, Parameter("rows of X", symbol="m", at_least=1)]
    dimension: Annotated[int, Parameter("length of a row", symbol="d", at_least=1)]
    smallest: Annotated[float, Parameter(
        "lower bound on the least eigenvalue of E[x x'], at most 1/d", symbol="mu", above=0)]
    largest: Annotated[float | None, Parameter(
        "upper bound on the largest eigenvalue of E[x x']; None if no bound is known, and `upper` is the sure bound m. "
        "Equal to `smallest` for isotropic rows", above=0, at_most=1)] = None
    tolerance: Annotated[float, Parameter(
        "largest relative deviation of eigenvalues", symbol="xi", above=0, below=1)]

    def __post_init__(self) -> None:
        super().__post_init__()
        # trace E[x x'] = E||x||^2 <= 1, so the least of d eigenvalues is at most 1/d.
        positive("smallest", self.smallest, at_most=1 / self.dimension)
        if self.largest is not None and self.largest < self.smallest:
            raise InvalidInput("largest", f"{self.largest!r} is below smallest {self.smallest!r}")

    @classmethod
    def uniform_ball(cls, *, rows: int, dimension: int, tolerance: float) -> Spectrum:
        """The bounds for rows that are uniform in the unit ball."""
        value = smallest_eigenvalue_ball(dimension)
        return cls(rows=rows, dimension=dimension, smallest=value, largest=value, tolerance=tolerance)

    @property
    def lower(self) -> float:
        """The bound lo, below which the least eigenvalue of X'X falls with probability at most `failure_below`."""
        return (1 - self.tolerance) * self.rows * self.smallest

    @property
    def upper(self) -> float:
        """The bound hi, above which the largest eigenvalue of X'X rises with probability at most `failure_above`.

        The bound hi is at most the number m of rows, which no eigenvalue exceeds.
        """
        if self.largest is None:
            return float(self.rows)
        return min((1 + self.tolerance) * self.largest, 1.0) * self.rows

    @property
    def failure_below(self) -> float:
        """A bound on P[least eigenvalue < lower], at most 1."""
        return min(1.0, self.dimension * math.exp(-self.rows * self.smallest * _lower_exponent(self.tolerance)))

    @property
    def failure_above(self) -> float:
        """A bound on P[largest eigenvalue > upper], at most 1; 0 where `upper` is certain."""
        if self.largest is None or (1 + self.tolerance) * self.largest >= 1:
            return 0.0
        return min(1.0, self.dimension * math.exp(-self.rows * self.largest * _upper_exponent(self.tolerance)))

    @property
    def failure_probability(self) -> float:
        """A bound on the probability that `lower` or `upper` fails, at most 1."""
        return min(1.0, self.failure_below + self.failure_above)

    def quantised(self) -> Spectrum:
        """The bounds for rows with entries truncated towards zero to multiples of 2^-16.

        Truncation moves a row by at most sqrt(d) 2^-16. Therefore truncation changes the square root of a second moment
        by at most sqrt(d) 2^-16.

        Raises:
            InvalidInput: the eigenvalues are so small that truncation can reduce them to 0.
        """
        moved = math.sqrt(self.dimension) * 2.0**-GRID_BITS
        root = math.sqrt(self.smallest) - moved
        if root <= 0:
            raise InvalidInput("smallest", f"{self.smallest!r} is so small that truncation can make it 0",
                               f"must be above {printed(moved**2, digits=3)}")
        largest = None if self.largest is None else min((math.sqrt(self.largest) + moved) ** 2, 1.0)
        return replace(self, smallest=root * root, largest=largest)


def sufficient_rows(dimension: int, smallest: float, tolerance: float, failure_probability: float) -> int:
    """Number of rows at which the eigenvalues of X'X leave their bounds with probability at most `failure_probability`,
    for rows of an isotropic law.

    The number of rows is ln(2 d / q) / (mu ((1 + xi) ln(1 + xi) - xi)), rounded up. The number of rows never exceeds
    the textbook number (3 / xi^2) ln(2 d / q) / mu, because the exponent is at least xi^2 / 2 for the lower tail, and
    at least xi^2 / 3 for the upper tail.

    Args:
        dimension: dimension d of the rows, at least 1.
        smallest: common eigenvalue mu of E[x x'], in (0, 1].
        tolerance: relative deviation xi of the eigenvalues, in (0, 1).
        failure_probability: probability q of a larger deviation, in (0, 1).

    Source: spec truthful_regression section 6.
    """
    d = whole("dimension", dimension, at_least=1)
    mu, xi = positive("smallest", smallest, at_most=1.0), fraction("tolerance", tolerance)
    missed = fraction("failure_probability", failure_probability)
    return math.ceil(math.log(2 * d / missed) / (mu * _upper_exponent(xi)))


def ridge_shrinkage(rows: int, dimension: int, ridge: float) -> float:
    """The shrinkage g = E tr[gamma (gamma I + X'X)^-1] / d for rows uniform in the ball. The mean prediction of
    truthful peers is P = (1 - g) q, where q is the posterior mean.

    The shrinkage is computed by the expansion gamma/L + gamma m (1/(d + 4) - 1/(d + 2)^2)/L^3, where L = gamma + m/(d +
    2).

    Example:
        >>> round(ridge_shrinkage(400, 3, 20.0), 4)
        0.2008
    """
    m, d = whole("rows", rows, at_least=1), whole("dimension", dimension, at_least=1)
    gamma = positive("ridge", ridge)
    level = gamma + m / (d + 2)
    return gamma / level + gamma * m * (1 / (d + 4) - 1 / (d + 2) ** 2) / level**3


def ridge_shrinkage_error(rows: int, dimension: int, ridge: float) -> float:
    """A bound |dg| on the distance of `ridge_shrinkage` to the true E tr[gamma (gamma I + X'X)^-1] / d.

    With mu = 1/(d + 2), D = X'X - m mu I and L = gamma + m mu, (gamma I + X'X)^-1 = 1/L - D/L^2 + D^2/L^3 - D^3/L^4 +
    D^4 (gamma I + X'X)^-1/L^4. The expansion in `ridge_shrinkage` uses the first three terms. The fourth term is known
    exactly: E tr D^3 = m E tr W^3 with W = xx' - mu I. The last term lies between 0 and D^4/((gamma + lo) L^4), except
    on the event that the least eigenvalue is below lo. On the event that the least eigenvalue is below lo, the last
    term adds at most d/gamma to the trace. E tr D^4 is at most m E tr W^4 + 3 m (m - 1) tr (E W^2)^2.

    Example:
        >>> ridge_shrinkage_error(400, 3, 20.0) < 1e-4
        True
    """
    m, d = whole("rows", rows, at_least=1), whole("dimension", dimension, at_least=1)
    gamma, mu = positive("ridge", ridge), smallest_eigenvalue_ball(d)
    level = gamma + m * mu

    def trace(power: int) -> float:
        """The mean trace E tr W^k. The matrix W has one eigenvalue ||x||^2 - mu, with E ||x||^2j = d/(d + 2j), and d -
        1 eigenvalues -mu.
        """
        own = sum(math.comb(power, j) * d / (d + 2 * j) * (-mu) ** (power - j) for j in range(power + 1))
        return own + (d - 1) * (-mu) ** power

    fourth = m * trace(4) + 3 * m * (m - 1) * trace(2) ** 2 / d
    third = gamma * m * abs(trace(3)) / (d * level**4)

    def rest(tolerance: float) -> float:
        event = Spectrum.uniform_ball(rows=m, dimension=d, tolerance=tolerance)
        return gamma * fourth / (d * level**4 * (gamma + event.lower)) + event.failure_below

    return min(1.0, third + min(rest(k / 20) for k in range(1, 20)))
