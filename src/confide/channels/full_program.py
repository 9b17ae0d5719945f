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

from confide.channels.block_program import Block, Solution, solve
from confide.channels.priors import Prior

__all__ = ["distances", "neighbours", "solve_full"]

_Vector = NDArray[np.float64]


def neighbours(letters: int, rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All ordered pairs of databases that differ in one row, (2 x N n (m-1)/2,) each."""
    x = np.arange(letters**rows)
    left, right = [], []
    for i in range(rows):
        stride = letters ** (rows - 1 - i)
        digit = (x // stride) % letters
        for step in range(1, letters):
            left.append(x)
            right.append(x + ((digit + step) % letters - digit) * stride)
    return np.concatenate(left), np.concatenate(right)


def distances(letters: int, rows: int) -> _Vector:
    """(N, N) numbers of rows in which two databases differ."""
    x = np.arange(letters**rows)
    out = np.zeros((len(x), len(x)))
    for i in range(rows):
        digit = (x // letters ** (rows - 1 - i)) % letters
        out += digit[:, None] != digit
    return out


def solve_full(prior: Prior, epsilon: float, notion: Literal["dp", "identifiability"]) -> tuple[_Vector, _Vector, Solution]:
    """The optimal table, its prices (N outputs, edges), and what the solver says; nothing of it is certified yet."""
    m, n, law = prior.letters, prior.rows, prior.vector()
    d, (left, right) = distances(m, n), neighbours(m, n)
    size, factor = len(law), np.full(len(left), math.exp(epsilon))
    joint = notion == "identifiability"
    ones, rows = np.ones(size), np.arange(size)
    blocks = [Block(d[:, y] if joint else law * d[:, y], left, right, factor, rows, ones) for y in range(size)]
    # Well inside: the kernel at half of the level; for the joint law, spread over outputs.
    inside = np.exp(-0.5 * epsilon * d)
    inside /= inside.sum(axis=1, keepdims=True)
    start = [inside[:, y] * (float(law.mean()) if joint else 1.0) for y in range(size)]
    found = solve(blocks, law if joint else ones, start)
    return np.stack(found.blocks, axis=1), np.stack(found.prices), found
