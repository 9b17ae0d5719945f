"""The payments of the threshold market: a report that equals the majority of the others is paid, and any other report
owes money.

The coefficients A and B of Wang 2016, section 4.3, are combined without cancellation. Let theta be the signal accuracy,
and P1 and P0 the prior probabilities of the states. Let Q be the expected payment of the unchanged bit, and T the
expected loss from reporting the opposite of the bit. Let U = T - Q + (1-theta) T/(2 theta - 1) and V = Q + (1-theta)
T/(2 theta - 1), which are positive. Let Z = P(company) P1 P0 kappa, where company means that at least one of the others
takes part. M is the majority of the others, with error probabilities b1 and b0, and kappa = 1 - b1 - b0. The payments
are:

    report 1, M = 1:  (P1 b1 U + P0 (1-b0) V)/(2 Z)      report 0, M = 1: -(P1 b1 V + P0 (1-b0) U)/(2 Z)
    report 0, M = 0:  (P0 b0 U + P1 (1-b1) V)/(2 Z)      report 1, M = 0: -(P0 b0 V + P1 (1-b1) U)/(2 Z)

For every number of participants, a match is therefore paid and a mismatch owes money.

The module also computes the error probability of a guess from the reports of a random set of participants, and the
number of participants that Wang's thesis asks for. The guess is 1 if at least as many reports are 1 as 0, by Wang's
rule of maximum likelihood.

Finally, the module has the law of the total payment in one run, over random participation and random reports.
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
    """The exact probability of a wrong guess of the state, to an absolute 1e-30.

    Args:
        people: number N of invited people.
        participation: probability with which each person takes part.
        signal_model: law of the state.
        reporting: law of one participant's report given the state.

    Source: spec data_market section 3 (ours). Numbers of participants that differ from the mean by more than 12
    standard deviations plus 40 are left out.
    """
    n, weights = binomial_weights(people, participation)
    errors = table_of_errors(int(n[-1]), reporting, int(n[0]))
    # Ties guess 1: state 1 is missed where a majority says 0, and state 0 where none does.
    return float(weights @ (signal_model.prior_one * errors.high + signal_model.prior_zero * errors.low))


def attendance_bound(people: int, participation: float, reporting: Reporting) -> float:
    """The upper bound (1 - p (1 - 2 sqrt(alpha (1-alpha))))^N on the probability of a wrong guess, for N people who
    take part with probability p.

    Given j reports, each equal to the state with probability alpha, the two error probabilities of the rule sum to at
    most (2 sqrt(alpha (1-alpha)))^j. The upper bound is the average of (2 sqrt(alpha (1-alpha)))^j over the random
    number j of reports.

    Source: spec data_market section 3 (ours).
    """
    return math.exp(people * math.log1p(participation * math.expm1(float(reporting.log_rate) / 2.0)))


def thesis_attendance(error: float, signal_accuracy: float, epsilon: float) -> float:
    """The expected number rho n_e of participants with which Wang's thesis guarantees an error probability.

    Args:
        error: error probability p_e^max in (0, 1).
        signal_accuracy: probability theta that a bit equals the state.
        epsilon: least level of a participant.

    Source: Wang 2016, (4.6)-(4.8). By the proof n_e may be smaller by one, with "+1" in place of the printed "+2"
    (erratum E6).

    Example:
        >>> round(thesis_attendance(0.05, 0.8, 2.0), 5)
        123.74256
    """
    goal = fraction("error", error)
    needed = -math.log(goal / 2.0) / float(Reporting.of(signal_accuracy, epsilon).chernoff)
    share = 1.0 / (needed * goal)
    return needed * (share + 2.0 + math.sqrt(share * share + 2.0 * share))


def thesis_error(attendance: float, signal_accuracy: float, epsilon: float) -> float:
    """The smallest upper bound p_e^max on the error probability that Wang's thesis guarantees for an expected number of
    participants; 1 if the thesis gives no bound.

    Source: Wang 2016, Theorem 8, (4.6)-(4.10), solved for the error probability.
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
    """The expected payments of a participant, averaged over their bit: Q if the report equals the bit, and Q - T if it
    does not.

    Args:
        threshold: largest cost c_th of a nat of privacy at which people take part.
        epsilon: least level of a participant.
    """

    threshold: float
    epsilon: float

    @property
    def truth(self) -> float:
        """The expected payment Q = c_th (1 + e^-epsilon + epsilon) of an unchanged bit."""
        return self.threshold * (1.0 + math.exp(-self.epsilon) + self.epsilon)

    @property
    def stake(self) -> float:
        """The expected loss T = 2 c_th (1 + cosh epsilon) from reporting the opposite of the bit."""
        return self.threshold * 2.0 * (1.0 + math.cosh(self.epsilon))

    @property
    def loss(self) -> float:
        """The expected debt T - Q = c_th (1 + e^epsilon - epsilon) > 0 of a person who reports the opposite of their
        bit.
        """
        return self.threshold * (1.0 + math.exp(self.epsilon) - self.epsilon)

    def payment(self, flip: Any) -> Any:
        """The expected payment Q - T flip of a report that differs from the bit with probability `flip`."""
        return self.truth - self.stake * flip


