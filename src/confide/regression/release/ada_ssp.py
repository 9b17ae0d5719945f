"""AdaSSP: noisy second moments, and a ridge weight chosen from a noisy smallest eigenvalue, under approximate privacy.

Discrete Gaussian noise is added to the exact integer moments. The smallest eigenvalue, the Gram matrix and the cross
moments each use a third of the zCDP budget. The published constants are for records that are added or removed; the
constants in this module are for records that are replaced.

Source: Wang 2018, Algorithm 2; accounting by zCDP (ours), spec truthful_regression 8.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
import scipy

from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Relation, Source
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.charge import DrawCost
from confide.privacy.events import Event, ZCDPEvent
from confide.privacy.losses import ZCDP, ApproxDP
from confide.privacy.noise import Noise
from confide.privacy.primitives.additive import add_discrete_gaussian
from confide.privacy.primitives.sessions import Part, open_session
from confide.regression.constrained_ridge import constrained_ridge
from confide.regression.records import GRID_BITS, Moments
from confide.regression.release.base import ROOM, Interval, ProvedError, Release, Released, normal_quantile
from confide.regression.release.sufficient_statistics import (
    FAILURE,
    mirrored,
    moment_error_bound,
    moment_interval,
    predicted_errors,
    symmetric,
)
from confide.regression.setting import Setting

__all__ = ["AdaSSP"]

_UNIT = 2 ** (2 * GRID_BITS)
_FAILURE = 0.05  # the ridge covers the spectrum of the noise with this failure probability (Wang 2018)


@wire("AdaSSP", "epsilon delta")
@renamed(deviation="noise_std", gram_deviation="gram_noise_std", cross_deviation="cross_noise_std")
@dataclass(frozen=True, kw_only=True)
class AdaSSP(Release):
    """A release of noisy moments under approximate privacy, and of a ridge estimate with a weight that fits their
    spectrum.
    """

    epsilon: Annotated[float, Parameter("privacy loss of this release", unit="nats", above=0)]
    delta: Annotated[float, Parameter("probability that the loss may exceed epsilon", above=0, below=1)]

    @property
    def rho(self) -> float:
        """The zCDP budget rho that (epsilon, delta) allows, rounded down."""
        return ZCDP.within(self.epsilon, self.delta).rho

    def noise_std(self, sensitivity: float) -> float:
        """The noise's standard deviation for a statistic of given l2 sensitivity, at a third of the zCDP budget,
        rounded up.
        """
        return sensitivity / math.sqrt(2 * self.rho / 3) * ROOM

    @property
    def gram_noise_std(self) -> float:
        """The noise's standard deviation for a diagonal entry of A = X'X, whose Frobenius sensitivity is sqrt(2).

        Off the diagonal the standard deviation is smaller by a factor sqrt(2).
        """
        return self.noise_std(math.nextafter(math.sqrt(2.0), 2.0))

    def cross_noise_std(self, setting: Setting) -> float:
        """The noise's standard deviation for an entry of u = X'y, whose sensitivity is 2Y."""
        return self.noise_std(2.0 * setting.response)

    def events(self) -> tuple[Event, ...]:
        return (ZCDPEvent(rho=self.rho, neighbours=Relation.REPLACE, label="release"),)

    def privacy(self) -> tuple[ApproxDP, Source, str]:
        source = Source(document="Wang 2018", statement="Algorithm 2", spec="truthful_regression 8",
                        erratum="sensitivities to the replacement of a record; the loss is computed in zCDP")
        return ApproxDP(self.epsilon, self.delta), source, (
            f"discrete Gaussian noise, a third of rho = {self.rho:.4g} each for the smallest eigenvalue of A = X'X "
            "(sensitivity 1), A (sqrt(2)) and u = X'y (2Y); rho-zCDP turned into (epsilon, delta)")

    def run(self, setting: Setting, total: Moments, peers: np.ndarray, noise: Noise) -> Released:
        d = setting.features
        def lattice(noise_std: float, squared: float, center: Iterable[int], *part: str) -> np.ndarray:
            numbers = [int(c) for c in center]
            return add_discrete_gaussian(
                noise, numbers, noise_std=noise_std * _UNIT, l2_sensitivity_squared=Fraction(squared) * _UNIT**2,
                stream=("release", *part), line="release")

        diagonal, upper = self._noisy_gram(total, noise)
        cross = lattice(self.cross_noise_std(setting), (2.0 * setting.response) ** 2, total.cross, "cross")
        # The eigenvalue is computed in double precision; its error is bounded by public numbers and paid for.
        error = setting.people * d * 2.0**-46
        smallest = math.floor(float(np.linalg.eigvalsh(total.gram.astype(np.float64) / _UNIT)[0]) * _UNIT)
        moved = 1.0 + 2.0 * error + 1.0 / _UNIT
        noisy = int(lattice(self.noise_std(moved), moved**2, [smallest], "eigenvalue")[0]) / _UNIT
        ridge = self._ridge(d, noisy)
        gram64, cross64 = symmetric(np.concatenate([diagonal, upper, cross]) / _UNIT, d)
        return self._fitted(setting, gram64, cross64, ridge)

    def _noisy_gram(self, total: Moments, noise: Noise) -> tuple[np.ndarray, np.ndarray]:
        """The diagonal and the upper triangle of A with noise, as one release. When one record is replaced, the squared
        changes on the diagonal plus twice those in the upper triangle sum to at most 2.
        """
        rows, columns = np.triu_indices(len(total.cross), 1)
        # Off the diagonal every change appears twice in the Frobenius norm, so 1/sqrt(2) of the noise is enough.
        on, off = self.gram_noise_std, math.nextafter(self.gram_noise_std * math.sqrt(0.5), math.inf)

        def cost(scales: Mapping[str, Fraction]) -> DrawCost:
            return DrawCost.concentrated(max(_UNIT**2 / scales["diagonal"] ** 2,
                                             _UNIT**2 / (2 * scales["off-diagonal"] ** 2)))

        session = open_session(noise, cost, {
            "diagonal": Part("discrete_gaussian", on * _UNIT, len(total.cross)),
            "off-diagonal": Part("discrete_gaussian", off * _UNIT, len(rows)),
        }, stream=("release", "gram"), line="release")
        return tuple(  # type: ignore[return-value]
            session.draw(part, len(numbers), stream=("release", "gram", part), center=list(map(int, numbers)))
            for part, numbers in (("diagonal", np.diagonal(total.gram)), ("off-diagonal", total.gram[rows, columns])))

    def again(self, setting: Setting, released: Released, peers: np.ndarray) -> Released:
        most = self._ridge(setting.features, 0.0)
        if not 0 <= released.ridge <= most:
            raise InvalidInput("billboard.ridge", f"is {released.ridge:g}", f"a run chooses from 0 to {most:g}")
        return self._fitted(setting, mirrored(released.gram), released.cross, released.ridge)

    @staticmethod
    def _fitted(setting: Setting, gram: np.ndarray, cross: np.ndarray, ridge: float) -> Released:
        estimate, _ = constrained_ridge(gram, cross, ridge, setting.parameter_bound)
        return Released(estimate=estimate, gram=gram, cross=cross, ridge=ridge)

    def _ridge(self, features: int, eigenvalue: float) -> float:
        """The ridge weight, by the published formula. The sum of this weight and a lower confidence bound on the
        smallest eigenvalue dominates the spectrum of the noise.
        """
        lower = max(0.0, eigenvalue - self.noise_std(1.0) * math.sqrt(2 * math.log(1 / _FAILURE)))
        return max(0.0, self.gram_noise_std * math.sqrt(features * math.log(2 * features**2 / _FAILURE)) - lower)

    def interval(self, setting: Setting, released: Released, direction: np.ndarray, level: float) -> Interval:
        d = setting.features
        # The multiplier of the ball is part of the fitted ridge: recover it to linearise where the estimate stands.
        _, multiplier = constrained_ridge(released.gram, released.cross, released.ridge, setting.parameter_bound)
        linear = np.linalg.inv(released.gram + (released.ridge + multiplier) * np.eye(d))
        return moment_interval(
            setting, released, linear, direction, level, gram_unit=self.gram_noise_std,
            cross_unit=self.cross_noise_std(setting), quantile=normal_quantile(level),
        )

    def expected_errors(self, setting: Setting) -> np.ndarray:
        ridge = self._ridge(setting.features, setting.people * float(setting.eigenvalues[0]))
        return predicted_errors(
            setting, lambda gram, cross: constrained_ridge(gram, cross, ridge, setting.parameter_bound)[0],
            gram_noise_std=self.gram_noise_std, cross_noise_std=self.cross_noise_std(setting),
        )

    def proved_error(self, setting: Setting, misreports: float) -> ProvedError:
        d = setting.features
        # Norms of Gaussian vectors by chi-squared quantiles; discrete Gaussian noise has lighter tails.
        gram = self.gram_noise_std * math.sqrt(float(scipy.special.chdtri(d * (d + 1) // 2, FAILURE / 2)))
        cross = self.cross_noise_std(setting) * math.sqrt(float(scipy.special.chdtri(d, FAILURE / 2)))
        ridge = self.gram_noise_std * math.sqrt(d * math.log(2 * d * d / _FAILURE))
        return moment_error_bound(setting, misreports, gram_noise=gram, cross_noise=cross, ridge=ridge)

    def describe(self) -> str:
        return "AdaSSP: noisy second moments (discrete Gaussian noise) and an adaptive ridge"
