"""The expected payment for agreement with another report as a function of the level, and a lower bound that holds for
every prior.

The excess E[R] - g'(e^epsilon + 1) of the expected payment over the lower bound is computed as a sum of positive terms.
The printed formula, Wang 2016, (5.19)-(5.21), has another last bracket and is wrong (erratum E3).

The module also has the law of the total payment of a pair market in one run, when payments are averaged over all peers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction
from confide.contract.errors import Unsupported
from confide.market.costs import Cost
from confide.market.pairs.prior import PairPrior
from confide.market.signal_model import LARGEST_LEVEL

__all__ = ["PairTotal", "averaged_payments", "cheapest_level", "pair_excess", "pair_floor", "pair_prices"]

# ---- prices

_LOWEST, _HIGHEST, _POINTS = 1e-6, 60.0, 64  # where levels are searched


def pair_floor(cost: Cost, levels: ArrayLike) -> Any:
    """The lower bound g'(epsilon)(e^epsilon + 1) on the expected payment of any mechanism with nonnegative payments
    that buys level epsilon from one person, whatever the prior.

    Source: Wang 2016, Proposition 1, (5.17).
    """
    x = np.asarray(levels, dtype=np.float64)
    with np.errstate(over="ignore"):
        return cost.slope(x) * (np.exp(x) + 1.0)


def pair_excess(prior: PairPrior, levels: ArrayLike) -> Any:
    """The excess (E[R] - g'(epsilon)(e^epsilon + 1))/c(epsilon) > 0 of the expected payment over `pair_floor`, as a sum
    of positive terms.

    Source: spec data_market, erratum E3.
    """
    x = np.asarray(levels, dtype=np.float64)
    keep, flip = scipy.special.expit(x), scipy.special.expit(-x)
    p, z, d = prior.signal_one, prior.signal_zero, abs(prior.covariance)
    terms = keep**2 * max(p * z - d, 0.0) + keep * flip * (p * p + z * z) + flip**2 * (p * z + d)
    with np.errstate(divide="ignore"):
        return terms / (d * np.tanh(x / 2.0))


def pair_prices(prior: PairPrior, cost: Cost, levels: ArrayLike) -> Any:
    """The expected payment E[R] to one person, for an array of levels; infinite where it overflows.

    Example:
        >>> from confide.market import LinearCost
        >>> round(float(pair_prices(PairPrior.beta_binomial(2.0, 3.0, 10), LinearCost(1.0), 1.0)), 10)
        35.2758260272
    """
    x = np.asarray(levels, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        found = pair_floor(cost, x) + cost.slope(x) * (1.0 + np.cosh(x)) * pair_excess(prior, x)
    return np.where(np.isfinite(found), found, np.inf)


def cheapest_level(prior: PairPrior, cost: Cost, least: float = 0.0) -> float:
    """The level with the least expected payment E[R] among the levels from `least` on.

    A level above `least` is often cheaper. A higher level is also at least as accurate, by every bound on the error
    that falls as the level rises. The search takes the best of 64 levels in geometric progression, and refines this
    level by Brent's method.

    Args:
        prior: common belief of the people about the bits.
        cost: cost function g.
        least: smallest allowed level, in [0, 700] nats.

    Example:
        >>> from confide.market import LinearCost
        >>> round(cheapest_level(PairPrior.beta_binomial(2.0, 3.0, 10), LinearCost(1.0)), 5)
        1.27362
    """
    from scipy.optimize import minimize_scalar

    low = max(least, _LOWEST)
    levels = np.geomspace(low, min(max(_HIGHEST, 2.0 * low), LARGEST_LEVEL), _POINTS)
    levels[0] = low
    prices = pair_prices(prior, cost, levels)
    best = int(np.argmin(prices))
    if best == 0 and pair_prices(prior, cost, low * (1 + 1e-6)) >= prices[0]:
        return low
    around = (math.log(levels[max(best - 1, 0)]), math.log(levels[min(best + 1, _POINTS - 1)]))
    brent = minimize_scalar(lambda log_level: float(pair_prices(prior, cost, math.exp(log_level))),
                            bounds=around, method="bounded", options={"xatol": 1e-10})
    return math.exp(float(brent.x)) if brent.fun < prices[best] else float(levels[best])


# ---- totals


def averaged_payments(for_one: float, for_zero: float, agreement: bool, ones: ArrayLike,
                      zeros: ArrayLike) -> NDArray[np.float64]:
    """The payments of a report 0 and a report 1, averaged over peers of whom `ones` report 1 and `zeros` report 0,
    shape (2, ...).
    """
    heads, tails = np.asarray(ones, dtype=np.float64), np.asarray(zeros, dtype=np.float64)
    peers = np.maximum(heads + tails, 1.0)
    like_one, like_zero = (heads, tails) if agreement else (tails, heads)
    return np.array([for_zero * like_zero / peers, for_one * like_one / peers])


@dataclass(frozen=True, eq=False)
class PairTotal:
    """The law of the total payment T of a pair market when all people take part.

    Args:
        people: number N of people.
        mean: expected total E[T], known for every prior.
        largest: largest possible total.
        for_one: payment of a paid report 1.
        for_zero: payment of a paid report 0.
        agreement: whether agreement is paid (D > 0), or disagreement (D < 0).
        reports: (N + 1,) law of the number of reports 1. The field is None where the law is not known: for a prior with
            two moments only, above 2000 people, or where each report is paid by a single peer.

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
        """The possible totals in rising order, and their probabilities."""
        if self.reports is None:
            raise Unsupported("total", "the whole law of the total",
                              "its mean and largest value are known; the whole law needs a law of the number of ones, "
                              "at most 2000 people and average=True")
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
        """The standard deviation of the total payment."""
        amounts, law = self._law
        unit = max(float(amounts[-1]), 1.0)  # squares of money can leave the doubles
        return unit * math.sqrt(float(law @ ((amounts - law @ amounts) / unit) ** 2))

    def cdf(self, amount: float) -> float:
        """The probability P(T <= amount) that the total payment T is at most an amount."""
        amounts, law = self._law
        return float(law[amounts <= amount].sum())

    def quantile(self, probability: float) -> float:
        """The quantile of the total payment T: the least amount t with P(T <= t) >= `probability`. The probability is
        in (0, 1).
        """
        wanted = fraction("probability", probability)
        amounts, law = self._law
        return float(amounts[min(int(np.searchsorted(np.cumsum(law), wanted)), amounts.size - 1)])
