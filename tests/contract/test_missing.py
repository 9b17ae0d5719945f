"""A call that lacks arguments names all of them at once, with what each is."""

from __future__ import annotations

from typing import Any

import pytest

import confide as cf
from confide.contract import InvalidInput, MissingArguments

CALLS: dict[str, tuple[Any, dict[str, Any], list[tuple[str, ...]]]] = {
    "market": (cf.market.plan, {"people": 3000, "epsilon": 1.0}, [("signal_accuracy",), ("prior_one",), ("cost",)]),
    "market, nothing": (cf.market.plan, {}, [("error", "budget", "epsilon"), ("signal_accuracy",), ("prior_one",),
                                             ("cost",)]),
    "market, a level alone": (cf.market.plan, {"epsilon": 1.0, "prior_one": 0.5}, [
        ("signal_accuracy",), ("cost",), ("people",)]),
    "pairs": (cf.market.plan_mean, {}, [("prior",), ("cost",), ("error", "epsilon")]),
    "unknown costs": (cf.market.plan_unknown_costs, {"error": 0.1}, [
        ("signal_accuracy",), ("prior_one",), ("cost_law",), ("people",)]),
    "regression": (cf.regression.plan, {"people": 10}, [
        ("features",), ("parameter_bound", "prior"), ("noise_bound", "noise"),
        ("epsilon", "error", "epsilon_release", "epsilon_payment"), ("truth_radius", "budget")]),
    "programs": (cf.programs.plan, {}, [("program",), ("epsilon", "error")]),
    "acquisition": (cf.acquisition.plan, {}, [("design",), ("budget", "error")]),
    "channels": (cf.channels.plan, {}, [("prior",), ("epsilon", "error")]),
    "search": (cf.search.plan, {"components": 3}, [("people",), ("epsilon",)]),
    "release": (cf.release.plan, {"records": 3}, [("schema",), ("workload",), ("epsilon",)]),
    "allocation": (cf.allocation.plan, {}, [("people",), ("goods",), ("supply",), ("epsilon",)]),
    "PMatch": (cf.allocation.PMatch.for_budget, {"people": 3}, [("epsilon",), ("goods",), ("supply",)]),
    "MWEM": (cf.release.MWEM.for_budget, {"epsilon": 1.0}, [("records",), ("workload",)]),
    "PTarget": (cf.search.PTarget.for_budget, {}, [("epsilon",), ("people",), ("components",)]),
    "MajorityMarket": (cf.market.MajorityMarket.for_budget, {"epsilon": 1.0, "people": 3}, [
        ("signal_accuracy",), ("prior_one",), ("cost",)]),
    "PrivDude": (cf.programs.PrivDude.for_budget, {}, [("program",), ("epsilon",)]),
}


@pytest.mark.parametrize("name", CALLS)
def test_all_that_is_missing_is_named_at_once(name: str) -> None:
    """As bad input and as the error of a call, with the words of the description for each."""
    entry, given, missing = CALLS[name]
    with pytest.raises(MissingArguments) as caught:
        entry(**given)
    assert list(caught.value.missing) == missing
    assert isinstance(caught.value, InvalidInput)
    assert isinstance(caught.value, TypeError)
    assert caught.value.field == missing[0][0]
    for each in (each for group in missing for each in group):
        assert f"{each} (" in str(caught.value)


def test_the_message_reads_as_a_sentence() -> None:
    with pytest.raises(MissingArguments) as caught:
        cf.market.plan(people=3000, epsilon=1.0)
    assert str(caught.value) == (
        "signal_accuracy: is missing; prior_one and cost are missing, too; give signal_accuracy (probability theta "
        "in (0.5, 1) that a bit equals the state W), prior_one (prior probability P(W = 1) that the state W is 1) and "
        "cost (cost function g of a privacy level, the same for everybody)")
    design = cf.acquisition.TwoPartMechanism(people=5, prior=cf.acquisition.UniformPrior(), mse_price=1.0)
    with pytest.raises(MissingArguments) as caught:
        cf.acquisition.plan(design)
    assert str(caught.value) == (
        "budget: neither budget nor error is given; give one of budget (limit on all payments together, in the "
        "design's currency, above 0) and error (root of the mean squared error that is wanted, in the unit of a "
        "record, above 0)")


def test_what_python_refuses_is_left_to_python() -> None:
    """Too many arguments by position, or one of another name."""
    with pytest.raises(TypeError, match="positional"):
        cf.search.plan(1, 2, 3, epsilon=1.0)  # type: ignore[misc]
    with pytest.raises(TypeError, match="unexpected keyword") as caught:
        cf.acquisition.plan(None, budget=1.0, other=2)  # type: ignore[arg-type, call-arg]
    assert not isinstance(caught.value, MissingArguments)
