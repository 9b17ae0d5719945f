"""The least whole number at which something holds, without trying them all."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["fewest"]


def fewest(holds: Callable[[int], bool], largest: int, singly: int = 32) -> int | None:
    """The least number from 1 on at which a condition holds; beyond `singly` the condition must stay true once it is
    true.

    Args:
        holds: condition on a number.
        largest: largest number that is tried.
        singly: largest number, at least 1, up to which numbers are tried one after another; beyond it they are doubled,
            and the last gap is halved.

    Returns:
        None where it holds at no number that was tried, the largest among them.

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
