"""The law of everything that a market with signed payments pays in one round, over who comes and what they report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction
from confide.market.binomials import majority_threshold
from confide.market.decision import at_least
from confide.market.signal_model import Reporting, SignalModel

__all__ = ["SignedTotal"]


def _within(n: Any, rate: float, low: Any, high: Any) -> NDArray[np.float64]:
    """P(low <= Bin(n, rate) <= high), 0 for n < 0."""
    found = at_least(np.maximum(n, 0), rate, low) - at_least(np.maximum(n, 0), rate, high + 1)
    inside: NDArray[np.float64] = np.where((np.asarray(n) >= 0) & (high >= low), np.maximum(found, 0.0), 0.0)
    return inside


@dataclass(frozen=True, eq=False)
class SignedTotal:
    """The law of T(n, n1) in equilibrium: O(sqrt N) for each number.

    With n participants, t = floor((n-1)/2) + 1 and n1 ones, ones match for n1 > t and zeros for n1 < t; at n1 = t
    nobody does. T falls with n1 up to there and rises afterwards. One participant or none is paid nothing.

    Args:
        participants: (k,) numbers n >= 2 of participants.
        weights: their probabilities, which sum to at most 1.
        tables: (k, 2, 2) money for report x when the majority of the others is m.
        mean: E[T], which the sum over the tables loses at levels of 20 and more, where debts are e^epsilon times that.
        signal_model: law of the state.
        reporting: of one report.

    Source: spec data_market section 3 (ours).
    """

    participants: NDArray[np.int64]
    weights: NDArray[np.float64]
    tables: NDArray[np.float64]
    mean: float
    signal_model: SignalModel
    reporting: Reporting

    @cached_property
    def _threshold(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = majority_threshold(self.participants - 1)
        return found

    @property
    def _states(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Probability of each state, and that of a report 1 in it."""
        agree, miss = float(self.reporting.agree), float(self.reporting.miss)
        return (self.signal_model.prior_one, agree), (self.signal_model.prior_zero, miss)

    def _pieces(self) -> list[tuple[Any, Any, Any, Any]]:
        """(least n1, largest n1, intercept, slope) of T on its three straight pieces."""
        n, t, pay = self.participants, self._threshold, self.tables
        return [(np.zeros_like(n), t - 1, n * pay[:, 0, 0], pay[:, 1, 0] - pay[:, 0, 0]),
                (t, t, n * pay[:, 0, 1], pay[:, 1, 0] - pay[:, 0, 1]),
                (t + 1, n, n * pay[:, 0, 1], pay[:, 1, 1] - pay[:, 0, 1])]

    @cached_property
    def sd(self) -> float:
        """Standard deviation."""
        n, unit, second = self.participants, float(np.abs(self.tables).max()), 0.0
        for low, high, start, slope in self._pieces():
            for prior, p in self._states:
                mass = _within(n, p, low, high)
                mean = n * p * _within(n - 1, p, low - 1, high - 1)
                square = mean + n * (n - 1) * p * p * _within(n - 2, p, low - 2, high - 2)
                a, b = start / unit, slope / unit  # squares of money can leave the doubles
                second += prior * float(self.weights @ (a**2 * mass + 2 * a * b * mean + b**2 * square))
        return unit * math.sqrt(max(second - (self.mean / unit) ** 2, 0.0))

    def _up_to(self, amount: float, *, strict: bool) -> float:
        """P(T <= amount), or P(T < amount)."""
        n, t, pay = self.participants, self._threshold, self.tables
        fall, rise = pay[:, 0, 0] - pay[:, 1, 0], pay[:, 1, 1] - pay[:, 0, 1]
        last, first = (amount - n * pay[:, 0, 1]) / rise, (n * pay[:, 0, 0] - amount) / fall
        high = np.ceil(last) - 1 if strict else np.floor(last)
        low = np.floor(first) + 1 if strict else np.ceil(first)
        high, low = np.clip(high, t, n), np.clip(low, 0, t)
        middle = t * pay[:, 1, 0] + (n - t) * pay[:, 0, 1]
        out = ~((middle < amount) if strict else (middle <= amount))
        found = 1.0 - float(self.weights.sum()) if (amount > 0 or (amount == 0 and not strict)) else 0.0
        for prior, p in self._states:
            inside = _within(n, p, low, high) - np.where(out, _within(n, p, t, t), 0.0)
            found += prior * float(self.weights @ inside)
        return min(max(found, 0.0), 1.0)

    def cdf(self, amount: float) -> float:
        """P(T <= amount)."""
        return self._up_to(amount, strict=False)

    @property
    def negative(self) -> float:
        """P(T < 0): the collector is owed money."""
        return self._up_to(0.0, strict=True)

    def quantile(self, probability: float) -> float:
        """The least amount that the total does not exceed with that probability in (0, 1), to a relative 1e-12."""
        wanted = fraction("probability", probability)
        step = max(self.sd, abs(self.mean), 1e-300)
        low, high = self.mean - step, self.mean + step
        while self.cdf(low) >= wanted:
            low, step = low - 2.0 * step, 2.0 * step
        step = high - self.mean
        while self.cdf(high) < wanted:
            high, step = high + 2.0 * step, 2.0 * step
        while high - low > 1e-12 * max(abs(low), abs(high)) and low < (low + high) / 2.0 < high:
            middle = (low + high) / 2.0
            low, high = (low, middle) if self.cdf(middle) >= wanted else (middle, high)
        return high
