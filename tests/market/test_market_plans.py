"""What the plans of the three markets show: a mechanism that runs, figures, alternatives, warnings and a picture."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from confide.contract import Budget, ConfideDeprecationWarning, InvalidInput, Outcome, Plan
from confide.market import (
    BitCollection,
    CustomCost,
    LinearCost,
    LogNormalLaw,
    MajorityMarket,
    MarketPlan,
    MeanPlan,
    NoPurchase,
    PairMarket,
    PairPrior,
    StateEstimate,
    UnknownCostPlan,
    plan,
    plan_mean,
    plan_unknown_costs,
)
from confide.privacy import Noise, PureDP

BELIEF: dict[str, Any] = {"signal_accuracy": 0.8, "prior_one": 0.7, "cost": LinearCost(1.0)}
PRIOR = PairPrior.beta_binomial(2.0, 3.0, people=200)


@cache
def planned(name: str) -> MarketPlan | MeanPlan | UnknownCostPlan:
    match name:
        case "majority":
            return plan(error=0.05, **BELIEF)
        case "pairs":
            return plan_mean(PRIOR, LinearCost(1.0), error=0.1)
        case _:
            return plan_unknown_costs(0.05, 0.8, 0.7, LogNormalLaw(0.0, 1.0), people=50, epsilon=2.0, ceiling=4.0)


@pytest.mark.parametrize(("name", "level"), [("majority", None), ("pairs", None), ("unknown costs", 4.0)])
def test_a_plan_runs_and_says_what_to_expect(name: str, level: float | None) -> None:
    found = planned(name)
    assert isinstance(found, Plan)
    it = found.mechanism
    assert isinstance(it, BitCollection)
    assert [each.loss for each in found.guarantees.privacy] == [PureDP(level or found.epsilon)]
    outcome = it.run([1] * it.market.people, Noise.simulated(1))
    assert outcome.shares.num_rows == it.market.people
    first = next(iter(found.predicted))
    assert (first, found.predicted[first].value) == ("expected total", found.total)
    others = [each for each in found.alternatives if not each.refused]
    assert others
    assert all(each.predicted[first].value >= found.total * (1 - 1e-9) for each in others)
    assert all(each.mechanism.guarantees().privacy for each in others)
    assert [each.predicted[first].value for each in others] == sorted(each.predicted[first].value for each in others)
    frame = found.to_pandas()
    assert frame["method"][0] == type(it.market).__name__
    assert len(frame) == 1 + len(found.alternatives)
    assert found.plot().spec["layer"]
    assert "criterion thesis" in found._repr_html_()


def test_the_picture_goes_through_the_plan() -> None:
    """The curve of the majority market has the plan's own total and error among its points."""
    found = planned("majority")
    assert isinstance(found, MarketPlan)
    rows = [(each["x"], each["y"]) for each in found.plot().spec["layer"][0]["data"]["values"]]
    assert (pytest.approx(found.total), pytest.approx(found.error)) in rows
    assert [y for _, y in rows] == sorted((y for _, y in rows), reverse=True)


@pytest.mark.parametrize("criterion", ["exact", "chernoff", "thesis"])
@pytest.mark.parametrize("budget", [60.0, 500.0])
def test_a_budget_buys_the_least_error(budget: float, criterion: str) -> None:
    found = plan(budget=budget, criterion=criterion, **BELIEF)
    assert found.total <= budget
    closer = plan(error=found.target * 0.99, criterion=criterion, **BELIEF)
    assert closer.total > budget


def test_a_budget_that_buys_nothing() -> None:
    found = plan(budget=0.01, **BELIEF)
    assert (found.people, found.market, found.error) == (0, None, pytest.approx(0.3))
    assert found.table().rows[0][0] == "NoPurchase"


def test_where_nothing_is_bought_the_mechanism_asks_nobody(tmp_path: Path) -> None:
    """It runs, promises that nobody loses anything, pays nobody, and comes back from its files."""
    for found in (plan(budget=0.01, **BELIEF), plan(error=0.4, **BELIEF),
                  plan_unknown_costs(0.4, 0.8, 0.7, LogNormalLaw(0.0, 1.0), people=50)):
        it = found.mechanism
        assert it.market == NoPurchase(prior_error=found.error, guess=1)
        outcome = it.run([], Noise.secure())
        assert [each.loss for each in outcome.guarantees.privacy] == [PureDP(0.0)]
        assert [each.highest for each in outcome.guarantees.of(Budget)] == [0.0]
        assert (outcome.billboard.present, outcome.shares.num_rows, it.events()) == (0, 0, ())
        assert it.answer(outcome.billboard) == StateEstimate(state=1, wrong=found.error, people=0)
        with pytest.raises(InvalidInput, match="reports"):
            it.run([1], Noise.secure())
    outcome.save(tmp_path)
    assert Outcome.load(tmp_path).mechanism == it


