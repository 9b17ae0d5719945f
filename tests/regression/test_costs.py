"""The cost threshold (spec truthful_regression 5, acceptance 8)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from confide.contract import InvalidInput
from confide.regression.costs import (
    CostLaw,
    EmpiricalCosts,
    ExponentialCosts,
    ParetoCosts,
    excess_probability,
    threshold,
)

LAWS = [ParetoCosts(2.0), ParetoCosts(4.0, scale=0.5), ExponentialCosts(3.0), EmpiricalCosts([4.0, 0.0, 1.0, 1.0, 7.0])]


def test_golden_thresholds() -> None:
    law = ParetoCosts(exponent=2)
    assert threshold(10_000, 0.05, 1e-3, law) == pytest.approx(4.788517, abs=5e-7)
    assert threshold(10_000, 0.05, 1e-3, law, mode="lemma3") == pytest.approx(141.42, abs=5e-3)
    assert threshold(1_000_000, 0.05, 1e-6, law) == pytest.approx(4.52, abs=5e-3)
    assert threshold(1_000_000, 0.05, 1e-6, law, mode="lemma3") == pytest.approx(4472, abs=0.5)
    assert threshold(1_000_000, 0.001, 1e-6, ParetoCosts(exponent=4)) == pytest.approx(5.843, abs=5e-4)


@settings(deadline=None)
@given(st.integers(20, 3000), st.floats(0.05, 0.6), st.floats(1e-9, 0.3))
def test_the_threshold_is_the_least_that_keeps_the_promise(n: int, alpha: float, beta: float) -> None:
    law = ParetoCosts(exponent=2)
    allowed = math.floor(alpha * n)
    tau = threshold(n, alpha, beta, law)
    assert stats.binom.sf(allowed, n, law.survival(tau)) <= beta * (1 + 1e-6)
    assert law.survival(tau) <= alpha * (1 + 1e-12)
    below = tau * (1 - 1e-4)
    assert stats.binom.sf(allowed, n, law.survival(below)) > beta or law.survival(below) > alpha
    assert tau <= threshold(n, alpha, beta, law, mode="lemma3") * (1 + 1e-12)


@pytest.mark.parametrize("law", LAWS)
@settings(deadline=None)
@given(st.floats(1e-9, 0.999))
def test_quantiles_invert_the_survival_function(law: CostLaw, tail: float) -> None:
    cost = law.quantile(tail)
    assert law.survival(cost) <= tail * (1 + 1e-9)
    assert cost == 0 or law.survival(cost * (1 - 1e-6)) > tail * (1 - 1e-4)
    assert isinstance(law, CostLaw)


@settings(deadline=None)
@given(st.integers(1, 500), st.floats(0, 0.99), st.floats(0, 1))
def test_excess_is_the_binomial_tail(n: int, alpha: float, survival: float) -> None:
    expected = stats.binom.sf(math.floor(alpha * n), n, survival)
    assert excess_probability(n, alpha, survival) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_the_share_is_read_as_a_decimal() -> None:
    """0.29 * 100 is 28.999999999999996 in floating point; 29 people are meant."""
    assert excess_probability(100, 0.29, 0.2) == pytest.approx(stats.binom.sf(29, 100, 0.2))


def test_a_large_share_is_limited_by_each_players_own_view() -> None:
    """With few people beta can be generous, and then tau2 = F^-1(1 - alpha) decides."""
    law = ParetoCosts(exponent=2)
    assert threshold(10, 0.1, 0.9, law) == pytest.approx(law.quantile(0.1))


def test_simulated_excess_stays_below_beta() -> None:
    rng = np.random.default_rng(11)
    n, alpha, beta, law = 300, 0.1, 0.05, ParetoCosts(exponent=3)
    tau = threshold(n, alpha, beta, law)
    costs = (1 - rng.uniform(size=(20_000, n))) ** (-1 / 3)
    share = np.mean(np.sum(costs > tau, axis=1) > alpha * n)
    assert share == pytest.approx(beta, abs=4 * math.sqrt(beta / 20_000))


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: ParetoCosts(1.0), "exponent"),
        (lambda: ParetoCosts(2.0, scale=0.0), "scale"),
        (lambda: ExponentialCosts(-1.0), "mean"),
        (lambda: EmpiricalCosts([]), "values"),
        (lambda: EmpiricalCosts([1.0, math.nan]), "values"),
        (lambda: EmpiricalCosts([-1.0]), "values"),
        (lambda: threshold(0, 0.1, 0.1, LAWS[0]), "people"),
        (lambda: threshold(10, 0.0, 0.1, LAWS[0]), "misreports"),
        (lambda: threshold(10, 1.0, 0.1, LAWS[0]), "misreports"),
        (lambda: threshold(10, 0.1, 1.0, LAWS[0]), "failure"),
        (lambda: threshold(10, 0.1, 0.1, LAWS[0], mode="other"), "mode"),
        (lambda: LAWS[0].quantile(0.0), "tail"),
        (lambda: excess_probability(10, 0.1, 1.5), "survival"),
    ],
)
def test_bad_parameters_are_refused(make: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()  # type: ignore[operator]
    assert caught.value.field == field
