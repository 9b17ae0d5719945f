"""Blocks of cells that are laws: uniform at first, scaled to a mass of 1, or made of the exponents of their cells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from confide.numerics.compiled import kernel

__all__ = ["from_exponents", "lacking", "mass_of", "scale_to_one", "uniform_cells"]

_Floats = NDArray[np.float64]
_FARTHEST = 600.0  # exponents whose factors are doubles


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


@kernel
def lacking(target: float, inside: float, outside: float, close: float) -> float:
    """What to add to the exponent of a query so that a side of it which has all but vanished is measured again; or 0.

    A residual r multiplies the side that is too small by e^(|r|/2) in each pass. Where that changes the answer by less
    than shows, it looks like an end, and takes longer than all passes. It gets what was measured, half at most.

    Args:
        target: of the answer.
        inside: the answer.
        outside: 1 less that, of full accuracy where it is small, as `inside` is.
        close: smaller changes do not show.
    """
    residual = target - inside
    small = inside if residual > 0.0 else outside
    if small <= 0.0 or abs(residual) <= close or small * math.expm1(abs(residual) / 2.0) >= close:
        return 0.0
    wanted = min(target if residual > 0.0 else 1.0 - target, 0.5)
    more = min(math.log(wanted / (1.0 - wanted)) - math.log(small), _FARTHEST)
    return more if residual > 0.0 else -more
