"""The charge of a run, the cost of one draw of noise, and the remaining balance of each line of the charge. A charge is
the privacy loss that the ledger records for a run, as a list of named lines.

Costs are exact rational numbers, computed from the doubles of the events. An epsilon counts as the decimal number that
is written for the double, so 0.1 counts as 1/10. A rho or a mu counts as the double itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from confide.contract.errors import InvalidInput
from confide.contract.metered import Overspent
from confide.contract.words import counted
from confide.privacy.accounting.sums import float_up, remaining, root_up, written
from confide.privacy.events import (
    ApproxEvent,
    BoundedRangeEvent,
    Composed,
    Event,
    GDPEvent,
    PureEvent,
    RandomizedResponseEvent,
    Repeated,
    UnprotectedEvent,
    ZCDPEvent,
    flatten,
)
from confide.privacy.losses import GDP, ZCDP

__all__ = [
    "PUBLIC", "Allowance", "Bundle", "DrawCost", "FixedList", "Line", "OnDevices", "OpenLine", "Parallel", "Session",
    "Unprotected", "WithoutDraw", "lines_of",
]


# ---- what a draw costs


@dataclass(frozen=True)
class DrawCost:
    """The exact cost of one draw of noise, in each privacy notion in which it has a cost.

    Args:
        pure: the epsilon of pure differential privacy, in nats; None for a draw without a pure epsilon, such as
            Gaussian noise.
        rho: the rho of zero-concentrated privacy; None where no rho is known.
        mu_squared: the square of the mu of Gaussian differential privacy; None for other noise.
        bounded_range: whether the log ratio of an outcome's probabilities under two neighbours varies by at most `pure`
            over all outcomes, as in an exponential mechanism.

    Example:
        >>> DrawCost.laplace(Fraction(1, 2)).rho, DrawCost.gaussian(Fraction(1, 2)).rho
        (Fraction(1, 8), Fraction(1, 4))
    """

    pure: Fraction | None = None
    rho: Fraction | None = None
    mu_squared: Fraction | None = None
    bounded_range: bool = False

    @classmethod
    def laplace(cls, epsilon: Fraction) -> DrawCost:
        """The cost of an epsilon-DP draw: rho = epsilon^2/2 (Bun and Steinke 2016, Proposition 1.4)."""
        return cls(pure=epsilon, rho=epsilon**2 / 2)

    @classmethod
    def selection(cls, epsilon: Fraction) -> DrawCost:
        """The cost of a draw of bounded range: rho = epsilon^2/8 (spec query_release A2). Over all outcomes, the log
        ratio of the probabilities under two neighbours varies by at most epsilon.
        """
        return cls(pure=epsilon, rho=epsilon**2 / 8, bounded_range=True)

    @classmethod
    def concentrated(cls, rho: Fraction) -> DrawCost:
        """The cost of a rho-zCDP draw, such as discrete Gaussian noise."""
        return cls(rho=rho)

    @classmethod
    def gaussian(cls, mu_squared: Fraction) -> DrawCost:
        """The cost of Gaussian noise: rho = mu^2/2 (Bun and Steinke 2016, Lemma 2.4)."""
        return cls(rho=mu_squared / 2, mu_squared=mu_squared)

    def __add__(self, other: DrawCost) -> DrawCost:
        return DrawCost(_sum(self.pure, other.pure), _sum(self.rho, other.rho),
                        _sum(self.mu_squared, other.mu_squared))

    def times(self, count: int) -> DrawCost:
        """The total cost of `count` draws of this cost."""
        if count == 1:
            return self
        pure, rho, mu_squared = (None if part is None else count * part
                                 for part in (self.pure, self.rho, self.mu_squared))
        return DrawCost(pure, rho, mu_squared)

    def within(self, event: Event) -> bool:
        """Whether the cost of the draw is at most the cost of an event."""
        match event:
            case BoundedRangeEvent():
                return self.bounded_range and self.pure is not None and self.pure <= written(event.epsilon)
            case PureEvent() | RandomizedResponseEvent():
                return self.pure is not None and self.pure <= written(event.epsilon)
            case ZCDPEvent():
                return self.rho is not None and self.rho <= Fraction(event.rho)
            case GDPEvent():
                return self.mu_squared is not None and self.mu_squared <= Fraction(event.mu) ** 2
            case ApproxEvent():
                return self._within_approximate(event)
        return False

    def _within_approximate(self, event: ApproxEvent) -> bool:
        if self.pure is not None and self.pure <= written(event.epsilon):
            return True
        if self.mu_squared is not None:  # conversions are rounded up, as the event's epsilon is
            return GDP(root_up(self.mu_squared)).epsilon_at(event.delta) <= event.epsilon
        return self.rho is not None and ZCDP(float_up(self.rho)).epsilon_at(event.delta) <= event.epsilon

    def __str__(self) -> str:
        if self.pure is not None:
            return f"epsilon {float(self.pure):.6g}"
        if self.mu_squared is not None:
            return f"mu {root_up(self.mu_squared):.6g}"
        return "an event with an unknown cost" if self.rho is None else f"rho {float(self.rho):.6g}"


_NOTHING = DrawCost(Fraction(0), Fraction(0), Fraction(0))

PUBLIC = DrawCost.laplace(Fraction(0))
"""The cost of a draw whose distribution does not depend on any record, which is zero."""


def _sum(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


# ---- the lines of a charge


@dataclass(frozen=True, kw_only=True)
class Line:
    """One named part of the charge of a run.

    Args:
        name: the name of the line. Each draw of noise states the name of the line that pays for the draw.
    """

    name: str
    form: ClassVar[str]

    @property
    def events(self) -> tuple[Event, ...]:
        """The events that the ledger is charged for this line."""
        raise NotImplementedError

    def open(self) -> OpenLine:
        """The full balance of the line, with which a run starts."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class _OneEvent(Line):
    event: Event

    @property
    def events(self) -> tuple[Event, ...]:
        return (self.event,)


