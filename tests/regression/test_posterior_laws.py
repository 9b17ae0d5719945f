"""The other rows of the posterior table: sphere, Gaussian cut to a ball, box (spec truthful_regression 3, acc. 6)."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special

from confide.contract import InvalidInput
from confide.contract.encoding import decode, encode
from confide.privacy import Noise
from confide.regression import _uniform_sum
from confide.regression._gaussian_ball import LogMass, cut_gaussian_mean, gaussian_circle_mean
from confide.regression._uniform_sum import uniform_sum_mean
from confide.regression.posterior import PosteriorMean, informativeness, truthful_reports
from confide.regression.priors import (
    Atoms,
    GaussianBall,
    Isotropic,
    NoiseLaw,
    Prior,
    SampledPrior,
    TabulatedNoise,
    TruncatedGaussianNoise,
    UniformBall,
    UniformBox,
    UniformNoise,
    UniformSphere,
)
from confide.regression.setting import Setting
from confide.regression.stand_ins import stand_in

FLAT = UniformNoise(0.5)
GAUSSIAN = TruncatedGaussianNoise(0.2, 0.5)
TRIANGULAR = TabulatedNoise.triangular(0.5)
LUMPY = TabulatedNoise([-0.6, -0.3, 0.0, 0.3, 0.6], np.array([0.2, 2.0, 0.5, 2.0, 0.2]) / 1.41)
NOISES = [FLAT, GAUSSIAN, TRIANGULAR, LUMPY]


def draws(prior: Prior, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if isinstance(prior, Isotropic):
        return prior.from_normals(rng.normal(size=(n, prior.dimension)), rng.uniform(size=n))
    return prior.from_uniforms(rng.uniform(size=(n, prior.dimension) if isinstance(prior, UniformBox) else n))


def records(prior: Prior, noise: NoiseLaw, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Truthful ones, one in nine of them with another answer."""
    rng = np.random.default_rng(seed)
    d = prior.dimension
    X = UniformBall(d, 1.0).from_normals(rng.normal(size=(n, d)), rng.uniform(size=n))
    y = np.sum(X * draws(prior, n, seed + 1), axis=1) + noise.from_uniforms(rng.uniform(size=n))
    y[::9] *= 2.5
    return X, y


def mean_over_angles(log_profile: object, noise: NoiseLaw, reach: float, y: float) -> float:
    """Direct integration over phi, t = reach sin phi; the profile is the density of t / reach times cos phi."""
    ends = noise.breaks
    low, high = max(-reach, y - ends[-1]), min(reach, y - ends[0])
    places = np.unique(np.clip(np.concatenate((np.linspace(low, high, 40), y - ends)), low, high)) / reach
    cuts = np.arcsin(np.clip(places, -1.0, 1.0))

    def weight(phi: np.ndarray) -> np.ndarray:
        return np.exp(log_profile(phi) + noise.log_density(np.clip(y - reach * np.sin(phi), ends[0], ends[-1])))  # type: ignore[operator]

    node, share = special.roots_legendre(40)
    phi = np.concatenate([(a + b) / 2 + (b - a) / 2 * node for a, b in itertools.pairwise(cuts)])
    weights = np.concatenate([(b - a) / 2 * share for a, b in itertools.pairwise(cuts)]) * weight(phi)
    return float(reach * np.sum(weights * np.sin(phi)) / np.sum(weights))


def sphere_profile(d: int) -> object:
    return lambda phi: (d - 2) * np.log(np.cos(phi)) if d > 2 else 0.0 * phi


def cut_profile(d: int, c: float) -> object:
    def profile(phi: np.ndarray) -> np.ndarray:
        inside = special.gammainc((d - 1) / 2, c * np.cos(phi) ** 2 / 2) if d > 1 else 1.0
        with np.errstate(divide="ignore"):
            return np.log(np.cos(phi)) + np.log(inside) - c * np.sin(phi) ** 2 / 2

    return profile


