"""The least information at a slope: a strictly convex problem over output weights, solved to a certified gap.

minimise f(q) = -sum_x p(x) ln Z(x) + sum q over q >= 0, Z = (r^d) q. At the optimum c = (r^d)(p/Z) is 1 where q > 0 and
at most 1 elsewhere. Blahut's iteration q <- q c takes hundreds of thousands of steps where the support changes; a
quasi-Newton method with bounds takes tens, and what it reached is certified by the gap, not by small steps.

Source: spec privacy_notions 7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg

from confide.contract.errors import SolverFailed

__all__ = ["SlopePoint", "solve_slope"]

_Vector = NDArray[np.float64]
_GAP = 1e-8
_NEWTON = 60


@dataclass(frozen=True, eq=False)
class SlopePoint:
    """The optimum at one slope.

    Args:
        slope: lambda, in nats per changed row.
        weights: q, sums to 1.
        distortion: D of its channel.
        information: I(X;Y) of its channel, in nats.
        gap: information is at most this above the least at `distortion`.
        bound: `information` minus nothing: a certified lower bound of eps_m*(D') is `bound - slope * D'` for every D'.
    """

    slope: float
    weights: _Vector
    distortion: float
    information: float
    gap: float
    bound: float


def solve_slope(
    slope: float,
    prior: _Vector,
    apply: Callable[[_Vector], _Vector],
    changed: Callable[[_Vector, _Vector], float],
    multiplicity: _Vector | None = None,
    start: _Vector | None = None,
) -> SlopePoint:
    """Solve at one slope.

    Args:
        slope: lambda > 0.
        prior: (k,) probabilities of the classes of inputs; with multiplicity 1, of inputs.
        apply: q -> (r^d) q at r = e^-lambda, for weights per output; self-adjoint with respect to the multiplicities.
        changed: (left, right) -> sum of left(x) r^d d right(y).
        multiplicity: (k,) how many inputs a class has; weights and priors are per input.
        start: where to begin.

    Raises:
        SolverFailed: the certified gap stays above 1e-8.
    """
    count = np.ones(len(prior)) if multiplicity is None else multiplicity
    mass = count * prior  # of classes
    inside = prior > 0

    def objective(q: _Vector) -> tuple[float, _Vector]:
        z = np.maximum(apply(q), 1e-300)
        value = -float(mass[inside] @ np.log(z[inside])) + float(count @ q)
        gradient = count * (1.0 - apply(np.where(inside, prior / z, 0.0)))
        return value, gradient

    q = np.where(inside, prior, 0.0) if start is None else start
    found = minimize(objective, q, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(q),
                     options={"maxcor": 30, "ftol": 1e-16, "gtol": 1e-10, "maxiter": 2000, "maxfun": 4000})
    q = np.maximum(found.x, 0.0)
    gap = _gap(q, prior, apply, count, inside)
    for _ in range(_NEWTON):
        if gap <= _GAP:
            break
        better = _newton(q, objective, prior, apply, count, inside)
        new = _gap(better, prior, apply, count, inside)
        if not new < gap:
            break
        q, gap = better, new
    if gap > _GAP:
        raise SolverFailed("mutual information", f"the gap stays at {gap:.2g} at slope {slope:g}")
    q = q / float(count @ q)
    z = apply(q)
    c = apply(np.where(inside, prior / np.where(z > 0, z, 1.0), 0.0))
    distortion = changed(np.where(inside, prior / np.where(z > 0, z, 1.0) * count, 0.0), q)
    outputs = q * c
    used = outputs > 0
    information = (-slope * distortion - float(mass[inside] @ np.log(z[inside]))
                   - float(np.sum(count[used] * outputs[used] * np.log(c[used]))))
    bound = -float(mass[inside] @ np.log(z[inside])) - math.log(float(c.max()))
    return SlopePoint(slope=slope, weights=q, distortion=distortion, information=max(0.0, information), gap=gap,
                      bound=bound)


def _newton(
    q: _Vector, objective: Callable[[_Vector], tuple[float, _Vector]], prior: _Vector,
    apply: Callable[[_Vector], _Vector], count: _Vector, inside: NDArray[np.bool_],
) -> _Vector:
    """One projected Newton step: the Hessian K (p/Z^2) K on the weights that are free, by conjugate gradients."""
    value, gradient = objective(q)
    z = np.maximum(apply(q), 1e-300)
    weight = np.where(inside, prior / z**2, 0.0)
    free = ~((q <= 1e-14 * q.max()) & (gradient > 0))

    def hessian(v: _Vector) -> _Vector:
        full = np.zeros_like(q)
        full[free] = v
        return np.asarray((count * apply(weight * apply(full)))[free])

    diagonal = np.maximum((count * weight)[free], 1e-300)
    operator = LinearOperator((int(free.sum()),) * 2, matvec=hessian, dtype=np.float64)
    inverse = LinearOperator((int(free.sum()),) * 2, matvec=lambda v: v / diagonal, dtype=np.float64)
    direction, _ = cg(operator, -gradient[free], rtol=1e-8, maxiter=500, M=inverse)
    step = np.zeros_like(q)
    step[free] = direction
    length = 1.0
    while length > 1e-10:
        moved = np.maximum(q + length * step, 0.0)
        moved[~free] = 0.0
        if objective(moved)[0] <= value + 1e-15 * abs(value):
            return moved
        length *= 0.5
    return q


def _gap(
    q: _Vector, prior: _Vector, apply: Callable[[_Vector], _Vector], count: _Vector, inside: NDArray[np.bool_]
) -> float:
    """ln max c - sum q c ln c: how far the information is above the least one at the same distortion, at most."""
    q = q / float(count @ q)
    z = np.maximum(apply(q), 1e-300)
    c = apply(np.where(inside, prior / z, 0.0))
    used = q * c > 0
    return math.log(float(c.max())) - float(np.sum(count[used] * q[used] * c[used] * np.log(c[used])))
