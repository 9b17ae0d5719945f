"""Sufficient-statistics perturbation: release noisy second moments once, then regress on them.

One draw of vector Laplace noise on (A, u/Y), off-diagonal entries of A weighted by sqrt(2), protects all d(d+3)/2
moments under pure differential privacy. Better than output perturbation once n*epsilon exceeds about 1.4 d^3.

Source: Vu and Slavkovic 2009; Foulds et al. 2016 (the idea); spec truthful_regression 8 (this form, sensitivity).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy

from confide.contract.guarantees import Relation, Source
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.events import Event, PureEvent
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.privacy.primitives.additive import add_vector_laplace
from confide.regression.intervals import laplace_marginal_quantile
from confide.regression.records import Moments
from confide.regression.release.base import ROOM, Interval, ProvedError, Release, Released
from confide.regression.release.released_moments import (
    FAILURE,
    exact_moments,
    mirrored,
    moment_error_bound,
    moment_interval,
    predicted_errors,
    shrink,
    symmetric,
)
from confide.regression.setting import Setting

__all__ = ["SENSITIVITY", "SufficientStatistics"]

SENSITIVITY = math.nextafter(math.sqrt(4.5), math.inf)
"""L2 distance that replacing one record moves (A, u/Y): max over cos c of sqrt(4 + 2c - 2c^2), at c = 1/2."""


@wire("SufficientStatistics", "epsilon")
@renamed(scale="noise_scale", deviation="noise_std")
@dataclass(frozen=True, kw_only=True)
class SufficientStatistics(Release):
    """Noisy moments under pure privacy, and the linear estimate that fits their noise."""

    epsilon: Annotated[float, Parameter("privacy loss of this release, pure", unit="nats", above=0)]

    @property
    def noise_scale(self) -> float:
        """Scale of the vector Laplace noise, rounded up."""
        return SENSITIVITY / self.epsilon * ROOM

    def noise_std(self, features: int) -> float:
        """Standard deviation of one coordinate of that noise."""
        return self.noise_scale * math.sqrt(features * (features + 3) // 2 + 1)

    def events(self) -> tuple[Event, ...]:
        return (PureEvent(epsilon=self.epsilon, neighbours=Relation.REPLACE, label="release"),)

    def privacy(self) -> tuple[PureDP, Source, str]:
        source = Source(document="confide", statement="sensitivity of (A, u/Y), after Vu and Slavkovic 2009",
                        spec="truthful_regression 8")
        return PureDP(self.epsilon), source, (
            "one draw of vector Laplace noise of scale sqrt(4.5)/epsilon on (A, u/Y), A = X'X with off-diagonal "
            "entries weighted by sqrt(2), u = X'y: replacing one record moves it by at most sqrt(4.5)")

    def run(self, setting: Setting, total: Moments, peers: np.ndarray, noise: Noise) -> Released:
        d = setting.features
        stretch = np.concatenate([
            np.ones(d),
            # A factor rounded up adds noise, so it can only lower the loss.
            np.full(d * (d - 1) // 2, math.nextafter(math.sqrt(0.5), 1.0)),
            np.full(d, setting.response),
        ])
        center = exact_moments(total)
        flat = add_vector_laplace(noise, center, noise_scale=self.noise_scale, l2_sensitivity=SENSITIVITY,
                                  stretch=stretch, stream=("release",), line="release")
        return self._fitted(setting, *symmetric(flat, d))

    def again(self, setting: Setting, released: Released, peers: np.ndarray) -> Released:
        return self._fitted(setting, mirrored(released.gram), released.cross)

    def _fitted(self, setting: Setting, gram: np.ndarray, cross: np.ndarray) -> Released:
        return Released(estimate=self._linear(setting, gram) @ cross, gram=gram, cross=cross)

    def _linear(self, setting: Setting, gram: np.ndarray) -> np.ndarray:
        noise_std = self.noise_std(setting.features)
        return shrink(gram, setting, gram_noise_std=noise_std, cross_noise_std=noise_std * setting.response)

    def interval(self, setting: Setting, released: Released, direction: np.ndarray, level: float) -> Interval:
        count = setting.features * (setting.features + 3) // 2
        return moment_interval(
            setting, released, self._linear(setting, released.gram), direction, level,
            gram_unit=self.noise_scale, cross_unit=self.noise_scale * setting.response,
            quantile=laplace_marginal_quantile(level, count),
        )

    def expected_errors(self, setting: Setting) -> np.ndarray:
        noise_std = self.noise_std(setting.features)
        return predicted_errors(setting, lambda gram, cross: self._linear(setting, gram) @ cross,
                                gram_noise_std=noise_std, cross_noise_std=noise_std * setting.response)

    def proved_error(self, setting: Setting, misreports: float) -> ProvedError:
        noise_std = self.noise_std(setting.features)
        # ||v|| is Gamma distributed; it bounds the noise in A (Frobenius) and that in u/Y at once.
        entries = setting.features * (setting.features + 3) // 2
        longest = self.noise_scale * float(scipy.special.gammainccinv(entries, FAILURE))
        return moment_error_bound(
            setting, misreports, gram_noise_std=noise_std, cross_noise_std=noise_std * setting.response,
            gram_noise=longest, cross_noise=longest * setting.response,
        )

    def describe(self) -> str:
        return "noisy second moments (vector Laplace noise), then the linear estimate that fits the noise"
