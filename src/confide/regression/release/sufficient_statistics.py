"""Sufficient-statistics perturbation: noisy second moments are released once, and the regression is computed from them.

Let A = X'X and u = X'y be the exact moments, and Y the bound on |y|. One draw of vector Laplace noise on (A, u/Y), with
off-diagonal entries of A weighted by sqrt(2), protects all d(d+3)/2 moments under pure differential privacy. The method
is more accurate than output perturbation if n*epsilon is above about 1.4 d^3.

Source: Vu and Slavkovic 2009; Foulds et al. 2016 (the idea); spec truthful_regression 8 (this form, sensitivity).

The module also has the regression from noisy second moments, which both sufficient-statistics releases share.

The released noisy pair (A~, u~) is public, so all computations from this pair are post-processing: the shrinkage that
fits the known noise, the first-order law of the error, and the error that is predicted from public parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
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
from confide.regression.records import GRID_BITS, Moments
from confide.regression.release.base import (
    ROOM,
    Interval,
    ProvedError,
    Release,
    Released,
    laplace_marginal_quantile,
    normal_quantile,
)
from confide.regression.setting import Setting

__all__ = [
    "FAILURE",
    "SENSITIVITY",
    "SufficientStatistics",
    "exact_moments",
    "mirrored",
    "moment_error_bound",
    "moment_interval",
    "predicted_errors",
    "shrink",
    "symmetric",
]

# ---- released moments

FAILURE = 1e-6
"""Probability with which the noise, or the residuals, may exceed the size that a proved error bound assumes."""

_UNIT = Fraction(1, 2 ** (2 * GRID_BITS))


def exact_moments(sums: Moments) -> list[Fraction]:
    """The moments as one exact list: diagonal of A, strict upper triangle row by row, and the cross moments."""
    rows, columns = np.triu_indices(sums.dimension, 1)
    return [int(v) * _UNIT for v in (*np.diagonal(sums.gram), *sums.gram[rows, columns], *sums.cross)]


def symmetric(flat: np.ndarray, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of `exact_moments` for floats: the matrix A, shape (d, d), and the vector u, shape (d,)."""
    d = dimension
    gram = np.zeros((d, d))
    rows, columns = np.triu_indices(d, 1)
    gram[rows, columns] = flat[d : d + len(rows)]
    gram += gram.T
    gram[np.diag_indices(d)] = flat[:d]
    return gram, np.array(flat[d + len(rows) :], dtype=np.float64)


def mirrored(gram: np.ndarray) -> np.ndarray:
    """The symmetric matrix with the same lower triangle as a square matrix."""
    lower = np.tril(gram)
    return np.asarray(lower + np.tril(lower, -1).T)


def shrink(gram: np.ndarray, setting: Setting, *, gram_noise_std: float, cross_noise_std: float) -> np.ndarray:
    """The linear map F such that the estimate F u~ shrinks each direction by as much as its noise requires.

    The model is u~ = A~ theta + noise. In the eigendirection k of A~ with eigenvalue w_k, the noise has variance v_k =
    cross_noise_std^2 + gram_noise_std^2 R0^2/2 + sigma^2 w_k. A coordinate of theta, which is uniform in the ball, has
    variance R0^2/(d+2). The best linear estimate has coordinates w_k u_k / (w_k^2 + v_k (d+2)/R0^2). Directions with an
    eigenvalue that the noise made negative are shrunk by this formula too, and never inverted.

    Args:
        gram: (d, d) released matrix A~.
        setting: public facts of the regression.
        gram_noise_std: standard deviation of the noise in a diagonal entry of A.
        cross_noise_std: standard deviation of the noise in an entry of u.

    Returns:
        The matrix of F, shape (d, d).
    """
    values, vectors = np.linalg.eigh(gram)
    bound = setting.parameter_bound**2
    noise = cross_noise_std**2 + gram_noise_std**2 * bound / 2 + setting.noise.variance * np.maximum(values, 0.0)
    filters = values / (values**2 + noise * (setting.features + 2) / bound)
    return np.asarray((vectors * filters) @ vectors.T)


def moment_interval(
    setting: Setting, released: Released, linear: np.ndarray, direction: np.ndarray, level: float,
    *, gram_unit: float, cross_unit: float, quantile: float,
) -> Interval:
    """The first-order interval of direction'theta: the error is F(noise in u - noise in A times theta), at the released
    theta.

    Args:
        setting: public facts of the regression.
        released: noisy moments, and the estimate F u~.
        linear: matrix of the linear map F.
        direction: (d,) direction.
        level: coverage of the noise part of the interval alone, and of the sampling part alone.
        gram_unit: scale of the noise in a diagonal entry of A; off-diagonal entries have noise of scale
            gram_unit/sqrt(2).
        cross_unit: scale of the noise in an entry of u.
        quantile: two-sided quantile, at `level`, of one coordinate of the noise at scale 1.
    """
    g = linear.T @ direction
    theta = released.estimate
    size = float(g @ g)
    variance = cross_unit**2 * size + gram_unit**2 * 0.5 * (size * float(theta @ theta) + float(g @ theta) ** 2)
    spread = setting.noise.variance * max(0.0, float(g @ released.gram @ g))
    return Interval(
        value=float(direction @ theta),
        noise=quantile * math.sqrt(variance),
        sampling=normal_quantile(level) * math.sqrt(spread),
        bias=setting.parameter_bound * float(np.linalg.norm(released.gram @ g - direction)),
        level=level,
        exact=False,
    )


