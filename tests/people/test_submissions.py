"""What one participant hands in is stored as a file with her row would be; and a campaign can be filled one by one."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from campaign.small import write
from cases import fast
from confide.campaign import Campaign, Home, Store
from confide.campaign.kinds import PeoplesKind
from confide.contract import InvalidInput, Refused, kind, kind_names
from confide.contract.asked import CustodiansKind
from confide.contract.kinds import ContractKind, LocalKind

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HEADER = "id,age,sex,pay"
LINES = ["3,40,male,41.5", "1,20.25,female,30", "2,60,male,0"]


def stored(campaign: Campaign) -> dict[int, bytes]:
    """Slot -> report, of the campaign's file."""
    codec = campaign.file.kind.codec(campaign.plan)
    assert codec is not None
    found: dict[int, bytes] = {}
    for batch in campaign.collect().data:
        slots, reports = codec.pack(batch)
        found |= dict(zip(slots.tolist(), reports, strict=True))
    return found


def trimmed(folder: Path, name: str, rows: int) -> tuple[Campaign, list[dict[str, str]]]:
    """An example with so many rows of its file."""
    shutil.copy(EXAMPLES / f"{name}.toml", folder)
    campaign = Campaign.load(folder / f"{name}.toml")
    source = campaign.file.config.data.source
    with (EXAMPLES / source).open(encoding="utf-8", newline="") as file:
        lines = list(islice(csv.DictReader(file), rows))
    with (folder / source).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    return campaign, lines


@pytest.mark.parametrize("name", fast(2, ["classes", "affairs", "shifts", "rule_or_exception", "charging", "commute"]))
def test_one_by_one_as_the_file(name: str, tmp_path: Path) -> None:
    campaign, lines = trimmed(tmp_path, name, 25)
    whole, kind_, config = stored(campaign), campaign.file.kind, campaign.file.config
    assert whole
    handed: dict[int, bytes] = {}
    for place, line in enumerate(lines, 1):
        identity = str(place) if config.people.id == "row" else line["id"]
        values = line if isinstance(kind_, LocalKind) else {k: v for k, v in line.items() if k != "id"}
        if isinstance(kind_, LocalKind) and config.people.id == "row":
            values = {**line, "id": identity}
        try:
            slot, report = kind_.submission(config, campaign.plan, identity, values)
        except Refused:  # she takes no part: the file stores nothing of it
            assert int(identity) - 1 not in whole
            continue
        handed[slot] = report
    assert handed == whole


def test_regression_one_by_one_as_the_file(tmp_path: Path) -> None:
    campaign = Campaign.load(write(tmp_path, lines=LINES))
    kind_, config = campaign.file.kind, campaign.file.config
    rows = [dict(zip(HEADER.split(","), line.split(","), strict=True)) for line in LINES]
    handed = dict(kind_.submission(config, campaign.plan, row.pop("id"), row) for row in rows)
    assert handed == stored(campaign)


@pytest.mark.parametrize(("form", "header"), [("wide", "id,algebra,drawing,law,music"), ("long", "id,good,value")])
def test_goods_one_by_one_as_the_file(form: str, header: str, tmp_path: Path) -> None:
    text = kind("matching").template.replace('form = "wide"', f'form = "{form}"').replace('"best"', '"scaling"')
    (tmp_path / "courses.toml").write_text(text)
    wishes = {"4": {"law": "60.5", "music": "100"}, "2": {"algebra": "7"}}
    names = header.split(",")[1:]
    lines = ([",".join([who, *(cells.get(name, "") for name in names)]) for who, cells in wishes.items()]
             if form == "wide" else [f"{who},{good},{worth}" for who, cells in wishes.items()
                                     for good, worth in cells.items()])
    (tmp_path / "wishes.csv").write_text("\n".join([header, *lines]) + "\n")
    campaign = Campaign.load(tmp_path / "courses.toml")
    handed = dict(campaign.file.kind.submission(campaign.file.config, campaign.plan, who, cells)
                  for who, cells in wishes.items())
    assert handed == stored(campaign)


