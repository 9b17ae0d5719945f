"""The probability that the majority of m independent reports errs, at any m up to 10^9, without cancellation.

Each of the m reports equals the state with probability alpha = (1 + rho)/2. A majority of ones needs floor(m/2) + 1
ones, and a tie counts as 0. Three numbers describe the majority of the reports:

- `low` = b1 = P(majority says 0 | state 1) and `high` = b0 = P(majority says 1 | state 0), which are equal for odd m;
- `kappa` = 1 - b1 - b0, the probability of a majority of ones in state 1 minus the probability of a majority of ones in
  state 0.

Source: Wang 2016, section 3.3.2 (with the symbols beta for 1 - b1 and gamma for 1 - b1 + b0); the stable forms are
ours, spec data_market 2.2.

The module also computes the joint law of the numbers of ones and of zeros among the other people's reports, given the
state. Finally, the module computes the exact error probability of the best guess of the state from all reports, and
exponential bounds on this probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput, Unsupported
from confide.market.signal_model import Reporting, SignalModel

__all__ = [
    "LARGEST_EXACT",
    "MOST_VALUES",
    "MajorityErrors",
    "StateEstimate",
    "at_least",
    "binomial_pmf",
    "binomial_weights",
    "chernoff_bound",
    "decision_threshold",
    "error_probability",
    "errors_at",
    "joint_counts",
    "log_errors",
    "majority_errors",
    "majority_odds",
    "majority_threshold",
    "posterior_one",
    "table_of_errors",
]

# ---- counts

LARGEST_EXACT = 2000
"""Largest number of people with different strategies and random absence whose joint counts are computed exactly."""

MOST_VALUES = 2**23
"""Largest number of values of a binomial variable whose probabilities are tabulated."""


def binomial_pmf(n: int, p: float, low: int, high: int) -> NDArray[np.float64]:
    """Probabilities P(Bin(n, p) = k) for k = low..high, scaled to sum to 1. The range low..high must hold all but a
    negligible part of the probability.
    """
    if p <= 0 or p >= 1:
        certain: NDArray[np.float64] = np.equal(np.arange(low, high + 1), 0 if p <= 0 else n).astype(np.float64)
        return certain
    k = np.arange(low, high, dtype=np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - k) / (k + 1.0)) + (math.log(p) - math.log1p(-p)))])
    weights = np.exp(logs - logs.max())
    found: NDArray[np.float64] = weights / weights.sum()
    return found


def binomial_weights(n: int, p: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The values of Bin(n, p) at a distance of at most 12 standard deviations plus 40 from the mean, and the
    probability of each value.

    Raises:
        Unsupported: the range has more than 2^23 values.
    """
    reach = 12.0 * math.sqrt(n * p * (1.0 - p)) + 40.0
    if 2.0 * reach > MOST_VALUES:
        raise Unsupported("people", f"the law of the number of participants among {n:.6g} people, with "
                                    f"{2.0 * reach:.2g} values",
                          f"at most {MOST_VALUES:,} values ({MOST_VALUES * 8 // 2**20} MiB for each of their numbers)")
    low, high = max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))
    return np.arange(low, high + 1), binomial_pmf(n, p, low, high)


def _trinomial(size: int, law: NDArray[np.float64]) -> NDArray[np.float64]:
    """(size+1, size+1) table of P(number of ones, number of zeros) of `size` independent people.

    Args:
        size: number of people.
        law: (3,) probabilities that a person reports 0, reports 1, and takes no part.
    """
    zero, one = float(law[0]), float(law[1])
    table = np.zeros((size + 1, size + 1))
    present = binomial_pmf(size, zero + one, 0, size)
    rate = one / (zero + one) if zero + one > 0 else 0.0
    for n in np.flatnonzero(present):
        k = np.arange(n + 1)
        table[k, n - k] = present[n] * binomial_pmf(int(n), rate, 0, int(n))
    return table


