"""Compositions: how often each letter occurs among n rows, in a fixed order."""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import Unsupported

__all__ = ["compositions"]

_MOST = 2_000_000


@cache
def compositions(total: int, parts: int) -> NDArray[np.int64]:
    """(C(n+m-1, m-1), m) all ways to write n as m counts; the last counts grow fastest. For two letters, row k is
    (n - k, k).

    Raises:
        Unsupported: more than two million of them.

    Example:
        >>> compositions(2, 3).tolist()
        [[2, 0, 0], [1, 1, 0], [1, 0, 1], [0, 2, 0], [0, 1, 1], [0, 0, 2]]
    """
    number = comb(total + parts - 1, parts - 1)
    if number > _MOST:
        raise Unsupported("records", f"{number:,} compositions of {total} rows over {parts} letters",
                          f"at most {_MOST:,}")
    if parts == 1:
        out = np.array([[total]], dtype=np.int64)
    else:
        blocks = []
        for first in range(total, -1, -1):
            rest = compositions(total - first, parts - 1)
            blocks.append(np.column_stack([np.full(len(rest), first, dtype=np.int64), rest]))
        out = np.concatenate(blocks)
    out.setflags(write=False)
    return out
