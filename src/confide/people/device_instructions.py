"""Which instructions a device follows at all, whatever their level: the same as the program in the browser does.

An answer must show by nothing but the draw. Under instructions by which one of the answers cannot be typed, or by which
the answer itself says what privacy is worth to her, it would show by whether a report leaves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from confide.contract.errors import InvalidInput

__all__ = ["check_instructions"]

_MOST_DIGITS = 300  # of a whole number: as a double it is finite
_SURE = 64  # standard deviations that noise on a lattice never reaches
_WHOLE = re.compile(r"[0-9]+")
_BLANK = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""What browsers take away at the ends of a text."""


def check_instructions(instructions: Mapping[str, Any]) -> None:
    """Refuse what no device follows.

    Args:
        instructions: `LocalKind.device`, as it comes from JSON.

    Raises:
        InvalidInput: instructions that make no sense, or by which an answer would show otherwise than by the draw.

    Example:
        >>> check_instructions({"law": "response", "column": "report", "input": "answer", "answers": ["no", "yes"],
        ...                     "epsilon": {"numerator": "1", "denominator": "1"}})
        >>> check_instructions({"law": "response", "column": "report", "input": "answer", "answers": ["1", "2"],
        ...                     "levels": {"worth": "answer", "epsilon": 0.5, "threshold": 1.0, "ceiling": 1.0}}
        ...                    )  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        confide.contract.errors.InvalidInput: instructions: her answer is no measure of what privacy is worth to her...
    """
    if instructions.get("law") not in ("response", "lattice"):
        raise _wrong("a law that no device knows", 'must be "response" or "lattice"')
    for name in ("input", "column"):
        _named(name, instructions.get(name))
    if instructions["law"] == "response":
        _check_response(instructions)
    else:
        _check_lattice(instructions)


def _check_response(instructions: Mapping[str, Any]) -> None:
    answers, epsilon, levels = (instructions.get(name) for name in ("answers", "epsilon", "levels"))
    if not isinstance(answers, list):
        raise _wrong("no list of answers", "must be at least two different texts")
    for answer in answers:
        _named("an answer", answer)
    if len(answers) < 2 or len(set(answers)) < len(answers):
        raise _wrong("the answers are too few, or not different", "must be at least two different texts")
    if (epsilon is None) == (levels is None):
        raise _wrong("no level, or two", 'must have one of "epsilon" and "levels"')
    if epsilon is not None:
        exact: Mapping[str, Any] = epsilon if isinstance(epsilon, Mapping) else {}
        _whole("numerator", exact.get("numerator"))
        if _whole("denominator", exact.get("denominator")) < 1:
            raise _wrong("the denominator is 0", "must be above 0")
        return
    told: Mapping[str, Any] = levels if isinstance(levels, Mapping) else {}
    _named("worth", told.get("worth"))
    if told["worth"] == instructions["input"]:
        raise _wrong("her answer is no measure of what privacy is worth to her",
                     "whether she takes part, which everybody sees, would follow from it: name another field")
    least, _, ceiling = (_finite(name, told.get(name)) for name in ("epsilon", "threshold", "ceiling"))
    if not 0 <= least <= ceiling:
        raise _wrong("the least level is above the ceiling", "must be at least 0, and at most the ceiling")


def _check_lattice(instructions: Mapping[str, Any]) -> None:
    low, high = (_double(name, instructions.get(name)) for name in ("low", "high"))
    steps, sigma = (_whole(name, instructions.get(name)) for name in ("steps", "sigma"))
    if not low < high:
        raise _wrong("the range is empty", "low must be below high")
    if steps == 0:
        return
    if sigma < 1:
        raise _wrong("no noise", "sigma must be at least 1")
    if steps + _SURE * sigma >= 1 << 63:
        raise _wrong("reports would be beyond 64 bits", "take fewer steps, or a smaller sigma")


def _named(name: str, text: object) -> None:
    if not isinstance(text, str) or not text or text != text.strip(_BLANK):
        raise _wrong(f"{name} is no text that can be typed", "must be a text without blanks at its ends")


def _whole(name: str, text: object) -> int:
    if not isinstance(text, str) or not _WHOLE.fullmatch(text) or len(text) > _MOST_DIGITS:
        raise _wrong(f"{name} is no whole number", f"must be at most {_MOST_DIGITS} digits, as a text")
    return int(text)


def _double(name: str, text: object) -> float:
    """A double that is spelled as a text."""
    try:
        return _finite(name, float(str(text)))
    except ValueError:
        raise _wrong(f"{name} is no number", "must be a number, as a text") from None


def _finite(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _wrong(f"{name} is not a finite number", "must be a finite number")
    return float(value)


def _wrong(problem: str, hint: str) -> InvalidInput:
    return InvalidInput("instructions", problem, hint)
