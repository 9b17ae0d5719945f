"""The instructions that a participant's device follows, and the probabilities of the randomising channel that the
instructions define.

The probabilities are computed from `LocalKind.device` alone, which holds all instructions of the participant's device.
The program in the browser follows the same instructions as the participant's device. Other modules write the texts that
the participant reads.

The answer may influence nothing but the law of the drawn report. Instructions are refused if the mere sending of a
report would reveal something about the answer. Two examples are instructions with an answer that cannot be typed, and
instructions in which one input field receives both the answer and the value that privacy has for the participant.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from confide.contract.errors import InvalidInput

__all__ = ["LARGEST_LEVEL", "AnswerOdds", "NoiseSize", "check_instructions", "device_odds", "of_hundred"]

LARGEST_LEVEL = 10.0
"""The largest privacy loss at which the program in the browser draws a report: epsilon in nats, or rho for noise on
numbers.
"""

_SUMMED = 1 << 16  # steps of a standard deviation up to which the law of the noise is summed, term by term
_FAR = 12.0  # standard deviations beyond which nothing is summed: below 1e-30
_MOST_DIGITS = 6
_ALMOST = 0.995


@dataclass(frozen=True, kw_only=True)
class AnswerOdds:
    """The odds of randomised response: the probability that the report equals the typed answer.

    Args:
        answers: the possible answers, at least two.
        least: probability that the report equals the typed answer, at the smallest epsilon that the participant's
            device may choose.
        most: probability that the report equals the typed answer, at the largest epsilon; equal to `least` if there is
            one epsilon only.

    Example:
        >>> AnswerOdds(answers=("no", "yes"), least=0.75, most=0.75).other
        (0.25, 0.25)
    """

    answers: tuple[str, ...]
    least: float
    most: float

    @property
    def other(self) -> tuple[float, float]:
        """The probability that the report is one particular answer other than the typed one: at the smallest epsilon
        and at the largest.
        """
        others = len(self.answers) - 1
        return (1.0 - self.least) / others, (1.0 - self.most) / others

    @property
    def guessed(self) -> float:
        """The probability that the best guess of the typed answer from the report is right, at the largest epsilon. All
        answers are assumed equally likely before the report is seen.
        """
        return self.most


@dataclass(frozen=True, kw_only=True)
class NoiseSize:
    """The size of discrete Gaussian noise on a number. Distances are between the report and the typed number, in the
    unit of this number.

    Args:
        deviation: standard deviation of the noise.
        half: the distance that the noise does not exceed in half of all draws.
        most: the distance that the noise does not exceed in 19 of 20 draws.
        guessed: the probability that an observer of the report guesses correctly whether the typed number was `low` or
            `high`, if both were equally likely before the report was seen.
        low: lower end of the public range of the typed number.
        high: upper end of the public range of the typed number.
    """

    deviation: float
    half: float
    most: float
    guessed: float
    low: float
    high: float


def device_odds(instructions: Mapping[str, Any]) -> AnswerOdds | NoiseSize | None:
    """The odds or the noise of a device that follows the given instructions; None if the typed number can have only one
    value, so that the report says nothing.

    Args:
        instructions: the instructions of a device, as in `LocalKind.device`.

    Raises:
        InvalidInput: instructions that no device can follow.

    Source: the laws of `LocalKind.device`. After randomised response, the best guess is the reported answer. After
        symmetric unimodal noise on one of two numbers, the best guess is the number nearer to the report (Neyman and
        Pearson 1933).

    Example:
        >>> found = device_odds({"law": "response", "column": "report", "input": "answer", "answers": ["no", "yes"],
        ...                      "epsilon": {"numerator": "1", "denominator": "1"}})
        >>> round(found.most, 4), found.guessed == found.most
        (0.7311, True)
        >>> device_odds({"law": "lattice", "column": "hours", "input": "hours", "low": "0", "high": "40",
        ...              "steps": "1000", "sigma": "500"}).deviation
        20.0
    """
    check_instructions(instructions)
    if instructions["law"] == "response":
        return _response(instructions)
    steps, sigma = int(instructions["steps"]), int(instructions["sigma"])
    if steps == 0:
        return None
    low, high = float(instructions["low"]), float(instructions["high"])
    unit = (high - low) / steps
    half, most = (_within(share, sigma) for share in (0.5, 0.95))
    return NoiseSize(deviation=sigma * unit, half=half * unit, most=most * unit, low=low, high=high,
                     guessed=_nearer(steps, sigma))


def of_hundred(probability: float) -> str:
    """A probability as a number of cases in 100. The number is whole, unless a probability strictly between 0 and 1
    would be shown as 0 or 100.

    Args:
        probability: a probability in [0, 1].

    Example:
        >>> of_hundred(0.7311), of_hundred(0.99966), of_hundred(0.0003), of_hundred(1.0)
        ('73', '99.97', '0.03', '100')
    """
    if probability in (0.0, 1.0) or 1.0 - _ALMOST <= probability <= _ALMOST:
        return f"{100.0 * probability:.0f}"
    rare = min(probability, 1.0 - probability)
    digits = min(_MOST_DIGITS, max(1, -math.floor(math.log10(100.0 * rare))))
    digits += round(100.0 * rare, digits) < 10.0**-digits  # rounded away
    return f"{100.0 * probability:.{digits}f}"


def _response(instructions: Mapping[str, Any]) -> AnswerOdds:
    answers = tuple(instructions["answers"])
    if "epsilon" in instructions:
        level = instructions["epsilon"]
        ends = [float(Fraction(int(level["numerator"]), int(level["denominator"])))] * 2
    else:
        ends = [float(instructions["levels"]["epsilon"]), float(instructions["levels"]["ceiling"])]
    least, most = (1.0 / (1.0 + (len(answers) - 1) * math.exp(-each)) for each in ends)
    return AnswerOdds(answers=answers, least=least, most=most)


def _weights(sigma: int) -> np.ndarray:
    """Probabilities of 0, 1, 2, ... under a discrete Gaussian of standard deviation `sigma`, which is at most
    `_SUMMED`.
    """
    whole = np.exp(-0.5 * (np.arange(math.ceil(_FAR * sigma) + 1) / sigma) ** 2)
    return np.asarray(whole / (2.0 * whole.sum() - 1.0))


def _within(share: float, sigma: int) -> float:
    """The least distance, in lattice steps, that the noise does not exceed with probability at least `share`."""
    if sigma > _SUMMED:  # the law is within 1/(24 sigma^2) of the continuous one
        return NormalDist().inv_cdf((1.0 + share) / 2.0) * sigma
    found = _weights(sigma)
    return float(np.searchsorted(2.0 * np.cumsum(found) - found[0], share))


def _nearer(steps: int, sigma: int) -> float:
    """Probability that a number plus noise is nearer to the number itself than to a number that is `steps` away. A tie
    counts half.
    """
    if sigma > _SUMMED:
        return NormalDist().cdf(steps / (2.0 * sigma))
    found, middle = _weights(sigma), steps // 2
    if middle >= len(found):
        return 1.0
    beyond = 0.5 * (1.0 - found[0]) - found[1 : middle + 1].sum()  # above the middle
    tie = 0.5 * found[middle] if steps % 2 == 0 else 0.0
    return float(1.0 - beyond - tie)


_LONGEST_WHOLE = 300  # of a whole number: as a double it is finite
_SURE = 64  # standard deviations that noise on a lattice never reaches
_WHOLE = re.compile(r"[0-9]+")
_BLANK = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""The blank characters that browsers remove at both ends of a text."""


