"""The meter of a run: nothing is drawn that was not charged.

A mechanism's charge is a list of named lines. A primitive that draws noise knows how far one neighbour step moves what
it adds noise to, and how much noise it adds. So it knows what the draw costs, as an exact rational, and spends that on
a line before it draws. A draw that exceeds its line raises `Overspent`, and nothing is published.

The meter proves the arithmetic of the split. It does not prove that a center moves by no more than the sensitivity that
is declared: that is the audit's. A meter belongs to one attempt of one run.

Source: design, "nothing is drawn that was not charged".
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from confide.contract.errors import InvalidInput
from confide.contract.metered import Metered, MeteredLine, Overspent
from confide.privacy.accounting.sums import float_up, remaining, written
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
from confide.privacy.noise.arguments import Stream, StreamName, as_stream

__all__ = [
    "PUBLIC",
    "Allowance",
    "Bundle",
    "DrawCost",
    "FixedList",
    "Line",
    "Meter",
    "OnDevices",
    "Parallel",
    "Session",
    "Unprotected",
    "WithoutDraw",
    "is_broken_on_purpose",
    "lines_of",
]


# ---- what a draw costs


@dataclass(frozen=True)
class DrawCost:
    """What one draw costs, in each notion that it has a cost in; exactly.

    Args:
        pure: epsilon; None where the draw has none, as Gaussian noise.
        rho: of zero-concentrated privacy; None where nothing is known of it.
        mu_squared: of Gaussian privacy; None for other noise.
        bounded_range: whether the log ratio varies by at most `pure` over all outcomes, as of an exponential mechanism.

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
        """The cost of a draw of bounded range: rho = epsilon^2/8 (spec query_release A2)."""
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
        """The cost of so many draws."""
        if count == 1:
            return self
        pure, rho, mu_squared = (None if part is None else count * part
                                 for part in (self.pure, self.rho, self.mu_squared))
        return DrawCost(pure, rho, mu_squared)

    def within(self, event: Event) -> bool:
        """Whether an event pays for it."""
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
        epsilon = written(event.epsilon)
        if self.pure is not None and self.pure <= epsilon:
            return True
        if self.mu_squared is not None:
            return Fraction(GDP(_root_up(self.mu_squared)).epsilon_at(event.delta)) <= epsilon
        return self.rho is not None and Fraction(ZCDP(float_up(self.rho)).epsilon_at(event.delta)) <= epsilon

    def __str__(self) -> str:
        if self.pure is not None:
            return f"epsilon {float(self.pure):.6g}"
        if self.mu_squared is not None:
            return f"mu {_root_up(self.mu_squared):.6g}"
        return "a cost that is not known" if self.rho is None else f"rho {float(self.rho):.6g}"


_NOTHING = DrawCost(Fraction(0), Fraction(0), Fraction(0))

PUBLIC = DrawCost.laplace(Fraction(0))
"""The cost of a draw whose law is the same for all records."""


