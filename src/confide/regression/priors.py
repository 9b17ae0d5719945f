"""The public laws on which payments depend: laws of the parameter, and laws of the noise in a true response.

The laws are fixed before any record is seen. A parameter law has a `dimension` and a `radius` that bounds the
parameter. A noise law has mean zero and bounded support. The laws draw no random numbers themselves: the methods
`from_...` turn given uniform or normal numbers into draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Protocol, runtime_checkable

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import non_negative, positive
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.probabilities import as_probabilities
from confide.contract.renamed import renamed
from confide.contract.wire import wire

__all__ = [
    "Atoms",
    "GaussianBall",
    "Isotropic",
    "NoiseLaw",
    "Prior",
    "SampledPrior",
    "TabulatedNoise",
    "TruncatedGaussianNoise",
    "UniformBall",
    "UniformBox",
    "UniformNoise",
    "UniformSphere",
    "parameters",
]

Array = NDArray[np.float64]

_DIMENSION = Parameter("length of the parameter", symbol="d", at_least=1)
_RADIUS = Parameter("bound on the length of the parameter", symbol="R0", above=0)
_REACH = Parameter("bound on a residual", symbol="M", above=0)


@runtime_checkable
class NoiseLaw(Protocol):
    """A law of the noise z = y - x'theta with mean zero and a positive density on an interval."""

    @property
    def bound(self) -> float:
        """The bound M on the noise: |z| <= M."""

    @property
    def breaks(self) -> Array:
        """The ends of the support, and the points between pieces with a smooth log-concave density, in rising order."""

    @property
    def variance(self) -> float:
        """The variance E[z^2] of the noise."""

    @property
    def log_concave(self) -> bool:
        """Whether the density is log-concave, so that a player's prediction never falls when their response rises."""

    def log_density(self, z: ArrayLike) -> Array:
        """Logarithm of the density, elementwise; -inf outside the support."""

    def log_slope(self, z: ArrayLike) -> Array:
        """Derivative of the log density inside the support, elementwise; at a kink, the derivative from one of the two
        sides.
        """

    def from_uniforms(self, uniforms: ArrayLike) -> Array:
        """The quantile function, elementwise on [0, 1]."""


@wire("UniformBall", "dimension radius")
@dataclass(frozen=True)
class UniformBall(Declared):
    """The law of a parameter that is uniform in the ball of a given radius."""

    dimension: Annotated[int, _DIMENSION]
    radius: Annotated[float, _RADIUS]

    @property
    def second_moment(self) -> float:
        """The mean squared length E||theta||^2 of the parameter."""
        return self.radius**2 * self.dimension / (self.dimension + 2)

    def from_normals(self, normals: ArrayLike, uniforms: ArrayLike) -> Array:
        """Draws (n, d), made from standard normals (n, d) for the directions and uniforms (n,) for the lengths."""
        return _along(normals, self.radius * np.asarray(uniforms, np.float64) ** (1 / self.dimension))


@wire("UniformSphere", "dimension radius")
@dataclass(frozen=True)
class UniformSphere(Declared):
    """The law of a parameter that is uniform on the sphere of a given radius, so that the length of the parameter is
    known and its direction is unknown.

    In one dimension the parameter is -radius or radius.
    """

    dimension: Annotated[int, _DIMENSION]
    radius: Annotated[float, _RADIUS]

    @property
    def second_moment(self) -> float:
        """The mean squared length E||theta||^2 of the parameter."""
        return self.radius**2

    def from_normals(self, normals: ArrayLike, uniforms: ArrayLike) -> Array:
        """Draws (n, d), made from standard normals (n, d); the uniforms (n,) are not used."""
        return _along(normals, np.full(len(np.asarray(uniforms)), self.radius))


