"""The law of everything that a pair market pays in one round, when payments are averaged over all peers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction
from confide.contract.errors import Unsupported

__all__ = ["PairTotal", "averaged_payments"]


def averaged_payments(for_one: float, for_zero: float, agreement: bool, ones: ArrayLike,
                      zeros: ArrayLike) -> NDArray[np.float64]:
    """(2, ...) what a report 0 and a report 1 are paid, averaged over peers of whom so many report 1 and 0."""
    heads, tails = np.asarray(ones, dtype=np.float64), np.asarray(zeros, dtype=np.float64)
    peers = np.maximum(heads + tails, 1.0)
    like_one, like_zero = (heads, tails) if agreement else (tails, heads)
    return np.array([for_zero * like_zero / peers, for_one * like_one / peers])


@dataclass(frozen=True, eq=False)
class PairTotal:
    """The sum of all payments when all take part.

    Args:
        people: N.
        mean: E[T], known for every prior.
        largest: the largest total that is possible.
        for_one: what a paid report 1 gets.
        for_zero: what a paid report 0 gets.
        agreement: whether agreement is paid (D > 0), or disagreement.
        reports: (N + 1,) law of the number of reports 1; None where it is not known: with two moments alone, above
            2000 people, or where each is paid by one peer.

    Example:
        >>> from confide.market import LinearCost, PairMarket, PairPrior
        >>> total = PairMarket(PairPrior.beta_binomial(2, 3, 10), LinearCost(1.0), 1.0).total_payment()
        >>> [round(each, 3) for each in (total.mean, total.sd, total.quantile(0.95), total.largest)]
        [352.758, 63.957, 499.449, 751.466]
    """

    people: int
    mean: float
    largest: float
    for_one: float
    for_zero: float
    agreement: bool
    reports: NDArray[np.float64] | None = field(repr=False)

    @cached_property
    def _law(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Amounts in rising order and their probabilities."""
        if self.reports is None:
            raise Unsupported("total", "a law beyond mean and largest value",
                              "needs the law of the number of ones, at most 2000 people and average=True")
        ones = np.arange(self.people + 1.0)
        zeros = self.people - ones
        # Each 1 has ones - 1 and zeros as peers, each 0 ones and zeros - 1.
        one = averaged_payments(self.for_one, self.for_zero, self.agreement, np.maximum(ones - 1, 0), zeros)[1]
        zero = averaged_payments(self.for_one, self.for_zero, self.agreement, ones, np.maximum(zeros - 1, 0))[0]
        amounts = ones * one + zeros * zero
        order = np.argsort(amounts, kind="stable")
        return amounts[order], self.reports[order]

    @property
    def sd(self) -> float:
        """Standard deviation."""
        amounts, law = self._law
        unit = max(float(amounts[-1]), 1.0)  # squares of money can leave the doubles
        return unit * math.sqrt(float(law @ ((amounts - law @ amounts) / unit) ** 2))

    def cdf(self, amount: float) -> float:
        """P(T <= amount)."""
        amounts, law = self._law
        return float(law[amounts <= amount].sum())

    def quantile(self, probability: float) -> float:
        """The least amount that the total does not exceed with that probability, in (0, 1)."""
        wanted = fraction("probability", probability)
        amounts, law = self._law
        return float(amounts[min(int(np.searchsorted(np.cumsum(law), wanted)), amounts.size - 1)])
