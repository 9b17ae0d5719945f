"""Output perturbation: the constrained ridge estimate plus vector Laplace noise. The module also has the average of two
such estimates, which costs no further privacy.

Source: Cummings et al. 2015, Algorithm 2 (after Chaudhuri, Monteleoni and Sarwate 2011); corrected as in spec
truthful_regression 4.2 to 4.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from confide.contract.guarantees import Relation, Source
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.events import Event, PureEvent
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise, Stream
from confide.privacy.primitives.additive import add_vector_laplace
from confide.regression.bounds import RidgeBounds, typical_release_error
from confide.regression.constrained_ridge import certified_ridge
from confide.regression.records import Moments
from confide.regression.release.base import (
    ROOM,
    Interval,
    ProvedError,
    Release,
    Released,
    laplace_marginal_quantile,
    mean_of_two_quantile,
    normal_quantile,
)
from confide.regression.setting import Setting

__all__ = [
    "PRIVACY",
    "RIDGE_FORMULA",
    "SOLVER_SHARE",
    "Averaged",
    "RidgeRelease",
    "noise_scale",
    "perturbed_ridge",
    "ridge_bounds",
]

_ACCURACY = Source(document="Cummings et al. 2015", statement="Theorem 4", spec="truthful_regression 7.1",
                   erratum="the moments of the vector noise, the variance, and groups of half the size")

PRIVACY = Source(document="Cummings et al. 2015", statement="Theorem 2 and Lemmas 5, 6",
                 spec="truthful_regression 4.2, 4.5",
                 erratum="the estimates are constrained to a ball; without this constraint, the printed sensitivity is "
                         "false")

RIDGE_FORMULA = ("vector Laplace noise of scale D(R,Y)/(gamma epsilon), D(R,Y) = max over phi of "
                 "R sin 2phi + 2Y sin phi (R bounds the estimate, Y the answers, and gamma is the ridge): replacing "
                 "one record moves the estimate by at most D(R,Y)/gamma")

SOLVER_SHARE = 2.0**-16
"""The solver's tolerance tau_fp in units of D/gamma: largest distance of a certified solution from the true minimiser.

