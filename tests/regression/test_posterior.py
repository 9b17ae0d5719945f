"""The player's posterior mean (spec truthful_regression 3, acceptance 6)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from cases import fast
from confide.contract import InvalidInput
from confide.regression.posterior import PosteriorMean, informativeness, truthful_reports
from confide.regression.priors import (
    Atoms,
    NoiseLaw,
    SampledPrior,
    TabulatedNoise,
    TruncatedGaussianNoise,
    UniformBall,
    UniformNoise,
)

GAUSSIAN = TruncatedGaussianNoise(0.2, 0.5)
TRIANGULAR = TabulatedNoise.triangular(0.5)
FLAT = TabulatedNoise([-0.5, -0.1, 0.5], [1.0, 1.0, 1.0])
"""Uniform noise that the closed form does not recognise."""
LUMPY = TabulatedNoise([-0.6, -0.3, 0.0, 0.3, 0.6], np.array([0.2, 2.0, 0.5, 2.0, 0.2]) / 1.41)


def uniform(d: int, bound: float = 0.5, radius: float = 1.0) -> PosteriorMean:
    return PosteriorMean(UniformBall(d, radius), UniformNoise(bound))


def ball(seed: int, n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return UniformBall(d, 1.0).from_normals(rng.normal(size=(n, d)), rng.uniform(size=n))


def oracle(d: int, noise: NoiseLaw, norm: float, y: float, radius: float = 1.0) -> float:
    """Direct adaptive integration over t = x'theta."""
    reach, ends = norm * radius, noise.breaks
    low, high = max(-reach, y - ends[-1]), min(reach, y - ends[0])
    cuts = np.unique(np.clip(np.concatenate((np.linspace(low, high, 9), y - ends)), low, high))
    shift = float(np.max(noise.log_density(ends[:-1] / 2 + ends[1:] / 2)))

    def weight(t: float) -> float:
        return max(0.0, 1 - (t / reach) ** 2) ** ((d - 1) / 2) * float(np.exp(noise.log_density(y - t) - shift))

    parts = list(pairwise(cuts))
    mass = sum(integrate.quad(weight, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in parts)
    return sum(integrate.quad(lambda t: t * weight(t), a, b, epsabs=1e-14 * mass)[0] for a, b in parts) / mass


def test_golden_values() -> None:
    found = uniform(3).at_norms([0.7, 0.9055385138], [0.4, 1.2])
    assert found == pytest.approx([0.2076923077, 0.7699148287], abs=5e-11)
    assert uniform(100).at_norms([1.0], [0.9]) == pytest.approx([0.4187384753], abs=5e-11)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 9, 10])
def test_closed_form_against_direct_integration(d: int) -> None:
    rng = np.random.default_rng(d)
    for bound, radius in ((0.5, 1.0), (0.02, 1.0), (2.0, 0.7), (0.5, 3.0)):
        law = uniform(d, bound, radius)
        norms = rng.uniform(0.05, 1, 6)
        y = rng.uniform(-0.98, 0.98, 6) * (radius * norms + bound)
        expected = [oracle(d, law.noise, r, v, radius) for r, v in zip(norms, y, strict=True)]
        assert law.at_norms(norms, y) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 10])
@pytest.mark.parametrize("noise", [GAUSSIAN, TRIANGULAR, LUMPY], ids=["gaussian", "triangular", "lumpy"])
def test_quadrature_against_direct_integration(d: int, noise: NoiseLaw) -> None:
    rng = np.random.default_rng(d)
    norms = rng.uniform(0.05, 1, 8)
    y = rng.uniform(-0.98, 0.98, 8) * (norms + noise.bound)
    expected = [oracle(d, noise, r, v) for r, v in zip(norms, y, strict=True)]
    assert PosteriorMean(UniformBall(d, 1.0), noise).at_norms(norms, y) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 10, 63, 64, 65, 100, 1000])
