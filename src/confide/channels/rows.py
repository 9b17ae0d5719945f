"""One row at a time: the best channel of one row law, for differential privacy (top-k) and for information and
identifiability (water-filling).

Source: spec privacy_notions 4 and 5 (items 1, 3, 5): proved there, not in the source.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

__all__ = ["WaterLevel", "least_row_level", "row_losses", "tails", "top_letters", "top_tables", "water_information",
           "water_level", "water_tables"]

_Vector = NDArray[np.float64]
_CLOSE = 1e-12
_AT_ONCE = 2**22  # cells of tables that are made together


def tails(laws: _Vector) -> _Vector:
    """(u, m) 1 - P_k for k = 1, ..., m: what the k likeliest letters of each law leave, summed from the small end."""
    rising = np.cumsum(np.sort(laws, axis=1), axis=1)[:, :-1]
    return np.concatenate([rising[:, ::-1], np.zeros((len(laws), 1))], axis=1)


def top_letters(laws: _Vector, epsilon: float) -> NDArray[np.int64]:
    """(u,) k: how many of its likeliest letters the best channel of each law uses: argmax of P_k/(1 + (k-1) r)."""
    return np.asarray(np.argmin(_losses(tails(laws), epsilon), axis=1) + 1)


def row_losses(left: _Vector, epsilon: float) -> _Vector:
    """(u,) 1 - Theta(epsilon) = min_k (1 - P_k + (k-1) r)/(1 + (k-1) r): how seldom a letter can be lost at this level.

    Args:
        left: (u, m) `tails` of the laws, which serve all levels.
        epsilon: in nats.

    Example:
        >>> row_losses(tails(np.array([[0.2, 0.3, 0.5]])), math.log(3)).round(12).tolist()
        [0.4]
    """
    return np.asarray(_losses(left, epsilon).min(axis=1))


def _losses(left: _Vector, epsilon: float) -> _Vector:
    others = np.arange(left.shape[1]) * math.exp(-epsilon)
    return np.asarray((left + others) / (1.0 + others))


def least_row_level(law: _Vector, loss: float) -> float:
    """The least epsilon at which the letter is lost with this probability: the inverse of `row_losses`.

    Args:
        law: (m,) of the row.
        loss: in [0, 1].
    """
    left = tails(law[None])[0]
    if left[0] <= loss:
        return 0.0
    k = np.arange(2, len(law) + 1)
    gap = loss - left[1:]
    possible = gap > 0
    if not possible.any():
        return math.inf
    return max(0.0, float((np.log(k[possible] - 1) + math.log1p(-loss) - np.log(gap[possible])).min()))


def top_tables(laws: _Vector, epsilon: float) -> list[_Vector]:
    """(m, m) the best row channel of a level for each law: kernel among the k likeliest letters, anything else uniform
    on them.
    """
    found: list[_Vector] = []
    r, m = math.exp(-epsilon), laws.shape[1]
    for part in _parts(len(laws), m):
        some = laws[part]
        k = top_letters(some, epsilon)[:, None, None]
        rank = np.argsort(np.argsort(-some, axis=1, kind="stable"), axis=1)
        to, own = rank[:, None, :] < k, rank[:, :, None] < k
        among = np.where(np.eye(m, dtype=bool), 1.0, r) / (1.0 + (k - 1) * r)
        found.extend(np.where(to, np.where(own, among, 1.0 / k), 0.0))
    return found


def _parts(laws: int, letters: int) -> list[slice]:
    step = max(1, _AT_ONCE // letters**2)
    return [slice(start, start + step) for start in range(0, laws, step)]


@dataclass(frozen=True)
class WaterLevel:
    """Where the water stands in each of u rows: its s likeliest letters are used, w is the mass below.

    Args:
        order: (u, m) letters, likeliest first.
        used: (u,) s; 0 where a constant does as well.
        level: (u,) w, posterior probability of each other used letter.
        kept: (u,) theta = 1 - delta, posterior probability of the letter that was released.
    """

    order: NDArray[np.int64]
    used: NDArray[np.int64]
    level: _Vector
    kept: _Vector


def water_level(laws: _Vector, delta: _Vector) -> WaterLevel:
    """The water level at which each row is changed with probability delta.

    p_(s) > w >= p_(s+1) with w = (delta - (1 - P_s))/(s - 1), over letters in falling order.
    """
    m, lines = laws.shape[1], np.arange(len(laws))
    order = np.argsort(-laws, axis=1, kind="stable")
    falling, left = np.take_along_axis(laws, order, axis=1), tails(laws)
    following = np.concatenate([falling[:, 2:], np.zeros((len(laws), 1))], axis=1)
    levels = (delta[:, None] - left[:, 1:]) / np.arange(1, m)
    fits = (falling[:, 1:] > levels) & (levels >= following - 1e-15)
    at = np.where(fits.any(axis=1), fits.argmax(axis=1), m - 2)
    # So near to a constant, other letters would be used as seldom as rounding says.
    used = np.where(delta >= left[:, 0] * (1.0 - _CLOSE), 0, at + 2)
    return WaterLevel(order=order, used=used, level=np.maximum(0.0, levels[lines, at]), kept=1.0 - delta)


def water_tables(laws: _Vector, delta: _Vector) -> list[_Vector]:
    """(m, m) the channel of each row that gives away least, in information and in identifiability, at its distortion.

    Args:
        laws: (u, m) of the rows.
        delta: (u,) probabilities that a row is changed.
    """
    found: list[_Vector] = []
    for part in _parts(*laws.shape):
        found.extend(_water(laws[part], np.asarray(delta)[part]))
    return found


def _water(laws: _Vector, delta: _Vector) -> _Vector:
    m, found = laws.shape[1], water_level(laws, delta)
    # In the order of falling probability; a constant is the likeliest letter.
    law = np.take_along_axis(laws, found.order, axis=1)
    used = np.arange(m) < np.maximum(found.used, 1)[:, None]
    outputs = np.where(used, np.maximum(law - found.level[:, None], 0.0), 0.0)
    outputs[found.used == 0] = np.eye(m)[0]
    outputs /= outputs.sum(axis=1, keepdims=True)
    posterior = np.where(used[:, :, None], found.level[:, None, None], law[:, :, None]) * np.ones(m)
    at = np.arange(m)
    posterior[:, at, at] = np.where(used, found.kept[:, None], posterior[:, at, at])
    posterior[found.used == 0] = law[found.used == 0, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.where(law[:, :, None] > 0, posterior * outputs[:, None, :] / law[:, :, None], outputs[:, None, :])
    rows /= rows.sum(axis=2, keepdims=True)
    back = np.argsort(found.order, axis=1)
    return np.asarray(rows[np.arange(len(laws))[:, None, None], back[:, :, None], back[:, None, :]])


def water_information(laws: _Vector, delta: _Vector) -> _Vector:
    """(u,) I(X;Y) of the water-filling channel of each row, in nats: the row's rate-distortion function."""
    found = water_level(laws, delta)
    law = np.take_along_axis(laws, found.order, axis=1)
    law = np.where(np.arange(law.shape[1]) < found.used[:, None], law, 0.0)
    inside = (found.used - 1) * xlogy(found.level, found.level)
    level = inside + xlogy(found.kept, found.kept) - xlogy(law, law).sum(axis=1)
    return np.asarray(np.where(found.used > 0, np.maximum(0.0, level), 0.0))
