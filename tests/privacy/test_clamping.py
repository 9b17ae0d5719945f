"""Clamped noise: what is certain, and what that costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from confide.contract import InvalidInput
from confide.privacy import Noise, hockey_stick
from confide.privacy.clamping import clamped_discrete_laplace, clamping_bound, clamping_delta, tail_probability


def clamped_law(scale, bound, center, grid):
    """P[center + clamped noise = g], by summing the tails into the ends."""
    noise = np.arange(-400, 401)
    mass = np.exp(-np.abs(noise) / scale)
    mass /= mass.sum()
    return np.array([mass[np.clip(noise, -bound, bound) + center == g].sum() for g in grid])


@pytest.mark.parametrize("scale", [0.5, 2.0, 7.0])
def test_tails_are_exact(scale):
    noise = np.arange(-2000, 2001)
    mass = np.exp(-np.abs(noise) / scale)
    mass /= mass.sum()
    for bound in (0, 1, 5, 30):
        assert tail_probability(scale, bound) == pytest.approx(mass[np.abs(noise) > bound].sum(), rel=1e-12)


@pytest.mark.parametrize("bound", [1, 3, 8, 20])
def test_the_delta_covers_what_the_oracle_finds(bound):
    scale, epsilon = 2.0, 0.5  # sensitivity 1
    grid = np.arange(-40, 42)
    laws = [clamped_law(scale, bound, center, grid) for center in (0, 1)]
    found = max(hockey_stick(*laws, epsilon), hockey_stick(*laws[::-1], epsilon))
    promised = clamping_delta(scale, bound, epsilon)
    assert 0 < found <= promised
    assert found > promised / 10  # the promise is not idle


def test_the_bound_is_the_least_one():
    for delta in (1e-3, 1e-6, 1e-12):
        bound = clamping_bound(3.0, 1.0, delta, draws=40)
        assert clamping_delta(3.0, bound, 1.0, 40) <= delta < clamping_delta(3.0, bound - 1, 1.0, 40)
    assert clamping_delta(1.0, 0, 1.0) == 1.0
    assert clamping_delta(3.0, 10, 1.0, 40) > clamping_delta(3.0, 10, 1.0, 1)


def test_nothing_is_beyond_the_bound():
    noisy = clamped_discrete_laplace(50.0, 7, 2000, Noise.simulated(1), stream="x", center=[100] * 2000)
    assert noisy.min() == 93
    assert noisy.max() == 107
    assert clamped_discrete_laplace(1.0, 0, (2, 3), Noise.simulated(1), stream="x").tolist() == [[0] * 3] * 2


def test_what_is_refused():
    for call in (lambda: clamping_delta(0.0, 1, 1.0), lambda: clamping_delta(1.0, -1, 1.0),
                 lambda: clamping_delta(1.0, 1, -1.0), lambda: clamping_delta(1.0, 1, 1.0, 0),
                 lambda: clamping_bound(1.0, 1.0, 0.0), lambda: clamping_bound(1e300, 1.0, 0.5),
                 lambda: clamped_discrete_laplace(1.0, 2**63, 1, Noise.simulated(1), stream="x")):
        with pytest.raises(InvalidInput):
            call()
    assert clamping_delta(1.0, 1, math.log(3)) == pytest.approx(min(1.0, 4 * tail_probability(1.0, 1)))


def test_centers_of_any_size_are_no_error():
    far = clamped_discrete_laplace(3.0, 5, 2, Noise.secure(), stream="x", center=[2**70, -(2**70)])
    assert np.abs(far).min() >= 2**62 - 5
