"""The meter of a run, which ensures that the cost of all noise drawn in the run was charged.

A mechanism's charge is a list of named lines (`confide.privacy.charge`). The name of a draw of noise is called its
stream. A primitive that draws noise knows the scale of the noise, and how far one neighbour step moves the number to
which the noise is added. A primitive therefore knows the exact cost of its draw, and deducts the cost from a line
before it draws. A draw that exceeds its line raises `Overspent`, and nothing is published.

The meter proves that the draws together cost no more than the charge. The meter does not prove that a number to which
noise is added moves by at most the declared sensitivity. The audit checks the declared sensitivities. A meter is used
for one attempt of one run only.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from confide.contract.errors import InvalidInput
from confide.contract.metered import Metered, MeteredLine
from confide.privacy.charge import PUBLIC, Allowance, Bundle, DrawCost, Line, OnDevices, OpenLine, lines_of
from confide.privacy.noise.arguments import Stream, StreamName, as_stream

__all__ = ["Meter", "PaidDraws", "is_broken_on_purpose"]


def is_broken_on_purpose(mechanism: object) -> bool:
    """Whether a mechanism contains a fault that an audit injected on purpose. Such a mechanism runs without a meter,
    because the meter would stop the run before the audit could measure the fault.
    """
    modules = (kind.__module__.split(".") for kind in type(mechanism).__mro__)
    return any(words[0] == "confide" and any(word.startswith("audit") for word in words) for words in modules)


class PaidDraws(NamedTuple):
    """The payment for the draws of one stream, or for all draws of a session.

    Args:
        stream: the name of the stream under which the draws were paid for.
        line: the line of the charge; None for public randomness.
        cost: the cost of one draw.
        draws: the number of draws, each of the cost `cost`.
    """

    stream: StreamName
    line: Line | None
    cost: DrawCost
    draws: int = 1

    @property
    def whole(self) -> DrawCost:
        """The cost of all draws together."""
        return self.cost.times(self.draws)

    @property
    def free(self) -> bool:
        """Whether the draws cost nothing. Such draws may be added only to numbers that are the same for all records."""
        return 0 in (self.cost.pure, self.cost.rho, self.cost.mu_squared)


class Meter:
    """The balance of each line of a charge, in one attempt of one run.

    Args:
        lines: the lines of the charge, with different names.
        strict: True to refuse a draw that no line pays for; False to allow the draw and only note it.
        mechanism: the mechanism that runs; None for a meter without a mechanism.

    Raises:
        InvalidInput: two lines with the same name.

    Example:
        >>> from fractions import Fraction
        >>> from confide.contract import Relation
        >>> from confide.privacy.events import PureEvent
        >>> meter = Meter(lines_of([PureEvent(epsilon=1.0, neighbours=Relation.BIT, label="sum")]))
        >>> meter.spend("sum", DrawCost.laplace(Fraction(1)), "total")
        >>> meter.spend("sum", DrawCost.laplace(Fraction(1)), "again")
        Traceback (most recent call last):
        confide.contract.metered.Overspent: a draw of noise for the line 'sum' of the charge would spend epsilon \
