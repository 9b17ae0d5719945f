"""How well the state can be told from the reports: the exact error of the best guess, and its exponential bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.market.signal_model import Reporting, SignalModel

__all__ = [
    "StateEstimate",
    "at_least",
    "chernoff_bound",
    "decision_threshold",
    "error_probability",
    "errors_at",
    "posterior_one",
]


def at_least(n: ArrayLike, p: ArrayLike, k: ArrayLike) -> Any:
    """P(Bin(n, p) >= k), for any integers k."""
    size, count = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    inside = (count > 0) & (count <= size)
    found = scipy.special.betainc(np.where(inside, count, 1.0), np.where(inside, size - count + 1.0, 1.0), p)
    return np.where(inside, found, np.where(count <= 0, 1.0, 0.0))


def decision_threshold(people: ArrayLike, signal_model: SignalModel, reporting: Reporting) -> Any:
    """t*: the best guess is 1 if at least t* of the reports are 1; in 0..N+1, where the ends always guess the same."""
    n = np.asarray(people, dtype=np.float64)
    lean = math.log(signal_model.prior_zero / signal_model.prior_one)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = n / 2.0 + np.where(lean == 0, 0.0, lean / (2.0 * reporting.log_odds))
    return np.clip(np.ceil(exact), 0, n + 1)


def errors_at(people: ArrayLike, signal_model: SignalModel, reporting: Reporting) -> NDArray[np.float64]:
    """The least error probability, for arrays of people and levels that broadcast."""
    t = decision_threshold(people, signal_model, reporting)
    n = np.asarray(people, dtype=np.float64)
    # P(Bin(N, alpha) < t) = P(Bin(N, 1 - alpha) >= N - t + 1): small numbers stay exact.
    missed = at_least(n, reporting.miss, n - t + 1.0)
    false = at_least(n, reporting.miss, t)
    found: NDArray[np.float64] = signal_model.prior_one * missed + signal_model.prior_zero * false
    return found


def error_probability(people: int, signal_model: SignalModel, reporting: Reporting) -> float:
    """The probability that the best guess of the state from N reports of one level is wrong; exact.

    Source: spec data_market section 2.5 (the maximum a posteriori rule).

    Example:
        >>> round(error_probability(1, SignalModel(0.5, 0.8), Reporting.of(0.8, 700.0)), 12)
        0.2
    """
    return float(errors_at(people, signal_model, reporting))


def chernoff_bound(signal_model: SignalModel, information: float) -> float:
    """sqrt(P1 P0) e^(-information): no best guess is worse, with the sum of all reports' Chernoff informations."""
    return math.sqrt(signal_model.prior_one * signal_model.prior_zero) * math.exp(-information)


@dataclass(frozen=True, kw_only=True)
class StateEstimate:
    """What the counts of reports say about the state, if everybody played the equilibrium and the beliefs are right.

    Args:
        state: 0 or 1, the guess.
        wrong: probability that it is wrong, given the counts, in [0, 1].
        people: how many reported.
    """

    state: int
    wrong: float
    people: int

    @property
    def probability_one(self) -> float:
        """P(state = 1), given the counts."""
        return 1.0 - self.wrong if self.state else self.wrong


def posterior_one(ones: int, zeros: int, signal_model: SignalModel, reporting: Reporting) -> float:
    """P(W = 1) given so many reports of 1 and of 0, each by the epsilon-strategy.

    Example:
        >>> from confide.market.signal_model import SignalModel, Reporting
        >>> round(posterior_one(7, 3, SignalModel(0.7, 0.8), Reporting.of(0.8, 1.0)), 6)
        0.957915
    """
    prior = math.log(signal_model.prior_one / signal_model.prior_zero)
    return float(scipy.special.expit(prior + (ones - zeros) * reporting.log_odds))
