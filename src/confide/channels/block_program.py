"""Linear programs whose variables fall into blocks, one for each output, coupled by few equalities: an interior-point
method that factors block by block.

    minimise sum_b c_b . v_b   such that  G_b v_b <= 0 for each block b,   sum_b E_b v_b = right

Every G_b holds ratio constraints v[i] <= F_e v[j], two entries a row, which force v >= 0. The Newton matrix of a block is
then small and positive definite; eliminating the blocks leaves one system of as many unknowns as there are equalities.
General solvers do not see this and take a hundred times as long.

What is returned is only as good as rounding makes it: callers certify it (`certificates`), always.

Source: Mehrotra's predictor-corrector method (Nocedal and Wright, Numerical Optimization, chapter 14).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

from confide.contract.errors import SolverFailed

__all__ = ["Block", "Solution", "solve"]

_Vector = NDArray[np.float64]
_STEPS = 120
_SHORT = 0.9  # of the way to the boundary, at least


@dataclass(frozen=True, eq=False)
class Block:
    """The variables of one output.

    Args:
        cost: (k,) c.
        left: (e,) i of the constraints v[i] <= factor v[j].
        right: (e,) j.
        factor: (e,) F_e > 0.
        rows: (k,) the equality that each variable is in.
        weights: (k,) its coefficient there, > 0.
    """

    cost: _Vector
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    factor: _Vector
    rows: NDArray[np.int64]
    weights: _Vector


@dataclass(frozen=True, eq=False)
class Solution:
    """What the method reached.

    Args:
        blocks: the variables.
        prices: duals of the ratio constraints, >= 0, block by block: any such numbers give a certified lower bound.
        value: of the objective.
        steps: Newton steps.
        converged: whether residuals and gap are within the tolerance.
    """

    blocks: tuple[_Vector, ...]
    prices: tuple[_Vector, ...]
    value: float
    steps: int
    converged: bool


def solve(blocks: Sequence[Block], target: _Vector, start: Sequence[_Vector], tolerance: float = 1e-10) -> Solution:
    """Solve such a program.

    Args:
        blocks: see `Block`.
        target: (r,) the right sides of the equalities, > 0.
        start: strictly inside all ratio constraints, as (k,) for each block; need not keep the equalities.
        tolerance: of the duality gap and the residuals, relative.

    Raises:
        SolverFailed: a Newton system that cannot be factored.
    """
    v = [np.array(each, dtype=np.float64) for each in start]
    scales = [1.0 / np.maximum(1.0, each.factor) for each in blocks]  # rows of G scaled to entries of at most 1
    s = [_slack(block, scale, each) for block, scale, each in zip(blocks, scales, v, strict=True)]
    count = sum(len(each) for each in s)
    cost = max(1.0, max(float(np.abs(block.cost).max()) for block in blocks))
    z = [np.full(len(each), cost) * (float(np.mean(np.concatenate(s))) / np.maximum(each, 1e-300)) ** 0.5 for each in s]
    nu = np.zeros(len(target))
    value, steps, converged = 0.0, 0, False
    for steps in range(1, _STEPS + 1):
        residual = target - _collected(blocks, v, len(target))
        dual = [block.cost + _transposed(block, scale, price) + block.weights * nu[block.rows]
                for block, scale, price in zip(blocks, scales, z, strict=True)]
        gap = sum(float(a @ b) for a, b in zip(s, z, strict=True))
        value = sum(float(block.cost @ each) for block, each in zip(blocks, v, strict=True))
        infeasible = float(np.abs(residual).max()) / max(1e-300, float(np.abs(target).max()))
        undual = max(float(np.abs(each).max()) for each in dual) / cost
        if gap <= tolerance * max(1.0, abs(value)) and infeasible <= tolerance and undual <= 10 * tolerance:
            converged = True
            break
        mu = gap / count
        factors = _factored(blocks, scales, s, z, len(target))
        affine = _direction(blocks, scales, factors, s, z, dual, residual, [a * b for a, b in zip(s, z, strict=True)])
        far = min(_to_boundary(s, affine[1]), _to_boundary(z, affine[2]))
        after = sum(float((a + far * da) @ (b + far * db)) for a, da, b, db in
                    zip(s, affine[1], z, affine[2], strict=True)) / count
        centre = mu * min(1.0, (max(after, 0.0) / mu)) ** 3
        aim = [a * b + da * db - centre for a, b, da, db in zip(s, z, affine[1], affine[2], strict=True)]
        dv, ds, dz, dnu = _direction(blocks, scales, factors, s, z, dual, residual, aim)
        near = max(_SHORT, 1.0 - 10.0 * mu)
        primal, other = min(1.0, near * _to_boundary(s, ds)), min(1.0, near * _to_boundary(z, dz))
        if max(primal, other) < 1e-10:
            break
        v = [each + primal * d for each, d in zip(v, dv, strict=True)]
        s = [_slack(block, scale, each) for block, scale, each in zip(blocks, scales, v, strict=True)]
        if min(float(each.min()) for each in s) <= 0:
            s = [np.maximum(each, 1e-300) for each in s]
        z = [each + other * d for each, d in zip(z, dz, strict=True)]
        nu = nu + other * dnu
    return Solution(blocks=tuple(v), prices=tuple(price * scale for price, scale in zip(z, scales, strict=True)),
                    value=value, steps=steps, converged=converged)


def _slack(block: Block, scale: _Vector, v: _Vector) -> _Vector:
    return scale * (block.factor * v[block.right] - v[block.left])


def _transposed(block: Block, scale: _Vector, price: _Vector) -> _Vector:
    """G' z, G v = scale (v[left] - F v[right])."""
    scaled = price * scale
    k = len(block.cost)
    return np.bincount(block.left, scaled, k) - np.bincount(block.right, scaled * block.factor, k)


