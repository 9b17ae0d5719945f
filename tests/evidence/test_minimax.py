"""Minimax bounds with their constants."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from confide.acquisition.release.losses import gaussian_losses
from confide.contract.errors import InvalidInput
from confide.evidence.fallah_2022.minimax import LOWER_CONSTANT, UPPER_CONSTANT, minimax_bounds, shrunk


def test_the_constants_of_the_theorem() -> None:
    assert pytest.approx(0.0727470883586658, rel=1e-13) == LOWER_CONSTANT
    for levels in ([1.0], [0.001], [0.3, 1.0, 0.2], [1.0] * 40, [0.01] * 30):
        for order in (2.0, 9.0):
            bounds = minimax_bounds(levels, order=order)
            total = sum(levels)
            assert bounds.in_theorem
            assert bounds.lower >= LOWER_CONSTANT * min(1.0, 1 / total) * (1 - 1e-15)
            assert bounds.upper <= UPPER_CONSTANT * order / total * (1 + 1e-14)
            assert bounds.lower <= bounds.shrunk_upper < min(bounds.upper, 0.25)
            if total >= 1:
                assert bounds.gap < bounds.upper / bounds.lower <= 5 * (math.e - 1) * order * (1 + 1e-14)
    assert not minimax_bounds([1.1, 0.2]).in_theorem


def test_the_lower_bound_by_hand() -> None:
    reported = np.expm1([0.2, 0.3]).sum()
    assert minimax_bounds([0.2, 0.3]).lower == pytest.approx((1 - reported / 2) / 4)
    assert minimax_bounds([0.0, 0.0]).lower == 0.25
    reported = np.expm1([0.3] * 5).sum()
    assert minimax_bounds([0.3] * 5).lower == pytest.approx(1 / (8 * reported))
    sampling = 1 / (4 * (1 + math.sqrt(2)) ** 2)
    loose = minimax_bounds([800.0, math.inf])
    assert loose.lower == pytest.approx(sampling)
    assert not loose.private
    low = minimax_bounds([0.2, 0.3], order=1.5)
    assert (low.lower, low.private, low.in_theorem) == (pytest.approx(sampling), False, False)
    # A known variance is a narrower range: the whole bound shrinks with it.
    assert minimax_bounds([0.2, 0.3], variance=1 / 12).lower == pytest.approx(minimax_bounds([0.2, 0.3]).lower / 3)


@pytest.mark.parametrize(("people", "keep"), [(1, 0.7), (4, 0.6), (60, 0.6)])
def test_the_lower_bound_is_below_the_risk_of_its_own_two_points(people: int, keep: float) -> None:
    """Randomised response has a level of order 2 in closed form, and the best test of its counts is exact."""
    level = math.log(keep**2 / (1 - keep) + (1 - keep) ** 2 / keep)
    reported = people * math.expm1(level)
    delta = math.sqrt(min(1.0, 1 / reported))
    laws = [binom.pmf(np.arange(people + 1), people, 0.5 + side * delta / 2 * (2 * keep - 1)) for side in (1, -1)]
    risk = delta**2 * (laws[0] * laws[1] / (laws[0] + laws[1]) / 2).sum()
    assert minimax_bounds([level] * people).lower <= risk


def test_the_best_linear_weights() -> None:
    levels, v, order = np.array([0.5, 1.0, 4.0, 0.0]), 1 / 12, 3.0
    bounds = minimax_bounds(levels, variance=v, order=order)
    assert bounds.weights[3] == 0
    assert bounds.weights.sum() == pytest.approx(1)
    losses = gaussian_losses(bounds.weights, levels, order)
    assert bounds.upper == pytest.approx(v * (bounds.weights**2).sum() + losses.variances.sum())
    other = bounds.weights + np.array([0.01, -0.01, 0.0, 0.0])
    assert v * (other**2).sum() + gaussian_losses(other, levels, order).variances.sum() > bounds.upper
    nothing = minimax_bounds([0.0, 0.0])
    assert (nothing.upper, nothing.vacuous, nothing.shrunk_upper, nothing.shrink) == (math.inf, True, 0.25, 0.0)
    known = minimax_bounds([math.inf, 1.0, math.inf], variance=0.0)
    assert (known.upper, known.lower, known.gap) == (0.0, 0.0, math.inf)
    assert known.weights.tolist() == [0.5, 0.0, 0.5]


def test_shrinking_is_never_worse_than_the_worst() -> None:
    """lambda^2 M + (1 - lambda)^2/4 over all means."""
    bounds = minimax_bounds([0.3, 0.2])
    assert bounds.vacuous
    factor = bounds.shrink
    assert bounds.shrunk_upper == pytest.approx(factor**2 * bounds.upper + (1 - factor) ** 2 / 4)
    assert shrunk(3.0, bounds.upper) == pytest.approx(0.5 + factor * 2.5)
    assert shrunk(-4.0, 0.25, low=-10.0, high=10.0) == -2.0


@pytest.mark.parametrize(("field", "change"), [
    ("epsilons_local", {"epsilons_local": []}), ("epsilons_local", {"epsilons_local": [-1.0]}),
    ("epsilons_local", {"epsilons_local": [math.nan]}), ("epsilons_local", {"epsilons_local": ["x"]}),
    ("variance", {"variance": 0.3}), ("variance", {"variance": -0.1}), ("variance", {"variance": math.nan}),
    ("order", {"order": 1.0}), ("order", {"order": math.inf}),
])
def test_bad_input_is_named(field: str, change: dict) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}"):
        minimax_bounds(**({"epsilons_local": [1.0]} | change))


def test_bad_input_of_the_shrinking_is_named() -> None:
    for field, arguments in (("mse", (0.5, -1.0)), ("estimate", (math.nan, 1.0)), ("high", (0.5, 1.0, 1.0, 0.0))):
        with pytest.raises(InvalidInput, match=f"^{field}"):
            shrunk(*arguments)
