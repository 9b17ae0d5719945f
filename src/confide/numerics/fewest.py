"""Search for the least whole number at which a condition holds, without a trial of every number."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["fewest"]


def fewest(holds: Callable[[int], bool], largest: int, singly: int = 32) -> int | None:
    """The smallest whole number, from 1 to `largest`, at which a condition holds. If the condition holds at a number
    above `singly`, it must hold at all larger numbers.

    Args:
        holds: function of a whole number that returns whether the condition holds.
        largest: largest number that is tried, at least 1.
        singly: number, at least 1, up to which every number is tried, one after another. Above `singly` the tried
            number is doubled each time, and bisection then finds the smallest number.

    Returns:
        The smallest number, or None if the condition holds at no number that was tried. The last number that is tried
        is `largest` itself.

    Example:
        >>> fewest(lambda m: m >= 1000, 5000), fewest(lambda m: m >= 1000, 500)
        (1000, None)
    """
    for size in range(1, min(largest, singly) + 1):
        if holds(size):
            return size
    low, high = singly, 2 * singly
    while low < largest:
        high = min(high, largest)
        if holds(high):
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if holds(middle) else (middle, high)
            return high
        low, high = high, 2 * high
    return None
