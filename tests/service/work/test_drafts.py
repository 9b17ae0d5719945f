"""Drafts: planned once for each content, within limits, and opened only where they can end; of two at once, one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import update

from confide.campaign import Store
from confide.campaign.kinds.bits import BitsKind
from confide.campaign.store.service_schema import draft as draft_table
from confide.contract import InvalidInput, Refused, kind
from confide.service.work import Drafts, Opened
from confide.service.work.faults import Changed, Unknown
from service.parts import Parts

MEAN = kind("mean").template
BITS = kind("bits").template


def test_names_of_files_that_could_never_end(tmp_path: Path) -> None:
    """In a campaign's folder the service writes files under these names, and its pack."""
    with Parts.at(tmp_path) as parts:
        for old, new, key in (
                ('"records.csv"', '"pack/records.csv"', "data.source"), ('"records.csv"', '"pack"', "data.source"),
                ('"records.csv"', '"./Pack/records.csv"', "data.source"),
                ('"records.csv"', '"known.csv"', "data.source"),
                ('"reports.csv"', '"reports.parquet"', "reports.source"),
                ('"records.csv"', '"records.arrow"', "data.source"),
                ('"records.csv"', '"reports.csv"', "data.source"), ('"records.csv"', '"Reports.csv"', "data.source"),
                ('"reports.csv"', '"contracts.json"', "reports.source"),
                ('"reports.csv"', '"contracts.json/reports.csv"', "contracts.file"),
                ('"records.csv"', '"reports.csv/records.csv"', "data.source")):
            assert MEAN.count(old) == 1
            with pytest.raises(InvalidInput) as caught:
                parts.open(MEAN.replace(old, new))
            assert caught.value.field == key
            assert str(tmp_path) not in str(caught.value)
        assert parts.store.campaigns() == ()
        assert parts.open(MEAN.replace('"records.csv"', '"in/records.csv"'))


def test_too_many_people_are_refused_before_anything_is_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[int] = []
    real = BitsKind.plan

    def plan(self: Any, config: Any) -> Any:
        planned.append(config.people.count)
        return real(self, config)

    monkeypatch.setattr(BitsKind, "plan", plan)
    with Parts.at(tmp_path) as parts:
        small = Drafts(parts.store, parts.data, most_people=150)
        for drafts, count, limit in ((parts.drafts, 10**9, "100,000,000"), (parts.drafts, 10**6 + 1, "1,000,000"),
                                     (small, 200, "150")):
            text = BITS.replace("count = 200", f"count = {count}")
            draft = drafts.new(text, parts.operator.number)
            for act in (lambda it=drafts, of=draft: it.campaign(of), lambda it=drafts, of=draft: it.open(of.number)):
                with pytest.raises(InvalidInput) as caught:
                    act()
                assert caught.value.field == "people.count"
                assert limit.replace(",", "") in str(caught.value).replace(",", "")
        assert planned == []


def test_a_draft_is_planned_once_for_each_content(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[str] = []
    real = BitsKind.plan

    def plan(self: Any, config: Any) -> Any:
        planned.append("planned")
        return real(self, config)

    monkeypatch.setattr(BitsKind, "plan", plan)
    draft = parts.drafts.new(BITS, parts.operator.number)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: parts.drafts.campaign(parts.drafts.get(draft.number)), range(16)))
    assert len({id(each.plan) for each in found}) == 1
    assert len(planned) == 1
    changed = parts.drafts.change(draft.number, BITS.replace("count = 200", "count = 300"), 1)
    assert parts.drafts.campaign(changed).file.config.people.count == 300
    assert len(planned) == 2
    parts.drafts.open(draft.number)
    assert len(planned) == 2
    hopeless = parts.drafts.new(BITS.replace("format = 1", "format = 7"), parts.operator.number)
    for _ in range(2):
        with pytest.raises(InvalidInput, match="format"):
            parts.drafts.campaign(hopeless)


def elsewhere(count: str) -> str:
    """With other people, of whom the ledger knows nothing: a data set's budget admits one such campaign."""
    return BITS.replace("count = 200", count).replace('data_set = "', 'data_set = "elsewhere: ')


