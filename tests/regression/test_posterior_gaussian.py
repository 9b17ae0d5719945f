"""The posterior mean under truncated Gaussian noise and a ball prior, against rigorous integration and its limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.regression import _gaussian_ball
from confide.regression._gaussian_ball import gaussian_ball_mean
from confide.regression.posterior import PosteriorMean
from confide.regression.priors import TruncatedGaussianNoise, UniformBall, UniformNoise

_FAST = (2, 10)
DIMENSIONS = [d if d in _FAST else pytest.param(d, marks=pytest.mark.slow)
              for d in (1, 2, 3, 4, 5, 6, 8, 10, 11, 20, 50)]


def rigorous(d: int, sigma: float, bound: float, reach: float, y: float) -> float:
    """E[s | y] by ball arithmetic, as an integral over the angle, whose integrand is entire; y >= 0."""
    precision, ctx.prec = ctx.prec, 200
    try:
        low, high = ((arb(y) + side * arb(bound)) / arb(reach) for side in (-1, 1))
        low, high = low if low > -1 else arb(-1), high if high < 1 else arb(1)

        def log_weight(s: float) -> float:
            return (d - 1) / 2 * float(np.log((1 - s) * (1 + s))) - ((y - reach * s) / sigma) ** 2 / 2

        a, b = float(low), float(high)
        for _ in range(150):
            third = (b - a) / 3
            a, b = (a + third, b) if log_weight(a + third) < log_weight(b - third) else (a, b - third)
        peak = (a + b) / 2
        # Cuts at halving distances from the peak lead the adaptive rule to it, however narrow it is.
        steps = [arb(2) ** -j for j in range(46)]
        inner = [arb(peak) + side * step for side in (-1, 1) for step in steps]
        cuts = sorted([arb(peak), *(cut for cut in inner if low < cut < high)], key=float)
        angles = [acb(cut.asin()) for cut in (low, *(cut for cut in cuts if low < cut < high), high)]
        scale, shift = 2 * acb(sigma) ** 2, acb(log_weight(peak))

        def weight(angle: acb) -> acb:
            return angle.cos() ** d * (-((acb(y) - acb(reach) * angle.sin()) ** 2) / scale - shift).exp()

        mass = moment = acb(0)
        for left, right in pairwise(angles):
            mass += acb.integral(lambda z, _: weight(z), left, right, abs_tol=arb(2) ** -190)
            moment += acb.integral(lambda z, _: weight(z) * z.sin(), left, right, abs_tol=arb(2) ** -190)
        mean = moment.real / mass.real
        assert float(mean.rad()) < 1e-17
        return float(mean.mid())
    finally:
        ctx.prec = precision


def found(d: int, sigma: float, bound: float, reach: float, y: float) -> float:
    return float(gaussian_ball_mean(d, sigma, bound, np.array([reach]), np.array([y]))[0])


@pytest.mark.parametrize("d", DIMENSIONS)
def test_every_regime_against_rigorous_integration(d: int) -> None:
    """Noise from a millionth of the reach to a hundred times it, truncated anywhere; y anywhere, also at its limit."""
    rng = np.random.default_rng(d)
    for case in range(24):
        reach = float(rng.uniform(0.05, 1) if case % 2 else 10 ** rng.uniform(-4, 1))
        sigma = reach * 10 ** rng.uniform(-6, 2)
        bound = sigma * 10 ** rng.uniform(-1, 3)
        y = (
            rng.uniform(0, 1) * (reach + bound),
            (1 - 10 ** rng.uniform(-8, -1)) * (reach + bound),
            min(abs(rng.uniform(0, 1.05) * reach + sigma * rng.normal()), 0.999 * (reach + bound)),
        )[case % 3]
        # A response has its own rounding: of the last bit of the largest number here.
        tolerance = 1e-13 + 4e-16 * (reach + bound) / reach
        expected = rigorous(d, sigma, bound, reach, y)
        assert found(d, sigma, bound, reach, y) == pytest.approx(expected, rel=0, abs=tolerance)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_bells_that_fill_the_window(d: int) -> None:
    """Where the rule has the least to spare: narrow bells in the middle of [-1, 1], just as wide as the window."""
    for width in (0.1, 0.1295, 0.135):
        for y in (0.0, 0.01, 0.03):
            for bound in (0.5, 4.0):
                expected = rigorous(d, width, bound, 1.0, y)
                assert found(d, width, bound, 1.0, y) == pytest.approx(expected, rel=0, abs=1e-13)


@pytest.mark.parametrize("d", [1, 2, 5, 10, 1000])
def test_no_jump_between_neighbours(d: int) -> None:
    """It rises with y, by at most 3 / reach: Var(s) reach / sigma^2 is at most 1 / reach, and so is each end's part."""
    for sigma, reach in ((0.2, 0.5362), (0.2, 0.95), (0.01, 1.0), (3.0, 0.3)):
        y = np.linspace(-1, 1, 4001) * (reach + 0.5)
        q = gaussian_ball_mean(d, sigma, 0.5, np.full(4001, reach), y)
        rise = np.diff(q)
        assert rise.min() >= -1e-13
        assert rise.max() <= 3 / reach * (y[1] - y[0]) + 1e-13
        assert np.array_equal(gaussian_ball_mean(d, sigma, 0.5, np.full(4001, reach), -y), -q)


