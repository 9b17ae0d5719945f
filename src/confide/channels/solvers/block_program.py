"""An interior-point method for linear programs over ratio constraints. The method factors its Newton matrix block by
block.

The Newton matrix of a block is small and positive definite. Elimination of the blocks leaves one system with as many
unknowns as there are equality rows. General solvers do not use the block structure: at 64 databases HiGHS takes ten
times as long.

Rounding limits the precision of the result, so callers always repair and certify the result (`ratio_program`).

Source: Mehrotra's predictor and corrector with Gondzio's centrality correctors (Nocedal and Wright, Numerical
Optimization, chapter 14; Gondzio 1996).

`Newton` is the Newton system of a linear program over ratio constraints at one point, factored block by block. The
class also computes the directions and lengths of steps.

Source: Mehrotra's predictor and corrector (Nocedal and Wright, Numerical Optimization, chapter 14) with Gondzio's
centrality correctors (Gondzio 1996).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpbtrf, dpbtrs, dpotrf, dpotrs, dtbtrs, dtrtri

from confide.channels.solvers.ratio_program import BlockProgram
from confide.contract.errors import SolverFailed
from confide.numerics.map_reduce import one_core_each

__all__ = ["Midway", "Newton", "Solution", "solve"]

# ---- block newton

_Vector = NDArray[np.float64]
_Direction = tuple[_Vector, _Vector, _Vector, _Vector]
_CORRECTORS = 2
_REFINEMENTS, _OVER, _MISSED = 2, 1e-9, 4e-15


class Newton:
    """The Newton system of a linear program with k variables, e pairs of constraints and r equality rows, at one point.

    Args:
        program: the program.
        s: slacks of the constraints, > 0, shape (2, e).
        z: prices of the slacks (dual variables), > 0, shape (2, e).
        undual: dual residual: reduced cost of each variable minus the dual variable of its equality row, shape (k,).
        residual: primal residual: target minus sum of each equality row, shape (r,).
        drift: `s` minus the slacks that are computed from the variables, shape (2, e).
        pool: pool of threads for large programs; None to use a single thread.
    """

    def __init__(self, program: BlockProgram, s: _Vector, z: _Vector, undual: _Vector, residual: _Vector,
                 drift: _Vector, pool: ThreadPoolExecutor | None) -> None:
        self.program, self.s, self.z, self.undual, self.residual, self.drift = program, s, z, undual, residual, drift
        self.weights = z / s
        up, down = self.weights * program.scales**2
        k = len(program.cost)
        diagonal = (np.bincount(program.first, up + down * program.down**2, k)
                    + np.bincount(program.second, down + up * program.up**2, k))
        scale = 1.0 / np.sqrt(diagonal)
        off = -(up * program.up + down * program.down) * scale[program.first] * scale[program.second]
        kind = _DenseBlocks if program.square else _BandedBlocks
        self._blocks = kind(program, scale, off, map if pool is None else pool.map)
        self._row_scale = 1.0 / np.sqrt(self._blocks.coupling.diagonal())
        self._coupling = np.asfortranarray(self._blocks.coupling * self._row_scale[:, None] * self._row_scale)
        self._coupling = _cholesky(self._coupling)

    def step(self, weight: _Vector) -> tuple[_Direction, float, float]:
        """Newton direction (dv, ds, dz, dnu), and step lengths for v and for z. Here v are the variables, s the slacks,
        z the prices, and nu the dual variables of the equality rows. The method computes a predictor and a corrector
        first, and then centrality correctors as long as they lengthen the step. The step brings the products s z closer
        to `weight` times a common number.
        """
        s, z = self.s, self.z
        mean = float((s * z).mean())
        none = np.zeros_like(s)
        best = self._towards(none)
        primal, dual = _reach(s, best[1]), _reach(z, best[2])
        after = float(((s + primal * best[1]) * (z + dual * best[2])).mean())
        centre = weight * (mean * min(1.0, max(1e-6, (after / mean) ** 3)))
        aim = centre - best[1] * best[2]
        best = self._refined(self._moved(best, aim), aim)
        primal, dual = _reach(s, best[1]), _reach(z, best[2])
        for _ in range(_CORRECTORS):
            further = [min(1.0, length + max(0.1, 0.3 * (1.0 - length))) for length in (primal, dual)]
            products = (s + further[0] * best[1]) * (z + further[1] * best[2])
            more = np.maximum(np.clip(products, 0.1 * centre, 10.0 * centre) - products, -10.0 * centre)
            tried = self._moved(best, more)
            lengths = _reach(s, tried[1]), _reach(z, tried[2])
            if sum(lengths) < primal + dual + 0.02:
                break
            best, (primal, dual) = tried, lengths
        return best, primal, dual

    def _towards(self, aim: _Vector) -> _Direction:
        """Direction towards products s z = aim."""
        dv, dnu = self._kkt(self._right(aim), self.residual)
        return self._opened(dv, dnu, aim)

    def _right(self, aim: _Vector) -> _Vector:
        return self.undual + self.program.pulled(aim / self.s - self.z + self.weights * self.drift)

    def _opened(self, dv: _Vector, dnu: _Vector, aim: _Vector) -> _Direction:
        ds = self.program.slack(dv) - self.drift
        return dv, ds, aim / self.s - self.z - self.weights * ds, dnu

    def _moved(self, direction: _Direction, more: _Vector) -> _Direction:
        """Direction after `more` has been added to its aim."""
        dv, dnu = self._kkt(self.program.pulled(more / self.s), np.zeros_like(self.residual))
        ds = self.program.slack(dv)
        old = direction
        return old[0] + dv, old[1] + ds, old[2] + more / self.s - self.weights * ds, old[3] + dnu

    def _refined(self, direction: _Direction, aim: _Vector) -> _Direction:
        """Direction after iterative refinement, for a badly conditioned system: the system is solved again for the
        remaining error.
        """
        program, g = self.program, self._right(aim)
        dv, _, _, dnu = direction
        enough = _OVER * float(np.abs(g).max())
        for _ in range(_REFINEMENTS):
            over = g - program.pulled(self.weights * program.slack(dv)) - dnu[program.rows]
            missed = self.residual - program.collected(dv)
            if float(np.abs(over).max()) < enough and float(np.abs(missed).max()) < _MISSED:
                break
            more, rise = self._kkt(over, missed)
            dv, dnu = dv + more, dnu + rise
        return self._opened(dv, dnu, aim)

    def _kkt(self, g: _Vector, residual: _Vector) -> tuple[_Vector, _Vector]:
        """Solution (dv, dnu) of H dv - E' dnu = -g and E dv = residual."""
        program = self.program
        right = residual + program.collected(self._blocks.back(g))
        dnu = self._row_scale * dpotrs(self._coupling, self._row_scale * right, lower=1)[0]
        return self._blocks.back(dnu[program.rows] - g), dnu


