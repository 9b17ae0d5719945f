"""Problem (7), its reduction to weights, and its closed forms (spec two_part_acquisition 5 and 10)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from confide.acquisition.optimum.problem import (
    equal_costs_value,
    levels,
    objective,
    problem7,
    quadratic,
    single_seller_value,
)
from confide.acquisition.optimum.solver import solve

PRICES = {"variance_price": 0.7, "noise_price": 3.0}


def test_levels_are_the_best_ones() -> None:
    """No other local levels and no other S are cheaper for the same weights; d is the slope of V in one's own psi."""
    rng = np.random.default_rng(5)
    psi, w = np.array([0.2, 0.9, 1.6, 4.0]), np.array([0.4, 0.3, 0.2, 0.1])
    best = objective(w, psi, **PRICES)
    found = levels(w, psi, math.sqrt(quadratic(w, psi) / PRICES["noise_price"]))
    assert problem7(w, found.local, psi, **PRICES) == pytest.approx(best, rel=1e-14)
    assert found.local - found.central == pytest.approx(found.difference, rel=1e-13)
    assert np.sum(w * w / found.local) == pytest.approx(found.spread, rel=1e-14)
    for _ in range(50):
        other = found.local * np.exp(rng.normal(scale=0.1, size=4))
        assert problem7(w, other, psi, **PRICES) >= best
    assert problem7(w, [1.0, 1.0, 1.0, 0.0], psi, **PRICES) == math.inf
    optimum, step = solve(psi, **PRICES), 1e-6
    for k in optimum.winners:
        moved = psi.copy()
        moved[k] += step
        slope = (solve(moved, **PRICES).value - optimum.value) / step
        assert slope == pytest.approx(optimum.difference[k], rel=1e-4)


def test_closed_forms() -> None:
    """One user; all alike, on both sides of the switch to one alone; psi = 0."""
    alone = solve([0.4], **PRICES)
    assert alone.value == pytest.approx(single_seller_value(**PRICES), rel=1e-14)
    assert (alone.epsilon_local[0], alone.difference[0]) == pytest.approx((math.sqrt(3.0), 0.0), rel=1e-12)
    for psi, people in ((0.0, 5), (0.5, 5), (1.0, 3), (1.2, 3), (8.0, 4)):
        found = solve(np.full(people, psi), **PRICES)
        assert found.value == pytest.approx(equal_costs_value(psi, people, **PRICES), rel=1e-13)
        assert found.winners.size in {1, people}
    free = solve(np.zeros(4), **PRICES)
    assert free.epsilon_local == pytest.approx(np.full(4, 0.25 / free.spread), rel=1e-12)
    mixed = solve([0.0, 0.3], **PRICES)
    assert mixed.epsilon_local[0] == mixed.difference[0] == math.inf
    assert problem7(mixed.weights, mixed.epsilon_local, [0.0, 0.3], **PRICES) == pytest.approx(mixed.value, rel=1e-13)
