"""The payment rule behind all markets for known costs: a report is paid if it equals a binary peer statistic M.

A person has a bit S and reports X. The statistic M is independent of X given S, with Cov(M, S) > 0. The unit of payment
is c(epsilon) = g'(epsilon)(1 + cosh epsilon), where g is the cost of privacy. If M = 1, a report of 1 is paid
c(epsilon)/Cov times P(M = 0). If M = 0, a report of 0 is paid c(epsilon)/Cov times P(M = 1). The epsilon-strategy is
randomised response at level epsilon. With these payments the epsilon-strategy is the person's unique best reply. The
choice of M determines the mechanism. M is the majority of the others for Wang's mechanism, and one other report for
general priors. M would be the state itself for a collector who knows the state.

Source: spec data_market section 0 (ours; contains Wang 2016, (3.6) and (3.17)).

The module also has the payments from two public counts, the numbers of reports 1 and 0, and the numerical offer of a
market to one person.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.remedies import first_that, tried
from confide.market.costs import Cost
from confide.market.strategies import Strategy, as_reports

__all__ = [
    "KnownLevel",
    "MatchingPayment",
    "Paid",
    "PaidByCounts",
    "PeerStatistic",
    "Quote",
    "check_payable",
    "payment_unit",
    "price_floor",
    "quote_of",
]

# ---- matching

_SPARE = 16.0  # the most that sums of what is paid, and owed, are above their largest part
_FARTHEST = 2.0**1000  # times a level, where one that can be paid is looked for


def payment_unit(cost: Cost, epsilon: float) -> float:
    """The payment unit c(epsilon) = g'(epsilon)(1 + cosh epsilon), where g is the cost."""
    return float(cost.slope(epsilon)) * (1.0 + math.cosh(epsilon))


@lru_cache(maxsize=256)
def _kept_unit(cost: Cost, epsilon: float) -> float:
    """The payment unit c(epsilon), cached, and infinite where it overflows; a search makes thousands of markets of one
    cost and level.
    """
    with np.errstate(over="ignore"):
        return payment_unit(cost, epsilon)


def _unit(cost: Cost, epsilon: float) -> float:
    try:
        return _kept_unit(cost, epsilon)
    except TypeError:  # a cost of somebody's own that has no hash
        return _kept_unit.__wrapped__(cost, epsilon)


def check_payable(epsilon: float, costs: Collection[Cost], covariance: Callable[[float], float]) -> None:
    """Refuse a level at which payments overflow a double. Payments can overflow at very large and very small levels if
    costs are steep, or if a bit is only weakly correlated with the peer statistic.

    Args:
        epsilon: privacy level to check.
        costs: cost functions g of the people.
        covariance: function from a level to a number; the largest single payment at that level is the payment unit
            c(level), divided by this number.

    Raises:
        InvalidInput: the payments overflow. The message names a level that can be paid, to four digits.
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
    raise InvalidInput("epsilon", f"{epsilon:g} needs payments that are too large for 64-bit floats",
                       does or "no level has finite "
                                                                                                "payments")


def price_floor(cost: Cost, epsilon: float, edge: float) -> float:
    """V_LB, a lower bound on the expected payment of every mechanism with nonnegative payments that buys level epsilon
    from one person.

    Args:
        cost: cost function g of the person.
        epsilon: privacy level, >= 0. At level 0 nothing is paid, although the limit of V_LB at 0 is 2 g'(0)/(2 theta -
            1).
        edge: edge 2 theta - 1, where theta is the signal accuracy.

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
    """The probabilities of a binary peer statistic M, and its covariance with a person's bit S.

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
    """Payments that make the epsilon-strategy (randomised response at level epsilon) the unique best reply.

    Args:
        cost: cost function g of the person.
        epsilon: privacy level that is bought, in (0, 700] nats.
        statistic: law of the peer statistic M.
        signal_one: probability P(S = 1) that the person's bit is 1.

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
        """The payment unit c(epsilon)."""
        return payment_unit(self.cost, self.epsilon)

    @property
    def for_one(self) -> float:
        """The payment c(epsilon) P(M = 0)/Cov(M, S) of a report 1 that meets M = 1."""
        return self.unit * self.statistic.zero / self.statistic.covariance

    @property
    def for_zero(self) -> float:
        """The payment c(epsilon) P(M = 1)/Cov(M, S) of a report 0 that meets M = 0."""
        return self.unit * self.statistic.one / self.statistic.covariance

    @property
    def table(self) -> NDArray[np.float64]:
        """The (2, 2) payments of report x (row) when the peer statistic M is m (column)."""
        return np.diag([self.for_zero, self.for_one])

    @property
    def outside(self) -> float:
        """The expected payment K > 0 of every uninformative report, so that taking part is better than staying away."""
        return self.unit * self.statistic.one * self.statistic.zero / self.statistic.covariance

    @property
    def expected_payment(self) -> float:
        """The expected payment E[R] = c (tanh(epsilon/2) + Var(M)/Cov(M, S)) of the epsilon-strategy."""
        return self.unit * math.tanh(self.epsilon / 2.0) + self.outside

    @property
    def margin(self) -> float:
        """The margin g' sinh epsilon - g by which the epsilon-strategy beats every uninformative report."""
        return float(self.cost.margin(self.epsilon))

    @property
    def utility(self) -> float:
        """The utility of the epsilon-strategy: its margin over uninformative reports plus the payment K of an
        uninformative report.
        """
        return self.margin + self.outside

    @property
    def interim(self) -> NDArray[np.float64]:
        """The (3, 2) interim matrix a[x, s] = P(S = s) E[R | X = x, S = s]; a missing report is paid 0."""
        bits, m, k = np.array([1.0 - self.signal_one, self.signal_one]), self.statistic, self.outside
        away = self.unit * np.array([1.0, -1.0])
        return np.array([k * bits + m.one * away, k * bits - m.zero * away, [0.0, 0.0]])