def test_what_cannot_be_handed_in(tmp_path: Path) -> None:
    campaign = Campaign.load(write(tmp_path, lines=LINES))
    for identity, values, field in (("0", {"age": "40", "sex": "male", "pay": "1"}, "id"),
                                    ("1", {"age": "999", "sex": "male", "pay": "1"}, "record"),
                                    ("1", {"age": "40", "pay": "1"}, "record")):
        with pytest.raises(InvalidInput) as caught:
            campaign.hand_in(identity, values)
        assert caught.value.field == field


def test_a_device_makes_the_row_that_is_handed_in(tmp_path: Path) -> None:
    (tmp_path / "ill.toml").write_text(kind("bits").template)
    campaign = Campaign.load(tmp_path / "ill.toml")
    row = campaign.submit(18, {"answer": "yes"})
    kind_, config, plan = campaign.file.kind, campaign.file.config, campaign.plan
    slot, report = kind_.submission(config, plan, "18", row)
    assert (slot, report) == (17, bytes([row["report"] == "yes", 0, 0]))
    with pytest.raises(InvalidInput, match="the id of another participant"):
        kind_.submission(config, plan, "19", row)
    with pytest.raises(Refused, match="takes no part"):
        kind_.submission(config, plan, "18", campaign.submit(20, {"answer": ""}) | {"id": "18"})


def test_a_second_draw_is_not_handed_in(store: Store, tmp_path: Path) -> None:
    """Two draws tell more than one, and one is what the ledger was charged; the same one again does no harm."""
    (tmp_path / "ill.toml").write_text(kind("bits").template)
    campaign = Campaign.load(tmp_path / "ill.toml")
    for _ in range(2):
        campaign.hand_in("1", {"report": "yes"}, store=store)
    with pytest.raises(Refused, match="a second report would disclose more of your answer"):
        campaign.hand_in("1", {"report": "no"}, store=store)
    known = store.find(campaign.file)
    assert known is not None
    report = store.report_of(known.number, 0)
    assert report is not None
    assert report[0] == 1


def test_every_kind_takes_submissions_or_says_why_not() -> None:
    for name in kind_names():
        it = kind(name)
        if isinstance(it, CustodiansKind):
            with pytest.raises(Refused, match="nobody is invited"):
                it.submission(None, None, "1", {})
        else:
            assert isinstance(it, PeoplesKind), name


def test_contracts_are_stored_together(tmp_path: Path) -> None:
    it: Any = kind("mean")
    assert isinstance(it, ContractKind)
    shutil.copy(EXAMPLES / "cigarettes.toml", tmp_path)
    campaign = Campaign.load(tmp_path / "cigarettes.toml")
    with pytest.raises(Refused, match="stored together, when they become final"):
        it.submission(campaign.file.config, None, "1", {})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    home = Home(tmp_path / "home")
    with Store(home.url, home=home) as found:
        yield found


def reports_of(store: Store, number: int, campaign: Campaign) -> dict[int, bytes]:
    codec = campaign.file.kind.codec(campaign.plan)
    assert codec is not None
    found: dict[int, bytes] = {}
    with store.reports(number, codec) as taken:
        for batch in taken.data:
            slots, reports = codec.pack(batch)
            found |= dict(zip(slots.tolist(), reports, strict=True))
    return found


def test_a_campaign_that_was_filled_one_by_one_settles(store: Store, tmp_path: Path) -> None:
    """The reports in the store are those of the file; a later one replaces; nothing comes in after the close."""
    campaign = Campaign.load(write(tmp_path / "whole", lines=LINES))
    whole = stored(campaign)
    empty = Campaign.load(write(tmp_path / "empty", lines=[]))
    assert empty.file.digest == campaign.file.digest
    rows = {line.split(",")[0]: dict(zip(HEADER.split(",")[1:], line.split(",")[1:], strict=True)) for line in LINES}
    empty.hand_in("2", rows["1"], store=store)
    for identity, row in rows.items():
        empty.hand_in(identity, row, store=store)
    known = store.find(empty.file)
    assert known is not None
    assert store.submitted(known.number) == len(rows)
    store.close_collection(known.number)
    assert reports_of(store, known.number, empty) == whole
    with pytest.raises(Refused):
        empty.hand_in("1", rows["1"], store=store)
    settled = empty.settle(tmp_path / "out", store=store)
    assert settled.fresh
    assert len(settled.outcome.shares) == 2000
    assert reports_of(store, known.number, empty) == whole