def test_closed_form_against_quadrature_in_every_dimension(d: int) -> None:
    """Also where windows are tiny, tails are far and the density underflows."""
    rng = np.random.default_rng(d)
    norms = np.concatenate((rng.uniform(0.01, 1, 500), [1.0, 1.0, 0.3]))
    inside = rng.uniform(-1, 1, 250) * (norms[:250] + 0.5)
    edge = (norms[250:500] + 0.5) * (1 - 10 ** rng.uniform(-12, -1, 250))
    y = np.concatenate((inside, edge, [1.4, 1.5 - 1e-6, 0.2]))
    other = PosteriorMean(UniformBall(d, 1.0), FLAT)
    assert uniform(d).at_norms(norms, y) == pytest.approx(other.at_norms(norms, y), abs=1e-12)


@pytest.mark.parametrize("bound", [1e-3, 1e-6, 1e-9, 1e-12])
def test_tiny_noise_gives_the_response_back(bound: float) -> None:
    for d in (2, 10, 100):
        norms, y = np.array([0.9, 0.9, 0.5]), np.array([0.3, -0.8, 1e-4])
        assert uniform(d, bound).at_norms(norms, y) == pytest.approx(y, abs=200 * bound**2 + 1e-15)


def test_narrow_gaussian_noise_follows_the_gaussian_formula() -> None:
    """With sigma far below the bound: q = y - sigma^2 (d - 1) t / (r^2 - t^2) to first order in sigma^2."""
    d, sigma, norm, y = 5, 1e-3, 0.8, 0.5
    law = PosteriorMean(UniformBall(d, 1.0), TruncatedGaussianNoise(sigma, 0.5))
    expected = y - sigma**2 * (d - 1) * y / (norm**2 - y**2)
    assert law.at_norms([norm], [y]) == pytest.approx([expected], abs=1e-9)


def test_flat_zone() -> None:
    """Uniform noise with M >= R0 ||x||: no information up to |y| = M - R0 ||x||; a third of the players at d = 2."""
    assert uniform(2, 1.0).at_norms([0.6] * 3, [-0.4, 0.0, 0.4]).tolist() == [0.0, 0.0, 0.0]
    assert uniform(2, 1.0).at_norms([0.6], [0.401])[0] > 0
    x, y, weights = truthful_reports(UniformBall(2, 1.0), UniformNoise(1.0), 32)
    assert np.sum(weights * (uniform(2, 1.0)(x, y) == 0)) == pytest.approx(0.34, abs=0.01)


norms_in_range = st.floats(0.0, 1.0)
dimensions = st.sampled_from([1, 2, 3, 10, 64, 65, 300])
noises = st.sampled_from([UniformNoise(0.5), UniformNoise(0.01), GAUSSIAN, TRIANGULAR])


@settings(deadline=None, max_examples=60)
@given(dimensions, norms_in_range, noises, st.floats(0.1, 3.0))
def test_monotone_odd_and_bounded(d: int, norm: float, noise: NoiseLaw, radius: float) -> None:
    law = PosteriorMean(UniformBall(d, radius), noise)
    y = np.linspace(-1.2, 1.2, 101) * (radius * norm + noise.bound)
    q = law.at_norms(np.full(101, norm), y)
    assert np.diff(q).min() >= -1e-12
    assert np.abs(q).max() <= radius * norm
    assert q == pytest.approx(-q[::-1], abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([UniformNoise(0.2), GAUSSIAN]))
def test_points_are_monotone_and_bounded_too(seed: int, noise: NoiseLaw) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (5, 3))
    law = PosteriorMean(Atoms(points, rng.dirichlet(np.ones(5)) * (1 - 1e-6) + 2e-7), noise)
    x = np.tile(rng.uniform(-0.5, 0.5, 3), (201, 1))
    q = law(x, np.linspace(-2, 2, 201))
    inner = points @ x[0]
    assert np.diff(q).min() >= -1e-12
    assert inner.min() - 1e-12 <= q.min() <= q.max() <= inner.max() + 1e-12


