"""The planner: Figure 3.2's numbers, the three criteria, the stop rule, and what cannot be reached."""

from __future__ import annotations

import numpy as np
import pytest

from cases import fast
from confide.contract import InvalidInput, Refused
from confide.market import (
    ExponentialCost,
    LinearCost,
    MajorityMarket,
    PowerCost,
    SignalModel,
    TargetUnreachable,
    plan,
    thesis_bounds,
)
from confide.market.binomials import errors_at, majority_errors
from confide.market.majority import excess
from confide.market.planner import _Search
from confide.market.price_levels import best_price_level
from confide.market.signal_model import Reporting

LINEAR = LinearCost(1.0)


def test_best_price_levels() -> None:
    """Acceptance 4: 1.7307777 for g = x, 1.0905907 for x^2, none for x^3 (E1)."""
    assert best_price_level(LINEAR, 0.8) == pytest.approx(1.7307777, abs=5e-8)
    assert best_price_level(PowerCost(1.0, 2.0), 0.8) == pytest.approx(1.0905907, abs=5e-8)
    with pytest.raises(Refused, match="max_people"):
        best_price_level(PowerCost(1.0, 3.0), 0.8)
    with pytest.raises(Refused):
        plan(0.1, 0.8, 0.7, PowerCost(1.0, 3.0), "thesis")


@pytest.mark.parametrize(("tau", "people", "lower", "total"), [
    (0.4, 10, 83.272, 111.121), (0.1, 24, 212.806, 229.382), (0.05, 31, 277.573, 293.114), (0.01, 48, 434.865, 445.170),
    (0.001, 72, 656.923, 666.305),
])
def test_figure_3_2(tau: float, people: int, lower: float, total: float) -> None:
    """Acceptance 4, section 6 [1035]."""
    found = thesis_bounds(tau, 0.8, 0.7, LINEAR)
    assert found.people == people
    assert (found.lower, found.total) == pytest.approx((lower, total), rel=1e-4)
    assert found.lower <= found.tighter <= found.total
    assert plan(tau, 0.8, 0.7, LINEAR, "thesis").total == found.total


@pytest.mark.parametrize(("criterion", "target", "people", "total"), [
    ("chernoff", 0.1, 24, 227.681), ("chernoff", 0.001, 72, 660.866), ("exact", 0.1, 6, 87.951),
    ("exact", 0.01, 26, 251.800), ("exact", 0.001, 48, 444.720),
])
def test_better_plans(criterion: str, target: float, people: int, total: float) -> None:
    """Section 6: what the loose choices cost too much; the search goes on where N V_LB dips below (12, first)."""
    found = plan(target, 0.8, 0.7, LINEAR, criterion)
    assert found.people == people
    assert found.total == pytest.approx(total, abs=6e-4)
    assert found.error <= target * (1 + 1e-9)
    assert found.complete
    assert found.searched >= 50
    assert found.lower_bound <= found.total


@pytest.mark.parametrize(("theta", "prior", "cost", "target", "criterion"), fast(3, [
    (0.8, 0.7, LINEAR, 0.1, "exact"), (0.7, 0.4, PowerCost(1.0, 2.0), 0.2, "exact"),
    (0.9, 0.5, ExponentialCost(1.0, 1.0), 0.05, "chernoff"), (0.65, 0.5, LINEAR, 0.1, "chernoff"),
    (0.75, 0.3, LinearCost(0.5) + PowerCost(1.0, 3.0), 0.05, "exact"),
]))
def test_no_market_on_a_fine_grid_is_cheaper(theta: float, prior: float, cost: LinearCost, target: float,
                                             criterion: str) -> None:
    found = plan(target, theta, prior, cost, criterion)
    signal_model, grid = SignalModel(prior, theta), np.geomspace(0.05, 8.0, 400)
    reporting, people = Reporting.of(theta, grid), np.arange(2, found.people + 40)[:, None]
    reached = (errors_at(people, signal_model, reporting) if criterion == "exact"
               else np.exp(-people * reporting.chernoff))
    unit = cost.slope(grid) * (1 + np.cosh(grid))
    over = excess(signal_model, majority_errors(people - 1, reporting))
    each = unit * (np.tanh(grid / 2) + 1 / signal_model.edge + over)
    least = float((people * each)[reached <= target].min())
    assert 0.97 * least <= found.total <= least * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("prior", "criterion", "cost"), fast(2, [
    (0.2, "exact", LINEAR), (0.7, "chernoff", LINEAR), (0.5, "exact", LINEAR), (0.4, "exact", PowerCost(1.0, 3.0)),
]))
def test_ranges_of_people_skip_no_cheaper_market(prior: float, criterion: str, cost: LinearCost) -> None:
    """Beyond a thousand people, where most numbers are ruled out unseen: against a look at each of 4,000."""
    found = plan(0.05, 0.54, prior, cost, criterion, max_people=4000)
    every = _Search(0.05, SignalModel(prior, 0.54), cost, criterion, 4000)
    for start in range(2, 4001, 500):
        every.look(np.arange(start, min(start + 500, 4001)))
    assert (found.total, found.people) == pytest.approx(every.best[:2], rel=1e-9)
    # The bound that rules ranges out: of those around the best, of either parity, and however wide.
    for first, width in ((2, 40), (3, 40), (found.people - 200, 150), (found.people - 201, 300)):
        sizes = np.arange(max(first, 2), min(first + width, 4000) + 1, 2)
        one = _Search(0.05, SignalModel(prior, 0.54), cost, criterion, 4000)
        one.look(sizes)
        assert one.least_of(sizes[:1], sizes[-1:])[0] <= one.best[0]


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", fast(1, [0.502, 0.5001]))
def test_weak_signals(accuracy: float) -> None:
    """300,000, and 100 million people: looks that hardly grow with them, each of which may be wrong by 2e-5."""
    found = plan(0.05, accuracy, 0.5, LINEAR, max_people=10**9)
    assert found.complete
    assert found.error <= 0.05 * (1 + 1e-9)
    # As signals weaken the best level and (2 theta - 1)^2 N settle, but for terms of the order 2 theta - 1 = .02.
    stronger = plan(0.05, 0.51, 0.5, LINEAR, max_people=10**5)
    assert found.people * ((2 * accuracy - 1) / 0.02) ** 2 == pytest.approx(stronger.people, rel=0.02)
    assert found.epsilon == pytest.approx(stronger.epsilon, rel=0.02)
    others = _Search(0.05, SignalModel(0.5, accuracy), LINEAR, "exact", 10**9)
    others.look(np.unique(np.geomspace(found.people / 3, found.people * 3, 100).astype(np.int64)))
    assert found.total <= others.best[0] * (1 + 2e-5)


