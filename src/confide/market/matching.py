"""One payment for all mechanisms of known costs: paid if the report equals a binary peer statistic M.

A person with bit S reports X; M is independent of X given S, with Cov(M, S) > 0. She is paid c(epsilon)/Cov times
P(M = 0) for a 1 that meets M = 1, and times P(M = 1) for a 0 that meets M = 0, where
c(epsilon) = g'(epsilon)(1 + cosh epsilon). Then the epsilon-strategy is her one best reply. M = the state is the genie,
M = the majority of the others is Wang's mechanism, M = one other report is the mechanism for general priors.

Source: spec data_market section 0 (ours; contains Wang 2016, (3.6) and (3.17)).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.remedies import first_that, tried
from confide.market.costs import Cost

__all__ = ["MatchingPayment", "PeerStatistic", "check_payable", "payment_unit", "price_floor"]

_SPARE = 16.0  # the most that sums of what is paid, and owed, are above their largest part
_FARTHEST = 2.0**1000  # times a level, where one that can be paid is looked for


def payment_unit(cost: Cost, epsilon: float) -> float:
    """c(epsilon) = g'(epsilon)(1 + cosh epsilon)."""
    return float(cost.slope(epsilon)) * (1.0 + math.cosh(epsilon))


@lru_cache(maxsize=256)
def _kept_unit(cost: Cost, epsilon: float) -> float:
    """The same, infinite where it leaves the doubles; markets of one cost and level are made by the thousand."""
    with np.errstate(over="ignore"):
        return payment_unit(cost, epsilon)


def _unit(cost: Cost, epsilon: float) -> float:
    try:
        return _kept_unit(cost, epsilon)
    except TypeError:  # a cost of somebody's own that has no hash
        return _kept_unit.__wrapped__(cost, epsilon)


def check_payable(epsilon: float, costs: Collection[Cost], covariance: Callable[[float], float]) -> None:
    """Refuse a level whose payments leave the doubles: the largest, and the smallest, of steep costs and weak bits.

    Args:
        epsilon: the level.
        costs: everybody's g.
        covariance: of a level, by which c(level) is divided in the largest single payment.

    Raises:
        InvalidInput: names a level that can be paid, to four digits.
    """

    def payable(epsilon: float) -> bool:
        divided = covariance(epsilon)
        return divided > 0 and all(math.isfinite(_unit(cost, epsilon) / divided * _SPARE) for cost in costs)

    if payable(epsilon):
        return
    high = epsilon > 1.0
    with np.errstate(over="ignore"):
        does = tried(f"must be at {'most' if high else 'least'} {{epsilon}}", payable, up=not high,
                     epsilon=lambda: first_that(payable, epsilon, up=not high, close=1e-5, farthest=_FARTHEST))
    raise InvalidInput("epsilon", f"{epsilon:g} makes payments that leave the doubles", does or "no level can be paid")


def price_floor(cost: Cost, epsilon: float, edge: float) -> float:
    """V_LB, the least expected payment at which any nonnegative mechanism buys level epsilon from one person.

    Args:
        cost: g.
        epsilon: >= 0; nothing is paid for 0, although the limit at 0 is 2 g'(0)/(2 theta - 1).
        edge: 2 theta - 1.

    Source: Wang 2016, Theorem 3, (3.5); spec data_market section 2.1.

    Example:
        >>> from confide.market import LinearCost
        >>> round(price_floor(LinearCost(1.0), 1.0, 0.6), 12)
        5.413668918336
    """
    if epsilon == 0:
        return 0.0
    return float(cost.slope(epsilon)) * (math.sinh(epsilon) + (1.0 + math.cosh(epsilon)) / edge)


@dataclass(frozen=True)
class PeerStatistic:
    """What matters of M.

    Args:
        one: P(M = 1).
        zero: P(M = 0).
        covariance: Cov(M, S) > 0.
    """

    one: float
    zero: float
    covariance: float


@dataclass(frozen=True)
class MatchingPayment:
    """Payments that make the epsilon-strategy the unique best reply.

    Args:
        cost: g.
        epsilon: the level that is bought, in (0, 700].
        statistic: the law of M.
        signal_one: P(S = 1).

    Example:
        >>> from confide.market import LinearCost, best_response
        >>> pay = MatchingPayment(LinearCost(1.0), 1.0, PeerStatistic(0.7, 0.3, 0.126), signal_one=0.62)
        >>> round(pay.expected_payment, 12), round(best_response(pay.interim, pay.cost).level, 12)
        (5.413668918336, 1.0)
    """

    cost: Cost
    epsilon: float
    statistic: PeerStatistic
    signal_one: float

    @cached_property
    def unit(self) -> float:
        """c(epsilon)."""
        return payment_unit(self.cost, self.epsilon)

    @property
    def for_one(self) -> float:
        """What a report 1 that meets M = 1 is paid: c A11."""
        return self.unit * self.statistic.zero / self.statistic.covariance

    @property
    def for_zero(self) -> float:
        """What a report 0 that meets M = 0 is paid: c A00."""
        return self.unit * self.statistic.one / self.statistic.covariance

    @property
    def table(self) -> NDArray[np.float64]:
        """(2, 2) what report x is paid when M = m."""
        return np.diag([self.for_zero, self.for_one])

    @property
    def outside(self) -> float:
        """K, what every uninformative report earns, > 0: taking part is worth it."""
        return self.unit * self.statistic.one * self.statistic.zero / self.statistic.covariance

    @property
    def expected_payment(self) -> float:
        """E[R] = c (tanh(epsilon/2) + Var(M)/Cov(M, S))."""
        return self.unit * math.tanh(self.epsilon / 2.0) + self.outside

    @property
    def margin(self) -> float:
        """By how much the epsilon-strategy beats every uninformative report: g' sinh epsilon - g."""
        return float(self.cost.margin(self.epsilon))

    @property
    def utility(self) -> float:
        """What the epsilon-strategy earns: margin + K."""
        return self.margin + self.outside

    @property
    def interim(self) -> NDArray[np.float64]:
        """(3, 2) a[x, s] = P(S = s) E[R | X = x, S = s]; none is paid nothing."""
        bits, m, k = np.array([1.0 - self.signal_one, self.signal_one]), self.statistic, self.outside
        away = self.unit * np.array([1.0, -1.0])
        return np.array([k * bits + m.one * away, k * bits - m.zero * away, [0.0, 0.0]])
