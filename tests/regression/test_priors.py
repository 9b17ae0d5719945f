"""Public laws of the parameter and of the noise (spec truthful_regression 1 and 3)."""

from __future__ import annotations

import math
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

from confide.contract import InvalidInput
from confide.contract.encoding import decode, encode
from confide.regression.priors import (
    Atoms,
    NoiseLaw,
    SampledPrior,
    TabulatedNoise,
    TruncatedGaussianNoise,
    UniformBall,
    UniformNoise,
)


def skewed() -> TabulatedNoise:
    """Mean zero, not symmetric, not log-concave."""
    grid = np.array([-0.6, -0.3, 0.0, 0.1, 0.9])
    shape = np.array([0.4, 1.0, 2.0, 1.5, 0.05])
    density = shape / integrate.trapezoid(shape, grid)
    mean = sum(
        integrate.quad(lambda z: z * np.interp(z, grid, density), a, b)[0]
        for a, b in pairwise(grid)
    )
    return TabulatedNoise(grid - mean, density)


LAWS: list[NoiseLaw] = [
    UniformNoise(0.5),
    TruncatedGaussianNoise(0.2, 0.5),
    TruncatedGaussianNoise(40.0, 0.5),
    TabulatedNoise.triangular(0.5),
    skewed(),
]


def _moment(law: NoiseLaw, power: int) -> float:
    pieces = pairwise(law.breaks)
    return sum(integrate.quad(lambda z: z**power * np.exp(law.log_density(z)), a, b)[0] for a, b in pieces)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_noise_laws_state_their_moments(law: NoiseLaw) -> None:
    assert isinstance(law, NoiseLaw)
    assert _moment(law, 0) == pytest.approx(1, abs=1e-9)
    assert _moment(law, 1) == pytest.approx(0, abs=1e-9)
    assert _moment(law, 2) == pytest.approx(law.variance, rel=1e-9)
    assert law.bound == max(-law.breaks[0], law.breaks[-1])
    assert np.isneginf(law.log_density([law.breaks[0] - 1e-9, law.breaks[-1] + 1e-9])).all()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_slopes_and_quantiles_belong_to_the_density(law: NoiseLaw) -> None:
    rng = np.random.default_rng(1)
    z = rng.uniform(law.breaks[0], law.breaks[-1], 200)
    z = z[np.min(np.abs(z[:, None] - law.breaks), axis=1) > 1e-3]
    step = 1e-6
    slope = (law.log_density(z + step) - law.log_density(z - step)) / (2 * step)
    assert law.log_slope(z) == pytest.approx(slope, rel=1e-4, abs=1e-4)
    for u in (0.0, 0.03, 0.5, 0.71, 1.0):
        quantile = float(law.from_uniforms(u))
        cuts = np.unique(np.append(law.breaks[law.breaks < quantile], quantile))
        mass = sum(integrate.quad(lambda v: np.exp(law.log_density(v)), a, b)[0]
                   for a, b in pairwise(cuts))
        assert mass == pytest.approx(u, abs=1e-9)
    assert (np.diff(law.from_uniforms(np.linspace(0, 1, 500))) >= 0).all()


def test_log_concavity_is_recognised() -> None:
    assert [law.log_concave for law in LAWS] == [True, True, True, True, False]
    assert TabulatedNoise([-1, 0, 1], [0.5, 0.5, 0.5]).log_concave


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_the_truncated_gaussian_has_the_textbooks_variance(sigma: float, bound: float) -> None:
    beta = bound / sigma
    law = TruncatedGaussianNoise(sigma, bound)
    if 0.1 < beta < 30:
        mass = special.erf(beta / math.sqrt(2))
        textbook = sigma**2 * (1 - 2 * beta * math.exp(-(beta**2) / 2) / math.sqrt(2 * math.pi) / mass)
        assert law.variance == pytest.approx(textbook, rel=1e-9)
    assert 0 < law.variance <= min(sigma**2, bound**2 / 3) * (1 + 1e-12)


