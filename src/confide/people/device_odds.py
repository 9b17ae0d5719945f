"""What leaves a participant's device beside what she typed: the odds of the exact channel that her device follows.

Computed from `LocalKind.device` alone, which is all that her device goes by; whoever shows it finds the words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from confide.people.device_instructions import check_instructions

__all__ = ["LARGEST_LEVEL", "AnswerOdds", "NoiseSize", "device_odds", "of_hundred"]

LARGEST_LEVEL = 10.0
"""The level above which the program in the browser draws nothing: in nats, and of noise on numbers as rho."""

_SUMMED = 1 << 16  # steps of a standard deviation up to which the law of the noise is summed, term by term
_FAR = 12.0  # standard deviations beyond which nothing is summed: below 1e-30
_MOST_DIGITS = 6
_ALMOST = 0.995


@dataclass(frozen=True, kw_only=True)
class AnswerOdds:
    """Randomised response: how often an answer leaves the device as it is.

    Args:
        answers: that there are.
        least: probability at the least telling level that her device may choose.
        most: probability at the most telling one; the same where there is one level alone.

    Example:
        >>> AnswerOdds(answers=("no", "yes"), least=0.75, most=0.75).other
        (0.25, 0.25)
    """

    answers: tuple[str, ...]
    least: float
    most: float

    @property
    def other(self) -> tuple[float, float]:
        """How often one certain other answer leaves: at the least telling level, and at the most telling one."""
        others = len(self.answers) - 1
        return (1.0 - self.least) / others, (1.0 - self.most) / others

    @property
    def guessed(self) -> float:
        """How often she is right who sees what leaves and guesses what was typed, all answers as likely beforehand."""
        return self.most


@dataclass(frozen=True, kw_only=True)
class NoiseSize:
    """Discrete Gaussian noise on a number: how far what leaves is from what was typed, in the unit of what was typed.

    Args:
        deviation: standard deviation of the noise.
        half: in half of all draws it is no further.
        most: in 19 of 20 draws it is no further.
        guessed: how often she is right who sees what leaves and guesses from which end of the range it came.
        low: lower end of the range.
        high: upper end.
    """

    deviation: float
    half: float
    most: float
    guessed: float
    low: float
    high: float


def device_odds(instructions: Mapping[str, Any]) -> AnswerOdds | NoiseSize | None:
    """The odds of what a device makes by these instructions; None where nothing is asked of it.

    Args:
        instructions: `LocalKind.device`.

    Raises:
        InvalidInput: instructions that no device follows.

    Source: the laws of `LocalKind.device`; the best guess from randomised response is what was reported, and from
        symmetric unimodal noise on one of two numbers the nearer one (Neyman and Pearson 1933).

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
    """A probability as "about so many of 100": whole, unless that would say never or always.

    Args:
        probability: in [0, 1].

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
    """Probabilities of 0, 1, 2, ... of a discrete Gaussian of small standard deviation."""
    whole = np.exp(-0.5 * (np.arange(math.ceil(_FAR * sigma) + 1) / sigma) ** 2)
    return np.asarray(whole / (2.0 * whole.sum() - 1.0))


def _within(share: float, sigma: int) -> float:
    """The least size that the noise does not exceed with at least this probability, in steps."""
    if sigma > _SUMMED:  # the law is within 1/(24 sigma^2) of the continuous one
        return NormalDist().inv_cdf((1.0 + share) / 2.0) * sigma
    found = _weights(sigma)
    return float(np.searchsorted(2.0 * np.cumsum(found) - found[0], share))


def _nearer(steps: int, sigma: int) -> float:
    """How often noise leaves a number nearer to itself than to another one, `steps` away; half of the ties."""
    if sigma > _SUMMED:
        return NormalDist().cdf(steps / (2.0 * sigma))
    found, middle = _weights(sigma), steps // 2
    if middle >= len(found):
        return 1.0
    beyond = 0.5 * (1.0 - found[0]) - found[1 : middle + 1].sum()  # above the middle
    tie = 0.5 * found[middle] if steps % 2 == 0 else 0.0
    return float(1.0 - beyond - tie)