The tolerance is a public constant and never depends on data.
"""


def noise_scale(setting: Setting, ridge: float, epsilon: float) -> float:
    """The scale of the vector Laplace noise: D(R,Y)/(ridge epsilon), enlarged by the tolerance of two certified
    solutions, rounded up.
    """
    return ridge_sensitivity(setting, ridge) / epsilon * ROOM


def ridge_sensitivity(setting: Setting, ridge: float) -> float:
    """The l2 sensitivity of a certified estimate to the replacement of one record: D(R,Y)/ridge plus twice the solver's
    tolerance.
    """
    return setting.diameter / ridge * (1.0 + 2.0 * SOLVER_SHARE)


def perturbed_ridge(
    setting: Setting, sums: Moments, ridge: float, epsilon: float, noise: Noise, stream: Stream, *,
    line: str | None = None, group: str | None = None,
) -> np.ndarray:
    """One epsilon-DP ridge estimate, shape (d,): a certified solution plus vector Laplace noise, rounded exactly."""
    tolerance = SOLVER_SHARE * setting.diameter / ridge * (1.0 - 2.0**-50)
    center = certified_ridge(sums, ridge, setting.ball, tolerance)
    scale = noise_scale(setting, ridge, epsilon)
    return add_vector_laplace(noise, center, noise_scale=scale, l2_sensitivity=ridge_sensitivity(setting, ridge),
                              stream=stream, line=line, group=group)


def ridge_bounds(setting: Setting, rows: int, ridge: float, misreports: float) -> RidgeBounds:
    """The error bounds of a certified, quantised ridge estimate from `rows` rows."""
    return RidgeBounds(
        spectrum=setting.spectrum(rows), ridge=ridge, prior_radius=setting.parameter_bound,
        noise_bound=setting.noise_bound, noise_variance=setting.noise.variance, radius=setting.ball,
        response_bound=setting.response, misreports=misreports, quantised=True,
    )


def _shrinkage(setting: Setting, rows: int, ridge: float) -> float:
    """The largest ridge bias along a unit direction, if the bounds on the spectrum hold: ridge R0 / (ridge + lo)."""
    return ridge * setting.parameter_bound / (ridge + setting.spectrum(rows).lower)


def _sampling(setting: Setting, rows: int, ridge: float) -> float:
    """The largest standard deviation that residuals cause along a unit direction: sigma max over w of sqrt(w)/(ridge +
    w).
    """
    spectrum = setting.spectrum(rows)
    w = min(max(ridge, spectrum.lower), spectrum.upper)
    return math.sqrt(setting.noise.variance * w) / (ridge + w)


def _expected_errors(setting: Setting, rows: int, ridge: float, scale: float, variance: float) -> np.ndarray:
    """The squared errors from noise, shrinkage and sampling along each eigenvector, for a theta with equal coordinates
    (spec section 8).
    """
    d = setting.features
    return np.array([
        typical_release_error(rows, 1, float(mu), ridge, scale * math.sqrt((d + 1) / 2),
                              setting.parameter_bound / math.sqrt(d), variance)
        for mu in setting.eigenvalues
    ])


@wire("RidgeRelease", "epsilon ridge")
@renamed(scale="noise_scale")
@dataclass(frozen=True, kw_only=True)
class RidgeRelease(Release):
    """A release of the constrained ridge estimate of all records, with its own noise."""

    epsilon: Annotated[float, Parameter("privacy loss of this release, pure", unit="nats", above=0)]
    ridge: Annotated[float, Parameter("ridge weight", symbol="gamma_r", above=0)]

    def events(self) -> tuple[Event, ...]:
        return (PureEvent(epsilon=self.epsilon, neighbours=Relation.REPLACE, label="release"),)

    def privacy(self) -> tuple[PureDP, Source, str]:
        return PureDP(self.epsilon), PRIVACY, RIDGE_FORMULA

    def noise_scale(self, setting: Setting) -> float:
        """The scale of the vector Laplace noise on the estimate."""
        return noise_scale(setting, self.ridge, self.epsilon)

    def bounds(self, setting: Setting, misreports: float) -> RidgeBounds:
        """The error bounds of the estimate without its noise."""
        return ridge_bounds(setting, setting.people, self.ridge, misreports)

    def run(self, setting: Setting, total: Moments, peers: np.ndarray, noise: Noise) -> Released:
        estimate = perturbed_ridge(setting, total, self.ridge, self.epsilon, noise, ("release",),
                                   line="release")
        return Released(estimate=estimate, gram=np.zeros((0, 0)), cross=np.zeros(0))

    def interval(self, setting: Setting, released: Released, direction: np.ndarray, level: float) -> Interval:
        size = float(np.linalg.norm(direction))
        return Interval(
            value=float(direction @ released.estimate),
            noise=size * self.noise_scale(setting) * laplace_marginal_quantile(level, setting.features),
            sampling=size * normal_quantile(level) * _sampling(setting, setting.people, self.ridge),
            bias=size * _shrinkage(setting, setting.people, self.ridge),
            level=level,
            exact=True,
        )

    def expected_errors(self, setting: Setting) -> np.ndarray:
        return _expected_errors(setting, setting.people, self.ridge, self.noise_scale(setting), setting.noise.variance)

    def proved_error(self, setting: Setting, misreports: float) -> ProvedError:
        bound = self.bounds(setting, misreports).release_error(self.noise_scale(setting), setting.noise.variance)
        return ProvedError(bound=bound, expected=True, failure_probability=0.0, source=_ACCURACY)

    def describe(self) -> str:
        return f"ridge regression constrained to a ball (weight {self.ridge:.4g}) plus vector Laplace noise"


@wire("Averaged", "epsilon_payment ridge_payment")
@dataclass(frozen=True, kw_only=True)
class Averaged(Release):
    """A release of the mean of the two payment estimates, which has no privacy loss beyond the loss of these
    estimates.
    """

    epsilon_payment: Annotated[float, Parameter("privacy loss of the payment estimates", unit="nats", above=0)]
    ridge_payment: Annotated[float, Parameter("ridge weight of the payment estimates", symbol="gamma_p", above=0)]

    def events(self) -> tuple[Event, ...]:
        return ()

    def privacy(self) -> tuple[PureDP, Source, str]:
        return PureDP(0.0), PRIVACY, "a mean of the two payment estimates, which are public already"

    def run(self, setting: Setting, total: Moments, peers: np.ndarray, noise: Noise) -> Released:
        return self._mean(peers)

    def again(self, setting: Setting, released: Released, peers: np.ndarray) -> Released:
        return self._mean(peers)

    @staticmethod
    def _mean(peers: np.ndarray) -> Released:
        return Released(estimate=(peers[0] + peers[1]) / 2, gram=np.zeros((0, 0)), cross=np.zeros(0))

    def interval(self, setting: Setting, released: Released, direction: np.ndarray, level: float) -> Interval:
        size = float(np.linalg.norm(direction))
        rows = min(setting.groups)
        scale = noise_scale(setting, self.ridge_payment, self.epsilon_payment)
        return Interval(
            value=float(direction @ released.estimate),
            noise=size * scale * mean_of_two_quantile(level, setting.features),
            # Two independent groups: their mean has half the variance of the smaller one, at most.
            sampling=size * normal_quantile(level) * _sampling(setting, rows, self.ridge_payment) / math.sqrt(2),
            bias=size * _shrinkage(setting, rows, self.ridge_payment),
            level=level,
            exact=True,
        )

    def expected_errors(self, setting: Setting) -> np.ndarray:
        scale = noise_scale(setting, self.ridge_payment, self.epsilon_payment)
        # Two independent halves: half the noise power and half the sampling variance of one of them.
        return _expected_errors(setting, min(setting.groups), self.ridge_payment, scale / math.sqrt(2),
                                setting.noise.variance / 2)

    def proved_error(self, setting: Setting, misreports: float) -> ProvedError:
        scale = noise_scale(setting, self.ridge_payment, self.epsilon_payment)
        half = ridge_bounds(setting, min(setting.groups), self.ridge_payment, misreports)
        return ProvedError(bound=half.averaged_release_error(scale, setting.noise.variance), expected=True,
                           failure_probability=0.0, source=_ACCURACY)

    def describe(self) -> str:
        return "the mean of the two payment estimates, at no further privacy cost"