def test_atoms_are_exact_sums() -> None:
    points, weights = np.array([[0.5, 0.0], [-0.2, 0.3], [0.1, -0.9]]), np.array([0.2, 0.5, 0.3])
    x, y = np.array([[0.6, 0.4]]), 0.1
    inner = points @ x[0]
    for noise in (UniformNoise(0.45), GAUSSIAN, LUMPY):
        density = weights * np.exp(noise.log_density(y - inner))
        expected = density @ inner / density.sum()
        assert PosteriorMean(Atoms(points, weights), noise)(x, [y]) == pytest.approx([expected], abs=1e-15)


def test_impossible_reports_move_to_the_nearest_possible_one() -> None:
    law = PosteriorMean(Atoms([[-0.8], [0.0], [0.9]], [0.5, 0.25, 0.25]), UniformNoise(0.1))
    y = [-5.0, -0.91, -0.65, -0.39, 0.3, 0.5, 2.0]
    assert law(np.ones((7, 1)), y).tolist() == [-0.8, -0.8, -0.8, 0.0, 0.0, 0.9, 0.9]
    for d in (1, 2, 10, 1000):
        assert uniform(d).at_norms([0.7, 0.7], [1.2, 50.0]) == pytest.approx([0.7, 0.7], abs=1e-15)
        assert PosteriorMean(UniformBall(d, 1.0), GAUSSIAN).at_norms([0.7], [-9.0]) == pytest.approx([-0.7])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(*[st.floats(width=64)] * 3), min_size=1, max_size=20),
    st.sampled_from([UniformNoise(0.5), GAUSSIAN, TRIANGULAR, LUMPY]),
    st.sampled_from([UniformBall(2, 1.0), SampledPrior([[0.3, 0.4], [-0.5, 0.1]], radius=1.0)]),
)
def test_no_record_makes_trouble(records: list[tuple[float, ...]], noise: NoiseLaw, prior: UniformBall) -> None:
    table = np.array(records)
    q = PosteriorMean(prior, noise)(table[:, :2], table[:, 2])
    with np.errstate(all="ignore"):
        norms = np.sqrt(table[:, 0] ** 2 + table[:, 1] ** 2)
    usable = np.isfinite(norms) & np.isfinite(table[:, 2])
    assert np.isfinite(q).all()
    assert (q[~usable | (norms == 0)] == 0).all()
    assert (np.abs(q[usable]) <= norms[usable]).all()


def _points(d: int) -> np.ndarray:
    return ball(12, 1000, d)


@pytest.mark.parametrize("d", fast(1, [2, 1, 7, 10]))
@pytest.mark.parametrize("noise", [UniformNoise(0.5), GAUSSIAN, LUMPY], ids=["uniform", "gaussian", "lumpy"])
@pytest.mark.parametrize("prior", ["ball", "atoms", "sample"])
def test_a_records_value_is_bitwise_its_own(d: int, noise: NoiseLaw, prior: str) -> None:
    points = _points(d)
    law = PosteriorMean(
        {
            "ball": UniformBall(d, 1.0),
            "atoms": Atoms(points[:37], np.full(37, 1 / 37)),
            "sample": SampledPrior(points, radius=1.0),
        }[prior],
        noise,
    )
    X = ball(5, 1000, d)
    rng = np.random.default_rng(6)
    y = X @ points[0] + noise.from_uniforms(rng.uniform(size=1000))
    y[::17] *= 3
    whole = law(X, y)
    order = rng.permutation(1000)
    assert law(X[order], y[order]).tobytes() == whole[order].tobytes()
    for size in (1, 7, 333):
        starts = range(0, 1000, max(size, 91))
        parts = [(i, law(X[i : i + size], y[i : i + size])) for i in starts]
        assert all(part.tobytes() == whole[i : i + size].tobytes() for i, part in parts)
    strided, wide = np.asfortranarray(X), np.zeros((2000, 2 * d))
    wide[::2, ::2] = X
    assert law(strided, y).tobytes() == whole.tobytes()
    assert law(wide[::2, ::2], np.repeat(y, 3)[::3]).tobytes() == whole.tobytes()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X = ball(3, 2000, 4)
    y = np.linspace(-1.4, 1.4, 2000)
    laws = [uniform(4), PosteriorMean(UniformBall(4, 1.0), GAUSSIAN), PosteriorMean(SampledPrior(_points(4)), GAUSSIAN)]
    before = [law(X, y).tobytes() for law in laws]
    monkeypatch.setattr("confide.regression.posterior._CELLS", 3333)
    assert [law(X, y).tobytes() for law in laws] == before


