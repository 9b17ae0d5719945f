"""What is printed of least squares."""

from __future__ import annotations

import numpy as np
import pytest

from confide import Outcome, SimulatedOutcome
from confide.evidence.cummings_2015.printed_numbers import printed_least_payment, printed_least_squares, printed_remark
from confide.privacy import Noise
from confide.regression import (
    ScoringRule,
    TruthfulRegression,
    UniformBall,
    UniformNoise,
)
from confide.regression.spectrum import Spectrum
from confide.regression.truthful_regression import (
    least_expected_error,
    least_squares_error,
)

N, D = 200, 7


def _people(n: int = N, d: int = D, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = UniformBall(d, 1.0).from_normals(rng.standard_normal((n, d)), rng.random(n))
    theta = UniformBall(d, 1.0).from_normals(rng.standard_normal((1, d)), rng.random(1))[0]
    return X, X @ theta + rng.uniform(-0.5, 0.5, n)


def _paid(outcome: Outcome | SimulatedOutcome) -> np.ndarray:
    return outcome.shares["payment"].to_numpy()


def test_lemma_2_needs_its_d() -> None:
    """E||theta_OLS - theta||^2 = sigma^2 tr (X'X)^-1, between the least possible value and the corrected bound."""
    d, n, variance = 6, 3000, 0.25 / 3
    spectrum = Spectrum.uniform_ball(rows=n, dimension=d, tolerance=0.2)
    X, _ = _people(n, d)
    exact = variance * float(np.trace(np.linalg.inv(X.T @ X)))
    assert printed_least_squares(n, d, variance, 0.2) < least_expected_error(variance, n, d)
    assert least_expected_error(variance, n, d) == pytest.approx(exact, rel=0.05)
    assert exact <= least_squares_error(variance, spectrum)
    rng = np.random.default_rng(4)
    solve = np.linalg.solve(X.T @ X, X.T)
    errors = np.sum((solve @ rng.uniform(-0.5, 0.5, (n, 400))) ** 2, axis=0)
    assert errors.mean() == pytest.approx(exact, abs=5 * errors.std() / 20)


def test_the_remark_is_false_as_a_sure_claim() -> None:
    """[172]: where it argues (|p| <= B, |q| <= B + M) its constant allows -b; a run pays far less than that."""
    for bound, noise in ((1.0, 1.0), (1.0, 0.5), (2.0, 0.1)):
        assert printed_least_payment(bound, noise, bound) == pytest.approx(-1.0)
    rule = ScoringRule(printed_remark(1, 1.0, 1.0)[0], 1.0)
    mechanism = TruthfulRegression(people=3, features=1, prior=UniformBall(1, 1.0), noise=UniformNoise(1.0), rule=rule)
    # Two peers with small features, whose answers the model allows, predict 20 for a player with a large one.
    X, y = np.array([[1.0], [0.05], [0.05]]), np.array([0.0, 1.0, 1.0])
    paid = _paid(mechanism.run((X, y), Noise.simulated(0)))[0] / 100
    assert paid < -1.0
    assert printed_remark(100, 1.0, 1.0)[2] == pytest.approx(0.14)
