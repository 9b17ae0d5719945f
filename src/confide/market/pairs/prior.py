"""Common beliefs about people's bits: exchangeable laws, under which the order of the people does not matter.

Payments depend on two moments of the law: the probability P(S = 1) of a one and the covariance D of two people's bits.
Exact failure probabilities and the law of the total payment also need the law of the number of ones, where it is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.parameters import Parameter
from confide.contract.probabilities import as_probabilities
from confide.contract.remedies import printed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.market.costs import PlainNumbers
from confide.market.signal_model import SignalModel
from confide.numerics.sums import running_sum

__all__ = ["LARGEST_LAW", "PairPrior", "as_groups", "log_report_law"]

LEAST_CORRELATION = 1e-12
"""Smallest size of a correlation of two bits; below it, rounding decides the sign of their covariance D."""

LARGEST_WRITTEN = 1_000_000
"""Largest number of people for which a constructor tabulates the law of the number of ones."""

_ROUNDING = 1e-9


def _log_choose(n: ArrayLike, k: ArrayLike) -> Any:
    """The logarithm of the binomial coefficient C(n, k), minus infinity for k outside 0..n."""
    top, part = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    inside = (part >= 0) & (part <= top)
    some = np.where(inside, part, 0.0)
    gammaln = scipy.special.gammaln
    return np.where(inside, gammaln(top + 1) - gammaln(some + 1) - gammaln(top - some + 1), -np.inf)


def _log_law(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values ln P(k) for k = 0..n from the steps ln P(k+1)/P(k), to about 1e-12 where P is not negligible.

    Differences of log-gamma functions are too inaccurate for a million people or large parameters.
    """
    rough = np.concatenate([[0.0], np.cumsum(steps)])
    top = int(np.argmax(rough))  # from the likeliest count outwards: errors grow where probabilities fall
    logs = np.concatenate([running_sum(-steps[:top][::-1])[::-1], [0.0], running_sum(steps[top:])])
    found: NDArray[np.float64] = logs - np.logaddexp.reduce(logs)
    return found


def _log_binomial(n: int, odds: float) -> NDArray[np.float64]:
    """The values ln P(Bin = k) for k = 0..n, where Bin is binomial.

    Args:
        n: number of trials.
        odds: odds p/(1 - p) of success in one trial.
    """
    k = np.arange(float(n))
    return _log_law(np.log((n - k) / (k + 1.0) * odds))


def _log_drawn(n: int, size: float, ones: float) -> NDArray[np.float64]:
    """The values ln P(k of n drawn people have a 1) for k = 0..n, drawn without replacement from a group.

    Args:
        n: number of people who are drawn.
        size: number of people in the group.
        ones: number of people in the group whose bit is 1.
    """
    logs = np.full(n + 1, -np.inf)
    least, most = int(max(0.0, n - (size - ones))), int(min(float(n), ones))
    k = np.arange(float(least), float(most))
    logs[least:most + 1] = _log_law(np.log((ones - k) / (k + 1.0) * ((n - k) / (size - ones - n + k + 1.0))))
    return logs


