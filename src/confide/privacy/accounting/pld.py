"""Composition of privacy loss distributions with the library dp-accounting: nearly optimal for long mixed lists. The
calculator needs the extra `accounting`.

The calculator is sound only for events that are dominated by one pair of laws. A pure event is dominated by binary
randomised response, and k-ary randomised response by its own pair of laws. An approximate event is dominated by binary
randomised response that reveals everything with probability delta, and a Gaussian event by two Gaussians. For a zCDP
event no dominating pair of laws is known, so the calculator does not support it.

This module discretises each loss by the method "connect the dots", in the direction of less privacy. Then dp-accounting
composes the discretised losses one use after another. The accountant class of dp-accounting is not used, because that
class loses the repeat count of a randomised response that is composed with itself. The numbers are only as accurate as
the floating-point arithmetic of dp-accounting, which does not round outwards. Use the calculator `pld` for comparison,
and prefer the calculator `optimal` where `optimal` gives an answer.

Source: Doroshenko et al. 2022; spec query_release A2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, Unsupported
from confide.privacy.accounting.gdp import mu
from confide.privacy.accounting.sums import Spend, as_written, float_up, written
from confide.privacy.events import (
    ApproxEvent,
    BoundedRangeEvent,
    Event,
    GDPEvent,
    PureEvent,
    RandomizedResponseEvent,
)

__all__ = ["RULES", "SOURCE", "available", "delta", "epsilon", "interval"]

RULES: dict[type[Event], str] = {
    PureEvent: "binary randomised response",
    BoundedRangeEvent: "as pure",
    RandomizedResponseEvent: "its own law",
    ApproxEvent: "randomised response, or the record is shown",
    GDPEvent: "two Gaussians",
}
"""Mapping from an event type to a short description of the pair of laws that dominates such an event."""

SOURCE = "Doroshenko et al. 2022"

_Array = NDArray[np.floating[Any]]
_TAIL = 1e-15  # mass that each composition may move to infinity
_FLOATS = 1e-13  # room in delta for the rounding errors of fast Fourier transforms, which are near 1e-16


def available() -> bool:
    """Whether dp-accounting is installed."""
    from importlib.util import find_spec

    return find_spec("dp_accounting") is not None


def _library() -> tuple[Any, Any]:
    if not available():
        raise InvalidInput("calculator", "'pld' needs dp-accounting, which is not installed",
                           "install confide with the extra 'accounting'")
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    return pld_pmf, privacy_loss_distribution


def interval(spend: Spend) -> float:
    """Width, in nats, of the grid to which losses are rounded: 1/2000 of the root mean square of the total loss, and at
    most a tenth of the root mean square of the loss of one event.

    A width of 1/2000 of the total's root mean square keeps the total exact to a thousandth. A width of a tenth of one
    event's root mean square keeps the variance added to each event below one per cent. The width depends on the events
    alone.
    """
    square, count = 0.0, 0
    for leaf, uses in spend.items():
        match leaf:
            case PureEvent() | BoundedRangeEvent() | RandomizedResponseEvent() | ApproxEvent():
                square, count = square + uses * leaf.epsilon**2, count + uses
            case GDPEvent():
                square, count = square + uses * leaf.mu**2, count + uses
    return math.sqrt(square) * min(1 / 2000, 0.1 / math.sqrt(count))


def _hockey(level: float, categories: int, shown: float) -> Callable[[_Array], _Array]:
    """Function from epsilon to delta for one randomised response, which reveals everything with a given probability.

    Of the k outcomes, one has loss `level`, one has loss -`level`, and the others have loss 0.
    """
    scale = 1.0 + (categories - 1) * math.exp(-level)
    for_true, for_other = 1.0 / scale, math.exp(-level) / scale
    between = (categories - 2) * for_other

    def at(epsilon: _Array) -> _Array:
        gone = (for_true * -np.expm1(np.minimum(epsilon - level, 0.0)) + between * -np.expm1(np.minimum(epsilon, 0.0))
                + for_other * -np.expm1(np.minimum(epsilon + level, 0.0)))
        dots: _Array = np.clip(shown + (1.0 - shown) * gone, 0.0, 1.0)
        return dots

    return at


def _distribution(spend: Spend) -> Any:
    pmf, distribution = _library()
    width = interval(spend)
    total = None
    gaussian: Spend = {leaf: count for leaf, count in spend.items() if isinstance(leaf, GDPEvent)}
    parts: list[tuple[Any, int]] = []
    if gaussian:
        parts.append((distribution.from_gaussian_mechanism(1.0 / mu(gaussian), value_discretization_interval=width), 1))
    for leaf, count in spend.items():
        shown, categories = 0.0, 2
        match leaf:
            case GDPEvent():
                continue
            case PureEvent() | BoundedRangeEvent():
                pass
            case RandomizedResponseEvent():
                categories = leaf.categories
            case ApproxEvent():
                shown = float_up(written(leaf.delta))
            case _:
                raise Unsupported("calculator", f"{type(leaf).__name__} in 'pld'",
                                  "this event has no dominating pair of laws")
        level = float_up(written(leaf.epsilon))
        reach = math.ceil(level / width)
        points = np.arange(-reach, reach + 1)
        dots = _hockey(level, categories, shown)(points * width)
        one = distribution.PrivacyLossDistribution(pmf.create_pmf_pessimistic_connect_dots(width, points, dots))
        parts.append((one, count))
    for one, count in parts:
        many = one.self_compose(count, _TAIL) if count > 1 else one
        total = many if total is None else total.compose(many, _TAIL)
    return total


def epsilon(spend: Spend, delta: float) -> float:
    """The least epsilon of the composed distribution at `delta`, after a small part of `delta` is reserved for rounding
    errors. The result is infinite where `delta` is no larger than the part reserved for rounding errors.

    Raises:
        InvalidInput: dp-accounting is not installed.
    """
    if not spend:
        return 0.0
    if delta <= _FLOATS:
        return math.inf
    return as_written(float(_distribution(spend).get_epsilon_for_delta(delta - _FLOATS)))


def delta(spend: Spend, epsilon: float) -> float:
    """The delta of the composed distribution at `epsilon`, plus a margin for rounding errors."""
    return min(1.0, float(_distribution(spend).get_delta_for_epsilon(epsilon)) + _FLOATS) if spend else 0.0
