"""Linear programs over ratio constraints whose variables fall into blocks, one for each output, coupled by few
equalities: an interior-point method that factors block by block.

    minimise c . v   such that   v_i <= F_e v_j for each constraint e, inside one block,   sum of v over each row = target

Two opposite constraints join each pair of neighbours, so v > 0 follows. The Newton matrix of a block is small and
positive definite; eliminating the blocks leaves one system with as many unknowns as there are rows. General solvers do
not see this: at 64 databases HiGHS takes ten times as long, at 256 it does not end.

What is returned is only as good as rounding makes it: callers repair and certify it (`certificates`), always.

Source: Mehrotra's predictor and corrector with Gondzio's centrality correctors (Nocedal and Wright, Numerical
Optimization, chapter 14; Gondzio 1996).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpbtrf, dpbtrs, dpotrf, dpotrs, dtbtrs, dtrtri
from threadpoolctl import threadpool_limits

from confide.contract.errors import SolverFailed

__all__ = ["BlockProgram", "Solution", "solve"]

_Vector = NDArray[np.float64]
_Index = NDArray[np.int64]
_STEPS = 150
_CORRECTORS = 2
_REFINEMENTS, _OVER, _MISSED = 2, 1e-9, 4e-15
_LEAST = 1e-14
_PATIENCE, _SWEEPS, _IDLE = 30, 200, 3
_SERIAL = 2e7  # multiplications in one factorisation below which a second thread costs more than it saves


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
        return np.concatenate([[0], np.cumsum(self.sizes)])

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

    def loosened(self, by: float) -> BlockProgram:
        """The same program with all factors multiplied by e^by."""
        return replace(self, up=self.up * math.exp(by), down=self.down * math.exp(by))

    def collected(self, v: _Vector) -> _Vector:
        """(r,) sums of v over rows."""
        return np.bincount(self.rows, v, len(self.target))

    def slack(self, v: _Vector) -> _Vector:
        """(2, e) F v_j - v_i, scaled."""
        i, j = v[self.first], v[self.second]
        return np.stack([self.up * j - i, self.down * i - j]) * self.scales

    def pulled(self, z: _Vector) -> _Vector:
        """(k,) minus the transpose of `slack`, at (2, e) prices."""
        up, down = z * self.scales
        k = len(self.cost)
        return np.bincount(self.first, up - down * self.down, k) + np.bincount(self.second, down - up * self.up, k)


@dataclass(frozen=True, eq=False)
class Solution:
    """What the method reached.

    Args:
        values: (k,) the variables.
        prices: (2, e) duals of the constraints up and down, > 0: any such numbers give a certified lower bound.
        value: of the objective.
        slope: derivative of the value when all factors grow by e^t, at t = 0; at most 0.
        steps: Newton steps.
    """

    values: _Vector
    prices: _Vector
    value: float
    slope: float
    steps: int


def solve(program: BlockProgram, start: _Vector, tolerance: float = 1e-9) -> Solution:
    """Solve such a program.

    Args:
        program: see `BlockProgram`.
        start: (k,) strictly inside all ratio constraints; need not keep the equalities.
        tolerance: of the gap, with the residuals, relative to max(1, objective).

    Returns:
        The last point, also where the tolerance was not reached: the certificate says how good it is.

    Raises:
        SolverFailed: the start is not inside, or a Newton system cannot be factored.
    """
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(2) as pool:
        work = float((program.sizes.astype(np.float64) * program.bands**2).sum())
        return _solve(program, start, tolerance, pool.map if work > _SERIAL else map)


def _solve(program: BlockProgram, start: _Vector, tolerance: float, each: Callable[..., Iterable[object]]) -> Solution:
    v = np.array(start, dtype=np.float64)
    s = program.slack(v)
    if not s.min() > 0:
        raise SolverFailed("block program", "the start is not inside the ratio constraints")
    first = weight = _weights(program, v)
    z = float(np.abs(program.cost) @ v) / s.size * weight / s
    nu = np.zeros(len(program.target))
    best, patience, steps = math.inf, 0, 0
    found = (v, z, nu)
    for steps in range(_STEPS):
        undual = program.cost + program.pulled(z) - nu[program.rows]
        residual = program.target - program.collected(v)
        gap, error = float((s * z).sum()), float(v @ np.abs(undual)) + float(np.abs(residual).sum())
        if gap + error < best:
            best, patience, found = gap + error, 0, (v, z, nu)
        patience += 1
        enough = tolerance * max(1.0, float(program.cost @ v))
        if best <= enough or (patience > (_PATIENCE if gap > enough else 2) and steps > _PATIENCE):
            break
        weight = 0.5 * (first + _weights(program, v))
        newton = _Newton(program, s, z, undual, residual, s - program.slack(v), weight, each)
        (dv, ds, dz, dnu), primal, dual = newton.step()
        share = 0.9 + 0.09 * min(primal, dual)
        primal, dual = share * primal, share * dual
        if max(primal, dual) < 1e-9:
            break
        v, s, z, nu = v + primal * dv, s + primal * ds, z + dual * dz, nu + dual * dnu
    v, z, nu = found
    prices = _settled(program, z, nu) * program.scales
    slope = -float(prices[0] @ (program.up * v[program.second]) + prices[1] @ (program.down * v[program.first]))
    return Solution(values=v, prices=prices, value=float(program.cost @ v), slope=slope, steps=steps)


def _settled(program: BlockProgram, z: _Vector, nu: _Vector) -> _Vector:
    """Prices with a better bound: where reduced costs fall short of nu at variables of next to no mass, a bound counts
    that as much as elsewhere. Lowering the prices that such a variable pays lifts its reduced cost and lowers those of
    its neighbours, by as much mass; most of what falls short so moves to where it is nothing.
    """
    best, found, since = -math.inf, z, 0
    for _ in range(_SWEEPS):
        short = nu[program.rows] - program.cost - program.pulled(z)
        lacking = np.full(len(nu), -np.inf)
        np.maximum.at(lacking, program.rows, short)
        bound = float(program.target @ (nu - lacking))
        since += 1
        if bound > best:
            since = 0 if bound > best + 1e-12 else since
            best, found = bound, z
        if since > _IDLE:
            break
        up, down = z * program.scales
        k = len(program.cost)
        paid = np.bincount(program.first, down * program.down, k) + np.bincount(program.second, up * program.up, k)
        share = 1.0 - np.clip(short / np.maximum(paid, 1e-300), 0.0, 1.0)
        z = z * np.stack([share[program.second], share[program.first]])
    return found


_Direction = tuple[_Vector, _Vector, _Vector, _Vector]


class _Newton:
    """The Newton system at one point, factored once, and the directions that it gives."""

    def __init__(self, program: BlockProgram, s: _Vector, z: _Vector, undual: _Vector, residual: _Vector, drift: _Vector,
                 weight: _Vector, each: Callable[..., Iterable[object]]) -> None:
        self.program, self.s, self.z, self.undual, self.residual, self.drift = program, s, z, undual, residual, drift
        self.weights, self.weight = z / s, weight
        up, down = self.weights * program.scales**2
        k = len(program.cost)
        diagonal = (np.bincount(program.first, up + down * program.down**2, k)
                    + np.bincount(program.second, down + up * program.up**2, k))
        self.scale = 1.0 / np.sqrt(diagonal)
        self.off = -(up * program.up + down * program.down) * self.scale[program.first] * self.scale[program.second]
        parts = list(each(self._block, range(len(program.sizes))))
        self.factors = [factor for factor, _ in parts]
        self.inverse = np.stack(self.factors) if program.square else None
        coupling = np.sum([part for _, part in parts], axis=0)
        self.row_scale = 1.0 / np.sqrt(coupling.diagonal())
        self.coupling = _cholesky(coupling * self.row_scale[:, None] * self.row_scale)

    def _block(self, b: int) -> tuple[_Vector, _Vector]:
        """The Cholesky factor L of a block's matrix with unit diagonal (of a square program, the inverse of L), and the
        block's part of the coupling."""
        program, k, count = self.program, int(self.program.sizes[b]), len(self.program.target)
        at, pairs = int(program.starts[b]), slice(program.pair_starts[b], program.pair_starts[b + 1])
        first, second, off = program.first[pairs] - at, program.second[pairs] - at, self.off[pairs]
        scale, band = self.scale[at : at + k], int(program.bands[b])
        if program.square:
            matrix = np.zeros((k, k), order="F")
            matrix[second, first] = off
            factor = dtrtri(_cholesky(matrix), lower=1, overwrite_c=1)[0]
            spread = factor * scale
            return factor, spread.T @ spread
        wide = np.zeros((k, count), order="F")
        wide[np.arange(k), program.rows[at : at + k]] = scale
        matrix = np.zeros((band + 1, k), order="F")
        matrix[second - first, first] = off
        factor = _cholesky(matrix, banded=True)
        spread = dtbtrs(factor, wide, uplo="L", overwrite_b=1)[0]
        return factor, spread.T @ spread

    def _back(self, g: _Vector) -> _Vector:
        """The inverse of the block matrices, applied."""
        scaled, starts = g * self.scale, self.program.starts
        if self.inverse is not None:
            half = self.inverse @ scaled.reshape(len(self.factors), -1, 1)
            return (half.transpose(0, 2, 1) @ self.inverse).reshape(-1) * self.scale
        for b, factor in enumerate(self.factors):
            part = slice(starts[b], starts[b + 1])
            scaled[part] = dpbtrs(factor, scaled[part], lower=1)[0]
        return scaled * self.scale

    def _kkt(self, g: _Vector, residual: _Vector) -> tuple[_Vector, _Vector]:
        """(dv, dnu) with H dv - E' dnu = -g and E dv = residual."""
        program = self.program
        right = residual + program.collected(self._back(g))
        dnu = self.row_scale * dpotrs(self.coupling, self.row_scale * right, lower=1)[0]
        return self._back(dnu[program.rows] - g), dnu

    def towards(self, aim: _Vector) -> _Direction:
        """(dv, ds, dz, dnu) towards products s z = aim; refined where the system is badly conditioned."""
        program, s, z = self.program, self.s, self.z
        g = self.undual + program.pulled(aim / s - z + self.weights * self.drift)
        dv, dnu = self._kkt(g, self.residual)
        size = float(np.abs(g).max())
        for _ in range(_REFINEMENTS):
            over = g - program.pulled(self.weights * program.slack(dv)) - dnu[program.rows]
            missed = self.residual - program.collected(dv)
            if float(np.abs(over).max()) < _OVER * size and float(np.abs(missed).max()) < _MISSED:
                break
            more, rise = self._kkt(over, missed)
            dv, dnu = dv + more, dnu + rise
        ds = program.slack(dv) - self.drift
        return dv, ds, aim / s - z - self.weights * ds, dnu

    def step(self) -> tuple[_Direction, float, float]:
        """Predictor, corrector, and centrality correctors while they lengthen the step."""
        s, z = self.s, self.z
        mean = float((s * z).mean())
        _, ds, dz, _ = self.towards(np.zeros_like(s))
        primal, dual = _reach(s, ds), _reach(z, dz)
        after = float(((s + primal * ds) * (z + dual * dz)).mean())
        centre = self.weight * (mean * min(1.0, max(1e-6, (after / mean) ** 3)))
        aim = centre - ds * dz
        best = self.towards(aim)
        primal, dual = _reach(s, best[1]), _reach(z, best[2])
        for _ in range(_CORRECTORS):
            further = [min(1.0, length + max(0.1, 0.3 * (1.0 - length))) for length in (primal, dual)]
            products = (s + further[0] * best[1]) * (z + further[1] * best[2])
            aim = aim + np.maximum(np.clip(products, 0.1 * centre, 10.0 * centre) - products, -10.0 * centre)
            tried = self.towards(aim)
            lengths = _reach(s, tried[1]), _reach(z, tried[2])
            if sum(lengths) < primal + dual + 0.02:
                break
            best, (primal, dual) = tried, lengths
        return best, primal, dual


