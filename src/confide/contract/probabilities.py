"""Conversion of probabilities that users supply. A number of 16 or 32 bits counts as the decimal that it was rounded
from.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_probabilities"]

_WRITTEN = 1 << 20
"""Largest number of values that are converted through their decimals. The conversion takes a microsecond for each
value.
"""


def as_probabilities(values: Any, *, axis: int = -1) -> NDArray[np.float64]:
    """Convert probabilities to a new array of doubles. The caller has to check the range and the sum of the doubles.

    A number of 16 or 32 bits counts as the shortest decimal that gives it: 0.1 instead of 0.10000000149. If the sum
    still differs from 1 by no more than the rounding to 16 or 32 bits explains, the numbers are divided by their sum.
    Doubles are unchanged, because doubles can be written so that they sum to 1.

    Args:
        values: an array, a frame or a column of numbers, or nested lists of them.
        axis: the axis along which the numbers are meant to sum to 1.

    Raises:
        TypeError: the values are no numbers.
        ValueError: the values are no numbers, or rows have different lengths.

    Example:
        >>> as_probabilities(np.array([0.2, 0.3, 0.5], np.float32)).tolist()
        [0.2, 0.3, 0.5]
        >>> third = as_probabilities(np.full(3, 1 / 3, np.float32))
        >>> abs(float(third.sum()) - 1.0) < 1e-15
        True
    """
    given = np.asarray(values)
    given = given.astype(given.dtype.newbyteorder("="), copy=False)  # the bytes of a file's numbers may stand otherwise
    if given.dtype.kind == "c":
        raise TypeError("complex numbers are not probabilities")
    if isinstance(values, list | tuple) and given.dtype == np.float64:
        given = np.asarray(values, dtype=object)  # which of them are of fewer bits
    narrow = [each for each in (np.float16, np.float32) if given.dtype == each
              or (given.dtype == object and any(isinstance(number, each) for number in given.flat))]
    if not narrow:
        return np.array(given, dtype=np.float64)
    found = np.array(given, dtype=np.float64)
    if given.size <= _WRITTEN:
        found = np.array([float(str(number)) if isinstance(number, np.floating) else float(number)
                          for number in given.flat]).reshape(given.shape)
    if found.ndim and found.shape[axis]:
        sums = found.sum(axis=axis, keepdims=True)
        slack = float(np.finfo(narrow[0]).eps) * (4.0 + math.sqrt(found.shape[axis]))
        off = np.abs(sums - 1.0)
        found = found / np.where((off <= slack) & (off > 1e-15), sums, 1.0)
    return found
