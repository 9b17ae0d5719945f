"""The cost threshold (spec truthful_regression 5, acceptance 8)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from confide.contract import InvalidInput
from confide.regression import Behaviour, plan
from confide.regression.costs import (
    LARGEST_EPSILON,
    CostLaw,
    DependentCosts,
    EmpiricalCosts,
    ExponentialCosts,
    ParetoCosts,
    QuadraticCosts,
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


def written(share: float, n: int) -> int:
    """How many of n people a share is, as a decimal: floating point may round the product to the next whole number."""
    return math.floor(Fraction(repr(share)) * n)


@settings(deadline=None)
@given(st.integers(20, 3000), st.floats(0.05, 0.6), st.floats(1e-9, 0.3))
def test_the_threshold_is_the_least_that_keeps_the_promise(n: int, alpha: float, beta: float) -> None:
    law = ParetoCosts(exponent=2)
    allowed = written(alpha, n)
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
    expected = stats.binom.sf(written(alpha, n), n, survival)
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
        (lambda: threshold(10, 0.1, 1.0, LAWS[0]), "failure_probability"),
        (lambda: threshold(10, 0.1, 0.1, LAWS[0], mode="other"), "mode"),
        (lambda: LAWS[0].quantile(0.0), "tail"),
        (lambda: excess_probability(10, 0.1, 1.5), "survival"),
    ],
)
def test_bad_parameters_are_refused(make: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()  # type: ignore[operator]
    assert caught.value.field == field


def test_costs_that_depend_on_the_data_take_the_worst_law_everywhere() -> None:
    """F(t) = min over the kinds of people, and the exact threshold covers any mix of them (spec 5)."""
    kinds = (ParetoCosts(exponent=3.0), ExponentialCosts(mean=2.0))
    worst = DependentCosts(kinds)
    for cost in (0.5, 1.0, 3.0, 20.0, 100.0):
        assert worst.survival(cost) == max(kind.survival(cost) for kind in kinds)
    for tail in (0.5, 0.05, 1e-3, 1e-8):
        assert worst.survival(worst.quantile(tail)) <= tail * (1 + 1e-9)
        assert worst.survival(worst.quantile(tail) * (1 - 1e-6)) > tail
    n, alpha, beta = 200, 0.05, 0.2
    tau = threshold(n, alpha, beta, worst)
    rng = np.random.default_rng(3)
    pareto, exponential = (1 - rng.uniform(size=(4000, n))) ** (-1 / 3), rng.exponential(2.0, (4000, n))
    costs = np.where(np.arange(n) < n // 2, pareto, exponential)
    assert np.mean(np.sum(costs > tau, axis=1) > alpha * n) <= beta + 4 * math.sqrt(beta / 4000)
    assert tau >= max(threshold(n, alpha, beta, kind) for kind in kinds)


def test_a_common_factor_leaves_only_lemma_3() -> None:
    """Costs that rise together are all above the exact threshold far more often than beta; Lemma 3 still holds."""
    n, alpha, beta, law = 1000, 0.05, 0.01, ParetoCosts(exponent=2.0)
    rng = np.random.default_rng(4)
    costs = (1 - rng.uniform(size=50_000)) ** -0.5  # one draw for everybody
    exact, markov = (threshold(n, alpha, beta, law, mode) for mode in ("exact", "lemma3"))
    assert np.mean(costs > exact) > 2 * beta
    assert np.mean(costs > markov) <= beta
    options = {"people": 100_000, "features": 2, "parameter_bound": 1.0, "noise_bound": 0.5, "epsilon": 1.0,
               "truth_radius": 0.5, "misreports": alpha / 50, "failure_probability": beta}
    alone, together = plan(**options), plan(**options, common_factor=True)  # type: ignore[arg-type]
    assert together.figures.threshold == pytest.approx((alpha / 50 * beta) ** -0.25)
    assert together.figures.threshold > 2 * alone.figures.threshold
    assert together.figures.expected_total > 2 * alone.figures.expected_total


def test_quadratic_costs_bound_the_difference_between_two_answers() -> None:
    """Lemma 12: 2 c eps (e^eps - 1) <= 4 c eps^2 as long as e^eps <= 1 + 2 eps, that is up to 1.2564."""
    law = QuadraticCosts(ParetoCosts(exponent=4.0))
    for tail in (0.3, 1e-6):
        assert law.quantile(tail) == pytest.approx(4 * ParetoCosts(4.0).quantile(tail))
        assert law.survival(law.quantile(tail)) == pytest.approx(tail)
    for epsilon in np.linspace(0.01, LARGEST_EPSILON, 60):
        assert QuadraticCosts.difference(1.0, float(epsilon)) <= 4 * epsilon**2
    assert math.exp(1.2564) < 1 + 2 * 1.2564
    assert math.exp(1.2565) > 1 + 2 * 1.2565
    # Randomised response at epsilon: g = c |ln ratio| of the answer given. The two answers' expected costs differ by no
    # more than Lemma 12 allows, though their level is of the order epsilon, far above.
    for epsilon in (0.05, 0.5, 1.2):
        keep = math.exp(epsilon) / (1 + math.exp(epsilon))
        gains = np.array([epsilon, -epsilon])  # a person who is hurt by one of the two outputs only
        difference = abs(gains @ [keep, 1 - keep] - gains @ [1 - keep, keep])
        assert difference <= QuadraticCosts.difference(1.0, epsilon)


def test_quadratic_costs_need_a_small_total_epsilon() -> None:
    options = {"people": 100_000, "features": 2, "parameter_bound": 1.0, "noise_bound": 0.5, "truth_radius": 0.5,
               "costs": QuadraticCosts(ParetoCosts(exponent=4.0))}
    found = plan(**options, epsilon=1.25)  # type: ignore[arg-type]
    plain = plan(**{**options, "costs": ParetoCosts(exponent=4.0)}, epsilon=1.25)  # type: ignore[arg-type]
    assert found.figures.privacy_cost == pytest.approx(4 * plain.figures.privacy_cost)
    with pytest.raises(InvalidInput, match="1 \\+ 2 epsilon") as caught:
        plan(**options, epsilon=1.3)  # type: ignore[arg-type]
    assert caught.value.field == "epsilon"
    with pytest.raises(InvalidInput, match="likelihood ratio"):
        plan(**options, epsilon=1.0, delta=1e-9, release="adassp")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="epsilon"):
        QuadraticCosts.difference(1.0, 1.3)
    with pytest.raises(InvalidInput, match="laws"):
        DependentCosts(())
    with pytest.raises(InvalidInput, match="common_factor"):
        Behaviour(costs=ParetoCosts(exponent=2.0), misreports=0.1, failure_probability=0.1, common_factor=1)  # type: ignore[arg-type]
