"""The cheapest weights and noise where S may only be one of a few values that no report has a say in.

The cost is at most 1 + delta times the optimum, whatever the parameters: kappa S + Q/S at x times the best S costs
(x + 1/x)/2 times its least value. Since the values of S depend on public parameters alone and the inner solve is exact,
the outcome minimises over a fixed set: everybody's difference of levels falls in her own virtual cost, exactly, and
payments by differences of these values make truth best, which an approximate optimum found otherwise does not.

Source: spec two_part_acquisition section 8; it repairs Theorem 3 of Fallah, Makhdoumi, Malekian and Ozdaglar.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.optimum.inner import inner, weights_of
from confide.acquisition.optimum.problem import checked_costs, checked_prices, levels, spread_bounds
from confide.acquisition.optimum.solver import Solution, ordered
from confide.contract.checks import positive, whole
from confide.contract.renamed import renamed

__all__ = ["grid_spreads", "solve_grid"]


def grid_spreads(
    people: int, approximation: float, *, variance_price: float, noise_price: float
) -> NDArray[np.float64]:
    """The allowed values of S, ascending.

    Args:
        people: registered users, absentees included.
        approximation: in (0, 1].
        variance_price: g >= 0.
        noise_price: kappa > 0.

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
    """The cheapest weights and levels with S in `grid_spreads`.

    Args:
        virtual_costs: (n,) psi in [0, inf]; inf is an absentee, who counts for the values of S.
        approximation: in (0, 1].
        variance_price: g >= 0.
        noise_price: kappa > 0.

    Raises:
        InvalidInput: as `solve`, and a approximation out of range.

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