@wire("GaussianBall", "dimension deviation radius", std="deviation")
@renamed(deviation="std")
@dataclass(frozen=True)
class GaussianBall(Declared):
    """The law of a parameter with independent centred Gaussian coordinates, conditioned on the ball of a given radius.

    Example:
        >>> round(GaussianBall(3, std=0.1, radius=1.0).second_moment, 9)  # truncation has almost no effect
        0.03
        >>> round(GaussianBall(3, std=1e6, radius=1.0).second_moment, 9)  # almost uniform in the ball
        0.6
    """

    dimension: Annotated[int, _DIMENSION]
    std: Annotated[float, Parameter(
        "standard deviation of a coordinate before the cut", symbol="tau", above=0)]
    radius: Annotated[float, _RADIUS]

    @property
    def concentration(self) -> float:
        """The concentration (R0/tau)^2: for a concentration near 0 the law is almost uniform in the ball, and for a
        concentration far above d the truncation has almost no effect.
        """
        return min((self.radius / self.std) * (self.radius / self.std), 1e300)

    @property
    def second_moment(self) -> float:
        """The mean squared length E||theta||^2 = tau^2 d P(chi2_(d+2) <= c)/P(chi2_d <= c), where c is the
        concentration.
        """
        d, c = self.dimension, self.concentration
        below = scipy.special.gammainc(d / 2, c / 2)
        if below > 1e-3:
            return float(self.std**2 * d * scipy.special.gammainc(d / 2 + 1, c / 2) / below)
        # Both probabilities by their series, z^a e^-z 1F1(1, a + 1, z)/Gamma(a + 1), so that nothing underflows.
        ratio = scipy.special.hyp1f1(1.0, d / 2 + 2, c / 2) / scipy.special.hyp1f1(1.0, d / 2 + 1, c / 2)
        return float(self.radius**2 * d / (d + 2) * ratio)

    def from_normals(self, normals: ArrayLike, uniforms: ArrayLike) -> Array:
        """Draws (n, d), made from standard normals (n, d) for the directions and uniforms (n,) for the lengths."""
        half, most = self.dimension / 2, self.concentration / 2
        share = np.asarray(uniforms, np.float64)
        whole_mass = scipy.special.gammainc(half, most)
        with np.errstate(all="ignore"):
            lengths = self.std * np.sqrt(2 * scipy.special.gammaincinv(half, share * whole_mass))
        if not whole_mass > 1e-290:  # the Gaussian is flat inside the ball
            lengths = self.radius * share ** (1 / self.dimension)
        return _along(normals, np.minimum(lengths, self.radius))


@wire("UniformBox", "half_widths")
@dataclass(frozen=True, eq=False)
class UniformBox:
    """The law of a parameter that is uniform in a box around 0: independent coordinates, each with its own public
    bound.

    Args:
        half_widths: (d,) positive half-widths; coordinate k of theta is uniform on [-half_widths[k], half_widths[k]].

    Example:
        >>> UniformBox([3.0, 4.0]).radius
        5.0
    """

    half_widths: Array

    def __post_init__(self) -> None:
        widths = _frozen(self.half_widths)
        if widths.ndim != 1 or not widths.size or not (np.all(np.isfinite(widths)) and np.all(widths > 0)):
            raise InvalidInput("half_widths", "cannot be used", "must be one positive finite number per coordinate")
        object.__setattr__(self, "half_widths", widths)

    @property
    def dimension(self) -> int:
        return len(self.half_widths)

    @property
    def radius(self) -> float:
        """The bound R0 on the norm of the parameter, which is the distance of the corners from 0."""
        return math.hypot(*self.half_widths.tolist())

    @property
    def second_moment(self) -> float:
        """The mean squared length E||theta||^2 of the parameter."""
        return math.fsum(self.half_widths**2) / 3

    @property
    def uniforms(self) -> int:
        """Number of uniform numbers for one draw."""
        return self.dimension

    def from_uniforms(self, uniforms: ArrayLike) -> Array:
        """Draws (n, d), made from uniforms (n, d)."""
        return np.asarray(self.half_widths * (2 * np.asarray(uniforms, np.float64) - 1))


