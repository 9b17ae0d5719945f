"""Composition of zero-concentrated differential privacy: the costs rho add up, and their sum is converted once. The
docstring of `sums.totals` proves the cost of each event type.
"""

from __future__ import annotations

import math

from confide.contract.errors import Unsupported
from confide.privacy.accounting.sums import Spend, as_written, float_up, totals
from confide.privacy.events import BoundedRangeEvent, Event, GDPEvent, PureEvent, RandomizedResponseEvent, ZCDPEvent
from confide.privacy.losses import ZCDP

__all__ = ["RULES", "SOURCE", "delta", "epsilon", "rho"]

RULES: dict[type[Event], str] = {
    PureEvent: "rho = epsilon^2/2",
    BoundedRangeEvent: "rho = epsilon^2/8",
    RandomizedResponseEvent: "rho = epsilon^2/2",
    ZCDPEvent: "rho",
    GDPEvent: "rho = mu^2/2",
}
"""Mapping from an event type to a short formula for the rho of such an event."""

SOURCE = "Bun and Steinke 2016; our proof for the bounded range"


def rho(spend: Spend) -> float:
    """The sum of the rho of all events, rounded up."""
    exact = totals(spend).rho
    if exact is None:
        raise Unsupported("events", "an event with a delta above 0 in zCDP", "ask for epsilon(delta)")
    return float_up(exact)


def epsilon(spend: Spend, delta: float) -> float:
    """The least epsilon of the total rho at `delta` (`ZCDP.epsilon_at`)."""
    return as_written(ZCDP(rho(spend)).epsilon_at(delta)) if spend else 0.0


def delta(spend: Spend, epsilon: float) -> float:
    """The least delta of the total rho at `epsilon` (`ZCDP.delta_at`)."""
    cost = rho(spend)
    return ZCDP(cost).delta_at(epsilon) if math.isfinite(cost) else 1.0
