"""Plans where costs are unknown: the three criteria, what they cost, dips of the error, what cannot be reached."""

from __future__ import annotations

from typing import Any

import pytest

from confide.contract import InvalidInput
from confide.market import HistogramLaw, LogNormalLaw, TargetUnreachable, UnknownCostPlan, plan_unknown_costs

LAW = LogNormalLaw(0.0, 1.0)


@pytest.fixture(scope="module")
def cheapest() -> UnknownCostPlan:
    return plan_unknown_costs(0.05, 0.8, 0.7, LAW, people=200, max_payment=3.0)


@pytest.mark.slow
def test_three_criteria(cheapest: UnknownCostPlan) -> None:
    """Section 6: thesis 438.7 at epsilon = 2, pgf <= 14.43 (19 participants), exact <= 4.00 (8)."""
    thesis = plan_unknown_costs(0.05, 0.8, 0.7, LAW, "thesis", people=200, epsilon=2.0)
    assert thesis.total == pytest.approx(438.717897, abs=5e-5)
    found = {name: each for name, each in cheapest.compared.items() if isinstance(each, UnknownCostPlan)}
    assert (found["exact"].total, found["pgf"].total) <= (4.00, 14.43)
    assert found["thesis"].total == pytest.approx(330.80, abs=5e-3)
    assert [round(found[name].participants) for name in ("exact", "pgf")] == [8, 19]
    for plan in found.values():
        assert plan.market is not None
        assert plan.error <= 0.05
        assert (plan.total, plan.error) == (plan.market.expected_total, plan.market.error_probability())
    assert found["pgf"].market is not None
    assert found["pgf"].market.error_bound() == pytest.approx(0.05, rel=1e-9)
    assert found["exact"].error == pytest.approx(0.05, rel=1e-9)


def test_what_a_reader_is_reported(cheapest: UnknownCostPlan) -> None:
    warnings = cheapest.warnings
    assert "no ceiling" in warnings[0]
    assert any("debt" in each and "above the cap of 3" in each for each in warnings)
    written = cheapest.to_dict()
    assert written["budget"]["mean"] == pytest.approx(cheapest.total, rel=1e-9)
    assert 0 < written["budget"]["negative"] < 1
    assert written["quote"]["threshold"] == cheapest.threshold


def test_the_first_dip_of_the_error_is_found() -> None:
    """Acceptance 13: the error is small enough just above p = .1 and not at .999."""
    law = HistogramLaw([0.0, 0.001, 1.0, 1.001], [0.1, 0.0, 0.9])
    found = plan_unknown_costs(0.05, 0.95, 0.5, law, people=50, epsilon=0.1)
    assert found.participation == pytest.approx(0.1, rel=1e-9)
    assert found.total == pytest.approx(10.02, abs=5e-3)
    assert found.error == pytest.approx(0.010674, abs=1e-6)


def test_no_share_or_level_on_a_grid_is_cheaper(cheapest: UnknownCostPlan) -> None:
    from confide.market import ThresholdMarket

    for epsilon in (1.5, 2.3, 2.8, 4.0):
        for step in (0.97, 0.999, 1.001):
            share = cheapest.participation * step
            market = ThresholdMarket(200, 0.8, 0.7, LAW, epsilon, participation=share)
            assert market.error_probability() > 0.05 or market.expected_total >= cheapest.total * (1 - 1e-9)


def test_a_ceiling_has_a_price(cheapest: UnknownCostPlan) -> None:
    found = plan_unknown_costs(0.05, 0.8, 0.7, LAW, people=200, epsilon=1.0, ceiling=1.0)
    assert found.market is not None
    assert found.market.guarantees().privacy[0].loss.to_dict()["epsilon"] == 1.0
    assert found.total > cheapest.total
    assert found.warnings == ()


def test_nothing_to_buy() -> None:
    found = plan_unknown_costs(0.3, 0.8, 0.7, LAW, people=200)
    assert (found.participation, found.total, found.error, found.market) == (0.0, 0.0, pytest.approx(0.3), None)
    assert found.to_dict()["total"] == 0.0
    assert found.warnings == ()


@pytest.mark.parametrize(("criterion", "need"), [("exact", 133), ("pgf", 226), ("thesis", None)])
def test_infeasible_targets_say_what_would_do(criterion: str, need: int | None) -> None:
    with pytest.raises(TargetUnreachable) as caught:
        plan_unknown_costs(0.01, 0.6, 0.5, LAW, criterion, people=50, epsilon=20.0)
    enough = caught.value.people
    assert enough is not None
    assert need is None or enough == need
    assert 0.01 < caught.value.reachable <= 1
    found = plan_unknown_costs(0.01, 0.6, 0.5, LAW, criterion, people=enough + 2, epsilon=20.0)
    assert found.error <= 0.01


@pytest.mark.slow
@pytest.mark.parametrize("people", [10, 10_000])
def test_other_sizes(people: int) -> None:
    found = plan_unknown_costs(0.05, 0.8, 0.7, LAW, people=people)
    assert found.total == pytest.approx({10: 33.0921, 10_000: 0.9927}[people], abs=1e-4)


@pytest.mark.parametrize(("changes", "field"), [
    ({"error": 0.0}, "error"), ({"signal_accuracy": 0.5}, "signal_accuracy"), ({"prior_one": 1.0}, "prior_one"),
    ({"criterion": "chernoff"}, "criterion"), ({"people": 1}, "people"), ({"cost_law": None}, "cost_law"),
    ({"epsilon": 0.0}, "epsilon"), ({"epsilon": 2.0, "ceiling": 1.0}, "ceiling"), ({"max_payment": 0.0}, "max_payment"),
])
def test_bad_parameters(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        plan_unknown_costs(**{"error": 0.1, "signal_accuracy": 0.8, "prior_one": 0.7, "cost_law": LAW, "people": 50,
                              **changes})
    assert caught.value.field == field
