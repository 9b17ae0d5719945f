"""Lower bounds of the least distortion from one row at a time, for priors that are too large for a program.

Given all other rows, a row's output is a channel of one row; what such a channel costs is known exactly. Averaged over
the other rows this bounds the least distortion from below, for any prior; for independent rows it is exact.

Source: spec privacy_notions 5 (items 1 and 5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from confide.channels.kernels import axes, h
from confide.channels.notions import Level
from confide.channels.priors import Exchangeable, IndependentRows, Prior

__all__ = ["RowBounds"]

_Vector = NDArray[np.float64]
_LARGEST = 2**23  # rows times databases


@dataclass(frozen=True, eq=False)
class RowBounds:
    """The laws of single rows given all others, as falling sums.

    Args:
        weights: (l,) the probability of the other rows, times how many rows are in the same place.
        sums: (l, m) sums of the k largest conditional probabilities.
        least: (l,) the smallest one.
    """

    weights: _Vector
    sums: _Vector
    least: _Vector

    @classmethod
    def of(cls, prior: Prior) -> RowBounds | None:
        """From a prior; None where there are too many lines to go through."""
        match prior:
            case IndependentRows():
                lines, weights = prior.laws, prior.counts.astype(np.float64)
            case Exchangeable():
                logs = prior.last_row_logs
                ways = gammaln(prior.records) - gammaln(prior.other_types + 1).sum(axis=1)
                lines, weights = np.exp(logs + ways[:, None]), np.full(len(logs), float(prior.records))
            case _ if prior.records * prior.cells <= _LARGEST:
                law, m, n = prior.vector(), prior.letters, prior.records
                lines = np.concatenate([np.moveaxis(view, 1, 2).reshape(-1, m) for view in axes(law, m, n)])
                weights = np.ones(len(lines))
            case _:
                return None
        mass = lines.sum(axis=1)
        weights, lines, mass = weights[mass > 0], lines[mass > 0], mass[mass > 0]
        falling = -np.sort(-lines / mass[:, None], axis=1)
        return cls(weights * mass, np.cumsum(falling, axis=1), falling[:, -1])

    def distortion(self, notion: Level, epsilon: float) -> float:
        """At least so many rows change at a level; less a part in 10^12 for rounding."""
        m = self.sums.shape[1]
        r = math.exp(-epsilon)
        if notion == "dp":
            lost = 1.0 - (self.sums / (1.0 + np.arange(m) * r)).max(axis=1)
        else:
            lost = np.maximum(1.0 - math.exp(min(epsilon, 700.0)) * self.least, h(epsilon, m, 1))
        return max(0.0, float(self.weights @ lost) - 1e-12 * float(self.weights.sum()))

    def level(self, notion: Level, distortion: float, low: float, high: float) -> float:
        """No release of this distortion has a level below this, between two known ones: bisection, rounded down."""
        if self.distortion(notion, low) <= distortion:
            return low
        while high - low > 1e-12 * max(1.0, high):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.distortion(notion, middle) > distortion else (low, middle)
        return low
