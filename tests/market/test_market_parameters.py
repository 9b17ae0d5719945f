"""Settings of markets: ranges that are declared once, kept as plain numbers, and recommended for a budget."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from confide.contract import InvalidInput
from confide.contract.digests import canonical
from confide.contract.encoding import encode
from confide.contract.parameters import parameters
from confide.market import (
    BitCollection,
    CustomCost,
    ExponentialCost,
    ExponentialLaw,
    GammaLaw,
    HistogramLaw,
    LinearCost,
    LogNormalLaw,
    MajorityMarket,
    MixtureLaw,
    OptimalCountMechanism,
    PairMarket,
    PairPrior,
    PowerCost,
    ScipyLaw,
    SignalModel,
    Strategy,
    SumCost,
    ThresholdMarket,
    UniformLaw,
)
from confide.privacy import PureDP

COST, LAW, PRIOR = LinearCost(1.0), LogNormalLaw(0.0, 1.0), PairPrior.beta_binomial(2.0, 3.0, people=10)
BELIEF: dict[str, Any] = {"people": 10, "signal_accuracy": 0.8, "prior_one": 0.7}
MAJORITY: dict[str, Any] = {**BELIEF, "cost": COST, "epsilon": 1.0}

WRONG: list[tuple[Callable[..., Any], dict[str, Any], str, Any]] = [
    (LinearCost, {"rate": 1.0}, "rate", 0.0), (PowerCost, {"rate": 1.0, "exponent": 2.0}, "exponent", 0.5),
    (ExponentialCost, {"rate": 1.0, "growth": 1.0}, "growth", -1.0),
    (LogNormalLaw, {"meanlog": 0.0, "sdlog": 1.0}, "meanlog", np.inf),
    (UniformLaw, {"low": 0.0, "high": 1.0}, "low", -0.1), (ExponentialLaw, {"mean": 1.0}, "mean", 0.0),
    (GammaLaw, {"shape": 1.0, "scale": 1.0}, "scale", "1"),
    (SignalModel, {"prior_one": 0.7, "signal_accuracy": 0.8}, "signal_accuracy", 0.5),
    (MajorityMarket, MAJORITY, "people", 1),
    (MajorityMarket, MAJORITY, "presence", 0.0), (MajorityMarket, MAJORITY, "cost", 1.0),
    (PairMarket, {"prior": PRIOR, "cost": COST, "epsilon": 1.0}, "average", "yes"),
    (PairMarket, {"prior": PRIOR, "cost": COST, "epsilon": 1.0}, "prior", 0.5),
    (ThresholdMarket, {**BELIEF, "cost_law": LAW, "epsilon": 1.0, "participation": 0.5}, "participation", 1.0),
    (ThresholdMarket, {**BELIEF, "cost_law": LAW, "epsilon": 1.0, "threshold": 1.0}, "threshold", 0.0),
    (ThresholdMarket, {**BELIEF, "cost_law": LAW, "epsilon": 1.0, "participation": 0.5}, "ceiling", 701.0),
    (ThresholdMarket, {**BELIEF, "cost_law": LAW, "epsilon": 1.0, "participation": 0.5}, "cost_law", 1.0),
    (OptimalCountMechanism, MAJORITY, "people", 20_001), (OptimalCountMechanism, MAJORITY, "cap", 0.0),
    (OptimalCountMechanism, MAJORITY, "margin", -1e-9),
    (PairPrior, {"people": 10, "signal_one": 0.4, "covariance": 0.04}, "signal_one", 1.0),
    (PairPrior, {"people": 10, "signal_one": 0.4, "covariance": 0.04}, "covariance", np.nan),
    (SumCost, {"parts": (COST, COST)}, "parts", (COST, 1.0)),
    (MixtureLaw, {"weights": (1.0, 2.0), "laws": (LAW, LAW)}, "weights", (1.0, 0.0)),
    (Strategy, {"channel": [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]}, "name", 3),
    (BitCollection, {"market": MajorityMarket(**MAJORITY)}, "groups", 0),
    (BitCollection, {"market": MajorityMarket(**MAJORITY)}, "minor_units", 10**18 + 1),
    (BitCollection, {"market": MajorityMarket(**MAJORITY)}, "currency", 7),
]


@pytest.mark.parametrize(("kind", "right", "name", "wrong"), WRONG)
def test_a_value_out_of_range_is_named(kind: Callable[..., Any], right: dict[str, Any], name: str, wrong: Any) -> None:
    kind(**right)
    with pytest.raises(InvalidInput) as caught:
        kind(**{**right, name: wrong})
    assert caught.value.field == name
    assert f"    {name}: " in (inspect.getdoc(kind) or "")


@pytest.mark.parametrize("kind", [CustomCost, HistogramLaw, ScipyLaw])
def test_what_a_range_cannot_hold_is_described_once(kind: type) -> None:
    assert list(parameters(kind)) == [each.name for each in fields(kind)]


def test_numbers_are_kept_as_pythons_own() -> None:
    """What is written of a market does not depend on the kind of number that it was made of."""
    given = MajorityMarket(np.int64(10), np.float64(0.8), 0.7, LinearCost(1), 1, 1)  # type: ignore[arg-type]
    same = MajorityMarket(10, 0.8, 0.7, LinearCost(1.0), 1.0, 1.0)
    assert given == same
    assert canonical(encode(given, {})) == canonical(encode(same, {}))
    assert {type(each) for each in (given.epsilon, given.signal_accuracy, given.presence)} == {float}
    assert type(given.people) is int


def test_recommended_settings_for_a_budget() -> None:
    majority = MajorityMarket.for_budget(epsilon=1.0, **BELIEF, cost=COST)
    assert majority == MajorityMarket(**MAJORITY)
    pair = PairMarket.for_budget(epsilon=1.0, prior=PRIOR, cost=COST)
    assert (pair.epsilon, pair.average) == (1.0, True)
    unknown = ThresholdMarket.for_budget(epsilon=1.0, **BELIEF, cost_law=LAW)
    assert (unknown.epsilon, unknown.ceiling, unknown.participation) == (1.0, 1.0, 0.5)
    for market in (majority, pair, unknown):
        assert [each.loss for each in BitCollection(market=market).guarantees().privacy] == [PureDP(1.0)]


@pytest.mark.parametrize("kind", [OptimalCountMechanism])
def test_a_market_without_a_budget_says_why(kind: type) -> None:
    assert not hasattr(kind, "for_budget")
    assert "has no `for_budget`, because" in (inspect.getdoc(kind) or "")


@pytest.mark.parametrize("make", [
    lambda delta: MajorityMarket.for_budget(epsilon=1.0, delta=delta, **BELIEF, cost=COST),
    lambda delta: PairMarket.for_budget(epsilon=1.0, delta=delta, prior=PRIOR, cost=COST),
    lambda delta: ThresholdMarket.for_budget(epsilon=1.0, delta=delta, **BELIEF, cost_law=LAW),
])
def test_a_delta_is_not_needed_and_has_to_be_one(make: Callable[[float], Any]) -> None:
    assert make(1e-6) == make(0.0)
    with pytest.raises(InvalidInput) as caught:
        make(1.0)
    assert caught.value.field == "delta"
