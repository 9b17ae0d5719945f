"""The constrained ridge solution: optimality, the certificate, and no data on which it fails (spec acceptance 4)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.regression import constrained_ridge as module
from confide.regression.constrained_ridge import certified_ridge, constrained_ridge
from confide.regression.records import Moments, RecordMap, as_batches, moments
from confide.regression.sensitivity import diameter

UNIT = 2.0**32


def _moments(X: np.ndarray, y: np.ndarray) -> Moments:
    record_map = RecordMap(parameter_bound=10.0, noise_bound=10.0, response_bound=2.0)
    first, second = moments(as_batches((X, y), X.shape[1]), record_map, np.zeros(len(X), dtype=bool), X.shape[1])
    assert not second.gram.any()
    return first


def _unit_rows(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    X = rng.standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1)[:, None]


def _optimality(gram: np.ndarray, cross: np.ndarray, ridge: float, radius: float) -> float:
    """Norm of the projected-gradient residual, relative to the gradient's scale."""
    theta, m = constrained_ridge(gram, cross, ridge, radius)
    norm = float(np.linalg.norm(theta))
    assert m >= 0
    assert norm <= radius * (1 + 1e-12)
    if m > 0:
        assert norm == pytest.approx(radius, rel=1e-9)
    residual = gram @ theta + (ridge + m) * theta - cross
    return float(np.linalg.norm(residual)) / max(1.0, float(np.linalg.norm(cross)))


def test_optimality_conditions_on_random_and_adversarial_problems() -> None:
    rng = np.random.default_rng(11)
    worst = 0.0
    for _ in range(500):
        d = int(rng.integers(1, 8))
        X = _unit_rows(rng, int(rng.integers(2, 200)), d) * rng.random()
        y = rng.uniform(-2, 2, len(X)) * rng.choice([1e-9, 1.0, 30.0])
        gram, cross = X.T @ X, X.T @ y
        worst = max(worst, _optimality(gram, cross, 10 ** rng.uniform(-6, 4), 10 ** rng.uniform(-4, 2)))
    assert worst < 1e-9


def test_zero_data_gives_zero() -> None:
    theta, m = constrained_ridge(np.zeros((3, 3)), np.zeros(3), 1.0, 1.0)
    assert m == 0
    assert not theta.any()
    empty = Moments(np.zeros((3, 3), dtype=object), np.zeros(3, dtype=object))
    assert certified_ridge(empty, 1.0, 1.0, 1e-6) == [0, 0, 0]


def test_certificate_holds_where_the_ball_binds_hard() -> None:
    # spec 4.4: n = 8e8, gamma = 1.5e4, multipliers around 1e8 defeated downward scaling alone
    rng = np.random.default_rng(5)
    cases = [(1, 10.0, 1e-4), (10**5, 1.5e4, 0.05), (10**6, 1.5e4, 1.25), (1, 1e-3, 1.25), (1, 1e6, 1.25)]
    for copies, gamma, radius in cases:
        X = _unit_rows(rng, 800, 3)
        small = _moments(X, np.clip(X @ np.array([1.0, -0.5, 0.3]), -2, 2))
        sums = Moments(small.gram * copies, small.cross * copies)
        tolerance = 2.0**-16 * diameter(radius, 2.0) / gamma
        theta = certified_ridge(sums, gamma, radius, tolerance)
        assert sum(t * t for t in theta) <= Fraction(radius) ** 2  # exactly feasible
        assert all((t.denominator & (t.denominator - 1)) == 0 for t in theta)  # dyadic
        # An independent solution at 60 digits lies within the certified distance.
        exact = _solve_in_digits(sums, gamma, radius)
        assert math.dist([float(t) for t in theta], exact) <= tolerance * (1 + 1e-6)