_Each = Callable[..., Iterable[_Vector]]


class _DenseBlocks:
    """Blocks in which each equality row has exactly one variable. The inverses of all Cholesky factors are in one
    array.

    `coupling` is the sum of the inverses of the block matrices.
    """

    def __init__(self, program: BlockProgram, scale: _Vector, off: _Vector, each: _Each) -> None:
        self._program, self._scale, self._off = program, scale, off
        blocks, k = len(program.sizes), len(program.target)
        self._factors = np.zeros((blocks, k, k))  # transposed: what LAPACK writes in place
        half = -(-blocks // 2)
        lower = np.sum(list(each(self._chunk, (range(half), range(half, blocks)))), axis=0)
        self.coupling: _Vector = np.tril(lower) + np.tril(lower, -1).T

    def _chunk(self, blocks: range) -> _Vector:
        k = len(self._program.target)
        total = np.zeros((k, k), order="F")
        for b in blocks:
            matrix = self._factors[b].T
            self._fill(matrix, b)
            _, failed = dpotrf(matrix, lower=1, clean=1, overwrite_a=1)
            if failed:
                self._fill(matrix, b)
                matrix[...] = _cholesky(matrix.copy(order="F"))
            dtrtri(matrix, lower=1, overwrite_c=1)
            matrix *= self._scale[b * k : (b + 1) * k]
            total = dsyrk(1.0, matrix, beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
        return total

    def _fill(self, matrix: _Vector, b: int) -> None:
        program = self._program
        at, pairs = int(program.starts[b]), slice(program.pair_starts[b], program.pair_starts[b + 1])
        matrix[...] = 0.0
        matrix[program.second[pairs] - at, program.first[pairs] - at] = self._off[pairs]
        np.fill_diagonal(matrix, 1.0)

    def back(self, g: _Vector) -> _Vector:
        """Product of the inverses of the block matrices with a vector."""
        half = g.reshape(len(self._factors), 1, -1) @ self._factors
        return np.asarray((self._factors @ half.transpose(0, 2, 1)).reshape(-1))


class _BandedBlocks:
    """Blocks of any sizes, stored as band matrices.

    `coupling` is the sum of the inverses of the block matrices, summed over variables of the same row.
    """

    def __init__(self, program: BlockProgram, scale: _Vector, off: _Vector, each: _Each) -> None:
        self._program, self._scale, self._off = program, scale, off
        self._factors: list[_Vector] = [np.empty(0)] * len(program.sizes)
        self.coupling: _Vector = np.sum(list(each(self._block, range(len(program.sizes)))), axis=0)

    def _block(self, b: int) -> _Vector:
        program, k, count = self._program, int(self._program.sizes[b]), len(self._program.target)
        at, pairs = int(program.starts[b]), slice(program.pair_starts[b], program.pair_starts[b + 1])
        first, second = program.first[pairs] - at, program.second[pairs] - at
        band = np.zeros((int(program.bands[b]) + 1, k), order="F")
        band[second - first, first] = self._off[pairs]
        self._factors[b] = _cholesky(band, banded=True)
        wide = np.zeros((k, count), order="F")
        wide[np.arange(k), program.rows[at : at + k]] = self._scale[at : at + k]
        spread = dtbtrs(self._factors[b], wide, uplo="L", overwrite_b=1)[0]
        return np.asarray(spread.T @ spread)

    def back(self, g: _Vector) -> _Vector:
        """Product of the inverses of the block matrices with a vector."""
        scaled, starts = g * self._scale, self._program.starts
        for b, factor in enumerate(self._factors):
            part = slice(starts[b], starts[b + 1])
            scaled[part] = dpbtrs(factor, scaled[part], lower=1)[0]
        return scaled * self._scale


def _cholesky(matrix: _Vector, *, banded: bool = False) -> _Vector:
    """Lower Cholesky factor of a matrix with diagonal 1; the given diagonal is overwritten. If rounding made the matrix
    indefinite, the diagonal is raised slightly. With `banded`, the matrix is stored in LAPACK's band format, in which
    the first line is the diagonal.
    """
    bump = 0.0
    while bump < 1e-2:
        if banded:
            matrix[0] = 1.0 + bump
            factor, failed = dpbtrf(matrix, lower=1)
        else:
            np.fill_diagonal(matrix, 1.0 + bump)
            factor, failed = dpotrf(matrix, lower=1, clean=1)
        if not failed:
            return np.asarray(factor)
        bump = max(1e-15, 10.0 * bump)
    raise SolverFailed("block program", "a Newton system could not be factored")


def _reach(values: _Vector, moves: _Vector) -> float:
    """Largest step length, at most 1, up to which no value becomes negative along the moves."""
    least = float((moves / values).min())
    return min(1.0, -1.0 / least) if least < 0 else 1.0


# ---- block program

Midway = tuple[_Vector, _Vector, _Vector]
_MIDWAY = 1e-3  # of the objective: its gap there
_SHARES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)
_STEPS = 150
_LEAST = 1e-14
_PATIENCE, _SWEEPS, _IDLE = 30, 200, 3
_SERIAL = 1e7  # multiplications in one factorisation below which a second thread costs more than it saves


@dataclass(frozen=True, eq=False)
class Solution:
    """The last point of the interior-point method.

    Args:
        values: variables of the program, shape (k,).
        prices: dual variables of the constraints `up` and `down`, > 0, shape (2, e). Any positive numbers give a
            certified lower bound.
        value: value of the objective.
        slope: derivative of `value` with respect to t at t = 0, if all constraint factors are multiplied by e^t; at
            most 0.
        steps: number of Newton steps.
        midway: variables, prices and dual variables of the equality rows at an earlier point, from which a similar
            program is solved faster.
    """

    values: _Vector
    prices: _Vector
    value: float
    slope: float
    steps: int
    midway: Midway


def solve(
    program: BlockProgram, start: _Vector, tolerance: float = 1e-9, *, midway: Midway | None = None,
    progress: Callable[[float], None] | None = None,
) -> Solution:
    """Solve a linear program over ratio constraints.

    Args:
        program: the program, see `BlockProgram`.
        start: variables that satisfy all ratio constraints strictly, shape (k,). The variables need not satisfy the
            equalities.
        tolerance: largest accepted sum of duality gap and residuals, relative to max(1, objective).
        midway: intermediate point of the solution of a similar program; None to begin at `start`.
        progress: function that is called with the fraction of the work that is done, in [0, 1], measured by the digits
            of the duality gap.

    Returns:
        The best point that was found, even if the tolerance was not reached. The certificate (`ratio_program`) states
        the quality of the point.

    Raises:
        SolverFailed: `start` does not satisfy the ratio constraints strictly, or a Newton system cannot be factored.
    """
    with one_core_each("blas"), ThreadPoolExecutor(2) as pool:
        return _solve(program, start, tolerance, midway, progress, pool if program.work > _SERIAL else None)


def _solve(
    program: BlockProgram, start: _Vector, tolerance: float, midway: Midway | None,
    progress: Callable[[float], None] | None, pool: ThreadPoolExecutor | None,
) -> Solution:
    v = _inside(program, np.array(start, dtype=np.float64), midway)
    s = program.slack(v)
    if not s.min() > 0:
        raise SolverFailed("block program", "the start is not inside the ratio constraints")
    dearest = np.zeros(len(program.target))
    np.maximum.at(dearest, program.rows, program.cost)
    first = weight = _weights(program, v, dearest)
    z = float(program.target @ dearest) / s.size * weight / s
    nu = np.zeros(len(program.target))
    if midway is not None:
        _, z, nu = midway
    best, patience, steps, wide = math.inf, 0, 0, 0.0
    found = reached = (v, z, nu)
    for steps in range(_STEPS):
        undual = program.cost + program.pulled(z) - nu[program.rows]
        residual = program.target - program.collected(v)
        gap, error = float((s * z).sum()), float(v @ np.abs(undual)) + float(np.abs(residual).sum())
        if gap + error < best:
            best, patience, found = gap + error, 0, (v, z, nu)
        patience += 1
        size = max(1.0, float(program.cost @ v))
        enough = tolerance * size
        if gap + error > _MIDWAY * size:
            reached = (v, z, nu)
        if progress is not None:
            wide = max(wide, math.log(max(gap + error, enough) / enough))
            progress(1.0 - math.log(max(best, enough) / enough) / wide if wide > 0 else 1.0)
        if best <= enough or (patience > (_PATIENCE if gap > enough else 2) and steps > _PATIENCE):
            break
        weight = 0.5 * (first + _weights(program, v, dearest))
        newton = Newton(program, s, z, undual, residual, s - program.slack(v), pool)
        (dv, ds, dz, dnu), primal, dual = newton.step(weight)
        share = 0.9 + 0.09 * min(primal, dual)
        primal, dual = share * primal, share * dual
        if max(primal, dual) < 1e-9:
            break
        v, s, z, nu = v + primal * dv, s + primal * ds, z + dual * dz, nu + dual * dnu
    v, z, nu = found
    prices = _settled(program, z, nu) * program.scales
    slope = -float(prices[0] @ (program.up * v[program.second]) + prices[1] @ (program.down * v[program.first]))
    return Solution(values=v, prices=prices, value=float(program.cost @ v), slope=slope, steps=steps,
                    midway=reached)


def _inside(program: BlockProgram, start: _Vector, midway: Midway | None) -> _Vector:
    """Variables of the midway point, mixed with the smallest share of the start that brings them inside the ratio
    constraints.
    """
    for share in _SHARES if midway is not None else ():
        v = (1.0 - share) * midway[0] + share * start  # type: ignore[index]
        if program.slack(v).min() > 0:
            return np.asarray(v)
    return start


def _settled(program: BlockProgram, z: _Vector, nu: _Vector) -> _Vector:
    """Prices with a better lower bound. Where a reduced cost falls short of its row's dual nu, the bound loses the same
    amount, even if the variable has almost no mass. If the prices that a variable pays are lowered, its reduced cost
    rises, and the reduced costs of its neighbours fall by the same mass. So most of the shortfall moves to variables
    where the bound loses nothing.
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


def _weights(program: BlockProgram, v: _Vector, dearest: _Vector) -> _Vector:
    """Share of the gap that each constraint carries, with mean 1, shape (2, e): proportional to the share of the
    constraint's variables in the cost.

    With equal shares, which are the usual choice, constraints between variables of 1e-12 would need prices of 1e8
    during the solution. Half of each share follows the variables as they move, and half stays constant, so that no
    share vanishes.
    """
    mass = v * dearest[program.rows]
    share = np.maximum(np.maximum(mass[program.first], mass[program.second]), _LEAST * mass.max())
    return np.tile(share / share.mean(), (2, 1))
