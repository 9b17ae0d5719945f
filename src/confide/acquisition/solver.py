"""The cheapest weights and noise, globally, with a certificate.

V = min over r = 1/S of h(r) = kappa/r + V(r). V(r) is a minimum of linear functions of r, so it is concave: between two
values of r it lies above its chord, and kappa/r plus a chord has a minimum in closed form. Cells of r are split, the
one of the least bound first, until the best weights found are within the tolerance of that bound; the best r is then
polished, since weights and levels converge only like the square root of the value.

Source: spec two_part_acquisition section 7; it replaces Algorithm 1 of Fallah, Makhdoumi, Malekian and Ozdaglar.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.inner import Inner, inner, reach, weights_of
from confide.acquisition.problem import (
    Levels,
    checked_costs,
    checked_prices,
    levels,
    objective,
    quadratic,
    spread_bounds,
)
from confide.contract.checks import positive
from confide.contract.errors import InvalidInput, SolverFailed

__all__ = ["Minimum", "Ordered", "Solution", "minimise", "ordered", "solution_of", "solve"]

Floats = NDArray[np.float64]

LEAST_TOLERANCE = 3e-14
"""Below it the bounds' allowance for rounding is in the way."""
NODES = 9
MOST = 2000
"""Inner solves; bad cases take some 50."""
STEPS = 50
SIDE = 1e-9
"""By how much the interval of r is widened, so that an optimum at its end is inside."""
FIRST = 4096
"""So many of the cheapest users are looked at first."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The optimum for one profile of virtual costs; all arrays are in the order of the users.

    Args:
        value: V, the cost of the weights.
        weights: (n,) w >= 0 that sum to 1.
        levels: S and everybody's local and central levels.
        lower_bound: no weights cost less.
        evaluations: inner solves.

    Attributes:
        gap: (value - lower_bound)/value.
        spread: S.
        epsilon_local: (n,) y; inf where psi = 0 beside others with psi > 0 (no noise, the limit).
        epsilon_central: (n,) w^2/S.
        difference: (n,) epsilon_local - epsilon_central >= 0: how V changes with a user's own psi.
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
    """The cheapest weights and local levels of all, with a bound that proves it.

    Ties are broken by (virtual cost, position) and nothing else. n = 10^6 takes well below a second.

    Args:
        virtual_costs: (n,) psi in [0, inf]; inf is an absentee, who gets no weight.
        variance_price: g = gamma VAR >= 0.
        noise_price: kappa = gamma alpha/2 > 0.
        tolerance: the relative gap to reach, in [3e-14, 1).

    Raises:
        InvalidInput: no users, a NaN or negative virtual cost, none finite, prices out of range.
        SolverFailed: the gap was not reached, which rounding alone can cause.

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
    found = minimise(users, g / unit, tolerance)
    if not found.gap <= tolerance:
        raise SolverFailed("solve", f"the gap {found.gap:.3g} is above the tolerance {tolerance:g}")
    return solution_of(costs, users, found.weights, g, kappa, found.lower * unit, found.evaluations)


@dataclass(frozen=True, eq=False)
class Ordered:
    """The users who can have weight at any r of an interval, in the order of (psi, position).

    Args:
        position: (k,) of each among all users.
        psi: (k,) ascending.
        b: (k,) their square roots.
        low: least r.
        high: largest r.
    """

    position: NDArray[np.int64]
    psi: Floats
    b: Floats
    low: float
    high: float


