"""Sums of messages and of noise, exactly, and which messages an honest device can have sent.

Source: spec two_part_acquisition section 2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["REACH", "SMALLEST", "absentee_sigma", "covering_sigma", "exact_sum", "plausible"]

SMALLEST = 8
"""Of the sigmas, in steps: e^(-pi^2 8^2) < 2^-896."""

REACH = 64
"""Sigmas: an honest message is further out with probability below e^-2000."""

Integers = NDArray[np.int64]


def plausible(messages: Any, steps: Any, sigma: Any) -> Any:
    """Which messages an honest client can have sent on these contracts: within 64 sigma of 0..steps.

    Args:
        messages: whole numbers, one or an array.
        steps: of the contract of each.
        sigma: of the contract of each.
    """
    return (messages >= -REACH * sigma) & (messages <= steps + REACH * sigma)


def absentee_sigma(sigma: Integers) -> int:
    """The least whole standard deviation whose variance is at least that of the absentees together."""
    return covering_sigma(sum(s * s for s in sigma.tolist()))


def covering_sigma(variance: int) -> int:
    """The least whole standard deviation of at least this variance."""
    return math.isqrt(variance - 1) + 1 if variance > 0 else 0


def exact_sum(messages: Integers) -> int:
    """Of numbers of 64 bits: their sum could overflow, those of their halves of 32 bits cannot."""
    return (int((messages >> 32).sum()) << 32) + int((messages & 0xFFFFFFFF).sum())