def _along(normals: ArrayLike, lengths: Array) -> Array:
    """Vectors of the given lengths in the directions of the given normal vectors."""
    directions = np.asarray(normals, np.float64)
    norms = np.sqrt(np.sum(directions * directions, axis=1))
    return np.asarray(directions * (lengths / norms)[:, None])


def _frozen(values: ArrayLike) -> Array:
    array = np.array(values, np.float64, order="C")
    array.flags.writeable = False
    return array


def _checked_points(points: ArrayLike, radius: float) -> tuple[Array, float]:
    array = _frozen(points)
    if array.ndim != 2 or not array.size or not np.all(np.isfinite(array)):
        raise InvalidInput("points", "cannot be used", "must be a finite array of shape (number, dimension)")
    longest = float(np.sqrt(np.max(np.sum(array * array, axis=1))))
    bound = non_negative("radius", radius) or longest
    if bound <= 0:
        raise InvalidInput("points", "are all 0, and no radius is given", "give a radius above 0")
    if longest > bound * (1 + 1e-12):
        raise InvalidInput("points", f"reach {longest:.6g}", f"must lie within the radius, {bound:.6g}")
    return array, bound


@wire("Atoms", "points weights radius")
@dataclass(frozen=True, eq=False)
class Atoms:
    """The law of a parameter that is one of finitely many points.

    Args:
        points: (k, d) possible parameters.
        weights: (k,) probabilities of the points, positive, with sum 1 within 1e-9.
        radius: bound R0 on the norm of every point; 0 stands for the largest norm.
    """

    points: Array
    weights: Array
    radius: float = 0.0

    def __post_init__(self) -> None:
        points, radius = _checked_points(self.points, self.radius)
        weights = _frozen(as_probabilities(self.weights))
        if weights.shape != points.shape[:1] or not np.all(weights > 0) or not abs(float(weights.sum()) - 1) <= 1e-9:
            raise InvalidInput("weights", "cannot be used", "must be one positive probability per point, of sum 1")
        for name, value in (("points", points), ("weights", weights), ("radius", radius)):
            object.__setattr__(self, name, value)

    @property
    def dimension(self) -> int:
        return int(self.points.shape[1])

    @property
    def second_moment(self) -> float:
        """The mean squared length E||theta||^2 of the parameter."""
        return float(self.weights @ np.sum(self.points**2, axis=1))

    @property
    def uniforms(self) -> int:
        """Number of uniform numbers for one draw."""
        return 1

    def from_uniforms(self, uniforms: ArrayLike) -> Array:
        """Draws (n, d), made from uniforms (n,)."""
        steps = np.cumsum(self.weights)[:-1]
        return np.asarray(self.points[np.searchsorted(steps, np.asarray(uniforms, np.float64), side="right")])


@wire("SampledPrior", "points radius")
@dataclass(frozen=True, eq=False)
class SampledPrior:
    """Any law of the parameter, represented by a public sample that was drawn independently of the data; 2^14 points
    are a good size.

    Args:
        points: (k, d) sampled parameters, equally weighted.
        radius: bound R0 on the norm of every point; 0 stands for the largest norm.
    """

    points: Array
    radius: float = 0.0

    def __post_init__(self) -> None:
        points, radius = _checked_points(self.points, self.radius)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "radius", radius)

    @property
    def dimension(self) -> int:
        return int(self.points.shape[1])

    @property
    def weights(self) -> Array:
        """The equal probabilities of the points, shape (k,)."""
        return np.full(len(self.points), 1 / len(self.points))

    @property
    def second_moment(self) -> float:
        """The mean squared length E||theta||^2 of the parameter over the sample."""
        return float(np.mean(np.sum(self.points**2, axis=1)))

    @property
    def uniforms(self) -> int:
        """Number of uniform numbers for one draw."""
        return 1

    def from_uniforms(self, uniforms: ArrayLike) -> Array:
        """Draws (n, d), made from uniforms (n,) in [0, 1)."""
        return np.asarray(self.points[(np.asarray(uniforms, np.float64) * len(self.points)).astype(np.int64)])


Isotropic = UniformBall | UniformSphere | GaussianBall
"""The laws of the parameter that are invariant under rotations."""

