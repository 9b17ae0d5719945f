"""What every release estimator offers, so that the mechanism and the planner need not know which one it is.

A release turns the exact moments into a public estimate. It states its own privacy loss, the law of its error, and what
error the public parameters predict.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from confide.contract.guarantees import Source
from confide.contract.parameters import Declared
from confide.contract.renamed import renamed
from confide.privacy.charge import Line, lines_of
from confide.privacy.events import Event
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.regression.records import Moments
from confide.regression.setting import Setting

__all__ = ["ROOM", "Interval", "ProvedError", "Release", "Released", "in_ball"]


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
    """What a release publishes.

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
        """What the release spends on top of the payment estimates."""

    def lines(self) -> tuple[Line, ...]:
        """The events as lines of a charge, which its draws are paid on."""
        return lines_of(self.events())

    @abstractmethod
    def privacy(self) -> tuple[PureDP | ApproxDP, Source, str]:
        """Its own loss, where the proof stands, and by which formula its noise is scaled."""

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
        """What the release publishes, computed anew from those of its numbers that are noisy, taken as they are.

        Args:
            setting: the public facts.
            released: what was published.
            peers: (2, d) the payment estimates beside it.
        """
        return Released(estimate=released.estimate, gram=np.zeros((0, 0)), cross=np.zeros(0))

    @abstractmethod
    def interval(self, setting: Setting, released: Released, direction: np.ndarray, level: float) -> Interval:
        """The interval for direction'theta, from public values alone."""

    def interval_of(
        self, setting: Setting, released: Released, coef: np.ndarray, direction: np.ndarray, level: float
    ) -> Interval:
        """The same about the projected coefficients.

        Args:
            setting: the public facts.
            released: what was published.
            coef: (d,) its estimate in the ball.
            direction: (d,).
            level: coverage of the noise part and of the sampling part.
        """
        found, value = self.interval(setting, released, direction, level), float(direction @ coef)
        return replace(found, value=value, projection=abs(value - found.value))

    @abstractmethod
    def expected_errors(self, setting: Setting) -> np.ndarray:
        """(d,) predicted squared error along each eigenvector of E[x x'], for truthful people; typical, no bound.

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
