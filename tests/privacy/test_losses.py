"""Losses and conversions against the numbers of the specs and against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from confide.contract import InvalidInput
from confide.privacy import GDP, ZCDP, ApproxDP, PureDP, RenyiDP, gaussian_delta, gaussian_noise_std, gdp_mu


def test_analytic_gaussian_numbers() -> None:
    # spec query_release A3; allocation section 2
    assert gaussian_noise_std(1.0, 1e-3, 1.0) == pytest.approx(2.5747, abs=5e-5)
    assert gaussian_noise_std(1.0, 1e-6, 1.0) == pytest.approx(4.2247, abs=5e-5)
    assert gdp_mu(1.0, 1e-8) == pytest.approx(0.19607, abs=5e-6)
    assert gdp_mu(2.0, 1e-8) == pytest.approx(0.37694, abs=5e-6)


def test_classical_gaussian_is_wrong_outside_its_range() -> None:
    # spec query_release A3: the classical sigma's true delta at (10, .01) and (20, 1e-5)
    def classical(epsilon: float, delta: float) -> float:
        return math.sqrt(2 * math.log(1.25 / delta)) / epsilon

    assert gaussian_delta(10.0, 1 / classical(10.0, 0.01)) == pytest.approx(0.0406, abs=5e-5)
    assert gaussian_delta(20.0, 1 / classical(20.0, 1e-5)) == pytest.approx(1.5e-3, abs=5e-5)


def test_zcdp_conversion_numbers() -> None:
    # spec targeted_search acceptance 6: two-step accounting, m = 13, epsilon = .2, delta = 1e-6
    assert ZCDP(13 * 5 * 0.2**2 / 32).epsilon_at(1e-6) == pytest.approx(1.913402, abs=5e-7)
    assert ZCDP(13 * 0.2**2 / 16).epsilon_at(1e-6) == pytest.approx(1.167237, abs=5e-7)
    # the spec's 3.96692 for 200 pure events of .05 is the loose closed form; the tight rule is below it
    rho = 200 * 0.05**2 / 2
    assert rho + 2 * math.sqrt(rho * math.log(1e6)) == pytest.approx(3.96692, abs=5e-6)
    assert 3.3 < ZCDP(rho).epsilon_at(1e-6) < 3.6


@given(st.floats(1e-6, 50.0), st.floats(1e-12, 0.5))
def test_zcdp_conversion_is_tighter_than_the_closed_form(rho: float, delta: float) -> None:
    loose = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    tight = ZCDP(rho).epsilon_at(delta)
    assert tight <= loose * (1 + 1e-9)
    assert ZCDP(rho).delta_at(tight) <= delta


@given(st.floats(1e-4, 5.0), st.floats(0.05, 20.0))
def test_zcdp_delta_is_the_minimum_over_orders(rho: float, epsilon: float) -> None:
    def log_delta(t: float) -> float:
        a = 1 + math.exp(t)
        return (a - 1) * (a * rho - epsilon) - t + a * math.log1p(-1 / a)

    best = min(minimize_scalar(log_delta, bounds=(low, low + 4), method="bounded").fun for low in range(-16, 24, 4))
    assert ZCDP(rho).delta_at(epsilon) == pytest.approx(min(1.0, math.exp(best)), rel=1e-6)


@given(st.floats(0.01, 5.0), st.floats(0.0, 10.0))
def test_gaussian_delta_is_the_hockey_stick_of_two_normals(mu: float, epsilon: float) -> None:
    # the threshold set of the likelihood ratio: x > epsilon/mu + mu/2
    x = epsilon / mu + mu / 2
    direct = norm.sf(x - mu) - math.exp(epsilon) * norm.sf(x)
    assert gaussian_delta(epsilon, mu) == pytest.approx(direct, rel=1e-6, abs=1e-14)


@given(st.floats(0.01, 30.0), st.floats(1e-12, 0.4), st.floats(1e-3, 1e3))
def test_gaussian_sigma_is_least_and_safe(epsilon: float, delta: float, sensitivity: float) -> None:
    sigma = gaussian_noise_std(epsilon, delta, sensitivity)
    assert gaussian_delta(epsilon, sensitivity / sigma) <= delta
    assert gaussian_delta(epsilon, sensitivity / (sigma * (1 - 1e-6))) > delta * (1 - 1e-9)


@given(st.floats(0.01, 10.0), st.floats(1e-10, 0.3))
def test_within_inverts_epsilon_at(epsilon: float, delta: float) -> None:
    rho = ZCDP.within(epsilon, delta)
    assert rho.delta_at(epsilon) <= delta
    assert ZCDP(rho.rho * (1 + 1e-6)).delta_at(epsilon) > delta * (1 - 1e-5)


def test_conversions_of_the_other_losses() -> None:
    assert PureDP(0.5).to_zcdp() == ZCDP(0.125)
    assert GDP(2.0).to_zcdp() == ZCDP(2.0)
    assert GDP(1.0).epsilon_at(1e-5) < GDP(1.0).to_zcdp().epsilon_at(1e-5)
    # A Gaussian mechanism's Renyi divergence of order a is a mu^2/2: the best order gives the zCDP conversion.
    rho = 0.02
    orders = np.geomspace(1.01, 1e4, 4000)
    best = min(RenyiDP(float(a), float(a) * rho).epsilon_at(1e-6) for a in orders)
    assert best == pytest.approx(ZCDP(rho).epsilon_at(1e-6), rel=1e-5)


def test_edges() -> None:
    assert PureDP(math.inf).vacuous
    assert ApproxDP(1.0, 1.0).vacuous
    assert not PureDP(0.0).vacuous
    assert ZCDP(0.0).epsilon_at(0.0) == 0.0
    assert ZCDP(0.1).epsilon_at(0.0) == math.inf
    assert GDP(0.0).epsilon_at(0.0) == 0.0
    assert ApproxDP(1.0, 1e-6).epsilon_at(1e-7) == math.inf
    assert ApproxDP(1.0, 1e-6).epsilon_at(1e-5) == 1.0
    assert RenyiDP(2.0, 0.0).epsilon_at(0.0) == 0.0


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: PureDP(-1.0), "epsilon"),
        (lambda: PureDP(math.nan), "epsilon"),
        (lambda: ApproxDP(1.0, 1.5), "delta"),
        (lambda: ZCDP(-0.1), "rho"),
        (lambda: GDP(math.nan), "mu"),
        (lambda: RenyiDP(1.0, 1.0), "alpha"),
        (lambda: gaussian_noise_std(0.0, 1e-6, 1.0), "epsilon"),
        (lambda: gaussian_noise_std(1.0, 0.0, 1.0), "delta"),
        (lambda: gaussian_noise_std(1.0, 1e-6, 0.0), "sensitivity"),
        (lambda: gdp_mu(math.inf, 1e-6), "epsilon"),
        (lambda: gdp_mu(True, 1e-6), "epsilon"),
    ],
)
def test_bad_input_names_the_field(make: object, field: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^{field}:") as caught:
        make()  # type: ignore[operator]
    assert isinstance(caught.value, ValueError)
    assert caught.value.field == field
