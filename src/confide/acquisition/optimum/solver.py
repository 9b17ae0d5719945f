"""The cheapest weights and noise, globally, with a certificate.

`solve` sorts the users who can have weight at all, searches over r = 1/S, where S is the spread of the noise, and
computes the privacy levels that the weights imply for every user.

Source: spec two_part_acquisition section 7, in place of Algorithm 1 of Fallah, Makhdoumi, Malekian and Ozdaglar.

The search is branch and bound over r = 1/S with the exact inner solve, followed by a polishing step. All computations
use units where kappa = 1.

The search minimises the cost h(r) = 1/r + V(r), where V is concave. Between two values of r, V lies above its chord,
and the sum of 1/r and a chord has a minimum in closed form. The cell with the smallest bound is split until the value
of the best weights is within the tolerance of that bound. The weights are accurate only to about the square root of the
value's error, so the best r is then polished. The cost h(r) has no local minimum where the weights jump, so polishing
finds the root of the slope of h next to the best r.

Source: spec two_part_acquisition section 7.

`solve_grid` finds the cheapest weights and noise where S is one of a few values that do not depend on any report.

The cost on the grid is at most 1 + delta times the optimum for all parameters, because kappa S + Q/S at x times the
best S costs (x + 1/x)/2 times its least value. The values of S depend on public parameters alone and the inner solve is
exact. So the outcome is an exact minimum over a fixed set, and each user's difference of levels falls in their own
virtual cost. Payments by differences of the values therefore make truth the best report. With an approximate optimum
found in another way, truth need not be the best report.

Source: spec two_part_acquisition section 8, in place of Theorem 3 of Fallah, Makhdoumi, Malekian and Ozdaglar, which
    has an error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.optimum.inner import Floats, Inner, compiled, farthest, inner, reach, weights_of
from confide.acquisition.optimum.problem import (
    Levels,
    checked_costs,
    checked_prices,
    levels,
    spread_bounds,
)
from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput, SolverFailed
from confide.contract.renamed import renamed

__all__ = ["Minimum", "Ordered", "Solution", "grid_spreads", "interval", "minimise", "ordered", "solve", "solve_grid"]

# ---- search

NODES = 9
MOST = 400
"""Largest number of values of r in one search. Difficult problems need about 50 values of r."""
STEPS = 50
LAST_DIGITS = 1e-15


class Minimum(NamedTuple):
    """The minimum of h(r) = 1/r + V(r) over an interval.

    Args:
        weights: weights of the first users, in their order.
        value: cost G of the weights.
        quadratic: quadratic form Q of the weights; the best S is the square root of Q.
        lower: lower bound on the cost of any weights.
        evaluations: number of inner solves.
    """

    weights: Floats
    value: float
    quadratic: float
    lower: float
    evaluations: int


@compiled
def _chord(left: float, right: float, low: float, high: float) -> tuple[float, float]:
    """The least value of 1/r plus a chord of V between two values of r, and the r where it is attained."""
    slope = (high - low) / (right - left)
    r = right
    if slope > 0.0:
        r = min(max(1.0 / np.sqrt(slope), left), right)
    return (1.0 / r + low + slope * (r - left)) * (1.0 - LAST_DIGITS), r


@compiled
def _polish(psi: Floats, b: Floats, g: float, nodes: Floats, slopes: Floats, at: int) -> tuple[float, Inner, int]:
    """The value of r next to the best value at which r^2 Q - 1, the scaled slope of the cost, is 0. The other results
    are the weights at this r, and the number of inner solves.
    """
    other = min(at + 1, nodes.size - 1) if slopes[at] < 0.0 else max(at - 1, 0)
    last, last_slope, r, slope = nodes[other], slopes[other], nodes[at], slopes[at]
    crossed = slope * last_slope < 0.0
    start = found = inner(psi, b, g, r)
    looked = 1
    while slope != 0.0 and looked < STEPS:
        before = r
        # False position (Illinois); without a crossing S and weights in turn, which is never worse.
        r = (last * slope - r * last_slope) / (slope - last_slope) if crossed else 1.0 / np.sqrt(found.quadratic)
        if abs(r - before) <= LAST_DIGITS * r:
            break
        found = inner(psi, b, g, r)
        looked += 1
        new = r * r * found.quadratic - 1.0
        if new * slope < 0.0:
            last, last_slope = before, slope
        else:
            last_slope *= 0.5
        slope = new
    old, new = start.quadratic, found.quadratic
    if g * found.squares + 2.0 * np.sqrt(new) <= (g * start.squares + 2.0 * np.sqrt(old)) * (1.0 + LAST_DIGITS):
        return r, found, looked
    return nodes[at], start, looked


@compiled
def minimise(psi: Floats, b: Floats, g: float, low: float, high: float, tolerance: float) -> Minimum:
    """The best weights over all values of r = 1/S in an interval.

    Args:
        psi: (n,) virtual costs, sorted and finite.
        b: (n,) square roots of psi.
        g: the price of variance.
        low: smallest value of r.
        high: largest value of r.
        tolerance: relative gap to reach.
    """
    nodes, lower, slopes = np.empty(MOST), np.empty(MOST), np.empty(MOST)
    bounds, splits = np.empty(MOST), np.empty(MOST)
    best, at, count = np.inf, 0, 0
    cell, r = 0, low
    while True:
        # A new value of r, at place `cell` + 1 among the others.
        place = cell + 1 if count >= NODES else count
        if count < NODES:
            r = low * (high / low) ** (count / (NODES - 1.0))
        for k in range(count, place, -1):
            nodes[k], lower[k], slopes[k] = nodes[k - 1], lower[k - 1], slopes[k - 1]
            bounds[k], splits[k] = bounds[k - 1], splits[k - 1]
        found = inner(psi, b, g, r)
        nodes[place], lower[place], slopes[place] = r, found.lower, r * r * found.quadratic - 1.0
        value = g * found.squares + 2.0 * np.sqrt(found.quadratic)
        at += at >= place and count > 0
        if value < best:
            best, at = value, place
        count += 1
        for k in (place - 1, place):
            if 0 <= k < count - 1:
                bounds[k], splits[k] = _chord(nodes[k], nodes[k + 1], lower[k], lower[k + 1])
        if count < NODES:
            continue
        cell = 0
        for k in range(1, count - 1):
            if bounds[k] < bounds[cell]:
                cell = k
        left, right = nodes[cell], nodes[cell + 1]
        if best - bounds[cell] <= tolerance * best or count == MOST or not left < 0.5 * (left + right) < right:
            break
        r, margin = splits[cell], 0.1 * (right - left)
        if not left + margin < r < right - margin:
            r = 0.5 * (left + right)
    r, found, looked = _polish(psi, b, g, nodes[:count], slopes[:count], at)
    value = g * found.squares + 2.0 * np.sqrt(found.quadratic)
    return Minimum(weights_of(psi, b, g, r, found), value, found.quadratic, min(bounds[cell], value), count + looked)


# ---- solver

LEAST_TOLERANCE = 3e-14
"""Smallest tolerance. Below the smallest tolerance, the bounds' allowance for rounding would prevent convergence."""
ROOM = 4e-15
"""Amount by which the search tolerance is below the requested tolerance, to allow for the rounding of values."""
SIDE = 1e-9
"""Relative width added to both ends of the search interval for r, so that an optimum at an end lies inside."""
FIRST = 4096
"""Number of cheapest users that are considered first."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The optimum for one profile of virtual costs. All arrays of the solution are in the order of the users.

    Args:
        value: cost V of the weights.
        weights: (n,) weights w >= 0 that sum to 1.
        levels: spread S of the noise, and the local and central levels of all users.
        lower_bound: lower bound on the cost of any weights.
        evaluations: number of inner solves.

    Attributes:
        gap: relative gap (value - lower_bound)/value.
        spread: spread S of the noise.
        epsilon_local: (n,) local levels y; inf (no noise) where psi = 0 and another user with weight has psi > 0.
        epsilon_central: (n,) central levels w^2/S.
        difference: (n,) epsilon_local - epsilon_central >= 0, the derivative of V with respect to the user's own psi.
        winners: positions of the users with weight, ascending.
    """

    value: float
    weights: Floats
    levels: Levels
    lower_bound: float
    evaluations: int

    @property
    def gap(self) -> float:
        return (self.value - self.lower_bound) / self.value

    @property
    def spread(self) -> float:
        return self.levels.spread

    @property
    def epsilon_local(self) -> Floats:
        return self.levels.local

    @property
    def epsilon_central(self) -> Floats:
        return self.levels.central

    @property
    def difference(self) -> Floats:
        return self.levels.difference

    @cached_property
    def winners(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.weights > 0)


