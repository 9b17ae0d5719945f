"""The public facts of a regression campaign: the numbers of people and features, and the public assumptions about them.

Contents that the billboards of all regressions share: coefficients, and the random groups of participants.
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
        people: n.
        coef: (d,) the coefficients.
        split: bitmap of the random groups, bit i for the participant of index i (numpy.packbits); empty without groups.
    """

    people: int
    coef: np.ndarray
    split: np.ndarray

    def _check(self, **shapes: tuple[int, ...]) -> None:
        """Refuse arrays of other shapes, numbers that are not finite, and a bitmap that is none."""
        whole("people", self.people, at_least=1)
        for name, shape in {"coef": (self.dimension,), **shapes}.items():
            array = getattr(self, name)
            if array.shape != shape or self.dimension < 1:
                raise InvalidInput(f"billboard.{name}", f"shape {array.shape}", f"must be {shape}")
            if name != "split" and not np.isfinite(array).all():
                raise InvalidInput(f"billboard.{name}", "not finite", "must be finite numbers")
        if self.split.dtype != np.uint8:
            raise InvalidInput("billboard.split", f"of type {self.split.dtype}", "must be uint8")

    @property
    def dimension(self) -> int:
        """Number d of coefficients; -1 where they are no vector."""
        return len(self.coef) if self.coef.ndim == 1 else -1

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients, shape (d,), by the name that scikit-learn uses."""
        return self.coef

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predicted responses for (m, d) features, shape (m,), on the scale of the records."""
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.coef)

    def group(self, index: int) -> int:
        """Group of one participant, 0 or 1; 0 without groups."""
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
    """Public facts before anybody answers. Privacy needs only the bounds; truth and accuracy need the rest too.

    Args:
        noise: law G of the residuals, inside [-M, M], mean zero.

    Example:
        >>> from confide.regression.priors import UniformBall, UniformNoise
        >>> setting = Setting(people=1000, features=2, prior=UniformBall(dimension=2, radius=1.0),
        ...                   noise=UniformNoise(bound=0.5))
        >>> setting.response, setting.ball
        (1.5, 1.25)
    """

    people: Annotated[int, Parameter(
        "invited slots, fixed and public; a person who stays away counts as a null record", symbol="n", at_least=4)]
    features: Annotated[int, Parameter("length of each feature vector; ||x|| <= 1", symbol="d", at_least=1)]
    prior: Annotated[Prior, Parameter("law of the parameter, inside a ball of radius R0", symbol="F")]
    noise: NoiseLaw
    radius: Annotated[float | None, Parameter(
        "radius of the ball that ridge estimates are constrained to; default 1.25 R0", symbol="R", above=0)] = None
    response_bound: Annotated[float | None, Parameter(
        "bound on |y| that records are clipped to; default R0 + M", symbol="Y", above=0, at_most=32)] = None
    answers_cut: Annotated[bool, Parameter(
        "whether answers that the model allows are cut off, or refused, before they arrive. A Y below R0 + M cuts them "
        "too. Truth and accuracy are then promised by no theorem: their guarantees are vacuous")] = False
    smallest_eigenvalue: Annotated[float | None, Parameter(
        "public lower bound on the spectrum of E[x x']; None for x uniform in the unit ball", symbol="mu",
        above=0)] = None
    largest_eigenvalue: Annotated[float | None, Parameter(
        "public upper bound on the spectrum of E[x x'], where one is known", above=0)] = None
    spectrum_tolerance: Annotated[float, Parameter(
        "largest relative deviation of the sample spectrum that the promises cover", symbol="xi", above=0,
        below=1)] = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior.dimension != self.features:
            raise InvalidInput("prior", f"{self.prior.dimension} dimensions", f"must have {self.features}")
        if self.radius is not None and self.radius < self.parameter_bound:
            raise InvalidInput("radius", f"{self.radius:g} is too small",
                               f"must be at least the parameter bound {self.parameter_bound!r}")
        if self.smallest_eigenvalue is not None:
            positive("smallest_eigenvalue", self.smallest_eigenvalue, at_most=1.0 / self.features)
        elif self.largest_eigenvalue is not None:
            raise InvalidInput("largest_eigenvalue", "is given alone", "give smallest_eigenvalue too")

    @property
    def parameter_bound(self) -> float:
        """R0, bound on the norm of the true parameter."""
        return float(self.prior.radius)

    @property
    def noise_bound(self) -> float:
        """M, bound on a residual."""
        return float(self.noise.bound)

    @property
    def response(self) -> float:
        """Y, bound on |y|."""
        natural = self.parameter_bound + self.noise_bound
        return natural if self.response_bound is None else min(natural, self.response_bound)

    @property
    def cuts(self) -> bool:
        """Whether some honest answers do not count as given, so that what the model says of them does not hold."""
        return self.answers_cut or self.response < self.parameter_bound + self.noise_bound

    @property
    def ball(self) -> float:
        """R, radius of the ball that ridge estimates are constrained to."""
        return 1.25 * self.parameter_bound if self.radius is None else self.radius

    @property
    def eigenvalue(self) -> float:
        """Least eigenvalue mu of E[x x']."""
        default = smallest_eigenvalue_ball(self.features)
        return default if self.smallest_eigenvalue is None else self.smallest_eigenvalue

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Assumed spectrum of E[x x'] for predictions of a typical error, shape (d,); no promise rests on it.

        From the smallest to the largest that are known, in equal ratios: real features are correlated. Their sum is
        E||x||^2 <= 1: where it would be more, the ratio is smaller, and where no largest one is known, it is such that
        the sum is 1/2. All alike for x uniform in the ball.
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
        """True when x is taken to be uniform in the unit ball, the source's law."""
        return self.smallest_eigenvalue is None

    @property
    def groups(self) -> tuple[int, int]:
        """Sizes of the groups, n0 = floor(n/2) and n1 = n - n0."""
        return self.people // 2, self.people - self.people // 2

    @property
    def diameter(self) -> float:
        """D(R, Y): what replacing one record can do to half the gradient; `noise_scale` rounds it up."""
        return diameter(self.ball, self.response)

    @property
    def record_map(self) -> RecordMap:
        """The total per-record map of this setting."""
        return RecordMap(
            parameter_bound=self.parameter_bound, noise_bound=self.noise_bound, response_bound=self.response
        )

    @renamed(rows="people")
    def spectrum(self, people: int) -> Spectrum:
        """Public bounds on the spectrum of X'X of this many honest people's rows."""
        if self.uniform_ball:
            return Spectrum.uniform_ball(rows=people, dimension=self.features, tolerance=self.spectrum_tolerance)
        return Spectrum(rows=people, dimension=self.features, smallest=self.eigenvalue,
                        largest=self.largest_eigenvalue, tolerance=self.spectrum_tolerance)
