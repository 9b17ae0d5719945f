"""The cheapest weights and noise, globally, with a certificate.

`solve` sorts the users who can have weight at all, searches over r = 1/S, and says what the weights mean for everybody.

Source: spec two_part_acquisition section 7; it replaces Algorithm 1 of Fallah, Makhdoumi, Malekian and Ozdaglar.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.optimum.inner import farthest, reach
from confide.acquisition.optimum.problem import (
    Levels,
    checked_costs,
    checked_prices,
    levels,
    spread_bounds,
)
from confide.acquisition.optimum.search import minimise
from confide.contract.checks import positive
from confide.contract.errors import InvalidInput, SolverFailed

__all__ = ["Ordered", "Solution", "interval", "ordered", "solve"]

Floats = NDArray[np.float64]

LEAST_TOLERANCE = 3e-14
"""Below it the bounds' allowance for rounding is in the way."""
ROOM = 4e-15
"""By how much the search goes further, for the rounding of values."""
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


def interval(people: int, g: float) -> tuple[float, float]:
    """Values of r between which the optimum is, at kappa = 1."""
    least, most = spread_bounds(people, variance_price=g, noise_price=1.0)
    return (1.0 - SIDE) / most, (1.0 + SIDE) / least


def ordered(costs: Floats, g: float, *, low: float = math.inf, leaving: bool = False) -> Ordered:
    """Sort the users who can have weight; the others are not even sorted.

    The number of users with weight falls in r, but for the one with a <= 0, who is the next: whoever comes two after
    the last one at the least r never has weight.

    Args:
        costs: (n,) psi, inf for absentees.
        g: the price of variance where kappa = 1.
        low: a least r below the interval of the optimum.
        leaving: keep those too who can have weight if any one user leaves.
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
