"""The case study of two people; tables and numbers of the specification, section 11 (source L989)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cases import fast
from confide.acquisition.optimum.solver import solve
from confide.contract import InvalidInput
from confide.evidence.fallah_2022.two_users import TwoUsers, two_user_value
from confide.privacy.noise.simulated import study_generator

VARIANCE = 1 / 12
CASES = {gamma: TwoUsers(variance_price=gamma * VARIANCE, noise_price=gamma) for gamma in (10.0, 100.0, 400.0)}
TABLE = {  # gamma: c1: epsilon_local, epsilon_central and payment of the first at c2 = 1/2
    10.0: {.05: (4.0562, .9745, 1.9338), .25: (2.0659, .8557, 1.6073), .5: (1.5811, .7906, 1.3942),
           .75: (1.3616, .7496, 1.2440), 1.0: (0.0, 0.0, 0.0)},
    400.0: {.05: (25.6537, 6.1634, 12.8867), .25: (13.0656, 5.4120, 10.8215), .5: (10.0, 5.0, 9.4737),
            .75: (8.6115, 4.7407, 8.5237), 1.0: (7.7689, 4.5509, 7.7689)},
}
EXPECTED = {  # cost, payments, MSE, full information, pooling
    400.0: (55.249041, 19.291187, 0.08989463, 50.553089, 56.666667),
    10.0: (6.434375, 2.961089, 0.34732857, 5.774580, 6.741222),
}


@pytest.mark.parametrize("gamma", TABLE)
def test_the_table(gamma):
    offers = CASES[gamma].offers([(c, 0.5) for c in TABLE[gamma]])
    found = np.stack([offers.epsilon_local, offers.epsilon_central, offers.payments])[..., 0].T
    np.testing.assert_allclose(found, list(TABLE[gamma].values()), atol=5e-5)


@pytest.mark.parametrize("gamma", EXPECTED)
def test_expected_values(gamma):
    found = CASES[gamma].expected()
    ours = (found.cost, found.payments, found.error_cost / gamma, found.full_information, found.pooling)
    np.testing.assert_allclose(ours, EXPECTED[gamma], atol=1e-6)


def test_expected_payments_are_those_that_are_paid():
    """Payments follow from the expected cost; here from the offers themselves."""
    case = CASES[400.0]
    nodes, weights = np.polynomial.legendre.leggauss(80)
    c, w = (nodes + 1) ** 2 / 4, weights * (nodes + 1) / 2  # c = x^2: roots at 0 become smooth
    paid = case.offers(np.stack(np.meshgrid(c, c, indexing="ij"), axis=-1)).payments.sum(axis=-1)
    assert w @ paid @ w == pytest.approx(case.expected().payments, abs=1e-4)


def test_who_is_bought_from():
    assert [CASES[gamma].switch for gamma in (10.0, 100.0)] == [
        pytest.approx(0.404626, abs=1e-6), pytest.approx(0.921733, abs=1e-6)]
    assert CASES[400.0].switch > 1  # both, always: from gamma = .404082 alpha/VAR^2 = 116.4 on
    limit = 0.404082 * 2 / VARIANCE**2
    for gamma, always in ((limit * 0.9999, False), (limit * 1.0001, True)):
        assert (TwoUsers(variance_price=gamma * VARIANCE, noise_price=gamma).switch > 1) == always
    case = CASES[10.0]
    edge = case.switch / 0.9
    assert edge == pytest.approx(0.44958, abs=5e-6)
    offers = case.offers([(edge * (1 - 1e-9), 0.9), (edge * (1 + 1e-9), 0.9)])
    np.testing.assert_allclose(offers.payments[:, 0], (1.2135, 3.1623), atol=5e-5)  # a payment that rises
    np.testing.assert_allclose(offers.rents[:, 0], 0.0, atol=1e-8)
    np.testing.assert_array_equal(offers.weights, [(0.5, 0.5), (1.0, 0.0)])
    tie = case.offers([0.8, 0.8])
    np.testing.assert_array_equal(tie.weights, (1.0, 0.0))
    np.testing.assert_allclose(tie.payments, (math.sqrt(10.0), 0.0))


def test_nobody_who_minds_the_platform():
    for offers in (CASES[10.0].offers([0.0, 0.0]), TwoUsers(variance_price=0.0, noise_price=10.0).offers([0.0, 0.0])):
        np.testing.assert_allclose(offers.epsilon_local, math.sqrt(20.0) / 2)  # w^2 summed over S: no infinity
        np.testing.assert_allclose(offers.epsilon_central, math.sqrt(20.0) / 4)
    one = CASES[10.0].offers([0.0, 0.5])
    assert one.epsilon_local[0] == math.inf
    assert np.isfinite(one.payments).all()


def test_rents_are_areas_under_the_difference():
    case, c = CASES[400.0], np.array([0.3, 0.5])
    x, w = np.polynomial.legendre.leggauss(40)
    for person in range(2):
        z = (c[person] + 1) / 2 + (1 - c[person]) / 2 * x
        profiles = np.tile(c, (len(z), 1))
        profiles[:, person] = z
        offers = case.offers(profiles)
        area = (1 - c[person]) / 2 * w @ (offers.epsilon_local - offers.epsilon_central)[:, person]
        assert case.offers(c).rents[person] == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize(("call", "field"), [
    (lambda: TwoUsers(variance_price=-1.0, noise_price=1.0), "variance_price"),
    (lambda: TwoUsers(variance_price=1.0, noise_price=0.0), "noise_price"),
    (lambda: CASES[10.0].offers([0.5, 1.5]), "reports"),
    (lambda: CASES[10.0].offers([0.5, math.nan]), "reports"),
    (lambda: CASES[10.0].offers([0.5, 0.5, 0.5]), "reports"),
    (lambda: two_user_value([1.0, math.inf], variance_price=1.0, noise_price=1.0), "virtual_costs"),
    (lambda: two_user_value(1.0, variance_price=1.0, noise_price=1.0), "virtual_costs"),
])
def test_bad_input_is_named(call, field):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field


@pytest.mark.parametrize("cases", fast(1, (200, 2000)))
def test_the_general_solver_agrees(cases):
    """Acceptance 4, source (7): value and what is offered; near the switch either is optimal."""
    random = study_generator(11, "two users")
    for _ in range(cases):
        c = random.random(2)
        prices = {"variance_price": 10 ** random.uniform(-4, 4), "noise_price": 10 ** random.uniform(-3, 3)}
        case = TwoUsers(**prices)
        found, offers = solve(2 * c, **prices), case.offers(c)
        assert found.value == pytest.approx(float(case.values(c)), rel=1e-12)
        if abs(c.prod() / case.switch - 1) > 1e-9:
            np.testing.assert_allclose(found.weights, offers.weights, atol=1e-12)
            np.testing.assert_allclose(found.epsilon_local, offers.epsilon_local, rtol=1e-12)
            np.testing.assert_allclose(found.epsilon_central, offers.epsilon_central, rtol=1e-12)
