"""The laws of real-valued noise, from seeded bytes, with broken samplers that the same tests must reject.

A test passes at p > 1e-4 (spec truthful_regression, acceptance 5). Seeds are fixed, so that a pass stays a pass; a
control must fall below 1e-9 with the same number of draws: that is the tests' power.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from confide.privacy.noise import Noise, laws, simulated

SCALE = 0.37
DRAWS = {1: 1500, 2: 1500, 10: 1000, 100: 300}
PASS, FAIL = 1e-4, 1e-9


def radius_p(vectors: np.ndarray, scale: float = SCALE) -> float:
    return stats.kstest(np.linalg.norm(vectors, axis=1), stats.gamma(vectors.shape[1], scale=scale).cdf).pvalue


def direction_p(vectors: np.ndarray) -> float:
    """(1 + u'v/||v||)/2 along the first axis; for d = 1 the sign."""
    along = vectors[:, 0] / np.linalg.norm(vectors, axis=1)
    d = vectors.shape[1]
    if d == 1:
        return stats.binomtest(int((along > 0).sum()), len(along)).pvalue
    return stats.kstest((1 + along) / 2, stats.beta((d - 1) / 2, (d - 1) / 2).cdf).pvalue


@pytest.fixture(scope="module")
def vectors(entropy):
    """Vectors from the ball sampler, for each dimension."""

    def sample(d: int) -> np.ndarray:
        source, zeros, ones = entropy(100 + d), np.zeros(d), np.ones(d)
        draws = [laws.vector_laplace(Fraction(SCALE), zeros, ones, 30, source) for _ in range(DRAWS[d])]
        return np.array(draws)

    return {d: sample(d) for d in DRAWS}


@pytest.mark.parametrize("d", DRAWS)
def test_ball_vectors_have_the_radius_and_direction_of_the_law(d, vectors):
    assert radius_p(vectors[d]) > PASS
    assert direction_p(vectors[d]) > PASS
    squares = (vectors[d] ** 2).sum(axis=1)
    # Var ||v||^2 = s^4 ((d)(d+1)(d+2)(d+3) - d^2(d+1)^2); 3.9 standard errors are p = 1e-4.
    error = SCALE**2 * np.sqrt((d * (d + 1) * (d + 2) * (d + 3) - (d * (d + 1)) ** 2) / len(squares))
    assert abs(squares.mean() - d * (d + 1) * SCALE**2) < 3.9 * error


def test_one_dimension_is_the_two_sided_exponential(vectors):
    assert stats.kstest(vectors[1][:, 0], stats.laplace(scale=SCALE).cdf).pvalue > PASS


@pytest.mark.parametrize("d", DRAWS)
@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_a_wrong_scale_is_noticed(d, factor, vectors):
    assert radius_p(factor * vectors[d]) < FAIL


@pytest.mark.parametrize("d", [2, 10, 100])
def test_independent_laplaces_and_an_exponential_radius_are_noticed(d):
    generator = np.random.default_rng(d)
    independent = generator.laplace(scale=SCALE, size=(DRAWS[d], d))
    assert radius_p(independent) < FAIL
    normals = generator.standard_normal((DRAWS[d], d))
    exponential = generator.standard_exponential((DRAWS[d], 1)) * SCALE
    assert radius_p(exponential * normals / np.linalg.norm(normals, axis=1, keepdims=True)) < FAIL
    normals[:, 0] *= 3  # a direction that prefers the first axis
    assert direction_p(normals) < FAIL


@pytest.mark.slow
@pytest.mark.parametrize("d", DRAWS)
def test_simulated_vectors_follow_the_law(d):
    vectors = simulated._vectors(SCALE, d, 100_000, np.random.default_rng(20 + d))
    assert radius_p(vectors) > PASS
    assert direction_p(vectors) > PASS
    assert (vectors**2).sum(axis=1).mean() == pytest.approx(d * (d + 1) * SCALE**2, rel=0.02)
    noise = Noise.simulated(d)
    drawn = np.array([noise.vector_laplace(SCALE, d, stream=("v", at)) for at in range(600)])
    assert radius_p(drawn) > PASS
    assert direction_p(drawn) > PASS


def test_stretch_and_center_act_on_each_coordinate(entropy):
    plain = laws.vector_laplace(Fraction(1), np.zeros(4), np.ones(4), 30, entropy(1))
    stretch, center = np.array([0.25, 1.0, 1.5, 1.875]), np.array([1.0, -2.0, 3.5, 0.0])
    stretched = laws.vector_laplace(Fraction(1), center, stretch, 30, entropy(1))
    np.testing.assert_allclose(stretched, center + stretch * plain, atol=10 * 2.0**-30)


@pytest.mark.parametrize(("law", "ideal"), [("laplace", stats.laplace), ("gaussian", stats.norm)])
def test_scalar_laws(law, ideal, entropy):
    drawn = getattr(laws, law)(Fraction(SCALE), np.full(10_001, 5.0), 30, entropy(2))
    noise = Noise.simulated(2)
    other = getattr(noise, law)(SCALE, 10_001, stream="x", center=np.full(10_001, 5.0))
    for values in (drawn, other):
        assert stats.kstest(values, ideal(5.0, SCALE).cdf).pvalue > PASS
        assert stats.kstest(5 + 0.7 * (values - 5), ideal(5.0, SCALE).cdf).pvalue < FAIL
        assert stats.kstest(5 + 1.3 * (values - 5), ideal(5.0, SCALE).cdf).pvalue < FAIL
    # Neighbouring draws share a Box-Muller pair, and must be independent all the same.
    for values in (drawn - 5, np.abs(drawn - 5)):
        assert stats.pearsonr(values[:-1:2], values[1::2]).pvalue > PASS


def test_secure_draws_look_right():
    """Smoke test with real entropy: seven binomial counts, each outside its limits with probability below 1e-11."""
    noise = Noise.secure()
    laplace = noise.laplace(2.0, 2000, stream="l")
    gaussian = noise.gaussian(2.0, 2000, stream="g")
    radii = np.array([np.linalg.norm(noise.vector_laplace(2.0, 3, stream=("v", at))) for at in range(500)])
    counts = [
        (laplace > 0, 0.5),
        (np.abs(laplace) > 2 * np.log(2), 0.5),
        (np.abs(laplace) > 4, np.exp(-2)),
        (gaussian > 0, 0.5),
        (np.abs(gaussian) > 2, 2 * stats.norm.sf(1)),
        (radii > 2 * stats.gamma(3).median(), 0.5),
        (radii > 10, stats.gamma(3).sf(5)),
    ]
    for hits, probability in counts:
        assert stats.binomtest(int(hits.sum()), len(hits), probability).pvalue > 1e-11
    assert (laplace * 2**30 % 1 == 0).all()
