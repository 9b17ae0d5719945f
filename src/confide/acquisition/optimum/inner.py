"""The best weights at a fixed r = 1/S, exactly, in one pass over the users who can have weight. S = sum w^2/y is the
spread of the noise under weights w and local losses y.

The problem is V(r) = min over weights of g sum w^2 + r Q(w), where g is the price of variance and Q the quadratic form
of `problem`. Users are sorted by virtual cost psi. Let a_i = g + r (1 - psi_i). The users with a_i > 0 come first.
Restricted to the users with a_i > 0 the problem is convex, and its optimum has a threshold theta on b = sqrt(psi): w_i
is proportional to max(theta - b_i, 0)/a_i. At most the first of the users with a_i <= 0 has weight, and only if all
users with a_i > 0 have weight. The optimum with and without a user with a_i <= 0 has the same formula in terms of the
last user k with weight,

    u_k = (1/r - T_k)/(b_k + a_k A_k),    u_i = (a_k u_k + b_k - b_i)/a_i,
    T_k = sum b_i (b_k - b_i)/a_i, A_k = sum b_i/a_i (over i < k).

The weights are proportional to u, and nothing cancels where a_k is near 0. The code multiplies all numbers u by b_k, so
that nothing overflows at tiny virtual costs psi. Long sums are compensated for rounding errors.

Every computed value comes with a lower bound of V(r) from the gradient, less an allowance for the rounding of single
operations. For a convex quadratic form f on the simplex and the computed weights w, every point v has f(v) >= min_i
(gradient of f at w)_i - f(w).

Source: spec two_part_acquisition sections 5 (facts 2 and 4) and 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel

__all__ = ["Inner", "Reach", "compiled", "farthest", "inner", "pairs", "reach", "weights_of"]

_Compiled = TypeVar("_Compiled", bound=Callable[..., Any])
Floats = NDArray[np.float64]

ALLOWANCE = 64 * 2.0**-53
"""Relative allowance for the rounding of a user's own terms. Sums are compensated and need no allowance."""


def compiled(function: _Compiled) -> _Compiled:
    """Compile a function to machine code, which is kept on disk between runs."""
    return kernel(function, nogil=False, error_model="numpy")


class Reach(NamedTuple):
    """The users with weight in the convex part of the problem: their number, and sums over them.

    Args:
        active: number of users with weight; 0 if nobody has a > 0.
        before: sum A of b/a over the users before the last user with weight.
        whole: sum of b/a over all users with weight, which is the sum A of the next user.
        gap: sum T of b_i (b - b_i)/a_i over the users before the last user with weight.
        negative: whether the user after the last user with weight has a <= 0.
    """

    active: int
    before: float
    whole: float
    gap: float
    negative: bool


class Inner(NamedTuple):
    """The best weights at one value of r = 1/S, in a compact form.

    Args:
        value: value V(r), recomputed from the weights.
        lower: a lower bound of V(r).
        squares: sum of squared weights w^2.
        quadratic: quadratic form Q(w) of the weights, which is the slope of V at r.
        active: number of users who have weight. Users with weight are the first users in the order of virtual costs.
        lead: threshold theta less the anchor.
        anchor: a value of b from which all other users' b are subtracted.
        own: u of the last user with weight, times that user's b.
        total: sum of u, times b of the last user with weight.
    """

    value: float
    lower: float
    squares: float
    quadratic: float
    active: int
    lead: float
    anchor: float
    own: float
    total: float


@compiled
def _add(total: float, error: float, term: float) -> tuple[float, float]:
    """Compensated addition of a term: the new sum and its accumulated rounding error."""
    found = total + term
    taken = found - total
    return found, error + ((total - (found - taken)) + (term - taken))


@compiled
def pairs(shares: Floats) -> float:
    """The sum of s_i s_j over all i < j, for shares >= 0."""
    cross, cross_error, moment, moment_error = 0.0, 0.0, 0.0, 0.0
    for share in shares:
        cross, cross_error = _add(cross, cross_error, share * (moment + moment_error))
        moment, moment_error = _add(moment, moment_error, share)
    return cross + cross_error


@compiled
def reach(psi: Floats, b: Floats, g: float, r: float) -> Reach:
    """The users with weight in the convex part of the problem, which has the users with a > 0.

    Args:
        psi: (n,) virtual costs, sorted and finite.
        b: (n,) square roots of psi.
        g: price of variance, >= 0.
        r: inverse 1/S of the noise spread, > 0.
    """
    slope, slope_error, gap, gap_error, before = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(psi.size):
        a = g + r * (1.0 - psi[i])
        if not a > 0.0:
            return Reach(i, before, slope + slope_error, gap + gap_error, True)
        if i > 0:
            further, further_error = _add(gap, gap_error, (b[i] - b[i - 1]) * (slope + slope_error))
            if r * (further + further_error) >= 1.0:
                return Reach(i, before, slope + slope_error, gap + gap_error, False)
            gap, gap_error = further, further_error
        before = slope + slope_error
        slope, slope_error = _add(slope, slope_error, b[i] / a)
    return Reach(psi.size, before, slope + slope_error, gap + gap_error, False)


