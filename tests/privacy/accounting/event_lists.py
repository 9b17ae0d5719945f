"""Events for the tests of the accountant: all types, random lists of them, and their exact laws."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
from hypothesis import strategies as st

from confide.contract import Relation
from confide.privacy import (
    ApproxEvent,
    BoundedRangeEvent,
    Event,
    GDPEvent,
    PureEvent,
    RandomizedResponseEvent,
    Repeated,
    ZCDPEvent,
)

RECORD = Relation.REPLACE


def pure(epsilon: float) -> PureEvent:
    return PureEvent(epsilon=epsilon, neighbours=RECORD)


def ranged(epsilon: float) -> BoundedRangeEvent:
    return BoundedRangeEvent(epsilon=epsilon, neighbours=RECORD)


def response(epsilon: float, categories: int = 2) -> RandomizedResponseEvent:
    return RandomizedResponseEvent(epsilon=epsilon, categories=categories, neighbours=RECORD)


def approx(epsilon: float, delta: float) -> ApproxEvent:
    return ApproxEvent(epsilon=epsilon, delta=delta, neighbours=RECORD)


def zcdp(rho: float) -> ZCDPEvent:
    return ZCDPEvent(rho=rho, neighbours=RECORD)


def gdp(mu: float) -> GDPEvent:
    return GDPEvent(mu=mu, neighbours=RECORD)


def times(event: Event, count: int) -> Repeated:
    return Repeated(event=event, count=count, neighbours=RECORD)


ONE_OF_EACH: tuple[Event, ...] = (pure(0.3), ranged(0.4), response(0.5, 3), approx(0.2, 1e-7), zcdp(0.01), gdp(0.2))

LEVELS = st.floats(1e-3, 2.0)
PURE_EVENTS = st.one_of(
    st.builds(pure, LEVELS), st.builds(ranged, LEVELS), st.builds(response, LEVELS, st.integers(2, 9))
)
WITH_EPSILON = PURE_EVENTS | st.builds(approx, LEVELS, st.floats(0.0, 1e-8))
ALL = WITH_EPSILON | st.builds(zcdp, st.floats(1e-5, 0.5)) | st.builds(gdp, LEVELS)
DELTAS = st.floats(1e-7, 0.3)


def as_pure(event: Event) -> Event:
    """The same without what a bounded range promises beyond its epsilon."""
    return pure(event.epsilon) if isinstance(event, BoundedRangeEvent) else event


def stronger(event: Event, factor: float) -> Event:
    """The same event with more noise."""
    match event:
        case RandomizedResponseEvent():
            return response(event.epsilon * factor, event.categories)
        case ApproxEvent():
            return approx(event.epsilon * factor, event.delta * factor)
        case PureEvent() | BoundedRangeEvent():
            return type(event)(epsilon=event.epsilon * factor, neighbours=RECORD)
        case ZCDPEvent():
            return zcdp(event.rho * factor)
        case GDPEvent():
            return gdp(event.mu * factor)
    raise TypeError(event)


Pair = tuple[np.ndarray, np.ndarray]


def worst_pair(event: Event) -> Pair:
    """The two laws that dominate one event with an epsilon of its own."""
    if isinstance(event, ApproxEvent):
        shown, (p, q) = event.delta, worst_pair(pure(event.epsilon))
        return (np.array([shown, 0.0, *((1 - shown) * p)]), np.array([0.0, shown, *((1 - shown) * q)]))
    if not isinstance(event, PureEvent | BoundedRangeEvent | RandomizedResponseEvent):
        raise TypeError(event)
    k = event.categories if isinstance(event, RandomizedResponseEvent) else 2
    odds = np.full(k, 1.0)
    odds[0] = math.exp(event.epsilon)
    p = odds / odds.sum()
    return p, p[[1, 0, *range(2, k)]]


def product(pairs: list[Pair]) -> Pair:
    """The laws of independent outcomes together."""
    return (reduce(lambda a, b: np.multiply.outer(a, b).ravel(), (p for p, _ in pairs)),
            reduce(lambda a, b: np.multiply.outer(a, b).ravel(), (q for _, q in pairs)))
