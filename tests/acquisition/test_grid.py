"""The repaired approximation scheme and the printed algorithm (spec two_part_acquisition 8)."""

from __future__ import annotations

import numpy as np
import pytest

from confide.acquisition.optimum.grid import grid_spreads, solve_grid
from confide.acquisition.optimum.problem import problem7
from confide.acquisition.optimum.solver import solve
from confide.contract import InvalidInput
from confide.evidence.fallah_2022.algorithm_1 import algorithm1_as_printed


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


@pytest.mark.parametrize(("psi", "g", "optimum", "printed", "points"), [
    ([0.1, 1.0, 1.9], 0.1, 1.6724843703511214, 1.756937, 4001), ([2.0, 2.0], 0.001, 2.001, 2.500375, 4001),
    (np.linspace(0.1, 1.9, 10), 1.0, 1.6435325714659, -109.14, 0),
])
def test_as_printed(psi: list[float], g: float, optimum: float, printed: float, points: int) -> None:
    """Acceptance 3: the published algorithm's three failures, to 1e-4."""
    found = algorithm1_as_printed(psi, variance_price=g, noise_price=1.0)
    assert found.value == pytest.approx(printed, rel=1e-4)
    assert solve(psi, variance_price=g, noise_price=1.0).value == pytest.approx(optimum, abs=1e-10)
    assert found.feasible_points == points
    assert found.feasible == (found.negative_weights == 0) == (points > 0)


def test_as_printed_refuses_zero() -> None:
    with pytest.raises(InvalidInput, match="0 or infinite"):
        algorithm1_as_printed([0.0, 1.0], variance_price=1.0, noise_price=1.0)
