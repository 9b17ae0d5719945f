"""Products with the kernel r^d over classes of letter counts, for exchangeable priors: a class acts by its mass.

Entry (a, b) is the mean of r^d(x, y) over y in class b, for any x in class a. Lines are scaled to a largest entry of 1,
which changes the objective of the slope problem by a constant, and keeps a thousand rows within doubles.

Source: spec privacy_notions 7 ("reduce to n + 1 weight classes").
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln
from scipy.stats import binom

from confide.channels.joint_types import joint_types
from confide.channels.types import compositions
from confide.contract.errors import Unsupported

__all__ = ["MOST_ROWS", "ClassProduct"]

_Vector = NDArray[np.float64]
MOST_ROWS = 2000
_NOTHING = 1e-150


class ClassProduct:
    """Such products; `log_scale` is the ln of what each line was divided by.

    Args:
        letters: m.
        rows: n; for two letters at most 2,000, else as many as there are at most 2^17 joint types.
        slope: lambda >= 0.

    Raises:
        Unsupported: too many rows.
    """

    def __init__(self, letters: int, rows: int, slope: float) -> None:
        self.letters, self.records, self.slope = letters, rows, slope
        log_law, changed = _two_letters(rows, slope) if letters == 2 else _joint(letters, rows, slope)
        ways = gammaln(rows + 1) - gammaln(compositions(rows, letters) + 1).sum(axis=1)
        logs = log_law - ways
        self.log_scale = logs.max(axis=1)
        self._table = np.exp(logs - self.log_scale[:, None])
        self._table[self._table < _NOTHING] = 0.0  # products of such numbers are slow, and nothing
        self._moved = self._table * changed
        self.log_scale = self.log_scale + rows * math.log1p((letters - 1) * math.exp(-slope))

    def forward(self, v: _Vector) -> _Vector:
        """The table times v."""
        return np.asarray(self._table @ v)

    def backward(self, v: _Vector) -> _Vector:
        """The transposed table times v."""
        return np.asarray(self._table.T @ v)

    def gram(self, root: _Vector, curve: _Vector) -> _Vector:
        """root table' curve table root, as a matrix."""
        half = np.sqrt(curve)[:, None] * self._table * root
        return np.asarray(half.T @ half)

    def changed(self, left: _Vector, right: _Vector) -> float:
        """The sum of left(a) times the mean of d r^d times right(b)."""
        return float(left @ (self._moved @ right))


def _two_letters(rows: int, slope: float) -> tuple[_Vector, _Vector]:
    """(n + 1, n + 1) ln of the law of the number of ones after the kernel, and the mean of d at each.

    The law is a convolution of two binomial laws. Its tails are far below the doubles, and count; they are taken from
    laws whose odds are tilted towards them, and tilted back.
    """
    if rows > MOST_ROWS:
        raise Unsupported("records", f"{rows:,} rows of an exchangeable prior", f"at most {MOST_ROWS:,}")
    log_law, changed = np.full((rows + 1, rows + 1), -np.inf), np.zeros((rows + 1, rows + 1))
    best = np.full((rows + 1, rows + 1), -1.0)
    number = np.arange(rows + 1)
    for tilt in (-6.0, -2.0, 0.0, 2.0, 6.0) if rows > 50 else (0.0,):
        stay_odds, turn_odds = slope + tilt, tilt - slope
        for ones in range(rows + 1):
            kept, gained = number[: ones + 1], number[: rows - ones + 1]
            stay, turn = binom.pmf(kept, ones, expit(stay_odds)), binom.pmf(gained, rows - ones, expit(turn_odds))
            law = np.convolve(stay, turn)
            moved = np.convolve(stay * (ones - kept), turn) + np.convolve(stay, turn * gained)
            better = (law > best[ones]) & (law > _NOTHING)
            back = (ones * (_log_one_more(stay_odds) - _log_one_more(slope)) + (rows - ones)
                    * (_log_one_more(turn_odds) - _log_one_more(-slope)) - tilt * number)
            best[ones, better] = law[better]
            log_law[ones, better] = np.log(law[better]) + back[better]
            changed[ones, better] = moved[better] / law[better]
    return log_law, changed


def _log_one_more(log_odds: float) -> float:
    """ln(1 + e^t)."""
    return float(np.logaddexp(0.0, log_odds))


def _joint(letters: int, rows: int, slope: float) -> tuple[_Vector, _Vector]:
    types = joint_types(letters, rows)
    number = len(compositions(rows, letters))
    mass = np.exp(types.log_sequences - slope * types.changed - rows * math.log1p((letters - 1) * math.exp(-slope)))
    at = types.inputs * number + types.outputs
    law, moved = np.bincount(at, mass, number**2), np.bincount(at, mass * types.changed, number**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(law).reshape(number, -1), np.where(law > 0, moved / law, 0.0).reshape(number, -1)