def _sum(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def _root_up(square: Fraction) -> float:
    import math

    root = math.sqrt(float(square))
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


# ---- the lines of a charge


@dataclass(frozen=True, kw_only=True)
class Line:
    """One named part of what a run is charged.

    Args:
        name: the name that draws are made under.
    """

    name: str
    form: ClassVar[str]

    @property
    def events(self) -> tuple[Event, ...]:
        """What the ledger is charged for it."""
        raise NotImplementedError

    def open(self) -> _Open:
        """What of it is left, for one run."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Allowance(Line):
    """Any number of draws, chosen as the run goes on, whose costs add up to at most one event's.

    Args:
        event: pure, of bounded range, concentrated, Gaussian or approximate.
    """

    event: Event
    form = "allowance"

    @property
    def events(self) -> tuple[Event, ...]:
        return (self.event,)

    def open(self) -> _Open:
        return _Sum(self)


@dataclass(frozen=True, kw_only=True)
class FixedList(Line):
    """Draws in a fixed order: each is paid by the next event of the list.

    Args:
        listed: the events; one that is `Repeated` pays for so many draws.
    """

    listed: tuple[Event, ...]
    form = "fixed list"

    @property
    def events(self) -> tuple[Event, ...]:
        return self.listed

    def open(self) -> _Open:
        return _Listed(self)


@dataclass(frozen=True, kw_only=True)
class Session(Line):
    """One event for all draws of a primitive that is used step by step, such as a tree counter or a sparse vector.

    Args:
        event: of the session; `Repeated` where it may be opened so many times.
    """

    event: Event
    form = "session"

    @property
    def events(self) -> tuple[Event, ...]:
        return (self.event,)

    def open(self) -> _Open:
        return _Listed(self, opened=True)


@dataclass(frozen=True, kw_only=True)
class Parallel(Line):
    """Draws on groups of people who do not overlap: each group's draws cost at most the event.

    Args:
        event: of each group, and so of all together.
        groups: their names. Who is in which group must not depend on anybody's record.
    """

    event: Event
    groups: tuple[str, ...]
    form = "parallel groups"

    @property
    def events(self) -> tuple[Event, ...]:
        return (self.event,)

    def open(self) -> _Open:
        return _Groups(self)


@dataclass(frozen=True, kw_only=True)
class WithoutDraw(Line):
    """A delta for which nothing is drawn, such as that of noise that is cut off; a part of a bundle.

    Args:
        delta: what it costs.
    """

    delta: float
    form = "without a draw"

    @property
    def events(self) -> tuple[Event, ...]:
        return ()

    def open(self) -> _Open:
        return _Closed(self, "pays for no draw")


@dataclass(frozen=True, kw_only=True)
class OnDevices(Line):
    """Draws on the participants' devices, each of which spends at most the event on its one report.

    Args:
        event: of one device.
    """

    event: Event
    form = "on devices"

    @property
    def events(self) -> tuple[Event, ...]:
        return (self.event,)

    def open(self) -> _Open:
        return _Closed(self, "is spent on the participants' devices")


@dataclass(frozen=True, kw_only=True)
class Unprotected(Line):
    """What is published as it is.

    Args:
        event: that says so.
    """

    event: Event
    form = "unprotected"

    @property
    def events(self) -> tuple[Event, ...]:
        return (self.event,)

    def open(self) -> _Open:
        return _Closed(self, "protects nothing")


@dataclass(frozen=True, kw_only=True)
class Bundle(Line):
    """Several lines that the ledger is charged for by one event, proved to cover them together.

    Args:
        event: what is charged.
        parts: what may be drawn.
        proof: why it covers them, in a few words.
    """

    event: Event
    parts: tuple[Line, ...]
    proof: str
    form = "converted"

    def __post_init__(self) -> None:
        _check_bundle(self)

    @property
    def events(self) -> tuple[Event, ...]:
        return (self.event,)


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
                       "the ledger must be charged for at least what is drawn")


_ROUNDING = Fraction(1, 10**9)
"""Sums and conversions of doubles, as for promises (`confide.privacy.covering`)."""


def lines_of(events: Iterable[Event]) -> tuple[Line, ...]:
    """The lines that follow from events alone: an allowance for each, a fixed list where one is repeated.

    Args:
        events: of one run. Their labels name the lines; where one has none, or one that stood before, its number does.

    Example:
        >>> from confide.contract import Unit
        >>> [(line.name, line.form) for line in lines_of([PureEvent(epsilon=1.0, neighbours=Unit.BIT, label="sum")])]
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


class _Open:
    """A line in one run."""

    def __init__(self, line: Line) -> None:
        self.line = line

    def spend(self, cost: DrawCost, count: int, group: str | None) -> None:
        """Pay for draws.

        Raises:
            Overspent: they cost more than is left.
        """
        raise NotImplementedError

    def _too_much(self, cost: DrawCost, left: str) -> Overspent:
        return Overspent(self.line.name, str(cost), left)


class _Closed(_Open):
    def __init__(self, line: Line, why: str) -> None:
        super().__init__(line)
        self._why = why

    def spend(self, cost: DrawCost, count: int, group: str | None) -> None:
        raise self._too_much(cost, f"the line {self._why}")


class _Sum(_Open):
    """What was spent of an allowance."""

    def __init__(self, line: Allowance) -> None:
        super().__init__(line)
        self._event, self._spent, self._alone = line.event, _NOTHING, True

    def spend(self, cost: DrawCost, count: int, group: str | None) -> None:
        asked = cost.times(count)
        # A sum is no draw of bounded range; one draw alone is.
        after = cost if self._alone and count == 1 else self._spent + asked
        if not after.within(self._event):
            raise self._too_much(asked, f"{_words(self._event)} was charged, {self._spent} spent before" if
                                 not self._alone else f"{_words(self._event)} was charged")
        self._spent, self._alone = self._spent + asked, False


class _Listed(_Open):
    """Where a fixed list stands. A session is a list of openings."""

    def __init__(self, line: FixedList | Session, *, opened: bool = False) -> None:
        super().__init__(line)
        self._paid = [leaf for event in line.events for leaf in flatten(event) if leaf[1]]
        self._used = 0  # draws of the entry that is next
        self._at, self._what = 0, "openings" if opened else "draws"

    def spend(self, cost: DrawCost, count: int, group: str | None) -> None:
        if self._at == len(self._paid):
            raise self._too_much(cost.times(count), f"all {self._what} that were charged are made")
        event, many = self._paid[self._at]
        if count > many - self._used:
            left = many - self._used
            raise self._too_much(cost.times(count), f"{left} {self._what} of {_words(event)} each are left")
        if not cost.within(event):
            raise self._too_much(cost, f"{_words(event)} was charged for each of the {self._what}")
        self._used += count
        if self._used == many:
            self._at, self._used = self._at + 1, 0


class _Groups(_Open):
    """One allowance for each group."""

    def __init__(self, line: Parallel) -> None:
        super().__init__(line)
        self._of = {name: _Sum(Allowance(name=f"{line.name}, {name}", event=line.event)) for name in line.groups}

    def spend(self, cost: DrawCost, count: int, group: str | None) -> None:
        if group not in self._of:
            raise InvalidInput("group", f"{group!r} is none of {self.line.name!r}", f"one of {', '.join(self._of)}")
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


# ---- the meter


def is_broken_on_purpose(mechanism: object) -> bool:
    """Whether it is a fault that an audit plants: measured without a meter, which would stop it before that."""
    modules = (kind.__module__.split(".") for kind in type(mechanism).__mro__)
    return any(words[0] == "confide" and "audit" in words for words in modules)


class Meter:
    """What is left of each line of a charge, in one attempt of one run.

    Args:
        lines: of the charge.
        strict: whether a draw that no line pays for is refused, rather than noted.
        mechanism: whose run it is; None where nobody asks.

    Raises:
        InvalidInput: two lines of one name.

    Example:
        >>> from confide.contract import Unit
        >>> meter = Meter(lines_of([PureEvent(epsilon=1.0, neighbours=Unit.BIT, label="sum")]))
        >>> meter.spend("sum", DrawCost.laplace(Fraction(1)), "total")
        >>> meter.spend("sum", DrawCost.laplace(Fraction(1)), "again")
        Traceback (most recent call last):
        confide.contract.metered.Overspent: the line 'sum': a draw would spend epsilon 1; epsilon 1 was charged, \
epsilon 1 spent before
    """

    def __init__(self, lines: Sequence[Line], *, strict: bool = False, mechanism: Any = None) -> None:
        self.mechanism = mechanism
        self._lines = tuple(lines)
        drawn = [part for line in lines for part in (line.parts if isinstance(line, Bundle) else (line,))]
        self._open = {line.name: line.open() for line in drawn}
        if len(self._open) < len(drawn):
            twice = next(name for name, count in Counter(line.name for line in drawn).items() if count > 1)
            raise InvalidInput("lines", f"two are named {twice!r}", "each line has a name of its own")
        self._strict, self._lock = strict, threading.Lock()
        self._paid: dict[StreamName, str] = {}
        self._around = False

    @classmethod
    def of(cls, mechanism: Any, *, device: bool = False) -> Meter:
        """The meter of a run of a mechanism, or of one participant's device.

        Raises:
            InvalidInput: the mechanism's lines are not what its events charge.
        """
        events = tuple(mechanism.events())
        lines = tuple(mechanism.lines()) or lines_of(events)
        if Counter(event for line in lines for event in line.events) != Counter(events):
            raise InvalidInput("lines", f"of {type(mechanism).__name__} are not its events",
                               "each event is charged on one line")
        if device:
            own = tuple(Allowance(name=line.name, event=line.event) for line in lines if isinstance(line, OnDevices))
            lines = own or lines_of(events)
        return cls(lines, strict=type(mechanism).__module__.partition(".")[0] == "confide", mechanism=mechanism)

    def spend(
        self, line: str | None, cost: DrawCost, stream: Stream, *, count: int = 1, group: str | None = None
    ) -> None:
        """Pay for draws before they are made.

        Args:
            line: its name; None where there is one line only.
            cost: of one draw.
            stream: the name under which they are drawn, all at once.
            count: how many draws cost so much each.
            group: whose records they are of, on a line of parallel groups.

        Raises:
            InvalidInput: no such line.
            Overspent: they cost more than is left of the line.
        """
        with self._lock:
            opened = self._line(line)
            opened.spend(cost, count, group)
            self._paid[as_stream(stream)] = opened.line.name

    def paid_before(self, line: str, stream: Stream) -> None:
        """Name a draw that a session paid for when it was opened."""
        with self._lock:
            self._paid[as_stream(stream)] = line

    def public(self, stream: Stream) -> None:
        """Name a draw that protects nobody: a split, a tie, an order that is published."""
        with self._lock:
            self._paid[as_stream(stream)] = ""

    def _line(self, name: str | None) -> _Open:
        if name is None and len(self._open) == 1:
            return next(iter(self._open.values()))
        if name not in self._open:
            said = "is missing" if name is None else f"{name!r} is not charged"
            raise InvalidInput("line", said, f"one of {', '.join(map(repr, self._open)) or 'none'}")
        return self._open[name]

    def claimed(self, stream: StreamName) -> None:
        """A draw is made.

        Raises:
            InvalidInput: nothing paid for it, and this meter is strict.
        """
        if stream in self._paid:
            return
        if self._strict:
            raise InvalidInput("stream", f"{stream!r} is drawn and no line of the charge pays for it",
                               "draw by confide.privacy.primitives, on a line of the charge")
        self._around = True

    def line_of(self, stream: StreamName) -> str | None:
        """The line that paid for a draw: "" for public randomness, None where none did."""
        return self._paid.get(stream)

    def record(self) -> Metered:
        """What may be published of it: which lines there are, and that each was kept."""
        return Metered(lines=tuple(MeteredLine(line=line.name, form=line.form) for line in self._lines),
                       around=self._around)
