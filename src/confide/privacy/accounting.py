"""The accountant: what a fixed list of events costs together. Sums are exact, of epsilons as people write them (in
decimal), and rounded up once at the end.

Every calculator is a valid bound for the same transcript, so the least of them is valid, for parameters that were fixed
before the first release. Spends that depend on earlier outputs go through the `Ledger` (a filter), not through this.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from confide.contract.checks import fraction, non_negative
from confide.contract.errors import InvalidInput, NotGuaranteed
from confide.contract.guarantees import Unit
from confide.privacy.events import ApproxEvent, Event, PureEvent, ZCDPEvent, flatten
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

__all__ = ["Accountant", "Totals", "float_up", "totals", "written", "written_up"]


def float_up(value: Fraction) -> float:
    """The least double that is not below an exact rational.

    Example:
        >>> float_up(Fraction(1, 10)) >= Fraction(1, 10)
        True
    """
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def written(value: float) -> Fraction:
    """The decimal number that a double is written as: 0.8 and 0.2 make 1, as whoever wrote them meant.

    It differs from the double by less than a relative 2^-53; whatever is calibrated to an epsilon keeps more room.

    Example:
        >>> written(0.8) + written(0.2) == 1, 0.8 + 0.2 == 1, Fraction(0.8) + Fraction(0.2) == 1
        (True, True, False)
    """
    return Fraction(repr(float(value)))


def written_up(value: Fraction) -> float:
    """The least double that is written as a decimal not below an exact rational.

    Example:
        >>> written_up(Fraction(3, 10)), float_up(Fraction(3, 10))
        (0.3, 0.30000000000000004)
    """
    nearest = float(value)
    return nearest if written(nearest) >= value else math.nextafter(nearest, math.inf)


@dataclass(frozen=True)
class Totals:
    """Exact sums over a list of events, kept apart by what is known of each.

    Args:
        pure: epsilons of the pure events.
        pure_rho: epsilon^2/2 of the pure events.
        approx: epsilons of the approximate events.
        delta: deltas of the approximate events.
        concentrated: rhos of the events of which only zCDP is known.
        approximate: whether there is an approximate event at all.
    """

    pure: Fraction = Fraction(0)
    pure_rho: Fraction = Fraction(0)
    approx: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    concentrated: Fraction = Fraction(0)
    approximate: bool = False

    @property
    def epsilon(self) -> Fraction | None:
        """By basic composition at `delta`; None where an event has zCDP alone."""
        return self.pure + self.approx if self.concentrated == 0 else None

    @property
    def rho(self) -> Fraction | None:
        """All events as zCDP; None where one has no zCDP cost."""
        return None if self.approximate else self.pure_rho + self.concentrated


def totals(events: Iterable[Event]) -> Totals:
    """The sums of a list of events.

    Raises:
        InvalidInput: an event of a type that has no proved rule here.
    """
    out = Totals()
    for event in events:
        for leaf, count in flatten(event):
            match leaf:
                case PureEvent():
                    step = written(leaf.epsilon)
                    out = replace(out, pure=out.pure + count * step, pure_rho=out.pure_rho + count * step * step / 2)
                case ApproxEvent():
                    out = replace(out, approx=out.approx + count * written(leaf.epsilon),
                                  delta=out.delta + count * written(leaf.delta),
                                  approximate=out.approximate or count > 0)
                case ZCDPEvent():
                    out = replace(out, concentrated=out.concentrated + count * Fraction(leaf.rho))
                case _:
                    raise InvalidInput("event", f"{type(leaf).__name__} is unsupported", "no proved rule is known")
    return out


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
        """The least epsilon proved at this delta: basic composition, zCDP, and the sum of both over groups of events.

        Args:
            delta: in [0, 1).

        Returns:
            epsilon in nats, rounded up; infinity where nothing is proved at this delta.
        """
        delta = fraction("delta", delta, zero=True)
        sums = totals(self.events)
        candidates = []
        if written(delta) >= sums.delta:
            # Pure and approximate events by basic composition, the others by zCDP with what is left of delta.
            left = math.nextafter(float(written(delta) - sums.delta), 0.0) if sums.delta else delta
            rest = ZCDP(float_up(sums.concentrated)).epsilon_at(left)
            if math.isfinite(rest):
                candidates.append(written_up(sums.pure + sums.approx + Fraction(rest)))
        if sums.rho is not None:
            by_rho = ZCDP(float_up(sums.rho)).epsilon_at(delta)
            candidates.append(written_up(Fraction(by_rho)) if math.isfinite(by_rho) else by_rho)
        return min(candidates, default=math.inf)

    def delta(self, epsilon: float) -> float:
        """The least delta proved at this epsilon."""
        epsilon = non_negative("epsilon", epsilon)
        sums = totals(self.events)
        candidates = [1.0]
        if written(epsilon) >= sums.pure + sums.approx:
            left = math.nextafter(float(written(epsilon) - sums.pure - sums.approx), 0.0) if sums.concentrated else 0.0
            candidates.append(written_up(sums.delta + Fraction(ZCDP(float_up(sums.concentrated)).delta_at(left))))
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
