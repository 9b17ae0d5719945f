"""The two grids that make a run the same on every machine: sums and comparisons are of whole numbers.

Loads, supplies and what is published of them are multiples of 2^-20; values and prices are multiples of 2^-24. A sum
over people of whole numbers does not depend on their order, so threads and shards cannot change a run, and a
participant who computes her own part compares the same whole numbers as everybody else.

Source: spec convex_programs 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOAD_BITS", "LOAD_UNIT", "PRICE_BITS", "PRICE_UNIT", "loads_up", "supply_down", "values_near"]

LOAD_BITS = 20
LOAD_UNIT = 1 << LOAD_BITS
"""Units of load in 1."""

PRICE_BITS = 24
PRICE_UNIT = 1 << PRICE_BITS
"""Units of value, and of price, in 1."""


def values_near(values: Any) -> NDArray[np.float64]:
    """Values in units, rounded to the nearest: whole numbers, still as doubles.

    Args:
        values: numbers.
    """
    rounded: NDArray[np.float64] = np.rint(np.asarray(values, dtype=np.float64) * PRICE_UNIT)
    return rounded


def loads_up(loads: Any) -> NDArray[np.int64]:
    """Contributions in units, rounded up: what is feasible for them is feasible for what people wrote.

    Args:
        loads: numbers.
    """
    return np.ceil(np.asarray(loads, dtype=np.float64) * LOAD_UNIT).astype(np.int64)


def supply_down(supply: Any) -> NDArray[np.int64]:
    """Supplies in units, rounded down.

    Args:
        supply: numbers.
    """
    return np.floor(np.asarray(supply, dtype=np.float64) * LOAD_UNIT).astype(np.int64)
