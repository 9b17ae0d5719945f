"""Checks of what a draw is asked for; the same for every source of noise.

Scales, sizes and grids are public and may be quoted in a message. Centers are not: no message says what they hold.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral, Rational

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput

__all__ = [
    "Center",
    "Integers",
    "Points",
    "Stream",
    "StreamName",
    "as_center",
    "as_exact",
    "as_grid",
    "as_integers",
    "as_shape",
    "as_stream",
    "as_stretch",
]

StreamName = tuple[str | int, ...]
"""A stream's name in its normal form: a tuple; the name "a" is the tuple ("a",)."""

Stream = str | StreamName
"""What names one draw: a word, or a tuple of words and whole numbers such as ("price", 3)."""

Center = ArrayLike | Sequence[Fraction]
"""What real-valued noise is added to: doubles, read as the exact dyadic numbers that they are, or fractions."""

Integers = Sequence[int] | NDArray[np.int64] | NDArray[np.object_]
"""What noise on the integers is added to."""

Points = NDArray[np.float64] | list[Fraction]
"""A checked center, flattened."""

_LARGEST = Fraction(sys.float_info.max)
_GRID = 60


def as_stream(stream: Stream) -> StreamName:
    """The normal form of a stream's name."""
    parts: tuple[object, ...] = stream if isinstance(stream, tuple) else (stream,)
    if not parts:
        raise InvalidInput("stream", "the name is empty", "must be a word or a tuple of words and whole numbers")
    name: list[str | int] = []
    for part in parts:
        if isinstance(part, str) and part and part.isprintable():
            name.append(str(part))
        elif isinstance(part, bool) or not isinstance(part, Integral):
            raise InvalidInput(
                "stream", f"{part!r} cannot be part of a name", "must be a printable word or a whole number"
            )
        else:
            name.append(int(part))
    return tuple(name)


def as_shape(size: int | tuple[int, ...]) -> tuple[int, ...]:
    """A size as a tuple."""
    return tuple(whole("size", axis) for axis in (size if isinstance(size, tuple) else (size,)))


def as_exact(field: str, value: float | Fraction, *, at_most: float = math.inf) -> Fraction:
    """A positive number as the exact rational that it is, within the range of doubles.

    Raises:
        InvalidInput: not a number, not finite, not positive, above `at_most`, or a fraction beyond the doubles.
    """
    if isinstance(value, Rational) and abs(value) > _LARGEST:
        raise InvalidInput(field, "is beyond the doubles", f"must be in (0, {min(at_most, sys.float_info.max):g}]")
    double = positive(field, value, at_most=at_most)  # this also refuses a fraction so small that it reads as 0
    return Fraction(value) if isinstance(value, Rational) else Fraction(double)


def as_grid(grid: int) -> int:
    """The exponent of a grid 2^-grid."""
    grid = whole("grid", grid)
    if grid > _GRID:
        raise InvalidInput("grid", f"{grid} is too fine", f"must be at most {_GRID}")
    return grid


def _fraction(value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (Rational, float)):
        raise InvalidInput("center", "an entry is not a number", "must be doubles or Fractions")
    if not isinstance(value, Rational) and not math.isfinite(value):
        raise InvalidInput("center", "an entry is not finite")
    return Fraction(value)


def as_center(center: Center | None, shape: tuple[int, ...]) -> Points:
    """A center, flattened: doubles stay doubles, everything else becomes fractions; none at all means zeros."""
    if center is None:
        return np.zeros(math.prod(shape))
    try:
        array = np.asarray(center)
    except (ValueError, TypeError):
        raise InvalidInput("center", "is not an array of numbers") from None
    if array.shape != shape:
        raise InvalidInput("center", f"its shape is {array.shape}", f"must be {shape}")
    flat = array.reshape(-1)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        doubles: NDArray[np.float64] = flat.astype(np.float64)  # exact, and a copy of its own
        if not np.isfinite(doubles).all():
            raise InvalidInput("center", "an entry is not finite")
        return doubles
    if array.dtype.kind not in "iuO":
        raise InvalidInput("center", f"entries of type {array.dtype} cannot be used", "must be doubles or Fractions")
    return [_fraction(value) for value in flat.tolist()]


def as_integers(center: Integers | None, shape: tuple[int, ...]) -> list[int] | None:
    """An integer center, flattened, as Python integers; None where there is none."""
    if center is None:
        return None
    array = np.asarray(center, dtype=object)
    if array.shape != shape:
        raise InvalidInput("center", f"its shape is {array.shape}", f"must be {shape}")
    flat = array.reshape(-1).tolist()
    if not all(isinstance(value, Integral) and not isinstance(value, bool) for value in flat):
        raise InvalidInput("center", "an entry is not a whole number")
    return [int(value) for value in flat]


def as_stretch(stretch: ArrayLike | None, dimension: int) -> NDArray[np.float64]:
    """Positive factors, one per coordinate; ones where none are given."""
    if stretch is None:
        return np.ones(dimension)
    try:
        factors = np.array(stretch, dtype=np.float64)
    except (ValueError, TypeError):
        raise InvalidInput("stretch", "is not an array of numbers") from None
    if factors.shape != (dimension,):
        raise InvalidInput("stretch", f"its shape is {factors.shape}", f"must be ({dimension},)")
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise InvalidInput("stretch", "an entry is not positive and finite")
    return factors
