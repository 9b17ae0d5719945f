"""Numbers of twice the digits of a double: a value and what it lacks, as two doubles (high, low).

Where sums are taken over many users and one of them is taken out again, a double would lose what is left; here some
32 digits are kept.

Source: Dekker (1971); Knuth, The Art of Computer Programming 2, 4.2.2.
"""

from __future__ import annotations

from confide.acquisition.optimum.inner import compiled

__all__ = ["add", "divide", "multiply", "product", "scale", "subtract"]

SPLIT = 134217729.0
"""2^27 + 1: halves of a double with room for exact products."""

Twice = tuple[float, float]


@compiled
def product(a: float, b: float) -> Twice:
    """The exact product of two doubles."""
    found = a * b
    part = SPLIT * a
    a_high = part - (part - a)
    a_low = a - a_high
    part = SPLIT * b
    b_high = part - (part - b)
    b_low = b - b_high
    return found, ((a_high * b_high - found) + a_high * b_low + a_low * b_high) + a_low * b_low


@compiled
def add(a: Twice, b: Twice) -> Twice:
    """a + b."""
    high = a[0] + b[0]
    taken = high - a[0]
    low = ((a[0] - (high - taken)) + (b[0] - taken)) + (a[1] + b[1])
    found = high + low
    return found, low - (found - high)


@compiled
def subtract(a: Twice, b: Twice) -> Twice:
    """a - b."""
    return add(a, (-b[0], -b[1]))


@compiled
def scale(a: Twice, factor: float) -> Twice:
    """A times a double."""
    high, low = product(a[0], factor)
    low += a[1] * factor
    found = high + low
    return found, low - (found - high)


@compiled
def multiply(a: Twice, b: Twice) -> Twice:
    """a b."""
    high, low = product(a[0], b[0])
    low += a[0] * b[1] + a[1] * b[0]
    found = high + low
    return found, low - (found - high)


@compiled
def divide(a: Twice, b: Twice) -> Twice:
    """a/b."""
    first = a[0] / b[0]
    rest = subtract(a, scale(b, first))
    second = rest[0] / b[0]
    rest = subtract(rest, scale(b, second))
    third = rest[0] / b[0]
    return add((first, 0.0), add((second, 0.0), (third, 0.0)))
