"""How a coded channel comes below a level: mixed with a constant channel, by as little as it takes.

Mixing with a constant lowers all ratios, and never raises one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["MOST_SHARE", "least_mixed"]

Coded = TypeVar("Coded")

_LEAST_SHARE = 2.0**-48
MOST_SHARE = 2.0**-20
"""Of the constant channel, unless the caller allows more."""
_SLACK = 1e-12


def least_mixed(
    code: Callable[[float], Coded], within: Callable[[Coded, float], bool], most: float = MOST_SHARE
) -> Coded | None:
    """The first coded channel within its levels; None where no share will do.

    Args:
        code: the channel in whole numbers, mixed with a share of the constant one.
        within: whether levels are within what is asked for, identifiability up to a slack. Next to the prior's own
            level, where no mixing lowers it, the channel as it is may exceed by a part in 10^12.
        most: share.
    """
    first = code(0.0)
    if within(first, 0.0):
        return first
    share = _LEAST_SHARE
    while share <= most:
        found = code(share)
        if within(found, 0.0):
            return found
        share *= 16.0
    return first if within(first, _SLACK) else None
