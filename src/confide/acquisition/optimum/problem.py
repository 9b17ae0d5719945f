"""The objective of the platform: error and payments of a weighted mean of noisy records, and its reduction to weights.

The problem: over weights w >= 0 that sum to 1 and local levels y,

    g sum w^2 + kappa S + sum (1 - psi) w^2/S + sum psi y,     S = sum w^2/y.

For given weights the best levels have a closed form, which leaves G(w) = g sum w^2 + 2 sqrt(kappa Q(w)) with
Q(w) = sum w^2 + sum over pairs of b_i b_j w_i w_j, b = sqrt(psi). All sums here have no negative terms.

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
"""Largest finite virtual cost: products with it are doubles."""
ALLOWED = f"must be in [0, {MOST:g}] or inf"


def checked_costs(virtual_costs: ArrayLike) -> Floats:
    """Virtual costs as an array (n,); inf is an absentee.

    Raises:
        InvalidInput: there are none, they are no list of numbers, one is NaN, negative or beyond the doubles' reach,
            or none is finite.
    """
    try:
        costs = np.asarray(virtual_costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("virtual_costs", "they are not numbers") from None
    if costs.ndim != 1 or not costs.size:
        raise InvalidInput("virtual_costs", f"shape {costs.shape}", "one number for each of at least one user")
    good = usable(costs)
    if not np.all(good):
        found = int(np.argmin(good))
        raise InvalidInput("virtual_costs", f"{float(costs[found])!r} at position {found}", ALLOWED)
    if not np.isfinite(costs).any():
        raise InvalidInput("virtual_costs", "all are infinite", "at least one user must take part")
    return costs


def usable(costs: Floats) -> NDArray[np.bool_]:
    """Whether each virtual cost can be computed with."""
    return np.asarray((costs >= 0) & ((costs <= MOST) | np.isinf(costs)))


def checked_prices(variance_price: float, noise_price: float) -> tuple[float, float]:
    """The checked prices (g, kappa).

    Raises:
        InvalidInput: not finite, g < 0, kappa <= 0, or g beyond 1e100 sqrt(kappa).
    """
    g, kappa = non_negative("variance_price", variance_price), positive("noise_price", noise_price)
    if not g <= 1e100 * math.sqrt(kappa):
        raise InvalidInput("variance_price", f"{g!r} is too large for a noise_price of {kappa!r}",
                           "must be at most 1e100 times its square root")
    return g, kappa


def quadratic(weights: ArrayLike, virtual_costs: ArrayLike) -> float:
    """Q(w), in [1/n, ...] for weights that sum to 1.

    Args:
        weights: (n,) >= 0.
        virtual_costs: (n,) psi >= 0; inf where the weight is 0.

    Example:
        >>> quadratic([0.5, 0.5], [0.0, 1.9])
        0.5
    """
    w, psi = _active(weights, virtual_costs)
    return float(np.sum(w * w) + 2.0 * pairs(np.sqrt(psi) * w))


def objective(weights: ArrayLike, virtual_costs: ArrayLike, *, variance_price: float, noise_price: float) -> float:
    """G(w): the cost of given weights at their best local levels.

    Args:
        weights: (n,) >= 0 that sum to 1.
        virtual_costs: (n,) psi >= 0; inf where the weight is 0.
        variance_price: g >= 0.
        noise_price: kappa > 0.

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
    """The cost of given weights and local levels, as the problem is stated.

    Args:
        weights: (n,) w >= 0 that sum to 1.
        epsilon_local: (n,) y in [0, inf]; an infinite level costs nothing where psi = 0 (the limit).
        virtual_costs: (n,) psi >= 0; inf where the weight is 0.
        variance_price: g >= 0.
        noise_price: kappa > 0.

    Returns:
        inf where somebody has weight and sends nothing.

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
    """The levels of everybody under given weights.

    Args:
        spread: S.
        local: (n,) y, 0 without weight, inf where psi = 0 beside others with psi > 0.
        central: (n,) w^2/S.
        difference: (n,) local - central >= 0, without cancellation.
    """

    spread: float
    local: Floats
    central: Floats
    difference: Floats


def levels(weights: Floats, virtual_costs: Floats, spread: float) -> Levels:
    """The best local levels for given weights and S: y = w B/(S b) with B = sum b w.

    Args:
        weights: (n,) that sum to 1.
        virtual_costs: (n,) psi.
        spread: S; the best is sqrt(Q/kappa).
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
    """An interval that holds the optimal S for all virtual costs of that many users.

    Args:
        people: n >= 1; more than there are only widens it.
        variance_price: g.
        noise_price: kappa.
    """
    root = math.sqrt(noise_price)
    return 1.0 / (math.sqrt(people) * root), 1.0 / root + variance_price * (1.0 - 1.0 / people) / (2.0 * noise_price)


def single_seller_value(*, variance_price: float, noise_price: float) -> float:
    """V of one user, g + 2 sqrt(kappa): they give sqrt(kappa) to the platform and to the public alike."""
    return variance_price + 2.0 * math.sqrt(noise_price)


def equal_costs_value(virtual_cost: float, people: int, *, variance_price: float, noise_price: float) -> float:
    """V where all users have one virtual cost: all alike, or one alone.

    Args:
        virtual_cost: psi >= 0 of everybody.
        people: n >= 1.
        variance_price: g.
        noise_price: kappa.
    """
    all_alike = (1.0 + virtual_cost * (people - 1)) / people
    return min(single_seller_value(variance_price=variance_price, noise_price=noise_price),
               variance_price / people + 2.0 * math.sqrt(noise_price * all_alike))


def _active(weights: ArrayLike, virtual_costs: ArrayLike) -> tuple[Floats, Floats]:
    w = np.asarray(weights, dtype=np.float64)
    chosen = w > 0
    return w[chosen], np.asarray(virtual_costs, dtype=np.float64)[chosen]
