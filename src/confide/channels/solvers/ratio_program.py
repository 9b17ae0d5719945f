"""Linear programs over ratio constraints whose variables fall into blocks, one an output, coupled by equalities.

    minimise c . v   such that   v_i <= F_e v_j for each constraint e, in one block,   sum of v over each row = target

Two opposite constraints join each pair of neighbours, so v > 0 follows.

Source: spec privacy_notions 3 and 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["BlockProgram"]

_Vector = NDArray[np.float64]
_Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BlockProgram:
    """Such a program, blocks one after another.

    Args:
        sizes: (b,) variables of each block.
        cost: (k,) c.
        rows: (k,) the equality that each variable is in.
        target: (r,) right sides, > 0.
        first: (e,) i of each pair of neighbours, in the order of blocks.
        second: (e,) j of each pair; j > i.
        up: (e,) v_i <= up v_j.
        down: (e,) v_j <= down v_i; up down > 1.
    """

    sizes: _Index
    cost: _Vector
    rows: _Index
    target: _Vector
    first: _Index
    second: _Index
    up: _Vector
    down: _Vector

    @cached_property
    def starts(self) -> _Index:
        """(b + 1,) where each block's variables begin."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def pair_starts(self) -> _Index:
        """(b + 1,) where each block's pairs begin."""
        return np.searchsorted(self.first, self.starts)

    @cached_property
    def scales(self) -> _Vector:
        """(2, e) factors that make the largest coefficient of each constraint 1."""
        return 1.0 / np.maximum(1.0, np.stack([self.up, self.down]))

    @cached_property
    def square(self) -> bool:
        """Whether every block has each row once, in order."""
        count = len(self.target)
        return bool((self.sizes == count).all() and (self.rows == np.tile(np.arange(count), len(self.sizes))).all())

    @cached_property
    def bands(self) -> _Index:
        """(b,) how far apart neighbours stand at most."""
        out = np.zeros(len(self.sizes), dtype=np.int64)
        np.maximum.at(out, np.searchsorted(self.starts, self.first, side="right") - 1, self.second - self.first)
        return out

    @property
    def work(self) -> float:
        """Multiplications in one factorisation, about."""
        return float((self.sizes * self.bands.astype(np.float64) ** 2).sum())

    def loosened(self, by: float) -> BlockProgram:
        """The same program with all factors multiplied by e^by."""
        return replace(self, up=self.up * math.exp(by), down=self.down * math.exp(by))

    def collected(self, v: _Vector) -> _Vector:
        """(r,) sums of v over rows."""
        return np.asarray(np.bincount(self.rows, v, len(self.target)), dtype=np.float64)

    def slack(self, v: _Vector) -> _Vector:
        """(2, e) F v_j - v_i, scaled."""
        i, j = v[self.first], v[self.second]
        return np.stack([self.up * j - i, self.down * i - j]) * self.scales

    def pulled(self, z: _Vector) -> _Vector:
        """(k,) minus the transpose of `slack`, at (2, e) prices."""
        up, down = z * self.scales
        k = len(self.cost)
        out = np.bincount(self.first, up - down * self.down, k) + np.bincount(self.second, down - up * self.up, k)
        return np.asarray(out, dtype=np.float64)