def test_draws_from_the_ball_fill_it() -> None:
    rng = np.random.default_rng(7)
    law = UniformBall(3, 2.0)
    theta = law.from_normals(rng.normal(size=(50_000, 3)), rng.uniform(size=50_000))
    assert np.linalg.norm(theta, axis=1).max() <= 2.0 * (1 + 1e-12)
    assert np.mean(np.sum(theta**2, axis=1)) == pytest.approx(4 * 3 / 5, rel=0.01)


def test_draws_of_points_have_their_weights() -> None:
    points = np.array([[0.1, 0.0], [0.0, 0.9], [-0.5, 0.5]])
    atoms = Atoms(points, [0.2, 0.5, 0.3])
    u = (np.arange(1000) + 0.5) / 1000
    drawn = atoms.from_uniforms(u)
    assert [int(np.sum(np.all(drawn == p, axis=1))) for p in points] == [200, 500, 300]
    assert atoms.radius == pytest.approx(0.9)
    assert atoms.dimension == 2
    sample = SampledPrior(points, radius=1.0)
    assert sample.radius == 1.0
    assert sample.weights.tolist() == [1 / 3] * 3
    assert np.array_equal(sample.from_uniforms([0.0, 0.5, 0.9999999]), points)


def test_laws_own_their_arrays() -> None:
    points = np.array([[0.5, 0.0]])
    law = SampledPrior(points)
    points[0, 0] = 9.0
    assert law.points[0, 0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        law.points[0, 0] = 1.0


@pytest.mark.parametrize(
    "law",
    [
        UniformBall(3, 1.5), Atoms([[0.1, 0.3], [0.2, -0.7]], [0.25, 0.75]), SampledPrior([[0.1, 0.3], [0.2, -0.7]]),
        *LAWS,
    ],
    ids=lambda law: type(law).__name__,
)
def test_laws_survive_the_manifest(law: object) -> None:
    columns: dict[str, bytes] = {}
    back = decode(encode(law, columns), {type(law).__name__: type(law)}, columns)
    for field in fields(law):  # type: ignore[arg-type]
        assert np.array_equal(getattr(back, field.name), getattr(law, field.name))


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: UniformBall(0, 1.0), "dimension"),
        (lambda: UniformBall(2, 0.0), "radius"),
        (lambda: UniformNoise(0.0), "bound"),
        (lambda: TruncatedGaussianNoise(0.0, 1.0), "noise_std"),
        (lambda: TruncatedGaussianNoise(1.0, math.inf), "bound"),
        (lambda: TabulatedNoise.triangular(-1.0), "bound"),
        (lambda: SampledPrior([[3.0, 0.0]], radius=2.0), "points"),
        (lambda: SampledPrior([[0.0, 0.0]]), "points"),
        (lambda: SampledPrior([0.1, 0.2]), "points"),
        (lambda: SampledPrior([[math.nan]]), "points"),
        (lambda: SampledPrior(np.empty((0, 2))), "points"),
        (lambda: Atoms([[0.1], [0.2]], [0.5, 0.6]), "weights"),
        (lambda: Atoms([[0.1], [0.2]], [1.0, 0.0]), "weights"),
        (lambda: Atoms([[0.1], [0.2]], [1.0]), "weights"),
        (lambda: Atoms([[0.1]], [1.0], radius=0.05), "points"),
        (lambda: TabulatedNoise([0.0], [1.0]), "grid"),
        (lambda: TabulatedNoise([0.0, 0.0], [1.0, 1.0]), "grid"),
        (lambda: TabulatedNoise([-1.0, 0.0, 1.0], [0.5, 0.5]), "density"),
        (lambda: TabulatedNoise([-1.0, 0.0, 1.0], [1.0, 0.0, 1.0]), "density"),
        (lambda: TabulatedNoise([-1.0, 0.0, 1.0], [-0.5, 1.5, 0.0]), "density"),
        (lambda: TabulatedNoise([-1.0, 1.0], [math.nan, 0.5]), "density"),
        (lambda: TabulatedNoise([-1.0, 1.0], [0.4, 0.4]), "density"),
        (lambda: TabulatedNoise([-1.0, 1.0 + 1e-6], [0.5, 0.5]), "density"),
    ],
)
def test_bad_laws_are_refused(make: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()  # type: ignore[operator]
    assert caught.value.field == field
