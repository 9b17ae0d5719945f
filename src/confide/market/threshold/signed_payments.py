"""The payments of a report that meets the majority of the others: above 0 if equal, below 0 if not.

The printed coefficients A and B, put together without cancellation. With Q paid for the bit as it is, T lost by its
opposite, U = T - Q + (1-theta) T/(2 theta - 1) and V = Q + (1-theta) T/(2 theta - 1), all positive, and
Z = P(company) P1 P0 kappa:

    report 1, M = 1:  (P1 b1 U + P0 (1-b0) V)/(2 Z)      report 0, M = 1: -(P1 b1 V + P0 (1-b0) U)/(2 Z)
    report 0, M = 0:  (P0 b0 U + P1 (1-b1) V)/(2 Z)      report 1, M = 0: -(P0 b0 V + P1 (1-b1) U)/(2 Z)

so that a match earns and a mismatch owes, for every number of participants.

How well the reports of those who happen to take part identify the state, and the number of participants that the thesis
asks for.

The guess is 1 if at least as many reports are 1 as 0: the source's rule, of maximum likelihood.

The law of the total payment of a market with signed payments in one round, over attendance and reports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction
from confide.contract.errors import InvalidInput
from confide.market.binomials import MajorityErrors, at_least, binomial_weights, majority_threshold, table_of_errors
from confide.market.signal_model import Reporting, SignalModel

__all__ = [
    "SignedTotal",
    "Terms",
    "attendance_bound",
    "attendance_error",
    "signed_tables",
    "thesis_attendance",
    "thesis_error",
]

# ---- random attendance


def attendance_error(people: int, participation: float, signal_model: SignalModel, reporting: Reporting) -> float:
    """The exact probability of a wrong guess, to an absolute 1e-30.

    Args:
        people: number N of invited people.
        participation: probability with which each takes part.
        signal_model: law of the state.
        reporting: law of one participant's report.

    Source: spec data_market section 3 (ours); attendance beyond 12 standard deviations and 40 is left out.
    """
    n, weights = binomial_weights(people, participation)
    errors = table_of_errors(int(n[-1]), reporting, int(n[0]))
    # Ties guess 1: state 1 is missed where a majority says 0, and state 0 where none does.
    return float(weights @ (signal_model.prior_one * errors.high + signal_model.prior_zero * errors.low))


def attendance_bound(people: int, participation: float, reporting: Reporting) -> float:
    """The bound (1 - p (1 - 2 sqrt(alpha (1-alpha))))^N, which no probability of a wrong guess exceeds.

    Given j reports the rule's two errors add up to at most (2 sqrt(alpha (1-alpha)))^j; the average over j is this.

    Source: spec data_market section 3 (ours).
    """
    return math.exp(people * math.log1p(participation * math.expm1(float(reporting.log_rate) / 2.0)))


def thesis_attendance(error: float, signal_accuracy: float, epsilon: float) -> float:
    """The number rho n_e, the expected number of participants with which the thesis guarantees an error.

    Args:
        error: p_e^max in (0, 1).
        signal_accuracy: theta.
        epsilon: the least level of a participant.

    Source: Wang 2016, (4.6)-(4.8). The proof needs one n_e less, "+1" in place of "+2" (erratum E6).

    Example:
        >>> round(thesis_attendance(0.05, 0.8, 2.0), 5)
        123.74256
    """
    goal = fraction("error", error)
    needed = -math.log(goal / 2.0) / float(Reporting.of(signal_accuracy, epsilon).chernoff)
    share = 1.0 / (needed * goal)
    return needed * (share + 2.0 + math.sqrt(share * share + 2.0 * share))


def thesis_error(attendance: float, signal_accuracy: float, epsilon: float) -> float:
    """The least p_e^max that the thesis guarantees with that expected number of participants; 1 where none.

    Source: Wang 2016, Theorem 8, (4.6)-(4.10) read backwards.
    """
    from scipy.optimize import brentq

    def excess(log_goal: float) -> float:
        return thesis_attendance(math.exp(log_goal), signal_accuracy, epsilon) - attendance

    least, most = -700.0, math.log1p(-1e-12)
    if excess(most) > 0:
        return 1.0
    return math.exp(float(brentq(excess, least, most, xtol=1e-14))) if excess(least) > 0 else math.exp(least)


# ---- signed payments


@dataclass(frozen=True)
class Terms:
    """The expected payments of reports, whatever the bit: Q if they equal it, Q - T if not.

    Args:
        threshold: c_th.
        epsilon: the least level that is bought.
    """

    threshold: float
    epsilon: float

    @property
    def truth(self) -> float:
        """Q = c_th (1 + e^-epsilon + epsilon)."""
        return self.threshold * (1.0 + math.exp(-self.epsilon) + self.epsilon)

    @property
    def stake(self) -> float:
        """T = 2 c_th (1 + cosh epsilon)."""
        return self.threshold * 2.0 * (1.0 + math.cosh(self.epsilon))

    @property
    def loss(self) -> float:
        """T - Q = c_th (1 + e^epsilon - epsilon) > 0, what the opposite of the bit costs."""
        return self.threshold * (1.0 + math.exp(self.epsilon) - self.epsilon)

    def payment(self, flip: Any) -> Any:
        """Q - T P(report differs from the bit)."""
        return self.truth - self.stake * flip


def signed_tables(terms: Terms, signal_model: SignalModel, errors: MajorityErrors,
                  company: float) -> NDArray[np.float64]:
    """The (..., 2, 2) payments of report x (row) when the majority of the others is m (column), in money.

    Args:
        terms: Q and T.
        signal_model: the law of the state and of one bit.
        errors: errors of the majority of the others; numbers or arrays over their number.
        company: probability that at least one of the others takes part.

    Raises:
        InvalidInput: payments that leave the doubles.

    Source: Wang 2016, section 4.3; the positive form is ours.
    """
    p1, p0 = signal_model.prior_one, signal_model.prior_zero
    lift = (1.0 - signal_model.signal_accuracy) / signal_model.edge * terms.stake
    u, v = terms.loss + lift, terms.truth + lift
    half = 2.0 * company * p1 * p0 * np.asarray(errors.kappa, dtype=np.float64)
    low, high = np.asarray(errors.low, dtype=np.float64), np.asarray(errors.high, dtype=np.float64)
    low_one, low_zero = p1 * low, p0 * (1.0 - high)  # P(W = w, M = 0)
    high_one, high_zero = p1 * (1.0 - low), p0 * high  # P(W = w, M = 1)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = [[(high_zero * u + high_one * v) / half, -(low_one * v + low_zero * u) / half],
                [-(high_zero * v + high_one * u) / half, (low_one * u + low_zero * v) / half]]
    table: NDArray[np.float64] = np.moveaxis(np.array(rows), (0, 1), (-2, -1))
    if not np.all(np.isfinite(table)):
        raise InvalidInput("epsilon", f"{terms.epsilon:g} needs payments beyond the doubles", "must be lower")
    return table


# ---- signed totals


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
        reporting: law of one report.

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