def joint_counts(groups: Sequence[tuple[int, NDArray[np.float64]]]) -> tuple[NDArray[np.int64], NDArray[np.int64],
                                                                             NDArray[np.float64]]:
    """The joint law of the number of ones and the number of zeros that independent people report.

    Args:
        groups: one pair for each group: its number of people, and the (3,) probabilities that a member reports 0,
            reports 1, and takes no part.

    Returns:
        Possible numbers of ones, the numbers of zeros that go with them, and the probability of each such pair, as
        three arrays of equal length.

    Raises:
        InvalidInput: more than 2000 people take part, and some of them are sometimes absent.
    """
    steady = [(size, law) for size, law in groups if size and law[2] == 0.0]
    unsteady = [(size, law) for size, law in groups if size and 0.0 < law[2] < 1.0]
    fixed, least, ones = sum(size for size, _ in steady), 0, np.ones(1)
    for size, law in steady:
        k, weights = binomial_weights(size, float(law[1]))
        least, ones = least + int(k[0]), np.convolve(ones, weights)
    heads = least + np.arange(ones.size)
    if not unsteady:
        return heads, fixed - heads, ones
    if fixed + sum(size for size, _ in unsteady) > LARGEST_EXACT:
        raise InvalidInput("others", "there are too many people for different strategies and absences",
                           f"must be at most {LARGEST_EXACT} people, or people with one common strategy")
    from scipy.signal import fftconvolve  # slow to import, and most plans need none

    table = np.zeros((fixed + 1, fixed + 1))
    table[heads, fixed - heads] = ones
    for size, law in unsteady:
        table = np.maximum(fftconvolve(table, _trinomial(size, law)), 0.0)
    heads, tails = np.nonzero(table)
    return heads, tails, table[heads, tails]


# ---- binomials

UNDERFLOW = 600.0
"""Largest exponent m D at which error probabilities are computed as numbers, for m reports with Chernoff information D
each. For larger exponents, the logarithms of the error probabilities are computed.
"""

TINY = 1e-30
"""Smallest rho whose square is computed. For smaller rho, kappa is proportional to rho for every m, and rho^2 could
underflow.
"""


@dataclass(frozen=True)
class MajorityErrors:
    """The two error probabilities of a majority of m reports, and kappa; each field is a number, or an array over m.

    Args:
        low: P(the majority says 0 | state 1).
        high: P(the majority says 1 | state 0).
        kappa: difference 1 - low - high, which measures how strongly the majority depends on the state.
    """

    low: Any
    high: Any
    kappa: Any


def majority_threshold(m: ArrayLike) -> Any:
    """The least number of ones that is a majority of m reports: t = floor(m/2) + 1."""
    return np.asarray(m) // 2 + 1


def majority_errors(m: ArrayLike, reporting: Reporting) -> MajorityErrors:
    """The error probabilities of a majority of m reports.

    Args:
        m: numbers of reports, whole numbers >= 0.
        reporting: law of one report given the state; the fields of the law broadcast with m.

    Example:
        >>> errors = majority_errors(39, Reporting.of(0.8, 1e-4))
        >>> f"{float(errors.kappa):.10e}"
        '1.5044482416e-04'
    """
    size, rho, miss, agree = np.broadcast_arrays(np.asarray(m, dtype=np.float64), reporting.edge, reporting.miss,
                                                 reporting.agree)
    half = np.floor(size / 2.0)
    odd, some = size > 2.0 * half, size > 0
    near = np.maximum(np.abs(rho), TINY)
    kappa = scipy.special.betainc(0.5, half + odd, near**2, where=some, out=np.zeros(size.shape)) * (rho / near)
    # Two regularised beta functions each, and none where its value is not used.
    sharp = odd & (kappa >= 0.5)
    both = np.where(odd, (1.0 - kappa) / 2.0, 0.0)
    scipy.special.betainc(half + 1.0, 0.5, 4.0 * miss * agree, where=sharp, out=both)
    both[sharp] *= 0.5
    even = some & ~odd
    low = scipy.special.betainc(half, half + 1.0, miss, where=even, out=np.where(some, both, 1.0))
    high = scipy.special.betainc(half + 1.0, half, miss, where=even, out=both)
    return MajorityErrors(low=low[()], high=high[()], kappa=kappa[()])


def _central(k: ArrayLike) -> NDArray[np.float64]:
    """The value C(2k, k)/4^k for k >= 0, computed by its asymptotic series for k >= 32."""
    index = np.asarray(k, dtype=np.float64)
    small = np.minimum(index, 32.0)
    paths = scipy.special.gammaln(2 * small + 1) - 2 * scipy.special.gammaln(small + 1)
    near = np.exp(paths - 2 * small * math.log(2.0))
    far = np.maximum(index, 32.0)
    inverse = 1.0 / far
    series = 1 + inverse * (-1 / 8 + inverse * (1 / 128 + inverse * (5 / 1024 + inverse * (
        -21 / 32768 + inverse * (-399 / 262144 + inverse * (869 / 4194304 + inverse * 39325 / 33554432))))))
    return np.where(index < 32, near, series / np.sqrt(math.pi * far))


