"""Remedies: settings that would be accepted in place of refused settings. The numbers are rounded to the accepted side
and tested exactly as printed.

A refusal that names a number promises that this number would be accepted. The number is therefore rounded to the
accepted side. Before the number is printed, the constructor or planner is called with it. If this call is refused, a
number further on the accepted side is tried. A number whose test would take over a second is printed as "untested".
During a test no further remedies are tested, because nobody reads the refusals of a test.

All functions depend on the settings alone, which are public.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from confide.contract.errors import ConfideError

__all__ = ["Remedy", "accepted", "first_that", "outward", "printed", "retried", "tried", "trying", "within"]

_SECONDS = 1.0  # of this process: what is known to take longer is not tried
_PATIENCE = 4.0  # seconds of all tries of one remedy
_REACH = 8.0  # how many times further out a number goes at most
_DIGITS = 4
_FARTHEST = 2.0**200

_TRYING: ContextVar[bool] = ContextVar("trying a remedy", default=False)


@dataclass(frozen=True)
class Remedy:
    """One change of the settings that would be accepted.

    Args:
        words: the text of the remedy, with a place for each setting, such as "epsilon >= {epsilon}".
        settings: mapping from a setting to its number, exactly as it is printed.
        up: True if larger numbers are accepted as well, False if smaller numbers are.
        digits: the number of significant digits that are printed.
        tried: whether the settings were tested as printed, and accepted.
        file: mapping from a key of the campaign file, such as "people.count", to its value; empty if the words name no
            keys. If the mapping is not empty, whole numbers are printed in TOML's form.

    Example:
        >>> str(Remedy("epsilon >= {epsilon}", {"epsilon": 0.2329}))
        'epsilon >= 0.2329'
        >>> str(Remedy("{people} people or more", {"people": 12_000}, tried=False))
        '12,000 people or more (untested)'
        >>> str(Remedy("[people] count = {count}", {"count": 12_000}, file={"people.count": 12_000}))
        '[people] count = 12_000'
    """

    words: str
    settings: Mapping[str, float] = field(hash=False)
    up: bool = True
    digits: int = 4
    tried: bool = True
    file: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        shown = {name: f"{value:{'_' if self.file else ','}}" if isinstance(value, int) else f"{value:.15g}"
                 for name, value in self.settings.items()}
        return self.words.format(**shown) + (" (untested)" if not self.tried else "")


def outward(number: float, *, up: bool = True, digits: int = _DIGITS) -> float:
    """Round a number to a given number of significant decimal digits, upwards if `up` is True and otherwise downwards.

    Args:
        number: the number to round. An infinite number is returned unchanged.
        up: whether to round up.
        digits: the number of digits of the result, >= 1.

    Example:
        >>> outward(0.2328231), outward(2.0464, up=False), outward(-1.23456, up=False), outward(0.1, digits=12)
        (0.2329, 2.046, -1.235, 0.1)
    """
    if not math.isfinite(number) or float(f"{number:.{digits}g}") == number:
        return number
    exact = Decimal(number)
    rounded = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR).plus(exact)
    return float(rounded)  # rounding to doubles is monotone, so that it is not back on the other side


def printed(number: float, *, up: bool = True, digits: int = 12) -> str:
    """A bound as text, rounded so that every value on the accepted side of the printed number is accepted.

    Args:
        number: the bound to print.
        up: True if larger numbers are accepted, False if smaller numbers are.
        digits: the largest number of significant digits that are printed.

    Example:
        >>> printed(1 / 3, up=False, digits=4), printed(0.25), printed(123456.7, digits=4), printed(1e12)
        ('0.3333', '0.25', '123500', '1e+12')
    """
    value = outward(number, up=up, digits=digits)
    return min(f"{value:.15g}", f"{value:.{digits}g}", key=len)  # not a dozen zeros


def within(low: float, high: float, *, digits: int = 12) -> str:
    """A closed interval as text, rounded inward so that every value in the printed interval is accepted.

    Args:
        low: lower end of the interval.
        high: upper end of the interval.
        digits: the largest number of printed digits of each bound.

    Example:
        >>> within(0.0, 2 / 3, digits=3)
        '[0, 0.666]'
    """
    return f"[{printed(low, digits=digits)}, {printed(high, up=False, digits=digits)}]"


def trying() -> bool:
    """Whether the code runs inside the test of a remedy, so that nobody reads further remedies."""
    return _TRYING.get()


def accepted(attempt: Callable[[], Any]) -> bool:
    """Whether a call raises no refusal and does not return False.

    Args:
        attempt: a function that calls the constructor or planner.
    """
    with _trying(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return attempt() is not False
        except (ConfideError, ArithmeticError):
            return False


@contextmanager
def _trying() -> Iterator[None]:
    token = _TRYING.set(True)
    try:
        yield
    finally:
        _TRYING.reset(token)


def tried(
    words: str, attempt: Callable[..., Any], *, up: bool = True, digits: int = _DIGITS, seconds: float = 0.0,
    **starts: float | Callable[[], float | None] | None,
) -> tuple[Remedy, ...]:
    """Test a remedy that names some settings. The result is a tuple with the remedy, or an empty tuple if no number
    nearby is accepted.

    Args:
        words: the text of the remedy, with a place for each setting, such as "epsilon >= {epsilon}".
        attempt: a function that calls the refused constructor or planner with the settings. A refusal, or the result
            False, means that the settings are not accepted.
        up: True if the numbers are rounded up and moved further up, False for down.
        digits: the number of digits of numbers that are not whole; whole numbers are printed in full.
        seconds: the estimated time of one test; 0 if it is unknown. A test that would take over a second is not made.
        starts: mapping from the name of a setting to a number near an accepted number, or to a function that returns
            such a number when it is needed. An int stays a whole number. If a number is None or infinite, there is no
            remedy.

    Example:
        >>> def square(side: float) -> None:
        ...     if side * side < 2.0:
        ...         raise ConfideError("too small")
        >>> [str(each) for each in tried("a side of {side}", square, side=1.41421356)]
        ['a side of 1.415']
        >>> tried("a side of {side}", square, up=False, side=1.0)
        ()
    """
    if _TRYING.get():
        return ()
    found = {name: start() if callable(start) else start for name, start in starts.items()}
    base = {name: start for name, start in found.items() if start is not None and math.isfinite(start)}
    if len(base) < len(starts):
        return ()
    if seconds > _SECONDS:
        return (Remedy(words, {name: _out(start, 0, up, digits) for name, start in base.items()}, up, digits,
                       tried=False),)
    begun = time.process_time()
    for step in range(math.ceil(math.log2(_REACH * 10.0 ** (digits - 1))) + 1):
        settings = {name: _out(start, step, up, digits) for name, start in base.items()}
        if accepted(lambda now=settings: attempt(**now)):  # type: ignore[misc]
            return (Remedy(words, settings, up, digits),)
        if time.process_time() - begun > _PATIENCE:  # what lies further out is no better a guess than what was refused
            break
    return ()


def _out(start: float, step: int, up: bool, digits: int) -> float:
    """The start of a search, moved towards the accepted side: by nothing at step 0, by one unit of its last digit at
    step 1, and by more units at each later step.
    """
    factor = 1.0 + (2.0**step - 1.0) * 10.0 ** (1 - digits)
    if not isinstance(start, int):
        return outward(start * factor if up is (start > 0) else start / factor, up=up, digits=digits)
    moved = math.ceil(start * factor) - start if up else start - math.floor(start / factor)
    return start + max(step, moved) if up else start - max(step, moved)


def retried(error: ConfideError, attempt: Callable[..., Any]) -> tuple[str | Remedy, ...]:
    """The remedies for a refusal that was raised by an inner call. The numbers are tested again, by `attempt`.

    A planner does not pass its own settings unchanged to a constructor. The planner may therefore refuse a number that
    the constructor accepts.

    Args:
        error: the error that the inner call raised.
        attempt: a function that repeats the user's call, with the settings of a remedy.
    """
    found: list[str | Remedy] = []
    for way in error.ways:
        if isinstance(way, str):
            found.append(way)
        else:
            found += tried(way.words, attempt, up=way.up, digits=way.digits, **way.settings)
    return tuple(found)


def first_that(
    does: Callable[[float], Any], start: float, *, up: bool = True, close: float = 1e-3, farthest: float = _FARTHEST
) -> float | None:
    """Search, on one side of a starting number, for an accepted number that is close to the nearest accepted number.
    The result is None if no accepted number is found.

    The search doubles or halves the distance, and then bisects. The search is meant for conditions that hold for all
    numbers beyond the nearest accepted number. A refusal, or the result False, means that a number is not accepted.

    Args:
        does: function that tests whether a number is accepted. If `start` is an int, the function gets only whole
            numbers.
        start: the number at which the search begins, > 0. This number itself is not accepted.
        up: True to search above the start, False to search below.
        close: the largest relative distance between the result and the nearest accepted number. If `start` is an int,
            the result is the nearest accepted number itself.
        farthest: the largest factor by which the result may exceed `start`, or fall below it.

    Example:
        >>> first_that(lambda n: n * n > 1000, 1), round(first_that(lambda x: x < 0.3, 1.0, up=False), 3)
        (32, 0.3)
    """
    if _TRYING.get():
        return None
    whole, low, reach = isinstance(start, int), start, 2.0
    while True:
        high = start * reach if up else start / reach
        high = math.ceil(high) if whole and up else math.floor(high) if whole else high
        if (whole and high < 1) or reach > farthest or not math.isfinite(high):
            return None
        if accepted(lambda now=high: does(now)):  # type: ignore[misc]
            break
        low, reach = high, 2.0 * reach
    while abs(high - low) > (1 if whole else close * min(high, low)):
        middle = (low + high) // 2 if whole else math.sqrt(low) * math.sqrt(high)
        low, high = (low, middle) if accepted(lambda now=middle: does(now)) else (middle, high)  # type: ignore[misc]
    return high
