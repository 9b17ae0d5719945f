"""Advanced composition: k uses of an epsilon-DP mechanism cost sqrt(2 k ln(1/slack)) epsilon + k epsilon (e^epsilon -
1).

If the events have different epsilons, every event counts at the largest epsilon, as in Wu 2017, Theorem 3.4.2.
Corollary 2.2.5 of Wu 2017 gives the epsilon of one use (the step size) for a target of all uses together. The function
`corollary_step` returns this step size only where Theorem 2.2.4 confirms the target, because the corollary fails for a
slack near 1 (spec query_release A2, errata 8 and 9).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import NotGuaranteed
from confide.contract.remedies import tried
from confide.contract.words import counted
from confide.privacy.accounting.sums import Spend, as_written, ball, remaining, totals, written, written_up
from confide.privacy.events import ApproxEvent, BoundedRangeEvent, Event, PureEvent, RandomizedResponseEvent
from confide.privacy.losses import BITS, largest, up
from confide.privacy.noise.balls import precision

__all__ = ["RULES", "SOURCE", "corollary_step", "delta", "epsilon", "largest_step", "theorem"]

RULES: dict[type[Event], str] = {
    PureEvent: "k times the largest epsilon",
    BoundedRangeEvent: "as pure",
    RandomizedResponseEvent: "as pure",
    ApproxEvent: "as pure; deltas added",
}
"""Mapping from an event type to a short description of the composition rule that is proved for events of this type."""

SOURCE = "Wu 2017, Theorem 2.2.4 (Dwork, Rothblum and Vadhan 2010)"


def _drift(step: Any, count: int) -> Any:
    return count * step * step.expm1()


def theorem(epsilon: float, count: int, slack: float) -> float:
    """The epsilon that Theorem 2.2.4 of Wu 2017 proves for `count` adaptive uses of an epsilon-DP mechanism, rounded
    up.

    Args:
        epsilon: the epsilon of each use, > 0, in nats.
        count: the number k of uses, >= 1.
        slack: additional failure probability delta' in (0, 1), on top of k times the delta of each use.

    Example:
        >>> round(theorem(0.1, 100, 1e-6), 6)
        6.308231
    """
    positive("epsilon", epsilon)
    return _theorem(written(epsilon), whole("count", count, at_least=1), fraction("slack", slack))


def _theorem(step: Fraction, count: int, slack: float) -> float:
    from flint import arb

    with precision(BITS):
        each = ball(step)
        return as_written(up((-2 * count * arb(slack).log()).sqrt() * each + _drift(each, count)))


def corollary_step(epsilon: float, slack: float, count: int) -> float:
    """The epsilon of one use (step size) by Corollary 2.2.5, epsilon / (2 sqrt(2 k ln(1/slack))), where Theorem 2.2.4
    confirms the target.

    Args:
        epsilon: the target for all uses together, in nats, in (0, 1).
        slack: failure probability delta' in (0, 1).
        count: the number k of uses, >= 1.

    Raises:
        NotGuaranteed: by Theorem 2.2.4, k uses with this step size cost more than the target.

    Source: Wu 2017, Corollary 2.2.5; spec query_release A2, erratum 9 (safe for a slack up to 0.7).

    Example:
        >>> round(corollary_step(0.5, 1e-6, 100), 6)
        0.004756
    """
    fraction("epsilon", epsilon)
    step = epsilon / (2.0 * math.sqrt(2.0 * whole("count", count, at_least=1) * -math.log(fraction("slack", slack))))
    cost = theorem(step, count, slack)
    if cost > epsilon:
        raise NotGuaranteed(
            f"a total of epsilon {epsilon:g} for {counted(count, 'use')} of epsilon {step:.6g}",
            f"the theorem gives {cost:.6g} at a slack of {slack:g}, so the corollary's step is too large",
            tried("choose an epsilon of {step} for each use", lambda step: theorem(step, count, slack) <= epsilon,
                  up=False, digits=6, step=largest_step(epsilon, slack, count)),
        )
    return step


def largest_step(epsilon: float, slack: float, count: int) -> float:
    """The largest epsilon of one use, rounded down, for which Theorem 2.2.4 keeps the total of `count` uses within a
    target.

    Args:
        epsilon: the target for all uses together, in nats, > 0.
        slack: failure probability delta' in (0, 1).
        count: the number k of uses, >= 1.

    Example:
        >>> theorem(largest_step(0.999, 0.9, 1), 1, 0.9) <= 0.999
        True
    """
    positive("epsilon", epsilon)
    root = math.sqrt(2.0 * whole("count", count, at_least=1) * -math.log(fraction("slack", slack)))
    guess = 2.0 * epsilon / (root + math.sqrt(root * root + 4.0 * count * epsilon))  # where the drift is k step^2
    return largest(lambda step: step == 0 or theorem(step, count, slack) <= epsilon, guess)


def _worst(spend: Spend) -> tuple[Fraction, int]:
    """The largest epsilon of any event, and the number of events."""
    step = Fraction(0)
    for leaf in spend:
        if isinstance(leaf, PureEvent | BoundedRangeEvent | RandomizedResponseEvent | ApproxEvent):
            step = max(step, written(leaf.epsilon))
    return step, sum(spend.values())


def epsilon(spend: Spend, delta: float) -> float:
    """The epsilon that Theorem 2.2.4 proves with a slack of `delta` minus the sum of the events' deltas. The result is
    infinite if this difference is not positive.
    """
    step, count = _worst(spend)
    if not count:
        return 0.0
    slack = remaining(delta, totals(spend).delta)
    return _theorem(step, count, slack) if slack > 0 else math.inf


def delta(spend: Spend, epsilon: float) -> float:
    """The slack at which Theorem 2.2.4 proves `epsilon`, plus the sum of the events' deltas. The drift, k epsilon
    (e^epsilon - 1) at the largest epsilon of an event, bounds the mean loss. The result is 1 where the argument
    `epsilon` does not exceed the drift, so that no slack is enough.
    """
    from flint import arb

    step, count = _worst(spend)
    if not count:
        return 0.0
    with precision(BITS):
        each = ball(step)
        room = arb(epsilon) - _drift(each, count)
        if not room > 0:
            return 1.0
        slack = up((-room * room / (2 * count * each * each)).exp())
    return min(1.0, written_up(totals(spend).delta + Fraction(slack)))