Prior = UniformBall | UniformSphere | GaussianBall | UniformBox | Atoms | SampledPrior
"""All laws of the parameter."""


def parameters(prior: Prior, normals: ArrayLike, uniforms: ArrayLike) -> Array:
    """Draws (n, d) from any law of the parameter, made from standard normals (n, d) and uniforms (n,)."""
    if isinstance(prior, Isotropic):
        return prior.from_normals(normals, uniforms)
    return prior.from_uniforms(scipy.special.ndtr(normals) if isinstance(prior, UniformBox) else uniforms)


class _OnePiece:
    """Base of noise laws with support [-bound, bound] and a log-concave density."""

    bound: float

    @property
    def breaks(self) -> Array:
        return np.array([-self.bound, self.bound])

    @property
    def log_concave(self) -> bool:
        return True

    def _inside(self, z: Array, values: ArrayLike) -> Array:
        return np.where(np.abs(z) <= self.bound, values, -np.inf)


@wire("UniformNoise", "bound")
@dataclass(frozen=True)
class UniformNoise(Declared, _OnePiece):
    """The law of residuals that are uniform on [-bound, bound]."""

    bound: Annotated[float, _REACH]

    @property
    def variance(self) -> float:
        return self.bound**2 / 3

    def log_density(self, z: ArrayLike) -> Array:
        return self._inside(np.asarray(z, np.float64), -math.log(2 * self.bound))

    def log_slope(self, z: ArrayLike) -> Array:
        return np.zeros_like(z, np.float64)

    def from_uniforms(self, uniforms: ArrayLike) -> Array:
        return np.asarray(self.bound * (2 * np.asarray(uniforms, np.float64) - 1))


@wire("TruncatedGaussianNoise", "sigma bound", noise_std="sigma")
@renamed(sigma="noise_std")
@dataclass(frozen=True)
class TruncatedGaussianNoise(Declared, _OnePiece):
    """The law of residuals that are centred Gaussian, conditioned on |z| <= bound."""

    noise_std: Annotated[float, Parameter("standard deviation before truncation", above=0)]
    bound: Annotated[float, _REACH]

    @property
    def variance(self) -> float:
        # Ratio of chi-square probabilities with 3 and 1 degrees of freedom: no cancellation, however flat the density.
        square = (self.bound / self.noise_std) ** 2 / 2
        if square < 1e-12:
            return self.bound**2 / 3
        return float(self.noise_std**2 * scipy.special.gammainc(1.5, square) / scipy.special.gammainc(0.5, square))

    def log_density(self, z: ArrayLike) -> Array:
        values = np.asarray(z, np.float64)
        mass = scipy.special.erf(self.bound / (self.noise_std * math.sqrt(2)))
        constant = math.log(self.noise_std * math.sqrt(2 * math.pi) * mass)
        return self._inside(values, -((values / self.noise_std) ** 2) / 2 - constant)

    def log_slope(self, z: ArrayLike) -> Array:
        return np.asarray(-np.asarray(z, np.float64) / self.noise_std**2)

    def from_uniforms(self, uniforms: ArrayLike) -> Array:
        mass = scipy.special.erf(self.bound / (self.noise_std * math.sqrt(2)))
        spread = scipy.special.erfinv((2 * np.asarray(uniforms, np.float64) - 1) * mass)
        return np.asarray(np.clip(self.noise_std * math.sqrt(2) * spread, -self.bound, self.bound))


