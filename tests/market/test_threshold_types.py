"""The equilibrium of a threshold market, type by type, and what else is one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from confide.market import (
    LinearCost,
    LogNormalLaw,
    SignalModel,
    Strategy,
    ThresholdMarket,
    UniformLaw,
    best_response,
    check_types,
    common_equilibria,
)
from confide.market.threshold.type_equilibrium import interim_of_types

SMALL = ThresholdMarket(6, 0.7, 0.4, UniformLaw(0.0, 2.0), epsilon=1.0, participation=0.4)


def test_every_type_plays_its_best_reply() -> None:
    report = check_types(SMALL)
    assert report.holds
    assert abs(report.regret) < 1e-12 * SMALL.terms.stake
    assert len(report.rows) == 202
    for row in report.rows:
        assert row.takes_part == (row.cost <= SMALL.cost_threshold)
        if row.takes_part:
            assert row.best.level == pytest.approx(float(SMALL.level_of(row.cost)), rel=1e-9)
        else:
            assert row.best.replies[0].name == "always none"


def test_others_as_a_function_of_type() -> None:
    assert interim_of_types(SMALL, SMALL.strategy_of) == pytest.approx(SMALL.interim_matrix(), rel=1e-5)
    keen = check_types(SMALL, lambda cost: Strategy.randomised(2.0))
    assert not keen.holds
    assert keen.worst.regret == keen.regret > 0


def test_misspecified_nature() -> None:
    """A worse signal than designed for: types near the threshold should stay out."""
    report = check_types(SMALL, signal_model=SignalModel(0.4, 0.65), types=20)
    assert not report.holds
    assert report.worst.takes_part
    assert report.worst.best.name == "always none"


def test_a_ceiling_bounds_replies() -> None:
    a = SMALL.interim_matrix()
    free, capped = (best_response(a, LinearCost(0.01), ceiling=top) for top in (700.0, 1.5))
    assert free.level > capped.level == 1.5
    assert free.utility > capped.utility
    report = check_types(replace(SMALL, ceiling=1.5))
    assert report.holds
    assert report.interim == pytest.approx(a, abs=1e-12)


def test_collusive_equilibria_are_reported() -> None:
    market = ThresholdMarket(200, 0.8, 0.7, LogNormalLaw(0.0, 1.0), 2.0, participation=0.6187127996)
    found = {each.name: each for each in common_equilibria(market)}
    assert set(found) == {"always 0", "always 1", "costs up to 1.3527", "nobody takes part"}
    agreed = found["always 0"].payment, found["always 1"].payment
    assert agreed == pytest.approx(np.diag(market.payments_at(200)), rel=1e-12)
    assert agreed == pytest.approx((14.226, 6.097), abs=5e-4)
    assert found["costs up to 1.3527"].total == pytest.approx(market.expected_total, rel=1e-12)
    assert [each.informative for each in found.values()].count(True) == 1
    assert "costs up to 1.3527" not in {each.name for each in common_equilibria(market, SignalModel(0.7, 0.75))}