def check_instructions(instructions: Mapping[str, Any]) -> None:
    """Refuse instructions that no device can follow.

    Args:
        instructions: the instructions of a device, as in `LocalKind.device`, read from JSON.

    Raises:
        InvalidInput: the instructions are incomplete or contradictory, or an answer would influence more than the law
            of the drawn report.

    Example:
        >>> check_instructions({"law": "response", "column": "report", "input": "answer", "answers": ["no", "yes"],
        ...                     "epsilon": {"numerator": "1", "denominator": "1"}})
        >>> check_instructions({"law": "response", "column": "report", "input": "answer", "answers": ["1", "2"],
        ...                     "levels": {"worth": "answer", "epsilon": 0.5, "threshold": 1.0, "ceiling": 1.0}}
        ...                    )  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        confide.contract.errors.InvalidInput: instructions: the field of the answer is also the field ...
    """
    if instructions.get("law") not in ("response", "lattice"):
        raise _wrong("the law is not known to devices", 'must be "response" or "lattice"')
    for name in ("input", "column"):
        _named(name, instructions.get(name))
    if instructions["law"] == "response":
        _check_response(instructions)
    else:
        _check_lattice(instructions)


def _check_response(instructions: Mapping[str, Any]) -> None:
    answers, epsilon, levels = (instructions.get(name) for name in ("answers", "epsilon", "levels"))
    if not isinstance(answers, list):
        raise _wrong("is not a list of answers", "must be at least two different texts")
    for answer in answers:
        _named("an answer", answer)
    if len(answers) < 2 or len(set(answers)) < len(answers):
        raise _wrong("the answers are too few, or not different", "must be at least two different texts")
    if (epsilon is None) == (levels is None):
        raise _wrong("the instructions have no level, or two levels", 'must have one of "epsilon" and "levels"')
    if epsilon is not None:
        exact: Mapping[str, Any] = epsilon if isinstance(epsilon, Mapping) else {}
        _whole("numerator", exact.get("numerator"))
        if _whole("denominator", exact.get("denominator")) < 1:
            raise _wrong("the denominator is 0", "must be above 0")
        return
    reported: Mapping[str, Any] = levels if isinstance(levels, Mapping) else {}
    _named("worth", reported.get("worth"))
    if reported["worth"] == instructions["input"]:
        raise _wrong("the field of the answer is also the field of the value of privacy",
                     "name another field: everybody sees who takes part, so the answer must not decide this")
    least, _, ceiling = (_finite(name, reported.get(name)) for name in ("epsilon", "threshold", "ceiling"))
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
        raise _wrong(f"{name} is not a text that a person can type", "must be a text without blanks at its ends")


def _whole(name: str, text: object) -> int:
    if not isinstance(text, str) or not _WHOLE.fullmatch(text) or len(text) > _LONGEST_WHOLE:
        raise _wrong(f"{name} is not a whole number", f"must be at most {_LONGEST_WHOLE} digits, as a text")
    return int(text)


def _double(name: str, text: object) -> float:
    """The finite double that a text spells."""
    try:
        return _finite(name, float(str(text)))
    except ValueError:
        raise _wrong(f"{name} is not a number", "must be a number, as a text") from None


def _finite(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _wrong(f"{name} is not a finite number", "must be a finite number")
    return float(value)


def _wrong(problem: str, hint: str) -> InvalidInput:
    return InvalidInput("instructions", problem, hint)
