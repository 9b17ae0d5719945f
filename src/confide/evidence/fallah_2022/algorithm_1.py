"""Algorithm 1 of Fallah et al. 2022 as it was published, for comparison only. No purchase should use this algorithm.

The algorithm gives every user a weight and solves the first-order equations at each point S of a uniform grid, where S
= sum(w^2/y) for weights w and local privacy losses y. The algorithm does not check that weights are positive or that
the solution is a minimum. The printed algorithm can return a saddle point, weights that rise with the virtual cost, or
negative costs. The functions `solve` and `solve_grid` of `confide.acquisition` replace Algorithm 1.

Source: Fallah, Makhdoumi, Malekian and Ozdaglar, Algorithm 1, with illegible fractions reconstructed from the
equations; spec two_part_acquisition section 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.optimum.problem import checked_costs, checked_prices, spread_bounds
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput

__all__ = ["PrintedSolution", "algorithm1_as_printed"]

Floats = NDArray[np.float64]

BLOCK = 10**6
"""Largest number of entries in one table of weights at several points S."""


@dataclass(frozen=True, eq=False)
class PrintedSolution:
    """The result of the printed algorithm: the grid point with the least objective.

    Args:
        value: objective at the returned grid point. A value below the optimum is meaningless, because weights or losses
            are then negative.
        weights: (n,) weights, which sum to 1 and may be negative.
        epsilon_local: (n,) local privacy losses, which may be negative.
        spread: S = sum(w^2/y) at the returned grid point, for weights w and local privacy losses y.
        feasible_points: number of grid points at which no weight and no local privacy loss is negative.
        points: number of points of the grid.

    Attributes:
        feasible: whether no returned weight and no returned local privacy loss is negative.
        negative_weights: number of negative weights among those returned.
    """

    value: float
    weights: Floats
    epsilon_local: Floats
    spread: float
    feasible_points: int
    points: int

    @property
    def feasible(self) -> bool:
        return bool(np.all(self.weights >= 0) and np.all(self.epsilon_local >= 0))

    @property
    def negative_weights(self) -> int:
        return int(np.count_nonzero(self.weights < 0))


def algorithm1_as_printed(
    virtual_costs: ArrayLike, *, variance_price: float, noise_price: float, points: int = 4001
) -> PrintedSolution:
    """Algorithm 1 as printed, for comparison only.

    Args:
        virtual_costs: (n,) virtual costs psi of the users, finite and positive, because the printed formulas are
            undefined at 0.
        variance_price: price g >= 0 of the sampling variance: the price gamma of the squared error times the variance
            of a record.
        noise_price: price kappa > 0 of the noise variance: gamma alpha/2 for Renyi order alpha.
        points: number of values of S, evenly spaced over an interval that contains the optimal S.

    Raises:
        InvalidInput: `solve` would refuse the arguments, a virtual cost is 0 or infinite, or the formulas are undefined
            at every point of the grid.

    Example:
        >>> found = algorithm1_as_printed([2.0, 2.0], variance_price=0.001, noise_price=1.0)
        >>> round(found.value, 6), found.feasible  # one user alone costs 2.001
        (2.500375, True)
    """
    psi = checked_costs(virtual_costs)
    if not np.all((psi > 0) & np.isfinite(psi)):
        raise InvalidInput("virtual_costs", "a virtual cost is 0 or infinite",
                           "the printed formulas need 0 < psi < inf")
    g, kappa = checked_prices(variance_price, noise_price)
    least, most = spread_bounds(psi.size, variance_price=g, noise_price=kappa)
    spreads = np.linspace(least, most, whole("points", points, at_least=1))
    best, possible = PrintedSolution(np.inf, psi, psi, 0.0, 0, points), 0
    for part in np.array_split(spreads, math.ceil(points * psi.size / BLOCK)):
        value, w, y = _objectives(psi, part[:, None], g, kappa)
        possible += int(np.count_nonzero(np.isfinite(value) & np.all((w >= 0) & (y >= 0), axis=1)))
        k = int(np.argmin(np.where(np.isfinite(value), value, np.inf)))
        if value[k] < best.value:
            best = PrintedSolution(float(value[k]), w[k], y[k], float(part[k]), 0, points)
    if best.value == np.inf:
        raise InvalidInput("virtual_costs", "the printed formulas are undefined at every point of the grid")
    return replace(best, feasible_points=possible)


def _objectives(psi: Floats, spread: Floats, g: float, kappa: float) -> tuple[Floats, Floats, Floats]:
    """Objective, weights and local losses at each point S of the grid. The weights and losses have one column for each
    point.
    """
    b = np.sqrt(psi)
    with np.errstate(all="ignore"):
        nu = 1.0 / (g + (1.0 - psi) / spread)
        total = nu.sum(axis=1, keepdims=True)
        zeta = nu / total
        xi = zeta * (np.sum(nu * b, axis=1, keepdims=True) - b * total)
        root = np.sum(zeta * b, axis=1, keepdims=True) / (spread - np.sum(b * xi, axis=1, keepdims=True))
        w = zeta + xi * root
        y = w * root / b
        each = g * w * w + (1.0 - psi) * w * w / spread + psi * y
        return kappa * spread[:, 0] + each.sum(axis=1), w, y
