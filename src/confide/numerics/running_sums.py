"""Running sums of many small terms that lose none of them: `numpy.cumsum` adds each one to all that came before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["running_sum"]

_RUN = 1024  # terms that are added up on their own


def running_sum(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of the first 1, 2, ... terms, with an error that grows as the root of their number.

    Args:
        terms: (n,) numbers.

    Example:
        >>> tenths = np.full(10**6, 0.1)
        >>> bool(abs(running_sum(tenths)[-1] - 10**5) < 1e-7 < abs(np.cumsum(tenths)[-1] - 10**5))
        True
    """
    table = np.append(terms, np.zeros(-len(terms) % _RUN)).reshape(-1, _RUN).cumsum(axis=1)
    table[1:] += np.cumsum(table[:-1, -1])[:, None]
    found: NDArray[np.float64] = table.ravel()[:len(terms)]
    return found
