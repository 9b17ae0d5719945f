"""The interface of all release estimators, so that the mechanism and the planner need not know which one it is.

A release turns the exact moments into a public estimate. It states its own privacy loss, the law of its error, and the
error that the public parameters predict.

How far the privacy noise can have moved a released number: quantiles of one coordinate of vector Laplace noise.

If v has density proportional to exp(-||v||) in d dimensions, u'v for a unit vector u is R*T with R ~ Gamma(d) and T a
coordinate of a uniform direction, independent: P[|u'v| > x] = E[P(|T| > x/R)].
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
    """Nodes in [-1, 1] and weights of a Gauss-Legendre rule."""
    nodes, weights = scipy.special.roots_legendre(160)
    return nodes, weights


def _tails(x: np.ndarray, dimension: int) -> np.ndarray:
    """P[|u'v| > x] for an array of x >= 0, shape (k,)."""
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
    """P[|u'v| > x] for vector Laplace noise of scale 1 in `dimension` dimensions, u a unit vector, x >= 0."""
    return float(_tails(np.array([x], dtype=np.float64), whole("dimension", dimension, at_least=1))[0])


@cache
def laplace_marginal_quantile(level: float, dimension: int) -> float:
    """The x with P[|u'v| <= x] = level, for scale 1.

    Args:
        level: coverage in (0, 1).
        dimension: d >= 1.

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
    """The x with P[|u'(v0+v1)/2| <= x] = level for two independent draws of scale 1 (the averaged release)."""
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
    """The x with P[|Z| <= x] = level for a standard normal Z."""
    return float(scipy.special.ndtri(0.5 + fraction("level", level) / 2))


# ---- base

ROOM = 1.0 + 2.0**-49
"""Factor on every noise scale: more than the rounding of its computation and of a decimal epsilon, both upwards."""


def in_ball(estimate: np.ndarray, radius: float) -> np.ndarray:
    """The nearest point to an estimate in the ball of this radius; no further from a parameter that lies in it.

    Args:
        estimate: (d,).
        radius: > 0.
    """
    norm = float(np.linalg.norm(estimate))
    return estimate if norm == 0 else np.asarray(estimate * min(1.0, radius / norm))


@renamed(failure="failure_probability")
@dataclass(frozen=True, kw_only=True)
class ProvedError:
    """A bound on ||coefficients - theta||^2, from public parameters.

    Args:
        bound: in the scale of the records; infinity where the sizes are too small for any.
        expected: True where it bounds the expectation over the noise, False where it holds with high probability.
        failure_probability: that it fails, on top of the spectrum's event and the tolerated misreports.
        source: statement that it comes from.
    """

    bound: float
    expected: bool
    failure_probability: float
    source: Source


@dataclass(frozen=True, kw_only=True, eq=False)
class Released:
    """Published numbers of a release.

    Args:
        estimate: (d,) the estimate, before projection to the ball of radius R0.
        gram: (d, d) noisy second moments; (0, 0) where the release publishes none.
        cross: (d,) noisy cross moments; (0,) where it publishes none.
        ridge: ridge weight that the release chose from its own noisy outputs; 0 where it chooses none.
    """

    estimate: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    ridge: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Interval:
    """How far a released number may be from the truth, part by part; each part says what it covers.

    Args:
        value: the released number.
        noise: half-width that covers the privacy noise with probability `level`.
        sampling: half-width that covers the participants' own residuals, of the public variance, at `level` (normal).
        bias: largest shrinkage bias over all parameters that the public bound allows; deterministic.
        projection: how far the projection to the ball moved the number; the other parts are about where it was before.
        level: coverage of `noise` and of `sampling`, each alone.
        total_level: coverage of all parts together.
        exact: False where the noise part is a first-order approximation (its coverage is measured in the tests).
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
        """Half-width that covers all parts with probability at least 2*level - 1 (union bound)."""
        return self.noise + self.sampling + self.bias + self.projection

    @property
    def total_level(self) -> float:
        """Coverage of `total` by the union bound."""
        return 2 * self.level - 1

    @property
    def lower(self) -> float:
        """The lower end of all parts together."""
        return self.value - self.total

    @property
    def upper(self) -> float:
        """The upper end of all parts together."""
        return self.value + self.total


class Release(Declared, ABC):
    """Base of the release estimators: frozen, keyword-only dataclasses of public numbers."""

    @abstractmethod
    def events(self) -> tuple[Event, ...]:
        """Events that the release spends on top of the payment estimates."""

    def lines(self) -> tuple[Line, ...]:
        """The events as lines of a charge, which its draws are paid on."""
        return lines_of(self.events())

    @abstractmethod
    def privacy(self) -> tuple[PureDP | ApproxDP, Source, str]:
        """Privacy loss of the release alone, the source of its proof, and the formula for the scale of its noise."""

    @abstractmethod
    def run(self, setting: Setting, total: Moments, peers: np.ndarray, noise: Noise) -> Released:
        """The public estimate.

        Args:
            setting: the public facts.
            total: exact moments of everybody.
            peers: (2, d) the noisy payment estimates, already public.
            noise: where the noise comes from.
        """

    def again(self, setting: Setting, released: Released, peers: np.ndarray) -> Released:
        """Published numbers of the release, computed anew from those of them that are noisy, taken as they are.

        Args:
            setting: the public facts.
            released: published numbers of the release.
            peers: (2, d) payment estimates published with it.
        """
        return Released(estimate=released.estimate, gram=np.zeros((0, 0)), cross=np.zeros(0))

    @abstractmethod
    def interval(self, setting: Setting, released: Released, direction: np.ndarray, level: float) -> Interval:
        """The interval for direction'theta, from public values alone."""

    def interval_of(
        self, setting: Setting, released: Released, coef: np.ndarray, direction: np.ndarray, level: float
    ) -> Interval:
        """The interval of `interval`, about the projected coefficients.

        Args:
            setting: the public facts.
            released: published numbers of the release.
            coef: (d,) estimate, in the ball.
            direction: (d,).
            level: coverage of the noise part and of the sampling part.
        """
        found, value = self.interval(setting, released, direction, level), float(direction @ coef)
        return replace(found, value=value, projection=abs(value - found.value))

    @abstractmethod
    def expected_errors(self, setting: Setting) -> np.ndarray:
        """Predicted squared errors along each eigenvector of E[x x'], for truthful people, shape (d,); typical, no
        bound.

        In the order of `Setting.eigenvalues`, from public numbers alone.
        """

    def expected_error(self, setting: Setting) -> float:
        """Predicted E||estimate - theta||^2 for truthful people; typical, no bound."""
        return float(self.expected_errors(setting).sum())

    def prediction_error(self, setting: Setting) -> float:
        """Predicted E(x'estimate - x'theta)^2 for somebody new; typical, no bound.

        A direction in which people hardly differ counts for little: this is what releases are compared by.
        """
        return _prediction_error(self, setting)

    @abstractmethod
    def proved_error(self, setting: Setting, misreports: float) -> ProvedError:
        """A bound on the squared error that is proved beforehand, for at most misreports * n lies and absences."""

    @abstractmethod
    def describe(self) -> str:
        """How the estimate is made, in one sentence."""


@lru_cache(maxsize=1024)
def _prediction_error(release: Release, setting: Setting) -> float:
    """A plan, its picture and its pages ask for the same numbers, and some releases simulate them."""
    return float(release.expected_errors(setting) @ setting.eigenvalues)
