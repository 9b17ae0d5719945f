"""Targets from noisy tables: margins of all tables together, one estimate for each set of columns, each a distribution.

Whatever is done here reads released tables and public facts only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from confide.numerics.compiled import kernel_or_plain

__all__ = ["RawTable", "consistent", "project_simplex", "simplex"]

_Columns = tuple[int, ...]
_ROUNDS = 6  # of iterative proportional fitting
_SPREAD = 0.01  # of independent columns in an estimate at most, so that no margin is asked of cells that are all 0
_DEVIATIONS = 5.0  # of an estimate's length: as much of them as noise can have emptied


@kernel_or_plain
def project_simplex(values: NDArray[np.float64]) -> None:
    """Replace values (any finite numbers) by the nearest distribution in Euclidean distance, in place.

    Michelot's algorithm: the threshold rises until what lies above it sums to 1; finitely many passes, no sorting.
    """
    size = len(values)
    total = 0.0
    for i in range(size):
        total += values[i]
    kept, threshold = size, (total - 1.0) / size
    while True:
        total, left = 0.0, 0
        for i in range(size):
            if values[i] > threshold:
                total += values[i]
                left += 1
        if left >= kept or left == 0:  # rounding may let the threshold fall again: that is the end as well
            break
        kept, threshold = left, (total - 1.0) / left
    for i in range(size):
        values[i] = max(values[i] - threshold, 0.0)


def simplex(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distribution nearest to an array of finite numbers, in its shape.

    Example:
        >>> simplex(np.array([0.9, 0.4, -0.3])).round(6).tolist()
        [0.75, 0.25, 0.0]
    """
    flat = np.array(values, dtype=np.float64).reshape(-1)
    project_simplex(flat)
    return flat.reshape(values.shape)


def _independent(laws: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The product of distributions, one axis for each."""
    product = np.ones(())
    for law in laws:
        product = np.multiply.outer(product, law)
    return np.asarray(product)


class RawTable:
    """A noisy table over some columns, in counts, and the standard deviation of one cell's noise."""

    def __init__(self, columns: _Columns, counts: NDArray[np.int64], sigma: float) -> None:
        self.columns = columns
        self.counts = counts
        self.sigma = sigma

    def margin(self, columns: _Columns) -> tuple[NDArray[np.float64], float]:
        """Its margin over a subset of its columns, and the variance of one of the margin's cells."""
        away = tuple(at for at, column in enumerate(self.columns) if column not in columns)
        summed = self.counts.sum(axis=away) if away else self.counts
        return summed.astype(np.float64), self.sigma**2 * (self.counts.size / summed.size)


def consistent(raw: Sequence[RawTable], n: int) -> dict[_Columns, NDArray[np.float64]]:
    """One distribution for every set of columns that lies within a measured table.

    Sizes 1, 2, 3 in turn: the inverse-variance mean of the margins of all raw tables that contain the set, projected
    on the simplex, then 6 rounds of iterative proportional fitting to the subsets that were fixed before.

    Before that, a share s of the estimate is replaced by independent columns, so that no margin is asked of cells that
    noise left empty; s is 0.01, or five times the noise of the estimate (the root of its cells' summed variances, as a
    share of n) where that is less. It moves a target by at most 2 s in L1, which vanishes with the noise.

    Args:
        raw: every measured table, one-way tables among them.
        n: number of records.

    Returns:
        columns -> array with one axis for each of them, >= 0, sum 1.

    Source: spec query_release D6.
    """
    containing: dict[_Columns, list[RawTable]] = {}
    for table in raw:
        for width in range(1, len(table.columns) + 1):
            for subset in combinations(table.columns, width):
                containing.setdefault(subset, []).append(table)
    targets: dict[_Columns, NDArray[np.float64]] = {}
    for subset in sorted(containing, key=lambda columns: (len(columns), columns)):
        margins = [table.margin(subset) for table in containing[subset]]
        mean, weight = np.zeros_like(margins[0][0]), 0.0
        for margin, variance in margins:
            mean, weight = mean + margin / variance, weight + 1.0 / variance
        estimate = simplex(mean / (weight * n))
        below = [(at, targets[subset[:at] + subset[at + 1 :]]) for at in range(len(subset))] if len(subset) > 1 else []
        if below:
            spread = min(_SPREAD, _DEVIATIONS * math.sqrt(estimate.size / weight) / n)
            estimate = (1.0 - spread) * estimate + spread * _independent([targets[(j,)] for j in subset])
        for _ in range(_ROUNDS if below else 0):
            for axis, target in below:
                present = estimate.sum(axis=axis)
                ratio = np.divide(target, present, out=np.zeros_like(target), where=present > 0)
                estimate = estimate * np.expand_dims(ratio, axis)
        targets[subset] = estimate / estimate.sum()
    return targets
