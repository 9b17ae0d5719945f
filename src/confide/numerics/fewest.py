"""Search for the least whole number at which a condition holds, without a trial of every number."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["fewest"]


def fewest(holds: Callable[[int], bool], largest: int, singly: int = 32) -> int | None:
    """The least whole number, at least 1, at which a condition holds. Above `singly` the condition must stay true once
    it is true.

    Args:
        holds: condition on a number.
        largest: largest number that is tried.
        singly: largest number, at least 1, up to which every number is tried in turn. Above `singly` the tried number
            is doubled each time, and bisection then finds the least number.

    Returns:
        The least number, or None where the condition holds at no tried number. The number `largest` is always among the
        tried ones.

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
