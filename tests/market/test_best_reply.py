"""The best reply over all channels: against a linear program, against random channels, and in its special cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from cases import fast
from confide.contract import InvalidInput
from confide.market import (
    CustomCost,
    ExponentialCost,
    LinearCost,
    PowerCost,
    Strategy,
    best_response,
    privacy_level,
)
from confide.market.costs import Cost
from confide.market.matching import MatchingPayment, PeerStatistic
from confide.market.strategies import utility

COSTS = [LinearCost(0.3), PowerCost(0.2, 2.0), ExponentialCost(0.3, 0.5),
         CustomCost(lambda x: 0.1 * x + 0.2 * x**2, lambda x: 0.1 + 0.4 * x)]


def at_level(a: np.ndarray, level: float) -> float:
    """The most that channels of at most this level are paid, by a linear program over the 3x2 polytope."""
    rows = []
    for x in range(3):
        for s in range(2):
            row = np.zeros((3, 2))
            row[x, s], row[x, 1 - s] = 1.0, -math.exp(level)
            rows.append(row.ravel())
    columns = np.array([[1, 0] * 3, [0, 1] * 3], dtype=float)
    found = linprog(-a.ravel(), A_ub=np.array(rows), b_ub=np.zeros(6), A_eq=columns, b_eq=np.ones(2), method="highs")
    assert found.status == 0
    return -float(found.fun)


@pytest.mark.parametrize("seed", fast(6, range(40)))
def test_equals_the_linear_program_on_random_matrices(seed: int) -> None:
    """Acceptance 1 and the issue: payments of any sign, also to `none`; levels on a grid, then at the best one."""
    rng = np.random.default_rng(seed)
    a, cost = rng.normal(size=(3, 2)) * rng.choice([0.3, 1.0, 4.0]), COSTS[seed % len(COSTS)]
    best = best_response(a, cost)
    grid = [at_level(a, level) - float(cost(level)) for level in np.linspace(0.0, 6.0, 25)]
    assert max(grid) <= best.utility + 1e-7
    assert at_level(a, best.level) - float(cost(best.level)) == pytest.approx(best.utility, abs=1e-7)


def random_channels(rng: np.random.Generator, number: int) -> np.ndarray:
    """(number, 3, 2) channels, many of them near the boundary or with labels that are never used."""
    shape = rng.choice([0.05, 0.3, 1.0, 5.0], size=(number, 1, 1))
    found = rng.gamma(np.broadcast_to(shape, (number, 3, 2))) + 1e-12
    near = rng.random(number) < 0.5  # columns that are close to each other: small levels
    found[near, :, 1] = found[near, :, 0] * np.exp(rng.normal(size=(near.sum(), 3)) * 0.5)
    found[rng.random(number) < 0.3, 2] = 0.0
    return found / found.sum(axis=1, keepdims=True)


def earned(a: np.ndarray, channels: np.ndarray, cost: Cost) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(np.log(channels[:, :, 1] / channels[:, :, 0]))
    levels = np.where(np.isnan(ratios), 0.0, ratios).max(axis=1)
    return (channels * a).sum(axis=(1, 2)) - cost(levels)


@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6), st.integers(0, len(COSTS) - 1))
def test_replies_earn_what_they_say(entries: list[float], index: int) -> None:
    a, cost = np.array(entries).reshape(3, 2), COSTS[index]
    best = best_response(a, cost)
    for reply in best.replies:
        assert utility(a, reply.strategy, cost) == pytest.approx(best.utility, abs=1e-9)
    channels = random_channels(np.random.default_rng(1), 200)
    assert earned(a, channels, cost).max() <= best.utility + 1e-9


@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 0.01])
def test_small_levels(epsilon: float) -> None:
    """The level is as exact as the matrix determines it: h/(2 g') - 1 is sinh^2(level/2)."""
    half = math.cosh(epsilon / 2) ** 2 * 2.0  # h/(1 + cosh) = 1
    assert best_response([[half, 0.0], [0.0, half]], LinearCost(1.0)).replies[0].level == pytest.approx(
        epsilon, rel=1e-15 / epsilon**2 + 1e-12)


@given(st.floats(0.02, 0.98), st.floats(0.02, 0.98), st.floats(0.02, 0.98), st.floats(0.01, 5.0), st.integers(0, 3))
def test_any_peer_statistic_buys_the_level(one: float, low: float, share: float, epsilon: float, index: int) -> None:
    """Spec 0: whatever binary M is, if it rises with the bit: one best reply, E[R] = c (t + Var/Cov), that margin."""
    high = low + share * (1.0 - low)  # P(M = 1 | S = 1) > P(M = 1 | S = 0) = low
    m, bit = one * high + (1 - one) * low, np.array([1 - one, one])
    pay = MatchingPayment(COSTS[index], epsilon, PeerStatistic(m, 1 - m, one * (1 - one) * (high - low)), one)
    given_bit = np.array([[1 - low, 1 - high], [low, high]])  # P(M = m | S = s)
    a = np.vstack([pay.table @ given_bit * bit, np.zeros(2)])
    assert pay.interim == pytest.approx(a, rel=1e-9, abs=1e-12 * np.abs(a).max())
    best, strategy = best_response(pay.interim, COSTS[index]), Strategy.randomised(epsilon)
    noise = 1e-14 * np.abs(a).max()
    assert best.utility == pytest.approx(pay.utility, abs=noise * 100)
    assert best.margin == pytest.approx(pay.margin, rel=1e-6, abs=noise * 100)
    assert np.sum(a * strategy.channel) == pytest.approx(pay.expected_payment, rel=1e-9)


def test_ties_are_all_reported() -> None:
    """Two labels that pay the same: every mixture of them is as good."""
    best = best_response([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]], LinearCost(1.0))
    assert [reply.name for reply in best.replies] == ["always 0", "always 1"]
    paid_to_stay_out = best_response([[4.0, 0.0], [0.0, 4.0], [0.0, 4.0]], LinearCost(0.5))
    assert {(r.on_one, r.on_zero) for r in paid_to_stay_out.replies} == {(1, 0), (2, 0)}


def test_privacy_levels() -> None:
    """0/0 is 1; a report that one bit alone can cause is unbounded (spec 1)."""
    assert privacy_level([[0.5, 0.5], [0.5, 0.5], [0, 0]]) == 0.0
    assert privacy_level([[0.5, 0.5], [0.5, 0.4], [0, 0.1]]) == math.inf
    assert Strategy.randomised(-2.0).thinned(0.3).level == pytest.approx(2.0, rel=1e-15)
    assert Strategy.randomised(700.0).level == pytest.approx(700.0)
    assert utility(np.ones((3, 2)), Strategy(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])), COSTS[0]) == -math.inf


@pytest.mark.parametrize("channel", [[[1, 1]], [[0.5, 0.5], [0.5, 0.5], [0.1, 0]], [[2, 1], [-1, 0], [0, 0]], "abc",
                                     [[math.nan, 0], [0, 1], [0, 0]]])
def test_no_channel(channel: object) -> None:
    with pytest.raises(InvalidInput, match="channel"):
        Strategy(channel)  # type: ignore[arg-type]


def test_no_interim_matrix() -> None:
    with pytest.raises(InvalidInput, match="interim"):
        best_response([[1.0, math.inf], [0.0, 0.0]], LinearCost(1.0))
