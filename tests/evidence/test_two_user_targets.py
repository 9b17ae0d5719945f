"""Budgets and errors that are aimed at, beside the two users in closed form."""

from __future__ import annotations

import pytest

from confide.acquisition.priors import UniformPrior
from confide.acquisition.targeting import (
    PriceSetting,
    price_for_budget,
    price_for_error,
)
from confide.evidence.fallah_2022.two_users import TwoUsers

TWO = PriceSetting(prior=UniformPrior(), people=2, variance=1 / 12)


def exact(gamma: float) -> tuple[float, float]:
    """Expected payments and mean squared error of two people, by quadrature."""
    found = TwoUsers(variance_price=gamma / 12, noise_price=gamma).expected()
    return found.payments, found.error_cost / gamma


def test_a_budget_is_met():
    found = price_for_budget(TWO, 19.291187, draws=60, seed=3)
    paid, mse = exact(found.error_price)
    assert paid == pytest.approx(19.291187, abs=4 * found.payments_error)  # gamma = 400 would be exact
    assert (found.payments, found.mse) == (pytest.approx(paid, abs=4 * found.payments_error),
                                           pytest.approx(mse, abs=4 * found.mse_error))
    assert found.bought == 1.0
    assert found == price_for_budget(TWO, 19.291187, draws=60, seed=3)


def test_a_target_error_is_met():
    found = price_for_error(TWO, 0.08989463, draws=60, seed=3)
    assert exact(found.error_price)[1] == pytest.approx(0.08989463, abs=4 * found.mse_error)
