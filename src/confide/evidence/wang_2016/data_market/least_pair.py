"""The least expected payment of any mechanism without negative payments, when the prior is any law of the number of
ones among the bits.

In the epsilon-strategy, a person reports the bit by randomised response with privacy loss epsilon. If everybody else
plays this strategy, only the number k of ones among the other people's reports matters. The cheapest mechanism pays a
report 1 only at one value of k and a report 0 only at another value of k. The payments of the cheapest mechanism are
rare and very large. Use the result as a bound, and do not deploy the mechanism.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confide.contract.errors import InvalidInput
from confide.market.costs import Cost, as_cost
from confide.market.matching import payment_unit
from confide.market.optimum import checked_margin
from confide.market.pairs.prices import pair_floor
from confide.market.pairs.prior import PairPrior, log_report_law
from confide.market.signal_model import as_level

__all__ = ["PairOptimum", "least_pair_payment"]


@dataclass(frozen=True, kw_only=True)
class PairOptimum:
    """The least expected payment per person, and the mechanism that attains this payment.

    Args:
        payment: least expected payment V_opt per person.
        gap: excess V_opt - g'(epsilon)(e^epsilon + 1) of the least payment over the bound of Proposition 1.
        one_at: number of ones among the other people's reports at which a report 1 is paid.
        zero_at: number of ones among the other people's reports at which a report 0 is paid.
        for_one: payment for a report 1 when the number of ones is `one_at`. At all other numbers the payment is 0.
        for_zero: payment for a report 0 when the number of ones is `zero_at`. At all other numbers the payment is 0.
    """

    payment: float
    gap: float
    one_at: int
    zero_at: int
    for_one: float
    for_zero: float


def least_pair_payment(prior: PairPrior, cost: Cost, epsilon: float, *, margin: float | None = None) -> PairOptimum:
    """The least expected payment V_opt of any mechanism without negative payments in which everybody plays the
    epsilon-strategy.

    Args:
        prior: prior for at most 2001 people that contains a law of the number of ones.
        cost: cost g of a privacy level, the same for all people.
        epsilon: privacy level in nats, in (0, 700].
        margin: least amount by which the expected utility of the epsilon-strategy must exceed that of every report that
            ignores the bit. The margin is between 0 and g' sinh epsilon - g. The default 0 gives a weak equilibrium.
            The largest margin is that of the pair market (`PairMarket`). A fair comparison with the pair market uses
            this largest margin.

    Raises:
        InvalidInput: the prior gives only two moments and no law of the number of ones, or has more than 2001 people.

    Source: spec data_market sections 2.3 and 4 (ours).

    Example:
        >>> from confide.market import LinearCost
        >>> prior = PairPrior.two_state(10, signal_accuracy=0.8, prior_one=0.7)
        >>> round(least_pair_payment(prior, LinearCost(1.0), 1.0).payment, 9)
        5.481594103
    """
    level, n = as_level("epsilon", epsilon), prior.people
    full, wanted = checked_margin(as_cost("cost", cost), level, margin)
    if prior.log_counts is None:
        raise InvalidInput("prior", "has only two moments", "must have log_counts, the law of the number of ones")
    share = np.arange(1.0, n + 1.0) / n
    # P(S_i = s, L of the others are 1), for s = 0 and 1.
    joint = np.array([prior.log_counts[:-1] + np.log(share[::-1]), prior.log_counts[1:] + np.log(share)])
    zero, one = log_report_law(joint, level)
    seen = np.isfinite(zero) | np.isfinite(one)
    odds = (one - zero)[seen] / 2.0  # 2 P(S_i = 1 | k) - 1 is its hyperbolic tangent
    best, worst = int(np.argmax(odds)), int(np.argmin(odds))
    d1, d0 = math.tanh(odds[best]), -math.tanh(odds[worst])
    both = _tanh_difference(float(odds[best]), float(odds[worst]))
    h, unit = full - wanted, payment_unit(cost, level)
    more = 2.0 * h if d1 >= d0 else -2.0 * h  # the report whose count says less is worth less
    r0 = (2.0 * unit - more * d1) / both
    r1 = r0 + more
    payment = unit * math.tanh(level / 2.0) + h + 2.0 * (unit - h * max(d1, d0)) / both
    k = np.flatnonzero(seen)
    with np.errstate(over="ignore"):
        paid = [float(np.float64(r) * np.exp(-np.logaddexp(zero[k[i]], one[k[i]]))) for r, i in ((r1, best),
                                                                                                 (r0, worst))]
    return PairOptimum(payment=payment, gap=payment - float(pair_floor(cost, level)), one_at=int(k[best]),
                       zero_at=int(k[worst]), for_one=paid[0], for_zero=paid[1])


def _tanh_difference(high: float, low: float) -> float:
    """The difference tanh(high) - tanh(low), computed without cancellation."""
    if math.isinf(high) or math.isinf(low):
        return math.tanh(high) - math.tanh(low)
    return math.tanh(high - low) * (1.0 - math.tanh(high) * math.tanh(low))
