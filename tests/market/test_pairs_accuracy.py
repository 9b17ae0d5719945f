"""Estimating the share of ones: bounds, exact failures, and the plan (spec data_market 4 and 11)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from cases import fast
from confide.contract import InvalidInput
from confide.market import LinearCost, PairMarket, PairPrior, PowerCost, TooFewPeople, plan_mean
from confide.market.pairs.accuracy import (
    chebyshev_level,
    failure_probability,
    half_width,
    hoeffding_level,
    mean_estimate,
    thesis_level,
)
from confide.market.pairs.prices import pair_prices

COST = LinearCost(1.0)


def reports(n: int, ones: int, epsilon: float) -> np.ndarray:
    keep, zeros = 1 / (1 + math.exp(-epsilon)), n - ones
    return np.convolve(binom.pmf(np.arange(ones + 1), ones, keep), binom.pmf(np.arange(zeros + 1), zeros, 1 - keep))


def test_the_estimate() -> None:
    """(5.2): unbiased whatever the bits, with the stated variance; of those who took part."""
    for ones in (0, 7, 20):
        law = reports(20, ones, 0.8)
        found = [mean_estimate(k, 20 - k, 0.8) for k in range(21)]
        values = np.array([each.value for each in found])
        assert law @ values == pytest.approx(ones / 20, abs=1e-12)
        assert law @ (values - ones / 20) ** 2 == pytest.approx(found[0].sd**2, rel=1e-12)
    e = math.exp(0.8)
    assert found[3].value == pytest.approx(((e + 1) * 3 / 20 - 1) / (e - 1), rel=1e-12)
    assert found[0].value < 0
    assert found[0].clipped == 0.0
    assert found[20].clipped == 1.0


def test_levels() -> None:
    """Acceptance 9: printed, Chebyshev inverted exactly, Hoeffding."""
    target = (10**6, 0.01, 0.05)
    assert thesis_level(*target) == pytest.approx(0.7884574, abs=5e-8)
    assert chebyshev_level(*target) == pytest.approx(0.4435683, abs=5e-8)
    assert hoeffding_level(*target) == pytest.approx(0.2733090, abs=5e-8)
    assert hoeffding_level(10, 0.1, 0.05) == math.inf
    for n, delta in ((100, 0.05), (1000, 0.4)):
        width = half_width(n, 1.3, delta)
        assert min(chebyshev_level(n, width, delta), hoeffding_level(n, width, delta)) == pytest.approx(1.3, rel=1e-12)


@pytest.mark.parametrize(("n", "epsilon", "alpha"), [
    (100, 1.5, 0.1), (7, 0.3, 0.4), (50, 6.0, 0.03), (1000, 1.0, 0.05), (1001, 12.0, 0.002), (3, 40.0, 0.2),
    (1, 1.0, 0.3), (2, 1.21644, 1.38181), (4, 1.3254, 0.92662), (24, 0.3, 1.9), (40, 0.2, 2.7),
])
def test_failures_against_sums(n: int, epsilon: float, alpha: float) -> None:
    """Against the convolution; the worst over all numbers of ones; the average over a prior."""
    slope, exact = math.tanh(epsilon / 2), []
    some = range(n + 1) if n <= 50 else (0, 1, n // 3, n // 2, n - 1, n)
    for ones in some:
        off = np.abs(np.arange(n + 1) - n / 2 - (ones - n / 2) * slope)
        exact.append(reports(n, ones, epsilon)[off > alpha * n * slope * (1 - 1e-12)].sum())
        assert failure_probability(n, epsilon, alpha, ones=ones) == pytest.approx(exact[-1], abs=1e-13)
    if n <= 50:
        assert failure_probability(n, epsilon, alpha) == pytest.approx(max(exact), abs=1e-13)
        law = np.arange(1.0, n + 2) / np.arange(1.0, n + 2).sum()
        assert failure_probability(n, epsilon, alpha, counts=law) == pytest.approx(law @ exact, abs=1e-13)


def test_published_failures() -> None:
    """Acceptance 9 and section 4: a higher level can fail more often."""
    assert failure_probability(100, 1.5, 0.1, ones=30) == pytest.approx(0.0922578527, abs=5e-11)
    lower, higher = (failure_probability(1000, level, 0.05, ones=10) for level in (1.0038, 1.0110))
    assert (lower, higher) == pytest.approx((0.0934, 0.1000), abs=5e-5)
    assert failure_probability(100_000, 1.0, 0.1) == 0.0


@pytest.mark.parametrize(("people", "cost", "alpha", "covariance"), fast(3, [
    (100, COST, 0.1, 0.04), (400, PowerCost(1.0, 2.0), 0.1, 0.04), (60, COST, 0.15, -0.003), (1000, COST, 0.03, 0.1),
]))
def test_the_plan_is_the_cheapest_that_is_accurate(people: int, cost: LinearCost, alpha: float,
                                                   covariance: float) -> None:
    """No level of a grid that is accurate is cheaper; the exact failure is checked at the level that is bought."""
    prior = PairPrior(people, 0.4, covariance)
    found = plan_mean(prior, cost, alpha, 0.05)
    assert found.exact_failure_probability is not None
    assert found.exact_failure_probability <= 0.05
    assert found.exact_failure_probability == failure_probability(people, found.epsilon, alpha)
    for level in np.geomspace(0.05, 8.0, 120):
        if people * float(pair_prices(prior, cost, level)) < found.total * (1 - 1e-3):
            assert failure_probability(people, level, alpha) > 0.05
    assert found.total == pytest.approx(people * PairMarket(prior, cost, found.epsilon).quote().expected_payment)
    assert found.total >= found.lower_bound
    for name, other in found.compared.items():
        assert isinstance(other, str) or (other.exact_failure_probability or 0.0) <= 0.05
        assert isinstance(other, str) or found.looseness[name] >= 1.0
        if not isinstance(other, str) and name != "exact":
            grid = np.geomspace(other.accurate_from, 20.0, 500)
            assert other.total <= people * float(pair_prices(prior, cost, grid).min()) * (1 + 1e-9)


def test_the_least_accurate_level_is_not_the_cheapest() -> None:
    """Spec 4: with g'(0) > 0 agreement is dear at small levels."""
    prior = PairPrior.beta_binomial(2.0, 3.0, 10**6)
    found = plan_mean(prior, COST, 0.01, 0.05, "hoeffding")
    assert found.accurate_from == pytest.approx(0.2733090, abs=5e-8)
    assert found.epsilon == pytest.approx(1.27362, abs=1e-5)
    assert found.total < 0.5 * 10**6 * float(pair_prices(prior, COST, found.accurate_from))
    assert found.exact_failure_probability is None
    assert isinstance(found.compared["exact"], str)
    assert found.looseness["thesis"] == pytest.approx(1.0, rel=1e-12)


