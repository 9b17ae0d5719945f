"""Checks of public parameters. Each check returns the value that it was given, or raises `InvalidInput` with the name
of the field.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Rational, Real

from confide.contract.errors import InvalidInput
from confide.contract.remedies import printed

__all__ = [
    "MOST_DIGITS",
    "exactly_one",
    "finite",
    "fraction",
    "is_power_of_ten",
    "joined",
    "non_negative",
    "none_given",
    "not_exactly_one",
    "one_of",
    "positive",
    "whole",
]

MOST_DIGITS = 18
"""Largest number of decimal places of an amount of money."""

_POWERS = frozenset(10**power for power in range(MOST_DIGITS + 1))


def _but(value: object) -> str:
    """The end of a message about a text that looks like a number, such as '1'."""
    return " but a text" if isinstance(value, str) and any(map(str.isdigit, value)) else ""


def finite(field: str, value: object) -> float:
    """Check that a value is a finite real number, of any sign."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidInput(field, f"{value!r} is not a number{_but(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        problem = "is too large for a 64-bit float" if isinstance(value, Rational) else f"{value!r} is not finite"
        raise InvalidInput(field, problem)
    return number


def positive(field: str, value: object, *, at_most: float = math.inf) -> float:
    """Check that a value is a finite real number in (0, at_most]."""
    number = finite(field, value)
    if number <= 0 or number > at_most:
        allowed = f"in (0, {printed(at_most, up=False)}]" if math.isfinite(at_most) else "above 0"
        raise InvalidInput(field, f"{value!r} is out of range", f"must be {allowed}")
    return number


def non_negative(field: str, value: object, *, at_most: float = math.inf) -> float:
    """Check that a value is a finite real number in [0, at_most]."""
    number = finite(field, value)
    if number < 0 or number > at_most:
        allowed = f"in [0, {printed(at_most, up=False)}]" if math.isfinite(at_most) else "at least 0"
        raise InvalidInput(field, f"{value!r} is out of range", f"must be {allowed}")
    return number


def fraction(field: str, value: object, *, zero: bool = False) -> float:
    """Check that a value is a real number in (0, 1), or in [0, 1) if `zero` is True."""
    number = finite(field, value)
    if not (0 < number < 1 or (zero and number == 0)):
        raise InvalidInput(field, f"{value!r} is out of range", f"must be in {'[' if zero else '('}0, 1)")
    return number


def whole(field: str, value: object, *, at_least: int = 0) -> int:
    """Check that a value is an integer of at least `at_least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidInput(field, f"{value!r} is not a whole number{_but(value)}")
    if value < at_least:
        raise InvalidInput(field, f"{value!r} is too small", f"must be at least {at_least}")
    return int(value)


def is_power_of_ten(value: int) -> bool:
    """Whether a number is a power of ten from 1 to 10^18, and can therefore be the number of smallest units, such as
    cents, in one unit of a currency.
    """
    return value in _POWERS


def not_exactly_one(**arguments: object) -> str:
    """Text of an error about a group of arguments, exactly one of which must be given. The text is empty if exactly one
    is given.

    Example:
        >>> not_exactly_one(budget=2.0, error=None), not_exactly_one(budget=2.0, error=0.1)
        ('', 'budget and error are given; give exactly one of budget and error')
        >>> not_exactly_one(budget=None, error=None)
        'neither budget nor error is given; give exactly one of budget and error'
    """
    given, names = [name for name, value in arguments.items() if value is not None], list(arguments)
    if len(given) == 1:
        return ""
    return f"{f'{joined(given)} are given' if given else none_given(names)}; give exactly one of {joined(names)}"


def exactly_one(**arguments: object) -> None:
    """Check that exactly one argument of a group is given. If not, an `InvalidInput` names the first argument as its
    field.
    """
    problem, _, limit = not_exactly_one(**arguments).partition("; ")
    if problem:
        raise InvalidInput(next(iter(arguments)), problem, limit)


def none_given(names: Sequence[str]) -> str:
    """Text that says that none of two or more arguments is given, such as "neither budget nor error is given"."""
    return (f"neither {names[0]} nor {names[1]} is given" if len(names) == 2 else
            f"none of {joined(names)} is given")


def joined(words: Sequence[str]) -> str:
    """A list of words as a part of a sentence: "a", "a and b", or "a, b and c"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def one_of(field: str, value: object, allowed: tuple[str, ...]) -> str:
    """Check that a value is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidInput(field, f"{value!r} is not known",
                           f"must be {'one of ' * (len(allowed) > 1)}{', '.join(allowed)}")
    return str(value)
