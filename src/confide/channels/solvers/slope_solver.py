"""The least information at a slope: a convex problem over output weights, solved to a certified gap.

minimise f(q) = -sum_x p(x) ln Z(x) + sum q over q >= 0, Z = (r^d) q. At the optimum c = (r^d)(p/Z) is 1 where q > 0 and
at most 1 elsewhere. Blahut's iteration q <- q c takes hundreds of thousands of steps where the support changes. Here,
an interior-point method keeps q (1 - c) near a falling number; scaled by the root of q, its Newton matrix has the
squared correlations of the channel as eigenvalues, so that conjugate gradients take tens of products for each of about
ten steps; what was reached is certified by the gap, not by small steps.

Source: spec privacy_notions 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from confide.channels.priors import Exchangeable, Prior
from confide.channels.solvers.class_product import ClassProduct
from confide.channels.solvers.hamming_product import HammingProduct
from confide.contract.checks import positive
from confide.contract.errors import SolverFailed, Unsupported
from confide.numerics.map_reduce import one_core_each

__all__ = ["LARGEST_SLOPE", "SlopePoint", "solve_slope"]

_Vector = NDArray[np.float64]
LARGEST_SLOPE = 2**20
"""Databases of a prior that is no mixture of classes, at most."""

_GAP = 1e-8
_STEPS, _IDLE = 120, 15
_PRODUCTS = 600  # of a Newton step
_CENTRE, _ACCURATE = 0.1, 0.03
_STAY = 0.99  # of the way to the boundary


@dataclass(frozen=True, eq=False)
class SlopePoint:
    """The optimum at one slope.

    Args:
        slope: lambda, in nats per changed row.
        weights: q of the databases; for exchangeable priors the mass of each class of outputs. Sums to 1.
        distortion: D of its channel.
        information: I(X;Y) of its channel, in nats.
        gap: information is at most this above the least at `distortion`.
        bound: a certified lower bound of eps_m*(D') is `bound - slope D'`, for every D'.
    """

    slope: float
    weights: _Vector
    distortion: float
    information: float
    gap: float
    bound: float


def solve_slope(prior: Prior, slope: float, start: _Vector | None = None) -> SlopePoint:
    """Solve at one slope.

    Args:
        prior: exchangeable, or with at most 2^20 databases.
        slope: lambda > 0.
        start: weights of a slope nearby.

    Raises:
        InvalidInput: the slope.
        Unsupported: too large.
        SolverFailed: the certified gap stays above 1e-8, relative to the information where that is above 1.

    Example:
        >>> point = solve_slope(Exchangeable.mixture([0.5, 0.5], [[0.3, 0.7], [0.7, 0.3]], 10), 0.6)
        >>> round(point.information, 6), round(point.distortion, 6)
        (0.379577, 3.128169)
    """
    slope = positive("slope", slope, at_most=500.0)
    kernel: ClassProduct | HammingProduct
    if isinstance(prior, Exchangeable):
        kernel = ClassProduct(prior.letters, prior.records, slope)
        law, shift = np.exp(prior.log_types), float(np.exp(prior.log_types) @ kernel.log_scale)
    else:
        if prior.cells > LARGEST_SLOPE:
            raise Unsupported("prior", f"{prior.cells:,} databases",
                              f"at most {LARGEST_SLOPE:,}; or an exchangeable law")
        kernel, law, shift = HammingProduct(prior.letters, prior.records, slope), prior.vector(), 0.0
    with one_core_each("blas"):  # products are short: threads would wait for each other
        return _Solver(kernel, law / law.sum(), slope, shift).solve(start)


class _Solver:
    def __init__(self, kernel: ClassProduct | HammingProduct, law: _Vector, slope: float, shift: float) -> None:
        self.kernel, self.law, self.slope, self.shift = kernel, law, slope, shift

    def solve(self, start: _Vector | None) -> SlopePoint:
        begin, spread = (self.law, 0.5) if start is None else (start, 0.01)
        q = (1.0 - spread) * begin + spread / len(begin)
        q = q * (1.1 * float(self._excess(q)[1].max()))  # then c < 1 everywhere
        s = 1.0 - self._excess(q)[1]
        best, since = self._point(q, *self._excess(q)), 0
        for _ in range(_STEPS):
            z, c = self._excess(q)
            point = self._point(q, z, c)
            since += 1
            if point.gap < 0.9 * best.gap:
                best, since = point, 0
            if best.gap <= _GAP or since > _IDLE:
                break
            dq, ds = self._direction(q, s, z, c)
            q, s = q + _reach(q, dq) * dq, s + _reach(s, ds) * ds
        if best.gap > _GAP * max(1.0, best.information):
            raise SolverFailed("mutual information", f"the gap stays at {best.gap:.2g} at slope {self.slope:g}")
        return best

    def _excess(self, q: _Vector) -> tuple[_Vector, _Vector]:
        """Z and c."""
        z = np.maximum(self.kernel.forward(q), 1e-290)
        return z, self.kernel.backward(self.law / z)

    def _point(self, q: _Vector, z: _Vector, c: _Vector) -> SlopePoint:
        """What the normalised weights give."""
        total = float(q.sum())
        q, z, c = q / total, z / total, c * total
        distortion = self.kernel.changed(self.law / z, q)
        inside = self.law > 0
        bound = -float(self.law[inside] @ np.log(z[inside])) - self.shift
        outputs = q * c
        used = outputs > 0
        given = float(outputs[used] @ np.log(c[used]))
        top = math.log(float(c.max()))
        return SlopePoint(self.slope, q, distortion, max(0.0, bound - self.slope * distortion - given), top - given,
                          bound - top)

    def _direction(self, q: _Vector, s: _Vector, z: _Vector, c: _Vector) -> tuple[_Vector, _Vector]:
        """Newton's (dq, ds) towards q s = a tenth of its mean, in dq over the root of q: by conjugate gradients, for
        classes directly.
        """
        kernel, root, curve = self.kernel, np.sqrt(q), self.law / z**2
        aim = _CENTRE * float(q @ s) / len(q)
        right = root * (c - 1.0) + aim / root
        if isinstance(kernel, ClassProduct):
            t = np.asarray(cho_solve(cho_factor(kernel.gram(root, curve) + np.diag(s)), right))
            return root * t, aim / q - s - s / q * root * t
        diagonal = q * kernel.squared(curve) + s
        t, rest = np.zeros_like(q), right
        scaled = rest / diagonal
        way, size = scaled, float(rest @ scaled)
        enough = _ACCURATE**2 * size
        for _ in range(_PRODUCTS):
            if size <= enough:
                break
            product = root * kernel.backward(curve * kernel.forward(root * way)) + s * way
            length = size / float(way @ product)
            t = t + length * way
            rest = rest - length * product
            scaled = rest / diagonal
            size, before = float(rest @ scaled), size
            way = scaled + (size / before) * way
        dq = root * t
        return dq, aim / q - s - s / q * dq


def _reach(values: _Vector, moves: _Vector) -> float:
    """How far one may go along the moves and stay positive, at most 1."""
    falling = moves < 0
    return min(1.0, _STAY * float((values[falling] / -moves[falling]).min())) if falling.any() else 1.0
