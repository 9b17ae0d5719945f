"""The repaired approximation scheme and the printed algorithm (spec two_part_acquisition 8)."""

from __future__ import annotations

import numpy as np
import pytest

from confide.acquisition.optimum.problem import problem7
from confide.acquisition.optimum.solver import grid_spreads, solve, solve_grid
from confide.contract import InvalidInput


@pytest.mark.parametrize("delta", [0.1, 0.01, 0.001])
def test_within_one_plus_delta(delta: float) -> None:
    """Acceptance 9, values: V <= V_delta <= (1 + delta) V, and V_delta is problem (7) at its weights and levels."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        psi = rng.uniform(0.0, 10.0 ** rng.uniform(-2.0, 1.5), int(rng.integers(1, 31)))
        prices = {"variance_price": 10.0 ** rng.uniform(-4.0, 4.0), "noise_price": 10.0 ** rng.uniform(-3.0, 3.0)}
        exact, near = solve(psi, **prices), solve_grid(psi, delta, **prices)
        assert 1.0 - 1e-14 <= near.value / exact.value <= (1.0 + delta) * (1.0 + 1e-14)
        assert near.lower_bound <= exact.value
        assert problem7(near.weights, near.epsilon_local, psi, **prices) == pytest.approx(near.value, rel=1e-11)


def test_points_and_differences() -> None:
    """Values of S come from public parameters; differences fall in a user's own virtual cost, without exception."""
    prices = {"variance_price": 1.0, "noise_price": 2.0}
    assert grid_spreads(10**6, 0.01, variance_price=8.33, noise_price=1.0).size == 31
    psi = np.array([0.3, 0.8, 1.1, np.inf])
    spreads = grid_spreads(4, 0.1, **prices)
    own, values = [], []
    for virtual_cost in np.linspace(0.01, 3.0, 150).tolist():
        found = solve_grid(np.concatenate([[virtual_cost], psi[1:]]), 0.1, **prices)
        assert found.spread in spreads
        assert found.evaluations == spreads.size
        own.append(found.difference[0])
        values.append(found.value)
    assert np.all(np.diff(own) <= 1e-12)
    assert np.all(np.diff(values, 2) <= 1e-13)
    assert own[-1] == 0.0
    with pytest.raises(InvalidInput, match="approximation"):
        solve_grid(psi, 0.0, **prices)
