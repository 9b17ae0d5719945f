"""Algorithm 1 as it was published, for comparison only: do not buy anything by it.

It forces every user to have weight and solves the first-order equations at each S of a uniform grid. Nothing checks
that weights are positive or that the point is a minimum: it can return a saddle, weights that rise with the cost, or
negative costs. `solve` and `solve_grid` replace it.

Source: Fallah, Makhdoumi, Malekian and Ozdaglar, Algorithm 1, its broken fractions reconstructed from the equations;
spec two_part_acquisition section 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.problem import checked_costs, checked_prices, spread_bounds
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput

__all__ = ["PrintedSolution", "algorithm1_as_printed"]


@dataclass(frozen=True, eq=False)
class PrintedSolution:
    """What the printed algorithm returns: the point of its grid with the least objective.

    Args:
        value: its objective; below the optimum it means nothing.
        weights: (n,) they sum to 1 and may be negative.
        epsilon_local: (n,) may be negative.
        spread: S.
        feasible_points: how many points of the grid have no negative weight and level.
        points: of the grid.

    Attributes:
        feasible: no weight and no level is negative.
        negative_weights: how many are.
    """

    value: float
    weights: NDArray[np.float64]
    epsilon_local: NDArray[np.float64]
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
        virtual_costs: (n,) psi, finite and positive: the formulas are undefined at 0.
        variance_price: g >= 0.
        noise_price: kappa > 0.
        points: values of S, evenly spaced over an interval that holds the best one.

    Raises:
        InvalidInput: as `solve`; a virtual cost of 0 or inf; the formulas are undefined at every point.

    Example:
        >>> found = algorithm1_as_printed([2.0, 2.0], variance_price=0.001, noise_price=1.0)
        >>> round(found.value, 6), found.feasible  # one user alone costs 2.001
        (2.500375, True)
    """
    psi = checked_costs(virtual_costs)
    if not np.all((psi > 0) & np.isfinite(psi)):
        raise InvalidInput("virtual_costs", "one is 0 or infinite", "the printed formulas need 0 < psi < inf")
    g, kappa = checked_prices(variance_price, noise_price)
    least, most = spread_bounds(psi.size, variance_price=g, noise_price=kappa)
    b, best, possible = np.sqrt(psi), None, 0
    for spread in np.linspace(least, most, whole("points", points, at_least=1)).tolist():
        with np.errstate(all="ignore"):
            nu = 1.0 / (g + (1.0 - psi) / spread)
            zeta = nu / nu.sum()
            xi = zeta * (np.sum(nu * b) - b * nu.sum())
            root = np.sum(zeta * b) / (spread - np.sum(b * xi))
            w = zeta + xi * root
            y = w * root / b
            value = float(g * np.sum(w * w) + kappa * spread + np.sum((1.0 - psi) * w * w / spread) + np.sum(psi * y))
        if not np.isfinite(value):
            continue
        found = PrintedSolution(value, w, y, spread, 0, points)
        possible += found.feasible
        if best is None or value < best.value:
            best = found
    if best is None:
        raise InvalidInput("virtual_costs", "the printed formulas are undefined at every point of the grid")
    return PrintedSolution(best.value, best.weights, best.epsilon_local, best.spread, possible, points)
