"""The least whole number at which something holds, without trying them all."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["fewest"]

_ONE_BY_ONE = 32
"""Numbers that are tried one after another, before they are doubled."""


def fewest(holds: Callable[[int], bool], largest: int) -> int | None:
    """The least number from 1 on at which something holds; beyond 32, of what does not hold first and then does.

    Args:
        holds: of a number.
        largest: number that is tried.

    Returns:
        None where it holds at no number that was tried, the largest among them.

    Example:
        >>> fewest(lambda m: m >= 1000, 5000), fewest(lambda m: m >= 1000, 500)
        (1000, None)
    """
    for size in range(1, min(largest, _ONE_BY_ONE) + 1):
        if holds(size):
            return size
    low, high = _ONE_BY_ONE, 2 * _ONE_BY_ONE
    while low < largest:
        high = min(high, largest)
        if holds(high):
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if holds(middle) else (middle, high)
            return high
        low, high = high, 2 * high
    return None
