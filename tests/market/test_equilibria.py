"""The equilibrium checker: misspecified signal_model, mixed profiles, collusive and second equilibria, robustness."""

from __future__ import annotations

from dataclasses import replace

import pytest

from confide.contract import InvalidInput
from confide.market import (
    LinearCost,
    MajorityMarket,
    PowerCost,
    SignalModel,
    Strategy,
    best_response,
    check_equilibrium,
    interim_matrix,
    robustness,
    symmetric_equilibria,
)

GOLDEN = MajorityMarket(10, 0.8, 0.7, LinearCost(1.0), 1.0)
LARGE = MajorityMarket(101, 0.8, 0.7, LinearCost(1.0), 2.0)


def test_misspecified_nature() -> None:
    """Acceptance 6; the pairs of signal_model are (theta, P1)."""
    best = best_response(interim_matrix(LARGE, LARGE.strategy, SignalModel(0.65, 0.75)), LARGE.cost)
    assert best.level == pytest.approx(1.81670675, abs=1e-8)
    assert best_response(interim_matrix(LARGE, LARGE.strategy, SignalModel(0.5, 0.8)), LARGE.cost).name == "always 0"


@pytest.mark.parametrize("market", [GOLDEN, LARGE, MajorityMarket(11, 0.6, 0.2, PowerCost(1.0, 2.0), 0.1),
                                    MajorityMarket(30, 0.8, 0.7, LinearCost(1.0), 0.5, presence=0.4)])
def test_the_promised_equilibrium(market: MajorityMarket) -> None:
    report = check_equilibrium(market)
    assert report.holds
    assert abs(report.regret) < 1e-10
    (row,) = report.rows
    assert row.best.margin == pytest.approx(market.quote().margin, rel=1e-6)
    assert row.utility == pytest.approx(market.quote().participation)
    if market.presence < 1:
        (honest,) = [each for each in symmetric_equilibria(market) if each.informative]
        assert honest.payment == pytest.approx(market.quote().expected_payment)


def test_collusive_equilibria_are_reported() -> None:
    """The issue: 12.32 and 20.39 beside 8.85 (spec 5)."""
    found = {each.name: each for each in symmetric_equilibria(GOLDEN)}
    assert found["always 1"].payment == pytest.approx(12.32, abs=5e-3)
    assert found["always 0"].payment == pytest.approx(20.39, abs=5e-3)
    assert found["level 1"].payment == pytest.approx(8.854101911690396, rel=1e-12)
    assert not found["always 0"].informative
    assert found["nobody takes part"].payment == 0.0
    assert not found["nobody takes part"].strict


def test_the_informative_equilibrium_is_not_unique() -> None:
    """Spec 12 leaves it open: at N = 10, epsilon = 1 a second one has level 1.48095 and pays 9.637."""
    (second,) = [each for each in symmetric_equilibria(GOLDEN) if each.name.startswith("level 1.4")]
    report = check_equilibrium(GOLDEN, second.strategy)
    assert abs(report.regret) < 1e-12
    assert report.rows[0].best.level == pytest.approx(1.480945, abs=1e-6)
    assert report.rows[0].best.margin > 0.09
    assert second.payment == pytest.approx(9.63717, abs=1e-5)
    # At N = 30 it is just below epsilon: a scan that does not stop at epsilon steps over both.
    near = [each for each in symmetric_equilibria(replace(GOLDEN, people=30)) if each.informative]
    assert [each.strategy.level for each in near] == pytest.approx([1.0, 0.99018], abs=1e-5)


def test_large_markets() -> None:
    """N = 10^6, for common strategies and for groups."""
    million = MajorityMarket(10**6, 0.8, 0.7, LinearCost(1.0), 1.0)
    assert [each.name for each in symmetric_equilibria(million)] == ["always 0", "always 1", "level 1",
                                                                     "nobody takes part"]
    mixed = check_equilibrium(million, [(1000, Strategy.always("0")), (999_000, Strategy.randomised(1.0))])
    lazy, honest = mixed.rows
    assert lazy.regret == pytest.approx(million.quote().margin, rel=1e-9)
    assert abs(honest.regret) < 1e-9
    assert not mixed.holds


def test_fragile_at_small_levels() -> None:
    """Spec 5: peers a little below a small epsilon leave a constant report as the best reply."""
    small = MajorityMarket(10, 0.8, 0.7, LinearCost(1.0), 0.1)
    assert small.quote().margin == pytest.approx(1.7e-4, rel=0.02)
    assert check_equilibrium(small).holds
    below = best_response(interim_matrix(small, Strategy.randomised(0.09)), small.cost)
    assert not below.replies[0].informative


def test_robustness() -> None:
    found = robustness(LARGE)
    p, theta = LARGE.prior_one, LARGE.signal_accuracy
    for signal_model, informative in ((SignalModel(p + found.prior_up - 1e-6, theta), True),
                                (SignalModel(p + found.prior_up + 1e-6, theta), False),
                                (SignalModel(p - found.prior_down + 1e-6, theta), True),
                                (SignalModel(p - found.prior_down - 1e-6, theta), False),
                                (SignalModel(p, theta - found.accuracy_down + 1e-6), True),
                                (SignalModel(p, theta - found.accuracy_down - 1e-6), False)):
        best = best_response(interim_matrix(LARGE, LARGE.strategy, signal_model), LARGE.cost)
        assert best.replies[0].informative is informative
    assert found.prior == pytest.approx(0.0729, abs=1e-4)


@pytest.mark.parametrize("others", [[Strategy.randomised(1.0)] * 8, [(4, Strategy.randomised(1.0))], ["always 1"] * 9,
                                    [(-1, Strategy.always("0")), (10, Strategy.always("1"))]])
def test_bad_profiles(others: object) -> None:
    with pytest.raises(InvalidInput, match="others"):
        interim_matrix(GOLDEN, others)  # type: ignore[arg-type]


def test_too_many_who_are_sometimes_absent() -> None:
    some = [(2000, Strategy.randomised(1.0).thinned(0.5)), (1000, Strategy.randomised(2.0).thinned(0.5))]
    with pytest.raises(InvalidInput, match="2000"):
        interim_matrix(MajorityMarket(3001, 0.8, 0.7, LinearCost(1.0), 1.0), some)