def ordered(costs: Floats, g: float, people: int = 0, low: float = math.inf) -> Ordered:
    """Sort the users who can have weight; the others are not even sorted.

    The number of users with weight falls in r, but for the one with a <= 0, who is the next: whoever comes two after
    the last one at the least r never has weight.

    Args:
        costs: (n,) psi, inf for absentees.
        g: the price of variance where kappa = 1.
        people: whose interval of r it is; default all who are finite.
        low: a least r below that interval's.
    """
    finite = int(np.count_nonzero(np.isfinite(costs)))
    least, most = spread_bounds(people or finite, variance_price=g, noise_price=1.0)
    low, high = min(low, (1.0 - SIDE) / most), (1.0 + SIDE) / least
    size = FIRST
    while True:
        if size < finite:
            chosen = np.flatnonzero(costs <= np.partition(costs, size - 1)[size - 1])
        else:
            chosen = np.flatnonzero(np.isfinite(costs))
        chosen = chosen[np.argsort(costs[chosen], kind="stable")]
        psi = costs[chosen]
        b = np.sqrt(psi)
        active = reach(psi, b, g, low).active
        if active < psi.size or psi.size == finite:
            first = slice(active + 2)
            return Ordered(chosen[first], psi[first], b[first], low, high)
        size *= 8


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where h is least, at kappa = 1.

    Args:
        weights: of the first users, in their order.
        value: G of these weights.
        lower: no weights cost less.
        evaluations: inner solves.
    """

    weights: Floats
    value: float
    lower: float
    evaluations: int

    @property
    def gap(self) -> float:
        return (self.value - self.lower) / self.value


def minimise(users: Ordered, g: float, tolerance: float) -> Minimum:
    """Branch and bound over r, and the polish, at kappa = 1.

    Args:
        users: sorted.
        g: the price of variance.
        tolerance: relative.
    """
    search = _Search(users, g)
    for r in np.geomspace(users.low, users.high, NODES).tolist():
        search.look(r)
    nodes = sorted(search.seen)
    cells = [search.cell(left, right) for left, right in pairwise(nodes)]
    heapq.heapify(cells)
    while True:
        lower, split, left, right = cells[0]
        if search.value - lower <= tolerance * search.value or len(search.seen) >= MOST:
            break
        margin = 0.1 * (right - left)
        middle = split if left + margin < split < right - margin else 0.5 * (left + right)
        if not left < middle < right:
            break
        search.look(middle)
        heapq.heapreplace(cells, search.cell(left, middle))
        heapq.heappush(cells, search.cell(middle, right))
    search.polish()
    weights = weights_of(users.psi, users.b, g, search.best, search.seen[search.best])
    return Minimum(weights, search.value, min(lower, search.value), len(search.seen))


class _Search:
    """Inner solves at the values of r that were looked at."""

    def __init__(self, users: Ordered, g: float) -> None:
        self.users = users
        self.g = g
        self.seen: dict[float, Inner] = {}
        self.best = math.nan
        self.value = math.inf

    def look(self, r: float) -> float:
        """Solve at r and keep the best; returns the sign of h's slope, r^2 Q - 1."""
        found = self.seen.get(r)
        if found is None:
            found = self.seen[r] = inner(self.users.psi, self.users.b, self.g, r)
        value = self.cost(found)
        if value < self.value:
            self.best, self.value = r, value
        return r * r * found.quadratic - 1.0

    def cost(self, found: Inner) -> float:
        """G of the weights: S is chosen anew."""
        return self.g * found.squares + 2.0 * math.sqrt(found.quadratic)

    def cell(self, left: float, right: float) -> tuple[float, float, float, float]:
        """(lower bound of h between two values of r, where the bound is least, the two)."""
        low, high = self.seen[left].lower, self.seen[right].lower
        slope = (high - low) / (right - left)
        split = min(max(1.0 / math.sqrt(slope), left), right) if slope > 0.0 else right
        return (1.0 / split + low + slope * (split - left)) * (1.0 - 1e-15), split, left, right

    def root(self, left: float, right: float) -> float:
        """Where h's slope turns from negative to positive, by false position (Illinois)."""
        ends, r = [self.look(left), self.look(right)], right
        for _ in range(STEPS):
            last, r = r, (left * ends[1] - right * ends[0]) / (ends[1] - ends[0])
            slope = self.look(r)
            if abs(r - last) <= 1e-15 * r or slope == 0.0:
                break
            if slope * ends[1] < 0.0:
                left, ends[0] = right, ends[1]
            else:
                ends[0] *= 0.5
            right, ends[1] = r, slope
        return r

    def polish(self) -> None:
        """Find the root of h's slope beside the best r: h has no local minimum where the weights jump."""
        nodes = sorted(self.seen)
        k = nodes.index(self.best)
        slope = self.look(self.best)
        left, right = (k, min(k + 1, len(nodes) - 1)) if slope < 0.0 else (max(k - 1, 0), k)
        value, r = self.value, self.best
        if self.look(nodes[left]) < 0.0 < self.look(nodes[right]):
            r = self.root(nodes[left], nodes[right])
        else:
            for _ in range(STEPS):  # choose S and weights in turn: never worse
                r, last = 1.0 / math.sqrt(self.seen[r].quadratic), r
                self.look(r)
                if abs(r - last) <= 1e-15 * r:
                    break
        self.look(r)
        polished = self.cost(self.seen[r])
        if polished <= value * (1.0 + 4e-16):
            self.best, self.value = r, polished


def solution_of(
    costs: Floats, users: Ordered, weights: Floats, g: float, kappa: float, lower: float, evaluations: int
) -> Solution:
    """The solution in the order and the units of the caller.

    Args:
        costs: (n,) psi.
        users: sorted.
        weights: of the first of them.
        g: the price of variance.
        kappa: the price of noise.
        lower: a lower bound of the value.
        evaluations: inner solves.
    """
    everybody = np.zeros(costs.size)
    everybody[users.position[: weights.size]] = weights
    psi = users.psi[: weights.size]
    value = objective(weights, psi, variance_price=g, noise_price=kappa)
    spread = math.sqrt(quadratic(weights, psi) / kappa)
    return Solution(value, everybody, levels(everybody, costs, spread), min(lower, value), evaluations)