@wire("TabulatedNoise", "grid density")
@dataclass(frozen=True, eq=False)
class TabulatedNoise:
    """A law of noise with a density that is given at grid points and linear between them.

    Args:
        grid: (k,) points in rising order, k >= 2; the density is zero outside the range of these points.
        density: (k,) positive values, except at the two ends, where zero is allowed; the integral must be 1 within 1e-6
            and is then rescaled.

    A density with a mean that differs from zero by more than 1e-9 is refused.

    Example:
        >>> round(TabulatedNoise.triangular(0.5).variance, 9)
        0.041666667
    """

    grid: Array
    density: Array

    @classmethod
    def triangular(cls, bound: float) -> TabulatedNoise:
        """The triangular density (bound - |z|) / bound^2. The sum of two independent errors with the same uniform law
        has this density, which is log-concave.
        """
        reach = positive("bound", bound)
        return cls(grid=np.array([-reach, 0.0, reach]), density=np.array([0.0, 1 / reach, 0.0]))

    def __post_init__(self) -> None:
        grid, density = _frozen(self.grid), _frozen(self.density)
        if grid.ndim != 1 or grid.size < 2 or not np.all(np.isfinite(grid)) or not np.all(np.diff(grid) > 0):
            raise InvalidInput("grid", "cannot be used", "must be at least two rising finite numbers")
        if density.shape != grid.shape or not (np.all(density[1:-1] > 0) and np.all(density >= 0)):
            raise InvalidInput("density", "cannot be used",
                               "must be one number per grid point, positive except possibly at the ends")
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "density", density)
        if not abs(self._total - 1) <= 1e-6:
            raise InvalidInput("density", f"integrates to {self._total:.9g}", "must integrate to 1 within 1e-6")
        mean = self._moment(1)
        if not abs(mean) <= 1e-9:
            raise InvalidInput("density", f"has mean {mean:.3g}", "the noise must have mean zero within 1e-9")

    def _simpson(self, power: int) -> Array:
        # z^2 times a linear density is a cubic on each piece, for which Simpson's rule is exact.
        left, right = self.grid[:-1], self.grid[1:]
        ends = self.density[:-1] * left**power + self.density[1:] * right**power
        middle = (self.density[:-1] + self.density[1:]) / 2 * ((left + right) / 2) ** power
        return np.asarray((right - left) * (ends + 4 * middle) / 6)

    @cached_property
    def _total(self) -> float:
        return math.fsum(self._simpson(0))

    def _moment(self, power: int) -> float:
        return math.fsum(self._simpson(power)) / self._total

    @property
    def bound(self) -> float:
        return float(max(-self.grid[0], self.grid[-1]))

    @property
    def breaks(self) -> Array:
        return self.grid

    @property
    def variance(self) -> float:
        return self._moment(2)

    @cached_property
    def log_concave(self) -> bool:
        # On a piece the logarithm of a linear function is concave; at a knot it is if the slope does not rise.
        slopes = np.diff(self.density) / np.diff(self.grid)
        return bool(np.all(np.diff(slopes) <= 1e-12 * np.max(np.abs(slopes), initial=1.0)))

    def log_density(self, z: ArrayLike) -> Array:
        values = np.asarray(z, np.float64)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.interp(values, self.grid, self.density, 0.0, 0.0) / self._total))

    def log_slope(self, z: ArrayLike) -> Array:
        values = np.asarray(z, np.float64)
        piece = np.clip(np.searchsorted(self.grid, values, side="right") - 1, 0, self.grid.size - 2)
        slopes = (np.diff(self.density) / np.diff(self.grid))[piece]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(slopes / np.interp(values, self.grid, self.density))

    def from_uniforms(self, uniforms: ArrayLike) -> Array:
        masses = self._simpson(0) / self._total
        starts = np.concatenate(([0.0], np.cumsum(masses)))
        values = np.clip(np.asarray(uniforms, np.float64), 0.0, 1.0)
        piece = np.clip(np.searchsorted(starts, values, side="right") - 1, 0, masses.size - 1)
        height = self.density / self._total
        left, width, rest = height[piece], np.diff(self.grid)[piece], np.maximum(values - starts[piece], 0.0)
        rise = (height[piece + 1] - left) / width
        # Root of left s + rise s^2 / 2 = rest, in the form that does not cancel.
        root = np.sqrt(np.maximum(left * left + 2 * rise * rest, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(rest > 0, 2 * rest / (left + root), 0.0)
        return np.asarray(self.grid[piece] + np.clip(step, 0.0, width))
