"""Least squares with and without each player's record: exact sums, one triangular factor, and predictions of each
player from the records of all other players.

Let h = |L^-1 x|^2 be a player's leverage, where X'X = L L'. The estimate without the player's own record predicts
(x'theta - h y)/(1 - h) for that player. Each of the n leave-one-out fits therefore costs one triangular solve. Sums are
exact integers, so that they do not depend on the order, the batches or the threads of the computation. The numbers of
one record are computed elementwise in a fixed order, and do not depend on the other records.

Source: Cummings et al. 2015, Algorithm 1; spec truthful_regression section 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import Refused
from confide.numerics import IntegerCross
from confide.regression.records import Batch, RecordMap, group_sums, ordered_dot

__all__ = ["WITNESS", "LeastSquares", "Sums", "fitted", "leave_one_out", "leverages", "on_grid", "sums"]

Array = NDArray[np.float64]

WITNESS = 1e-10
"""Smallest accepted value of 1 - h, where h is a player's leverage. If 1 - h is smaller, no other player's record has
information about some direction.
"""

_HALF = 2**20
_DEPENDENT = 1e-8
"""Largest share of a column's squared length, after the other columns are accounted for, at which the column counts as
dependent on them.
"""


def on_grid(values: Array) -> tuple[Array, Array]:
    """Two integers, high and low, for each number in [-1, 1], stored as doubles. The sum high 2^-20 + low 2^-40 is the
    multiple of 2^-40 that is nearest to the number.
    """
    high = np.rint(values * _HALF)
    return high, np.rint((values - high / _HALF) * _HALF**2)


def _rounded(values: Array) -> Array:
    high, low = on_grid(values)
    return np.asarray(high / _HALF + low / _HALF**2)


def _scale(record_map: RecordMap) -> float:
    """The smallest power of two that is at least every |y|."""
    return 2.0 ** math.ceil(math.log2(record_map.response_bound))


@dataclass(frozen=True, eq=False)
class Sums:
    """Exact second moments of some people's records, rounded to multiples of 2^-40 (times the scale, for responses).

    Args:
        gram: (d, d) object array of integers: sum of x x' in units of 2^-80.
        cross: (d,) object array of integers: sum of x y in units of 2^-80 times the scale.
        scale: power of two that is at least every |y|.
    """

    gram: NDArray[np.object_]
    cross: NDArray[np.object_]
    scale: float

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.gram + other.gram, self.cross + other.cross, self.scale)


def sums(batches: Iterable[Batch], record_map: RecordMap, split: NDArray[np.bool_], features: int) -> tuple[Sums, Sums]:
    """The exact moments of both groups, in one pass over the records.

    Args:
        batches: batches of submissions. The first row of each participant counts, and null records add nothing.
        record_map: map that clips each record to the public bounds.
        split: (n,) bool; entry i is the group of the participant of rank i in the public list of ids.
        features: number d of features.

    Returns:
        The moments of group 0 and the moments of group 1, which are equal integers for any order and chunking of the
        rows.
    """
    scale = _scale(record_map)

    def halves(batch: Batch) -> tuple[Array, Array]:
        X, y, _null = record_map.clip(batch)
        table = np.column_stack([*on_grid(X), *on_grid(y / scale)])
        return table, np.zeros(len(table))

    first, second = group_sums(batches, split, halves,
                               lambda: IntegerCross(2 * features + 2, left_bound=_HALF, right_bound=_HALF))
    return _joined(first.gram, features, scale), _joined(second.gram, features, scale)


def _joined(table: NDArray[np.object_], d: int, scale: float) -> Sums:
    """The sums of products of whole numbers, from the sums of products of their high and low halves."""
    high, low = slice(0, d), slice(d, 2 * d)
    mixed = table[high, low] + table[low, high]
    gram = table[high, high] * _HALF**2 + mixed * _HALF + table[low, low]
    above, below = table[:, 2 * d], table[:, 2 * d + 1]
    cross = above[high] * _HALF**2 + (above[low] + below[high]) * _HALF + below[low]
    return Sums(gram, cross, scale)


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """A least squares fit.

    Args:
        theta: (d,) estimated coefficients.
        factor: (d, d) lower triangular matrix L with L L' = X'X.
    """

    theta: Array
    factor: Array


def fitted(found: Sums, who: str = "all records") -> LeastSquares:
    """Ordinary least squares from exact moments.

    Args:
        found: moments of the records.
        who: description of the people whose records are in the sums, for the error message.

    Raises:
        Refused: the records do not determine all coefficients. The message names the first feature that depends on the
            features before it.
    """
    d, unit = len(found.cross), 2**80
    gram = np.array([[entry / unit for entry in row] for row in found.gram], dtype=np.float64)
    cross = np.array([entry / unit for entry in found.cross], dtype=np.float64) * found.scale
    factor = np.zeros((d, d))
    for k in range(d):
        rest = gram[k, k] - float(factor[k, :k] @ factor[k, :k])
        if not rest > _DEPENDENT * gram[k, k]:
            raise Refused(f"{who} do not determine the coefficients: feature {k} follows from those before it",
                          "leave out this feature, or invite people who differ in it")
        factor[k, k] = math.sqrt(rest)
        factor[k + 1 :, k] = (gram[k + 1 :, k] - factor[k + 1 :, :k] @ factor[k, :k]) / factor[k, k]
    half = np.zeros(d)
    for k in range(d):
        half[k] = (cross[k] - factor[k, :k] @ half[:k]) / factor[k, k]
    theta = np.zeros(d)
    for k in reversed(range(d)):
        theta[k] = (half[k] - factor[k + 1 :, k] @ theta[k + 1 :]) / factor[k, k]
    return LeastSquares(theta, factor)


def leverages(X: Array, factor: Array) -> Array:
    """The leverage h = x'(X'X)^-1 x of each row, shape (m,), from the triangular factor; each value depends on its own
    row alone.
    """
    d = X.shape[1]
    solved, total = np.empty((d, len(X))), np.zeros(len(X))
    for k in range(d):
        value = X[:, k].copy()
        for j in range(k):
            value -= factor[k, j] * solved[j]
        value /= factor[k, k]
        solved[k] = value
        total += value * value
    return total


def leave_one_out(
    X: Array, y: Array, index: NDArray[np.int64], fit: LeastSquares, record_map: RecordMap
) -> Array:
    """Predict the response of each player by the least squares fit to the records of all other players: x'theta_(-i) =
    (x'theta - h y)/(1 - h).

    Args:
        X: (m, d) features of players whose records are in the fit.
        y: (m,) responses of the players.
        index: (m,) ranks of the players, for the error message.
        fit: fit to everybody's records.
        record_map: map that clipped the records of the sums.

    Raises:
        Refused: 1 - h is below 1e-10, which means that only this player's record has information about some direction.
            The message names the player's rank.
    """
    scale = _scale(record_map)
    rows, responses = _rounded(X), _rounded(y / scale) * scale
    h = leverages(rows, fit.factor)
    alone = np.flatnonzero(~(1 - h >= WITNESS))
    if alone.size:
        raise Refused(f"only row {index[alone[0]]} has values in some direction of the features, so no other record "
                      "predicts the answer",
                      "leave out a feature that only this person has, or invite more people with this feature")
    return np.asarray((ordered_dot(rows, fit.theta) - h * responses) / (1 - h))