@pytest.mark.parametrize("noise", [UniformNoise(0.5), GAUSSIAN], ids=["uniform", "gaussian"])
def test_a_sampled_prior_agrees_with_the_closed_form(noise: NoiseLaw) -> None:
    """Within 4 standard errors of the ratio estimate, at 40 records."""
    points = ball(8, 2**14, 3)
    X = ball(9, 40, 3)
    y = X @ points[1] + noise.from_uniforms(np.random.default_rng(2).uniform(size=40))
    exact = PosteriorMean(UniformBall(3, 1.0), noise)(X, y)
    sampled = PosteriorMean(SampledPrior(points, radius=1.0), noise)(X, y)
    inner = X @ points.T
    weight = np.exp(noise.log_density(y[:, None] - inner))
    share = weight / weight.sum(axis=1, keepdims=True)
    error = np.sqrt(np.sum(share**2 * (inner - exact[:, None]) ** 2, axis=1))
    assert (np.abs(sampled - exact) <= 4 * error).all()


@pytest.mark.parametrize(
    ("d", "printed", "exact"),
    [(2, (0.88, 0.63, 0.35), (0.873, 0.647, 0.347)), (10, (0.77, 0.44, 0.24), (0.771, 0.469, 0.236))],
)
def test_informativeness(d: int, printed: tuple[float, ...], exact: tuple[float, ...]) -> None:
    """The specification prints .88, .63 and .44 where direct simulation gives .873, .647 and .469."""
    rng = np.random.default_rng(d)
    for bound, rough, value in zip((0.25, 0.5, 1.0), printed, exact, strict=True):
        found = informativeness(UniformBall(d, 1.0), UniformNoise(bound))
        assert found == pytest.approx(value, abs=6e-4)
        assert found == pytest.approx(rough, abs=0.03)
        n = 60_000
        norms, t = rng.uniform(size=n) ** (1 / d), ball(d, n, d)[:, 0]
        q = uniform(d, bound).at_norms(norms, norms * t + rng.uniform(-bound, bound, n))
        # E[q t] = E[q^2] for a posterior mean: two simulations in one.
        for simulated in (q * q, q * norms * t):
            scaled = simulated * (d + 2) ** 2 / d
            assert found == pytest.approx(scaled.mean(), abs=4.5 * scaled.std() / n**0.5)


def test_informativeness_of_points_and_other_radii() -> None:
    exact = informativeness(UniformBall(3, 1.0), GAUSSIAN)
    assert informativeness(SampledPrior(ball(1, 600, 3)), GAUSSIAN) == pytest.approx(exact, abs=0.03)
    wide = TruncatedGaussianNoise(0.6, 1.5)
    assert informativeness(UniformBall(3, 3.0), wide) == pytest.approx(exact, rel=1e-9)


def test_truthful_reports_have_the_laws_moments() -> None:
    for prior in (UniformBall(3, 0.8), Atoms([[0.3, 0.2, 0.1], [-0.3, -0.2, 0.6]], [0.5, 0.5])):
        x, y, weights = truthful_reports(prior, GAUSSIAN)
        square = 0.64 * 3 / 5 if isinstance(prior, UniformBall) else (0.14 + 0.49) / 2
        assert weights.sum() == pytest.approx(1)
        assert np.sum(weights * np.sum(x * x, axis=1)) == pytest.approx(3 / 5, rel=0.02)
        assert np.sum(weights * y * y) == pytest.approx(square / 5 + GAUSSIAN.variance, rel=0.02)


