"""The full program: the least distortion of any channel under a level, for any prior with few databases.

For differential privacy the variables are Q[x, y], for identifiability the joint law J[x, y]; each output y is a block
of ratio constraints between neighbours, and sum_y Q = 1, or sum_y J = p, couples them.

Source: Ada 2018, (2.9) and (2.10); spec privacy_notions 3 and 6.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from confide.channels.block_program import BlockProgram
from confide.channels.priors import Prior

__all__ = ["Notion", "distances", "full_program", "full_start", "neighbours"]

_Vector = NDArray[np.float64]
_Index = NDArray[np.int64]
Notion = Literal["dp", "identifiability"]


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


def full_program(prior: Prior, epsilon: float, notion: Notion) -> BlockProgram:
    """The program of a level; variables in the order of outputs, then inputs."""
    law, size = prior.vector(), prior.cells
    d, (first, second) = distances(prior.letters, prior.rows), neighbours(prior.letters, prior.rows)
    at = (size * np.arange(size))[:, None]
    factor = np.full(size * len(first), math.exp(epsilon))
    joint = notion == "identifiability"
    return BlockProgram(
        sizes=np.full(size, size), cost=(d if joint else law * d).reshape(-1), rows=np.tile(np.arange(size), size),
        target=law if joint else np.ones(size), first=(at + first).reshape(-1), second=(at + second).reshape(-1),
        up=factor, down=factor)


def full_start(prior: Prior, epsilon: float, notion: Notion) -> _Vector:
    """A point inside: the kernel at half of the level; of the joint law, any output at any input."""
    if notion == "identifiability":
        return np.tile(prior.vector() / prior.cells, prior.cells)
    kernel = np.exp(-0.5 * epsilon * distances(prior.letters, prior.rows))
    return np.asarray((kernel / kernel[0].sum()).reshape(-1))
