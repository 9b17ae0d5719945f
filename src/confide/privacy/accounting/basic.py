"""Basic composition: epsilons add up, and deltas add up. The sums are exact, and the rule also holds at delta = 0."""

from __future__ import annotations

import math

from confide.privacy.accounting.sums import Spend, totals, written, written_up
from confide.privacy.events import ApproxEvent, BoundedRangeEvent, Event, PureEvent, RandomizedResponseEvent

__all__ = ["RULES", "SOURCE", "delta", "epsilon"]

RULES: dict[type[Event], str] = {
    PureEvent: "sum of epsilon",
    BoundedRangeEvent: "sum of epsilon",
    RandomizedResponseEvent: "sum of epsilon",
    ApproxEvent: "sums of epsilon and delta",
}
"""Mapping from an event type to a short description of the composition rule that is proved for events of this type."""

SOURCE = "Wu 2017, Theorem 2.2.2"


def epsilon(spend: Spend, delta: float) -> float:
    """The sum of the epsilons, if `delta` is at least the sum of the deltas; otherwise infinity."""
    sums = totals(spend)
    return written_up(sums.pure + sums.approx) if written(delta) >= sums.delta else math.inf


def delta(spend: Spend, epsilon: float) -> float:
    """The sum of the deltas, if `epsilon` is at least the sum of the epsilons; otherwise 1."""
    sums = totals(spend)
    return min(1.0, written_up(sums.delta)) if written(epsilon) >= sums.pure + sums.approx else 1.0