def test_of_two_drafts_of_one_content_one_is_opened(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where both have found that there is no such campaign yet."""
    first, second = (parts.drafts.new(BITS + end, parts.operator.number) for end in ("", "# the same\n"))
    real, both = Store.find, Barrier(4)

    def together(self: Store, file: Any) -> Any:
        found = real(self, file)
        both.wait(60)
        return found

    monkeypatch.setattr(Store, "find", together)

    def opened(number: int) -> int | str:
        try:
            return parts.drafts.open(number).number
        except Refused as error:
            return error.reason

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(opened, [first.number, second.number] * 2))
    assert sorted(map(str, found)) == ["1", "1", *["the service already has a campaign with the same content"] * 2]
    assert found[0] == found[2]  # whoever opens the same draft again has the same campaign
    assert len(parts.store.campaigns()) == 1


def test_what_was_read_is_what_is_opened(parts: Parts) -> None:
    draft = parts.drafts.new(BITS, parts.operator.number)
    newer = parts.drafts.change(draft.number, BITS.replace("count = 200", "count = 20"), draft.version)
    with pytest.raises(Changed, match="the draft was changed meanwhile"):
        parts.drafts.open(draft.number, draft.version)
    assert parts.opened.all() == ()
    found = parts.drafts.open(draft.number, newer.version)
    assert found.slots == 20
    assert parts.drafts.open(draft.number, draft.version).number == found.number  # it is open: nothing is opened anew


@pytest.mark.parametrize("act", ["save", "delete"])
def test_a_draft_that_is_saved_or_deleted_while_it_is_opened(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """What was checked is what people are offered: the opening is refused, and no other text takes its place."""
    weaker = elsewhere("count = 20")
    draft = parts.drafts.new(BITS, parts.operator.number)
    real = parts.store.open

    def meanwhile(*args: Any, **more: Any) -> Any:
        monkeypatch.setattr(parts.store, "open", real)
        if act == "save":
            assert parts.drafts.change(draft.number, weaker, draft.version).version == 2
        else:
            parts.drafts.delete(draft.number)
        return real(*args, **more)

    monkeypatch.setattr(parts.store, "open", meanwhile)
    with pytest.raises(Changed, match="the draft was changed meanwhile"):
        parts.drafts.open(draft.number)
    assert parts.opened.all() == ()  # nobody is offered anything
    if act == "delete":
        with pytest.raises(Unknown):
            parts.drafts.open(draft.number)
        return
    number = parts.drafts.open(draft.number).number
    found, known = Opened(parts.store).get(number), parts.store.get(number)
    assert found.campaign.file.digest == known.content
    assert found.campaign.file.config.people.count == known.slots == 20
    again = parts.drafts.new(BITS, parts.operator.number)  # what was checked first is still free for a draft of its own
    assert parts.drafts.open(again.number).slots == 200


def test_a_draft_that_is_opened_while_it_is_saved_or_deleted(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = parts.drafts.new(BITS, parts.operator.number)
    real = Drafts._unopened

    def meanwhile(self: Drafts, number: int) -> Any:
        found = real(self, number)
        monkeypatch.setattr(Drafts, "_unopened", real)
        parts.drafts.open(number)
        return found

    monkeypatch.setattr(Drafts, "_unopened", meanwhile)
    with pytest.raises(Changed):
        parts.drafts.change(draft.number, BITS.replace("count = 200", "count = 20"), 1)
    other = parts.drafts.new(elsewhere("count = 30"), parts.operator.number)
    monkeypatch.setattr(Drafts, "_unopened", meanwhile)
    with pytest.raises(Refused, match="has become a campaign"):
        parts.drafts.delete(other.number)
    assert [(each.campaign, each.version) for each in map(parts.drafts.get, (draft.number, other.number))] == [
        (1, 1), (2, 1)]


def test_an_opened_campaign_is_read_as_the_store_has_it(parts: Parts) -> None:
    number = parts.open(BITS)
    with parts.store.database.writing() as connection:
        connection.execute(update(draft_table).values(text=BITS.replace("count = 200", "count = 20")))
    assert Opened(parts.store).get(number).campaign.file.config.people.count == 200
