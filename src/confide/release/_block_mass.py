"""Blocks of cells that are laws: uniform at first, scaled to a mass of 1, or made of the exponents of their cells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from confide.numerics.compiled import kernel

__all__ = ["from_exponents", "mass_of", "scale_to_one", "uniform_cells"]

_Floats = NDArray[np.float64]


def uniform_cells(starts: NDArray[np.int64]) -> _Floats:
    """Flat cells of uniform blocks.

    Args:
        starts: (b + 1,) of the blocks.

    Example:
        >>> uniform_cells(np.array([0, 2, 6])).tolist()
        [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    """
    lengths = np.diff(starts)
    return np.repeat(1.0 / lengths, lengths)


@kernel
def mass_of(cells: _Floats, begin: int, end: int) -> float:
    """The sum of a block."""
    mass = 0.0
    for at in range(begin, end):
        mass += cells[at]
    return mass


@kernel
def scale_to_one(cells: _Floats, begin: int, end: int) -> None:
    """Divide a block by its sum."""
    mass = mass_of(cells, begin, end)
    for at in range(begin, end):
        cells[at] /= mass


@kernel
def from_exponents(cells: _Floats, begin: int, end: int) -> None:
    """The law with weights exp(cell), in place; the largest exponent is taken off first."""
    top = cells[begin]
    for at in range(begin, end):
        top = max(top, cells[at])
    for at in range(begin, end):
        cells[at] = math.exp(cells[at] - top)
    scale_to_one(cells, begin, end)
