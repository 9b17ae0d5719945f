"""Quantiles of one coordinate of vector Laplace noise, against independent integration and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from cases import fast
from confide.contract import InvalidInput
from confide.regression.release.base import (
    laplace_marginal_quantile,
    laplace_marginal_tail,
    mean_of_two_quantile,
    normal_quantile,
)


def test_closed_forms() -> None:
    assert laplace_marginal_quantile(0.95, 1) == pytest.approx(math.log(20), abs=1e-9)
    # d = 3: the marginal density is (1 + |x|) e^-|x| / 4, hence P[|x| > t] = (2 + t) e^-t / 2
    for t in (0.1, 1.0, 4.0, 12.0):
        assert laplace_marginal_tail(t, 3) == pytest.approx((2 + t) * math.exp(-t) / 2, rel=1e-6)
    assert normal_quantile(0.95) == pytest.approx(1.959963985, abs=1e-8)


@pytest.mark.parametrize("d", [2, 4, 7, 65, 1000])
def test_tail_equals_an_independent_integral(d: int) -> None:
    for level in (0.5, 0.95, 0.999):
        x = laplace_marginal_quantile(level, d)
        law = stats.beta(0.5, (d - 1) / 2)
        low, high = stats.gamma(d).ppf([1e-15, 1 - 1e-15])
        r = np.linspace(max(low, x), high, 20_001)
        direct = integrate.simpson(stats.gamma(d).pdf(r) * law.sf(np.minimum(1.0, (x / r) ** 2)), x=r)
        assert direct == pytest.approx(1 - level, rel=2e-4)


@pytest.mark.parametrize("d", fast(1, [2, 1, 10]))
def test_mean_of_two_by_simulation(d: int) -> None:
    rng = np.random.default_rng(d)
    z = rng.standard_normal((2, 200_000, d))
    v = z[:, :, 0] / np.linalg.norm(z, axis=2) * rng.gamma(d, size=(2, 200_000))
    for level in (0.5, 0.95):
        covered = float((np.abs(v.mean(axis=0)) <= mean_of_two_quantile(level, d)).mean())
        assert covered == pytest.approx(level, abs=6 * math.sqrt(level * (1 - level) / 200_000))


@given(st.integers(1, 500), st.floats(0.01, 0.999))
def test_quantiles_grow(d: int, level: float) -> None:
    x = laplace_marginal_quantile(level, d)
    assert x > 0
    assert laplace_marginal_quantile(min(0.9995, level + 0.0005), d) > x
    assert laplace_marginal_tail(x, d) == pytest.approx(1 - level, rel=1e-6)


def test_bad_level() -> None:
    for level in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(InvalidInput, match="level"):
            laplace_marginal_quantile(level, 2)
