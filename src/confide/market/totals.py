"""The law of everything that a majority market pays in one round."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from confide.contract.checks import fraction
from confide.market.binomials import majority_threshold
from confide.market.signal_model import Reporting, SignalModel

__all__ = ["TotalPayment"]


def _above(n: int, p: float, k: int) -> float:
    """P(Bin(n, p) >= k)."""
    if k <= 0:
        return 1.0
    return 0.0 if k > n else float(scipy.special.betainc(k, n - k + 1, p))


def _below(n: int, p: float, k: int) -> float:
    """P(Bin(n, p) < k)."""
    if k <= 0:
        return 0.0
    return 1.0 if k > n else float(scipy.special.betaincc(k, n - k + 1, p))


@dataclass(frozen=True)
class TotalPayment:
    """T(n1) = for_one n1 where n1 - 1 >= t, for_zero (n - n1) where n1 < t, 0 at n1 = t; t = floor((n-1)/2) + 1.

    Everything here costs O(log n).

    Args:
        people: n, who take part.
        signal_model: the law of the state.
        reporting: of one report.
        for_one: what a matching 1 is paid.
        for_zero: what a matching 0 is paid.

    Source: spec data_market section 2.2.

    Example:
        >>> from confide.market import LinearCost, MajorityMarket
        >>> total = MajorityMarket(50, 0.8, 0.7, LinearCost(1.0), 1.0).total_payment()
        >>> [round(each, 3) for each in (total.mean, total.sd, total.quantile(0.95), total.largest)]
        [284.892, 126.759, 511.747, 731.067]
    """

    people: int
    signal_model: SignalModel
    reporting: Reporting
    for_one: float
    for_zero: float

    @property
    def threshold(self) -> int:
        """t."""
        return int(majority_threshold(self.people - 1))

    @property
    def _states(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Probability of each state, and that of a report 1 in it."""
        agree, miss = float(self.reporting.agree), float(self.reporting.miss)
        return (self.signal_model.prior_one, agree), (self.signal_model.prior_zero, miss)

    @cached_property
    def _moments(self) -> tuple[float, float, float]:
        """The larger payment, and E[T] and E[T^2] in units of it, since squares of money can leave the doubles."""
        unit = max(self.for_one, self.for_zero)
        for_one, for_zero = self.for_one / unit, self.for_zero / unit
        n, t, first, second = self.people, self.threshold, 0.0, 0.0
        for prior, p in self._states:
            # E[k 1{k > t}] = n p P(Bin(n-1, p) >= t), and E[k (k-1) 1{k > t}] likewise two steps down.
            ones = n * p * _above(n - 1, p, t)
            more = n * (n - 1) * p * p * _above(n - 2, p, t - 1)
            zeros = n * (1 - p) * _below(n - 1, p, t)
            fewer = n * (n - 1) * (1 - p) ** 2 * _below(n - 2, p, t)
            first += prior * (for_one * ones + for_zero * zeros)
            second += prior * (for_one**2 * (more + ones) + for_zero**2 * (fewer + zeros))
        return unit, first, second

    @property
    def mean(self) -> float:
        """E[T]."""
        unit, first, _ = self._moments
        return unit * first

    @property
    def sd(self) -> float:
        """Standard deviation."""
        unit, first, second = self._moments
        return unit * math.sqrt(max(second - first**2, 0.0))

    @property
    def largest(self) -> float:
        """The largest total that is possible: everybody reports the same."""
        return self.people * max(self.for_one, self.for_zero)

    def cdf(self, amount: float) -> float:
        """P(T <= amount)."""
        if amount < 0:
            return 0.0
        n, t = self.people, self.threshold
        top = math.floor(min(n, amount / self.for_one))  # largest n1 > t that pays so little
        zeros = math.floor(min(n, amount / self.for_zero))
        while top < n and self.for_one * (top + 1) <= amount:  # floor of a rounded quotient
            top += 1
        while zeros < n and self.for_zero * (zeros + 1) <= amount:
            zeros += 1
        return self._within(min(n - zeros, t), max(top, t))

    def _within(self, low: int, high: int) -> float:
        """P(low <= n1 <= high)."""
        n = self.people
        return sum(prior * (1.0 - _below(n, p, low) - _above(n, p, high + 1)) for prior, p in self._states)

    def quantile(self, probability: float) -> float:
        """The least amount that the total does not exceed with that probability, in (0, 1)."""
        wanted = fraction("probability", probability)
        if self.cdf(0.0) >= wanted:
            return 0.0
        t, n = self.threshold, self.people
        found = []
        # Totals rise with the number of equal reports, on either side of t: the least that suffices on each.
        for each, least, most in ((self.for_one, t + 1, n), (self.for_zero, n - t + 1, n)):
            low, high = least, most + 1
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if self.cdf(each * middle) >= wanted else (middle + 1, high)
            if low <= most:
                found.append(each * low)
        return float(np.min(found))