def solve(
    virtual_costs: ArrayLike, *, variance_price: float, noise_price: float, tolerance: float = 1e-13
) -> Solution:
    """The globally cheapest weights and local levels, with a lower bound that proves optimality.

    Ties are broken by (virtual cost, position) alone. A problem with n = 10^6 takes well below a second.

    Args:
        virtual_costs: (n,) virtual costs psi in [0, inf]; inf is an absentee, who has no weight.
        variance_price: price of the records' variance, g = gamma VAR >= 0.
        noise_price: price of the noise, kappa = gamma alpha/2 > 0.
        tolerance: the relative gap to reach, in [3e-14, 1).

    Raises:
        InvalidInput: no users, a NaN or negative virtual cost, no finite virtual cost, or prices out of range.
        SolverFailed: the gap was not reached. Only rounding errors can cause this failure.

    Source: spec two_part_acquisition sections 5 to 7.

    Example:
        >>> found = solve([0.1, 1.0, 1.9], variance_price=0.1, noise_price=1.0)
        >>> round(found.value, 12), found.weights.round(12).tolist(), found.gap < 1e-13
        (1.672484370351, [0.5, 0.5, 0.0], True)
    """
    costs = checked_costs(virtual_costs)
    g, kappa = checked_prices(variance_price, noise_price)
    positive("tolerance", tolerance, at_most=1.0)
    if tolerance < LEAST_TOLERANCE:
        raise InvalidInput("tolerance", f"{tolerance!r} is too small", f"must be at least {LEAST_TOLERANCE:g}")
    unit = math.sqrt(kappa)
    users = ordered(costs, g / unit)
    found = minimise(users.psi, users.b, g / unit, users.low, users.high, tolerance - ROOM)
    gap = 1.0 - found.lower / found.value
    if not gap <= tolerance:
        raise SolverFailed("solve", f"the gap {gap:.3g} is above the tolerance {tolerance:g}")
    everybody = np.zeros(costs.size)
    everybody[users.position[: found.weights.size]] = found.weights
    del users
    meaning = levels(everybody, costs, math.sqrt(found.quadratic) / unit)
    return Solution(found.value * unit, everybody, meaning, found.lower * unit, found.evaluations)