@pytest.mark.parametrize("d", fast(1, [10, 1, 65]))
@pytest.mark.parametrize("noise", [UniformNoise(0.5), UniformNoise(0.01), GAUSSIAN], ids=["flat", "narrow", "gaussian"])
def test_slack_is_the_room_to_lie(d: int, noise: NoiseLaw) -> None:
    rng = np.random.default_rng(d)
    law = PosteriorMean(UniformBall(d, 1.0), noise)
    n = 25
    x, end = np.zeros((n, d)), noise.bound + (norms := rng.uniform(0.05, 1, n))
    x[:, 0] = norms
    y = rng.uniform(-1, 1, n) * end
    before = np.zeros(n)
    for rho in (0.0, 0.2):
        down, up = law.slacks(x, y, rho)
        base = law(x, y)
        for moved, side in ((down, -1), (up, 1)):
            assert (moved >= 0).all()
            assert (moved <= end - side * y + 1e-12).all()
            assert (np.abs(law(x, y + side * moved) - base) <= rho + 1e-9).all()
            beyond = y + side * (moved + 1e-6)
            inner = np.abs(beyond) < end
            assert (np.abs(law(x, beyond) - base)[inner] >= rho - 1e-9).all()
        both = law.slack(x, y, rho)
        assert np.array_equal(both, np.maximum(down, up))
        assert (both >= before).all()
        before = both


def test_slack_in_the_flat_zone_and_of_points() -> None:
    law = uniform(2, 1.0)
    x = np.array([[0.6, 0.0], [0.0, 0.0], [np.nan, 0.0]])
    down, up = law.slacks(x, [0.1, 0.1, 0.1], 0.0)
    assert down == pytest.approx([0.5, 0, 0])
    assert up == pytest.approx([0.3, 0, 0], abs=1e-7)
    atoms = PosteriorMean(Atoms([[-0.8], [0.9]], [0.5, 0.5], radius=1.0), UniformNoise(0.1))
    down, up = atoms.slacks([[1.0]], [0.9], 0.5)
    assert up == pytest.approx([0.2])
    assert down == pytest.approx([0.9 - 0.05])


def test_misuse_is_refused() -> None:
    law = uniform(3)
    for X, y in (([[0.1, 0.2]], [0.1]), ([0.1, 0.2, 0.3], 0.1), ([[0.1, 0.2, 0.3]], [0.1, 0.2])):
        with pytest.raises(InvalidInput, match="shape"):
            law(X, y)
    with pytest.raises(InvalidInput, match="isotropic"):
        PosteriorMean(SampledPrior([[0.1]]), GAUSSIAN).at_norms([0.1], [0.1])
    with pytest.raises(InvalidInput, match="log-concave"):
        PosteriorMean(UniformBall(2, 1.0), LUMPY).slack([[0.1, 0.1]], [0.0], 0.1)
    with pytest.raises(InvalidInput, match="rho"):
        law.slack([[0.1, 0.1, 0.1]], [0.0], -0.1)
    with pytest.raises(InvalidInput, match="prior"):
        PosteriorMean(GAUSSIAN, GAUSSIAN)  # type: ignore[arg-type]


@pytest.mark.slow
def test_sampled_prior_over_many_records() -> None:
    """All of 2000 records at d = 10 within 5 standard errors, and on average unbiased."""
    points, X = ball(21, 2**14, 10), ball(22, 2000, 10)
    noise = UniformNoise(0.5)
    y = X @ points[3] + noise.from_uniforms(np.random.default_rng(4).uniform(size=2000))
    exact = uniform(10)(X, y)
    sampled = PosteriorMean(SampledPrior(points, radius=1.0), noise)(X, y)
    inner = X @ points.T
    weight = (np.abs(y[:, None] - inner) <= 0.5) / np.sum(np.abs(y[:, None] - inner) <= 0.5, axis=1)[:, None]
    error = np.sqrt(np.sum(weight**2 * (inner - exact[:, None]) ** 2, axis=1))
    assert (np.abs(sampled - exact) <= 5 * error).all()
    assert np.mean(((sampled - exact) / error) ** 2) < 3
