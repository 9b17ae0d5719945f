"""Every kind prints its promises whole, and says what households lose and what second identities gain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from campaign.forging import words
from confide import PublicOutcome
from confide.campaign.file import load
from confide.contract import Guarantees, Source, Truthfulness
from confide.contract.guarantees import in_full, promises_json, promises_table, says_something, stated
from confide.contract.offering import lies
from confide.privacy.groups import SIZES
from people.all_kinds import HELD, KINDS, campaign_of

PACKS = Path(__file__).parents[1] / "golden" / "made_by_9376621e" / "packs"
SETTLED = ("bits_illness", "pairs_exam", "costs_sleep", "mean_hours", "regression_pay", "matching_courses",
           "bundles_evenings", "program_places", "queries_gaussian", "search_contacts")
CONDITION = "the bidder is served"


def promise(**more: Any) -> Truthfulness:
    return Truthfulness(**{"gain": 0.25, "baseline": 1.0, "who": "every bidder", "condition": CONDITION,
                           "note": "in the mean", "source": Source(document="a", statement="b"), **more})


def shown(text: str) -> str:
    """As it stands within the text of sections."""
    return repr(text)[1:-1]


@pytest.mark.parametrize("name", KINDS)
def test_the_plan_prints_notes_and_what_households_lose(name: str) -> None:
    plan = campaign_of(name).plan
    said = words(plan.sections())
    for each in plan.guarantees:
        assert shown(each.note) in said, each.sentence()
    assert "Households and other groups" in said
    table = next(block for section in plan.sections() if section.title == "Households and other groups"
                 for block in section.blocks).to_dict()
    assert {row[0] for row in table["rows"]} == {1, *SIZES}


@pytest.mark.parametrize("name", [name for name in KINDS if name not in HELD])
def test_every_kind_that_pays_or_gives_says_what_second_identities_gain(name: str) -> None:
    said = words(campaign_of(name).plan.sections())
    assert "Second identities and agreements" in said
    assert any(each in said for each in ("person with 2 ids", "second id with the same"))
    assert "the operator must make sure that nobody has two" in said.lower()


@pytest.mark.parametrize("name", SETTLED)
def test_the_result_prints_every_promise_whole(name: str) -> None:
    outcome = PublicOutcome.load(PACKS / name)
    file = load(PACKS / name / "campaign.toml")
    plan = file.kind.plan(file.config)
    said = words(file.kind.result(plan, outcome))
    for each in outcome.guarantees:
        if each.claimable and not each.vacuous and file.kind.name not in {"queries", "regression"}:
            assert shown(each.note) in said, each.sentence()
    assert "people changed together" in said
    assert "of the whole group are one of two possible sets" in said


def test_a_condition_that_nobody_knows_beforehand_says_nothing_to_a_participant() -> None:
    whole = in_full(promise(failure_probability=0.01))
    assert "No lie gains more than 0.25, for every bidder, except with probability 0.01." in whole
    assert f"Condition: {CONDITION}. Nobody can know this before the run" in whole
    assert "Note: in the mean." in whole
    assert says_something(promise()) == "no for participants: they cannot know its condition before the run"
    assert says_something(promise(condition="")) == "yes"
    assert lies(Guarantees((promise(),))) == in_full(promise())
    assert promises_table([promise()]).rows[0][1] == f"only if {CONDITION}; in the mean"
    assert stated([promise(gain=2.0), promise(claimable=False)]) == ()
    assert "The promise says nothing at these sizes." in in_full(promise(gain=2.0))
    assert "false" in in_full(promise(claimable=False))
    assert says_something(promise(claimable=False)).startswith("no")


def test_programs_read_the_whole_promise() -> None:
    (found,) = json.loads(json.dumps(promises_json([promise()]), allow_nan=False))
    assert found["condition"] == CONDITION
    assert found["in_full"] == in_full(promise())
    assert "condition" not in promise(condition="").to_dict()  # as in packs that were written before there were any


def test_the_regression_says_that_its_promise_is_about_the_answer_alone() -> None:
    it = campaign_of("regression")
    column = it.file.config.response.column
    about = f"The promises about lies cover only {column}"
    assert about in words(it.plan.sections())
    assert about in words(it.plan.offer())
    assert f"largest gain from a lie only about {column}" in words(it.plan.sections())
