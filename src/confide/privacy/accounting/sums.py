"""Counting of the events of a list, and exact sums of the costs of these events. An epsilon or a delta counts as the
decimal number that is written for it, so nothing is rounded.

`counted` refuses unknown events. `counted` also drops labels, order, nesting and events without a cost, because they do
not change the total cost.

`root_up` computes square roots that are never too small, for standard deviations of noise, which may be rounded up but
not down.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from confide.contract.errors import InvalidInput, Unsupported
from confide.privacy.events import (
    ApproxEvent,
    BoundedRangeEvent,
    Event,
    GDPEvent,
    PureEvent,
    RandomizedResponseEvent,
    ZCDPEvent,
    flatten,
)

__all__ = [
    "KINDS",
    "Spend",
    "Totals",
    "as_written",
    "ball",
    "counted",
    "float_up",
    "remaining",
    "root_down",
    "root_up",
    "spendable",
    "totals",
    "written",
    "written_up",
]

# ---- roots


def root_up(square: Fraction) -> float:
    """The least double whose square is at least a rational number.

    Args:
        square: the rational number, >= 0.

    Raises:
        InvalidInput: the number is negative, or its root is larger than the largest double.

    Example:
        >>> root_up(Fraction(9, 4)), Fraction(root_up(Fraction(2))) ** 2 >= 2
        (1.5, True)
    """
    if square < 0:
        raise InvalidInput("square", f"{float(square)} is negative")
    if square == 0:
        return 0.0
    shift = max(0, 128 - square.numerator.bit_length() + square.denominator.bit_length())
    shift += shift % 2
    whole = (square.numerator << shift) // square.denominator
    try:
        root = float(Fraction(math.isqrt(whole), 1 << (shift // 2)))
    except OverflowError:
        raise InvalidInput("square", "its root is too large for a 64-bit float") from None
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    while root > 0 and Fraction(math.nextafter(root, 0.0)) ** 2 >= square:
        root = math.nextafter(root, 0.0)
    return root


def root_down(square: Fraction) -> float:
    """The largest double whose square is at most a rational number.

    Args:
        square: the rational number, >= 0.

    Raises:
        InvalidInput: the number is negative, or its root is larger than the largest double.

    Example:
        >>> Fraction(root_down(Fraction(2))) ** 2 <= 2 < Fraction(root_up(Fraction(2))) ** 2
        True
    """
    up = root_up(square)
    return up if Fraction(up) ** 2 == square else math.nextafter(up, 0.0)


# ---- sums

KINDS: tuple[type[Event], ...] = (
    PureEvent, BoundedRangeEvent, RandomizedResponseEvent, ApproxEvent, ZCDPEvent, GDPEvent,
)
"""The event types that have proved rules, in the order of the documentation."""

Spend = Mapping[Event, int]
"""Mapping from an event to its number of uses, as `counted` returns it: only known event types, without labels and
nesting, and without events that cost nothing.
"""


def float_up(value: Fraction) -> float:
    """The least double that is not below an exact rational.

    Example:
        >>> float_up(Fraction(1, 10)) >= Fraction(1, 10)
        True
    """
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


@lru_cache(maxsize=4096)  # a run asks for the same few settings again and again
def written(value: float | Fraction) -> Fraction:
    """The shortest decimal number that is written for a double, as an exact rational. For example, 0.8 and 0.2 then sum
    to exactly 1.

    The decimal differs from the double by less than a relative 2^-53, and the computation of a noise scale from an
    epsilon keeps a larger margin. An exact rational is returned unchanged.

    Example:
        >>> written(0.8) + written(0.2) == 1, 0.8 + 0.2 == 1, Fraction(0.8) + Fraction(0.2) == 1
        (True, True, False)
    """
    return Fraction(value) if isinstance(value, Fraction | int) else Fraction(repr(float(value)))


def written_up(value: Fraction) -> float:
    """The least double whose shortest decimal form is not below an exact rational.

    Example:
        >>> written_up(Fraction(3, 10)), float_up(Fraction(3, 10))
        (0.3, 0.30000000000000004)
    """
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if written(nearest) >= value else math.nextafter(nearest, math.inf)


def as_written(bound: float) -> float:
    """The least double whose shortest decimal form is not below the given double; infinity is unchanged."""
    return written_up(Fraction(bound)) if math.isfinite(bound) else bound


def spendable(epsilon: float, delta: float) -> float:
    """The largest epsilon to which concentrated noise can be calibrated so that its charge stays within a budget
    written as a decimal.

    The charge of concentrated noise is a double, but a budget counts as the decimal that it is written as. About every
    second decimal number is below the double that represents it. For example, a budget of 0.8 would not admit noise
    calibrated to the double 0.8. Without a delta the epsilon is unchanged, because pure events count as the decimals
    that they are written as.

    Args:
        epsilon: the epsilon of the budget, above 0.
        delta: the delta of the budget.

    Example:
        >>> spendable(0.8, 1e-6), spendable(0.8, 0.0), spendable(0.5, 1e-6)
        (0.7999999999999999, 0.8, 0.5)
    """
    return math.nextafter(epsilon, 0.0) if delta and Fraction(epsilon) > written(epsilon) else epsilon


def ball(value: Fraction) -> Any:
    """A ball (python-flint's `arb`: an interval given by a midpoint and a radius) that contains an exact rational, at
    the working precision that is set.
    """
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def remaining(delta: float, spent: Fraction) -> float:
    """The given delta minus the part that is spent, rounded down. The result is 0 or negative if nothing remains."""
    left = written(delta) - spent
    nearest = float(left)
    return nearest if Fraction(nearest) <= left else math.nextafter(nearest, -math.inf)


def _free(leaf: Event) -> bool:
    match leaf:
        case PureEvent() | BoundedRangeEvent() | RandomizedResponseEvent():
            return leaf.epsilon == 0
        case ZCDPEvent():
            return leaf.rho == 0
        case GDPEvent():
            return leaf.mu == 0
    return False


def counted(events: Iterable[Event]) -> Spend:
    """The number of uses of each distinct event, sorted, without labels, nesting and events that cost nothing.

    Raises:
        Unsupported: an event of a type that has no proved rule.

    Example:
        >>> from confide.contract import Relation
        >>> a = PureEvent(epsilon=0.1, label="a", neighbours=Relation.BIT)
        >>> b = PureEvent(epsilon=0.1, label="b", neighbours=Relation.BIT)
        >>> list(counted((a, b, a)).values())
        [3]
    """
    tally: Counter[Event] = Counter()
    for event in events:
        for leaf, count in flatten(event):
            if type(leaf) not in KINDS:
                raise Unsupported("event", type(leaf).__name__)
            if count and not _free(leaf):
                tally[replace(leaf, label="") if leaf.label else leaf] += count
    return {leaf: tally[leaf] for leaf in sorted(tally, key=repr)}


@dataclass(frozen=True)
class Totals:
    """Exact sums of the costs of a list of events, by group: pure, approximate and concentrated events.

    Args:
        pure: sum of the epsilons of the pure events.
        pure_rho: sum of the zCDP costs of the pure events.
        approx: sum of the epsilons of the approximate events.
        delta: sum of the deltas of the approximate events.
        concentrated: sum of the zCDP costs of the concentrated events, which have no pure epsilon.
        square: sum of mu^2 over the concentrated events, if all of them are Gaussian; None otherwise.
        approximate: whether there is an approximate event.
    """

    pure: Fraction = Fraction(0)
    pure_rho: Fraction = Fraction(0)
    approx: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    concentrated: Fraction = Fraction(0)
    square: Fraction | None = Fraction(0)
    approximate: bool = False

    @property
    def rho(self) -> Fraction | None:
        """The zCDP cost of all events together; None if an event has no zCDP cost."""
        return None if self.approximate else self.pure_rho + self.concentrated


def totals(spend: Spend) -> Totals:
    """The sums of counted events by basic composition: sums of epsilons, of deltas, and of zCDP costs.

    Source: Bun and Steinke 2016, Proposition 1.4 (epsilon^2/2) and Lemma 2.4 (mu^2/2); spec query_release A2
    (epsilon^2/8 for a bounded range: with Z = ln(P/P'), K(u) = ln E'[e^(uZ)] has K(0) = K(1) = 0, and K'' is the
    variance of Z under a tilted law, <= epsilon^2/4; so K(a) <= a(a-1) epsilon^2/8).
    """
    pure = pure_rho = approx = delta = concentrated = gaussian = Fraction(0)
    approximate, exact = False, True
    for leaf, count in spend.items():
        match leaf:
            case PureEvent() | RandomizedResponseEvent():
                step = written(leaf.epsilon)
                pure, pure_rho = pure + count * step, pure_rho + count * step * step / 2
            case BoundedRangeEvent():
                step = written(leaf.epsilon)
                pure, pure_rho = pure + count * step, pure_rho + count * step * step / 8
            case ApproxEvent():
                approx, delta = approx + count * written(leaf.epsilon), delta + count * written(leaf.delta)
                approximate = True
            case ZCDPEvent():
                concentrated, exact = concentrated + count * Fraction(leaf.rho), False
            case GDPEvent():
                square = count * Fraction(leaf.mu) ** 2
                concentrated, gaussian = concentrated + square / 2, gaussian + square
    return Totals(pure, pure_rho, approx, delta, concentrated, gaussian if exact else None, approximate)
