"""Rounding of given noise, a double, to the grid. For simulated and replayed noise; secure noise never is a double."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.privacy.noise.arguments import Points
from confide.privacy.noise.laws import from_grid

__all__ = ["onto_grid"]


def onto_grid(points: Points, noise: NDArray[np.float64], grid: int) -> NDArray[np.float64]:
    """point + noise, rounded to the nearest multiple of 2^-grid; exactly where the points are fractions.

    Args:
        points: flattened center.
        noise: one number for each.
        grid: exponent of the grid.
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