def test_expected_payment_is_not_monotone_in_the_level() -> None:
    """Spec 2.5: with g'(0) > 0 the cheapest level is above the least that is accurate enough."""
    found = plan(0.29, 0.95, 0.3, LINEAR)
    assert found.error < 0.28
    assert found.market is not None
    assert found.total < 0.99 * found.people * MajorityMarket(found.people, 0.95, 0.3, LINEAR,
                                                             0.5 * found.epsilon).quote().expected_payment


def test_flat_costs_need_a_limit() -> None:
    """E1: for g = x^3 more people are ever cheaper, and the plan says so."""
    few, many = (plan(0.05, 0.8, 0.7, PowerCost(1.0, 3.0), max_people=n) for n in (50, 200))
    assert many.total < few.total
    assert (few.people, few.complete) == (50, False)
    assert any("may be cheaper" in warning for warning in few.warnings)


def test_nothing_to_buy() -> None:
    found = plan(0.3, 0.8, 0.7, LINEAR)
    assert (found.people, found.total, found.error, found.market) == (0, 0.0, pytest.approx(0.3), None)
    assert found.to_dict()["people"] == 0


def test_one_person_is_never_enough() -> None:
    """E5: N tilde = 1 means 2."""
    found = plan(0.95, 0.8, 0.7, LINEAR, "thesis")
    assert thesis_bounds(0.95, 0.8, 0.7, LINEAR).people == 1
    assert found.people == 2


@pytest.mark.parametrize("criterion", ["exact", "chernoff", "thesis"])
def test_infeasible_targets_say_what_would_do(criterion: str) -> None:
    with pytest.raises(TargetUnreachable) as caught:
        plan(1e-3, 0.6, 0.5, LINEAR, criterion, max_people=20)
    need = caught.value.people
    assert need is not None
    assert caught.value.reachable > 1e-3
    assert f"people >= {need}" in str(caught.value)
    if criterion == "exact":
        assert MajorityMarket(need, 0.6, 0.5, LINEAR, 700.0).error_probability() <= 1e-3
        assert MajorityMarket(need - 1, 0.6, 0.5, LINEAR, 700.0).error_probability() > 1e-3
    assert plan(1e-3, 0.6, 0.5, LINEAR, criterion, max_people=need + 1).people <= need + 1


@pytest.mark.parametrize("criterion", ["exact", "chernoff", "thesis"])
def test_what_weak_signals_need_is_tried(criterion: str) -> None:
    """A plan of a million people takes a moment, so a refusal is not left untried for their number."""
    with pytest.raises(TargetUnreachable) as caught:
        plan(0.01, 0.501, 0.6, LINEAR, criterion, max_people=1_000_000)
    assert [(each.tried, list(each.settings)) for each in caught.value.remedies] == [
        (True, ["people"]), (True, ["error"])]
    assert caught.value.people is not None
    assert caught.value.people > 1_000_000


def test_comparison_and_report() -> None:
    found = plan(0.01, 0.8, 0.7, LINEAR, max_payment=10.0)
    totals = {name: other.total for name, other in found.compared.items() if not isinstance(other, str)}
    assert totals == pytest.approx({"exact": 251.800, "chernoff": 441.575, "thesis": 445.170}, abs=1e-3)
    (warning,) = found.warnings
    assert "above the cap of 10" in warning
    written = found.to_dict()
    assert written["budget"]["mean"] == pytest.approx(found.total, rel=1e-9)
    assert written["budget"]["q95"] <= written["budget"]["max"]
    assert isinstance(plan(0.05, 0.8, 0.7, PowerCost(1.0, 3.0), max_people=50).compared["thesis"], str)


@pytest.mark.parametrize(("changes", "field"), [
    ({"error": 0.0}, "error"), ({"error": 1.0}, "error"), ({"signal_accuracy": 0.5}, "signal_accuracy"),
    ({"prior_one": 1.0}, "prior_one"), ({"criterion": "best"}, "criterion"), ({"max_people": 1}, "max_people"),
    ({"cost": None}, "cost"), ({"max_payment": 0.0}, "max_payment"),
])
def test_bad_parameters(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        plan(**{"error": 0.1, "signal_accuracy": 0.8, "prior_one": 0.7, "cost": LINEAR, **changes})  # type: ignore[arg-type]
    assert caught.value.field == field