def cases(noise: NoiseLaw, n: int, seed: int, radius: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    norms = rng.uniform(0.05, 1, n)
    return norms, rng.uniform(-0.98, 0.98, n) * (radius * norms + noise.bound)


# ---- the sphere


@pytest.mark.parametrize("noise", NOISES, ids=["uniform", "gaussian", "triangular", "lumpy"])
@pytest.mark.parametrize("d", [2, 3, 4, 11])
def test_sphere_against_direct_integration(d: int, noise: NoiseLaw) -> None:
    for radius in (1.0, 0.4):
        norms, y = cases(noise, 12, d, radius)
        expected = [mean_over_angles(sphere_profile(d), noise, radius * r, v) for r, v in zip(norms, y, strict=True)]
        found = PosteriorMean(UniformSphere(d, radius), noise).at_norms(norms, y)
        assert found == pytest.approx(expected, abs=1e-9)  # spec truthful_regression, section 3: the table


def test_a_sphere_casts_the_shadow_of_a_smaller_ball() -> None:
    """In three dimensions x'theta is uniform: the posterior is the middle of a window."""
    norms, y = cases(FLAT, 50, 1)
    low, high = np.maximum(y - 0.5, -norms), np.minimum(y + 0.5, norms)
    found = PosteriorMean(UniformSphere(3, 1.0), FLAT).at_norms(norms, y)
    assert found == pytest.approx((low + high) / 2, abs=1e-14)
    for noise in NOISES:
        ball = PosteriorMean(UniformBall(5, 1.0), noise).at_norms(norms, y)
        assert PosteriorMean(UniformSphere(7, 1.0), noise).at_norms(norms, y).tobytes() == ball.tobytes()


def test_a_sphere_on_the_line_is_two_points() -> None:
    norms, y = cases(GAUSSIAN, 30, 2, 0.7)
    for noise in (FLAT, GAUSSIAN, LUMPY):
        points = PosteriorMean(Atoms([[-0.7], [0.7]], [0.5, 0.5]), noise)(norms[:, None], y)
        assert PosteriorMean(UniformSphere(1, 0.7), noise).at_norms(norms, y) == pytest.approx(points, abs=1e-15)


def test_circle_in_every_regime() -> None:
    """Noise from a millionth of the reach to a hundred times it; y up to its limit."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        reach = 10 ** rng.uniform(-3, 1)
        sigma = reach * 10 ** rng.uniform(-6, 2)
        bound = sigma * 10 ** rng.uniform(-1, 2)
        y = min(reach * rng.uniform(0, 1.05) + sigma * rng.normal(), (reach + bound) * 0.999)
        y = max(y, 0.0)
        room = np.hypot(max(y - reach, 0.0), 9 * sigma)  # all but exp(-40) of the density
        law = TruncatedGaussianNoise(sigma, min(bound, room))
        expected = mean_over_angles(sphere_profile(2), law, reach, y)
        found = gaussian_circle_mean(sigma, bound, np.array([reach]), np.array([y]))[0]
        assert found * reach == pytest.approx(expected, abs=1e-12 * reach + 1e-14 * abs(y))


# ---- the Gaussian in a ball


@pytest.mark.parametrize("noise", NOISES, ids=["uniform", "gaussian", "triangular", "lumpy"])
@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_cut_gaussian_against_direct_integration(d: int, noise: NoiseLaw) -> None:
    for deviation, radius in ((0.3, 1.0), (0.1, 1.0), (5.0, 0.7)):
        prior = GaussianBall(d, deviation, radius)
        norms, y = cases(noise, 6, d, radius)
        profile = cut_profile(d, prior.concentration)
        expected = [mean_over_angles(profile, noise, radius * r, v) for r, v in zip(norms, y, strict=True)]
        assert PosteriorMean(prior, noise).at_norms(norms, y) == pytest.approx(expected, abs=1e-9)  # acceptance 6


@pytest.mark.parametrize("d", [1, 2, 5, 30, 400])
def test_cut_gaussian_in_every_regime(d: int) -> None:
    rng = np.random.default_rng(d)
    for case in range(12):
        # Below d/12 the chance of staying in the ball is no double, and the direct way fails.
        c, reach = 10 ** rng.uniform(max(-3, math.log10(d / 12)), 4), rng.uniform(0.05, 1)
        sigma = math.inf if case % 2 else reach * 10 ** rng.uniform(-2, 1)
        bound = 10 ** rng.uniform(-1.5, 0.5) if case % 2 else sigma * 10 ** rng.uniform(-0.5, 1)
        y = min(abs(rng.normal()) / math.sqrt(c + d), 0.9) * reach + rng.uniform(-0.9, 0.9) * min(bound, 3 * sigma)
        noise = UniformNoise(bound) if case % 2 else TruncatedGaussianNoise(sigma, bound)
        expected = mean_over_angles(cut_profile(d, c), noise, reach, y)
        found = cut_gaussian_mean(d, c, sigma, bound, np.array([reach]), np.array([y]))[0]
        assert found == pytest.approx(expected / reach, abs=1e-10)


def test_limits_of_the_cut_gaussian() -> None:
    """A wide one is the ball; a narrow one under narrow noise is the linear formula, whose supports know no bound."""
    norms, y = cases(FLAT, 60, 3)
    for d in (1, 3, 10):
        for noise in (FLAT, GAUSSIAN, LUMPY):
            wide = PosteriorMean(GaussianBall(d, 1e8, 1.0), noise).at_norms(norms, y)
            assert wide == pytest.approx(PosteriorMean(UniformBall(d, 1.0), noise).at_norms(norms, y), abs=1e-12)
    tau, sigma = 0.02, 0.01
    y = norms * tau * 2
    linear = y * tau**2 * norms**2 / (tau**2 * norms**2 + sigma**2)
    narrow = PosteriorMean(GaussianBall(3, tau, 1.0), TruncatedGaussianNoise(sigma, 0.5)).at_norms(norms, y)
    assert narrow == pytest.approx(linear, abs=1e-12)  # spec truthful_regression, section 3: asymptotic check


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 4.5, 49.5, 499.5])
def test_the_table_of_the_incomplete_gamma_function(power: float) -> None:
    law = LogMass(power)
    z = np.append(np.random.default_rng(0).uniform(0, min(law.end, 700.0), 2000), min(law.end, 700.0))
    mass = special.gammainc(power, z) if power else np.ones_like(z)
    sound = mass > 1e-300
    assert np.exp(special.xlogy(power, z) + law(z))[sound] == pytest.approx(mass[sound], rel=2e-11)
    step = 1e-6
    inner = z[(z > 0.1) & (z < law.end - 1) & (mass > 1e-200)]
    if power:
        difference = np.log(special.gammainc(power, inner + step)) - np.log(special.gammainc(power, inner - step))
        assert law.rate(inner) == pytest.approx(difference / (2 * step), abs=1e-5, rel=1e-5)


# ---- the box


def box_oracle(widths: np.ndarray, bound: float, y: float) -> float:
    """Exact rational arithmetic with truncated powers: uniform noise."""
    a, M, at = [Fraction(float(v)) for v in widths if v > 0], Fraction(bound), Fraction(y)
    corners = [(math.prod(s), sum(x * v for x, v in zip(s, a, strict=True)))
               for s in itertools.product((1, -1), repeat=len(a))]

    def tail(x: Fraction, more: int) -> Fraction:
        order = len(a) + more
        total = sum(sign * max(place - x, Fraction(0)) ** order for sign, place in corners)
        return total / math.factorial(order) / math.prod(2 * v for v in a)

    low, high = at - M, at + M
    excess = tail(low, 1) - tail(high, 1) - 2 * M * tail(high, 0)
    return float(low + excess / (tail(low, 0) - tail(high, 0)))


@pytest.mark.parametrize("d", [1, 2, 3, 4, 6])
def test_box_is_exact_under_uniform_noise(d: int) -> None:
    """Also where some coordinates are ten thousand times smaller than others, or zero, and where densities are tiny."""
    rng = np.random.default_rng(d)
    for case in range(20 if d < 6 else 8):
        a = rng.uniform(0, 1, d) * 10 ** rng.uniform(-4 * (case % 2), 0, d)
        if case % 5 == 4 and d > 1:
            a[0] = 0.0
        bound = 10 ** rng.uniform(-2, 0.5)
        y = rng.uniform(-0.99, 0.99) * (a.sum() + bound)
        found = uniform_sum_mean(UniformNoise(bound), a[None], np.array([y]))[0]
        assert found == pytest.approx(box_oracle(a, bound, y), abs=1e-12 * a.sum())


@pytest.mark.parametrize("d", [3, 8])
def test_series_against_exact_sums(d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_uniform_sum, "EXACT", 0)
    rng = np.random.default_rng(d)
    for _ in range(4 if d < 8 else 2):
        a, bound = rng.uniform(0.1, 1, d), 10 ** rng.uniform(-0.5, 0.5)
        y = a @ rng.uniform(-1, 1, d) + bound * rng.uniform(-1, 1)
        found = uniform_sum_mean(UniformNoise(bound), a[None], np.array([y]))[0]
        assert found == pytest.approx(box_oracle(a, bound, y), abs=1e-9 * a.sum())


@pytest.mark.parametrize("noise", [GAUSSIAN, LUMPY], ids=["gaussian", "lumpy"])
def test_box_under_other_noise(noise: NoiseLaw) -> None:
    """Three coordinates, against integration between all kinks."""
    rng = np.random.default_rng(1)
    node, share = special.roots_legendre(24)
    for _ in range(4):
        a = rng.uniform(0.1, 0.6, 3)
        y = float(a @ rng.uniform(-1, 1, 3) + noise.from_uniforms(rng.uniform()))
        signs = np.array(list(itertools.product((1, -1), repeat=3)))
        knots = np.concatenate((signs @ a, y - noise.breaks, np.linspace(-a.sum(), a.sum(), 30)))
        low, high = max(-a.sum(), y - noise.breaks[-1]), min(a.sum(), y - noise.breaks[0])
        cuts = np.unique(np.clip(knots, low, high))
        t = np.concatenate([(p + q) / 2 + (q - p) / 2 * node for p, q in itertools.pairwise(cuts)])
        w = np.concatenate([(q - p) / 2 * share for p, q in itertools.pairwise(cuts)])
        density = np.sum(signs.prod(axis=1)[:, None] * np.maximum((signs @ a)[:, None] - t, 0) ** 2, axis=0)
        w = w * density * np.exp(noise.log_density(y - t))
        found = uniform_sum_mean(noise, a[None], np.array([y]))[0]
        assert found == pytest.approx(np.sum(w * t) / np.sum(w), abs=1e-7)  # the stated error of the series


def test_box_on_the_axes() -> None:
    """One coordinate is a ball in one dimension; a rare answer goes to the end of the support."""
    law, line = PosteriorMean(UniformBox([0.3, 0.8]), FLAT), PosteriorMean(UniformBall(1, 0.8), FLAT)
    y = np.linspace(-1.2, 1.2, 41)
    x = np.tile([[0.0, 0.9]], (41, 1))
    assert law(x, y) == pytest.approx(line.at_norms(np.full(41, 0.9), y), abs=1e-14)
    many = PosteriorMean(UniformBox(np.full(12, 0.3)), GAUSSIAN)
    row = np.full((1, 12), 12**-0.5)
    end = 12**0.5 * 0.3
    assert many(row, [end + 0.5]) == pytest.approx([end], abs=1e-9)
    assert many(row, [99.0]) == pytest.approx([end], abs=1e-15)


# ---- what holds for all of them

PRIORS: list[Prior] = [
    UniformSphere(1, 0.9), UniformSphere(2, 0.9), UniformSphere(3, 0.9), UniformSphere(6, 0.9),
    GaussianBall(1, 0.4, 0.9), GaussianBall(2, 0.2, 0.9), GaussianBall(7, 0.5, 0.9),
    UniformBox([0.9]), UniformBox([0.5, 0.2, 0.7]), UniformBox(np.full(9, 0.3)),
]


def support(prior: Prior, x: np.ndarray) -> float:
    """The largest x'theta."""
    if isinstance(prior, UniformBox):
        return float(np.abs(x) @ prior.half_widths)
    return prior.radius * float(np.linalg.norm(x))


@settings(max_examples=15)
@given(st.sampled_from(PRIORS), st.sampled_from([FLAT, GAUSSIAN, UniformNoise(0.02)]),
       st.integers(0, 2**32 - 1))
def test_monotone_odd_bounded(prior: Prior, noise: NoiseLaw, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = UniformBall(prior.dimension, 1.0).from_normals(rng.normal(size=(1, prior.dimension)), rng.uniform(size=1))[0]
    reach = support(prior, x)
    y = np.linspace(-1.2, 1.2, 40) * (reach + noise.bound)
    q = PosteriorMean(prior, noise)(np.tile(x, (40, 1)), y)
    assert np.diff(q).min() >= -1e-7 * reach
    assert np.abs(q).max() <= reach * (1 + 1e-15)
    assert q == pytest.approx(-q[::-1], abs=1e-9)
    assert q[[0, -1]] == pytest.approx([-reach, reach], abs=1e-12)


@settings(max_examples=10)
@given(st.lists(st.tuples(*[st.floats(width=64)] * 3), min_size=1, max_size=6), st.sampled_from([FLAT, GAUSSIAN]),
       st.sampled_from([UniformSphere(2, 1.0), GaussianBall(2, 0.3, 1.0), UniformBox([0.8, 0.6])]))
def test_no_record_makes_trouble(rows: list[tuple[float, ...]], noise: NoiseLaw, prior: Prior) -> None:
    table = np.array(rows)
    q = PosteriorMean(prior, noise)(table[:, :2], table[:, 2])
    with np.errstate(all="ignore"):
        norms = np.sqrt(table[:, 0] ** 2 + table[:, 1] ** 2)
    usable = np.isfinite(norms) & np.isfinite(table[:, 2])
    assert np.isfinite(q).all()
    assert (q[~usable | (norms == 0)] == 0).all()
    assert (np.abs(q[usable]) <= norms[usable] * (1 + 1e-15)).all()


@pytest.mark.parametrize("prior", [*PRIORS[1:3], PRIORS[5], UniformBox(np.full(4, 0.5)), PRIORS[9]], ids=str)
@pytest.mark.parametrize("noise", [FLAT, GAUSSIAN], ids=["uniform", "gaussian"])
def test_a_records_value_is_bitwise_its_own(prior: Prior, noise: NoiseLaw) -> None:
    X, y = records(prior, noise, 120, 4)
    law = PosteriorMean(prior, noise)
    everybody = law(X, y)
    order = np.random.default_rng(0).permutation(120)
    assert law(X[order], y[order]).tobytes() == everybody[order].tobytes()
    for i in (0, 7, 9):
        assert law(X[i : i + 1], y[i : i + 1]).tobytes() == everybody[i : i + 1].tobytes()
    assert law(np.asfortranarray(X)[60:100], y[60:100]).tobytes() == everybody[60:100].tobytes()


@pytest.mark.parametrize("prior", [UniformSphere(3, 1.0), UniformSphere(2, 1.0), GaussianBall(3, 0.4, 1.0),
                                   UniformBox([0.6, 0.5, 0.6])], ids=lambda p: f"{type(p).__name__}{p.dimension}")
@pytest.mark.parametrize("noise", [FLAT, GAUSSIAN], ids=["uniform", "gaussian"])
def test_a_sample_agrees_within_four_standard_errors(prior: Prior, noise: NoiseLaw) -> None:
    """Acceptance 6, at 40 records and 2^14 points."""
    points = draws(prior, 2**14, 8)
    rng = np.random.default_rng(9)
    X = UniformBall(prior.dimension, 1.0).from_normals(rng.normal(size=(40, prior.dimension)), rng.uniform(size=40))
    y = X @ points[1] + noise.from_uniforms(rng.uniform(size=40))
    exact = PosteriorMean(prior, noise)(X, y)
    sampled = PosteriorMean(SampledPrior(points, radius=1.0), noise)(X, y)
    inner = X @ points.T
    weight = np.exp(noise.log_density(y[:, None] - inner))
    share = weight / weight.sum(axis=1, keepdims=True)
    error = np.sqrt(np.sum(share**2 * (inner - exact[:, None]) ** 2, axis=1))
    assert (np.abs(sampled - exact) <= 4 * error + 1e-9).all()


@pytest.mark.parametrize("prior", [*PRIORS[:7], PRIORS[8]], ids=lambda p: f"{type(p).__name__}{p.dimension}")
def test_informativeness_and_truthful_reports(prior: Prior) -> None:
    """E[q^2] = E[q t] for a posterior mean: quadrature against a simulation that knows theta."""
    found = informativeness(prior, FLAT)
    rng = np.random.default_rng(3)
    n = 20_000
    X = UniformBall(prior.dimension, 1.0).from_normals(rng.normal(size=(n, prior.dimension)), rng.uniform(size=n))
    t = np.sum(X * draws(prior, n, 6), axis=1)
    q = PosteriorMean(prior, FLAT)(X, t + FLAT.from_uniforms(rng.uniform(size=n)))
    scaled = q * t * (prior.dimension + 2) / prior.second_moment
    assert found == pytest.approx(scaled.mean(), abs=5 * scaled.std() / n**0.5 + 0.002)
    _, y, weights = truthful_reports(prior, GAUSSIAN)
    assert weights.sum() == pytest.approx(1)
    square = prior.second_moment / (prior.dimension + 2) + GAUSSIAN.variance
    assert np.sum(weights * y * y) == pytest.approx(square, rel=0.02)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: f"{type(p).__name__}{p.dimension}")
def test_draws_have_the_stated_second_moment(prior: Prior) -> None:
    theta = draws(prior, 40_000, 5)
    squares = np.sum(theta**2, axis=1)
    assert np.sqrt(squares.max()) <= prior.radius * (1 + 1e-12)
    assert squares.mean() == pytest.approx(prior.second_moment, abs=5 * squares.std() / 200 + 1e-12)
    assert theta.mean(axis=0) == pytest.approx(np.zeros(prior.dimension), abs=5 * prior.radius / 200)


def test_second_moment_of_the_cut_gaussian() -> None:
    for d, tau in ((1, 0.3), (3, 0.7), (10, 0.2), (2, 50.0)):
        def radial(r: float, power: int, d: int = d, tau: float = tau) -> float:
            return r ** (d - 1 + power) * math.exp(-r * r / (2 * tau * tau))

        top, bottom = (integrate.quad(radial, 0, 1, args=(k,), epsabs=0)[0] for k in (2, 0))
        assert GaussianBall(d, tau, 1.0).second_moment == pytest.approx(top / bottom, rel=1e-9)
    assert GaussianBall(2000, 1e3, 1.0).second_moment == pytest.approx(2000 / 2002, rel=1e-6)
    assert GaussianBall(2000, 1e-3, 1.0).second_moment == pytest.approx(2000 * 1e-6, rel=1e-12)


def test_slacks_of_the_other_laws() -> None:
    for prior in (UniformSphere(2, 1.0), GaussianBall(3, 0.4, 1.0), UniformBox([0.6, 0.5])):
        law = PosteriorMean(prior, FLAT)
        X, y = records(prior, FLAT, 20, 11)
        y = np.clip(y, *(side * (np.array([support(prior, x) for x in X]) + 0.5) for side in (-1, 1)))
        down, up = law.slacks(X, y, 0.1)
        base = law(X, y)
        for moved, side in ((down, -1), (up, 1)):
            assert (moved >= 0).all()
            assert (np.abs(law(X, y + side * moved) - base) <= 0.1 + 1e-9).all()


@pytest.mark.parametrize("prior", [UniformSphere(2, 0.9), GaussianBall(3, 0.4, 0.9), UniformBox([0.5, 0.4, 0.3])],
                         ids=lambda p: type(p).__name__)
def test_settings_and_made_up_people_take_every_law(prior: Prior) -> None:
    setting = Setting(people=50, features=prior.dimension, prior=prior, noise=FLAT)
    people = stand_in(setting, Noise.simulated(1))
    assert np.linalg.norm(people.theta) <= setting.parameter_bound == prior.radius
    assert np.abs(people.y - people.X @ people.theta).max() <= 0.5
    columns: dict[str, bytes] = {}
    back = decode(encode(setting, columns), {t.__name__: t for t in (Setting, type(prior), UniformNoise)}, columns)
    law = PosteriorMean(back.prior, back.noise)
    assert law(people.X, people.y).tobytes() == PosteriorMean(prior, FLAT)(people.X, people.y).tobytes()


@pytest.mark.parametrize(("make", "field"), [
    (lambda: UniformSphere(0, 1.0), "dimension"), (lambda: UniformSphere(2, 0.0), "radius"),
    (lambda: GaussianBall(2, 0.0, 1.0), "std"), (lambda: GaussianBall(2, 1.0, math.inf), "radius"),
    (lambda: UniformBox([]), "half_widths"), (lambda: UniformBox([0.1, 0.0]), "half_widths"),
    (lambda: UniformBox([[0.1]]), "half_widths"), (lambda: UniformBox([math.nan]), "half_widths"),
])
def test_bad_laws_are_refused(make: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()  # type: ignore[operator]
    assert caught.value.field == field
