"""The public facts of a regression campaign: the numbers of people and features, and the public assumptions about them.

The module also has the common part of the billboards of all regressions: coefficients, and the random groups of
participants.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard
from confide.contract.parameters import Declared, Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.regression.priors import NoiseLaw, Prior
from confide.regression.records import RecordMap
from confide.regression.sensitivity import diameter
from confide.regression.spectrum import Spectrum, smallest_eigenvalue_ball

__all__ = ["LinearBillboard", "Setting"]

# ---- billboards


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearBillboard(Billboard):
    """Public coefficients of a linear model.

    Args:
        people: number n of invited people, including people who send no record.
        coef: (d,) coefficients of the model.
        split: bitmap of the random groups, with bit i for the participant of index i (numpy.packbits); empty without
            groups.
    """

    people: int
    coef: np.ndarray
    split: np.ndarray

    def _check(self, **shapes: tuple[int, ...]) -> None:
        """Refuse arrays of wrong shapes, numbers that are not finite, and a `split` that is not a bitmap."""
        whole("people", self.people, at_least=1)
        for name, shape in {"coef": (self.dimension,), **shapes}.items():
            array = getattr(self, name)
            if array.shape != shape or self.dimension < 1:
                raise InvalidInput(f"billboard.{name}", f"shape {array.shape}", f"must be {shape}")
            if name != "split" and not np.isfinite(array).all():
                raise InvalidInput(f"billboard.{name}", "are not finite", "must be finite numbers")
        if self.split.dtype != np.uint8:
            raise InvalidInput("billboard.split", f"of type {self.split.dtype}", "must be uint8")

    @property
    def dimension(self) -> int:
        """The number d of coefficients; -1 where `coef` is not a vector."""
        return len(self.coef) if self.coef.ndim == 1 else -1

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients, shape (d,), under the name that scikit-learn uses."""
        return self.coef

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The predicted responses for (m, d) features, shape (m,), on the scale of the records."""
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.coef)

    def group(self, index: int) -> int:
        """The group of one participant, 0 or 1; 0 where there are no groups."""
        return int(self.split[index >> 3] >> (7 - (index & 7))) & 1 if self.split.size else 0

    def groups(self) -> np.ndarray:
        """Whether each participant is in group 1, shape (n,)."""
        if not self.split.size:
            return np.zeros(self.people, dtype=bool)
        return np.unpackbits(self.split, count=self.people).astype(bool)


# ---- setting


@wire("Setting", "people features prior noise radius response_bound answers_cut smallest_eigenvalue "
      "largest_eigenvalue spectrum_tolerance")
@dataclass(frozen=True, kw_only=True)
class Setting(Declared):
    """The public facts of a regression before anybody answers. The privacy guarantees use only the bounds. The
    guarantees of truthfulness and accuracy use all of these facts.

    Args:
        noise: law G of the residuals, with mean zero, inside [-M, M].

    Example:
        >>> from confide.regression.priors import UniformBall, UniformNoise
        >>> setting = Setting(people=1000, features=2, prior=UniformBall(dimension=2, radius=1.0),
        ...                   noise=UniformNoise(bound=0.5))
        >>> setting.response, setting.ball
        (1.5, 1.25)
    """

    people: Annotated[int, Parameter(
        "number of invited slots, fixed and public; a person who stays away counts as a null record",
                                     symbol="n", at_least=4)]
    features: Annotated[int, Parameter("length of each feature vector; ||x|| <= 1", symbol="d", at_least=1)]
    prior: Annotated[Prior, Parameter("law of the parameter, inside a ball of radius R0", symbol="F")]
    noise: NoiseLaw
    radius: Annotated[float | None, Parameter(
        "radius of the ball for ridge estimates; default 1.25 R0", symbol="R", above=0)] = None
    response_bound: Annotated[float | None, Parameter(
        "bound on |y| at which records are clipped; default R0 + M", symbol="Y", above=0, at_most=32)] = None
    answers_cut: Annotated[bool, Parameter(
        "whether answers that the model allows are cut off, or refused, before they arrive. A Y below R0 + M cuts them "
        "too. If so, no theorem promises truth and accuracy, and their guarantees are vacuous")] = False
    smallest_eigenvalue: Annotated[float | None, Parameter(
        "public lower bound on the spectrum of E[x x']; None for x uniform in the unit ball", symbol="mu",
        above=0)] = None
    largest_eigenvalue: Annotated[float | None, Parameter(
        "public upper bound on the spectrum of E[x x'], if a bound is known", above=0)] = None
    spectrum_tolerance: Annotated[float, Parameter(
        "largest relative deviation of the sample spectrum that the promises cover", symbol="xi", above=0,
        below=1)] = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior.dimension != self.features:
            raise InvalidInput("prior", f"has {counted(self.prior.dimension, 'dimension')}",
                               f"must have {self.features}")
        if self.radius is not None and self.radius < self.parameter_bound:
            raise InvalidInput("radius", f"{self.radius:g} is too small",
                               f"must be at least the parameter bound {self.parameter_bound!r}")
        if self.smallest_eigenvalue is not None:
            positive("smallest_eigenvalue", self.smallest_eigenvalue, at_most=1.0 / self.features)
        elif self.largest_eigenvalue is not None:
            raise InvalidInput("largest_eigenvalue", "is given alone", "give smallest_eigenvalue too")

    @property
    def parameter_bound(self) -> float:
        """The bound R0 on the norm of the true parameter."""
        return float(self.prior.radius)

    @property
    def noise_bound(self) -> float:
        """The bound M on a residual."""
        return float(self.noise.bound)

    @property
    def response(self) -> float:
        """The bound Y on |y|: R0 + M, or `response_bound` if that is smaller."""
        natural = self.parameter_bound + self.noise_bound
        return natural if self.response_bound is None else min(natural, self.response_bound)

    @property
    def cuts(self) -> bool:
        """Whether some honest answers are clipped or refused, so that the model does not describe the answers that the
        mechanism uses.
        """
        return self.answers_cut or self.response < self.parameter_bound + self.noise_bound

    @property
    def ball(self) -> float:
        """The radius R of the ball to which ridge estimates are constrained."""
        return 1.25 * self.parameter_bound if self.radius is None else self.radius

    @property
    def eigenvalue(self) -> float:
        """The least eigenvalue mu of E[x x']."""
        default = smallest_eigenvalue_ball(self.features)
        return default if self.smallest_eigenvalue is None else self.smallest_eigenvalue

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """The assumed eigenvalues of E[x x'], shape (d,), for the prediction of typical errors; no guarantee depends on
        them.

        For x uniform in the ball all eigenvalues are equal. For other laws of x the assumed eigenvalues form a
        geometric progression from the smallest to the largest known eigenvalue, because real features are correlated.
        The sum of the eigenvalues is E||x||^2 <= 1, so the ratio is reduced where the sum would exceed 1. Where no
        largest eigenvalue is known, the ratio is chosen such that the sum is 1/2.
        """
        smallest, largest = self.eigenvalue, self.largest_eigenvalue
        if self.uniform_ball:
            return np.full(self.features, smallest)
        most = 1.0 if largest is not None else 0.5
        low, high = smallest, 1.0 if largest is None else max(smallest, largest)
        if np.geomspace(smallest, high, self.features).sum() > most:
            for _ in range(60):
                middle = (low + high) / 2
                fits = np.geomspace(smallest, middle, self.features).sum() <= most
                low, high = (middle, high) if fits else (low, middle)
            high = low
        return np.geomspace(smallest, high, self.features)

    @property
    def uniform_ball(self) -> bool:
        """Whether x is assumed to be uniform in the unit ball, which is the law in Cummings et al. 2015."""
        return self.smallest_eigenvalue is None

    @property
    def groups(self) -> tuple[int, int]:
        """The sizes of the two groups, n0 = floor(n/2) and n1 = n - n0."""
        return self.people // 2, self.people - self.people // 2

    @property
    def diameter(self) -> float:
        """The diameter D(R, Y): the largest change of half the gradient of the sum of squares when one record is
        replaced, rounded up.
        """
        return diameter(self.ball, self.response)

    @property
    def record_map(self) -> RecordMap:
        """The map that makes any submitted record usable, with the bounds of this setting."""
        return RecordMap(
            parameter_bound=self.parameter_bound, noise_bound=self.noise_bound, response_bound=self.response
        )

    @renamed(rows="people")
    def spectrum(self, people: int) -> Spectrum:
        """Public bounds on the eigenvalues of X'X for the rows of `people` honest people."""
        if self.uniform_ball:
            return Spectrum.uniform_ball(rows=people, dimension=self.features, tolerance=self.spectrum_tolerance)
        return Spectrum(rows=people, dimension=self.features, smallest=self.eigenvalue,
                        largest=self.largest_eigenvalue, tolerance=self.spectrum_tolerance)
