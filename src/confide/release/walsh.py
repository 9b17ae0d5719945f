"""Histograms over {0,1}^d: every conjunction and parity of one from a single fast Walsh-Hadamard transform, in place.

A cell is a record as an integer: attribute i is its bit i. The transform F[S] = sum_x A(x) (-1)^(ones of x in S) holds
all parities. A conjunction of r literals is 2^-r times a signed sum of 2^r of them, so k queries take O(d 2^d + 2^r k)
and not k scans of the histogram.

Several histograms, of attributes that no query joins, lie one after the other in one flat array.

Source: spec query_release C and E3 (with the sign that the print lacks).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["conjunction_sums", "cube_scale", "cube_sum", "parity_sums", "transform"]

_Compiled = TypeVar("_Compiled", bound=Callable[..., Any])
_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_TILE = 1 << 12  # doubles that stay in the fastest cache while the short strides are done


def _compiled(function: _Compiled) -> _Compiled:
    return cast("_Compiled", njit(cache=True, nogil=True)(function))


@_compiled
def _strides(values: _Floats, begin: int, end: int, first: int, last: int) -> None:
    """Butterflies of the strides first, 2 first, ... below last, within [begin, end)."""
    step = first
    while step < last:
        for block in range(begin, end, 2 * step):
            for at in range(block, block + step):
                a, b = values[at], values[at + step]
                values[at], values[at + step] = a + b, a - b
        step *= 2


@_compiled
def transform(values: _Floats, starts: _Integers) -> None:
    """The Walsh-Hadamard transform of each histogram, in place; twice gives 2^d times the histogram back.

    Args:
        values: flat cells; changed.
        starts: (b + 1,) where each histogram begins, and the end; each length is a power of 2.
    """
    for b in range(len(starts) - 1):
        begin, end = starts[b], starts[b + 1]
        tile = min(_TILE, end - begin)
        for at in range(begin, end, tile):
            _strides(values, at, at + tile, 1, tile)
        _strides(values, begin, end, tile, end - begin)


@_compiled
def cube_sum(cells: _Floats, origin: int, base: int, free: int) -> float:
    """Sum over the cells base | s for all subsets s of the bits `free`.

    Args:
        cells: flat.
        origin: where the histogram begins.
        base: the required ones.
        free: the bits that are not fixed.
    """
    run = ~free & (free + 1)  # 2^(lowest free bits in a row): cells that lie side by side
    rest = free & ~(run - 1)
    total, subset = 0.0, 0
    while True:
        begin = origin + (base | subset)
        for at in range(begin, begin + run):
            total += cells[at]
        subset = (subset - rest) & rest
        if subset == 0:
            return total


@_compiled
def cube_scale(cells: _Floats, origin: int, base: int, free: int, factor: float, shift: float) -> None:
    """cells <- factor cells + shift over the same cells."""
    run = ~free & (free + 1)
    rest = free & ~(run - 1)
    subset = 0
    while True:
        begin = origin + (base | subset)
        for at in range(begin, begin + run):
            cells[at] = factor * cells[at] + shift
        subset = (subset - rest) & rest
        if subset == 0:
            return


@_compiled
def conjunction_sums(
    spectrum: _Floats, origins: _Integers, places: NDArray[np.int32], bits: NDArray[np.bool_]
) -> _Floats:
    """The mass of the cells that satisfy each conjunction.

    Args:
        spectrum: flat transforms.
        origins: (k,) where each query's histogram begins.
        places: (k, r) the bit of each literal within its histogram, -1 where there is none.
        bits: (k, r) what it requires.

    Returns:
        (k,) sums, up to rounding errors of about 2^-50 of the whole mass.
    """
    queries, width = places.shape
    out = np.empty(queries)
    masks, signs = np.empty(width, np.int64), np.empty(width)
    for q in range(queries):
        r = 0
        for j in range(width):
            if places[q, j] >= 0:
                masks[r], signs[r] = 1 << np.int64(places[q, j]), -1.0 if bits[q, j] else 1.0
                r += 1
        # A Gray code: one literal enters or leaves the set at a time.
        total, subset, sign = spectrum[origins[q]], np.int64(0), 1.0
        for step in range(1, 1 << r):
            turn = 0
            while (step >> turn) & 1 == 0:
                turn += 1
            subset ^= masks[turn]
            sign *= signs[turn]
            total += sign * spectrum[origins[q] + subset]
        out[q] = total / (1 << r)
    return out


@_compiled
def parity_sums(spectrum: _Floats, origins: _Integers, places: NDArray[np.int32]) -> _Floats:
    """The mass of the cells with an even number of ones at the places of each query: (whole + F[S]) / 2.

    Args:
        spectrum: flat transforms.
        origins: (k,) where each query's histogram begins.
        places: (k, r) bits within the histogram, -1 where there is none.
    """
    queries, width = places.shape
    out = np.empty(queries)
    for q in range(queries):
        subset = np.int64(0)
        for j in range(width):
            if places[q, j] >= 0:
                subset |= 1 << np.int64(places[q, j])
        out[q] = (spectrum[origins[q]] + spectrum[origins[q] + subset]) / 2
    return out