def _solve_in_digits(sums: Moments, gamma: float, radius: float) -> list[float]:
    """Bisection on the multiplier with exact linear solves in 60 digits (mpmath through sympy is not needed)."""
    from flint import arb, arb_mat, ctx

    before, ctx.prec = ctx.prec, 256
    try:
        d = sums.dimension
        unit = arb(2) ** -32
        gram = arb_mat([[arb(int(v)) * unit for v in row] for row in sums.gram])
        cross = arb_mat([[arb(int(v)) * unit] for v in sums.cross])

        def theta(m: arb) -> arb_mat:
            shifted = arb_mat([[gram[i, j] + (gamma + m if i == j else 0) for j in range(d)] for i in range(d)])
            return shifted.solve(cross)

        def norm(m: arb) -> arb:
            t = theta(m)
            return (t.transpose() * t)[0, 0].sqrt()

        low, high = arb(0), arb(1)
        if norm(low) > radius:
            while norm(high) > radius:
                high *= 2
            for _ in range(200):
                middle = ((low + high) / 2).mid()
                low, high = (middle, high) if norm(middle) > radius else (low, middle)
        return [float(v) for v in theta(low if norm(arb(0)) <= radius else high).entries()]
    finally:
        ctx.prec = before


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_stay_within_the_proved_distance(seed: int) -> None:
    """2,000 random and adversarial neighbouring pairs over the four seeds: distance <= D/gamma (spec acceptance 4)."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(500):
        d = int(rng.integers(1, 5))
        n = int(rng.integers(2, 400))
        radius, response = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-1, 0.5)
        gamma = 10 ** rng.uniform(-2, 3)
        if rng.random() < 0.5:  # adversarial: all others push along one axis to the longest estimate
            X = np.zeros((n, d))
            X[:, 0] = min(1.0, math.sqrt(gamma / max(1, n - 1)))
            y = np.full(n, response)
        else:
            X = _unit_rows(rng, n, d) * rng.random((n, 1))
            y = rng.uniform(-response, response, n)
        gram, cross = X[1:].T @ X[1:], X[1:].T @ y[1:]
        angle = rng.uniform(0, math.pi / 2)
        first, second = np.zeros(d), np.zeros(d)
        first[0] = second[0] = math.cos(angle)
        if d > 1:
            first[1], second[1] = math.sin(angle), -math.sin(angle)
        signs = rng.choice([-1.0, 1.0], 2) * response
        a, _ = constrained_ridge(gram + np.outer(first, first), cross + first * signs[0], gamma, radius)
        b, _ = constrained_ridge(gram + np.outer(second, second), cross + second * signs[1], gamma, radius)
        worst = max(worst, float(np.linalg.norm(a - b)) * gamma / diameter(radius, response))
    assert 0.5 < worst <= 1 + 1e-9


def test_no_symmetric_matrix_is_refused() -> None:
    """Noisy moments can be indefinite, singular, huge or tiny; the answer is finite, inside the ball, and optimal."""
    rng = np.random.default_rng(0)
    for _ in range(4000):
        d = int(rng.integers(1, 6))
        gram = rng.standard_normal((d, d)) * 10.0 ** rng.uniform(-8, 8)
        gram = (gram + gram.T) / 2
        if rng.random() < 0.3:
            gram = np.diag(rng.choice([-1.0, 1.0, 0.0], d)) * 10.0 ** rng.uniform(-8, 8)
        cross = rng.standard_normal(d) * 10.0 ** rng.uniform(-320, 8) * (rng.random(d) < 0.7)
        radius, ridge = 10.0 ** rng.uniform(-8, 8), float(rng.choice([0.0, 1e-3, 1.0, 100.0]))
        theta, multiplier = constrained_ridge(gram, cross, ridge, radius)
        assert np.isfinite(theta).all()
        assert math.isfinite(multiplier)
        assert np.linalg.norm(theta) <= radius * (1 + 1e-9)


def test_an_indefinite_matrix_has_its_minimum_on_the_sphere() -> None:
    """Also where the pull has no part along the most negative direction: it is below a fine circle of others."""
    gram = np.diag([-2.0, 1.0])
    angles = np.linspace(0, 2 * math.pi, 100_001)
    circle = 3.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for cross in (np.array([0.0, 0.5]), np.array([0.3, -4.0]), np.zeros(2)):
        theta, _ = constrained_ridge(gram, cross, 0.5, 3.0)
        values = np.einsum("ij,jk,ik->i", circle, gram + 0.5 * np.eye(2), circle) - 2 * circle @ cross
        mine = theta @ (gram + 0.5 * np.eye(2)) @ theta - 2 * cross @ theta
        assert mine <= values.min() + 1e-9


@pytest.mark.parametrize("wrong", [1e-5, -1e-3, 0.1])
@pytest.mark.parametrize("radius", [0.3, 50.0])
def test_the_certificate_does_not_trust_the_first_solution(
    wrong: float, radius: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A solver that is off, with the ball binding or not: the answer is refined until the proved distance is small."""
    rng = np.random.default_rng(3)
    rows = np.trunc(rng.uniform(-0.5, 0.5, (60, 3)) * 2**16).astype(int).astype(object)
    answers = np.trunc(rng.uniform(-1, 1, 60) * 2**16).astype(int).astype(object)
    sums = Moments(rows.T @ rows, rows.T @ answers)
    exact = certified_ridge(sums, 0.5, radius, 1e-25)
    sound = constrained_ridge

    def off(*arguments: object) -> tuple[np.ndarray, float]:
        theta, multiplier = sound(*arguments)  # type: ignore[arg-type]
        return theta * (1.0 + wrong), multiplier * (1.0 + wrong)

    monkeypatch.setattr(module, "constrained_ridge", off)
    for tolerance in (1e-6, 1e-12):
        refined = certified_ridge(sums, 0.5, radius, tolerance)
        assert math.dist(map(float, refined), map(float, exact)) <= tolerance * (1 + 1e-3) + 1e-15
