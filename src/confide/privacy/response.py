"""Randomised response: each person reports the truth with a known probability, and another answer otherwise.

Randomised response gives local privacy: the collector of the reports learns about one person no more than e^epsilon
allows, and nobody needs to be trusted. Probabilities are whole numbers over 2^62, rounded so that the privacy loss
never exceeds epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import non_negative, whole
from confide.contract.errors import InvalidInput
from confide.privacy.accounting import written
from confide.privacy.losses import up
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.arguments import as_inputs
from confide.privacy.noise.balls import precision
from confide.privacy.primitives.choosing import draw_through
from confide.privacy.shares import decoded

__all__ = ["ResponseTable", "estimated_shares", "randomized_response", "response_table"]

_TOTAL = 2**62
_CATEGORIES = 1024  # the table of a channel has their square
_BITS = 192  # of the exponential, whose ceiling must be right: 100 are needed


@dataclass(frozen=True)
class ResponseTable:
    """The probabilities of k-ary randomised response, as whole-number weights.

    Args:
        categories: the number k of possible answers, >= 2.
        same: weight of the true answer, a whole number.
        other: weight of each of the k - 1 false answers, a whole number in 1..`same`.
    """

    categories: int
    same: int
    other: int

    @property
    def total(self) -> int:
        """The sum of all weights, same + (k - 1) other."""
        return self.same + (self.categories - 1) * self.other

    @property
    def level(self) -> float:
        """The exact privacy loss ln(same / other) in nats, rounded up."""
        from flint import arb

        with precision(_BITS):
            return up((arb(self.same) / self.other).log())

    @property
    def truth(self) -> float:
        """The probability that the report is the true answer."""
        return self.same / self.total

    @property
    def weights(self) -> NDArray[np.int64]:
        """The channel's table of weights, shape (k, k): one row for each true answer, one column for each report."""
        table = np.full((self.categories, self.categories), self.other, dtype=np.int64)
        np.fill_diagonal(table, self.same)
        return table


def response_table(epsilon: float, categories: int = 2) -> ResponseTable:
    """The table, with weights in units of 2^-62, that reports the truth with the largest probability that epsilon
    allows.

    The weight of each other answer is ceil(2^62 / (e^epsilon + k - 1)), the ceiling of an exact number. The weight of
    the truth is 2^62 - (k - 1) other, where `other` is the weight of each other answer. At an epsilon near 0 the
    rounded weights could make the truth less likely than another answer. In this case all answers get the weight
    floor(2^62 / k).

    Args:
        epsilon: the loss in nats, >= 0.
        categories: the number k of possible answers, in 2..1024.

    Raises:
        InvalidInput: a parameter out of range.

    Source: spec privacy_notions section 4 (exact coding).

    Example:
        >>> table = response_table(1.0, 5)
        >>> table.same, table.other, table.level <= 1.0
        (1865932782001961976, 686438309106356482, True)
    """
    epsilon, k = non_negative("epsilon", epsilon), whole("categories", categories, at_least=2)
    if k > _CATEGORIES:
        raise InvalidInput("categories", f"{k} is too large", f"must be at most {_CATEGORIES}")
    from flint import arb, fmpq

    exact = min(written(epsilon), Fraction(epsilon))  # the decimal and the double differ; neither is exceeded
    with precision(_BITS):
        # The lower end of e^epsilon makes `other` too large by nothing, or by one in 2^62: never too small.
        odds = arb(fmpq(exact.numerator, exact.denominator)).exp().lower() if epsilon < 64 else arb(2) ** 64
        least: Any = (arb(_TOTAL) / (odds + (k - 1))).upper().ceil().unique_fmpz()
    other = max(1, int(least))
    same = _TOTAL - (k - 1) * other
    if same < other:
        same = other = _TOTAL // k
    return ResponseTable(k, same, other)


def randomized_response(
    values: ArrayLike, epsilon: float, noise: Noise, *, stream: Stream, categories: int = 2, line: str | None = None,
) -> NDArray[np.int64]:
    """Draw one randomised report for each private value, independently.

    Args:
        values: (n,) true answers in 0..k-1, private. The function is meant to run on each person's own device, where
            the answers are.
        epsilon: the epsilon of one report, in nats, >= 0; at 0 the report is a uniformly random answer.
        noise: the source of randomness.
        stream: the name of the draw; each name can be used only once.
        categories: the number k of possible answers, in 2..1024.
        line: the name of the line that pays for the reports, in the charge of the run or of the device. The reports
            must be about different people.

    Returns:
        (n,) reports in 0..k-1. A report is the truth with probability e^epsilon / (e^epsilon + k - 1), rounded down by
        at most k 2^-62, and each other answer with equal probability.

    Raises:
        InvalidInput: a value is outside 0..k-1, or a parameter is out of range. The error does not say which value.

    Source: Warner 1965. Randomised response is optimal among local randomisers for a symmetric distortion (spec
    privacy_notions section 4).

    Example:
        >>> randomized_response([1, 0, 1, 1], 3.0, Noise.simulated(2), stream="smokes").tolist()
        [1, 0, 1, 1]
    """
    table = response_table(epsilon, categories).weights
    answers = as_inputs(values, categories, field="values", kind="an answer")
    return draw_through(noise, table, answers, stream=stream, line=line)


def estimated_shares(
    reports: ArrayLike, epsilon: float, categories: int = 2
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unbiased estimates of the shares of the true answers, from the reports alone.

    If p is the probability of reporting the truth and q the probability of each other answer, then share = (frequency -
    q) / (p - q). For other designs, and for errors as shares of a population, see `confide.channels.survey_shares`.

    Args:
        reports: (n,) reports in 0..k-1, n >= 1.
        epsilon: the epsilon at which the reports were drawn, > 0.
        categories: the number k of possible answers, in 2..1024.

    Returns:
        Two arrays of shape (k,): the estimates and their standard errors. The estimates sum to 1 and may lie outside
        [0, 1]. The standard errors count the randomisation alone, at the estimated shares.

    Raises:
        InvalidInput: no reports, a report out of range, or an epsilon at which reports carry no information.

    Example:
        >>> shares, errors = estimated_shares([1] * 700 + [0] * 300, 1.0)
        >>> shares.round(3).tolist(), errors.round(3).tolist()
        ([0.067, 0.933], [0.03, 0.03])
    """
    table = response_table(epsilon, categories)
    answers = as_inputs(reports, categories, field="reports", kind="an answer")
    if not answers.size:
        raise InvalidInput("reports", "there are no reports, so nothing can be estimated")
    if table.same == table.other:
        raise InvalidInput("epsilon", f"{epsilon!r} is so small that reports say nothing, so nothing can be estimated")
    p, q = table.truth, table.other / table.total
    found = decoded(np.bincount(answers, minlength=categories), table.weights / table.total,
                    (np.eye(categories) - q) / (p - q))
    return found.shares, found.randomization_errors