1; epsilon 1 was charged for the line, and epsilon 1 of this was spent before
    """

    def __init__(self, lines: Sequence[Line], *, strict: bool = False, mechanism: Any = None) -> None:
        self.mechanism = mechanism
        self._lines = tuple(lines)
        drawn = [part for line in lines for part in (line.parts if isinstance(line, Bundle) else (line,))]
        self._open = {line.name: line.open() for line in drawn}
        if len(self._open) < len(drawn):
            twice = next(name for name, count in Counter(line.name for line in drawn).items() if count > 1)
            raise InvalidInput("lines", f"two lines have the name {twice!r}", "give each line a different name")
        self._strict, self._lock = strict, threading.Lock()
        self._paid: dict[StreamName, PaidDraws] = {}
        self._around: set[StreamName] = set()

    @classmethod
    def of(cls, mechanism: Any, *, device: bool = False) -> Meter:
        """The meter of a run of a mechanism, or of one participant's device.

        Raises:
            InvalidInput: the events on the mechanism's lines differ from the events that it is charged for.
        """
        events = tuple(mechanism.events())
        lines = tuple(mechanism.lines()) or lines_of(events)
        listed = tuple(event for line in lines for event in line.events)
        if listed != events and Counter(listed) != Counter(events):  # most are in the same order: nothing is counted
            raise InvalidInput("lines", f"the lines of {type(mechanism).__name__} do not have the events of the "
                                        "mechanism",
                               "charge each event on one line")
        if device:
            own = tuple(Allowance(name=line.name, event=line.event) for line in lines if isinstance(line, OnDevices))
            lines = own or lines_of(events)
        return cls(lines, strict=type(mechanism).__module__.partition(".")[0] == "confide", mechanism=mechanism)

    def spend(
        self, line: str | None, cost: DrawCost, stream: Stream, *, count: int = 1, group: str | None = None
    ) -> None:
        """Deduct the cost of draws from a line before the draws are made.

        Args:
            line: the name of the line; None if the charge has one line only.
            cost: the cost of one draw.
            stream: the name of the stream from which all these draws are made, in one request.
            count: the number of draws, each of the cost `cost`.
            group: for a line of parallel groups, the group of people whose records the draws are about.

        Raises:
            InvalidInput: the charge has no line of the given name.
            Overspent: the draws cost more than the line has left.
        """
        with self._lock:
            opened = self._line(line)
            opened.spend(cost, count, group)
            name = as_stream(stream)
            before = self._paid.get(name)  # each group of people may pay for its part of one draw
            if before is not None:
                cost, count = before.whole + cost.times(count), 1
            self._paid[name] = PaidDraws(name, opened.line, cost, count)

    def paid_before(self, opening: Stream, stream: Stream) -> None:
        """Register a draw that was paid for when its session was opened.

        Args:
            opening: the name of the stream under which the session was paid for. If nothing was paid under the name
                `opening`, the draw is public.
            stream: the name of the stream of the draw.
        """
        with self._lock:
            paid, name = self._paid.get(as_stream(opening)), as_stream(stream)
            self._paid[name] = PaidDraws(name, None, PUBLIC) if paid is None else paid

    def public(self, stream: Stream) -> None:
        """Register a draw of public randomness, which protects nobody and costs nothing: a random split, a tie-break,
        or a published order.
        """
        with self._lock:
            name = as_stream(stream)
            self._paid.setdefault(name, PaidDraws(name, None, PUBLIC))

    def _line(self, name: str | None) -> OpenLine:
        if name is None and len(self._open) == 1:
            return next(iter(self._open.values()))
        if name not in self._open:
            said = "is missing" if name is None else f"{name!r} is not charged"
            raise InvalidInput("line", said,
                               f"must be one of {', '.join(map(repr, self._open))}" if self._open else
                               "the run has no line")
        return self._open[name]

    def claimed(self, stream: StreamName) -> None:
        """Record that numbers are drawn from a stream, and check that the stream was paid for.

        Raises:
            InvalidInput: nothing was paid for the stream, and this meter is strict.
        """
        if stream in self._paid:
            return
        if self._strict:
            raise InvalidInput("stream", f"the run draws {stream!r}, but no line of the charge pays for this draw",
                               "draw with confide.privacy.primitives, on a line of the charge")
        self._around.add(stream)

    def payment_of(self, stream: StreamName) -> PaidDraws | None:
        """The payment for the draws of a stream; None if nothing was paid."""
        return self._paid.get(stream)

    def observed(self, stream: StreamName) -> bool:
        """Whether the meter knows of draws from a stream, with or without a payment for the draws."""
        return stream in self._paid or stream in self._around

    def record(self) -> Metered:
        """The publishable part of the meter: the names and forms of the lines, and whether some draw was made without a
        payment.
        """
        return Metered(lines=tuple(MeteredLine(line=line.name, form=line.form) for line in self._lines),
                       around=bool(self._around))
