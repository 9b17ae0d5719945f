"""Campaign files and people's own books of 9376621e: read for ever, under the same digests."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from golden_files import CAMPAIGNS, FOUND, campaign, copied_home

from confide.campaign import Campaign
from confide.campaign.migrating import look, rewrite


@pytest.mark.parametrize("name", sorted(FOUND["files"]))
def test_a_campaign_file_keeps_its_digest(name: str, tmp_path: Path) -> None:
    """A ledger and a store know a campaign by it: under another one it would be charged and settled again."""
    file = campaign(name).file
    assert (file.digest, file.kind.name) == (FOUND["files"][name]["content"], FOUND["files"][name]["kind"])
    text = (CAMPAIGNS / f"{name}.toml").read_text(encoding="utf-8")
    (tmp_path / "commented.toml").write_text(f"# {text.replace(chr(10), chr(10) + '# ')}\n{text}", encoding="utf-8")
    (tmp_path / "altered.toml").write_text(text.replace("\nepsilon = ", "\nepsilon = 1", 1), encoding="utf-8")
    assert Campaign.load(tmp_path / "commented.toml").file.digest == file.digest
    assert Campaign.load(tmp_path / "altered.toml").file.digest != file.digest


@pytest.mark.parametrize("name", sorted(FOUND["files"]))
def test_a_campaign_file_in_todays_words_keeps_its_digest(name: str, tmp_path: Path) -> None:
    """What `confide migrate` makes of it; once only."""
    path = Path(shutil.copy(CAMPAIGNS / f"{name}.toml", tmp_path))
    found = look(str(path))
    assert (found.what, found.refused) == ("campaign", "")
    if found.changes:
        rewrite(found)
    assert Campaign.load(path).file.digest == FOUND["files"][name]["content"]
    assert look(str(path)).changes == ()


def test_every_campaign_file_is_listed() -> None:
    assert {path.stem for path in CAMPAIGNS.glob("*.toml")} == set(FOUND["files"])


@pytest.mark.parametrize("name", ["bits_illness", "pairs_exam", "costs_sleep", "mean_hours"])
def test_what_a_device_drew_is_never_drawn_again(name: str, tmp_path: Path) -> None:
    """Her own book has it: whatever she types now, the report that left her device then is given again."""
    it, home = campaign(name), copied_home("home", tmp_path / "home")
    config = it.file.config
    with (CAMPAIGNS / config.data.source).open(newline="") as file:
        then = next(row for row in csv.DictReader(file) if row["id"] == "8")
    drawn = it.book(home).answers()
    assert it.submitted(8, home=home)
    if name == "mean_hours":
        token = it.contract(8, home=home).token
        now = it.submit(8, {config.record.column: "1"}, contract=token, key=home.fingerprint, home=home, largest=1e3)
    else:
        worth = {"worth": "0.1"} if name == "costs_sleep" else {}
        now = it.submit(8, {"answer": config.bit.zero, **worth}, home=home)
    assert dict(now) == then
    assert it.book(home).answers() == drawn
