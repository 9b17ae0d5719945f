"""The common interface of all release estimators, on which the mechanism and the planner rely.

A release turns the exact moments into a public estimate. A release states its own privacy loss, the law of its error,
and the error that is predicted from public parameters.

The module also computes quantiles of the effect of privacy noise on a released number, which is one coordinate of
vector Laplace noise.

Let a noise vector v have density proportional to exp(-||v||) in d dimensions, and let u be a unit vector. The product
u'v is R*T for independent variables: R ~ Gamma(d), and T is a coordinate of a uniform direction. The tail probability
of u'v is therefore P[|u'v| > x] = E[P(|T| > x/R)].
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np
import scipy

from confide.contract.checks import fraction, whole
from confide.contract.guarantees import Source
from confide.contract.parameters import Declared
from confide.contract.renamed import renamed
from confide.privacy.charge import Line, lines_of
from confide.privacy.events import Event
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.regression.records import Moments
from confide.regression.setting import Setting

__all__ = [
    "ROOM",
    "Interval",
    "ProvedError",
    "Release",
    "Released",
    "in_ball",
    "laplace_marginal_quantile",
    "laplace_marginal_tail",
    "mean_of_two_quantile",
    "normal_quantile",
]

# ---- intervals


@cache
def _rule() -> tuple[np.ndarray, np.ndarray]:
    """The nodes in [-1, 1] and the weights of a Gauss-Legendre rule."""
    nodes, weights = scipy.special.roots_legendre(160)
    return nodes, weights


def _tails(x: np.ndarray, dimension: int) -> np.ndarray:
    """The tail P[|u'v| > x] for an array of x >= 0, shape (k,)."""
    if dimension == 1:
        return np.asarray(np.exp(-x))
    # Only radii above x count; r = x + t^2 makes the integrand smooth at its lower end, whatever the dimension.
    low = np.maximum(x, scipy.special.gammaincinv(dimension, 1e-17))
    high = np.maximum(scipy.special.gammainccinv(dimension, 1e-17), low + 40.0)
    start = np.sqrt(low - x)[:, None]
    width = np.sqrt(high - x)[:, None] - start
    nodes, weights = _rule()
    t = start + width * (nodes + 1) / 2
    r = x[:, None] + t * t
    density = np.exp((dimension - 1) * np.log(r) - r - math.lgamma(dimension)) * 2 * t * weights * width / 2
    tail = scipy.special.betaincc(0.5, (dimension - 1) / 2, np.minimum((x[:, None] / r) ** 2, 1.0))
    return np.asarray(np.minimum(1.0, np.sum(density * tail, axis=1)))


def laplace_marginal_tail(x: float, dimension: int) -> float:
    """The tail P[|u'v| > x] for vector Laplace noise v of scale 1 in `dimension` dimensions, a unit vector u, and x >=
    0.
    """
    return float(_tails(np.array([x], dtype=np.float64), whole("dimension", dimension, at_least=1))[0])


@cache
def laplace_marginal_quantile(level: float, dimension: int) -> float:
    """The number x with P[|u'v| <= x] = level, for vector Laplace noise v of scale 1 and a unit vector u.

    Args:
        level: coverage in (0, 1).
        dimension: dimension d of the noise, >= 1.

    Example:
        >>> round(laplace_marginal_quantile(0.95, 1), 6)  # one dimension: ln 20
        2.995732
    """
    from scipy.optimize import brentq

    fraction("level", level)
    high = float(scipy.special.gammaincinv(dimension, 1 - (1 - level) / 4)) + 1.0
    return float(brentq(lambda x: laplace_marginal_tail(x, dimension) - (1 - level), 0.0, high, xtol=1e-12))


@cache
def mean_of_two_quantile(level: float, dimension: int) -> float:
    """The number x with P[|u'(v0+v1)/2| <= x] = level, for two independent draws v0, v1 of scale 1 and a unit vector u.

    The averaged release uses the quantile of the mean of two noise vectors.
    """
    fraction("level", level)
    half = 1.5 * laplace_marginal_quantile(1 - 1e-9, dimension)
    edges = np.linspace(0.0, half, 2049)
    step = float(edges[1])
    # The law of u'v on cells of this width centred at multiples of it, by symmetry from one side.
    tail = _tails(edges[:-1] + step / 2, dimension) / 2
    side = tail[:-1] - tail[1:]
    mass = np.concatenate([side[::-1], [1 - 2 * tail[0]], side])
    total = np.convolve(mass, mass)  # the law of v0 + v1 on a grid of the same step
    inside = np.cumsum(total[len(total) // 2 :]) * 2 - total[len(total) // 2]
    at = int(np.searchsorted(inside, level))
    return float(step * (at + 0.5) / 2)


def normal_quantile(level: float) -> float:
    """The number x with P[|Z| <= x] = level, for a standard normal variable Z."""
    return float(scipy.special.ndtri(0.5 + fraction("level", level) / 2))


# ---- base

ROOM = 1.0 + 2.0**-49
"""Factor on every noise scale, larger than the rounding errors of the scale's computation and of a decimal epsilon."""


def in_ball(estimate: np.ndarray, radius: float) -> np.ndarray:
    """The point of the ball that is nearest to an estimate, which is no further than the estimate from any parameter in
    the ball.

    Args:
        estimate: (d,) coefficients.
        radius: radius of the ball, > 0.
    """
    norm = float(np.linalg.norm(estimate))
    return estimate if norm == 0 else np.asarray(estimate * min(1.0, radius / norm))


@renamed(failure="failure_probability")
@dataclass(frozen=True, kw_only=True)
class ProvedError:
    """A bound on ||coefficients - theta||^2, from public parameters.

    Args:
        bound: bound on the squared error, in the scale of the records; infinity where the sizes are too small for any
            bound.
        expected: whether the bound is on the expectation over the noise. If `expected` is false, the error is below the
            bound with high probability.
        failure_probability: probability that the bound fails, if the eigenvalues keep their bounds and there are no
            more misreports than tolerated.
        source: theorem from which the bound comes.
    """

    bound: float
    expected: bool
    failure_probability: float
    source: Source


@dataclass(frozen=True, kw_only=True, eq=False)
class Released:
    """The published numbers of a release.

    Args:
        estimate: (d,) coefficients before projection to the ball of radius R0.
        gram: (d, d) noisy second moments; (0, 0) where the release publishes none.
        cross: (d,) noisy cross moments; (0,) where the release publishes none.
        ridge: ridge weight that the release chose from its own noisy outputs; 0 where the release chooses none.
    """

    estimate: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    ridge: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A confidence interval around a released number, with a separate half-width for each source of error.

    Args:
        value: released number at the centre of the interval.
        noise: half-width that covers the privacy noise with probability `level`.
        sampling: half-width that covers the participants' residuals with probability `level`, for normal residuals of
            the public variance.
        bias: largest shrinkage bias over all parameters that the public bound allows, a deterministic bound.
        projection: distance by which the projection to the ball moved the number. The parts `noise`, `sampling` and
            `bias` refer to the number before projection.
        level: coverage of `noise` alone, and of `sampling` alone.
        total_level: coverage of all parts together.
        exact: whether the noise part is exact. If `exact` is false, the noise part is a first-order approximation,
            whose coverage the tests measure.
    """

    value: float
    noise: float
    sampling: float
    bias: float
    level: float
    exact: bool
    projection: float = 0.0

    @property
    def total(self) -> float:
        """The half-width of all parts together. By a union bound, the interval with this half-width covers with
        probability at least 2*level - 1.
        """
        return self.noise + self.sampling + self.bias + self.projection

    @property
    def total_level(self) -> float:
        """The coverage of `total`, by a union bound."""
        return 2 * self.level - 1

    @property
    def lower(self) -> float:
        """The lower end of the interval with all parts together."""
        return self.value - self.total

    @property
    def upper(self) -> float:
        """The upper end of the interval with all parts together."""
        return self.value + self.total


class Release(Declared, ABC):
    """Base of the release estimators, which are frozen, keyword-only dataclasses of public numbers."""

    @abstractmethod
    def events(self) -> tuple[Event, ...]:
        """The privacy events of the release, in addition to the events of the payment estimates."""

    def lines(self) -> tuple[Line, ...]:
        """The events as lines of a privacy charge, against which the release's draws are counted."""
        return lines_of(self.events())

    @abstractmethod
    def privacy(self) -> tuple[PureDP | ApproxDP, Source, str]:
        """The privacy loss of the release alone, the source of its proof, and the formula for the scale of
        its noise.
        """

    @abstractmethod
    def run(self, setting: Setting, total: Moments, peers: np.ndarray, noise: Noise) -> Released:
        """Compute the public estimate from the exact moments.

        Args:
            setting: public facts of the regression.
            total: exact moments of all records.
            peers: (2, d) noisy payment estimates, which are already public.
            noise: source of the noise.
        """

    def again(self, setting: Setting, released: Released, peers: np.ndarray) -> Released:
        """The published numbers of a release: its noisy numbers, unchanged, and all other numbers, computed again from
        the noisy numbers.

        Args:
            setting: public facts of the regression.
            released: published numbers of the release.
            peers: (2, d) payment estimates that were published with the release.
        """
        return Released(estimate=released.estimate, gram=np.zeros((0, 0)), cross=np.zeros(0))

    @abstractmethod
    def interval(self, setting: Setting, released: Released, direction: np.ndarray, level: float) -> Interval:
        """The interval of direction'theta around the estimate before projection, from public values alone."""

    def interval_of(
        self, setting: Setting, released: Released, coef: np.ndarray, direction: np.ndarray, level: float
    ) -> Interval:
        """The interval of direction'theta around the projected coefficients.

        Args:
            setting: public facts of the regression.
            released: published numbers of the release.
            coef: (d,) estimate after projection to the ball.
            direction: (d,) direction.
            level: coverage of the noise part of the interval alone, and of the sampling part alone.
        """
        found, value = self.interval(setting, released, direction, level), float(direction @ coef)
        return replace(found, value=value, projection=abs(value - found.value))

    @abstractmethod
    def expected_errors(self, setting: Setting) -> np.ndarray:
        """The predicted squared errors along each eigenvector of E[x x'] for truthful people, shape (d,); typical
        values, no bounds.

        The errors are in the order of `Setting.eigenvalues`, and are computed from public numbers alone.
        """

    def expected_error(self, setting: Setting) -> float:
        """The predicted E||estimate - theta||^2 for truthful people; a typical value, no bound."""
        return float(self.expected_errors(setting).sum())

    def prediction_error(self, setting: Setting) -> float:
        """The predicted E(x'estimate - x'theta)^2 for a new person's features x; a typical value, no bound.

        A direction in which people hardly differ has little weight in the error of a prediction. Release estimators are
        compared by the predicted error of a prediction.
        """
        return _prediction_error(self, setting)

    @abstractmethod
    def proved_error(self, setting: Setting, misreports: float) -> ProvedError:
        """A bound on the squared error that is proved before the run, for at most misreports * n lies and absences."""

    @abstractmethod
    def describe(self) -> str:
        """A sentence that describes how the estimate is computed."""


@lru_cache(maxsize=1024)
def _prediction_error(release: Release, setting: Setting) -> float:
    """The predicted error of a prediction. The result is cached, because a plan, its picture and its pages all use this
    error, and some releases compute it by simulation.
    """
    return float(release.expected_errors(setting) @ setting.eigenvalues)
