"""Gaussian events: exact among themselves, a proved bound beside pure ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from event_lists import LEVELS, gdp, product, pure, times, worst_pair, zcdp
from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import norm

from confide.privacy import GDP, ZCDP, Accountant, ApproxDP, PureDP, RenyiDP, exact_mu, hockey_stick
from confide.privacy.noise.balls import precision


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), in doubles, for any epsilon."""
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


@given(st.lists(LEVELS, min_size=1, max_size=6), st.floats(0.0, 5.0))
def test_gaussian_events_compose_exactly(levels: list[float], epsilon: float) -> None:
    accountant = Accountant(tuple(map(gdp, levels)))
    exact = gaussian_delta(epsilon, math.hypot(*levels))
    assert accountant.delta(epsilon) == pytest.approx(exact, rel=1e-9, abs=1e-14)
    assert accountant.delta(epsilon, calculator="gdp") <= accountant.delta(epsilon, calculator="zcdp")
    assert accountant.rho() == pytest.approx(sum(level**2 for level in levels) / 2)


def test_the_root_is_rounded_up() -> None:
    three = Accountant((times(gdp(0.1), 3),))
    mu = GDP(math.sqrt(0.03)).mu
    assert three.delta(0.5, calculator="gdp") >= GDP(math.nextafter(mu, 0)).delta_at(0.5)
    # spec allocation 2: mu(1, 1e-8) = .19607; 25 releases of a fifth of it are within (1, 1e-8)
    assert Accountant((times(gdp(0.19607 / 5), 25),)).epsilon(1e-8) == pytest.approx(1.0, abs=5e-5)


@given(st.floats(1e-6, 30.0))
def test_a_pure_event_is_dominated_by_its_gaussian(epsilon: float) -> None:
    mu = PureDP(epsilon).to_gdp().mu
    p, q = worst_pair(pure(epsilon))
    assert mu == pytest.approx(exact_mu(p, q), rel=1e-7)
    with precision(1000):
        def error(mu: float) -> arb:
            return (arb(mu) / arb(8).sqrt()).erfc() / 2

        assert error(mu) <= 1 / (1 + arb(epsilon).exp())
        assert not error(mu * (1 - 2.0**-47)) <= 1 / (1 + arb(epsilon).exp())
    for part in (0.0, 0.3, 0.9):
        assert GDP(mu).delta_at(part * epsilon) >= hockey_stick(p, q, part * epsilon) - 1e-15


@given(st.lists(st.floats(0.05, 1.5), min_size=1, max_size=4), st.floats(0.1, 1.5), st.floats(0.0, 4.0))
def test_pure_beside_gaussian_is_covered(levels: list[float], mu: float, epsilon: float) -> None:
    """Exactly: given the pure outcomes, with loss l, a Gaussian pair is left at epsilon - l."""
    p, q = product([worst_pair(pure(level)) for level in levels])
    losses = np.log(p / q)
    exact = math.fsum(mass * gaussian_delta(epsilon - loss, mu) for mass, loss in zip(p, losses, strict=True))
    accountant = Accountant((gdp(mu), *map(pure, levels)))
    for name in accountant.bounds(0.1):
        assert accountant.delta(epsilon, calculator=name) >= exact - 1e-13


def test_discrete_noise_is_not_gaussian() -> None:
    accountant = Accountant((gdp(0.1), zcdp(0.005)))
    assert "gdp" not in accountant.calculators
    assert accountant.rho() == pytest.approx(0.01)
    assert accountant.epsilon(1e-6, calculator="split") == pytest.approx(ZCDP(0.01).epsilon_at(1e-6), rel=1e-12)


# ---- conversions of losses


@given(st.floats(1e-3, 20.0), st.floats(0.0, 1.2))
@example(1.0, 1.0)
def test_delta_of_a_pure_loss_is_rounded_up(level: float, part: float) -> None:
    epsilon = part * level
    found = PureDP(level).delta_at(epsilon)
    if epsilon >= level:
        assert found == 0.0
    else:
        with precision(1000):
            top = arb(level).exp()
            exact = (top - arb(epsilon).exp()) / (1 + top)
            assert math.nextafter(found, 0) < exact <= found
    assert found == pytest.approx(hockey_stick(*worst_pair(pure(level)), epsilon), rel=1e-9, abs=1e-15)
    assert ApproxDP(level, 0.25).delta_at(epsilon) == pytest.approx(0.25 + 0.75 * found)
    assert ApproxDP(level, 0.25).delta_at(epsilon) >= max(0.25, found)


@given(st.floats(1.001, 200.0), st.floats(1e-6, 50.0), st.floats(1e-6, 0.9))
def test_renyi_conversions_invert_each_other(alpha: float, bound: float, delta: float) -> None:
    loss = RenyiDP(alpha, bound)
    epsilon = loss.epsilon_at(delta)
    assert loss.delta_at(epsilon) <= delta * (1 + 1e-9)
    if epsilon > 0:
        assert loss.delta_at(epsilon * (1 - 1e-6)) > delta * (1 - 1e-9)
    rho = bound / alpha
    assert ZCDP(rho).to_renyi(alpha).epsilon == pytest.approx(bound)
    assert ZCDP(rho).to_renyi(alpha).delta_at(epsilon) >= ZCDP(rho).delta_at(epsilon) * (1 - 1e-12)


def test_ends_of_the_conversions() -> None:
    assert PureDP(math.inf).to_gdp() == GDP(math.inf)
    assert PureDP(0.0).to_gdp() == GDP(0.0)
    assert PureDP(math.inf).delta_at(1.0) == 1.0
    assert PureDP(1.0).delta_at(1.0) == 0.0
    assert PureDP(700.0).to_gdp().mu == pytest.approx(2 * norm.isf(math.exp(-700)), rel=1e-9)
    assert RenyiDP(2.0, 0.0).delta_at(0.0) == 0.0
    assert RenyiDP(2.0, math.inf).delta_at(5.0) == 1.0
    assert ZCDP(math.inf).to_renyi(2.0).vacuous
