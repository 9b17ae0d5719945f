"""Settings of channels: ranges that are declared once, recommended settings for a budget, and what has no budget."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from confide.channels import (
    FullPrior,
    JointTypeMechanism,
    KernelMechanism,
    RandomizedResponse,
    TableMechanism,
    TopK,
    WaterFilling,
)
from confide.contract import InvalidInput, Unsupported
from confide.privacy import PureDP

LAW = [[0.2, 0.3, 0.5]]
TABLE = [[0.6, 0.4], [0.4, 0.6]]
PAIR = FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2)

WRONG: list[tuple[Callable[..., Any], dict[str, Any], str, Any]] = [
    (RandomizedResponse, {"epsilon": 1.0, "letters": 3}, "epsilon", -0.1),
    (RandomizedResponse, {"epsilon": 1.0, "letters": 3}, "letters", 1025),
    (RandomizedResponse, {"epsilon": 1.0, "letters": 3}, "records", 0),
    (TopK, {"prior": LAW, "epsilon": 1.0}, "epsilon", float("inf")),
    (TopK, {"prior": LAW, "epsilon": 1.0}, "prior_provenance", "private"),
    (WaterFilling, {"prior": LAW, "distortion": 0.1}, "distortion", 1.5),
    (WaterFilling, {"prior": LAW, "identifiability": 3.0}, "identifiability", -1.0),
    (KernelMechanism, {"prior": PAIR, "epsilon": 3.0}, "epsilon", "3"),
    (TableMechanism, {"table": TABLE}, "dp_at_most", -0.5),
    (TableMechanism, {"table": TABLE, "prior": [0.5, 0.5]}, "identifiability_at_most", float("nan")),
]


@pytest.mark.parametrize(("kind", "right", "name", "wrong"), WRONG)
def test_a_value_out_of_range_is_named(kind: Callable[..., Any], right: dict[str, Any], name: str, wrong: Any) -> None:
    kind(**right)
    with pytest.raises(InvalidInput) as caught:
        kind(**{**right, name: wrong})
    assert caught.value.field == name
    assert f"    {name}: " in (inspect.getdoc(kind) or "")


def test_recommended_settings_for_a_budget() -> None:
    for it in (RandomizedResponse.for_budget(epsilon=0.7, letters=3), TopK.for_budget(epsilon=0.7, prior=LAW)):
        assert it.epsilon == 0.7
        (spent,) = it.events()
        assert spent.epsilon <= 0.7
        assert it.guarantees().privacy[0].loss == PureDP(it.dp())


@pytest.mark.parametrize("make", [
    lambda **budget: RandomizedResponse.for_budget(letters=3, **budget),
    lambda **budget: TopK.for_budget(prior=LAW, **budget),
])
def test_a_delta_is_not_needed_and_has_to_be_one(make: Callable[..., Any]) -> None:
    assert make(epsilon=1.0, delta=1e-6).dp() == make(epsilon=1.0).dp()
    for wrong in ({"epsilon": 1.0, "delta": 1.0}, {"epsilon": float("inf")}):
        with pytest.raises(InvalidInput) as caught:
            make(**wrong)
        assert caught.value.field == list(wrong)[-1]


@pytest.mark.parametrize("kind", [JointTypeMechanism, KernelMechanism, TableMechanism, WaterFilling])
def test_a_mechanism_without_a_budget_says_why(kind: type) -> None:
    assert not hasattr(kind, "for_budget")
    assert "is no input (there is no `for_budget`), because" in " ".join((inspect.getdoc(kind) or "").split())


def test_rows_that_depend_on_each_other_are_unsupported() -> None:
    with pytest.raises(Unsupported):
        TopK(prior=PAIR, epsilon=1.0)  # type: ignore[arg-type]
