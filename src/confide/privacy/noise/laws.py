"""Real-valued noise, rounded exactly to a grid: Laplace, Gaussian, and vectors with density proportional to
exp(-||v||/scale).

Each law is a formula in independent uniforms, evaluated in balls; `balls` explains how the rounding is decided.

The module also rounds noise that is given as doubles to the grid, for simulated and replayed noise. Secure noise is
never a double.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.privacy.noise.arguments import Points
from confide.privacy.noise.balls import independent, magnitude, offsets, rounded, starting_bits
from confide.privacy.noise.entropy import Entropy

__all__ = ["from_grid", "gaussian", "laplace", "onto_grid", "vector_laplace"]

# ---- laws


def from_grid(integers: Sequence[int], grid: int) -> NDArray[np.float64]:
    """Multiples of 2^-grid as doubles. Up to 2^53 units of 2^-grid a multiple is exact; a larger multiple becomes the
    nearest double.

    A number that overflows becomes the largest double, because an error would reveal where the center lies.
    """
    unit = 1 << grid

    def double(multiple: int) -> float:
        try:
            return multiple / unit
        except OverflowError:
            return sys.float_info.max if multiple > 0 else -sys.float_info.max

    return np.array([double(multiple) for multiple in integers], dtype=np.float64)


def _rational(value: Fraction) -> Any:
    from flint import fmpq

    return fmpq(value.numerator, value.denominator)


def _pairs(uniforms: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(uniforms[::2], uniforms[1::2], strict=True)


def _normals(uniforms: Sequence[Any]) -> list[Any]:
    """Independent standard normals, one for each of the given uniforms (Box and Muller). The number of uniforms must be
    even.
    """
    normals = []
    for first, second in _pairs(uniforms):
        radius = (-2 * first.log()).sqrt()
        sine, cosine = (2 * second).sin_cos_pi()
        normals += [radius * cosine, radius * sine]
    return normals


def laplace(scale: Fraction, points: Points, grid: int, entropy: Entropy) -> NDArray[np.float64]:
    """Exact roundings of point + Laplace(scale). The noise is the difference of two exponentials, scale * ln(u1/u2)."""
    factor = _rational(scale * 2**grid)

    def law(uniforms: Sequence[Any]) -> list[Any]:
        return [(first / second).log() * factor for first, second in _pairs(uniforms)]

    bits = starting_bits(magnitude(scale) + grid, 1)
    integers = independent(law, offsets(points, grid), uniforms=2, values=1, bits=bits, entropy=entropy)
    return from_grid(integers, grid)


def gaussian(sigma: Fraction, points: Points, grid: int, entropy: Entropy) -> NDArray[np.float64]:
    """Exact roundings of point + N(0, sigma^2)."""
    factor = _rational(sigma * 2**grid)

    def law(uniforms: Sequence[Any]) -> list[Any]:
        return [normal * factor for normal in _normals(uniforms)]

    bits = starting_bits(magnitude(sigma) + grid, 1)
    integers = independent(law, offsets(points, grid), uniforms=2, values=2, bits=bits, entropy=entropy)
    return from_grid(integers, grid)


def vector_laplace(
    scale: Fraction, points: Points, stretch: NDArray[np.float64], grid: int, entropy: Entropy
) -> NDArray[np.float64]:
    """Exact roundings of point_k + stretch_k v_k, where the vector v has density proportional to exp(-||v||_2/scale).

    The radius ||v|| is Gamma(d, scale), drawn as -scale times the log of a product of d uniforms. The direction is
    uniform: a standard normal vector divided by its length.

    Source: spec truthful_regression 4.4.
    """
    dimension = len(points)
    unit = _rational(scale * 2**grid)
    factors = stretch.tolist()  # doubles, which arb reads exactly
    plain = bool((stretch == 1.0).all())

    def law(uniforms: Sequence[Any]) -> list[Any]:
        product = reduce(mul, uniforms[:dimension])
        normals = _normals(uniforms[dimension:])[:dimension]
        length = -unit * product.log() / reduce(add, [normal * normal for normal in normals]).sqrt()
        vector = [normal * length for normal in normals]
        return vector if plain else list(map(mul, vector, factors))

    size = magnitude(scale) + grid + dimension.bit_length()
    spreads = [size + magnitude(Fraction(factor)) for factor in (stretch.min(), stretch.max())]
    bits = starting_bits(max(spreads, key=abs), dimension)
    count = dimension + 2 * ((dimension + 1) // 2)
    return from_grid(rounded(law, offsets(points, grid), uniforms=count, bits=bits, entropy=entropy), grid)


# ---- rounding


def onto_grid(points: Points, noise: NDArray[np.float64], grid: int) -> NDArray[np.float64]:
    """The sum point + noise, rounded to the nearest multiple of 2^-grid. The sum is exact if the points are fractions.

    Args:
        points: the numbers to which the noise is added, as a flat array or list.
        noise: the noise, one number for each point.
        grid: exponent of the grid 2^-grid.
    """
    largest = sys.float_info.max
    noise = np.minimum(np.maximum(noise, -largest), largest)  # half the time of `clip`, which is long for a few
    if not isinstance(points, np.ndarray):
        unit = 2**grid
        exact = (point + Fraction(value) for point, value in zip(points, noise.tolist(), strict=True))
        return from_grid([round(value * unit) for value in exact], grid)
    with np.errstate(over="ignore"):
        sums = np.minimum(np.maximum(points + noise, -largest), largest)
    fine = np.abs(sums) < 2.0 ** (53 - grid)  # any double beyond is a multiple of the grid already
    rounded = np.ldexp(np.rint(np.ldexp(np.where(fine, sums, 0.0), grid)), -grid)
    return np.where(fine, rounded, sums) + 0.0  # no negative zeros
