"""Exact sums of products over people's records. The sums are integers, and do not depend on the sizes of blocks, the
order of rows or the number of threads.

Rows hold integers in float64. A block is so small that every partial sum of its products lies in [-2^53, 2^53]. In this
range float64 arithmetic on integers is exact, in any order of additions. The sums of the blocks are added as integers.

The module also has running sums of many small terms without loss of accuracy. `numpy.cumsum` loses accuracy because it
adds each term to the sum of all earlier terms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput

__all__ = ["IntegerCross", "running_sum"]

# ---- running sums

_RUN = 1024  # terms that are added up on their own


def running_sum(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of the first 1, 2, ... terms, shape (n,). The rounding error of these sums grows as the square root of
    the number of terms.

    Args:
        terms: the terms, shape (n,).

    Example:
        >>> tenths = np.full(10**6, 0.1)
        >>> bool(abs(running_sum(tenths)[-1] - 10**5) < 1e-7 < abs(np.cumsum(tenths)[-1] - 10**5))
        True
    """
    table = np.append(terms, np.zeros(-len(terms) % _RUN)).reshape(-1, _RUN).cumsum(axis=1)
    table[1:] += np.cumsum(table[:-1, -1])[:, None]
    found: NDArray[np.float64] = table.ravel()[:len(terms)]
    return found


# ---- integer cross

_EXACT = 2**53
_BLOCKS_BEFORE_SPILL = 2**9  # int64 holds 2^9 block sums of at most 2^53 each, with a bit to spare


class IntegerCross:
    """The exact sums `sum_i left_i left_i'` and `sum_i left_i right_i` over rows i that are added in batches. A row has
    a vector `left_i` of integers and one integer `right_i`.

    Args:
        width: length of each vector `left_i`.
        left_bound: integer bound on the absolute value of each entry of `left_i`.
        right_bound: integer bound on the absolute value of `right_i`.

    Example:
        >>> sums = IntegerCross(2, left_bound=10, right_bound=10)
        >>> sums.add(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0]))
        >>> sums.gram.tolist(), sums.cross.tolist()
        ([[10, 14], [14, 20]], [-2, -2])
    """

    def __init__(self, width: int, *, left_bound: int, right_bound: int) -> None:
        largest = left_bound * max(left_bound, right_bound)
        self._block = min(65536, _EXACT // largest)
        if self._block < 1:
            raise InvalidInput("left_bound", "a single product would not be exact", "products must stay below 2^53")
        self._width = width
        self._low = np.zeros((width, width + 1), dtype=np.int64)
        self._high: np.ndarray[Any, np.dtype[Any]] = np.zeros((width, width + 1), dtype=object)
        self._pending = 0
        self.rows = 0

    def add(self, left: np.ndarray, right: np.ndarray) -> None:
        """Add the products of m rows to the sums.

        Args:
            left: the vectors `left_i` of the m rows, shape (m, width): integers stored as float64.
            right: the numbers `right_i` of the m rows, shape (m,): integers stored as float64.
        """
        for start in range(0, len(left), self._block):
            rows = left[start : start + self._block]
            self._low[:, :-1] += (rows.T @ rows).astype(np.int64)
            self._low[:, -1] += (right[start : start + self._block] @ rows).astype(np.int64)
            self._pending += 1
            if self._pending == _BLOCKS_BEFORE_SPILL:
                self._spill()
        self.rows += len(left)

    def merge(self, other: IntegerCross) -> None:
        """Add the sums of another `IntegerCross` object to the sums of this object."""
        other._spill()
        self._spill()
        self._high += other._high
        self.rows += other.rows

    def _spill(self) -> None:
        self._high += self._low.astype(object)
        self._low[:] = 0
        self._pending = 0

    @property
    def gram(self) -> np.ndarray:
        """The exact sum of the products `left_i left_i'`, shape (width, width): an object array of Python integers."""
        self._spill()
        return self._high[:, :-1].copy()

    @property
    def cross(self) -> np.ndarray:
        """The exact sum of the products `left_i right_i`, shape (width,): an object array of Python integers."""
        self._spill()
        return self._high[:, -1].copy()