# ---- paid


class Paid(NamedTuple):
    """The payment of each report of 1, the payment of each report of 0, and the total payment."""

    one: float
    zero: float
    total: float


class PaidByCounts:
    """Common base of the markets that pay by the counts of reports."""

    if TYPE_CHECKING:

        @property
        def people(self) -> int: ...

        @property
        def presence(self) -> float: ...

        def pay(self, ones: int, zeros: int) -> Paid: ...

    @property
    def company(self) -> float:
        """The probability that at least one of the others takes part."""
        if self.presence == 1:
            return 1.0
        return -math.expm1((self.people - 1) * math.log1p(-self.presence))

    def participants(self, ones: int, zeros: int) -> int:
        """The number of participants, as the sum of the two counts.

        Raises:
            InvalidInput: there are more reports than people, or a count is not a whole number.
        """
        n = whole("ones", ones) + whole("zeros", zeros)
        if n > self.people:
            raise InvalidInput("ones + zeros", f"{n} reports are more than the number of invited people",
                               f"must be at most {self.people}")
        return n

    def pay_reports(self, reports: ArrayLike) -> NDArray[np.float64]:
        """The (N,) payments of N reports, where the report 2 stands for taking no part and is paid nothing.

        Raises:
            InvalidInput: there are not N reports, or a report is not 0, 1 or 2. The message does not say which report
                is wrong.
        """
        found = as_reports(reports, self.people)
        paid = self.pay(int(np.sum(found == 1)), int(np.sum(found == 0)))
        return np.choose(found, [paid.zero, paid.one, 0.0])


class KnownLevel(PaidByCounts):
    """Base of the markets in which each person's unique best reply is the epsilon-strategy."""

    if TYPE_CHECKING:

        @property
        def cost(self) -> Cost: ...

        @property
        def epsilon(self) -> float: ...

    @property
    def strategy(self) -> Strategy:
        """The equilibrium strategy of every participant: the epsilon-strategy."""
        return Strategy.randomised(self.epsilon)

    @property
    def peers(self) -> Strategy:
        """The expected strategy of each of the others: the epsilon-strategy if they take part, and no report
        otherwise.
        """
        return self.strategy.thinned(self.presence)

    @property
    def largest_level(self) -> float:
        """The largest level at which any participant's device reports, which is epsilon."""
        return self.epsilon

    def level_of(self, worth: float | None = None) -> float:
        """The level at which a person reports, which is epsilon for every value `worth` of a nat of privacy to that
        person.
        """
        return self.epsilon

    @property
    def margin(self) -> float:
        """The margin by which the epsilon-strategy beats every report that ignores the bit."""
        return float(self.cost.margin(self.epsilon))


# ---- quotes


@dataclass(frozen=True, kw_only=True, eq=False)
class Quote:
    """An offer that makes the epsilon-strategy each person's unique best reply when everybody else plays the
    epsilon-strategy.

    All amounts of money are in the unit of the cost.

    Args:
        epsilon: privacy level that is bought, in nats: the level of local differential privacy of a person's single
            report about their bit.
        expected_payment: expected payment E[R] to one person.
        lower_bound: lower bound V_LB on the expected payment of any mechanism with nonnegative payments.
        margin: utility of the epsilon-strategy, less the utility of the best report that ignores the bit.
        unit: payment unit c(epsilon); `payments` equal `table` times this unit.
        payments: (2, 2) payment of report x (row) when the peer statistic is m (column).
        participation: value of taking part to a person: expected payment less the cost of the level.
        gap: difference E[R] - V_LB, computed without cancellation where the mechanism has a formula for it.
    """

    epsilon: float
    expected_payment: float
    lower_bound: float
    margin: float
    unit: float
    payments: NDArray[np.float64]
    participation: float
    gap: float

    @property
    def table(self) -> NDArray[np.float64]:
        """The (2, 2) table A[x, m]: the payment of report x when the peer statistic is m, in units of c(epsilon)."""
        found: NDArray[np.float64] = self.payments / self.unit
        return found

    @property
    def largest_payment(self) -> float:
        """The largest single payment."""
        return float(self.payments.max())

    def to_dict(self) -> dict[str, Any]:
        """The quote as a dictionary that can be written as JSON."""
        return {"epsilon": self.epsilon, "expected_payment": self.expected_payment, "lower_bound": self.lower_bound,
                "margin": self.margin, "unit": self.unit, "payments": self.payments.tolist(),
                "participation": self.participation, "gap": self.gap}


def quote_of(payment: MatchingPayment, floor: float, *, gap: float = 0.0, expected: float | None = None) -> Quote:
    """The quote of a given matching payment.

    Args:
        payment: matching payment to quote.
        floor: lower bound V_LB on the expected payment.
        gap: difference E[R] - V_LB, computed without cancellation.
        expected: expected payment E[R]; by default floor + gap.
    """
    return Quote(epsilon=payment.epsilon, expected_payment=floor + gap if expected is None else expected,
                 lower_bound=floor, margin=payment.margin, unit=payment.unit, payments=payment.table,
                 participation=payment.utility, gap=gap)
