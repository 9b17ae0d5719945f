"""The platform's objective, which is the error and the payments of a weighted mean of noisy records, and its reduction
to weights.

The problem is to minimise the following cost over weights w >= 0 that sum to 1 and local levels y, the losses towards
the platform. In the cost psi are the users' virtual costs, g is the price of the records' variance, kappa the price of
the noise, and S the spread of the noise:

    g sum w^2 + kappa S + sum (1 - psi) w^2/S + sum psi y,     S = sum w^2/y.

For given weights the best levels have a closed form. With the best levels the cost of weights w is G(w) = g sum w^2 + 2
sqrt(kappa Q(w)) with Q(w) = sum w^2 + sum over pairs of b_i b_j w_i w_j and b = sqrt(psi). The sums in the cost G are
computed without any negative terms.

Source: Fallah, Makhdoumi, Malekian and Ozdaglar, problem (7); spec two_part_acquisition section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.optimum.inner import pairs
from confide.contract.checks import non_negative, positive
from confide.contract.errors import InvalidInput

__all__ = [
    "ALLOWED", "Levels", "checked_costs", "checked_prices", "equal_costs_value", "levels", "objective", "problem7",
    "quadratic", "single_seller_value", "spread_bounds", "usable",
]

Floats = NDArray[np.float64]

MOST = 1e250
"""Largest finite virtual cost that is accepted, so that products of virtual costs do not overflow a double."""
ALLOWED = f"must be in [0, {MOST:g}] or inf"


def checked_costs(virtual_costs: ArrayLike) -> Floats:
    """Virtual costs as an array of shape (n,). The value inf stands for an absentee.

    Raises:
        InvalidInput: there are no costs, the costs are no list of numbers, a cost is NaN, negative or too large for
            doubles, or no cost is finite.
    """
    try:
        costs = np.asarray(virtual_costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("virtual_costs", "are not numbers") from None
    if costs.ndim != 1 or not costs.size:
        raise InvalidInput("virtual_costs", f"shape {costs.shape}",
                           "must be one number for each user, and at least one")
    good = usable(costs)
    if not np.all(good):
        found = int(np.argmin(good))
        raise InvalidInput("virtual_costs", f"{float(costs[found])!r} at position {found}", ALLOWED)
    if not np.isfinite(costs).any():
        raise InvalidInput("virtual_costs", "all are infinite", "at least one user must take part")
    return costs


def usable(costs: Floats) -> NDArray[np.bool_]:
    """Whether each virtual cost is nonnegative, and either infinite or small enough for doubles."""
    return np.asarray((costs >= 0) & ((costs <= MOST) | np.isinf(costs)))


def checked_prices(variance_price: float, noise_price: float) -> tuple[float, float]:
    """The checked prices (g, kappa) of variance and noise.

    Raises:
        InvalidInput: a price that is not finite, g < 0, kappa <= 0, or g above 1e100 sqrt(kappa).
    """
    g, kappa = non_negative("variance_price", variance_price), positive("noise_price", noise_price)
    if not g <= 1e100 * math.sqrt(kappa):
        raise InvalidInput("variance_price", f"{g!r} is too large for a noise_price of {kappa!r}",
                           "must be at most 1e100 times the square root of noise_price")
    return g, kappa


def quadratic(weights: ArrayLike, virtual_costs: ArrayLike) -> float:
    """The quadratic form Q(w) of the weights, at least 1/n for weights that sum to 1.

    Args:
        weights: (n,) weights >= 0.
        virtual_costs: (n,) virtual costs psi >= 0; inf where the weight is 0.

    Example:
        >>> quadratic([0.5, 0.5], [0.0, 1.9])
        0.5
    """
    w, psi = _active(weights, virtual_costs)
    return float(np.sum(w * w) + 2.0 * pairs(np.sqrt(psi) * w))


def objective(weights: ArrayLike, virtual_costs: ArrayLike, *, variance_price: float, noise_price: float) -> float:
    """The cost G(w) of given weights at their best local levels.

    Args:
        weights: (n,) weights >= 0 that sum to 1.
        virtual_costs: (n,) virtual costs psi >= 0; inf where the weight is 0.
        variance_price: price g >= 0 of the records' variance.
        noise_price: price kappa > 0 of the noise.

    Example:
        >>> round(objective([0.5, 0.5, 0.0], [0.1, 1.0, 1.9], variance_price=0.1, noise_price=1.0), 12)
        1.672484370351
    """
    w, _ = _active(weights, virtual_costs)
    return variance_price * float(np.sum(w * w)) + 2.0 * math.sqrt(noise_price * quadratic(weights, virtual_costs))


def problem7(
    weights: ArrayLike, epsilon_local: ArrayLike, virtual_costs: ArrayLike, *, variance_price: float,
    noise_price: float,
) -> float:
    """The objective of problem (7) at given weights and local levels.

    Args:
        weights: (n,) weights w >= 0 that sum to 1.
        epsilon_local: (n,) local levels y in [0, inf]; an infinite level costs nothing where psi = 0 (the limit).
        virtual_costs: (n,) virtual costs psi >= 0; inf where the weight is 0.
        variance_price: price g >= 0 of the records' variance.
        noise_price: price kappa > 0 of the noise.

    Returns:
        The cost; inf where a user with positive weight has a local level of 0 and so sends nothing.

    Example:
        >>> problem7([1.0], [2.0], [0.7], variance_price=1.0, noise_price=4.0)
        5.0
    """
    w, psi = _active(weights, virtual_costs)
    y = np.asarray(epsilon_local, dtype=np.float64)[np.asarray(weights) > 0]
    if not np.all(y > 0):
        return math.inf
    spread = float(np.sum(w * w / y))
    local = float(np.sum(psi[psi > 0] * y[psi > 0]))
    central = float(np.sum((1.0 - psi) * w * w))
    return variance_price * float(np.sum(w * w)) + noise_price * spread + central / spread + local


@dataclass(frozen=True)
class Levels:
    """Privacy levels of all users under given weights.

    Args:
        spread: spread S of the noise.
        local: (n,) local levels y; 0 without weight, inf where psi = 0 and another user with weight has psi > 0.
        central: (n,) central levels w^2/S.
        difference: (n,) local - central >= 0, computed without cancellation.
    """

    spread: float
    local: Floats
    central: Floats
    difference: Floats


def levels(weights: Floats, virtual_costs: Floats, spread: float) -> Levels:
    """The best local levels for given weights and S: y = w B/(S b) with B = sum b w.

    Args:
        weights: (n,) weights that sum to 1.
        virtual_costs: (n,) virtual costs psi of the users.
        spread: spread S of the noise; the best S is sqrt(Q/kappa).
    """
    chosen = np.flatnonzero(weights > 0)
    w, root = weights[chosen], np.sqrt(virtual_costs[chosen])
    local, central, difference = np.zeros(weights.size), np.zeros(weights.size), np.zeros(weights.size)
    central[chosen] = w * w / spread
    shares = root * w
    together = float(np.sum(shares))
    if w.size == 1:
        local[chosen] = central[chosen]
    elif together == 0.0:  # all who have weight have psi = 0
        local[chosen] = float(np.sum(w * w)) / spread
        difference[chosen] = np.maximum(local[chosen] - central[chosen], 0.0)
    else:
        root *= spread
        with np.errstate(divide="ignore"):
            w /= root
        local[chosen] = w * together
        np.maximum(np.subtract(together, shares, out=shares), 0.0, out=shares)
        shares *= w
        difference[chosen] = shares
    return Levels(spread, local, central, difference)


def spread_bounds(people: int, *, variance_price: float, noise_price: float) -> tuple[float, float]:
    """An interval that contains the optimal S, for any virtual costs of the given number of users.

    Args:
        people: number of users n >= 1. A number larger than the actual number of users only widens the interval.
        variance_price: price g of the records' variance.
        noise_price: price kappa of the noise.
    """
    root = math.sqrt(noise_price)
    return 1.0 / (math.sqrt(people) * root), 1.0 / root + variance_price * (1.0 - 1.0 / people) / (2.0 * noise_price)


def single_seller_value(*, variance_price: float, noise_price: float) -> float:
    """The value V of a single user, g + 2 sqrt(kappa). The user's loss is sqrt(kappa) towards the platform and also
    towards the public.
    """
    return variance_price + 2.0 * math.sqrt(noise_price)


def equal_costs_value(virtual_cost: float, people: int, *, variance_price: float, noise_price: float) -> float:
    """The value V where all users have the same virtual cost: the cheaper of equal weights for all and all weight on
    one user.

    Args:
        virtual_cost: common virtual cost psi >= 0 of all users.
        people: number of users n >= 1.
        variance_price: price g of the records' variance.
        noise_price: price kappa of the noise.
    """
    all_alike = (1.0 + virtual_cost * (people - 1)) / people
    return min(single_seller_value(variance_price=variance_price, noise_price=noise_price),
               variance_price / people + 2.0 * math.sqrt(noise_price * all_alike))


def _active(weights: ArrayLike, virtual_costs: ArrayLike) -> tuple[Floats, Floats]:
    w = np.asarray(weights, dtype=np.float64)
    chosen = w > 0
    return w[chosen], np.asarray(virtual_costs, dtype=np.float64)[chosen]