def as_groups(sizes: ArrayLike, ones: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check and convert the numbers of people and of ones in groups of at least two people."""
    found = []
    for name, values in (("sizes", sizes), ("ones", ones)):
        table = np.asarray(values)
        if table.ndim != 1 or table.size == 0 or table.dtype.kind not in "iuf" or np.any(table != np.floor(table)):
            raise InvalidInput(name, "is not a list of whole numbers", "must have one for each group")
        found.append(table.astype(np.float64))
    size, one = found
    if size.shape != one.shape:
        raise InvalidInput("ones", f"are for {counted(one.size, 'group')}",
                           f"must be for {counted(size.size, 'group')}")
    if np.any(size < 2):
        raise InvalidInput("sizes", "contain a group of fewer than 2 people", "each must be at least 2")
    if np.any((one < 0) | (one > size)):
        raise InvalidInput("ones", "has a number below 0, or above the number of people in its group",
                           "must be in 0..size")
    return size, one


@wire("PairPrior", "people signal_one covariance log_counts")
@dataclass(frozen=True, eq=False)
class PairPrior(PlainNumbers):
    """An exchangeable law of N bits: the belief of a person who knows their own bit and nothing else about the others.

    A person who also knows a cause of the correlation, such as their group, has another belief and is not paid for the
    truth; see `audit_groups`.

    Raises:
        InvalidInput: a field is out of range; the message names the field, and for the covariance D its possible range.

    Source: Wang 2016, section 5.2 and (5.3)-(5.5); spec data_market section 4.

    Example:
        >>> prior = PairPrior.beta_binomial(2.0, 3.0, people=10)
        >>> round(prior.signal_one, 6), round(prior.covariance, 6), round(prior.correlation, 6)
        (0.4, 0.04, 0.166667)
    """

    people: Annotated[int, Parameter("number of people, with one bit each", symbol="N", at_least=2)]
    signal_one: Annotated[float, Parameter("probability that a bit is 1", symbol="P_1", above=0, below=1)]
    covariance: Annotated[float, Parameter("covariance of two people's bits, above or below 0; it must be possible for "
                                           "N bits", symbol="D")]
    log_counts: Annotated[NDArray[np.float64] | None, Parameter(
        "(N + 1,) logarithms of the law of the number of ones; None if it is unknown. The constructors of_counts, "
        "beta_binomial, two_state and of_groups fill it in")] = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_covariance(self.people)
        if self.log_counts is not None:
            self._check_counts(self.people, np.array(self.log_counts, dtype=np.float64))

    def _check_covariance(self, n: int) -> None:
        alone = self.signal_one * self.signal_zero
        d = self.covariance
        if abs(d) < LEAST_CORRELATION * alone:
            raise InvalidInput("covariance", f"{d:g} is too close to 0: no bit says anything about another person's "
                                             "bit",
                               f"its absolute value must be at least {LEAST_CORRELATION:g} P(S = 1) P(S = 0)")
        # N P_1 is whole for no N bits: their number of ones varies at least as between the two whole numbers around it.
        part = math.fmod(n * self.signal_one, 1.0)
        low, high = (part * (1.0 - part) - n * alone) / (n * (n - 1.0)), alone
        if not low - _ROUNDING * alone / n <= d <= high * (1 + _ROUNDING):
            raise InvalidInput("covariance", f"{d:g} is impossible for {n} bits with P(S = 1) = {self.signal_one:g}",
                               f"must be in [{printed(low, digits=6)}, {printed(high, up=False, digits=6)}]")

    def _check_counts(self, n: int, logs: NDArray[np.float64]) -> None:
        if logs.shape != (n + 1,):
            raise InvalidInput("log_counts", f"have shape {logs.shape}", f"must be ({n + 1},)")
        if not _are_of(logs, self.signal_one, self.covariance):
            raise InvalidInput("log_counts", "do not fit this prior", "must have its two moments and sum to 1")
        logs.setflags(write=False)
        object.__setattr__(self, "log_counts", logs)

    @classmethod
    def of_counts(cls, counts: ArrayLike) -> PairPrior:
        """The prior that follows from the law of the number of ones.

        Args:
            counts: (N + 1,) P(K = 0), ..., P(K = N), which sum to 1 within 1e-9.

        Example:
            >>> half = PairPrior.of_counts([0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0])
            >>> half.people, round(half.covariance, 12)
            (10, -0.0225)
        """
        try:
            law = as_probabilities(counts)
        except (TypeError, ValueError):
            law = np.empty(0)
        if law.ndim != 1 or law.size < 3 or not np.all(np.isfinite(law)):
            raise InvalidInput("counts", "is not a list of three probabilities or more",
                               "must be P(K = 0), ..., P(K = N)")
        if np.any(law < 0):
            raise InvalidInput("counts", "contains a negative probability", "each must be at least 0")
        total = float(law.sum())
        if not abs(total - 1.0) <= _ROUNDING:
            raise InvalidInput("counts", f"sums to {total:.12g}", "must be 1")
        law = law / total
        one, covariance = _moments(law)
        with np.errstate(divide="ignore"):
            return cls(law.size - 1, one, covariance, np.log(law))

    @classmethod
    def of_pairs(cls, people: int, both_one: float, both_zero: float) -> PairPrior:
        """The prior that follows from the joint law of two people's bits.

        Args:
            people: number N of people.
            both_one: probability P_11 that two people's bits are both 1.
            both_zero: probability P_00 that two people's bits are both 0.

        Example:
            >>> round(PairPrior.of_pairs(100, 0.2, 0.4).covariance, 12)
            0.04
        """
        one, zero = (fraction(name, value, zero=True) for name, value in (("both_one", both_one),
                                                                          ("both_zero", both_zero)))
        differ = (1.0 - one - zero) / 2.0
        if differ < 0:
            raise InvalidInput("both_one", f"the sum of both_one and both_zero is {one + zero:g}", "must be at most 1")
        return cls(people, one + differ, one * zero - differ * differ)

    @classmethod
    def beta_binomial(cls, a: float, b: float, people: int) -> PairPrior:
        """Bits that are independent given an unknown rate of ones, where everybody believes the rate to be Beta(a, b).

        Args:
            a: first parameter of the beta law, > 0.
            b: second parameter of the beta law, > 0.
            people: number N of people; up to a million the law of the number of ones is tabulated.
        """
        a, b, n = positive("a", a), positive("b", b), whole("people", people, at_least=2)
        logs = None
        if n <= LARGEST_WRITTEN:
            k = np.arange(float(n))
            steps = np.log((n - k) / (k + 1.0)) + np.log((a + k) / (b + n - 1.0 - k))
            logs = np.concatenate([[0.0], np.cumsum(steps)])
            logs -= np.logaddexp.reduce(logs)
        return cls._written(n, a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1.0)), logs, lambda: _log_law(
            np.log((n - k) / (k + 1.0) * ((a + k) / (b + (n - 1.0 - k))))))

    @classmethod
    def two_state(cls, people: int, signal_accuracy: float, prior_one: float) -> PairPrior:
        """Bits that are independent given a common state, and equal that state with some probability, as in a majority
        market.

        Args:
            people: number N of people; up to a million the law of the number of ones is tabulated.
            signal_accuracy: probability theta = P(S = W) that a bit S equals the state W, in (0.5, 1).
            prior_one: prior probability P(W = 1) that the state is 1.
        """
        signal_model, n = SignalModel(prior_one, signal_accuracy), whole("people", people, at_least=2)
        p, zero = signal_model.prior_one, signal_model.prior_zero
        logs = None
        if n <= LARGEST_WRITTEN:
            k, theta = np.arange(n + 1.0), signal_model.signal_accuracy
            agree, miss = math.log(theta), math.log1p(-theta)
            logs = _log_choose(n, k) + np.logaddexp(math.log(p) + k * agree + (n - k) * miss,
                                                    math.log(zero) + k * miss + (n - k) * agree)

        def exactly() -> NDArray[np.float64]:
            agree = _log_binomial(n, signal_model.signal_accuracy / (1.0 - signal_model.signal_accuracy))
            # In state 0 ones are as likely as zeros in state 1.
            found: NDArray[np.float64] = np.logaddexp(math.log(p) + agree, math.log(zero) + agree[::-1])
            return found

        return cls._written(n, signal_model.signal_one, p * zero * signal_model.edge**2, logs, exactly)

    @classmethod
    def of_groups(cls, sizes: ArrayLike, ones: ArrayLike, people: int | None = None) -> PairPrior:
        """The belief about N people who are in one group of a table. Nobody knows which group this is. A group's
        probability is its share of the people of the table.

        Args:
            sizes: number of people in each group, at least 2.
            ones: number of people in each group whose bit is 1.
            people: number N of people from the group; by default the size of the smallest group. For larger N the law
                of the number of ones is not known.

        Example:
            >>> round(PairPrior.of_groups([99, 348, 993, 2242, 2684], [74, 221, 547, 724, 487]).covariance, 8)
            0.02450866
        """
        size, one = as_groups(sizes, ones)
        n = int(size.min()) if people is None else whole("people", people, at_least=2)
        weight, rate = size / size.sum(), one / size
        share = float(weight @ rate)
        covariance = float(weight @ (rate - share) ** 2 - weight @ (rate * (1.0 - rate) / (size - 1.0)))
        logs = None
        if n <= size.min() and n <= LARGEST_WRITTEN:
            k = np.arange(n + 1.0)
            each = [math.log(w) + _log_choose(m, k) + _log_choose(total - m, n - k) - float(_log_choose(total, n))
                    for w, total, m in zip(weight, size, one, strict=True)]
            logs = np.logaddexp.reduce(each, axis=0)

        def exactly() -> NDArray[np.float64]:
            drawn = [math.log(w) + _log_drawn(n, total, m) for w, total, m in zip(weight, size, one, strict=True)]
            found: NDArray[np.float64] = np.logaddexp.reduce(drawn, axis=0)
            return found

        return cls._written(n, share, covariance, logs, exactly)

    @classmethod
    def _written(cls, people: int, signal_one: float, covariance: float, logs: NDArray[np.float64] | None,
                 exactly: Callable[[], NDArray[np.float64]]) -> PairPrior:
        """The prior with the law of the number of ones as version 0.1.0 computed it, so that saved packs stay equal bit
        for bit.

        Where rounding errors of the law of version 0.1.0 show, a more accurate sum takes its place.
        """
        if logs is not None and not _are_of(logs, signal_one, covariance):
            logs = exactly()
        return cls(people, signal_one, covariance, logs)

    @property
    def signal_zero(self) -> float:
        """The probability P_0 that a person's bit is 0."""
        return 1.0 - self.signal_one

    @property
    def correlation(self) -> float:
        """The correlation D/(P_1 P_0) of two people's bits."""
        return self.covariance / (self.signal_one * self.signal_zero)

    @property
    def pairs(self) -> NDArray[np.float64]:
        """The (2, 2) joint probabilities P(S_i = s, S_j = s') of two people's bits."""
        p, z, d = self.signal_one, self.signal_zero, self.covariance
        found: NDArray[np.float64] = np.maximum([[z * z + d, p * z - d], [p * z - d, p * p + d]], 0.0)
        return found


def _moments(law: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """The probability P_1 of a one and the covariance D of two bits, from the law of the number of ones."""
    weights = np.asarray(law)
    n, k = weights.size - 1, np.arange(weights.size)
    one = float(weights @ k) / n
    return one, float(weights @ (k - n * one) ** 2 - n * one * (1.0 - one)) / (n * (n - 1.0))


def _are_of(logs: NDArray[np.float64], signal_one: float, covariance: float) -> bool:
    """Whether a law of the number of ones has the two given moments and sums to 1, up to rounding."""
    law = np.exp(logs)
    one, found = _moments(law)
    off = abs(one - signal_one) + abs(found - covariance)
    return bool(abs(float(law.sum()) - 1.0) <= _ROUNDING and off <= _ROUNDING)


LARGEST_LAW = 2000
"""Largest number of people whose law of the reports is computed; the work grows with the square of this number."""


def log_report_law(log_counts: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """The logarithm of the law of the number k of reports 1 among m people, for every k in 0..m. The law is the sum
    over numbers L of ones of weight(L) P(Bin(L, q) + Bin(m - L, 1 - q) = k).

    Args:
        log_counts: (..., m + 1) logarithms of the weights, with m at most 2000.
        epsilon: level of the randomised response; q = e^epsilon/(1 + e^epsilon).

    Source: spec data_market section 4. With u = 1 - q + q z and v = q + (1 - q) z the law is the polynomial sum of
    weight(L) u^L v^(m-L), by Horner's rule in logarithms: all terms are positive, nothing cancels or underflows.

    Example:
        >>> np.exp(log_report_law(np.log([0.5, 0.25, 0.25]), 700.0)).round(6).tolist()
        [0.5, 0.25, 0.25]
    """
    m = log_counts.shape[-1] - 1
    if m > LARGEST_LAW:
        raise Unsupported("people", f"the law of the reports of {m} people", f"at most {LARGEST_LAW} people")
    keep, flip = float(scipy.special.log_expit(epsilon)), float(scipy.special.log_expit(-epsilon))
    factorial = scipy.special.gammaln(np.arange(1.0, m + 2.0))
    k, law = np.arange(m + 1), log_counts[..., m:]
    for j in range(1, m + 1):
        grown = np.concatenate([law, np.full((*law.shape[:-1], 1), -np.inf)], axis=-1)
        grown, shifted = flip + grown, keep + np.roll(grown, 1, axis=-1)
        zeros = factorial[j] - factorial[: j + 1] - factorial[j::-1] + (j - k[: j + 1]) * keep + k[: j + 1] * flip
        law = np.logaddexp(np.logaddexp(grown, shifted), log_counts[..., m - j:m - j + 1] + zeros)
    return law
