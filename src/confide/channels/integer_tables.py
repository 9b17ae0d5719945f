"""Channels in whole numbers: what is drawn for a release has exactly these odds, and its level is certified in integers.

Source: spec privacy_notions 4 ("exact coding for releases").
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import NotGuaranteed
from confide.privacy.losses import up
from confide.privacy.noise.balls import precision

__all__ = ["IntegerTable", "integer_table"]

_TOTAL = 2**62
_BITS = 192


@dataclass(frozen=True, eq=False)
class IntegerTable:
    """A channel of one row in whole numbers.

    Args:
        weights: (m, k) int64, every row with the same sum 2^62; a positive probability is never 0.
        level: its exact differential privacy in nats, rounded up; infinite where 0 stands beside a positive weight.
    """

    weights: NDArray[np.int64]
    level: float


def integer_table(table: NDArray[np.float64], level: float | None = None) -> IntegerTable:
    """A table of probabilities in whole numbers.

    Args:
        table: (m, k) rows that sum to 1.
        level: what its differential privacy must not exceed; then weights are moved by single units until it does not.

    Raises:
        NotGuaranteed: the table's own level is above what is asked for by more than rounding.
    """
    weights = np.stack([_row(row) for row in table])
    found = exact_level(weights)
    if level is not None and found > level:
        weights = _lowered(weights, table, level)
        found = exact_level(weights)
        if found > level:
            raise NotGuaranteed(f"a level of {level:g}", f"the table has {found:.12g}", "ask for a slightly larger level")
    return IntegerTable(weights, found)


def _row(row: NDArray[np.float64]) -> NDArray[np.int64]:
    """Counts of one row: rounded down, at least 1 where positive, the remainder to the largest entry."""
    exact = [Fraction(float(value)) for value in row]
    total = sum(exact)
    counts = [max(1, int(value * _TOTAL / total)) if value > 0 else 0 for value in exact]
    counts[int(np.argmax(row))] += _TOTAL - sum(counts)
    return np.array(counts, dtype=np.int64)


def exact_level(weights: NDArray[np.int64]) -> float:
    """The differential privacy of a table of one row, in nats, rounded up."""
    from flint import arb

    worst = Fraction(1)
    for first, second in permutations(weights.tolist(), 2):
        for a, b in zip(first, second, strict=True):
            if a and not b:
                return float("inf")
            if a:
                worst = max(worst, Fraction(a, b))
    with precision(_BITS):
        return up((arb(worst.numerator) / worst.denominator).log())


def _lowered(weights: NDArray[np.int64], table: NDArray[np.float64], level: float) -> NDArray[np.int64]:
    """Mix with the average row: as little as brings the level down. Mixing never raises a level."""
    average = table.mean(axis=0)
    share = 2.0**-60
    while share < 1e-6:
        mixed = np.stack([_row((1.0 - share) * row + share * average) for row in table])
        if exact_level(mixed) <= level:
            return mixed
        share *= 4.0
    return weights