@dataclass(frozen=True, eq=False)
class Ordered:
    """The users who can have weight at any r = 1/S in an interval, in the order of (virtual cost, position).

    Args:
        position: (k,) position of each user among all users.
        psi: (k,) virtual costs, ascending.
        b: (k,) square roots of psi.
        low: smallest value of r.
        high: largest value of r.
    """

    position: NDArray[np.int64]
    psi: Floats
    b: Floats
    low: float
    high: float


def interval(people: int, g: float) -> tuple[float, float]:
    """Two values of r that enclose the optimum, in units where kappa = 1."""
    least, most = spread_bounds(people, variance_price=g, noise_price=1.0)
    return (1.0 - SIDE) / most, (1.0 + SIDE) / least


def ordered(costs: Floats, g: float, *, low: float = math.inf, leaving: bool = False) -> Ordered:
    """Sort the users who can have weight. Users who cannot have weight are left out and not sorted.

    Let a = g + r (1 - psi) for a user with virtual cost psi. As r grows, fewer users with a > 0 have weight. Only the
    first of the users with a <= 0 can have weight. Therefore a user two or more places after the last user with weight
    at the smallest r never has weight.

    Args:
        costs: (n,) virtual costs psi, inf for absentees.
        g: the price of variance where kappa = 1.
        low: smallest value of r to consider, below the interval of the optimum.
        leaving: whether to keep also the users who can have weight if any one user leaves.
    """
    finite = int(np.count_nonzero(np.isfinite(costs)))
    least, high = interval(finite, g)
    low = min(low, least)
    size = FIRST
    while True:
        if size < finite:
            chosen = np.flatnonzero(costs <= np.partition(costs, size - 1)[size - 1])
        else:
            chosen = np.flatnonzero(np.isfinite(costs))
        chosen = chosen[np.argsort(costs[chosen], kind="stable")]
        psi = costs[chosen]
        b = np.sqrt(psi)
        active = farthest(psi, b, g, low) if leaving else reach(psi, b, g, low).active
        if active < psi.size or psi.size == finite:
            first = slice(active + 3)
            return Ordered(chosen[first], psi[first], b[first], low, high)
        size *= 8


