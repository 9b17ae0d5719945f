"""A weighted population: equal rows together, in lexicographic order, and rows of equal weight drawn from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole

__all__ = ["equal_rows", "merged", "merged_columns"]

_ROOM = 2**62  # of a key


def _distinct(
    rows: NDArray[np.uint16], weights: NDArray[np.float64], sizes: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Where the first of each kind of rows is, in lexicographic order of the rows, and the sum of their weights > 0."""
    keys, room = [np.zeros(len(rows), dtype=np.int64)], 1
    for j, size in enumerate(sizes):
        if room > _ROOM // size:
            keys.append(np.zeros(len(rows), dtype=np.int64))
            room = 1
        keys[-1] = keys[-1] * size + rows[:, j]
        room *= size
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(rows), dtype=np.bool_)
    new[0] = True
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    place = np.cumsum(new) - 1
    sums = np.bincount(place, weights=weights[order])  # adds up in order: the same bits everywhere
    kept = sums > 0
    return order[new][kept], sums[kept] / sums[kept].sum()


def merged_columns(
    rows: NDArray[np.uint16], weights: NDArray[np.float64], sizes: tuple[int, ...]
) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """As `merged`, column by column: (m, u)."""
    places, sums = _distinct(rows, weights, sizes)
    columns = np.empty((rows.shape[1], len(places)), dtype=np.uint16)
    for j in range(len(columns)):
        columns[j] = rows[places, j]
    return columns, sums


def merged(
    rows: NDArray[np.uint16], weights: NDArray[np.float64], sizes: tuple[int, ...]
) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """The distinct rows in lexicographic order, with the sum of the weights of each; rows without weight are left out.

    Args:
        rows: (N, m).
        weights: (N,) >= 0.
        sizes: cells of each column.

    Example:
        >>> cells, weights = merged(np.array([[1, 0], [0, 1], [1, 0]], np.uint16), np.array([0.25, 0.5, 0.25]), (2, 2))
        >>> cells.tolist(), weights.tolist()
        ([[0, 1], [1, 0]], [0.5, 0.5])
    """
    places, sums = _distinct(rows, weights, sizes)
    return rows[places], sums


def equal_rows(
    cells: NDArray[np.uint16], weights: NDArray[np.float64], count: int
) -> NDArray[np.uint16]:
    """So many rows of equal weight: systematic sampling along the order of the population, without a random start.

    Each stretch of the order, such as all rows with one first cell, is off by at most one row.

    Args:
        cells: (N, m), in lexicographic order.
        weights: (N,) sum 1.
        count: how many.
    """
    size = whole("count", count, at_least=1)
    ends = np.cumsum(weights)
    found = np.searchsorted(ends, (np.arange(size) + 0.5) / size * ends[-1], side="right")
    return np.ascontiguousarray(cells[np.minimum(found, len(cells) - 1)])
