"""Basic composition of two groups of events: events with an epsilon of their own, and concentrated events, which are
converted to epsilon together.
"""

from __future__ import annotations

import math
from fractions import Fraction

from confide.privacy.accounting.sums import Spend, Totals, ball, float_up, remaining, totals, written_up
from confide.privacy.events import (
    ApproxEvent,
    BoundedRangeEvent,
    Event,
    GDPEvent,
    PureEvent,
    RandomizedResponseEvent,
    ZCDPEvent,
)
from confide.privacy.losses import BITS, GDP, ZCDP, up
from confide.privacy.noise.balls import precision

__all__ = ["RULES", "SOURCE", "concentrated_delta", "concentrated_epsilon", "delta", "epsilon"]

RULES: dict[type[Event], str] = {
    PureEvent: "sum of epsilon",
    BoundedRangeEvent: "sum of epsilon",
    RandomizedResponseEvent: "sum of epsilon",
    ApproxEvent: "sums of epsilon and delta",
    ZCDPEvent: "rho, converted with the rest of delta",
    GDPEvent: "mu alone or rho = mu^2/2, converted with the rest of delta",
}
"""Mapping from an event type to a short description of the composition rule that is proved for events of this type."""

SOURCE = "Wu 2017, Theorem 2.2.2, over two groups"


def _gaussian(sums: Totals) -> GDP | None:
    """The joint loss of the concentrated events, if all of them are Gaussian; None otherwise."""
    if sums.square is None:
        return None
    with precision(BITS):
        return GDP(up(ball(sums.square).sqrt()))


def concentrated_epsilon(sums: Totals, delta: float) -> float:
    """The least epsilon of the concentrated events alone: exact if all of them are Gaussian, by zCDP otherwise."""
    gaussian = _gaussian(sums)
    return (gaussian or ZCDP(float_up(sums.concentrated))).epsilon_at(delta)


def concentrated_delta(sums: Totals, epsilon: float) -> float:
    """The least delta of the concentrated events alone: exact if all of them are Gaussian, by zCDP otherwise."""
    gaussian = _gaussian(sums)
    return (gaussian or ZCDP(float_up(sums.concentrated))).delta_at(epsilon)


def epsilon(spend: Spend, delta: float) -> float:
    """The sum of the epsilons, plus the epsilon of the concentrated events at the remaining delta, which is `delta`
    minus the sum of the deltas.
    """
    sums = totals(spend)
    left = remaining(delta, sums.delta)
    if left < 0:
        return math.inf
    rest = concentrated_epsilon(sums, left)
    return written_up(sums.pure + sums.approx + Fraction(rest)) if math.isfinite(rest) else math.inf


def delta(spend: Spend, epsilon: float) -> float:
    """The sum of the deltas, plus the delta of the concentrated events at the remaining epsilon, which is `epsilon`
    minus the sum of the epsilons.
    """
    sums = totals(spend)
    left = remaining(epsilon, sums.pure + sums.approx)
    if left < 0:
        return 1.0
    return min(1.0, written_up(sums.delta + Fraction(concentrated_delta(sums, left))))
