"""Linear programs over ratio constraints. The variables fall into blocks, one for each output, and equalities couple
the blocks.

    minimise c . v   such that   v_i <= F_e v_j for each constraint e, in one block,   sum of v over each row = target

Two opposite constraints join each pair of neighbours, which implies v > 0.

Source: spec privacy_notions 3 and 6.

The module also certifies a solver's numbers. The certificates are a lower bound that holds for any solver output, and
variables that satisfy every constraint in doubles.

The lower bound and the variables stay valid under rounding, and do not depend on the solver's tolerances.

Source: spec privacy_notions 6 ("certificates, mandatory").
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import SolverFailed

__all__ = ["BlockProgram", "lower_bound", "repaired"]

# ---- ratio program

_Vector = NDArray[np.float64]
_Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BlockProgram:
    """A linear program over ratio constraints with k variables in b blocks, r equality rows, and e pairs of
    neighbouring variables. The blocks are stored one after another.

    Args:
        sizes: number of variables of each block, shape (b,).
        cost: costs c of the variables, shape (k,).
        rows: number of the equality row that contains each variable, shape (k,).
        target: right-hand side of each equality row, > 0, shape (r,).
        first: variable i of each pair of neighbours, in the order of blocks, shape (e,).
        second: variable j > i of each pair, shape (e,).
        up: factors of the constraints v_i <= up v_j, shape (e,).
        down: factors of the constraints v_j <= down v_i, with up down > 1, shape (e,).
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
        """Position of the first variable of each block, and the end, shape (b + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def pair_starts(self) -> _Index:
        """Position of the first pair of neighbours of each block, and the end, shape (b + 1,)."""
        return np.searchsorted(self.first, self.starts)

    @cached_property
    def scales(self) -> _Vector:
        """Factors that scale each constraint so that its largest coefficient is 1, shape (2, e)."""
        return 1.0 / np.maximum(1.0, np.stack([self.up, self.down]))

    @cached_property
    def square(self) -> bool:
        """Whether every block has exactly one variable in each equality row, in the order of the rows."""
        count = len(self.target)
        return bool((self.sizes == count).all() and (self.rows == np.tile(np.arange(count), len(self.sizes))).all())

    @cached_property
    def bands(self) -> _Index:
        """Bandwidth of each block, shape (b,): the largest difference between the positions of two neighbouring
        variables.
        """
        out = np.zeros(len(self.sizes), dtype=np.int64)
        np.maximum.at(out, np.searchsorted(self.starts, self.first, side="right") - 1, self.second - self.first)
        return out

    @property
    def work(self) -> float:
        """Approximate number of multiplications in one factorisation of the Newton matrix."""
        return float((self.sizes * self.bands.astype(np.float64) ** 2).sum())

    def loosened(self, by: float) -> BlockProgram:
        """The same program with all constraint factors multiplied by exp(by)."""
        return replace(self, up=self.up * math.exp(by), down=self.down * math.exp(by))

    def collected(self, v: _Vector) -> _Vector:
        """Sums of the vector v over the variables of each equality row, shape (r,)."""
        return np.asarray(np.bincount(self.rows, v, len(self.target)), dtype=np.float64)

    def slack(self, v: _Vector) -> _Vector:
        """Scaled slacks F v_j - v_i of all constraints, shape (2, e)."""
        i, j = v[self.first], v[self.second]
        return np.stack([self.up * j - i, self.down * i - j]) * self.scales

    def pulled(self, z: _Vector) -> _Vector:
        """Minus the transpose of the linear map `slack`, applied to constraint prices z of shape (2, e); the result has
        shape (k,).
        """
        up, down = z * self.scales
        k = len(self.cost)
        out = np.bincount(self.first, up - down * self.down, k) + np.bincount(self.second, down - up * self.up, k)
        return np.asarray(out, dtype=np.float64)


# ---- certificates

_UNIT = 2.0**-53
_SWEEPS = 400


def lower_bound(program: BlockProgram, prices: _Vector, error: float = 8 * _UNIT) -> float:
    """A certified lower bound of the program's value.

    The lower bound follows from weak duality. For any prices z >= 0, the value is at least the sum, over the equality
    rows, of the row's target times the least reduced cost of its variables. The reduced cost of a variable i is c_i,
    plus the prices z of the constraints with v_i on the left side, minus F z for each constraint with v_i on the right
    side. Each reduced cost is lowered by the largest possible effect of rounding on itself and on its coefficients.

    Args:
        program: program with the factors of the level to be certified.
        prices: dual prices of the constraints, at least 0, shape (2, e). Any such numbers give a valid bound, for
            example those of a solution at another level.
        error: relative error that the costs, factors and targets themselves may have.
    """
    prices = np.maximum(prices, 0.0)
    k = len(program.cost)
    paid = np.bincount(program.first, prices[0], k) + np.bincount(program.second, prices[1], k)
    earned = (np.bincount(program.first, prices[1] * program.down, k)
              + np.bincount(program.second, prices[0] * program.up, k))
    degree = np.bincount(program.first, minlength=k) + np.bincount(program.second, minlength=k)
    size = np.abs(program.cost) + paid + earned
    reduced = program.cost + paid - earned - ((2 * degree + 4) * _UNIT + error) * size
    least = np.full(len(program.target), np.inf)
    np.minimum.at(least, program.rows, reduced)
    total = math.fsum(program.target * least)
    return total - (4 * _UNIT + error) * math.fsum(np.abs(program.target * least))


def repaired(program: BlockProgram, values: _Vector, anchor: int) -> _Vector:
    """Variables near the given ones that satisfy every ratio constraint strictly, so that rounding cannot violate a
    constraint. The sum of each equality row equals its target within a few units in the last place.

    First, values are raised to the smallest larger values that satisfy all ratio constraints. Then all variables are
    lowered by a tiny fraction. The sums of the equality rows are then below their targets, and the missing amounts are
    added in one block, `anchor`. A sum of two vectors satisfies the ratio constraints if both vectors do.

    Args:
        program: program with constraint factors slightly below those that the result must satisfy.
        values: variables from a solver, shape (k,); negative variables count as 0.
        anchor: number of a block with one variable for each equality row, in which the vector `target` satisfies all
            ratio constraints strictly.

    Raises:
        SolverFailed: the vector `target` is too close to violating a ratio constraint.
    """
    v = _raised(program, np.maximum(values, 0.0))
    target, block = program.target, slice(program.starts[anchor], program.starts[anchor + 1])
    rows = program.rows[block]
    pairs = slice(program.pair_starts[anchor], program.pair_starts[anchor + 1])
    first, second = program.rows[program.first[pairs]], program.rows[program.second[pairs]]
    room = 1.0
    if len(first):
        room = min(1.0, float(np.log(program.up[pairs] * target[second] / target[first]).min()),
                   float(np.log(program.down[pairs] * target[first] / target[second]).min()))
    off = float(np.abs(program.collected(v) / target - 1.0).max())
    share = 8.0 * (off + len(v) * _UNIT) / room if room > 0 else math.inf
    if share > 1e-2:
        raise SolverFailed("repair", f"the sums of rows are wrong by {off:.2g}, and the ratios leave {room:.2g}")
    v *= 1.0 - share
    v[block] += (target - program.collected(v))[rows]
    return _raised(program, v)


def _raised(program: BlockProgram, values: _Vector) -> _Vector:
    """The smallest values, at least the given ones, with v_i <= F v_j for all constraints. The values are found as
    maxima that spread along neighbours.
    """
    up, down = (1.0 + 4 * _UNIT) / program.up, (1.0 + 4 * _UNIT) / program.down
    v = values.copy()
    for _ in range(_SWEEPS):
        low_j, low_i = v[program.first] * up, v[program.second] * down
        short_j, short_i = v[program.second] < low_j, v[program.first] < low_i
        if not (short_j.any() or short_i.any()):
            return v
        np.maximum.at(v, program.second[short_j], low_j[short_j])
        np.maximum.at(v, program.first[short_i], low_i[short_i])
    raise SolverFailed("repair", "the ratios do not converge")