@compiled
def farthest(psi: Floats, b: Floats, g: float, r: float) -> int:
    """Number of first users with a > 0 who can have weight after any single user leaves."""
    slope, gap, most = 0.0, 0.0, 0.0
    for i in range(psi.size):
        a = g + r * (1.0 - psi[i])
        if not a > 0.0:
            return i
        if i > 0:
            gap += (b[i] - b[i - 1]) * slope
            if r * (gap - b[i] * most) >= 1.0:
                return i
        slope += b[i] / a
        most = max(most, b[i] / a)
    return int(psi.size)


@compiled
def _candidate(psi: Floats, b: Floats, g: float, r: float, last: int, slope: float, gap: float) -> Inner:
    """The stationary point with weight on the users 0..last; its value is infinite if there is no stationary point."""
    a, top = g + r * (1.0 - psi[last]), b[last]
    rest = b[last - 1] if last > 0 else 0.0
    if top == 0.0:  # everybody with weight has psi = 0
        scale, own, anchor, lead = 1.0, 1.0 / a, 0.0, 1.0
    elif a >= -(g + r):
        scale, anchor = top, top
        own = (1.0 / r - gap) / (1.0 + a * slope / top)
        lead = a * own / top
    else:  # b_k is so large that a_k u_k + b_k would cancel
        scale, anchor = top, rest
        own = (1.0 / r - gap) / (1.0 + a * slope / top)
        second = 0.0
        for i in range(last):
            second += psi[i] / (g + r * (1.0 - psi[i]))
        lead = ((g + r) / r + a * second) / (top + a * slope) - rest
    if not (own >= 0.0 and (last == 0 or lead + (anchor - rest) >= 0.0)):
        return Inner(np.inf, np.inf, 0.0, 0.0, 0, 0.0, 0.0, 0.0, 0.0)
    total, total_error, squares, squares_error = 0.0, 0.0, 0.0, 0.0
    moment, moment_error, cross, cross_error = 0.0, 0.0, 0.0, 0.0
    for i in range(last):
        u = scale * (lead + (anchor - b[i])) / (g + r * (1.0 - psi[i]))
        cross, cross_error = _add(cross, cross_error, b[i] * u * (moment + moment_error))
        moment, moment_error = _add(moment, moment_error, b[i] * u)
        total, total_error = _add(total, total_error, u)
        squares, squares_error = _add(squares, squares_error, u * u)
    others = moment + moment_error
    total = total + total_error + own
    squares = (squares + squares_error + own * own) / (total * total)
    quadratic = squares + 2.0 * (cross + cross_error + top * own * others) / (total * total)
    value = g * squares + r * quadratic
    theta = scale * (lead + anchor)
    least = theta
    if top > 0.0:
        off = abs(r * (others + top * own) / top - 1.0)
        least = theta - top * (top if a > 0.0 else rest) * off
        if not a > 0.0:
            least = min(least, (g + r) * own + r * top * others)
    lower = 2.0 * least / total - value - ALLOWANCE * value
    return Inner(value, lower, squares, quadratic, last + 1, lead, anchor, own, total)


@compiled
def inner(psi: Floats, b: Floats, g: float, r: float) -> Inner:
    """The best weights at a fixed r = 1/S, in a compact form from which `weights_of` computes them.

    Args:
        psi: (n,) virtual costs, sorted and finite. Users who cannot have weight may be left out at the end, except the
            first of them.
        b: (n,) square roots of psi.
        g: price of variance, >= 0.
        r: inverse 1/S of the noise spread, > 0.
    """
    found = reach(psi, b, g, r)
    if found.active == 0:  # at most one user has weight, and it does not matter who: the first
        return Inner(g + r, g + r, 1.0, 1.0, 1, 1.0, 0.0, 1.0, 1.0)
    last = found.active - 1
    best = _candidate(psi, b, g, r, last, found.before, found.gap)
    if found.negative:
        gap = found.gap + (b[last + 1] - b[last]) * found.whole
        other = _candidate(psi, b, g, r, last + 1, found.whole, gap)
        lower = min(best.lower, other.lower)
        if other.value < best.value:
            best = other
        return Inner(best.value, lower, best.squares, best.quadratic, best.active, best.lead, best.anchor, best.own,
                     best.total)
    return best


@compiled
def weights_of(psi: Floats, b: Floats, g: float, r: float, found: Inner) -> Floats:
    """Weights of the users who have weight, shape (k,)."""
    last = found.active - 1
    scale = b[last] if b[last] > 0.0 else 1.0
    weights = np.empty(found.active)
    for i in range(last):
        weights[i] = scale * (found.lead + (found.anchor - b[i])) / (g + r * (1.0 - psi[i])) / found.total
    weights[last] = found.own / found.total
    return weights
