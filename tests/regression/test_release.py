"""Release estimators: sensitivities, intervals that cover, errors that were predicted or proved."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from cases import fast
from confide.privacy import ZCDP, Noise
from confide.privacy.noise import ForcedNoise
from confide.regression import (
    AdaSSP,
    Averaged,
    RidgeRelease,
    Setting,
    SufficientStatistics,
    TruncatedGaussianNoise,
    UniformBall,
    UniformNoise,
)
from confide.regression.records import Moments, as_batches, moments
from confide.regression.release.base import Release
from confide.regression.release.output_perturbation import noise_scale, perturbed_ridge
from confide.regression.release.sufficient_statistics import SENSITIVITY
from confide.regression.stand_ins import stand_in

D = 3
SETTING = Setting(people=6000, features=D, prior=UniformBall(dimension=D, radius=1.0),
                  noise=TruncatedGaussianNoise(noise_std=0.25, bound=0.75))
RELEASES = [
    RidgeRelease(epsilon=2.0, ridge=60.0),
    Averaged(epsilon_payment=2.0, ridge_payment=40.0),
    SufficientStatistics(epsilon=2.0),
    AdaSSP(epsilon=1.0, delta=1e-6),
]


def _run(release: Release, run: int, setting: Setting = SETTING) -> tuple[np.ndarray, object, np.ndarray]:
    noise = Noise.simulated(run)
    people = stand_in(setting, noise, run)
    split = noise.split(setting.people, stream=("split",))
    groups = moments(as_batches((people.X, people.y), D), setting.record_map, np.asarray(split), D)
    peers = np.stack([perturbed_ridge(setting, g, 40.0, 2.0, noise, ("payment", j)) for j, g in enumerate(groups)])
    total = groups[0] + groups[1]
    released = release.run(setting, total, peers, noise)
    gram, cross = total.gram.astype(float) / 2**32, total.cross.astype(float) / 2**32
    return people.theta, released, np.linalg.solve(gram, cross)


def _groups(run: int) -> tuple[Moments, Moments]:
    """One population with fresh residuals."""
    people = stand_in(SETTING, Noise.simulated(0))
    y = people.X @ people.theta + SETTING.noise.from_uniforms(np.random.default_rng(run).random(SETTING.people))
    return moments(as_batches((people.X, y), D), SETTING.record_map, np.arange(SETTING.people) % 2 == 1, D)


def _total(run: int) -> Moments:
    first, second = _groups(run)
    return first + second


def _peers(run: int) -> Callable[[Noise], np.ndarray]:
    """The payment estimates of one population under any noise, solved once."""
    from confide.regression.constrained_ridge import certified_ridge

    centers = [certified_ridge(sums, 40.0, SETTING.ball, 1e-9) for sums in _groups(run)]
    scale = noise_scale(SETTING, 40.0, 2.0)
    return lambda noise: np.stack([noise.vector_laplace(scale, D, stream=("payment", j), center=center)
                                   for j, center in enumerate(centers)])


def _moment_distance(features: int) -> float:
    """Largest distance of (A, u/Y) over pairs of unit records with extreme answers, by angle."""
    worst = 0.0
    for angle in np.linspace(0.0, math.pi, 721):
        x, z = np.zeros(features), np.zeros(features)
        x[0], z[0] = 1.0, math.cos(angle)
        if features > 1:
            z[1] = math.sin(angle)
        for sign in (-1.0, 1.0):
            gram = np.outer(x, x) - np.outer(z, z)
            worst = max(worst, math.hypot(float(np.linalg.norm(gram)), float(np.linalg.norm(x - sign * z))))
    return worst


@pytest.mark.parametrize("pairs", fast(1, [3000, 20_000]))
def test_sensitivity_of_the_moments(pairs: int) -> None:
    """sqrt(4.5) is the largest move of (A, u/Y), attained in two dimensions and more; sqrt(4) in one."""
    assert _moment_distance(1) == pytest.approx(2.0, abs=1e-9)
    for d in (2, 3, 10):
        assert _moment_distance(d) == pytest.approx(math.sqrt(4.5), abs=1e-5)
        assert _moment_distance(d) <= SENSITIVITY
    rng = np.random.default_rng(2)
    worst = 0.0
    for _ in range(pairs):  # records of any length and answer, not only the extreme ones
        d = int(rng.integers(1, 5))
        x, z = rng.standard_normal((2, d))
        x *= rng.random() ** 0.3 / np.linalg.norm(x)
        z *= rng.random() ** 0.3 / np.linalg.norm(z)
        y, w = rng.uniform(-1, 1, 2) if rng.random() < 0.5 else rng.choice([-1.0, 1.0], 2)
        move = math.hypot(float(np.linalg.norm(np.outer(x, x) - np.outer(z, z))), float(np.linalg.norm(x * y - z * w)))
        worst = max(worst, move)
    assert worst <= SENSITIVITY


def test_noise_scales() -> None:
    setting = Setting(people=100, features=2, prior=UniformBall(dimension=2, radius=1.0), noise=UniformNoise(bound=1.0),
                      radius=1.0)
    scale = noise_scale(setting, 10.0, 0.5)
    assert scale == pytest.approx(4.403669475 / 5.0, rel=1e-4)
    assert scale >= 4.403669475 / 5.0 * (1 + 2.0**-15)
    assert SufficientStatistics(epsilon=0.5).noise_scale >= math.sqrt(4.5) / 0.5
    ada = AdaSSP(epsilon=1.0, delta=1e-6)
    spent = 1 / ada.gram_noise_std**2 + (2 * setting.response) ** 2 / (2 * ada.cross_noise_std(setting) ** 2)
    spent += 1 / (2 * ada.noise_std(1.0) ** 2)
    assert spent <= ada.rho * (1 + 1e-12)
    assert ZCDP(ada.rho).delta_at(1.0) <= 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("release", fast(1, RELEASES), ids=lambda r: type(r).__name__)
def test_intervals_cover_what_they_say(release: Release) -> None:
    """Noise part against the noiseless target (shrinkage apart), total against the true parameter, over 150 runs.

    A true coverage of 95 % (90 %) falls below the thresholds with probability under 1e-4.
    """
    runs, level = 150, 0.95
    direction = np.array([0.6, -0.8, 0.0])
    noise_hits, total_hits = 0, 0
    for run in range(runs):
        theta, released, plain = _run(release, run)
        part = release.interval(SETTING, released, direction, level)  # type: ignore[arg-type]
        noise_hits += abs(part.value - direction @ plain) <= part.noise + part.bias
        total_hits += abs(part.value - direction @ theta) <= part.total
        assert part.total_level == pytest.approx(0.9)
    assert noise_hits / runs >= 0.88
    assert total_hits / runs >= 0.81


@pytest.mark.parametrize("release", fast(1, RELEASES), ids=lambda r: type(r).__name__)
def test_each_part_of_an_interval_is_as_wide_as_it_says(release: Release) -> None:
    """Noise alone on one data set (300 draws and more), residuals alone without noise (60): no part is too narrow.

    Noise: 95 % within 4.5 standard errors, so that four fifths of the width would be seen. Sampling: the deviation of
    the noiseless estimate over fresh residuals, at most the interval's; half of the width would be seen.
    """
    direction, total, quiet = np.array([0.6, -0.8, 0.0]), _total(0), ForcedNoise([])
    peers_of = _peers(0)
    target = direction @ release.run(SETTING, total, peers_of(ForcedNoise([])), quiet).estimate
    hits, runs = 0, 1500 if isinstance(release, Averaged) else 300
    for run in range(runs):
        noise = Noise.simulated(5000 + run)
        released = release.run(SETTING, total, peers_of(noise), noise)
        part = release.interval(SETTING, released, direction, 0.95)
        hits += abs(part.value - target) <= part.noise + (part.bias if not part.exact else 0.0)
    assert 0.95 - 4.5 * math.sqrt(0.05 * 0.95 / runs) <= hits / runs
    assert hits / runs <= 0.999 or not part.exact
    errors, said = [], []
    for run in range(60):
        released = release.run(SETTING, _total(run), _peers(run)(ForcedNoise([])), ForcedNoise([]))
        errors.append(float(direction @ released.estimate))
        said.append(release.interval(SETTING, released, direction, 0.95).sampling / 1.96)
    spread = float(np.std(errors))
    assert spread <= 1.25 * float(np.mean(said))
    assert float(np.mean(said)) <= 3.0 * spread


@pytest.mark.parametrize("release", fast(2, RELEASES), ids=lambda r: type(r).__name__)
def test_proved_bounds_hold_and_predictions_are_near(release: Release) -> None:
    errors = []
    for run in range(30):
        theta, released, _ = _run(release, 1000 + run)
        estimate = released.estimate  # type: ignore[attr-defined]
        estimate = estimate * min(1.0, 1.0 / float(np.linalg.norm(estimate)))
        errors.append(float(np.sum((estimate - theta) ** 2)))
    proved = release.proved_error(SETTING, 0.0)
    assert np.mean(errors) <= proved.bound
    if not proved.expected:
        assert max(errors) <= proved.bound
    assert release.expected_error(SETTING) <= proved.bound
    assert np.mean(errors) == pytest.approx(release.expected_error(SETTING), rel=0.9)


def test_proved_bounds_are_useful_at_campaign_sizes() -> None:
    """A campaign like examples/wages.toml has a bound that says something before it starts."""
    setting = Setting(people=61_395, features=4, prior=UniformBall(dimension=4, radius=0.5),
                      noise=TruncatedGaussianNoise(noise_std=0.11, bound=0.65), response_bound=1.0,
                      smallest_eigenvalue=0.025, largest_eigenvalue=0.4)
    proved = SufficientStatistics(epsilon=1.0).proved_error(setting, 1e-4)
    assert proved.bound < 0.1 < 0.25
    assert SufficientStatistics(epsilon=0.01).proved_error(setting, 1e-4).bound == math.inf


def test_moments_are_released_exactly_rounded() -> None:
    """With injected noise the released moments are the exact moments plus noise, on the 2^-30 grid."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-0.5, 0.5, (SETTING.people, D))
    y = rng.uniform(-1, 1, SETTING.people)
    first, second = moments(as_batches((X, y), D), SETTING.record_map, np.zeros(SETTING.people, dtype=bool), D)
    v = rng.standard_normal(D * (D + 3) // 2)
    released = SufficientStatistics(epsilon=1.0).run(SETTING, first + second, np.zeros((2, D)),
                                                     Noise.replayed({("release",): v}))
    gram = first.gram.astype(float) / 2**32
    cross = first.cross.astype(float) / 2**32
    assert np.diagonal(released.gram) == pytest.approx(np.diagonal(gram) + v[:D], abs=2e-9)
    upper = np.triu_indices(D, 1)
    assert released.gram[upper] == pytest.approx(gram[upper] + v[D : 2 * D] / math.sqrt(2), abs=2e-9)
    assert released.cross == pytest.approx(cross + SETTING.response * v[2 * D :], abs=2e-9)
    assert (released.gram * 2**30 % 1 == 0).all()
