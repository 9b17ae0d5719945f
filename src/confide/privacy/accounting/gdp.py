"""Composition of Gaussian mechanisms: the squares of mu add up, and the trade-off between epsilon and delta is exact.

A pure event counts as the least mu-Gaussian event that dominates it (`PureDP.to_gdp`). A list of events may therefore
mix pure events with Gaussian noise (spec allocation 2).
"""

from __future__ import annotations

from fractions import Fraction

from confide.privacy.accounting.sums import Spend, as_written, ball, float_up, written
from confide.privacy.events import BoundedRangeEvent, Event, GDPEvent, PureEvent, RandomizedResponseEvent
from confide.privacy.losses import BITS, GDP, PureDP, up
from confide.privacy.noise.balls import precision

__all__ = ["RULES", "SOURCE", "delta", "epsilon", "mu"]

RULES: dict[type[Event], str] = {
    PureEvent: "mu = 2 Phi^-1(e^epsilon/(1 + e^epsilon))",
    BoundedRangeEvent: "as pure",
    RandomizedResponseEvent: "as pure",
    GDPEvent: "mu, exact",
}
"""Mapping from an event type to a short description of the composition rule that is proved for events of this type."""

SOURCE = "Dong, Roth and Su 2022; our proof for pure events"


def mu(spend: Spend) -> float:
    """The mu of all events together, which is the square root of the sum of their squared mu, rounded up."""
    square = Fraction(0)
    for leaf, count in spend.items():
        match leaf:
            case GDPEvent():
                square += count * Fraction(leaf.mu) ** 2
            case PureEvent() | BoundedRangeEvent() | RandomizedResponseEvent():
                dominating = PureDP(float_up(written(leaf.epsilon))).to_gdp()
                square += count * Fraction(dominating.mu) ** 2
    with precision(BITS):
        return up(ball(square).sqrt())


def epsilon(spend: Spend, delta: float) -> float:
    """The least epsilon of the total mu at `delta` (`GDP.epsilon_at`)."""
    return as_written(GDP(mu(spend)).epsilon_at(delta)) if spend else 0.0


def delta(spend: Spend, epsilon: float) -> float:
    """The exact delta of the total mu at `epsilon` (`GDP.delta_at`)."""
    return GDP(mu(spend)).delta_at(epsilon) if spend else 0.0
