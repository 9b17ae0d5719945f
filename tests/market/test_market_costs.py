"""Cost functions: values, stable differences at small levels, and what is wrong with one that is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx

from confide.contract import InvalidInput
from confide.market import CustomCost, ExponentialCost, LinearCost, PowerCost
from confide.market.costs import Cost, sinh_excess

COSTS = [LinearCost(2.0), PowerCost(0.5, 2.0), ExponentialCost(1.5, 0.7), LinearCost(1.0) + PowerCost(1.0, 3.0)]


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_slopes_are_derivatives(cost: Cost) -> None:
    x = np.array([0.01, 0.3, 2.0, 7.0])
    step = 1e-6 * x
    assert cost.slope(x) == pytest.approx((cost(x + step) - cost(x - step)) / (2 * step), rel=1e-6)
    assert float(cost(0.0)) == 0.0
    assert cost.surplus(x) == pytest.approx(x * cost.slope(x) - cost(x), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("x", [1e-8, 1e-4, 0.1, 0.4999, 0.5001, 3.0])
def test_margins_have_no_cancellation(x: float) -> None:
    """g' sinh x - g against 400 bits (spec 0: the margin is x^3/6 at small levels for g = x)."""
    before, ctx.prec = ctx.prec, 400
    try:
        sinh, e = arb(x).sinh(), (arb(0.75) * x).exp()
        linear, exponential = sinh - x, arb(0.75) * e * sinh - (e - 1)
        assert float(sinh_excess(x)) == pytest.approx(float(linear), rel=1e-14)
        assert float(LinearCost(1.0).margin(x)) == pytest.approx(float(linear), rel=1e-14)
        assert float(ExponentialCost(1.0, 0.75).margin(x)) == pytest.approx(float(exponential), rel=1e-13)
    finally:
        ctx.prec = before


def test_which_costs_have_a_best_level() -> None:
    """x^2/g'(x) -> 0 (erratum E1)."""
    assert all(cost.has_finite_optimum for cost in COSTS)
    assert not PowerCost(1.0, 3.0).has_finite_optimum
    assert not CustomCost(lambda x: x**3, lambda x: 3 * x**2).has_finite_optimum
    assert CustomCost(lambda x: x**2.5, lambda x: 2.5 * x**1.5).has_finite_optimum


def test_a_function_of_one_number_will_do() -> None:
    cost = CustomCost(lambda x: math.expm1(float(x)), lambda x: math.exp(float(x)))
    assert cost(np.array([0.5, 2.0])) == pytest.approx(ExponentialCost(1.0, 1.0)(np.array([0.5, 2.0])))


@pytest.mark.parametrize(("value", "slope", "words"), [
    (lambda x: x + 1, lambda x: 1.0, "g(0) is 1"),
    (np.sqrt, lambda x: 0.5 / np.sqrt(np.maximum(x, 1e-300)), "not convex: g' falls at level 1e-06"),
    (lambda x: x - 0.5 * np.minimum(x, 3) ** 2 / 3 - 0, lambda x: 1 - np.minimum(x, 3) / 3, "not positive at level 3"),
    (lambda x: 2 * x, np.ones_like, "not the integral of g' at level 1e-06"),
    (lambda x: np.where(x > 5, 5 + 2 * (x - 5), x), np.ones_like, "not the integral of g' at level 5"),
    (lambda x: np.expm1(20 * x), lambda x: 20 * np.exp(20 * x), "g is not finite at level"),
])
def test_bad_functions_are_refused_at_the_point(value: object, slope: object, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        CustomCost(value, slope)  # type: ignore[arg-type]
    assert caught.value.field == "cost"
    assert words[:-1] in str(caught.value)


@pytest.mark.parametrize("make", [lambda: LinearCost(0.0), lambda: LinearCost(math.nan), lambda: PowerCost(1.0, 0.9),
                                  lambda: ExponentialCost(1.0, -1.0)])
def test_bad_parameters(make: object) -> None:
    with pytest.raises(InvalidInput):
        make()  # type: ignore[operator]