def test_reports_and_refusals() -> None:
    prior = PairPrior.beta_binomial(2.0, 3.0, 100)
    found = plan_mean(prior, COST, 0.1, 0.05, max_payment=10.0)
    (warning,) = found.warnings
    assert "above the cap of 10" in warning
    assert found.to_dict()["quote"]["expected_payment"] * 100 == pytest.approx(found.total)
    with pytest.raises(TooFewPeople) as caught:
        plan_mean(prior, COST, 0.1, 0.05, "hoeffding")
    need = caught.value.people
    assert math.isfinite(hoeffding_level(need, 0.1, 0.05))
    assert math.isinf(hoeffding_level(need - 1, 0.1, 0.05))
    assert f"people >= {need}" in str(found.compared["hoeffding"])


@pytest.mark.parametrize(("make", "field"), [
    (lambda p: plan_mean(p, COST, 0.0, 0.05), "error"), (lambda p: plan_mean(p, COST, 0.1, 1.0), "failure_probability"),
    (lambda p: plan_mean(p, COST, 0.1, 0.05, "best"), "criterion"), (lambda p: plan_mean(p, 1.0, 0.1, 0.05), "cost"),
    (lambda p: plan_mean(p, COST, 0.1, 0.05, max_payment=0.0), "max_payment"),
    (lambda p: plan_mean(p, COST, 1e-160, 0.05), "error"),
    (lambda p: failure_probability(200_000, 1.0, 0.1), "people"),
    (lambda p: failure_probability(10, 1.0, 0.1, ones=11), "ones"),
    (lambda p: failure_probability(10, 1.0, 0.1, counts=[1.0]), "counts"),
])
def test_bad_input(make: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make(PairPrior(100, 0.4, 0.04))  # type: ignore[operator]
    assert caught.value.field == field
