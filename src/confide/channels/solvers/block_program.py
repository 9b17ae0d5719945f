"""An interior-point method for programs over ratio constraints that factors block by block.

The Newton matrix of a block is small and positive definite; eliminating the blocks leaves one system with as many
unknowns as there are rows. General solvers do not see this: at 64 databases HiGHS takes ten times as long.

What is returned is only as good as rounding makes it: callers repair and certify it (`certificates`), always.

Source: Mehrotra's predictor and corrector with Gondzio's centrality correctors (Nocedal and Wright, Numerical
Optimization, chapter 14; Gondzio 1996).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.channels.solvers.block_newton import Newton
from confide.channels.solvers.ratio_program import BlockProgram
from confide.contract.errors import SolverFailed
from confide.numerics.map_reduce import one_core_each

__all__ = ["Midway", "Solution", "solve"]

_Vector = NDArray[np.float64]
Midway = tuple[_Vector, _Vector, _Vector]
_MIDWAY = 1e-3  # of the objective: its gap there
_SHARES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)
_STEPS = 150
_LEAST = 1e-14
_PATIENCE, _SWEEPS, _IDLE = 30, 200, 3
_SERIAL = 1e7  # multiplications in one factorisation below which a second thread costs more than it saves


@dataclass(frozen=True, eq=False)
class Solution:
    """What the method reached.

    Args:
        values: (k,) the variables.
        prices: (2, e) duals of the constraints up and down, > 0: any such numbers give a certified lower bound.
        value: of the objective.
        slope: derivative of the value when all factors grow by e^t, at t = 0; at most 0.
        steps: Newton steps.
        midway: variables, prices and rows' duals on the way, from where a program next to this one is solved sooner.
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
    """Solve such a program.

    Args:
        program: see `BlockProgram`.
        start: (k,) strictly inside all ratio constraints; need not keep the equalities.
        tolerance: of the gap, with the residuals, relative to max(1, objective).
        midway: of a program next to this one.
        progress: told which share of the way is done, in digits of the gap.

    Returns:
        The last point, also where the tolerance was not reached: the certificate says how good it is.

    Raises:
        SolverFailed: the start is not inside, or a Newton system cannot be factored.
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
    """Variables midway, with as little of the start as brings them inside."""
    for share in _SHARES if midway is not None else ():
        v = (1.0 - share) * midway[0] + share * start  # type: ignore[index]
        if program.slack(v).min() > 0:
            return np.asarray(v)
    return start


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


def _weights(program: BlockProgram, v: _Vector, dearest: _Vector) -> _Vector:
    """(2, e) what share of the gap each constraint carries, of mean 1: as its variables' part in the cost.

    With equal shares, as usual, constraints between variables of 1e-12 would ask for prices of 1e8 on the way. Half of
    a share follows the variables as they move, half stays, so that none is lost.
    """
    mass = v * dearest[program.rows]
    share = np.maximum(np.maximum(mass[program.first], mass[program.second]), _LEAST * mass.max())
    return np.tile(share / share.mean(), (2, 1))
