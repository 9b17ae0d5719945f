"""Noise that the platform adds to the published mean (central noise), for comparison only. Central noise always raises
the cost.

Let S = sum w^2/y for weights w and local privacy losses y. Central noise has the variance alpha central/2, for Renyi
order alpha. Such noise replaces S by S + central, both in the error and in the central privacy losses. Lowering the
local losses y until sum w^2/y = S + central has the same effect on the error and the central losses. Since every
virtual cost psi is at least 0, lower local losses reduce the total cost. For at most six users, this module finds the
optimum with a prescribed amount of central noise by trying all sets of users with a positive weight.

Source: Fallah, Makhdoumi, Malekian and Ozdaglar, Proposition 1; spec two_part_acquisition section 10.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.optimum.problem import checked_costs, checked_prices
from confide.contract.checks import non_negative
from confide.contract.errors import InvalidInput

__all__ = ["CentralNoise", "with_central_noise", "without_central_noise"]

Floats = NDArray[np.float64]

MOST = 6
"""Largest number of users. The limit is small because all sets of users with a positive weight are tried."""
POINTS = 300
ROUNDS = 12
"""Number of successive refinements of the grid of S = sum w^2/y in the search for the optimum."""


@dataclass(frozen=True, eq=False)
class CentralNoise:
    """The optimum with a prescribed amount of central noise.

    Args:
        value: least total cost, the objective at the optimum.
        weights: (n,) weights w.
        epsilon_local: (n,) local privacy losses y.
        spread: S + central, with S = sum w^2/y. This sum determines the error and the central losses.
    """

    value: float
    weights: Floats
    epsilon_local: Floats
    spread: float


def with_central_noise(
    virtual_costs: ArrayLike, central: float, *, variance_price: float, noise_price: float
) -> CentralNoise:
    """The best weights and local privacy losses where the platform adds a prescribed amount of noise to the mean.

    Args:
        virtual_costs: (n,) virtual costs psi of the users, in (0, inf), for n at most 6.
        central: amount 1/epsilon >= 0 of central noise. The variance of the central noise is alpha/2 times this amount.
        variance_price: price g >= 0 of the sampling variance: the price gamma of the squared error times the variance
            of a record.
        noise_price: price kappa > 0 of the noise variance: gamma alpha/2 for Renyi order alpha.

    Raises:
        InvalidInput: `solve` would refuse the arguments, there are more than 6 users, or a virtual cost is 0 or
            infinite.

    Example:
        >>> prices = {"variance_price": 1.0, "noise_price": 2.0}
        >>> without = with_central_noise([0.3, 1.7], 0.0, **prices).value
        >>> round(with_central_noise([0.3, 1.7], 0.049787068367863944, **prices).value - without, 4)
        0.0976
    """
    psi = checked_costs(virtual_costs)
    if psi.size > MOST:
        raise InvalidInput("virtual_costs", f"{psi.size} users", f"must be at most {MOST}")
    if not np.all((psi > 0) & np.isfinite(psi)):
        raise InvalidInput("virtual_costs", "a virtual cost is 0 or infinite", "must be in (0, inf)")
    g, kappa = checked_prices(variance_price, noise_price)
    central = non_negative("central", central)
    root, alone = np.sqrt(psi), float(psi.min())
    known = g + kappa * (central + 1.0) + (1.0 - alone) / (central + 1.0) + alone  # the cheapest user alone, S = 1
    spreads = np.geomspace(1e-9, 1.0, POINTS) * known / kappa
    best = (np.inf, 0.0, np.zeros(psi.size))
    for _ in range(ROUNDS):
        found = [(*_at(psi, root, float(s), central, g, kappa), float(s)) for s in spreads]
        value, weights, spread = min(found, key=lambda each: each[0])
        if value < best[0]:
            best = (value, spread, weights)
        k = int(np.argmin(np.abs(spreads - best[1])))
        spreads = np.linspace(spreads[max(k - 1, 0)], spreads[min(k + 1, spreads.size - 1)], 21)
    value, spread, weights = best
    return CentralNoise(value, weights, weights * np.sum(root * weights) / (spread * root), spread + central)


def without_central_noise(weights: ArrayLike, epsilon_local: ArrayLike, central: float) -> Floats:
    """Local privacy losses that give the same error and central losses without central noise. No returned loss is above
    the given loss of the same user.

    Args:
        weights: (n,) weights w.
        epsilon_local: (n,) local privacy losses y with central noise, positive where w > 0.
        central: amount 1/epsilon >= 0 of central noise.

    Example:
        >>> without_central_noise([0.5, 0.5], [1.0, 2.0], 0.375).tolist()
        [0.5, 1.0]
    """
    w, y = np.asarray(weights, dtype=np.float64), np.asarray(epsilon_local, dtype=np.float64)
    spread = float(np.sum(w[w > 0] ** 2 / y[w > 0]))
    lowered: Floats = y * (spread / (spread + non_negative("central", central)))
    return lowered


def _at(
    psi: Floats, root: Floats, spread: float, central: float, g: float, kappa: float
) -> tuple[float, Floats]:
    """The least cost at a given S = sum w^2/y, and the weights that attain this cost: the best stationary point over
    all supports.
    """
    seen = spread + central
    form = np.diag(g + (1.0 - psi) / seen) + np.outer(root, root) / spread
    best, found = np.inf, np.zeros(psi.size)
    for w in _stationary(form):
        value = float(w @ form @ w)
        if value < best:
            best, found = value, w
    return best + kappa * seen, found


def _stationary(form: Floats) -> Iterator[Floats]:
    """Non-negative weights that sum to 1 and at which a quadratic form is stationary on their support, one array for
    each support.
    """
    n = form.shape[0]
    for size in range(1, n + 1):
        for support in combinations(range(n), size):
            chosen = np.array(support)
            try:
                part = np.linalg.solve(form[np.ix_(chosen, chosen)], np.ones(size))
            except np.linalg.LinAlgError:
                continue
            weights = np.zeros(n)
            weights[chosen] = part / part.sum() if part.sum() else part
            if part.sum() and np.all(weights >= 0):
                yield weights
