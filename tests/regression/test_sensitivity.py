"""Sensitivities and the counterexample to the printed one (spec truthful_regression 4.2, 4.3, acceptance 3)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from confide.contract import InvalidInput
from confide.regression.sensitivity import (
    counterexample,
    diameter,
    plain_sensitivity,
    printed_constant,
    printed_constant_valid,
    removal_sensitivity,
    replacement_sensitivity,
    ridge_norm_sup,
)


@pytest.mark.parametrize(
    ("radius", "response", "value"), [(1, 2, 4.403669475), (1, 1, 2.598076211), (5, 1, 6.460908149)]
)
def test_golden_diameters(radius: float, response: float, value: float) -> None:
    assert diameter(radius, response) == pytest.approx(value, abs=1e-9)


@settings(deadline=None)
@given(st.floats(0, 50), st.floats(0.01, 50))
def test_the_diameter_is_the_maximum_over_angles(radius: float, response: float) -> None:
    phi = np.linspace(0, np.pi / 2, 20_001)
    curve = radius * np.sin(2 * phi) + 2 * response * np.sin(phi)
    value = diameter(radius, response)
    assert curve.max() <= value <= curve.max() * (1 + 1e-8)
    assert 2 * response <= value <= (radius + 2 * response) * (1 + 1e-15)
    assert diameter(radius + 1, response) > value


@settings(deadline=None)
@given(st.integers(1, 5), st.floats(0, 4), st.floats(0.1, 3), st.integers(0, 2**32 - 1))
def test_no_pair_of_records_is_further_apart(d: int, radius: float, response: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2, 500, d))
    x /= np.linalg.norm(x, axis=-1)[..., None]
    theta = rng.normal(size=(500, d))
    theta *= radius / np.linalg.norm(theta, axis=-1)[:, None]
    y = response * rng.choice([-1, 1], size=(2, 500))
    f = (np.sum(x * theta, axis=-1) - y)[..., None] * x
    assert np.linalg.norm(f[0] - f[1], axis=1).max() <= diameter(radius, response)


def test_the_diameter_is_attained_in_the_plane() -> None:
    radius, response = 1.3, 1.5
    best = optimize.minimize_scalar(lambda a: -radius * np.sin(2 * a) - 2 * response * np.sin(a), bounds=(0, 2)).x
    x, other = np.array([np.cos(best), np.sin(best)]), np.array([np.cos(best), -np.sin(best)])
    theta = np.array([radius, 0.0])
    distance = np.linalg.norm((x @ theta + response) * x - (other @ theta + response) * other)
    assert distance == pytest.approx(diameter(radius, response), rel=1e-9)


@pytest.mark.parametrize(("rows", "ridge"), [(5, 0.01), (5, 4.0), (5, 5.0), (5, 8.0), (5, 80.0), (40, 1.0)])
def test_the_longest_ridge_estimate(rows: int, ridge: float) -> None:
    """Attained by equal rows sqrt(min(1, gamma / m)) and equal responses."""
    value = ridge_norm_sup(rows, ridge, 1.5)
    x = math.sqrt(min(1.0, ridge / rows))
    assert rows * x * 1.5 / (rows * x * x + ridge) == pytest.approx(value)
    rng = np.random.default_rng(rows)
    for _ in range(50):
        data = rng.normal(size=(rows, 2))
        data /= np.maximum(np.linalg.norm(data, axis=1), 1)[:, None]
        y = 1.5 * rng.choice([-1, 1], rows)
        assert np.linalg.norm(np.linalg.solve(data.T @ data + ridge * np.eye(2), data.T @ y)) <= value


@pytest.mark.parametrize(
    ("rows", "ridge", "distance"), [(10_000, 10.0, 32.04), (1_000_000, 2775.0, 21.86), (100_000, 10_000.0, 6.248)]
)
def test_the_printed_sensitivity_is_false(rows: int, ridge: float, distance: float) -> None:
    first, second = counterexample(rows, ridge)
    moved = ridge * float(np.linalg.norm(first.ridge(ridge) - second.ridge(ridge)))
    assert moved == pytest.approx(distance, abs=6e-3)
    assert moved > printed_constant(1.0, 1.0) == 6
    assert not printed_constant_valid(rows, ridge, 1.0, 1.0)
    # Ours, for the plain estimate, is valid and nearly attained; with the ball the printed constant is valid too.
    assert moved <= ridge * plain_sensitivity(rows, ridge, 2.0) <= moved * 1.08
    assert printed_constant_valid(rows, ridge, 1.0, 1.0, radius=1.0)


def test_golden_loss_ratio_and_source_setting() -> None:
    first, second = counterexample(10_000, 10.0)
    assert 10 * np.linalg.norm(first.ridge(10.0) - second.ridge(10.0)) / 6 == pytest.approx(5.34, abs=5e-3)
    for delta, ratio in ((0.39, 1.15), (0.45, 1.29)):
        ridge = 1e6 ** (1 - delta / 2)
        first, second = counterexample(1_000_000, ridge)
        assert ridge * np.linalg.norm(first.ridge(ridge) - second.ridge(ridge)) / 6 == pytest.approx(ratio, abs=5e-3)


def test_the_counterexample_is_one_record_apart_and_admissible() -> None:
    first, second = counterexample(1000, 10.0, 0.5, 2.0)
    assert np.array_equal(first.x[0], second.x[0])
    assert np.array_equal(first.y, second.y)
    assert first.copies.tolist() == [999.0, 1.0]
    for data in (first, second):
        assert (np.linalg.norm(data.x, axis=1) <= 1 + 1e-15).all()
        assert (np.abs(data.y) <= 2.5).all()
    full = np.vstack([np.repeat(first.x[:1], 999, axis=0), first.x[1:]])
    y = np.append(np.full(999, 2.5), -2.5)
    matrix, vector = first.statistics()
    assert matrix == pytest.approx(full.T @ full)
    assert vector == pytest.approx(full.T @ y)


@pytest.mark.parametrize(("noise", "ratio"), [(1.0, 8.38), (0.5, 13.0), (3.0, 3.13)])
def test_how_far_the_printed_constant_reaches(noise: float, ratio: float) -> None:
    rows = 10**9
    assert printed_constant_valid(rows, rows / (ratio * 0.998), 1.0, noise)
    assert not printed_constant_valid(rows, rows / (ratio * 1.002), 1.0, noise)


@settings(deadline=None)
@given(st.floats(0.1, 100), st.floats(0.1, 5), st.floats(0.1, 5), st.integers(0, 2**32 - 1))
def test_sensitivities_hold_for_interior_estimates(ridge: float, radius: float, response: float, seed: int) -> None:
    """Neighbours whose plain estimates both lie in the ball: constrained and plain agree there."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(8, 2))
    x /= np.maximum(np.linalg.norm(x, axis=1), 1)[:, None]
    y = rng.uniform(-response, response, 8)

    def estimate(rows: list[int]) -> np.ndarray:
        return np.linalg.solve(x[rows].T @ x[rows] + ridge * np.eye(2), x[rows].T @ y[rows])

    common = [0, 1, 2, 3, 4, 5]
    first, second, without = estimate([*common, 6]), estimate([*common, 7]), estimate(common)
    slack = 1 + 1e-9
    assert np.linalg.norm(first - second) <= plain_sensitivity(7, ridge, response) * slack
    if max(np.linalg.norm(first), np.linalg.norm(second)) <= radius:
        assert np.linalg.norm(first - second) <= replacement_sensitivity(ridge, radius, response) * slack
    if max(np.linalg.norm(first), np.linalg.norm(without)) <= radius:
        assert np.linalg.norm(first - without) <= removal_sensitivity(ridge, radius, response) * slack


def test_bad_parameters_are_refused() -> None:
    for make in (
        lambda: diameter(-1, 1), lambda: diameter(1, 0),
        lambda: ridge_norm_sup(0, 1, 1), lambda: ridge_norm_sup(1, 0, 1),
        lambda: replacement_sensitivity(0, 1, 1), lambda: replacement_sensitivity(1, math.inf, 1),
        lambda: removal_sensitivity(1, 0, 1), lambda: printed_constant(0, 1), lambda: counterexample(1, 0.5),
        lambda: counterexample(10, 9.5), lambda: printed_constant_valid(10, 1, 1, 1, radius=0),
    ):
        with pytest.raises(InvalidInput):
            make()