def test_where_nothing_is_bought_the_likelier_state_is_the_answer() -> None:
    for prior, state in ((0.3, 0), (0.7, 1)):
        it = plan_unknown_costs(0.4, 0.8, prior, LogNormalLaw(0.0, 1.0), people=50).mechanism
        assert it.answer(it.run([], Noise.simulated(1)).billboard).state == state


def test_large_payments_are_paid_in_whole_units() -> None:
    """In hundredths they would be more coins than fit."""
    dear = LinearCost(1e15)
    found = plan(epsilon=0.1, people=5, signal_accuracy=0.8, prior_one=0.7, cost=dear)
    assert max(found.mechanism.market.payment_range()) * 100 > 2**62
    assert found.mechanism.minor_units == 1
    dearer = plan(epsilon=0.1, people=5, signal_accuracy=0.8, prior_one=0.7, cost=LinearCost(1e25))
    assert any("cannot be run" in each for each in dearer.warnings)
    assert [each.loss for each in dearer.guarantees.privacy] == [PureDP(0.1)]
    with pytest.raises(InvalidInput, match="coins"):
        dearer.mechanism  # noqa: B018


def test_a_given_level_is_bought() -> None:
    found = plan(epsilon=1.5, people=30, **BELIEF)
    market = MajorityMarket(30, 0.8, 0.7, LinearCost(1.0), 1.5)
    assert found.market == market
    assert (found.error, found.total) == (market.error_probability(), 30 * market.quote().expected_payment)
    assert found.lower_bound < found.total
    assert found.alternatives == ()
    pair = plan_mean(PRIOR, LinearCost(1.0), epsilon=1.5)
    assert (pair.epsilon, pair.error) == (1.5, PairMarket(PRIOR, LinearCost(1.0), 1.5).half_width(0.05))
    assert pair.alternatives == ()
    assert pair.exact_failure_probability is not None
    assert pair.exact_failure_probability <= 0.05


@pytest.mark.parametrize(("given", "field"), [
    ({}, "error"), ({"error": 0.1, "budget": 5.0}, "error"), ({"epsilon": 1.0}, "people"),
    ({"epsilon": 1.0, "people": 5, "criterion": "thesis"}, "criterion"), ({"error": 0.1, "people": 5}, "people"),
    ({"budget": 0.0}, "budget"), ({"epsilon": 0.0, "people": 5}, "epsilon"), ({"error": 0.1, "cost": None}, "cost"),
])
def test_one_question_at_a_time(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        plan(**{**BELIEF, **given})
    assert caught.value.field == field


def test_a_level_or_an_error_of_a_share() -> None:
    for given in ({}, {"error": 0.1, "epsilon": 1.0}):
        with pytest.raises(InvalidInput, match="one of"):
            plan_mean(PRIOR, LinearCost(1.0), **given)  # type: ignore[arg-type]


def test_a_cost_that_no_file_holds_runs_and_is_not_saved(tmp_path: Path) -> None:
    cost = CustomCost(lambda x: 1.0 * x, np.ones_like)
    found = plan(epsilon=1.0, people=10, signal_accuracy=0.8, prior_one=0.7, cost=cost)
    outcome = found.mechanism.run([1] * 10, Noise.secure())
    assert outcome.billboard.present == 10
    with pytest.raises(InvalidInput, match="cannot be written"):
        outcome.save(tmp_path / "mine")
    assert any("no campaign can run this market" in each for each in found.warnings)
    assert [each.loss for each in found.guarantees.privacy] == [PureDP(1.0)]
    assert found.table().rows[0][0] == "MajorityMarket"


def test_warnings_were_a_method() -> None:
    found = planned("majority")
    with pytest.warns(ConfideDeprecationWarning, match="warnings"):
        assert found.warnings() == found.warnings
