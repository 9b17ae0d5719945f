"""No channel beats the genie's own."""

from __future__ import annotations

import numpy as np
import pytest

from confide.evidence.wang_2016.data_market import GenieMarket
from confide.market import (
    LinearCost,
    MajorityMarket,
    PairMarket,
    PairPrior,
    PowerCost,
    Strategy,
    best_response,
    regret,
)
from confide.market.costs import Cost


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


@pytest.mark.parametrize("market", [
    GenieMarket(5, 0.8, 0.7, LinearCost(1.0), 1.0), MajorityMarket(10, 0.8, 0.7, LinearCost(1.0), 1.0),
    MajorityMarket(11, 0.6, 0.3, PowerCost(1.0, 2.0), 0.5),
    PairMarket(PairPrior.beta_binomial(2.0, 3.0, 10), LinearCost(1.0), 1.0),
    PairMarket(PairPrior(10, 0.35, -0.0225), PowerCost(1.0, 2.0), 0.5),
], ids=lambda market: f"{type(market).__name__}-{market.people}")
def test_no_channel_beats_the_markets_own(market: GenieMarket | MajorityMarket | PairMarket) -> None:
    """Acceptance 1: zero regret by the nine pairs, and none of 10^5 random channels is better."""
    a = market.interim_matrix()
    best = best_response(a, market.cost)
    assert best.unique
    assert best.level == pytest.approx(market.epsilon, rel=1e-9)
    assert abs(regret(a, Strategy.randomised(market.epsilon), market.cost)) < 1e-10
    assert best.margin == pytest.approx(market.quote().margin, rel=1e-9)
    channels = random_channels(np.random.default_rng(7), 100_000)
    assert earned(a, channels, market.cost).max() <= best.utility + 1e-12
