"""A device that follows a kind's public instructions, written from their description alone and with exact numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

__all__ = ["center_of", "level_of", "row_of", "truth_of", "word"]

_BITS = 256


def level_of(instructions: Mapping[str, Any], typed: Mapping[str, str]) -> Fraction | None:
    """The level of her report; None where she takes no part."""
    if not typed.get(instructions["input"], "").strip():
        return None
    if "epsilon" in instructions:
        return Fraction(int(instructions["epsilon"]["numerator"]), int(instructions["epsilon"]["denominator"]))
    levels = instructions["levels"]
    cost, least, threshold = float(typed[levels["worth"]]), levels["epsilon"], levels["threshold"]
    if cost > threshold:
        return None
    far = math.cosh(least / 2.0) * math.sqrt((threshold - cost) / cost)
    level = least if cost == threshold else 2.0 * math.asinh(math.hypot(far, math.sinh(least / 2.0)))
    return Fraction(min(max(level, least), levels["ceiling"]))


def truth_of(level: Fraction) -> Fraction:
    """The probability of the truth, e^level/(e^level + 1), to within 2^-200."""
    before, ctx.prec = ctx.prec, _BITS
    try:
        odds = arb(fmpq(level.numerator, level.denominator)).exp()
        mantissa, exponent = (odds / (odds + 1)).mid().man_exp()
        return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    finally:
        ctx.prec = before


def row_of(instructions: Mapping[str, Any], typed: Mapping[str, str], drawn: int) -> dict[str, str]:
    """What is handed in: `drawn` is 1 for a report that is kept, or the noise of a lattice."""
    column = instructions["column"]
    given = typed.get(instructions["input"], "").strip()
    if not given or (instructions["law"] == "lattice" and instructions["steps"] == "0"):
        return {column: ""}
    if instructions["law"] == "lattice":
        return {column: word(center_of(instructions, given) + drawn)}
    zero, one = instructions["answers"]
    return {column: "" if level_of(instructions, typed) is None else given if drawn else one if given == zero else zero}


def center_of(instructions: Mapping[str, Any], given: str) -> int:
    """Her number in steps of the lattice."""
    low, high = Fraction(float(instructions["low"])), Fraction(float(instructions["high"]))
    inside = min(max(Fraction(float(given)), low), high)
    return round(int(instructions["steps"]) * (inside - low) / (high - low))


def word(message: int) -> str:
    """64 bits in two's complement."""
    return f"{message % 2**64:016x}"