def _collected(blocks: Sequence[Block], v: Sequence[_Vector], count: int) -> _Vector:
    total = np.zeros(count)
    for block, each in zip(blocks, v, strict=True):
        total += np.bincount(block.rows, block.weights * each, count)
    return total


_Factors = tuple[list[_Vector], _Vector]


def _factored(
    blocks: Sequence[Block], scales: Sequence[_Vector], s: Sequence[_Vector], z: Sequence[_Vector], count: int
) -> _Factors:
    """The inverse of each block's matrix G' D G, and the sum of E inverse E'."""
    inverses, coupling = [], np.zeros((count, count))
    for block, scale, slack, price in zip(blocks, scales, s, z, strict=True):
        k = len(block.cost)
        d = price / slack * scale**2
        flat = (np.bincount(block.left * (k + 1), d, k * k) + np.bincount(block.right * (k + 1), d * block.factor**2, k * k)
                - np.bincount(block.left * k + block.right, d * block.factor, k * k)
                - np.bincount(block.right * k + block.left, d * block.factor, k * k))
        inverse = _inverse(flat.reshape(k, k))
        inverses.append(inverse)
        weighted = inverse * (block.weights[:, None] * block.weights)
        if k == count and (block.rows == np.arange(k)).all():
            coupling += weighted
        else:
            np.add.at(coupling, (block.rows[:, None], block.rows), weighted)
    return inverses, coupling


def _inverse(matrix: _Vector) -> _Vector:
    """Of a positive definite matrix; scaled to unit diagonal first, as weights differ by many orders."""
    scale = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
    scaled = matrix * scale[:, None] * scale
    for bump in (0.0, 1e-14, 1e-12, 1e-10):
        shifted = scaled if bump == 0.0 else scaled + bump * np.eye(len(scaled))
        factor, failed = dpotrf(shifted, lower=1)
        if not failed:
            inverse, failed = dpotri(factor, lower=1)
            if not failed:
                whole = np.tril(inverse) + np.tril(inverse, -1).T
                return np.asarray(whole * scale[:, None] * scale)
    raise SolverFailed("block program", "a Newton system could not be factored")


def _direction(
    blocks: Sequence[Block], scales: Sequence[_Vector], factors: _Factors, s: Sequence[_Vector], z: Sequence[_Vector],
    dual: Sequence[_Vector], residual: _Vector, aim: Sequence[_Vector],
) -> tuple[list[_Vector], list[_Vector], list[_Vector], _Vector]:
    """One Newton direction (dv, ds, dz, dnu) towards complementarity products s z - aim."""
    inverses, coupling = factors
    right = []
    total = np.zeros(len(residual))
    for block, scale, inverse, slack, price, off, goal in zip(blocks, scales, inverses, s, z, dual, aim, strict=True):
        # H dv = -dual + G'(goal/s) - E' dnu
        each = inverse @ (-off + _transposed(block, scale, goal / slack))
        right.append(each)
        total += np.bincount(block.rows, block.weights * each, len(residual))
    dnu = np.linalg.solve(coupling, total - residual)
    dv, ds, dz = [], [], []
    for block, scale, inverse, each, slack, price, goal in zip(blocks, scales, inverses, right, s, z, aim, strict=True):
        move = each - inverse @ (block.weights * dnu[block.rows])
        opened = _slack(block, scale, move)
        dv.append(move)
        ds.append(opened)
        dz.append(-(goal + price * opened) / slack)
    return dv, ds, dz, dnu


def _to_boundary(values: Sequence[_Vector], moves: Sequence[_Vector]) -> float:
    """How far one may go along the moves before a value is 0."""
    far = np.inf
    for value, move in zip(values, moves, strict=True):
        falling = move < 0
        if falling.any():
            far = min(far, float((value[falling] / -move[falling]).min()))
    return min(far, 1e3)