def table_of_errors(largest: int, reporting: Reporting, least: int = 0) -> MajorityErrors:
    """The error probabilities of majorities of m reports, for every m = least..largest. Each probability is computed
    from the probability at a neighbouring m by adding a positive term.

    Let u_k = C(2k, k) (alpha (1-alpha))^k, where alpha is the probability that a report equals the state. From 2k-1 to
    2k+1 reports kappa rises by rho u_k, and each error probability falls by half of this amount. With 2k reports kappa
    is the same as with 2k-1 reports. With 2k reports the error in state 0 is the error with 2k+1 reports minus
    (1-alpha) u_k, and the error in state 1 is larger than the error in state 0 by u_k.

    Args:
        largest: number of reports m of the last entry.
        reporting: law of one report given the state, with numbers (not arrays) as fields and rho = `edge` > 0.
        least: number of reports m of the first entry, >= 0.
    """
    first, top = least // 2, largest // 2
    rho, miss, k = float(reporting.edge), float(reporting.miss), np.arange(first, top + 1)
    with np.errstate(under="ignore"):
        u = _central(k) * np.exp(k * float(reporting.log_rate))
    # Rows: 2k and 2k + 1 reports.
    low, high, kappa = (np.empty((k.size, 2)) for _ in range(3))
    rest = np.append(np.cumsum(u[:0:-1])[::-1], 0.0)
    low[:, 1] = high[:, 1] = float(majority_errors(2 * top + 1, reporting).low) + rho / 2.0 * rest
    high[:, 0] = high[:, 1] - miss * u
    low[:, 0] = high[:, 0] + u
    kappa[:, 1] = float(majority_errors(2 * first + 1, reporting).kappa) + rho * np.append(0.0, np.cumsum(u[1:]))
    kappa[1:, 0] = kappa[:-1, 1]
    kappa[0, 0] = float(majority_errors(2 * first, reporting).kappa)
    if first == 0:
        low[0, 0], high[0, 0] = 1.0, 0.0
    part = slice(least - 2 * first, largest - 2 * first + 1)
    return MajorityErrors(low=low.ravel()[part], high=high.ravel()[part], kappa=kappa.ravel()[part])