def moment_error_bound(
    setting: Setting, misreports: float, *, gram_noise: float, cross_noise: float,
    gram_noise_std: float = 0.0, cross_noise_std: float = 0.0, ridge: float = 0.0,
) -> ProvedError:
    """A bound on ||coefficients - theta||^2 that holds with high probability, for a release of noisy moments (A~, u~).

    Let w = lo - |noise in A| - absences, a lower bound on the smallest eigenvalue of A~. Consider a linear estimate
    with filters f(w) <= 1/w that shrinks by 1 - w f(w). The error of this linear estimate is at most (|u~ - A~
    theta|)/w + R0 (1 - w f(w)). In this bound, the norm |u~ - A~ theta| is at most noise in u + R0 noise in A + |X'z| +
    max(2Y, M) misreports + truncation. By Bernstein's inequality in Hilbert space (Pinelis 1994), the norm |X'z| is at
    most u, except with the failure probability 2 exp(-u^2/(2(n sigma^2 + M u/3))). The projection to the ball never
    adds error.

    Args:
        setting: public facts of the regression.
        misreports: tolerated share alpha of lies and absences.
        gram_noise: bound on the Frobenius norm of the noise in A, which fails with probability at most FAILURE.
        cross_noise: bound on the norm of the noise in u, which holds whenever the bound `gram_noise` holds.
        gram_noise_std: standard deviation of the noise in a diagonal entry of A, if the filter of `shrink` is used;
            otherwise 0.
        cross_noise_std: standard deviation of the noise in an entry of u, if the filter of `shrink` is used; otherwise
            0.
        ridge: largest ridge weight, if the filter f(w) = 1/(w + ridge) is used; otherwise 0.

    Source: ours; spec truthful_regression 6 for the spectrum.
    """
    n, bound = setting.people, setting.parameter_bound
    lost = misreports * n
    level = math.log(2.0 / FAILURE)
    linear = setting.noise_bound * level / 3.0
    residuals = linear + math.sqrt(linear**2 + 2.0 * n * setting.noise.variance * level)
    truncation = n * (1.0 + bound * math.sqrt(setting.features)) * 2.0**-GRID_BITS
    moved = max(2.0 * setting.response, setting.noise_bound)  # by a lie, by an absence
    off = cross_noise + bound * gram_noise + residuals + moved * lost + truncation
    spectrum = setting.spectrum(n).quantised()
    reach = spectrum.lower - gram_noise - lost
    if reach <= 0:
        error = math.inf
    elif gram_noise_std > 0:
        variance = cross_noise_std**2 + gram_noise_std**2 * bound**2 / 2 + setting.noise.variance * reach
        pull = variance * (setting.features + 2) / bound**2
        error = (off / reach + bound * pull / (reach**2 + pull)) ** 2
    else:
        error = (off / reach + bound * ridge / (reach + ridge)) ** 2
    return ProvedError(bound=error, expected=False, failure_probability=2.0 * FAILURE, source=Source(
        document="confide", statement="moment error bound", spec="truthful_regression 6, 8"))


def predicted_errors(
    setting: Setting, fit: Callable[[np.ndarray, np.ndarray], np.ndarray], *, gram_noise_std: float,
    cross_noise_std: float, draws: int = 24,
) -> np.ndarray:
    """The mean squared errors of the coefficients in a public simulated population, shape (d,).

    Args:
        setting: public facts of the regression.
        fit: function from noisy (A, u) to the release's estimate, shape (d,).
        gram_noise_std: standard deviation of the noise in a diagonal entry of A.
        cross_noise_std: standard deviation of the noise in an entry of u.
        draws: number of simulated data sets; the fixed public seed of the data sets makes the plan reproducible.
    """
    d = setting.features
    weights = setting.people * setting.eigenvalues
    public = Noise.simulated(0)
    total = np.zeros(d)
    theta = np.full(d, setting.parameter_bound / math.sqrt(d))
    for k in range(draws):
        z = public.gaussian(1.0, d * (d + 3) // 2, stream=("predicted error", k))
        gram_noise, cross_noise = symmetric(z, d)
        gram_noise *= gram_noise_std / math.sqrt(2)
        gram_noise[np.diag_indices(d)] *= math.sqrt(2)
        residuals = public.gaussian(1.0, d, stream=("predicted residuals", k))
        cross = weights * theta + cross_noise_std * cross_noise + np.sqrt(setting.noise.variance * weights) * residuals
        estimate = fit(np.diag(weights) + gram_noise, cross)
        estimate *= min(1.0, setting.parameter_bound / max(float(np.linalg.norm(estimate)), 1e-300))
        total += (estimate - theta) ** 2
    return total / draws


# ---- sufficient statistics

SENSITIVITY = math.nextafter(math.sqrt(4.5), math.inf)
"""The l2 sensitivity of (A, u/Y) to the replacement of one record: the maximum of sqrt(4 + 2c - 2c^2) over cosines c,
at c = 1/2.
"""


@wire("SufficientStatistics", "epsilon")
@renamed(scale="noise_scale", deviation="noise_std")
@dataclass(frozen=True, kw_only=True)
class SufficientStatistics(Release):
    """A release of noisy moments under pure privacy, and of the linear estimate that fits their noise."""

    epsilon: Annotated[float, Parameter("privacy loss of this release, pure", unit="nats", above=0)]

    @property
    def noise_scale(self) -> float:
        """The scale of the vector Laplace noise, rounded up."""
        return SENSITIVITY / self.epsilon * ROOM

    def noise_std(self, features: int) -> float:
        """The standard deviation of one coordinate of the vector Laplace noise."""
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
