"""Spend as data: each release carries a frozen event with its cost and its neighbouring relation.

Accountants are functions of events. An event that an accountant does not know is unsupported, never approximated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from confide.contract.checks import fraction, non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Relation
from confide.contract.wire import wire, wire_of, wire_parts, wire_types, word_of

__all__ = [
    "EVENTS",
    "ApproxEvent",
    "BoundedRangeEvent",
    "Composed",
    "Event",
    "GDPEvent",
    "PureEvent",
    "RandomizedResponseEvent",
    "Repeated",
    "UnprotectedEvent",
    "ZCDPEvent",
    "flatten",
]


@wire("Event", "neighbours label")
@dataclass(frozen=True, kw_only=True)
class Event:
    """One release. `neighbours` is the relation for which its cost was proved; there is no default."""

    neighbours: Relation
    label: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.neighbours, Relation):
            raise InvalidInput("neighbours", f"{self.neighbours!r} is no relation", "use confide.contract.Relation")

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary with the event's type."""
        return {"event": wire_of(type(self)).tag, **{word: _plain(part) for word, part in wire_parts(self).items()}}


@wire("PureEvent", "neighbours label epsilon")
@dataclass(frozen=True, kw_only=True)
class PureEvent(Event):
    """An epsilon-DP release, for epsilon as it is written in decimal: calibrations keep a relative 2^-51 of room."""

    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        non_negative("epsilon", self.epsilon)


@wire("BoundedRangeEvent", "neighbours label epsilon")
@dataclass(frozen=True, kw_only=True)
class BoundedRangeEvent(Event):
    """One draw of an exponential mechanism: over all outcomes, the log ratio of both laws varies by at most epsilon.

    It is epsilon-DP, and epsilon^2/8-zCDP, a quarter of what epsilon-DP alone gives. Only a draw with probabilities in
    proportion to exp(epsilon score / (2 sensitivity)) makes this event; the largest of noisy scores with Laplace noise
    makes a `PureEvent`.

    Source: Wu 2017, Theorem 2.3.3; spec query_release A2.
    """

    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        non_negative("epsilon", self.epsilon)


@wire("RandomizedResponseEvent", "neighbours label epsilon categories")
@dataclass(frozen=True, kw_only=True)
class RandomizedResponseEvent(Event):
    """One k-ary randomised response: the true category with probability e^epsilon / (e^epsilon + k - 1), else another
    one, each alike. Its law is known exactly, so it may cost less than any epsilon-DP release.

    Args:
        epsilon: the loss in nats, >= 0.
        categories: the number k of categories, >= 2.
    """

    epsilon: float
    categories: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        non_negative("epsilon", self.epsilon)
        whole("categories", self.categories, at_least=2)


@wire("ApproxEvent", "neighbours label epsilon delta")
@dataclass(frozen=True, kw_only=True)
class ApproxEvent(Event):
    """An (epsilon, delta)-DP release about which nothing more is known."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("epsilon", self.epsilon)
        fraction("delta", self.delta, zero=True)


@wire("ZCDPEvent", "neighbours label rho")
@dataclass(frozen=True, kw_only=True)
class ZCDPEvent(Event):
    """A rho-zCDP release, for instance discrete Gaussian noise with rho = sensitivity^2 / (2 sigma^2)."""

    rho: float

    def __post_init__(self) -> None:
        super().__post_init__()
        non_negative("rho", self.rho)


@wire("GDPEvent", "neighbours label mu")
@dataclass(frozen=True, kw_only=True)
class GDPEvent(Event):
    """A mu-Gaussian release: continuous Gaussian noise with mu = sensitivity / sigma.

    Discrete Gaussian noise makes a `ZCDPEvent` instead.

    Source: Dong, Roth and Su 2022, Theorem 1; spec allocation 2.
    """

    mu: float

    def __post_init__(self) -> None:
        super().__post_init__()
        non_negative("mu", self.mu)


@wire("UnprotectedEvent", "neighbours label")
@dataclass(frozen=True, kw_only=True)
class UnprotectedEvent(Event):
    """A release without any privacy: every ledger and accountant declines it."""


@wire("Repeated", "neighbours label of count", event="of")
@dataclass(frozen=True, kw_only=True)
class Repeated(Event):
    """The same event `count` times, adaptively."""

    event: Event
    count: int

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("count", self.count)
        _same_relation(self.neighbours, (self.event,))


@wire("Composed", "neighbours label of", events="of")
@dataclass(frozen=True, kw_only=True)
class Composed(Event):
    """Several events on the same data, adaptively, in any order."""

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        _same_relation(self.neighbours, self.events)


EVENTS = wire_types(ApproxEvent, BoundedRangeEvent, Composed, GDPEvent, PureEvent, RandomizedResponseEvent, Repeated,
                    UnprotectedEvent, ZCDPEvent)
"""Those of a charge, by wire name."""


def _plain(part: Any) -> Any:
    if isinstance(part, tuple):
        return [_plain(each) for each in part]
    if isinstance(part, Event):
        return part.to_dict()
    return word_of(part) if isinstance(part, Relation) else part


def _same_relation(neighbours: Relation, events: tuple[Event, ...]) -> None:
    for event in events:
        if event.neighbours is not neighbours:
            raise InvalidInput("neighbours", f"{event.neighbours.words!r} within {neighbours.words!r}",
                               "relations are converted only by proved rules")


def flatten(event: Event) -> Iterator[tuple[Event, int]]:
    """The leaves of an event tree with their multiplicities."""
    if isinstance(event, Repeated):
        for leaf, count in flatten(event.event):
            yield leaf, count * event.count
    elif isinstance(event, Composed):
        for part in event.events:
            yield from flatten(part)
    else:
        yield event, 1