def majority_odds(least: int, largest: int, rate: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(no majority of ones) and P(a majority of ones) among m independent reports, for each m = least..largest.

    Args:
        least: first number of reports m, >= 0.
        largest: last number of reports m.
        rate: probability that one report is 1, in [0, 1].
    """
    m = np.arange(least, largest + 1)
    if rate <= 0.0 or rate >= 1.0:
        ones = ((m > 0) & (rate >= 1.0)).astype(np.float64)
        return 1.0 - ones, ones
    more = max(rate, 1.0 - rate)
    reporting = Reporting(edge=2.0 * more - 1.0, agree=more, miss=min(rate, 1.0 - rate))
    errors = table_of_errors(largest, reporting, least)
    return (errors.low, 1.0 - errors.low) if rate >= 0.5 else (1.0 - errors.high, errors.high)


def _log_tail(m: int, top: int, ratio: float) -> float:
    """Logarithm of the sum of P(k)/P(top) over k = top, top - 1, ..., 0, where P(k-1)/P(k) = ratio k/(m -
    k + 1) < 1.
    """
    total, term, start, size = 1.0, 1.0, top, 256
    while start > 0 and term > 1e-18 * total:
        k = np.arange(start, max(start - size, 0), -1, dtype=np.float64)
        terms = term * np.cumprod(ratio * k / (m - k + 1.0))
        total += float(terms.sum())
        term, start, size = float(terms[-1]), start - size, 4 * size
    return math.log(total)


def log_errors(m: int, reporting: Reporting) -> tuple[float, float]:
    """The logarithms of the two error probabilities b1 and b0 of a majority, also where the probabilities underflow.

    Args:
        m: number of reports, at least 1.
        reporting: law of one report given the state, with numbers (not arrays) as fields and `edge` > 0. The edge must
            be positive because terms are summed from the majority threshold downwards.

    Example:
        >>> round(log_errors(10**6, Reporting.of(0.8, 1.0))[0], 3)
        -40003.679
    """
    agree, miss, log_rate = float(reporting.agree), float(reporting.miss), float(reporting.log_rate)
    k = (m + 1) // 2
    log_u = k * log_rate + math.log(float(_central(k)))
    ratio = miss / agree
    if m % 2:
        both = log_u - math.log(2.0 * agree) + _log_tail(m, k - 1, ratio)
        return both, both
    low = log_u + _log_tail(m, k, ratio)
    high = log_u + math.log(k * miss / ((k + 1) * agree)) + _log_tail(m, k - 1, ratio)
    return low, high


# ---- decision


def at_least(n: ArrayLike, p: ArrayLike, k: ArrayLike) -> Any:
    """P(Bin(n, p) >= k), for any integers k."""
    size, count = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    inside = (count > 0) & (count <= size)
    found = scipy.special.betainc(np.where(inside, count, 1.0), np.where(inside, size - count + 1.0, 1.0), p)
    return np.where(inside, found, np.where(count <= 0, 1.0, 0.0))


def decision_threshold(people: ArrayLike, signal_model: SignalModel, reporting: Reporting) -> Any:
    """The decision threshold t*: the best guess of the state is 1 if at least t* of the N reports are 1.

    The threshold is in 0..N+1. A threshold of 0 always gives the guess 1, and a threshold of N+1 always gives the guess
    0.
    """
    n = np.asarray(people, dtype=np.float64)
    prior_odds = math.log(signal_model.prior_zero / signal_model.prior_one)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = n / 2.0 + np.where(prior_odds == 0, 0.0, prior_odds / (2.0 * reporting.log_odds))
    return np.clip(np.ceil(exact), 0, n + 1)


def errors_at(people: ArrayLike, signal_model: SignalModel, reporting: Reporting) -> NDArray[np.float64]:
    """The error probability of the best guess of the state, for an array of numbers of people and a law `reporting`
    with arrays as fields. The arrays broadcast.
    """
    t = decision_threshold(people, signal_model, reporting)
    n = np.asarray(people, dtype=np.float64)
    # P(Bin(N, alpha) < t) = P(Bin(N, 1 - alpha) >= N - t + 1): small numbers stay exact.
    missed = at_least(n, reporting.miss, n - t + 1.0)
    false = at_least(n, reporting.miss, t)
    found: NDArray[np.float64] = signal_model.prior_one * missed + signal_model.prior_zero * false
    return found


def error_probability(people: int, signal_model: SignalModel, reporting: Reporting) -> float:
    """The exact probability that the best guess of the state from N reports at one level is wrong.

    Source: spec data_market section 2.5 (the maximum a posteriori rule).

    Example:
        >>> round(error_probability(1, SignalModel(0.5, 0.8), Reporting.of(0.8, 700.0)), 12)
        0.2
    """
    return float(errors_at(people, signal_model, reporting))


def chernoff_bound(signal_model: SignalModel, information: float) -> float:
    """The Chernoff bound sqrt(P1 P0) e^(-information) on the error probability of the best guess of the state.

    Args:
        signal_model: law of the state, with P1 and P0 the prior probabilities of 1 and of 0.
        information: sum of the Chernoff informations of all reports.
    """
    return math.sqrt(signal_model.prior_one * signal_model.prior_zero) * math.exp(-information)


@dataclass(frozen=True, kw_only=True)
class StateEstimate:
    """The best guess of the state from the counts of reports, if all people play the equilibrium strategy and the prior
    is correct.

    Args:
        state: guess of the state, 0 or 1.
        wrong: probability that the guess is wrong, given the counts, in [0, 1].
        people: number of people who reported.
    """

    state: int
    wrong: float
    people: int

    @property
    def probability_one(self) -> float:
        """P(state = 1), given the counts."""
        return 1.0 - self.wrong if self.state else self.wrong


def posterior_one(
    ones: int, zeros: int, signal_model: SignalModel, reporting: Reporting, *, state: int = 1
) -> float:
    """P(state = 1) given the numbers of ones and zeros among reports that are drawn by randomised response; with
    `state=0`, P(state = 0), which keeps its relative precision where it is tiny.

    Example:
        >>> from confide.market.signal_model import SignalModel, Reporting
        >>> round(posterior_one(7, 3, SignalModel(0.7, 0.8), Reporting.of(0.8, 1.0)), 6)
        0.957915
    """
    prior = math.log(signal_model.prior_one / signal_model.prior_zero)
    odds = prior + (ones - zeros) * reporting.log_odds
    return float(scipy.special.expit(odds if state else -odds))
