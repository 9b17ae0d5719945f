"""The share of ones, estimated from randomised reports, and the probability that the estimate is off by more than a
given error.

Three bounds on the failure probability of the estimate hold for any bits. The exact failure probability is also
computed, for every number of ones. The bounds fall as the level rises. The exact probability is not monotone in the
level, because counts are whole numbers and the set of failing counts changes in jumps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.probabilities import as_probabilities
from confide.contract.renamed import renamed
from confide.market.signal_model import as_level

__all__ = [
    "LARGEST_EXACT",
    "PRECISION",
    "MeanEstimate",
    "chebyshev_level",
    "failure_probability",
    "half_width",
    "hoeffding_level",
    "mean_estimate",
    "thesis_level",
]

LARGEST_EXACT = 100_000
"""Largest number of people for which the failure probability is computed exactly at every number of ones."""

PRECISION = 1e-13
"""Largest error of an exact failure probability."""

_TAIL = 1e-17  # what is left out of a law, at most
_BLOCK = 2_000_000  # entries of one table


@dataclass(frozen=True, kw_only=True)
class MeanEstimate:
    """An unbiased estimate of the share of ones among the participants.

    Args:
        value: estimate ((e^epsilon + 1) mean of the reports - 1)/(e^epsilon - 1), by Wang 2016, (5.2). The estimate can
            be outside [0, 1].
        sd: standard deviation of the estimate over the randomness of the reports, 1/(2 sqrt(n) sinh(epsilon/2)), which
            is the same for all bits.
        people: number n of people who reported.
        epsilon: privacy level of the people's reports, in nats.

    Example:
        >>> found = mean_estimate(ones=55, zeros=45, epsilon=1.0)
        >>> round(found.value, 4), round(found.sd, 4), [round(x, 4) for x in found.interval(0.05)]
        (0.6082, 0.096, [0.3143, 0.9021])
    """

    value: float
    sd: float
    people: int
    epsilon: float

    @property
    def clipped(self) -> float:
        """The number in [0, 1] that is nearest to the estimate. Unlike the estimate, this number is biased."""
        return min(max(self.value, 0.0), 1.0)

    @renamed(delta="failure_probability")
    def interval(self, failure_probability: float) -> tuple[float, float]:
        """A confidence interval for the share of ones, within [0, 1].

        Args:
            failure_probability: upper bound, in (0, 1), on the probability that the share lies outside the interval,
                over the randomness of the reports and for any bits.
        """
        reach = half_width(self.people, self.epsilon, failure_probability)
        low, high = (min(max(each, 0.0), 1.0) for each in (self.value - reach, self.value + reach))
        return low, high


def mean_estimate(ones: int, zeros: int, epsilon: float) -> MeanEstimate:
    """Estimate the share of ones from the two counts of reports.

    Raises:
        InvalidInput: nobody reported.

    Source: Wang 2016, (5.2); spec data_market section 4.
    """
    heads, n, level = whole("ones", ones), ones + whole("zeros", zeros), as_level("epsilon", epsilon)
    if n == 0:
        raise InvalidInput("ones + zeros", "there are no reports, so there is no estimate", "must be at least 1")
    slope = math.tanh(level / 2.0)
    return MeanEstimate(value=0.5 + (heads / n - 0.5) / slope, sd=1.0 / (2.0 * math.sqrt(n) * math.sinh(level / 2.0)),
                        people=n, epsilon=level)


def half_width(people: int, epsilon: float, failure_probability: float) -> float:
    """The smaller of Chebyshev's and Hoeffding's bounds on the error of the estimate, at a given failure probability.

    Example:
        >>> round(half_width(10_000, 1.0, 0.05), 6)
        0.029389
    """
    n, level = whole("people", people, at_least=1), as_level("epsilon", epsilon)
    failure = fraction("failure_probability", failure_probability)
    return min(1.0 / (2.0 * math.sinh(level / 2.0) * math.sqrt(n * failure)),
               math.sqrt(math.log(2.0 / failure) / (2.0 * n)) / math.tanh(level / 2.0))


def _target(people: int, error: float, failure: float) -> tuple[int, float, float]:
    return whole("people", people, at_least=1), positive("error", error), fraction("failure_probability", failure)


def thesis_level(people: int, error: float, failure: float) -> float:
    """The privacy level ln(2 + 1/(N error^2 failure)) that Wang's thesis proves to be accurate enough. The level is
    never below ln 2.

    Source: Wang 2016, Theorem 10, (5.16).

    Example:
        >>> target = (10**6, 0.01, 0.05)
        >>> round(thesis_level(*target), 7), round(chebyshev_level(*target), 7), round(hoeffding_level(*target), 7)
        (0.7884574, 0.4435683, 0.273309)
    """
    n, width, failure = _target(people, error, failure)
    return math.log(2.0 + 1.0 / (n * width**2 * failure))


def chebyshev_level(people: int, error: float, failure: float) -> float:
    """The least level that Chebyshev's bound accepts: 2 asinh(1/(2 sqrt(N error^2 failure))).

    Theorem 10 of Wang 2016 uses Chebyshev's bound too; the exact inversion of the bound is ours.
    """
    n, width, failure = _target(people, error, failure)
    return 2.0 * math.asinh(1.0 / (2.0 * width * math.sqrt(n * failure)))


def hoeffding_level(people: int, error: float, failure: float) -> float:
    """The least level that Hoeffding's bound accepts: 2 atanh(sqrt(ln(2/failure)/(2 N))/error) (ours).

    The level is infinite where there are too few people for the bound.
    """
    n, width, failure = _target(people, error, failure)
    slope = math.sqrt(math.log(2.0 / failure) / (2.0 * n)) / width
    return 2.0 * math.atanh(slope) if slope < 1.0 else math.inf


def _failures(n: int, epsilon: float, error: float, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability that the estimate is off by more than `error`, for each number K of ones.

    With w the frequency, the count X of reported ones has the characteristic function e^(i N w/2) r^N e^(i (2K - N)
    psi), where r and psi are computed below. The inverse Fourier sum runs over a circle so large that the mass that
    wraps around it is at most _TAIL, by Hoeffding's bound. The sum uses the frequencies at which r^N, the same for
    every K, is above _TAIL.
    """
    t = math.tanh(epsilon / 2.0)
    reach = error * n * t * (1.0 - 1e-12)  # what is on the border up to rounding counts as a failure
    window = math.sqrt(n * math.log(2.0 / _TAIL) / 2.0)
    if reach >= min(window, n):
        return np.zeros(counts.size)
    circle = min(2 * math.ceil(window), n) + 1
    circle += 1 - circle % 2
    half = math.pi * np.arange(1, (circle + 1) // 2) / circle  # w/2
    # ln r^2 = ln(1 - (1 - t^2) sin^2(w/2)), and 1 - t^2 = 4 q (1 - q)
    spread = float(scipy.special.expit(epsilon) * scipy.special.expit(-epsilon))
    size = n / 2.0 * np.log1p(-4.0 * spread * np.sin(half) ** 2)
    half, size = half[size > math.log(_TAIL)], np.exp(size[size > math.log(_TAIL)])
    psi = np.arctan(t * np.tan(half))
    found = np.empty(counts.size)
    step = max(1, _BLOCK // max(half.size, 1))
    for start in range(0, counts.size, step):
        k = counts[start:start + step]
        mean = n / 2.0 + (k - n / 2.0) * t
        # Cut to the possible counts: a wider interval would go round a circle of N + 1 counts more than once.
        low, high = np.maximum(np.ceil(mean - reach), 0.0), np.minimum(np.floor(mean + reach), n)
        wide = high - low + 1.0
        turn = np.outer(n - low - high, half) + np.outer(2.0 * k - n, psi)
        inside = wide + 2.0 * (np.cos(turn) * np.sin(np.outer(wide, half))) @ (size / np.sin(half))
        found[start:start + step] = 1.0 - inside / circle
    return np.clip(found, 0.0, 1.0)


def failure_probability(people: int, epsilon: float, error: float, *, ones: ArrayLike | None = None,
                        counts: ArrayLike | None = None) -> float:
    """The probability that the estimate is off by more than `error`, over the reports' randomness; exact to 1e-13.

    Args:
        people: number N of people up to 100,000, all of whom take part.
        epsilon: privacy level of the reports, in (0, 700] nats.
        error: allowed error of the estimated share, > 0.
        ones: number of ones among the bits, or several possible numbers of ones. For several numbers the result is the
            largest of the failure probabilities.
        counts: (N + 1,) law of the number of ones among the bits, over which the probability is averaged.

    Returns:
        The failure probability; by default the largest over all numbers of ones, a guarantee that holds for any bits.

    Source: spec data_market section 4 (ours).

    Example:
        >>> round(failure_probability(100, 1.5, 0.1, ones=30), 9)
        0.092257853
        >>> [round(failure_probability(1000, level, 0.05, ones=10), 4) for level in (1.0038, 1.0110)]
        [0.0934, 0.1]
    """
    n, level, width = whole("people", people, at_least=1), as_level("epsilon", epsilon), positive("error", error)
    if n > LARGEST_EXACT:
        raise Unsupported("people", f"the exact failure probability for {n} people", f"at most {LARGEST_EXACT} people")
    if counts is not None:
        law = as_probabilities(counts)
        if law.shape != (n + 1,) or np.any(law < 0) or not abs(float(law.sum()) - 1.0) <= 1e-9:
            raise InvalidInput("counts", "is not a law of the number of ones", f"must be {n + 1} probabilities")
        some = np.flatnonzero(law)
        return float(law[some] @ _failures(n, level, width, some.astype(np.float64)))
    if ones is not None:
        given = np.atleast_1d(np.asarray(ones, dtype=np.float64))
        if np.any((given < 0) | (given > n) | (given != np.floor(given))):
            raise InvalidInput("ones", "is not a number of people", f"must be in 0..{n}")
        return float(_failures(n, level, width, given).max())
    # Exchanging the labels of bits and reports turns K into N - K.
    return float(_failures(n, level, width, np.arange(n // 2 + 1.0)).max())
