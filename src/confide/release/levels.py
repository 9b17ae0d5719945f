"""The levels of DualQuery's rounds and their exact sums, without an event for each round.

Round t draws by an exponential mechanism of range 2 eta (t - 1)/n, and each draw is charged 2^-37 besides. A level is
the least double that is written as a decimal not below that; sums are exact sums of those decimals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

from confide.privacy.accounting import written, written_up
from confide.privacy.accounting.per_round import drift_of
from confide.privacy.accounting.sums import ball
from confide.privacy.losses import BITS
from confide.privacy.noise.balls import precision

__all__ = ["ROOM", "drifts", "largest", "round_epsilon", "round_range", "sums"]

ROOM: float = 2.0**-37
"""What each draw is charged besides, in nats: exponents and weights are doubles."""

_ROOM = Fraction(ROOM)


def round_epsilon(n: int, eta: float, t: int) -> float:
    """The range of one draw of round t: 2 eta (t - 1)/n + 2^-37 in nats, rounded up; 0 in round 1.

    Args:
        n: records, public.
        eta: step size.
        t: the round, from 1.

    Example:
        >>> round_epsilon(1000, 0.5, 1), round(round_epsilon(1000, 0.5, 11), 9)
        (0.0, 0.01)
    """
    return written_up(round_range(n, eta, t))


def round_range(n: int, eta: float, t: int) -> Fraction:
    """The same, exactly.

    Args:
        n: records, public.
        eta: step size.
        t: the round, from 1.
    """
    return Fraction(0) if t == 1 else (t - 1) * _slope(n, eta) + _ROOM


@lru_cache(maxsize=4)  # the rounds of a run ask for the same one
def _slope(n: int, eta: float) -> Fraction:
    return 2 * written(eta) / n


def largest(n: int, eta: float, rounds: int) -> Fraction:
    """The level of the last round, as it is written."""
    return written(round_epsilon(n, eta, rounds))


@lru_cache(maxsize=8)  # a search asks for the last one again, by another name
def sums(n: int, eta: float, rounds: int) -> tuple[Fraction, Fraction]:
    """The sum of the levels of all rounds, and of their squares: of one draw a round.

    Args:
        n: records, public.
        eta: step size.
        rounds: T >= 1.

    Raises:
        OverflowError: a level is beyond the doubles.

    Example:
        >>> levels = [written(round_epsilon(1000, 0.5, t)) for t in range(1, 12)]
        >>> sums(1000, 0.5, 11) == (sum(levels), sum(each * each for each in levels))
        True
    """
    ones: dict[int, int] = {}
    squares: dict[int, int] = {}
    for digits, places in _levels(n, eta, rounds):
        ones[places] = ones.get(places, 0) + digits
        squares[places] = squares.get(places, 0) + digits * digits
    return (sum((Fraction(value, 10**places) for places, value in ones.items()), Fraction(0)),
            sum((Fraction(value, 10 ** (2 * places)) for places, value in squares.items()), Fraction(0)))


@lru_cache(maxsize=8)
def drifts(n: int, eta: float, rounds: int) -> Any:
    """The sum over all rounds of what a draw at their level loses in the mean at most, as a ball.

    Args:
        n: records, public.
        eta: step size.
        rounds: T >= 1.

    Raises:
        OverflowError: a level is beyond the doubles.
    """
    with precision(BITS):
        return sum((drift_of(Fraction(digits, 10**places)) for digits, places in _levels(n, eta, rounds)),
                   ball(Fraction(0)))


def _levels(n: int, eta: float, rounds: int) -> Iterator[tuple[int, int]]:
    """The level of each round from the second on, as digits and how many of them stand behind the point."""
    # In whole numbers: 50,000 fractions take seconds.
    step = _slope(n, eta)
    each, room, below = step.numerator << 37, step.denominator, step.denominator << 37
    above = room
    for _ in range(1, rounds):
        above += each
        yield _written_up(above, below)


def _written_up(above: int, below: int) -> tuple[int, int]:
    """`written_up` of a positive fraction, as digits and how many of them stand behind the point."""
    nearest = above / below
    digits, places = _digits(nearest)
    if digits * below >= above * 10**places:
        return digits, places
    return _digits(math.nextafter(nearest, math.inf))


def _digits(value: float) -> tuple[int, int]:
    number, _, exponent = repr(value).partition("e")
    whole, _, part = number.partition(".")
    places = len(part) - int(exponent or 0)
    digits = int(whole + part)
    return (digits, places) if places >= 0 else (digits * 10**-places, 0)
