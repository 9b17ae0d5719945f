"""Composition round by round: each event has its own epsilon, a width of its privacy loss, and a drift, which is a
bound on the mean loss.

The epsilons are fixed before the first round; the mechanisms may adapt to earlier outputs. Given the past, the loss of
round i under one of the two data sets lies in an interval of length w_i and has mean at most d_i. By Azuma and
Hoeffding, the total loss exceeds the sum of the drifts by sqrt(ln(1/slack)/2 sum w_i^2) with probability at most the
slack. The width and the drift of one round are proved as follows:

- epsilon-DP: the loss lies in [-epsilon, epsilon]. Binary randomised response dominates every pair of laws with losses
  in [-epsilon, epsilon]. The mean loss is a Kullback-Leibler divergence, so it is at most the divergence of binary
  randomised response: (2p - 1) epsilon = epsilon tanh(epsilon/2), with p = e^epsilon/(1 + e^epsilon). The published
  bound on the drift, epsilon (e^epsilon - 1), is larger.
- bounded range (exponential mechanism): the loss varies by at most epsilon over the outcomes. The interval of the loss,
  whose position may depend on the past, therefore has length epsilon instead of 2 epsilon. The Rényi divergence of
  order a is at most a epsilon^2/8. The mean loss is the limit of the Rényi divergence at order 1, so it is at most
  epsilon^2/8.
- k-ary randomised response: the interval is as for epsilon-DP, and the mean is epsilon (e^epsilon - 1)/(e^epsilon + k -
  1).
- (epsilon, delta)-DP: the mechanism is dominated by a mechanism that reveals everything with probability delta, and is
  epsilon-DP with probability 1 - delta; the deltas are added.

Source: Dwork, Rothblum and Vadhan 2010; Kairouz, Oh and Viswanath 2015; spec query_release A2. The rule for a bounded
range is ours.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

from confide.contract.checks import one_of
from confide.privacy.accounting.sums import Spend, as_written, ball, remaining, totals, written, written_up
from confide.privacy.events import ApproxEvent, BoundedRangeEvent, Event, PureEvent, RandomizedResponseEvent
from confide.privacy.losses import BITS, up
from confide.privacy.noise.balls import precision

__all__ = ["RULES", "SOURCE", "Drift", "delta", "drift_of", "epsilon", "proved"]

Drift = Literal["tanh", "printed"]
"""Rule for the drift and the width of an event. "tanh" takes the drift epsilon tanh(epsilon/2) and the refined rule of
each event type. "printed" takes the published drift epsilon (e^epsilon - 1) and the published width 2 epsilon for every
event.
"""

RULES: dict[type[Event], str] = {
    PureEvent: "width 2 epsilon, drift epsilon tanh(epsilon/2)",
    BoundedRangeEvent: "width epsilon, drift epsilon^2/8",
    RandomizedResponseEvent: "width 2 epsilon, its own drift",
    ApproxEvent: "as pure; deltas added",
}
"""Mapping from an event type to a short description of the composition rule that is proved for events of this type."""

SOURCE = "Azuma and Hoeffding; Kairouz, Oh and Viswanath 2015; our proof for the bounded range"


def _round(leaf: Event, drift: Drift) -> tuple[Fraction, Any]:
    """Square of the width of the loss in one round, and the drift of the round as a ball."""
    match leaf:
        case BoundedRangeEvent() if drift == "tanh":
            square = written(leaf.epsilon) ** 2
            return square, ball(square / 8)
        case RandomizedResponseEvent() if drift == "tanh":
            step = written(leaf.epsilon)
            gain = ball(step).expm1()
            return 4 * step * step, ball(step) * gain / (gain + leaf.categories)
        case PureEvent() | ApproxEvent() | BoundedRangeEvent() | RandomizedResponseEvent():
            step = written(leaf.epsilon)
            return 4 * step * step, drift_of(step, drift)
    return Fraction(0), ball(Fraction(0))


def drift_of(level: Fraction, drift: Drift = "tanh") -> Any:
    """The drift of an epsilon-DP round, which is a bound on the mean privacy loss of the round, as a ball: an interval
    (python-flint's `arb`) that contains the exact number.
    """
    each = ball(level)
    return each * ((each / 2).tanh() if drift == "tanh" else each.expm1())


def proved(squares: Any, drifts: Any, slack: float) -> float:
    """The bound sqrt(ln(1/slack)/2 sum w^2) + sum d on the total loss in nats, where w are the widths and d the drifts
    of the rounds. The bound is rounded up, and computed at the precision that the caller has set.

    Args:
        squares: the sum of the squares of the widths, as a ball (python-flint's `arb`).
        drifts: the sum of the drifts, as a ball (python-flint's `arb`).
        slack: failure probability, > 0.
    """
    from flint import arb

    return as_written(up((-arb(slack).log() / 2 * squares).sqrt() + drifts))


def _rounds(spend: Spend, drift: Drift) -> tuple[Any, Any]:
    squares, drifts = Fraction(0), ball(Fraction(0))
    for leaf, count in spend.items():
        square, each = _round(leaf, drift)
        squares, drifts = squares + count * square, drifts + count * each
    return ball(squares), drifts


def epsilon(spend: Spend, delta: float, *, drift: Drift = "tanh") -> float:
    """The bound sqrt(ln(1/slack)/2 sum w^2) + sum d, where w are the widths and d the drifts of the rounds. The slack
    is `delta` minus the sum of the deltas.

    Args:
        spend: mapping from each event to its number of uses, as `sums.counted` returns it.
        delta: a probability in [0, 1).
        drift: "tanh" for the refined rule of each event type, "printed" for the published rule.

    Returns:
        The epsilon in nats, rounded up; infinity where no slack is left.

    Example:
        >>> from confide.contract import Relation
        >>> from confide.privacy.accounting.sums import counted
        >>> draws = counted([BoundedRangeEvent(epsilon=0.1, neighbours=Relation.REPLACE)] * 50)
        >>> round(epsilon(draws, 1e-6), 4), round(epsilon(draws, 1e-6, drift="printed"), 4)
        (1.921, 4.2428)
    """
    one_of("drift", drift, ("tanh", "printed"))
    if not spend:
        return 0.0
    slack = remaining(delta, totals(spend).delta)
    if slack <= 0:
        return math.inf
    with precision(BITS):
        return proved(*_rounds(spend, drift), slack)


def delta(spend: Spend, epsilon: float, *, drift: Drift = "tanh") -> float:
    """The bound exp(-2 (epsilon - sum d)^2 / sum w^2) plus the sum of the deltas, where w are the widths and d the
    drifts of the rounds. The result is 1 where `epsilon` is below the sum of the drifts.
    """
    from flint import arb

    one_of("drift", drift, ("tanh", "printed"))
    if not spend:
        return 0.0
    with precision(BITS):
        squares, drifts = _rounds(spend, drift)
        room = arb(epsilon) - drifts
        if not room > 0:
            return 1.0
        slack = up((-2 * room * room / squares).exp())
    return min(1.0, written_up(totals(spend).delta + Fraction(slack)))