@dataclass(frozen=True, kw_only=True)
class Allowance(_OneEvent):
    """A line that pays for any number of draws, chosen as the run goes on, while the sum of their costs is at most the
    cost of one event.

    Args:
        event: the event that is charged: pure, of bounded range, concentrated, Gaussian or approximate.
    """

    form = "allowance"

    def open(self) -> OpenLine:
        limit = _limit(self.event)
        return _SumOfAll(self) if limit is None else _Sum(self, *limit)


@dataclass(frozen=True, kw_only=True)
class FixedList(Line):
    """A line that pays for draws in a fixed order. The first event of a list pays for the first draw, the second event
    for the second draw, and so on.

    Args:
        listed: the events in order; a `Repeated` event pays for as many draws as it has repetitions.
    """

    listed: tuple[Event, ...]
    form = "fixed list"

    @property
    def events(self) -> tuple[Event, ...]:
        return self.listed

    def open(self) -> OpenLine:
        return _Listed(self)


@dataclass(frozen=True, kw_only=True)
class Session(_OneEvent):
    """A line in which one event pays for all draws of a primitive that is used step by step. Examples are a tree
    counter and a sparse vector.

    Args:
        event: the event of one session; a `Repeated` event allows as many sessions as it has repetitions.
    """

    form = "session"

    def open(self) -> OpenLine:
        return _Listed(self, opened=True)


@dataclass(frozen=True, kw_only=True)
class Parallel(_OneEvent):
    """A line for draws on disjoint groups of people. The draws on each group cost at most as much as one event.

    Args:
        event: the event that is charged. One event covers the draws on all groups together, because each person is in
            one group only.
        groups: the names of the groups. The assignment of people to groups must not depend on anybody's record.
    """

    groups: tuple[str, ...]
    form = "parallel groups"

    def open(self) -> OpenLine:
        return _Groups(self)


@dataclass(frozen=True, kw_only=True)
class WithoutDraw(Line):
    """A line of a `Bundle` that adds a delta to the cost, without any draw of noise. An example is the delta of
    clamping noise at a bound.

    Args:
        delta: the cost, a probability in (0, 1].
    """

    delta: float
    form = "without a draw"

    @property
    def events(self) -> tuple[Event, ...]:
        return ()

    def open(self) -> OpenLine:
        return _Closed(self, "pays for no draw")


@dataclass(frozen=True, kw_only=True)
class OnDevices(_OneEvent):
    """A line for draws on the participants' devices. Each device sends one report, whose cost is at most the cost of
    one event.

    Args:
        event: the event that the report of one device costs.
    """

    form = "on devices"

    def open(self) -> OpenLine:
        return _Closed(self, "is spent on the participants' devices, not by the run")


