"""Optimal composition: equal to enumerated products, never above another bound, rounded up, limited in public."""

from __future__ import annotations

import math

import numpy as np
import pytest
from event_lists import DELTAS, LEVELS, WITH_EPSILON, approx, as_pure, product, pure, response, times, worst_pair
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from confide.privacy import GDP, Accountant, ApproxDP, Event, PureDP, approx_max_divergence, hockey_stick
from confide.privacy.accounting import optimal
from confide.privacy.accounting.sums import ball, written
from confide.privacy.noise.balls import precision


@given(st.lists(st.tuples(WITH_EPSILON, st.integers(1, 3)), min_size=1, max_size=3), st.floats(0.0, 5.0), DELTAS)
def test_equals_the_enumerated_product(parts: list[tuple[Event, int]], epsilon: float, delta: float) -> None:
    accountant = Accountant(tuple(times(event, count) for event, count in parts))
    p, q = product([worst_pair(event) for event, count in parts for _ in range(count)])
    exact = hockey_stick(p, q, epsilon)
    assert accountant.delta(epsilon, calculator="optimal") == pytest.approx(exact, rel=1e-9, abs=1e-13)
    least = max(0.0, approx_max_divergence(p, q, delta))
    assert accountant.epsilon(delta, calculator="optimal") == pytest.approx(least, rel=1e-7, abs=1e-7)


@given(st.floats(1e-3, 1.0), st.integers(1, 300), st.floats(0.0, 1.0))
def test_delta_is_rounded_up_and_tight(level: float, count: int, part: float) -> None:
    epsilon = part * level * count * 0.999
    found = Accountant((times(pure(level), count),)).delta(epsilon, calculator="optimal")
    with precision(1000):
        e, odds = ball(written(level)), ball(written(level)).exp()
        exact = arb(0)
        for j in range(count + 1):
            loss = (2 * j - count) * e
            if loss > arb(epsilon):
                exact += arb(math.comb(count, j)) * odds**j / (1 + odds)**count * (1 - (arb(epsilon) - loss).exp())
        assert exact <= arb(found)
        # Below 1e-280 the room for underflow shows; beside a loss, its rounding does.
        assert found <= float(exact.mid()) * (1 + 1e-9) + 1e-280 + 1e-13 * level * count


@given(st.lists(WITH_EPSILON, min_size=1, max_size=6), st.integers(1, 20), DELTAS)
def test_never_above_another_bound(events: list[Event], count: int, delta: float) -> None:
    """Bounded ranges apart, which other rules know more about."""
    first, *rest = map(as_pure, events)
    bounds = Accountant((times(first, count), *rest)).bounds(delta)
    assert bounds["optimal"] <= min(bounds.values()) * (1 + 1e-9) + 1e-9


def test_numbers_of_long_lists() -> None:
    # spec targeted_search, acceptance 6: 200 times .05 at 1e-6. Its 3.30 is the theorem's grid of multiples of 2 eps;
    # between the grid's points the same law gives 3.27634 (sum of the binomial law in 50 digits).
    two_hundred = Accountant((times(pure(0.05), 200),))
    assert two_hundred.epsilon(1e-6, calculator="optimal") == pytest.approx(3.276336055, rel=1e-9)
    assert two_hundred.delta(3.30, calculator="optimal") == pytest.approx(8.0589492e-7, rel=1e-7)
    assert two_hundred.bounds(1e-6)["advanced"] == pytest.approx(4.22963, abs=5e-6)
    many = Accountant((times(pure(0.001), 10**6),))  # nearly Gaussian with mu = 1
    gaussian = GDP(1.0).epsilon_at(1e-6)
    assert many.epsilon(1e-6, calculator="optimal") == pytest.approx(gaussian, rel=1e-3)
    big = Accountant((times(pure(750.0), 3),))
    assert big.epsilon(1e-6, calculator="optimal") == pytest.approx(2250.0)


@given(LEVELS, st.integers(3, 50), st.integers(1, 60), st.floats(0.0, 3.0))
def test_long_lists_of_randomised_response(level: float, categories: int, count: int, epsilon: float) -> None:
    """Powers by squaring against one convolution after the other."""
    p, q = worst_pair(response(level, categories))
    one = np.array([q[0], 1 - p[0] - q[0], p[0]])
    law = np.ones(1)
    for _ in range(count):
        law = np.convolve(law, one)
    losses = level * np.arange(-count, count + 1)
    exact = math.fsum(law[losses > epsilon] * -np.expm1(epsilon - losses[losses > epsilon]))
    accountant = Accountant((times(response(level, categories), count),))
    assert accountant.delta(epsilon, calculator="optimal") == pytest.approx(exact, rel=1e-8, abs=1e-13)
    assert accountant.delta(epsilon) <= Accountant((times(pure(level), count),)).delta(epsilon)


@given(LEVELS, st.floats(0.0, 0.5), st.floats(0.0, 2.0))
def test_one_event_is_its_conversion(level: float, shown: float, epsilon: float) -> None:
    alone = Accountant((pure(level),)).delta(epsilon, calculator="optimal")
    assert alone == pytest.approx(PureDP(level).delta_at(epsilon), rel=1e-9, abs=1e-13)
    approximate = Accountant((approx(level, shown),)).delta(epsilon, calculator="optimal")
    assert approximate == pytest.approx(ApproxDP(level, shown).delta_at(epsilon), rel=1e-9, abs=1e-13)


def test_beyond_its_size_it_proves_nothing_and_says_so() -> None:
    """The limit counts public things: levels and uses."""
    within = tuple(times(pure(0.01 * k), 9) for k in range(1, 7))
    assert Accountant(within).epsilon(1e-6, calculator="optimal") < Accountant(within).epsilon()
    beyond = Accountant((*within, times(pure(0.5), 9)))
    assert beyond.epsilon(1e-6, calculator="optimal") == math.inf
    assert beyond.delta(0.5, calculator="optimal") == 1.0
    assert beyond.epsilon(1e-6) < math.inf
    assert Accountant((times(pure(1e-4), optimal.ATOMS),)).epsilon(1e-6, calculator="optimal") == math.inf
    assert Accountant((times(response(0.1, 3), optimal.USES + 1),)).epsilon(1e-6, calculator="optimal") == math.inf
    assert beyond.epsilon(0.0, calculator="optimal") == beyond.epsilon(0.0)  # the sum needs no law
