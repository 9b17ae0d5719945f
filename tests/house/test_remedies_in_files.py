"""What `confide plan` names as doing does: its keys are written into the campaign file, and the file is planned again."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from confide.campaign.affordable import with_changes
from confide.campaign.campaign import Campaign
from confide.campaign.file import CampaignFile, parse
from confide.campaign.planning import planned
from confide.campaign.settlement import data_set_charge
from confide.contract.errors import BudgetExceeded, ConfideError, InvalidInput, Refused
from confide.contract.kinds import kind
from confide.contract.replanned import with_keys
from confide.privacy.filter import price
from confide.privacy.losses import PROMISES_LITTLE

KEYS = re.compile(r'\[(\w+)\] (\w+) = ("[^"]*"|[^\s,)]+)')

RAISED: dict[str, dict[str, Any]] = {
    "bits": {"people.count": 5, "people.presence": 0.49, "state.prior_one": 0.023, "privacy.epsilon": 0.00334},
    "bits-pair": {"people.count": 2},
    "bits-unknown-costs": {"people.count": 2, "privacy.epsilon": 0.01, "state.prior_one": 0.1},
    "mean": {"people.count": 1000},
    "program": {"privacy.epsilon": 0.01},
    "queries": {"data.records": 3000, "privacy.epsilon": 0.01, "method.name": "dual-query"},
    "regression": {"people.count": 20_000, "privacy.epsilon_payment": 0.001},
    "search": {"privacy.epsilon": 1e-4},
    "matching": {"privacy.epsilon": 0.01},
    "bundles": {"privacy.epsilon": 0.01},
}
"""Kind -> keys of its template with which a refusal names a key of [privacy] that would do, at a loss of 10 or less."""

BEYOND: dict[str, tuple[str, dict[str, Any]]] = {
    "queries": ("queries", {"data.records": 65, "workload.count": 200, "privacy.epsilon": 0.00601,
                            "method.name": "reweighted"}),
    "mean": ("mean", {"people.count": 97, "privacy.most_local": 1.0, "privacy.order": 7.02}),
    "bits": ("bits", {"people.count": 2, "people.presence": 0.49, "state.prior_one": 1e-6, "privacy.epsilon": 0.01}),
}
"""Name -> kind, and keys with which a larger [privacy] would do, but hides nothing."""


def a_file(name: str, keys: dict[str, Any]) -> CampaignFile:
    text = kind(name).template
    found = parse(text.encode(), Path("there.toml"))
    return with_changes(found, keys)


def refusal(file: CampaignFile) -> Refused | InvalidInput:
    with pytest.raises((Refused, InvalidInput)) as caught:
        planned(file)
    assert not isinstance(caught.value, BudgetExceeded), caught.value
    return caught.value  # type: ignore[return-value]


def printed_changes(error: ConfideError) -> list[tuple[dict[str, Any], str]]:
    """The keys and values of each remedy, read as TOML from the words alone."""
    said = []
    for way in error.ways:
        found = KEYS.findall(str(way))
        if found:
            assert str(way) in str(error)
            said.append(({f"{table}.{name}": tomllib.loads(f"x = {value}")["x"] for table, name, value in found},
                         str(way)))
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
    for change, _ in changes:
        assert followed(file, change) <= PROMISES_LITTLE, change
    return [change for change, _ in changes]


def raises_a_loss(change: dict[str, Any]) -> bool:
    return any(key.startswith("privacy.") for key in change)


@pytest.mark.parametrize("name", RAISED)
def test_a_budget_that_has_room_is_left_alone(name: str) -> None:
    changes = check(a_file(name, RAISED[name] | {"budget.epsilon": 1000.0, "budget.delta": 1e-3}))
    assert any(map(raises_a_loss, changes))
    assert not any(key.startswith("budget.") for change in changes for key in change)


@pytest.mark.parametrize("name", RAISED)
def test_a_budget_without_room_is_raised_with_the_loss(name: str) -> None:
    # 1e-7 admits nothing: whatever does, needs another budget beside it.
    changes = check(a_file(name, RAISED[name] | {"budget.epsilon": 1e-7}))
    assert any(map(raises_a_loss, changes))
    assert all("budget.epsilon" in change for change in changes)