@dataclass(frozen=True, kw_only=True)
class Unprotected(_OneEvent):
    """A line for data that are published without any protection.

    Args:
        event: the event that records the unprotected release.
    """

    form = "unprotected"

    def open(self) -> OpenLine:
        return _Closed(self, "protects nothing")


@dataclass(frozen=True, kw_only=True)
class Bundle(_OneEvent):
    """Several lines for which the ledger is charged one event, which is proved to cover all these lines together.

    Args:
        event: the event that is charged.
        parts: the lines that pay for the draws.
        proof: the reason why the event covers the parts, in a few words.
    """

    parts: tuple[Line, ...]
    proof: str
    form = "converted"

    def __post_init__(self) -> None:
        _check_bundle(self)


def _check_bundle(bundle: Bundle) -> None:
    from confide.privacy.filter import price

    paid = bundle.event
    parts = [event for part in bundle.parts for event in part.events]
    if isinstance(paid, ApproxEvent):
        cut = sum((written(part.delta) for part in bundle.parts if isinstance(part, WithoutDraw)), Fraction(0))
        delta = remaining(paid.delta, cut)
        if delta >= 0 and price("basic", parts, delta).epsilon <= written(paid.epsilon) * (1 + _ROUNDING):
            return
    raise InvalidInput("lines", f"the event of {bundle.name!r} does not cover its parts",
                       "the ledger must be charged for at least the cost of the draws")


_ROUNDING = Fraction(1, 10**9)
"""Relative tolerance in comparisons of costs, for rounding in sums and conversions of doubles.
`confide.privacy.required_charge` allows the same tolerance.
"""


def lines_of(events: Iterable[Event]) -> tuple[Line, ...]:
    """The lines of a charge for which only the events are known. A single event becomes an `Allowance`, and a repeated
    or composed event a `FixedList`.

    Args:
        events: the events of one run. A line takes its name from the label of its event. If the label of an event is
            missing or already taken, the number of the event is added to the line's name.

    Example:
        >>> from confide.contract import Relation
        >>> event = PureEvent(epsilon=1.0, neighbours=Relation.BIT, label="sum")
        >>> [(line.name, line.form) for line in lines_of([event])]
        [('sum', 'allowance')]
    """
    found: list[Line] = []
    taken: set[str] = set()
    for number, event in enumerate(events, 1):
        name = event.label if event.label and event.label not in taken else f"{event.label or 'event'} {number}"
        taken.add(name)
        found.append(_line(name, event))
    return tuple(found)


def _line(name: str, event: Event) -> Line:
    match event:
        case Repeated():
            return FixedList(name=name, listed=(event,))
        case Composed():
            return FixedList(name=name, listed=event.events)
        case UnprotectedEvent():
            return Unprotected(name=name, event=event)
    return Allowance(name=name, event=event)


# ---- what is left of a line


class OpenLine:
    """The balance of one line of a charge during one run."""

    def __init__(self, line: Line) -> None:
        self.line = line

    def spend(self, cost: DrawCost, count: int, group: str | None) -> None:
        """Deduct the cost of `count` draws, each of the given cost, from the balance of the line.

        Raises:
            Overspent: the draws cost more than the line has left.
        """
        raise NotImplementedError

    def _too_much(self, cost: DrawCost, left: str) -> Overspent:
        return Overspent(self.line.name, str(cost), left)


class _Closed(OpenLine):
    def __init__(self, line: Line, why: str) -> None:
        super().__init__(line)
        self._why = why

    def spend(self, cost: DrawCost, count: int, group: str | None) -> None:
        raise self._too_much(cost, f"the line {self._why}")


