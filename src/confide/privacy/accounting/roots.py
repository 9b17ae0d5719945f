"""Square roots that are never too small: for noise, whose deviation may be rounded up but not down."""

from __future__ import annotations

import math
from fractions import Fraction

from confide.contract.errors import InvalidInput

__all__ = ["root_down", "root_up"]


def root_up(square: Fraction) -> float:
    """The least double whose square is at least a rational number.

    Args:
        square: >= 0.

    Raises:
        InvalidInput: negative, or its root is beyond the doubles.

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
        raise InvalidInput("square", "its root is beyond the doubles") from None
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    while root > 0 and Fraction(math.nextafter(root, 0.0)) ** 2 >= square:
        root = math.nextafter(root, 0.0)
    return root


def root_down(square: Fraction) -> float:
    """The largest double whose square is at most a rational number.

    Args:
        square: >= 0.

    Raises:
        InvalidInput: negative, or its root is beyond the doubles.

    Example:
        >>> Fraction(root_down(Fraction(2))) ** 2 <= 2 < Fraction(root_up(Fraction(2))) ** 2
        True
    """
    up = root_up(square)
    return up if Fraction(up) ** 2 == square else math.nextafter(up, 0.0)