# ---- grid


def grid_spreads(
    people: int, approximation: float, *, variance_price: float, noise_price: float
) -> NDArray[np.float64]:
    """The allowed values of the spread S of the noise, ascending.

    Args:
        people: number of registered users, absentees included.
        approximation: relative excess cost that the grid may cause, in (0, 1].
        variance_price: price g >= 0 of the records' variance.
        noise_price: price kappa > 0 of the noise.

    Example:
        >>> grid_spreads(10**6, 0.01, variance_price=8.33, noise_price=1.0).size
        31
    """
    n = whole("people", people, at_least=1)
    step = 2.0 * math.acosh(1.0 + positive("approximation", approximation, at_most=1.0))
    g, kappa = checked_prices(variance_price, noise_price)
    least, most = spread_bounds(n, variance_price=g, noise_price=kappa)
    count = max(1, math.ceil(math.log(most / least) / step))
    return np.asarray(least * np.exp(step * (np.arange(count) + 0.5)))


@renamed(delta="approximation")
def solve_grid(
    virtual_costs: ArrayLike, approximation: float = 0.01, *, variance_price: float, noise_price: float
) -> Solution:
    """The cheapest weights and privacy levels, with the spread S of the noise in `grid_spreads`.

    Args:
        virtual_costs: (n,) virtual costs psi in [0, inf]; inf is an absentee, who still counts for the grid of S.
        approximation: relative excess cost that the grid may cause, in (0, 1].
        variance_price: price g >= 0 of the records' variance.
        noise_price: price kappa > 0 of the noise.

    Raises:
        InvalidInput: an input that `solve` rejects, or an approximation out of range.

    Example:
        >>> found = solve_grid([0.1, 1.0, 1.9], variance_price=0.1, noise_price=1.0)
        >>> 1.0 <= found.value / 1.6724843703511214 <= 1.01
        True
    """
    costs = checked_costs(virtual_costs)
    g, kappa = checked_prices(variance_price, noise_price)
    unit = math.sqrt(kappa)
    spreads = grid_spreads(costs.size, approximation, variance_price=g, noise_price=kappa)
    nodes = (1.0 / (unit * spreads)).tolist()
    users = ordered(costs, g / unit, low=nodes[-1])
    found = [inner(users.psi, users.b, g / unit, r) for r in nodes]
    values = [1.0 / r + each.value for r, each in zip(nodes, found, strict=True)]
    k = int(np.argmin(values))
    weights = weights_of(users.psi, users.b, g / unit, nodes[k], found[k])
    everybody = np.zeros(costs.size)
    everybody[users.position[: weights.size]] = weights
    value = values[k] * unit
    return Solution(value, everybody, levels(everybody, costs, float(spreads[k])),
                    value / (1.0 + approximation) * (1.0 - 1e-14), len(nodes))