@pytest.mark.parametrize("d", [1, 2, 5, 10, 50])
def test_flat_noise_is_the_closed_form(d: int) -> None:
    rng = np.random.default_rng(d)
    norms = rng.uniform(0.01, 1, 400)
    y = rng.uniform(-1.02, 1.02, 400) * (norms + 0.5)
    ball = UniformBall(d, 1.0)
    flat = PosteriorMean(ball, UniformNoise(0.5)).at_norms(norms, y)
    for sigma in (1e7, 1e150, 1e300):
        law = PosteriorMean(ball, TruncatedGaussianNoise(sigma, 0.5))
        assert law.at_norms(norms, y) == pytest.approx(flat, abs=1e-12)


@pytest.mark.parametrize("sigma", [1e-12, 1e-17, 1e-60, 1e-160, 1e-300])
def test_vanishing_noise_gives_the_response_back(sigma: float) -> None:
    """What cannot be reached is answered by the end of the reach, also where squares of these numbers overflow."""
    for d in (1, 2, 10, 100):
        law = PosteriorMean(UniformBall(d, 1.0), TruncatedGaussianNoise(sigma, 0.5))
        y = np.array([0.3, -0.8, 1e-4, 0.0, 0.95, -1.2, 7.0])
        expected = np.clip(y, -0.9, 0.9)
        assert law.at_norms(np.full(7, 0.9), y) == pytest.approx(expected, abs=1e-13 + 100 * sigma)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([1, 2, 3, 10, 1000]),
    *[st.floats(-308, 308).map(lambda power: 10.0**power)] * 3,
    st.floats(-1.5, 1.5),
)
def test_any_scale_is_answered(d: int, sigma: float, bound: float, reach: float, place: float) -> None:
    y = max(-1e308, min(place * min(reach + bound, 1e308), 1e308))
    q = found(d, sigma, bound, reach, y)
    assert abs(q) <= 1
    assert q * place >= 0


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3, 10, 50, 1000]))
def test_the_window_holds_all_that_matters(seed: int, d: int) -> None:
    """Each end is the support's, or a point where the density is below exp(-32) of its peak."""
    rng = np.random.default_rng(seed)
    power, pull = (d - 1) / 2, 10 ** rng.uniform(-6, 8, 200)
    centre = 10 ** rng.uniform(-4, 2, 200)
    room = 10 ** rng.uniform(-4, 1, (2, 200))
    low = np.where(rng.random(200) < 0.5, -1.0, np.clip(centre - room[0], -1, 0.999))
    high = np.where(rng.random(200) < 0.5, 1.0, np.minimum(centre + room[1], 1))
    with np.errstate(all="ignore"):
        peak = _gaussian_ball.ball_peak(power, pull * centre, pull, low, high)
        left, right = _gaussian_ball._window(power, pull * centre, pull, peak, low, high)

        def height(s: np.ndarray) -> np.ndarray:
            bent = power * np.log((1 - s) * (1 + s) / ((1 - peak) * (1 + peak))) if power else 0.0
            return bent + (s - peak) * pull * (centre - (s + peak) / 2)

        outside = [(height(left) <= -32 + 1e-6) | (left == low), (height(right) <= -32 + 1e-6) | (right == high)]
    assert ((low <= left) & (left <= peak) & (peak <= right) & (right <= high)).all()
    assert np.all(outside)
    others = np.linspace(low, high, 101)[1:-1]
    with np.errstate(all="ignore"):
        assert (height(others) <= 1e-3).all()


@pytest.mark.parametrize("d", [1, 5, 10])
def test_blocks_batches_and_single_records_agree_to_the_bit(d: int) -> None:
    """Over several blocks, with each record alone, in other company, and in another order."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(40_000, d))
    X *= (rng.uniform(size=40_000) / np.sqrt(np.sum(X * X, axis=1)))[:, None]
    y = rng.uniform(-1.6, 1.6, 40_000)
    X[::501], y[7::997] = 0.0, np.nan
    law = PosteriorMean(UniformBall(d, 1.0), TruncatedGaussianNoise(0.2, 0.5))
    whole = law(X, y)
    order = rng.permutation(40_000)
    assert law(X[order], y[order]).tobytes() == whole[order].tobytes()
    for start, size in ((0, 3), (16_380, 9), (16_384, 16_384), (39_990, 10), (5, 16_385)):
        part = slice(start, start + size)
        assert law(X[part], y[part]).tobytes() == whole[part].tobytes()
    for i in rng.integers(0, 40_000, 60):
        assert law(X[i : i + 1], y[i : i + 1]).tobytes() == whole[i : i + 1].tobytes()