def _weights(program: BlockProgram, v: _Vector) -> _Vector:
    """(2, e) what share of the gap each constraint carries, of mean 1: in proportion to its variables' part in the cost.

    With equal shares, as usual, constraints between variables of 1e-12 would ask for prices of 1e8 on the way. Half of a
    share follows the variables as they move, half stays, so that none is lost."""
    dearest = np.zeros(len(program.target))
    np.maximum.at(dearest, program.rows, program.cost)
    mass = v * dearest[program.rows]
    share = np.maximum(np.maximum(mass[program.first], mass[program.second]), _LEAST * mass.max())
    return np.tile(share / share.mean(), (2, 1))


def _cholesky(matrix: _Vector, *, banded: bool = False) -> _Vector:
    """The lower factor of a matrix whose diagonal is 1, whatever stands there; where rounding made it indefinite, of one
    with a slightly larger diagonal. `banded` as in LAPACK: the diagonal is the first line."""
    bump = 0.0
    while bump < 1e-2:
        if banded:
            matrix[0] = 1.0 + bump
            factor, failed = dpbtrf(matrix, lower=1)
        else:
            matrix.flat[:: len(matrix) + 1] = 1.0 + bump
            factor, failed = dpotrf(matrix, lower=1, clean=1)
        if not failed:
            return np.asarray(factor)
        bump = max(1e-15, 10.0 * bump)
    raise SolverFailed("block program", "a Newton system could not be factored")


def _reach(values: _Vector, moves: _Vector) -> float:
    """How far one may go along the moves before a value is 0, at most 1."""
    falling = moves < 0
    return min(1.0, float((values[falling] / -moves[falling]).min())) if falling.any() else 1.0
