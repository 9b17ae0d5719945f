"""What `confide plan` names as doing does: its keys are written into the campaign file, which is planned again."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cases import few
from confide.campaign.charging import data_set_charge
from confide.campaign.file import CampaignFile, parse
from confide.campaign.planning import planned, with_changes
from confide.contract.errors import BudgetExceeded, ConfideError, InvalidInput, Refused
from confide.contract.kinds import kind
from confide.contract.replanned import with_keys
from confide.privacy.filter import price
from confide.privacy.losses import PROMISES_LITTLE

KEYS = re.compile(r'\[(\w+)\] (\w+) = ("[^"]*"|[^\s,)]+)')

RAISED: dict[str, tuple[str, dict[str, Any]]] = {
    "bits": ("bits", {"people.count": 5, "people.presence": 0.49, "state.prior_one": 0.023,
                      "privacy.epsilon": 0.00334}),
    "bits-pair": ("bits-pair", {"people.count": 2}),
    "mean": ("mean", {"privacy.largest_local_loss": 0.1}),
    "program": ("program", {"privacy.epsilon": 0.01}),
    "queries": ("queries", {"data.records": 3000, "privacy.epsilon": 0.01, "method.name": "dual-query"}),
    "queries-recommended": ("queries", {"data.records": 65, "workload.count": 200, "privacy.epsilon": 0.00601,
                                        "method.name": "recommended"}),
    "regression": ("regression", {"people.count": 20_000, "privacy.epsilon_release": 1e-5,
                                  "payment.truth_radius": 1.5}),
    "search": ("search", {"privacy.epsilon": 1e-4}),
    "matching": ("matching", {"privacy.epsilon": 0.01}),
    "bundles": ("bundles", {"privacy.epsilon": 0.01}),
}
"""Name -> kind, and keys with which a refusal names a key of [privacy] that would do, at a loss of 10 or less."""

OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "bits-unknown-costs": ("bits-unknown-costs", {"people.count": 3, "state.prior_one": 0.3}),
    "bits-people": ("bits", {"people.count": 2, "state.prior_one": 1e-4, "state.signal_accuracy": 0.99,
                             "privacy.epsilon": 0.01}),
    "queries-methods": ("queries", {"data.records": 3000, "privacy.epsilon": 0.01,
                                    "method": {"name": "dual-query", "eta": 1.0}}),
    "queries-delta": ("queries", {"data.records": 3000, "privacy.delta": 0.0, "method.name": "marginal-fit"}),
    "regression-misreports": ("regression", {"people.count": 500}),
    "regression-radius": ("regression", {"privacy.epsilon_payment": 0.02}),
    "regression-lies": ("regression", {"people.count": 20_000, "costs.misreports": 0.01}),
    "regression-eigenvalue": ("regression", {"model.smallest_eigenvalue": 0.01}),
}
"""Name -> kind, and keys with which a refusal names other keys of the file."""

BEYOND: dict[str, tuple[str, dict[str, Any], str]] = {
    "queries": ("queries", {"data.records": 65, "workload.count": 200, "privacy.epsilon": 0.00601,
                            "method.name": "reweighted"}, "[privacy] epsilon"),
    "mean": ("mean", {"people.count": 20}, "[privacy] largest_local_loss"),
    "program": ("program", {"people.count": 60, "privacy.epsilon": 0.01, "program.supply": [11, 12, 12, 12]},
                "[privacy] epsilon"),
}
"""Name -> kind, keys with which a larger [privacy] would do, but hides nothing, and which one it is."""


def a_file(name: str, keys: dict[str, Any]) -> CampaignFile:
    text = kind(name).template
    found = parse(text.encode(), Path("there.toml"))
    return with_changes(found, keys)


_REFUSED: dict[str, Refused | InvalidInput] = {}
"""What would do is searched for, which takes seconds: a file is refused once for all tests."""


def refusal(file: CampaignFile) -> Refused | InvalidInput:
    text = json.dumps(file.document)
    if text not in _REFUSED:
        with pytest.raises((Refused, InvalidInput)) as caught:
            planned(file)
        assert not isinstance(caught.value, BudgetExceeded), caught.value
        _REFUSED[text] = caught.value  # type: ignore[assignment]
    return _REFUSED[text]


def printed_changes(error: ConfideError) -> list[dict[str, Any]]:
    """The keys and values of each remedy, read as TOML from the words alone."""
    said = []
    for way in error.ways:
        found = KEYS.findall(str(way))
        if found:
            assert str(way) in str(error)
            change = {f"{table}.{name}": tomllib.loads(f"x = {value}")["x"] for table, name, value in found}
            if "and no other key of [method]" in str(way):
                change["method"] = {"name": change.pop("method.name")}
            said.append(change)
    return said


def followed(file: CampaignFile, change: dict[str, Any]) -> float:
    """The loss, as an epsilon, of the plan of the changed file."""
    document = json.loads(json.dumps(with_keys(file.document, change)))
    there = with_changes(file, change)
    assert there.document == document
    plan = planned(there)
    charge = data_set_charge(there, plan)
    return float(price("basic", charge.events, charge.delta or there.budget.delta).epsilon)


def check(file: CampaignFile) -> list[dict[str, Any]]:
    """Follow every remedy of a refusal; the changes."""
    changes = printed_changes(refusal(file))
    for change in changes:
        assert followed(file, change) <= PROMISES_LITTLE, change
    return changes


def raises_a_loss(change: dict[str, Any]) -> bool:
    return any(key.startswith("privacy.") for key in change)


ALL = {f"{name}-{what}": case for what, cases in (("raised", RAISED), ("other", OTHERS))
       for name, case in cases.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", RAISED)
def test_a_budget_that_has_room_is_left_alone(name: str) -> None:
    which, keys = RAISED[name]
    changes = check(a_file(which, keys | {"budget.epsilon": 1000.0}))
    assert any(map(raises_a_loss, changes))
    assert not any(key.startswith("budget.") for change in changes for key in change)


@pytest.mark.parametrize("name", few(ALL, "mean-raised"))
def test_a_budget_without_room_is_raised_with_the_loss(name: str) -> None:
    # 1e-7 admits nothing: whatever does, needs another budget beside it.
    which, keys = ALL[name]
    changes = check(a_file(which, keys | {"budget.epsilon": 1e-7}))
    assert changes
    assert all("budget.epsilon" in change for change in changes)
    if name.endswith("raised"):
        assert any(map(raises_a_loss, changes))


@pytest.mark.parametrize("name", ["bits", "program", "queries", "search"])
def test_the_budget_of_each_subject_is_raised_too(name: str) -> None:
    which, keys = RAISED[name]
    changes = check(a_file(which, keys | {"budget.epsilon": 1000.0, "budget.subject_epsilon": 1e-7}))
    assert any(map(raises_a_loss, changes))
    assert all("budget.subject_epsilon" in change and "budget.epsilon" not in change for change in changes)


def test_a_delta_that_does_brings_that_of_the_budget() -> None:
    changes = check(a_file("queries", OTHERS["queries-delta"][1] | {"budget.epsilon": 3.0, "budget.delta": 0.0}))
    assert any({"privacy.delta", "budget.delta"} <= change.keys() for change in changes), changes


@pytest.mark.parametrize("name", few(BEYOND, "mean"))
def test_a_loss_that_hides_nothing_is_no_remedy(name: str) -> None:
    which, keys, key = BEYOND[name]
    file = a_file(which, keys | {"budget.epsilon": 1000.0})
    error = refusal(file)
    assert f"If only {key} changes, the campaign is possible only with a loss above epsilon = 10" in str(error)
    assert f"{key} = " not in "".join(map(str, error.ways))
    assert error.ways  # what else does
    check(file)


def test_a_file_that_spends_so_much_itself_is_reported_what_else_does() -> None:
    file = a_file("bits", {"people.count": 3, "state.prior_one": 0.001, "privacy.epsilon": 12.0,
                           "budget.epsilon": 20.0})
    (change,) = printed_changes(refusal(file))
    assert change.keys() == {"people.count"}
    assert followed(file, change) == 12.0
    file = a_file("queries", {"data.records": 3000, "privacy.epsilon": 20.0, "privacy.delta": 0.0,
                              "method.name": "marginal-fit", "budget.epsilon": 20.0})
    assert {"privacy.delta"} in [change.keys() for change in printed_changes(refusal(file))]


@pytest.mark.parametrize("name", [name for name in ALL if ALL[name][0] == "regression"])
def test_what_a_regression_names_are_keys_of_its_file(name: str) -> None:
    _, keys = ALL[name]
    file = a_file("regression", keys | {"budget.epsilon": 1000.0})
    error = refusal(file)
    assert len(check(file)) == len(error.ways) >= 1
    assert all(str(way).startswith("[") for way in error.ways)
