"""The law of how many of the others report 1 and 0, given the state."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, Unsupported

__all__ = ["LARGEST_EXACT", "MOST_VALUES", "binomial_pmf", "binomial_weights", "joint_counts"]

LARGEST_EXACT = 2000
"""Most people who are sometimes absent, of different strategies, whose joint counts are computed exactly."""

MOST_VALUES = 2**23
"""Most values of a number of participants whose probabilities are written down."""


def binomial_pmf(n: int, p: float, low: int, high: int) -> NDArray[np.float64]:
    """P(Bin(n, p) = k) for k = low..high, which must hold all but a negligible part of the mass; sums to 1."""
    if p <= 0 or p >= 1:
        certain: NDArray[np.float64] = np.equal(np.arange(low, high + 1), 0 if p <= 0 else n).astype(np.float64)
        return certain
    k = np.arange(low, high, dtype=np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - k) / (k + 1.0)) + (math.log(p) - math.log1p(-p)))])
    weights = np.exp(logs - logs.max())
    found: NDArray[np.float64] = weights / weights.sum()
    return found


def binomial_weights(n: int, p: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The values of Bin(n, p) within 12 standard deviations and 40, and their probabilities.

    Raises:
        Unsupported: more than 2^23 values.
    """
    reach = 12.0 * math.sqrt(n * p * (1.0 - p)) + 40.0
    if 2.0 * reach > MOST_VALUES:
        raise Unsupported("people", f"the law of how many of {n:.6g} take part, with {2.0 * reach:.2g} values",
                          f"at most {MOST_VALUES:,} values ({MOST_VALUES * 8 // 2**20} MiB for each of their numbers)")
    low, high = max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))
    return np.arange(low, high + 1), binomial_pmf(n, p, low, high)


def _trinomial(size: int, law: NDArray[np.float64]) -> NDArray[np.float64]:
    """(size+1, size+1) P(ones, zeros) of `size` independent people with P(0), P(1), P(none)."""
    zero, one = float(law[0]), float(law[1])
    table = np.zeros((size + 1, size + 1))
    present = binomial_pmf(size, zero + one, 0, size)
    rate = one / (zero + one) if zero + one > 0 else 0.0
    for n in np.flatnonzero(present):
        k = np.arange(n + 1)
        table[k, n - k] = present[n] * binomial_pmf(int(n), rate, 0, int(n))
    return table


def joint_counts(groups: Sequence[tuple[int, NDArray[np.float64]]]) -> tuple[NDArray[np.int64], NDArray[np.int64],
                                                                             NDArray[np.float64]]:
    """The law of (ones, zeros) of independent people.

    Args:
        groups: number of people, and their (3,) probabilities of 0, 1, none.

    Returns:
        Counts of ones, of zeros, and their probability, as three arrays of one length.

    Raises:
        InvalidInput: more than 2000 people some of whom are sometimes absent.
    """
    steady = [(size, law) for size, law in groups if size and law[2] == 0.0]
    unsteady = [(size, law) for size, law in groups if size and 0.0 < law[2] < 1.0]
    fixed, least, ones = sum(size for size, _ in steady), 0, np.ones(1)
    for size, law in steady:
        k, weights = binomial_weights(size, float(law[1]))
        least, ones = least + int(k[0]), np.convolve(ones, weights)
    heads = least + np.arange(ones.size)
    if not unsteady:
        return heads, fixed - heads, ones
    if fixed + sum(size for size, _ in unsteady) > LARGEST_EXACT:
        raise InvalidInput("others", "are too many of different strategies, some of them sometimes absent",
                           f"at most {LARGEST_EXACT}, or one common strategy")
    from scipy.signal import fftconvolve  # slow to import, and most plans need none

    table = np.zeros((fixed + 1, fixed + 1))
    table[heads, fixed - heads] = ones
    for size, law in unsteady:
        table = np.maximum(fftconvolve(table, _trinomial(size, law)), 0.0)
    heads, tails = np.nonzero(table)
    return heads, tails, table[heads, tails]
