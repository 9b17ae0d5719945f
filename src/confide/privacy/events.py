"""Privacy spend as data: each release carries an immutable event that states its cost and its neighbouring relation.

Accountants are functions of events. An accountant refuses an event of a type that it does not know, and never
approximates its cost.
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
    """The privacy cost of one release. `neighbours` is the neighbouring relation for which the cost was proved; it has
    no default.
    """

    neighbours: Relation
    label: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.neighbours, Relation):
            raise InvalidInput("neighbours", f"{self.neighbours!r} is not a relation", "use confide.contract.Relation")

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary with the fields of the event and the name of its type."""
        return {"event": wire_of(type(self)).tag, **{word: _plain(part) for word, part in wire_parts(self).items()}}


@wire("PureEvent", "neighbours label epsilon")
@dataclass(frozen=True, kw_only=True)
class PureEvent(Event):
    """An epsilon-DP release. The epsilon counts as the decimal number that is written for the double. Noise scales are
    computed from epsilon with a relative margin of 2^-51, which is larger than the difference between the decimal and
    the double.
    """

    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        non_negative("epsilon", self.epsilon)


@wire("BoundedRangeEvent", "neighbours label epsilon")
@dataclass(frozen=True, kw_only=True)
class BoundedRangeEvent(Event):
    """One draw of an exponential mechanism: over all outcomes, the log ratio of the probabilities under two neighbours
    varies by at most epsilon.

    A draw of bounded range is epsilon-DP and (epsilon^2/8)-zCDP. This rho is a quarter of the rho that epsilon-DP alone
    implies. Only a draw with probabilities proportional to exp(epsilon score / (2 sensitivity)) costs this event. A
    noisy maximum with Laplace noise costs a `PureEvent`.

    Source: Wu 2017, Theorem 2.3.3; spec query_release A2.
    """

    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        non_negative("epsilon", self.epsilon)


@wire("RandomizedResponseEvent", "neighbours label epsilon categories")
@dataclass(frozen=True, kw_only=True)
class RandomizedResponseEvent(Event):
    """One k-ary randomised response. The response is the true category with probability e^epsilon / (e^epsilon + k -
    1), and otherwise one of the other categories, each equally likely. The law of randomised response is known exactly,
    so a response may cost less than a general epsilon-DP release.

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
    """An (epsilon, delta)-DP release about whose law nothing more is known."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("epsilon", self.epsilon)
        fraction("delta", self.delta, zero=True)


@wire("ZCDPEvent", "neighbours label rho")
@dataclass(frozen=True, kw_only=True)
class ZCDPEvent(Event):
    """A rho-zCDP release, for instance discrete Gaussian noise of standard deviation sigma, with rho = sensitivity^2 /
    (2 sigma^2).
    """

    rho: float

    def __post_init__(self) -> None:
        super().__post_init__()
        non_negative("rho", self.rho)


@wire("GDPEvent", "neighbours label mu")
@dataclass(frozen=True, kw_only=True)
class GDPEvent(Event):
    """A mu-Gaussian release, which adds continuous Gaussian noise of standard deviation sigma, with mu = sensitivity /
    sigma.

    Discrete Gaussian noise costs a `ZCDPEvent`, not a `GDPEvent`.

    Source: Dong, Roth and Su 2022, Theorem 1; spec allocation 2.
    """

    mu: float

    def __post_init__(self) -> None:
        super().__post_init__()
        non_negative("mu", self.mu)


@wire("UnprotectedEvent", "neighbours label")
@dataclass(frozen=True, kw_only=True)
class UnprotectedEvent(Event):
    """A release without any privacy, which every ledger and accountant refuses."""


@wire("Repeated", "neighbours label of count", event="of")
@dataclass(frozen=True, kw_only=True)
class Repeated(Event):
    """The same event `count` times, where each use may depend on earlier outputs."""

    event: Event
    count: int

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("count", self.count)
        _same_relation(self.neighbours, (self.event,))


@wire("Composed", "neighbours label of", events="of")
@dataclass(frozen=True, kw_only=True)
class Composed(Event):
    """Several events on the same data, in any order, where each release may depend on earlier outputs."""

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        _same_relation(self.neighbours, self.events)


EVENTS = wire_types(ApproxEvent, BoundedRangeEvent, Composed, GDPEvent, PureEvent, RandomizedResponseEvent, Repeated,
                    UnprotectedEvent, ZCDPEvent)
"""Mapping from the name of an event type in JSON to the type, for all events that a charge may hold."""


def _plain(part: Any) -> Any:
    if isinstance(part, tuple):
        return [_plain(each) for each in part]
    if isinstance(part, Event):
        return part.to_dict()
    return word_of(part) if isinstance(part, Relation) else part


def _same_relation(neighbours: Relation, events: tuple[Event, ...]) -> None:
    for event in events:
        if event.neighbours is not neighbours:
            raise InvalidInput("neighbours", f"an event for {event.neighbours.words!r} is a part of an event for "
                                             f"{neighbours.words!r}",
                               "must be the same for all parts: a loss for other neighbours needs a proved rule")


def flatten(event: Event) -> Iterator[tuple[Event, int]]:
    """The single events that an event consists of, each with its number of uses."""
    if isinstance(event, Repeated):
        for leaf, count in flatten(event.event):
            yield leaf, count * event.count
    elif isinstance(event, Composed):
        for part in event.events:
            yield from flatten(part)
    else:
        yield event, 1
