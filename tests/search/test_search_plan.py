"""The plan of a search: it spends its budget and no more, and its figures follow from the noise alone."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from confide.contract import Refused
from confide.privacy.accounting import Accountant
from confide.search import PTarget, plan

SIZES = {"degree_bound": 100, "stopping_target": 50}
BEFORE = "others examined before a hidden target"


@pytest.mark.parametrize("components", [2, 5, 8])
def test_without_a_delta_calls_share_the_budget(components: int) -> None:
    it = PTarget.for_budget(epsilon=4.0, people=10_000, components=components, **SIZES)
    assert it.calls == components - 1
    assert it.epsilon == pytest.approx(4.0 / it.calls, rel=1e-12)
    assert Accountant(it.events()).epsilon() <= 4.0


def test_with_a_delta_a_call_gets_as_much_as_fits() -> None:
    it = PTarget.for_budget(epsilon=4.0, delta=1e-6, people=10_000, components=50, **SIZES)
    assert it.noise_kind == "gumbel"
    assert Accountant(it.events()).best(1e-6)[1] <= 4.0
    assert it.epsilon > 3 * 4.0 / it.calls  # composition gains much over the sum
    dearer = replace(it, epsilon=it.epsilon * 1.001)
    assert Accountant(dearer.events()).best(1e-6)[1] > 4.0


def test_one_component_needs_no_call() -> None:
    assert PTarget.for_budget(epsilon=1.0, people=100, components=1, **SIZES).events() == ()


def test_others_before_a_target_follow_from_two_laplace_variables() -> None:
    found = plan(10_000, 5, epsilon=0.4, **SIZES)
    scale = found.mechanism.call.noise_scale
    for value, before in found.worth:
        assert before == pytest.approx(10_000 * (0.5 + value / (4 * scale)) * math.exp(-value / scale), rel=1e-9)
    assert found.predicted[BEFORE].value == found.worth[-1][1]


def test_others_before_a_target_follow_from_two_gumbel_variables() -> None:
    found = plan(10_000, 5, epsilon=0.4, delta=1e-6, **SIZES)
    scale = found.mechanism.call.noise_scale
    for value, before in found.worth:
        assert before == pytest.approx(10_000 / (1 + math.exp(value / scale)), rel=1e-9)


def test_alternatives_lose_as_much_and_a_random_order_nothing() -> None:
    found = plan(10_000, 50, epsilon=4.0, delta=1e-6, **SIZES)
    laplace, random = found.alternatives
    assert laplace.name == "PTarget with laplace noise"
    assert laplace.predicted[BEFORE].value > found.predicted[BEFORE].value
    assert random.predicted[BEFORE].value == 5_000
    assert found.to_pandas().shape == (3, 4)
    assert json.loads(json.dumps(found.to_dict()))["epsilon_each"] == found.mechanism.epsilon
    assert found.plot().spec


def test_a_hopeless_budget_names_one_that_would_do() -> None:
    with pytest.raises(Refused, match=r"random order is as good") as caught:
        plan(10_000, 5, epsilon=0.001, **SIZES)
    (way,) = (each for each in caught.value.remedies if "epsilon" in each.settings)
    assert plan(10_000, 5, epsilon=way.settings["epsilon"], **SIZES).people == 10_000
