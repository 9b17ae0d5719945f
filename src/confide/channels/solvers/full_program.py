"""The full program: the least distortion of any channel under a level, for any prior with few databases.

The variables are Q[x, y]; each output y is a block of ratio constraints between neighbours, of Q for differential
privacy, of p(x) Q[x, y] for identifiability, and sum_y Q = 1 couples them.

Source: Wang 2016, (2.9) and (2.10); spec privacy_notions 3 and 6.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from confide.channels.notions import Level
from confide.channels.priors import Prior
from confide.channels.solvers.ratio_program import BlockProgram

__all__ = ["distances", "full_program", "neighbours"]

_Vector = NDArray[np.float64]
_Index = NDArray[np.int64]


def neighbours(letters: int, rows: int) -> tuple[_Index, _Index]:
    """All pairs of databases that differ in one row, each once: two arrays of N n (m-1)/2.

    Example:
        >>> [each.tolist() for each in neighbours(2, 2)]
        [[0, 1, 0, 2], [2, 3, 1, 3]]
    """
    x = np.arange(letters**rows)
    first, second = [], []
    for i in range(rows):
        stride = letters ** (rows - 1 - i)
        digit = (x // stride) % letters
        for step in range(1, letters):
            lower = x[digit + step < letters]
            first.append(lower)
            second.append(lower + step * stride)
    return np.concatenate(first), np.concatenate(second)


def distances(letters: int, rows: int) -> _Vector:
    """(N, N) numbers of rows in which two databases differ."""
    x = np.arange(letters**rows)
    out = np.zeros((len(x), len(x)))
    for i in range(rows):
        digit = (x // letters ** (rows - 1 - i)) % letters
        out += digit[:, None] != digit
    return out


def full_program(prior: Prior, epsilon: float, notion: Level) -> tuple[BlockProgram, _Vector]:
    """The program of a level over Q, outputs one after another, and a point inside it: the kernel at half of the level;
    for identifiability the uniform release.

    Identifiability bounds J = p Q instead of Q: a factor p(x')/p(x) more in each constraint.
    """
    law, size = prior.vector(), prior.cells
    d, (first, second) = distances(prior.letters, prior.records), neighbours(prior.letters, prior.records)
    at = (size * np.arange(size))[:, None]
    up = down = np.full(len(first), math.exp(epsilon))
    inside = np.ones((size, size))
    if notion == "identifiability":
        up, down = up * (law[second] / law[first]), down * (law[first] / law[second])
    else:
        inside = np.exp(-0.5 * epsilon * d)
    program = BlockProgram(
        sizes=np.full(size, size), cost=(law * d).reshape(-1), rows=np.tile(np.arange(size), size),
        target=np.ones(size), first=(at + first).reshape(-1), second=(at + second).reshape(-1),
        up=np.tile(up, size), down=np.tile(down, size))
    return program, np.asarray((inside / inside[0].sum()).reshape(-1))
