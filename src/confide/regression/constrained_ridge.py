"""Ridge regression constrained to a ball, solved in double precision and certified in ball arithmetic.

The constraint bounds the sensitivity. Without the constraint, the bound printed in Cummings et al. 2015 is false (spec
truthful_regression 4.2). The privacy proof is about the numbers to which noise is really added, and not about the exact
minimiser that a solver approximates. `certified_ridge` therefore returns exact dyadic numbers whose distance from the
true minimiser is proved to be at most `tolerance`, for all data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, fmpz, fmpz_mat

from confide.contract.checks import positive
from confide.privacy.noise.balls import precision
from confide.regression.records import GRID_BITS, Moments

__all__ = ["certified_ridge", "constrained_ridge"]

_UNIT = 2 * GRID_BITS  # moments are integers in units of 2^-32
_GUARD = 28  # bits: a binding solution is scaled to norm R (1 - 2^-(precision - 28)), 2^-100 at first


def constrained_ridge(
    gram: np.ndarray, cross: np.ndarray, ridge: float, radius: float,
    spectrum: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, float]:
    """The minimiser of theta'(A + ridge I)theta - 2u'theta over ||theta|| <= radius, in double precision.

    Args:
        gram: (d, d) symmetric matrix A, which may be indefinite (noisy moments), because the ball makes the problem
            well posed.
        cross: (d,) vector u.
        ridge: weight of ||theta||^2, >= 0.
        radius: radius R > 0 of the ball; infinity for none.
        spectrum: eigenvalues and eigenvectors of gram, where they are known.

    Returns:
        theta (d,), and the multiplier m >= 0 of the constraint: theta = (A + (ridge + m) I)^-1 u.

    Source: spec truthful_regression 4.2.

    Example:
        >>> theta, multiplier = constrained_ridge(np.eye(2), np.array([3.0, 4.0]), 0.0, 1.0)
        >>> theta.round(12).tolist(), round(multiplier, 12)
        ([0.6, 0.8], 4.0)
    """
    values, vectors = np.linalg.eigh(gram) if spectrum is None else spectrum
    # In units of the largest pull, so that no square underflows.
    unit = float(np.max(np.abs(cross))) or 1.0
    coordinates = vectors.T @ (cross / unit)
    reach = min(radius / unit, 1e300)
    shifted = values + ridge
    if shifted[0] > 0.0:
        theta = coordinates / shifted
        if float(np.linalg.norm(theta)) <= reach:
            return vectors @ theta * unit, 0.0
    # From here on the multiplier is floor + t with t >= 0, and the curvatures are gap + t: a large floor, where the
    # matrix is indefinite, must not swallow a small t.
    floor = max(0.0, -float(shifted[0]))
    gap = shifted - shifted[0] if floor > 0.0 else np.maximum(shifted, 0.0)

    def norm(t: float) -> float:
        return float(np.linalg.norm(coordinates / (gap + t)))

    # ||theta|| decreases in t, and 1/||theta|| is nearly linear in it.
    least = 1e-150
    most = max(2.0 * least, float(np.linalg.norm(coordinates)) / reach * (1.0 + 1e-12))
    t = least
    if norm(least) > reach:
        t = most * _root(lambda share: reach / norm(most * share) - 1.0, least / most)
    theta = coordinates / (gap + t)
    missing = reach**2 - float(theta @ theta) if reach < 1e150 else 0.0
    if t == least and floor > 0.0 and missing > 0.0:
        # The pull has no part along the most negative direction: the minimiser goes to the boundary along it.
        theta[0] = math.copysign(math.sqrt(missing + theta[0] ** 2), theta[0])
    return vectors @ theta * unit, floor + t


def _root(function: Callable[[float], float], low: float) -> float:
    """The root of an increasing function on [low, 1], to the last bits, or an end of the interval where rounding hides
    the sign.
    """
    from scipy.optimize import brentq

    if function(1.0) <= 0.0:
        return 1.0
    return float(brentq(function, low, 1.0, xtol=1e-300, rtol=1e-15))


def _norm(vector: arb_mat) -> arb:
    return (vector.transpose() * vector)[0, 0].sqrt()


def _middle(vector: arb_mat) -> arb_mat:
    """The exact dyadic midpoints of a vector of balls."""
    return arb_mat([[vector[k, 0].mid()] for k in range(vector.nrows())])


def _distance(gram: arb_mat, cross: arb_mat, theta: arb_mat, ridge: arb, multiplier: arb, radius: arb) -> arb | None:
    """A proved bound on ||theta - theta*||, from the duality gap of (theta, multiplier); None when theta is not
    feasible.

    The gap is F(theta) - g(m) = r'(A + (ridge+m)I)^-1 r / 2 + m (R^2 - ||theta||^2)/2, where F is the objective, g its
    dual, m the multiplier and r the residual. F is strongly convex with modulus ridge.
    """
    room = radius * radius - (theta.transpose() * theta)[0, 0]
    if not room >= 0:
        return None
    residual = cross - gram * theta - theta * (ridge + multiplier)
    gap = multiplier * room + (residual.transpose() * residual)[0, 0] / (ridge + multiplier)
    return (gap / ridge).sqrt()


def certified_ridge(sums: Moments, ridge: float, radius: float, tolerance: float) -> list[Fraction]:
    """Ridge regression in a ball as exact dyadic numbers, within a proved distance of the exact minimiser.

    The function does not fail for any data. Where double precision does not suffice, the precision is raised until the
    certificate holds.

    Args:
        sums: exact moments.
        ridge: weight gamma > 0 of ||theta||^2 in the sum of squares, used exactly.
        radius: radius R > 0 of the ball, used exactly.
        tolerance: certified bound on the distance to the exact minimiser, > 0, a public number.

    Returns:
        d exact rationals with power-of-two denominators.

    Source: spec truthful_regression 4.4 (ii).
    """
    positive("ridge", ridge)
    positive("radius", radius)
    positive("tolerance", tolerance)
    d = sums.dimension
    scale = 2.0**-_UNIT
    gram64 = sums.gram.astype(np.float64) * scale
    cross64 = sums.cross.astype(np.float64) * scale
    values, vectors = np.linalg.eigh(gram64)
    theta64, multiplier64 = constrained_ridge(gram64, cross64, ridge, radius, (values, vectors))
    exact_gram = fmpz_mat(d, d, [fmpz(int(v)) for v in sums.gram.reshape(-1)])
    exact_cross = fmpz_mat(d, 1, [fmpz(int(v)) for v in sums.cross])

    bits = 128 + max(0, int(sums.gram.max()).bit_length() - 64 if d else 0)
    while True:
        with precision(bits):
            unit = arb(2) ** -_UNIT
            gram = arb_mat(exact_gram) * unit
            cross = arb_mat(exact_cross) * unit
            gamma, ball, goal = arb(ridge), arb(radius), arb(tolerance)
            theta = arb_mat([[arb(float(t))] for t in theta64])
            multiplier = arb(multiplier64)
            for _ in range(4 + bits // 32):
                theta = _into_ball(theta, ball, bits - _GUARD, binding=bool(multiplier > 0))
                distance = _distance(gram, cross, theta, gamma, multiplier, ball)
                if distance is not None and distance <= goal:
                    return [_fraction(theta[k, 0]) for k in range(d)]
                theta, multiplier = _refine(gram, cross, theta, gamma, multiplier, ball, values, vectors, ridge)
        bits *= 2


def _into_ball(theta: arb_mat, radius: arb, margin: int, *, binding: bool) -> arb_mat:
    """Scale theta to norm R (1 - 2^-margin): up or down if the constraint is binding, and only down otherwise."""
    norm = _norm(theta)
    if not norm > 0 or (not binding and norm <= radius):
        return _middle(theta)
    target = radius * (1 - arb(2) ** -margin)
    return _middle(theta * (target / norm))


def _refine(
    gram: arb_mat, cross: arb_mat, theta: arb_mat, gamma: arb, multiplier: arb, radius: arb,
    values: np.ndarray, vectors: np.ndarray, ridge: float,
) -> tuple[arb_mat, arb]:
    """One step of iterative refinement, with the residual in ball arithmetic and the correction from the double
    eigendecomposition.

    If the constraint is binding, the correction also moves the multiplier, so that the norm stays R to first order.
    """
    residual = cross - gram * theta - theta * (gamma + multiplier)
    shifted = values + ridge + float(multiplier)

    def solve(vector: arb_mat) -> arb_mat:
        size = _norm(vector).mid()
        if not size > 0:
            return vector
        # Scaled to order one first: a residual below 1e-308 must not vanish in double precision.
        unit = np.array([float((vector[k, 0] / size).mid()) for k in range(vector.nrows())])
        answer = vectors @ ((vectors.T @ unit) / shifted)
        return arb_mat([[arb(float(a))] for a in answer]) * size

    step = solve(residual)
    if not multiplier > 0:
        return _middle(theta + step), multiplier
    slope = solve(theta)  # d theta / d m = -(A + (gamma+m) I)^-1 theta
    moved = theta + step
    excess = (moved.transpose() * moved)[0, 0] - radius * radius
    change = (excess / (2 * (moved.transpose() * slope)[0, 0])).mid()
    if not (multiplier + change) > 0:
        return _middle(moved), arb(0)
    return _middle(moved - slope * change), (multiplier + change).mid()


def _fraction(value: arb) -> Fraction:
    """The exact rational value of a point in ball arithmetic."""
    mantissa, exponent = value.mid().man_exp()
    m, e = int(mantissa), int(exponent)
    return Fraction(m * 2**e) if e >= 0 else Fraction(m, 2**-e)
