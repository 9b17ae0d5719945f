"""Checks of the arguments of a draw, which are the same for every source of noise.

Scales, sizes and grids are public, and may be quoted in an error message. Centers are private, and no message repeats
their values.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.remedies import printed

__all__ = [
    "Center",
    "Integers",
    "Points",
    "Stream",
    "StreamName",
    "as_center",
    "as_exact",
    "as_grid",
    "as_inputs",
    "as_integers",
    "as_logits",
    "as_shape",
    "as_stream",
    "as_stretch",
    "as_table",
    "begins_with",
]

StreamName = tuple[str | int, ...]
"""A stream's name in its normal form, which is a tuple: the name "a" becomes the tuple ("a",)."""

Stream = str | StreamName
"""The name of one draw: a word, or a tuple of words and whole numbers such as ("price", 3)."""

Center = ArrayLike | Sequence[Fraction]
"""The numbers to which real-valued noise is added: fractions, or doubles, which are read as the exact dyadic numbers
that they are.
"""

Integers = Sequence[int] | NDArray[np.int64] | NDArray[np.object_]
"""The whole numbers to which noise on the integers is added."""

Points = NDArray[np.float64] | list[Fraction]
"""The numbers to which noise is added, after checks, as a flat array of doubles or a list of fractions."""

_LARGEST = Fraction(sys.float_info.max)
_GRID = 60
_ITEMS = 2**24
_TOTAL = 2**62


def as_stream(stream: Stream) -> StreamName:
    """The normal form of a stream's name, a tuple of words and whole numbers."""
    parts: tuple[object, ...] = stream if isinstance(stream, tuple) else (stream,)
    if not parts:
        raise InvalidInput("stream", "the name is empty", "must be a word or a tuple of words and whole numbers")
    name: list[str | int] = []
    for part in parts:
        if type(part) is int:  # asked first: a run draws thousands of times
            name.append(part)
        elif isinstance(part, str) and part and part.isprintable():
            name.append(str(part))
        elif isinstance(part, bool) or not isinstance(part, Integral):
            raise InvalidInput(
                "stream", f"{part!r} cannot be part of a name", "must be a printable word or a whole number"
            )
        else:
            name.append(int(part))
    return tuple(name)


def begins_with(stream: StreamName, part: str) -> bool:
    """Whether a stream's name begins with the given words.

    Args:
        stream: the stream's name in its normal form.
        part: words with "/" between them; the empty text fits every stream.

    Example:
        >>> begins_with(("release", "gram", 0), "release/gram"), begins_with(("releases",), "release")
        (True, False)
    """
    words = part.split("/") if part else []
    return [str(word) for word in stream[: len(words)]] == words


def as_shape(size: int | tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an array of draws, as a tuple; a single number n becomes (n,)."""
    return tuple(whole("size", axis) for axis in (size if isinstance(size, tuple) else (size,)))


def as_exact(field: str, value: float | Fraction, *, at_most: float = math.inf) -> Fraction:
    """A positive number as an exact rational, within the range of doubles.

    Raises:
        InvalidInput: not a number, not finite, not positive, above `at_most`, or a fraction beyond the doubles.
    """
    if type(value) is float:
        return Fraction(positive(field, value, at_most=at_most))
    if isinstance(value, Rational) and abs(value) > _LARGEST:
        most = printed(min(at_most, sys.float_info.max), up=False, digits=6)
        raise InvalidInput(field, "is too large for a 64-bit float", f"must be in (0, {most}]")
    double = positive(field, value, at_most=at_most)  # this also refuses a fraction so small that it reads as 0
    return Fraction(value) if isinstance(value, Rational) else Fraction(double)


def as_grid(grid: int) -> int:
    """The exponent of a grid 2^-grid, after a check that the exponent is a whole number in 0..60."""
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
    """The numbers to which noise is added, as a flat array or list. Doubles stay doubles, and all other numbers become
    fractions; a missing center becomes zeros.
    """
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
    """The whole numbers to which noise is added, as a flat list of Python integers; None if no center is given."""
    if center is None:
        return None
    numbers = isinstance(center, np.ndarray) and center.dtype.kind in "iu"  # then no entry needs a look
    array = np.asarray(center, dtype=None if numbers else object)
    if array.shape != shape:
        raise InvalidInput("center", f"its shape is {array.shape}", f"must be {shape}")
    flat: list[Any] = array.reshape(-1).tolist()
    if numbers:
        return flat
    if not all(isinstance(value, Integral) and not isinstance(value, bool) for value in flat):
        raise InvalidInput("center", "an entry is not a whole number")
    return [int(value) for value in flat]


def as_stretch(stretch: ArrayLike | None, dimension: int) -> NDArray[np.float64]:
    """The positive factors by which the coordinates of a noise vector are multiplied, shape (dimension,); ones if no
    factors are given.
    """
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


def as_table(table: ArrayLike) -> NDArray[np.int64]:
    """The weights of a finite channel, (m, k) int64, where all rows have the same sum. A single row may be given
    without nesting.
    """
    array = np.asarray(table)
    if array.ndim == 1:
        array = array[None, :]
    if array.ndim != 2 or not array.size or array.dtype.kind not in "iu":
        raise InvalidInput("table", f"an array of shape {array.shape} and type {array.dtype}",
                           "must be whole numbers, one row for each input and one column for each output")
    totals = [sum(row) for row in array.tolist()]
    if array.min() < 0 or not 1 <= totals[0] <= _TOTAL or any(total != totals[0] for total in totals):
        raise InvalidInput("table", "a weight is negative, or the sums of its rows differ or are out of range",
                           "must hold weights >= 0, every row with the same sum in [1, 2^62]")
    return array.astype(np.int64)


def as_inputs(
    inputs: ArrayLike, rows: int, *, field: str = "inputs", kind: str = "a row of the table"
) -> NDArray[np.int64]:
    """The private inputs of a channel as an array of whole numbers in 0..rows - 1, (n,) int64. No error message repeats
    the private numbers.
    """
    try:
        array = np.asarray(inputs)
    except ValueError:  # somebody's entry has another shape than the others
        raise InvalidInput(field, "are not one-dimensional", "must be one-dimensional whole numbers") from None
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):  # booleans: is True the first, or 1?
        raise InvalidInput(field, f"an array of shape {array.shape} and type {array.dtype}",
                           f"must be one-dimensional whole numbers in 0..{rows - 1}, positions in the list of letters"
                           if array.dtype.kind == "b" else "must be one-dimensional whole numbers")
    if array.size and not (array.min() >= 0 and array.max() < rows):
        raise InvalidInput(field, f"an entry is not the number of {kind}", f"each must be in 0..{rows - 1}")
    return array.astype(np.int64)


def as_logits(logits: ArrayLike) -> NDArray[np.float64]:
    """Private logits, (k,) finite doubles. No error message repeats the private logits."""
    try:
        array = np.array(logits, dtype=np.float64)
    except (ValueError, TypeError):
        raise InvalidInput("logits", "is not an array of numbers") from None
    if array.ndim != 1 or not 1 <= array.size <= _ITEMS:
        raise InvalidInput("logits", f"its shape is {array.shape}",
                           f"must be one-dimensional, with 1 to {_ITEMS} items")
    if not np.isfinite(array).all():
        raise InvalidInput("logits", "an entry is not finite")
    return array
