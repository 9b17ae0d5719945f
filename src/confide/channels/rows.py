"""One row at a time: the best channel of one row law, for differential privacy (top-k) and for information and
identifiability (water-filling).

Source: spec privacy_notions 4 and 5 (items 1, 3, 5): proved there, not in the source.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["WaterLevel", "least_row_level", "row_loss", "top_letters", "top_table", "water_information",
           "water_level", "water_table"]

_Vector = NDArray[np.float64]
_CLOSE = 1e-12


def _tails(law: _Vector) -> _Vector:
    """(m,) 1 - P_k for k = 1, ..., m: what the k likeliest letters leave, summed from the small end."""
    rising = np.cumsum(np.sort(law))[:-1]
    return np.append(rising[::-1], 0.0)


def top_letters(law: _Vector, epsilon: float) -> int:
    """k: how many of the likeliest letters the best row channel of this level uses: argmax of P_k/(1 + (k-1) r)."""
    return int(np.argmin(_losses(law, epsilon))) + 1


def row_loss(law: _Vector, epsilon: float) -> float:
    """1 - Theta(epsilon) = min_k (1 - P_k + (k-1) r)/(1 + (k-1) r): how seldom a letter can be lost at this level.

    Example:
        >>> round(row_loss(np.array([0.2, 0.3, 0.5]), math.log(3)), 12)
        0.4
    """
    return float(_losses(law, epsilon).min())


def _losses(law: _Vector, epsilon: float) -> _Vector:
    others = np.arange(len(law)) * math.exp(-epsilon)
    return np.asarray((_tails(law) + others) / (1.0 + others))


def least_row_level(law: _Vector, loss: float) -> float:
    """The least epsilon at which the letter is lost with this probability: the inverse of `row_loss`.

    Args:
        law: (m,) of the row.
        loss: in [0, 1].
    """
    tails = _tails(law)
    if tails[0] <= loss:
        return 0.0
    k = np.arange(2, len(law) + 1)
    gap = loss - tails[1:]
    possible = gap > 0
    if not possible.any():
        return math.inf
    return max(0.0, float((np.log(k[possible] - 1) + math.log1p(-loss) - np.log(gap[possible])).min()))


def top_table(law: _Vector, epsilon: float) -> _Vector:
    """(m, m) the best row channel of a level: kernel among the k likeliest letters, anything else uniform on them."""
    m, k, r = len(law), top_letters(law, epsilon), math.exp(-epsilon)
    chosen = np.argsort(-law, kind="stable")[:k]
    table = np.zeros((m, m))
    table[:, chosen] = 1.0 / k
    for x in chosen:
        table[x, chosen] = r / (1.0 + (k - 1) * r)
        table[x, x] = 1.0 / (1.0 + (k - 1) * r)
    return table


@dataclass(frozen=True)
class WaterLevel:
    """Where the water stands: the s likeliest letters are used, w is the mass below.

    Args:
        letters: (s,) the letters that are used, likeliest first.
        level: w, posterior probability of each other used letter.
        kept: theta = 1 - delta, posterior probability of the letter that was released.
    """

    letters: NDArray[np.int64]
    level: float
    kept: float


def water_level(law: _Vector, delta: float) -> WaterLevel | None:
    """The water level at which one row is changed with probability delta; None where a constant does as well.

    p_(s) > w >= p_(s+1) with w = (delta - (1 - P_s))/(s - 1), over letters in falling order.
    """
    order = np.argsort(-law, kind="stable")
    falling = law[order]
    tails = _tails(law)
    if delta >= tails[0] * (1.0 - _CLOSE):  # so near, other letters would be used as seldom as rounding says
        return None
    following = np.append(falling[1:], 0.0)
    s = np.arange(2, len(law) + 1)
    levels = (delta - tails[1:]) / (s - 1)
    fits = (falling[1:] > levels) & (levels >= following[1:] - 1e-15)
    at = int(np.flatnonzero(fits)[0]) if fits.any() else len(s) - 1
    return WaterLevel(letters=order[: at + 2], level=max(0.0, float(levels[at])), kept=1.0 - delta)


def water_table(law: _Vector, delta: float) -> _Vector:
    """(m, m) the row channel that gives away least, in information and in identifiability, at a distortion."""
    m, found = len(law), water_level(law, delta)
    table = np.zeros((m, m))
    if found is None:
        table[:, int(np.argmax(law))] = 1.0
        return table
    used, w = found.letters, found.level
    outputs = np.maximum(law[used] - w, 0.0)
    outputs /= outputs.sum()
    posterior = np.tile(law[:, None], (1, len(used)))
    posterior[used] = w
    posterior[used, np.arange(len(used))] = found.kept
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.where(law[:, None] > 0, posterior * outputs / law[:, None], outputs)
    table[:, used] = rows / rows.sum(axis=1, keepdims=True)
    return table


def water_information(law: _Vector, delta: float) -> float:
    """I(X;Y) of the water-filling channel of one row, in nats: the row's rate-distortion function."""
    found = water_level(law, delta)
    if found is None:
        return 0.0
    used = law[found.letters]
    used = used[used > 0]
    w, theta = found.level, found.kept
    inside = (len(found.letters) - 1) * (w * math.log(w) if w > 0 else 0.0)
    return max(0.0, float(-np.sum(used * np.log(used))) + theta * math.log(theta) + inside)
