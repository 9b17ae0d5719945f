"""A price of the error that meets a budget or a target before anybody reports (specification, section 12)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from confide.acquisition.comparisons import pooling
from confide.acquisition.mechanism import TwoPartMechanism
from confide.acquisition.planning import plan
from confide.acquisition.priors import UniformPrior
from confide.acquisition.targeting import (
    PriceSetting,
    _Means,
    outside_option,
    price_for_budget,
    price_for_error,
)
from confide.contract import InvalidInput

TWO = PriceSetting(prior=UniformPrior(), people=2, variance=1 / 12)


@pytest.mark.parametrize("outside", [math.inf, 0.3])
def test_payments_rise_and_errors_fall_with_the_price(outside):
    """Draw by draw, so that bisection finds the one edge."""
    means = _Means(PriceSetting(prior=UniformPrior(), people=3, variance=1 / 12, outside_mse=outside), 5, 1, "any")
    rows = np.array([means.rows(gamma) for gamma in np.geomspace(1.0, 1000.0, 12)])
    assert (np.diff(rows[..., 0], axis=0) >= -1e-9).all()
    assert (np.diff(rows[..., 1], axis=0) <= 1e-9).all()
    assert (np.diff(rows[..., 2], axis=0) >= 0).all()
    assert (rows[0, :, 2] == 0).all() == (outside == 0.3)


def test_not_to_buy():
    """Costs are capped, and who is not bought from earns nothing; at every price the cheaper option is taken."""
    values, differences = outside_option([1.0, 4.0], [[0.5, 0.1], [0.2, 0.3]], error_price=20.0, outside_mse=0.1)
    np.testing.assert_array_equal(values, (1.0, 2.0))
    np.testing.assert_array_equal(differences, [(0.5, 0.1), (0.0, 0.0)])
    setting = PriceSetting(prior=UniformPrior(), people=2, variance=1 / 12, outside_mse=0.35)
    found = price_for_budget(setting, 1.0, draws=40)
    assert 0 < found.bought < 1
    assert found.mse < 0.35


@pytest.mark.parametrize(("call", "field"), [
    (lambda: price_for_budget(TWO, 0.0), "budget"),
    (lambda: price_for_error(TWO, 1 / 24), "mse"),
    (lambda: price_for_error(PriceSetting(prior=UniformPrior(), people=2, variance=0.1, outside_mse=0.2), 0.2), "mse"),
    (lambda: price_for_error(TWO, 0.1, draws=1), "draws"),
    (lambda: PriceSetting(prior=UniformPrior(), people=2, variance=0.3), "variance"),
    (lambda: PriceSetting(prior=UniformPrior(), people=2, variance=0.2, order=1.0), "order"),
    (lambda: PriceSetting(prior=UniformPrior(), people=0, variance=0.2), "people"),
    (lambda: PriceSetting(prior=UniformPrior(), people=2, variance=0.2, outside_mse=-1.0), "outside_mse"),
])
def test_bad_input_is_named(call, field):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field


LIMITED = TwoPartMechanism(people=200, prior=UniformPrior(), mse_price=1.0, low=0.0, high=80.0, variance=150.0,
                           psi_floor=0.25, price_per_nat=2.0, currency="EUR", largest_local_loss=2.0, known_error=400.0)


def test_a_campaign_of_limited_losses_keeps_to_a_budget_or_a_target_in_its_own_units():
    found = plan(LIMITED, budget=60.0, draws=20)
    assert found.payments == pytest.approx(60.0, abs=4 * found.payments_error)
    assert found.bought == 1.0
    again = plan(LIMITED, error=found.root_error, draws=20)
    assert again.root_error == pytest.approx(found.root_error, rel=0.02)
    assert again.mechanism.mse_price == pytest.approx(found.mechanism.mse_price, rel=0.1)
    assert again.mechanism.caps.local == pytest.approx(2.0)


@pytest.mark.slow
def test_no_price_buys_what_the_limit_on_losses_does_not_allow():
    rich = plan(LIMITED, budget=1e6, draws=10)  # money is no help beyond this price
    assert rich.payments < 1e5
    assert rich.bought > 0.5
    with pytest.raises(InvalidInput, match="out of reach under largest_local_loss"):
        plan(LIMITED, error=0.5 * rich.root_error, draws=10)
    with pytest.raises(InvalidInput, match="records without any noise"):
        plan(LIMITED, error=0.1, draws=10)


def test_a_plan_tells_what_it_gives_and_what_else_there_is():
    found = plan(LIMITED, budget=60.0, draws=20)
    error, total = found.predicted["root mean squared error"], found.predicted["expected total"]
    assert (error.value, total.value, total.unit) == (found.root_error, found.payments, "EUR")
    assert next(iter(found.predicted)) == "root mean squared error"
    equal, central = found.alternatives
    pooled = pooling(200, variance_price=found.mechanism.variance_price, noise_price=found.mechanism.noise_price)
    assert equal.predicted["expected total"].value == pytest.approx(2.0 * pooled.payments)
    assert equal.predicted["root mean squared error"].value == pytest.approx(
        80.0 * math.sqrt(pooled.error_cost / found.mechanism.error_price))
    assert central.predicted["root mean squared error"].value < error.value
    assert equal.refused
    assert central.refused
    assert len(found.to_pandas()) == 3
    assert found.to_dict()["mse_price"] == found.mechanism.mse_price
    assert "this plan" in found.plot().alt
    assert found.warnings == ()


def test_a_plan_without_a_limit_on_losses_warns():
    (warning,) = plan(replace(LIMITED, largest_local_loss=None, known_error=None), budget=60.0, draws=4).warnings
    assert "largest_local_loss" in warning


def test_a_plan_takes_a_budget_or_a_target():
    for both in ({}, {"budget": 1.0, "error": 1.0}):
        with pytest.raises(InvalidInput, match=r"one of budget .*and error"):
            plan(LIMITED, **both)
    with pytest.raises(InvalidInput, match="budget: "):
        plan(LIMITED, budget=-1.0)
