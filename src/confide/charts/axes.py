"""Positions of numbers on an axis, and the choice of ticks and tick labels, by the rules of Vega's scales (d3).

The rules are implemented in confide because no Python package has them. Drawings that were made on other machines are
checked against these rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["SPACING", "Axis", "axis"]

SPACING = 40
"""Default distance between two ticks, approximately, in pixels."""

_NICE = 10  # ticks by which the ends of an axis are rounded, and which a logarithmic one has about
_SAID = 5  # ticks by which a screen reader's numbers are rounded


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis, which maps numbers to positions in pixels.

    Args:
        low: the number at the position `start`.
        high: the number at the position `end`.
        log: whether the scale is logarithmic.
        start: position of `low`, in pixels.
        end: position of `high`, in pixels.
        spacing: approximate distance from one tick to the next, in pixels.
    """

    low: float
    high: float
    log: bool
    start: float
    end: float
    spacing: int = SPACING

    def place(self, value: float) -> float:
        """The position of a number, in pixels; NaN for a number that has no place on the axis."""
        low, high = self.low, self.high
        if self.log:
            if value <= 0:
                return math.nan
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = 0.5 if high == low else (value - low) / (high - low)
        return self.start * (1 - share) + self.end * share

    def ticks(self) -> list[float]:
        """The numbers that have a tick."""
        if not self.log:
            return _ticks(self.low, self.high, math.ceil(abs(self.end - self.start) / self.spacing))
        first, last = round(math.log10(self.low)), round(math.log10(self.high))
        if last - first >= _NICE:
            return [_power(int(power)) for power in _ticks(first, last, _NICE)]
        found = [k * _power(power) for power in range(first, last + 1) for k in range(1, 10)]
        return [each for each in found if each <= self.high]

    def written(self) -> list[bool]:
        """Whether each tick has its number written beside it. On a logarithmic axis only the first ticks of each decade
        have their numbers.
        """
        ticks = self.ticks()
        if not self.log:
            return [True] * len(ticks)
        most = max(1.0, _NICE * 10 / len(ticks))
        return [float(f"{tick:e}".partition("e")[0]) <= most for tick in ticks]

    def decimals(self) -> int:
        """Number of decimals with which the text for screen readers states the ends of a linear axis."""
        if self.low == self.high:
            return 0
        step = _increment(self.low, self.high, _SAID)
        return max(0, -math.floor(math.log10(1 / -step if step < 0 else step) + 1e-9))


def axis(
    values: Sequence[float], *, log: bool, zero: bool, start: float, end: float, spacing: int = SPACING
) -> Axis | None:
    """The axis for some numbers, with its ends rounded outwards. The result is None if there is nothing to draw.

    Args:
        values: the finite numbers to show.
        log: whether the axis is logarithmic. On a logarithmic axis all numbers must be above 0.
        zero: whether a linear axis shows 0.
        start: position of the lower end, in pixels.
        end: position of the upper end, in pixels.
        spacing: approximate distance from one tick to the next, in pixels.
    """
    if not values or (log and min(values) <= 0):
        return None
    low, high = min(values), max(values)
    if log:
        low, high = _power(math.floor(math.log10(low))), _power(math.ceil(math.log10(high)))
    else:
        low, high = _nice(min(low, 0.0) if zero else low, max(high, 0.0) if zero else high)
    return Axis(low=low, high=high, log=log, start=start, end=end, spacing=spacing)


def _power(exponent: int) -> float:
    return float(f"1e{exponent}")


def _increment(low: float, high: float, wanted: int) -> float:
    """The distance between consecutive ticks, which lie at round numbers. A distance of at least 1 is returned
    unchanged. For a distance below 1, the result is minus its inverse.
    """
    step = (high - low) / wanted
    power = math.floor(math.log10(step))
    error = step / _power(power)
    factor = 10 if error >= math.sqrt(50) else 5 if error >= math.sqrt(10) else 2 if error >= math.sqrt(2) else 1
    return -_power(-power) / factor if power < 0 else _power(power) * factor


def _ticks(low: float, high: float, wanted: int) -> list[float]:
    if low == high:
        return [low]
    step = _increment(low, high, wanted)
    if step < 0:
        inverse = -step
        first, last = math.ceil(low * inverse - 1e-9), math.floor(high * inverse + 1e-9)
        return [place / inverse for place in range(first, last + 1)]
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def _nice(low: float, high: float) -> tuple[float, float]:
    """The ends of an axis, rounded outwards to whole steps, repeatedly until the step no longer changes."""
    if low == high:
        return low, high
    first, last, before = low, high, math.nan
    for _ in range(_NICE):
        step = _increment(first, last, _NICE)
        if step == before:
            return first, last
        if step > 0:
            first, last = math.floor(first / step) * step, math.ceil(last / step) * step
        else:
            first, last = math.ceil(first * step) / step, math.floor(last * step) / step
        before = step
    return low, high
