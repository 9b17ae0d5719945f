"""What a pack tells of how long its search took: nothing, whatever the contacts made the operator wait."""

from __future__ import annotations

import csv
import json
import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from search_campaign import campaign

from campaign.forging import words
from confide.campaign import Home, Store, verify
from confide.campaign.store.chain import _hash
from confide.campaign.verification.findings import Broken
from confide.campaign.verification.signed import chain_of, events
from confide.contract import InvalidInput, Refused

ONE = [(0, 2), (10, 11)]
NEIGHBOUR = [*ONE, (0, 1)]  # spec targeted_search, trap 1: 1 is protected, and is examined on the way
NOBODY_ELSE = (("components = 3", "components = 2"), ("stopping_target = 3\n", ""),
               ('stop = "private"', 'stop = "public"\npublic_threshold = 1000.0'))


def searched(folder: Path, edges: list[tuple[int, int]], days: list[str], monkeypatch: pytest.MonkeyPatch,
             key: str = "") -> tuple[dict[str, bytes], int]:
    """One answer a week until the list is published: the pack, and how many weeks."""
    it, weeks = campaign(folder, *NOBODY_ELSE, edges=edges, answers={0: True}), 0
    home = Home(folder / "home")
    if key:
        home.folder.mkdir()
        (home.folder / "signing.key").write_text(key)
        (home.folder / "signing.key").chmod(0o600)
    with Store(home.url, home=home) as store:
        while True:
            monkeypatch.setattr("confide.campaign.store.transactions.today", lambda at=weeks: days[at])
            try:
                it.settle(folder / "pack", store=store)
                break
            except Refused:
                weeks += 1
            with (folder / "to_examine.csv").open() as file:
                first = next(int(row["id"]) for row in csv.DictReader(file) if row["targeted"] == "")
            with (folder / "answers.csv").open("a") as file:
                file.write(f"{first},{str(first in (0, 2)).lower()}\n")
    pack = folder / "pack"
    assert {os.stat(path).st_mtime for path in pack.rglob("*") if path.is_file()} == {315_619_200.0}
    return {path.relative_to(pack).as_posix(): path.read_bytes() for path in pack.rglob("*") if path.is_file()}, weeks


def test_packs_of_neighbours_with_the_same_list_are_the_same_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = [f"2031-{month:02}-{day:02}" for month in (1, 2, 3) for day in range(1, 28)]
    one, weeks = searched(tmp_path / "one", ONE, days, monkeypatch)
    key = (tmp_path / "one" / "home" / "signing.key").read_text()
    other, more = searched(tmp_path / "other", NEIGHBOUR, days, monkeypatch, key)
    assert weeks != more
    assert one == other  # with one key also the signatures
    reported = json.loads(one["events.json"])
    assert [(each["event"], each["day"]) for each in reported] == [
        *((name, days[0]) for name in ("plan", "open", "close", "charge")), ("publish", "")]
    verified = verify(tmp_path / "one" / "pack")
    assert verified.complete, [f for f in verified.findings if f.verdict != "holds"]
    assert "published on an undisclosed day" in next(f.detail for f in verified.findings if f.check == "events")


def test_packs_that_bear_a_day_still_verify_and_no_other_event_may_leave_it_out() -> None:
    def chain(*days: str) -> Any:
        rows, before = [], ""
        says = {"plan": {"content": "c"}, "charge": {"data_set": "d", "delta": "0.0", "events": []},
                "publish": {"manifest": "m"}}
        for name, day in zip(("plan", "open", "close", "charge", "publish"), days, strict=True):
            before = _hash(before, name, day, says.get(name, {}))
            rows.append({"event": name, "day": day, "data": says.get(name, {}), "hash": before})
        return chain_of(rows)

    first, later = "2026-01-01", "2026-03-01"
    note = {"content": "c", "manifest": "m", "kind": "search"}
    assert events(chain(first, first, first, first, later), note).endswith(f"published on {later}")
    assert events(chain(first, first, first, first, ""), note).endswith("published on an undisclosed day")
    for days, kind in (((first, first, first, "", ""), "search"), ((first, first, first, first, ""), "release"),
                       ((first, first, first, first, ""), "no kind"), ((first, first, first, later, first), "search")):
        with pytest.raises(Broken, match="bears the day"):
            events(chain(*days), {**note, "kind": kind})


def test_a_list_is_kept_until_its_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    day = ('source = "answers.csv"\n', 'source = "answers.csv"\n\n[release]\npublish_on = 2031-03-01\n')
    it, today = campaign(tmp_path, day), [date(2031, 2, 28)]
    monkeypatch.setattr("confide.campaign.settlement._today", lambda: today[0])
    lists: list[Any] = []
    play = type(it.file.kind).play

    def watched(*given: Any) -> Any:
        outcome = play(*given)
        lists.append(outcome.billboard.order.tolist())  # type: ignore[attr-defined]
        return outcome

    monkeypatch.setattr(type(it.file.kind), "play", watched)
    with Store() as store:
        for _ in range(2):
            with pytest.raises(Refused, match=r"published on 2031-03-01 or later.*nothing more is charged or drawn"):
                it.settle(tmp_path / "pack", store=store)
            assert not (tmp_path / "pack").exists()
            assert (tmp_path / "search_journal").exists()
        today[0] = date(2031, 3, 1)
        settled = it.settle(tmp_path / "pack", store=store)
        (standing,) = store.ledger()
        assert len(standing.debits) == 1
    assert lists[0] == lists[1] == lists[2] == settled.outcome.billboard.order.tolist()  # type: ignore[attr-defined]
    assert verify(tmp_path / "pack").complete
    assert not (tmp_path / "search_journal").exists()


def test_pages_say_what_the_day_tells(tmp_path: Path) -> None:
    day = ('source = "answers.csv"\n', 'source = "answers.csv"\n\n[release]\npublish_on = 2031-03-01\n')
    free, fixed = campaign(tmp_path / "free"), campaign(tmp_path / "fixed", day)
    assert "The file fixes no day" in words(free.plan.sections())
    assert "learns how long the search took" in words(free.plan.sections())
    assert "The custodian fixed no day" in words(free.plan.offer())
    assert "first run on 2031-03-01 or later" in words(fixed.plan.sections())
    assert "The list appears on 2031-03-01" in words(fixed.plan.offer())
    assert (free.plan.to_dict()["publish_on"], fixed.plan.to_dict()["publish_on"]) == (None, "2031-03-01")
    for wrong in ('"soon"', "2031-13-01", "7"):
        with pytest.raises(InvalidInput):
            campaign(tmp_path / "wrong", (day[0], day[1].replace("2031-03-01", wrong)))