class _Sum(OpenLine):
    """The balance of an allowance whose limit is a single number, such as an epsilon or a rho."""

    def __init__(self, line: Allowance, part: str, limit: Fraction) -> None:
        super().__init__(line)
        self._event, self._part, self._limit, self._before = line.event, part, limit, Fraction(0)
        # Rounds pay for the same draw again and again: how many of them are affordable is worked out once.
        self._again: DrawCost | None = None
        self._paid, self._affordable = 0, 0.0

    def spend(self, cost: DrawCost, count: int, group: str | None) -> None:
        if cost is not self._again:
            self._turn_to(cost)
        if self._paid + count > self._affordable:
            raise self._beyond(cost.times(count))
        self._paid += count

    def _turn_to(self, cost: DrawCost) -> None:
        """Compute how many draws of a new cost the line can still pay for, after all earlier draws."""
        self._before = self._spent()
        amount: Fraction | None = getattr(cost, self._part)
        self._again, self._paid = cost, 0
        if amount is None:
            self._affordable = 0
        else:
            self._affordable = (self._limit - self._before) // amount if amount else math.inf

    def _spent(self) -> Fraction:
        return self._before + self._paid * getattr(self._again, self._part) if self._paid else self._before

    def _beyond(self, asked: DrawCost) -> Overspent:
        spent: dict[str, Any] = {self._part: self._spent()}
        before = f", and {DrawCost(**spent)} of this was spent before" if spent[self._part] else ""
        return self._too_much(asked, f"{_words(self._event)} was charged for the line{before}")


class _SumOfAll(OpenLine):
    """The balance of an allowance whose limit is not a single number, such as an epsilon with a delta."""

    def __init__(self, line: Allowance) -> None:
        super().__init__(line)
        self._event, self._spent, self._alone = line.event, _NOTHING, True

    def spend(self, cost: DrawCost, count: int, group: str | None) -> None:
        asked = cost.times(count)
        # A sum is no draw of bounded range; one draw alone is.
        after = cost if self._alone and count == 1 else self._spent + asked
        if not after.within(self._event):
            before = "" if self._alone else f", and {self._spent} of this was spent before"
            raise self._too_much(asked, f"{_words(self._event)} was charged for the line{before}")
        self._spent, self._alone = self._spent + asked, False


def _limit(event: Event) -> tuple[str, Fraction] | None:
    """A pair of a name and a limit. The name is the name of the number in `DrawCost` that the event limits, summed over
    all draws. None for an event that limits no single sum.
    """
    match event:
        case PureEvent():
            return "pure", written(event.epsilon)
        case ZCDPEvent():
            return "rho", Fraction(event.rho)
        case GDPEvent():
            return "mu_squared", Fraction(event.mu) ** 2
    return None


class _Listed(OpenLine):
    """The position in a fixed list of draws. For a session, each entry of the list is one opening of the primitive."""

    def __init__(self, line: FixedList | Session, *, opened: bool = False) -> None:
        super().__init__(line)
        self._paid = [leaf for event in line.events for leaf in flatten(event) if leaf[1]]
        self._used = 0  # draws of the entry that is next
        self._at, self._what = 0, "opening" if opened else "draw"

    def spend(self, cost: DrawCost, count: int, group: str | None) -> None:
        if self._at == len(self._paid):
            raise self._too_much(cost.times(count), f"the run has made all charged {self._what}s")
        event, many = self._paid[self._at]
        if count > many - self._used:
            left = many - self._used
            raise self._too_much(cost.times(count),
                                 f"the line still pays for {counted(left, self._what)} of {_words(event)}")
        if not cost.within(event):
            raise self._too_much(cost, f"{_words(event)} was charged for each of the {self._what}s")
        self._used += count
        if self._used == many:
            self._at, self._used = self._at + 1, 0


class _Groups(OpenLine):
    """The balances of parallel groups: one allowance for each group."""

    def __init__(self, line: Parallel) -> None:
        super().__init__(line)
        self._of = {name: Allowance(name=f"{line.name}, {name}", event=line.event).open() for name in line.groups}

    def spend(self, cost: DrawCost, count: int, group: str | None) -> None:
        if group not in self._of:
            raise InvalidInput("group", f"{group!r} is not a group of {self.line.name!r}",
                               f"must be one of {', '.join(self._of)}")
        self._of[group].spend(cost, count, None)


def _words(event: Event) -> str:
    match event:
        case ApproxEvent():
            return f"epsilon {event.epsilon:.6g} with delta {event.delta:.3g}"
        case PureEvent() | BoundedRangeEvent() | RandomizedResponseEvent():
            return f"epsilon {event.epsilon:.6g}"
        case ZCDPEvent():
            return f"rho {event.rho:.6g}"
        case GDPEvent():
            return f"mu {event.mu:.6g}"
    return type(event).__name__


