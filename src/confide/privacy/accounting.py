"""The accountant: what a fixed list of events costs together. Sums are exact rationals, rounded up once at the end.

Every calculator is a valid bound for the same transcript, so the least of them is valid, for parameters that were fixed
before the first release. Spends that depend on earlier outputs go through the `Ledger` (a filter), not through this.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from confide.contract.checks import fraction, non_negative
from confide.contract.errors import InvalidInput, NotGuaranteed
from confide.contract.guarantees import Unit
from confide.privacy.events import ApproxEvent, Event, PureEvent, ZCDPEvent, flatten
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

__all__ = ["Accountant", "Totals", "float_up", "totals"]


def float_up(value: Fraction) -> float:
    """The least double that is not below an exact rational.

    Example:
        >>> float_up(Fraction(1, 10)) >= Fraction(1, 10)
        True
    """
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


@dataclass(frozen=True)
class Totals:
    """Exact sums over a list of events; None where an event of the list has no such cost."""

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None


def totals(events: Iterable[Event]) -> Totals:
    """Basic sums: epsilons and deltas of pure and approximate events, rhos of pure and zCDP events.

    Raises:
        InvalidInput: an event of a type that has no proved rule here.
    """
    epsilon: Fraction | None = Fraction(0)
    rho: Fraction | None = Fraction(0)
    delta = Fraction(0)
    for event in events:
        for leaf, count in flatten(event):
            match leaf:
                case PureEvent():
                    step = Fraction(leaf.epsilon)
                    epsilon = None if epsilon is None else epsilon + count * step
                    rho = None if rho is None else rho + count * step * step / 2
                case ApproxEvent():
                    epsilon = None if epsilon is None else epsilon + count * Fraction(leaf.epsilon)
                    delta += count * Fraction(leaf.delta)
                    rho = None
                case ZCDPEvent():
                    rho = None if rho is None else rho + count * Fraction(leaf.rho)
                    epsilon = None
                case _:
                    raise InvalidInput("event", f"{type(leaf).__name__} is unsupported", "no proved rule is known")
    return Totals(epsilon, delta, rho)


@dataclass(frozen=True)
class Accountant:
    """What a fixed list of events costs together.

    Args:
        events: the releases, all for one neighbouring relation.

    Example:
        >>> from confide.contract import Unit
        >>> one = PureEvent(epsilon=0.1, neighbours=Unit.RECORD_REPLACED)
        >>> round(Accountant((one,) * 3).epsilon(), 12)
        0.3
    """

    events: tuple[Event, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", tuple(self.events))
        relations = {event.neighbours for event in self.events}
        if len(relations) > 1:
            raise InvalidInput("events", f"{len(relations)} neighbouring relations",
                               "an accountant adds events of one relation")
        totals(self.events)  # refuses unknown events now, not when the answer is asked for

    @property
    def neighbours(self) -> Unit | None:
        """The relation of all events; None when there are none."""
        return self.events[0].neighbours if self.events else None

    def epsilon(self, delta: float = 0.0) -> float:
        """The least epsilon proved at this delta, over basic composition and zCDP.

        Args:
            delta: in [0, 1).

        Returns:
            epsilon in nats, rounded up; infinity where nothing is proved at this delta.
        """
        delta = fraction("delta", delta, zero=True)
        sums = totals(self.events)
        candidates = []
        if sums.epsilon is not None and Fraction(delta) >= sums.delta:
            candidates.append(float_up(sums.epsilon))
        if sums.rho is not None:
            candidates.append(ZCDP(float_up(sums.rho)).epsilon_at(delta))
        return min(candidates, default=math.inf)

    def delta(self, epsilon: float) -> float:
        """The least delta proved at this epsilon."""
        epsilon = non_negative("epsilon", epsilon)
        sums = totals(self.events)
        candidates = [1.0]
        if sums.epsilon is not None and Fraction(epsilon) >= sums.epsilon:
            candidates.append(float_up(sums.delta))
        if sums.rho is not None:
            candidates.append(ZCDP(float_up(sums.rho)).delta_at(epsilon))
        return min(candidates)

    def rho(self) -> float:
        """The total zCDP cost, rounded up.

        Raises:
            NotGuaranteed: an event of the list has no zCDP cost.
        """
        sums = totals(self.events)
        if sums.rho is None:
            raise NotGuaranteed("zCDP", "an approximate event has no zCDP cost", "ask for epsilon(delta)")
        return float_up(sums.rho)

    def loss(self, delta: float = 0.0) -> PureDP | ApproxDP:
        """The total as a loss: pure at delta = 0, approximate otherwise."""
        epsilon = self.epsilon(delta)
        return PureDP(epsilon) if delta == 0 else ApproxDP(epsilon, delta)
