"""Matrix Chernoff tails and the shrinkage of ridge (spec truthful_regression 6 and 7.1)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.regression.spectrum import Spectrum, ridge_shrinkage, smallest_eigenvalue_ball, sufficient_rows


def ball(rng: np.random.Generator, shape: tuple[int, ...], d: int) -> np.ndarray:
    x = rng.normal(size=(*shape, d))
    return x / np.linalg.norm(x, axis=-1)[..., None] * rng.uniform(size=shape)[..., None] ** (1 / d)


@pytest.mark.parametrize("d", [1, 2, 10])
def test_the_eigenvalue_of_the_ball(d: int) -> None:
    x = ball(np.random.default_rng(d), (200_000,), d)
    assert smallest_eigenvalue_ball(d) == pytest.approx(1 / (d + 2))
    assert np.linalg.eigvalsh(x.T @ x / len(x)) == pytest.approx(1 / (d + 2), rel=0.02)


def test_tails_bound_what_happens() -> None:
    rng = np.random.default_rng(4)
    m, d, xi, runs = 90, 3, 0.45, 4000
    event = Spectrum.uniform_ball(rows=m, dimension=d, tolerance=xi)
    x = ball(rng, (runs, m), d)
    values = np.linalg.eigvalsh(np.swapaxes(x, 1, 2) @ x)
    assert 0 < np.mean(values[:, 0] < event.lower) <= event.failure_below < 1
    assert np.mean(values[:, -1] > event.upper) <= event.failure_above < 1
    assert event.failure_probability == pytest.approx(min(1, event.failure_below + event.failure_above))


def test_tails_are_those_of_the_matrix_chernoff_bound() -> None:
    """Exponents at xi = 1/2: 1/2 + ln(1/2)/2 below and (3/2) ln(3/2) - 1/2 above."""
    event = Spectrum(rows=1000, dimension=3, smallest=0.1, largest=0.2, tolerance=0.5)
    assert (event.lower, event.upper) == pytest.approx((50, 300))
    assert event.failure_below == pytest.approx(3 * math.exp(-100 * 0.1534264097200273))
    assert event.failure_above == pytest.approx(3 * math.exp(-200 * 0.1081976621622466))


def test_golden_group_of_the_planner() -> None:
    event = Spectrum.uniform_ball(rows=500_000, dimension=5, tolerance=0.05)
    assert event.lower == pytest.approx(0.95 * 500_000 / 7)
    assert event.upper == pytest.approx(1.05 * 500_000 / 7)
    assert event.failure_probability < 1e-30


def test_without_an_upper_bound_the_largest_eigenvalue_is_at_most_the_number_of_rows() -> None:
    event = Spectrum(rows=100, dimension=4, smallest=0.1, tolerance=0.3)
    assert (event.upper, event.failure_above) == (100.0, 0.0)
    wide = Spectrum(rows=100, dimension=4, smallest=0.1, largest=0.9, tolerance=0.3)
    assert (wide.upper, wide.failure_above) == (100.0, 0.0)


@settings(deadline=None)
@given(st.integers(1, 50), st.floats(0.01, 0.99), st.floats(1e-12, 0.5))
def test_sufficient_rows_suffice_and_are_fewer_than_the_textbooks(d: int, xi: float, failure: float) -> None:
    mu = smallest_eigenvalue_ball(d)
    rows = sufficient_rows(d, mu, xi, failure)
    assert Spectrum.uniform_ball(rows=rows, dimension=d, tolerance=xi).failure_probability <= failure * (1 + 1e-9)
    assert rows <= math.ceil(3 / xi**2 * math.log(2 * d / failure) / mu)


@settings(deadline=None)
@given(st.integers(1, 1000), st.floats(0.02, 0.9))
def test_more_rows_fail_less(m: int, xi: float) -> None:
    few, many = (Spectrum.uniform_ball(rows=r, dimension=3, tolerance=xi) for r in (m, 2 * m))
    assert many.failure_probability <= few.failure_probability <= 1
    assert many.lower == pytest.approx(2 * few.lower)


def test_truncated_rows_keep_their_bounds() -> None:
    rng = np.random.default_rng(2)
    d = 4
    x = ball(rng, (50_000,), d)
    truncated = np.trunc(x * 2.0**16) / 2.0**16
    moved = Spectrum.uniform_ball(rows=1, dimension=d, tolerance=0.1)
    kept = moved.quantised()
    shift = np.linalg.eigvalsh(truncated.T @ truncated / len(x)) - np.linalg.eigvalsh(x.T @ x / len(x))
    assert kept.smallest - moved.smallest <= shift.min() <= shift.max() <= kept.largest - moved.largest
    assert kept.smallest < moved.smallest < kept.largest


def test_shrinkage_agrees_with_draws_of_the_design() -> None:
    """Acceptance 9: m = 400, gamma = 20, d = 3: g = .2009 within .0005."""
    rng = np.random.default_rng(9)
    m, d, gamma, runs = 400, 3, 20.0, 4000
    x = ball(rng, (runs, m), d)
    values = np.linalg.eigvalsh(np.swapaxes(x, 1, 2) @ x)
    drawn = np.mean(gamma / (gamma + values), axis=1)
    assert drawn.mean() == pytest.approx(0.2009, abs=5e-4)
    assert ridge_shrinkage(m, d, gamma) == pytest.approx(0.2009, abs=5e-4)
    assert ridge_shrinkage(m, d, gamma) == pytest.approx(drawn.mean(), abs=4 * drawn.std() / runs**0.5 + 2e-5)


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 0}, {"dimension": 0}, {"smallest": 0.0}, {"smallest": 0.6}, {"largest": 0.1}, {"largest": 1.5},
        {"tolerance": 0.0}, {"tolerance": 1.0},
    ],
)
def test_bad_parameters_are_refused(change: dict[str, float]) -> None:
    good = {"rows": 10, "dimension": 2, "smallest": 0.25, "largest": 0.25, "tolerance": 0.5}
    with pytest.raises(InvalidInput):
        Spectrum(**{**good, **change})  # type: ignore[arg-type]


def test_eigenvalues_lost_in_the_grid_are_refused() -> None:
    with pytest.raises(InvalidInput, match="truncation"):
        Spectrum(rows=10, dimension=4, smallest=1e-10, tolerance=0.5).quantised()
