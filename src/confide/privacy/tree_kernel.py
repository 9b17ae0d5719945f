"""The compiled part of the tree counter, which works on plain arrays and changes some of them in place.

All numbers are whole units of 2^-grid (grid 0 for noise on the integers), so sums are exact in any order. Compiled
loops of other modules may call these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel

__all__ = ["advance", "close_one", "count", "level_of", "publish_one"]

_Compiled = TypeVar("_Compiled", bound=Callable[..., Any])
_Integers = NDArray[np.int64]


def _compiled(function: _Compiled) -> _Compiled:
    return kernel(function, nogil=False)


@_compiled
def level_of(step: int, arity: int) -> int:
    """The level of the block that is finished at a step >= 1."""
    level = 0
    while step % arity == 0:
        step //= arity
        level += 1
    return level


@_compiled
def close_one(j: int, level: int, increment: int, sums: _Integers) -> int:
    """Finish a block of the given level in counter j. The array `sums`, shape (k, h), holds the true sums of the
    current blocks by level, and is changed in place.

    Returns:
        The true sum of the finished block.
    """
    value = increment
    for low in range(level):
        value += sums[j, low]
        sums[j, low] = 0
    sums[j, level] += value
    return value


@_compiled
def publish_one(
    j: int, level: int, released: int, grid: int, running_maximum: bool, noisy: _Integers, published: _Integers
) -> None:
    """Publish the count of counter j, rounded half up, from its released block sums alone.

    Args:
        j: index of the counter, from 0.
        level: the level of the block that was just released.
        released: the noisy sum of that block, in units of 2^-grid.
        grid: exponent of the units 2^-grid.
        running_maximum: whether to publish the running maximum.
        noisy: (k, h) released sums of the current blocks by level, in units; changed in place.
        published: (k,) the counts; changed in place.
    """
    for low in range(level):
        noisy[j, low] = 0
    noisy[j, level] += released
    raw = (1 << grid) >> 1
    for high in range(level, noisy.shape[1]):
        raw += noisy[j, high]
    count = raw >> grid
    if not running_maximum or count > published[j]:
        published[j] = count


@_compiled
def advance(
    step: int, arity: int, grid: int, running_maximum: bool, increments: _Integers, noise: _Integers,
    sums: _Integers, noisy: _Integers, published: _Integers,
) -> None:
    """Do one step of every counter with given noise.

    Args:
        step: the number t of the step, from 1.
        arity: the arity r of the tree.
        grid: exponent of the units 2^-grid.
        running_maximum: whether to publish the running maximum.
        increments: (k,) whole numbers that this step adds to each counter, zeros included.
        noise: (k,) noise of the block that is finished at step t, in units of 2^-grid.
        sums: (k, h) true sums of the current blocks by level, zeros before the first step; changed in place.
        noisy: (k, h) released sums of the current blocks by level, zeros before the first step; changed in place.
        published: (k,) the counts, zeros before the first step; changed in place.
    """
    level = level_of(step, arity)
    for j in range(len(increments)):
        released = (close_one(j, level, increments[j], sums) << grid) + noise[j]
        publish_one(j, level, released, grid, running_maximum, noisy, published)


@_compiled
def count(
    streams: _Integers, noise: _Integers, arity: int, levels: int, grid: int, running_maximum: bool
) -> _Integers:
    """Do all steps of every counter with given noise, like `advance`, but one counter after the other.

    Args:
        streams: (k, N) increments.
        noise: (k, N) noise, in units of 2^-grid.
        arity: the arity r of the tree.
        levels: the number h of levels.
        grid: exponent of the units 2^-grid.
        running_maximum: whether to publish the running maximum.

    Returns:
        (k, N) the counts.
    """
    counters, horizon = streams.shape
    finished = np.empty(horizon, dtype=np.int64)
    for t in range(horizon):
        finished[t] = level_of(t + 1, arity)
    sums = np.zeros((counters, levels), dtype=np.int64)
    noisy = np.zeros((counters, levels), dtype=np.int64)
    published = np.zeros(counters, dtype=np.int64)
    out = np.empty((counters, horizon), dtype=np.int64)
    for j in range(counters):
        for t in range(horizon):
            released = (close_one(j, finished[t], streams[j, t], sums) << grid) + noise[j, t]
            publish_one(j, finished[t], released, grid, running_maximum, noisy, published)
            out[j, t] = published[j]
    return out