def signed_tables(terms: Terms, signal_model: SignalModel, errors: MajorityErrors,
                  company: float) -> NDArray[np.float64]:
    """The (..., 2, 2) payments of report x (row) when the majority of the others is m (column), in money.

    Args:
        terms: expected payments Q and T of the market.
        signal_model: law of the state and of one bit.
        errors: error probabilities of the majority of the others; numbers, or arrays over the number of others.
        company: probability that at least one of the others takes part.

    Raises:
        InvalidInput: the payments overflow.

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
        raise InvalidInput("epsilon", f"{terms.epsilon:g} needs payments that are too large for 64-bit floats",
                           "must be lower")
    return table


# ---- signed totals


def _within(n: Any, rate: float, low: Any, high: Any) -> NDArray[np.float64]:
    """The probability P(low <= Bin(n, rate) <= high), which is 0 for n < 0."""
    found = at_least(np.maximum(n, 0), rate, low) - at_least(np.maximum(n, 0), rate, high + 1)
    inside: NDArray[np.float64] = np.where((np.asarray(n) >= 0) & (high >= low), np.maximum(found, 0.0), 0.0)
    return inside


@dataclass(frozen=True, eq=False)
class SignedTotal:
    """The law of the total payment T(n, n1) in equilibrium; the time for each property is O(sqrt N).

    With n participants, of whom n1 report 1, and t = floor((n-1)/2) + 1, reports of 1 match the others' majority for n1
    > t, and reports of 0 match for n1 < t. At n1 = t no report matches. T falls with n1 up to t, and rises after t. If
    at most one person takes part, the total is 0.

    Args:
        participants: (k,) possible numbers n >= 2 of participants.
        weights: (k,) probabilities of the numbers of participants, which sum to at most 1.
        tables: (k, 2, 2) payments of report x (second axis) when the majority of the others is m (third axis), for each
            number of participants.
        mean: expected total E[T]. A sum over the tables would lose its digits to cancellation at levels of 20 and more,
            where debts are e^epsilon times as large as the mean.
        signal_model: law of the state.
        reporting: law of one report given the state.

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
        """For each state, its prior probability and the probability that a report is 1 in that state."""
        agree, miss = float(self.reporting.agree), float(self.reporting.miss)
        return (self.signal_model.prior_one, agree), (self.signal_model.prior_zero, miss)

    def _pieces(self) -> list[tuple[Any, Any, Any, Any]]:
        """(least n1, largest n1, intercept, slope) for each of the three straight pieces of T as a function of the
        number n1 of ones.
        """
        n, t, pay = self.participants, self._threshold, self.tables
        return [(np.zeros_like(n), t - 1, n * pay[:, 0, 0], pay[:, 1, 0] - pay[:, 0, 0]),
                (t, t, n * pay[:, 0, 1], pay[:, 1, 0] - pay[:, 0, 1]),
                (t + 1, n, n * pay[:, 0, 1], pay[:, 1, 1] - pay[:, 0, 1])]

    @cached_property
    def sd(self) -> float:
        """The standard deviation of the total payment."""
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
        """The probability P(T <= amount), or P(T < amount) if `strict`."""
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
        """The probability P(T <= amount) that the total payment T is at most an amount."""
        return self._up_to(amount, strict=False)

    @property
    def negative(self) -> float:
        """The probability P(T < 0) that the participants together owe money to the collector."""
        return self._up_to(0.0, strict=True)

    def quantile(self, probability: float) -> float:
        """The quantile of the total payment T: the least amount t with P(T <= t) >= `probability`, which is in (0, 1).
        The relative error is at most 1e-12.
        """
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
