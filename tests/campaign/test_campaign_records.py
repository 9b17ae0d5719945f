"""Records that cannot be used: the null record, whatever the mistake was, and its owner's and the operator's alone."""

from __future__ import annotations

import csv
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaign.settled import stands
from campaign.small import rows, tree, write
from confide.campaign import Campaign
from confide.contract import InvalidInput, canonical


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign.load(write(tmp_path))


BAD = {
    17: "17,nan,female,41.5",
    41: "41,987654321098.25,male,41.5",
    163: "163,40.5,zzsentinel,41.5",
    577: "577,40.5,male,inf",
    691: "691,40.5,male,",
    733: "733,40.5,male,abcsentinel",
    859: "859,40.5",
    911: '911,"40,male,41.5',
}
DUPLICATE = "1201,40.5,male,79.123456789012"
STRANGERS = ["99999,40.5,male,41.5", "007,40.5,male,41.5", ",40.5,male,41.5", "x,40.5,male,41.5"]


def _bad() -> list[str]:
    return [BAD.get(i + 1, line) for i, line in enumerate(rows())] + [DUPLICATE, *STRANGERS]


def _without() -> list[str]:
    return [line for i, line in enumerate(rows()) if i + 1 not in BAD]


def _study(folder: Path, lines: list[str], seed: int = 3) -> tuple[dict[str, Any], dict[str, bytes], np.ndarray]:
    campaign = Campaign.load(write(folder, lines=lines))
    outcome, _ = campaign.study(seed, folder / "study")
    manifest, columns = outcome.public()
    return manifest, columns, outcome.shares["payment"].to_numpy()


def test_a_bad_record_is_the_null_record_and_nothing_else(tmp_path: Path) -> None:
    with_bad = _study(tmp_path / "bad", _bad())
    without = _study(tmp_path / "without", _without())
    assert canonical(with_bad[0]) == canonical(without[0])
    assert with_bad[1] == without[1]
    assert (with_bad[2] == without[2]).all()
    assert not with_bad[2][[i - 1 for i in BAD]].any()  # and is paid nothing


def test_which_mistake_it_was_cannot_be_seen(tmp_path: Path) -> None:
    lines = rows()
    found = []
    for k, bad in enumerate(["17,nan,female,41.5", "17,40.5,zzsentinel,41.5", "17", '17,"', ""]):
        lines[16] = bad
        manifest, columns, shares = _study(tmp_path / str(k), lines)
        found.append((canonical(manifest), columns, shares.tobytes()))
    assert all(each == found[0] for each in found)


def test_a_record_changes_its_own_share_only_through_the_billboard(tmp_path: Path) -> None:
    """Whatever one person hands in, everybody else's share is her own decode of the public billboard."""
    lines = rows()
    lines[16] = "17,20.0,female,80.0"
    campaign = Campaign.load(write(tmp_path, lines=lines))
    outcome, _ = campaign.study(3, tmp_path / "study")
    paid = outcome.shares["payment"].to_pylist()
    for identity in (1, 17, 1000, 2000):
        record, index = campaign.file.kind.record(campaign.file.config, campaign.plan, tmp_path, str(identity))
        assert index == identity - 1
        assert outcome.mechanism.decode(record, index, outcome.billboard)["payment"] == paid[index]


def test_rejected_ids_are_the_operators_alone(tmp_path: Path, home: Path) -> None:
    campaign = Campaign.load(write(tmp_path, lines=_bad()))
    found = campaign.check()
    place = campaign.list_rejected(found, tmp_path / "rejected.csv")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    with place.open(newline="") as file:
        listed = {row["id"]: row["reason"] for row in csv.DictReader(file)}
    bad = {str(i) for i in BAD}
    assert bad - {"859", "911"} <= set(listed)  # a broken line bears no id
    assert listed["41"] == "age: is out of bounds; must be in [20, 60] (unit: year)"
    assert listed["163"] == "sex: is not a level; must be one of female, male"
    assert listed["1201 (row 2001)"] == "a later row of the same id"
    assert {f"row {n}" for n in (859, 911, 2002, 2003, 2004, 2005)} <= set(listed)
    assert len(listed) == len(BAD) + 5
    assert listed == dict(found.rejected)
    done = campaign.settle(tmp_path / "out")
    kept = {f"home/{name}": data for name, data in tree(home).items()}  # a store holds records that can be used alone
    assert any(name.startswith("home/store.db") for name in kept)
    for name, data in {**tree(done.folder), **kept}.items():
        for word in (b"sentinel", b"987654321098", b"reject", b"out of bounds", b"79.123456789012"):
            assert word not in data, (name, word)
        assert np.float64(987654321098.25).tobytes() not in data, name
    public = canonical(done.outcome.to_dict()).decode()
    assert not re.search(r"rejected|null_records|valid", public)
    assert stands(campaign)[1] == 2000 - len(BAD)


def test_a_list_of_rejected_rows_takes_no_place_of_another_file(campaign: Campaign, tmp_path: Path) -> None:
    found = campaign.check()
    for place, says in ((tmp_path / "answers.csv", "exists"), (tmp_path / "nowhere" / "list.csv", "cannot be written")):
        before = tree(tmp_path)
        with pytest.raises(InvalidInput, match=says) as caught:
            campaign.list_rejected(found, place)
        assert caught.value.field == "write"
        assert tree(tmp_path) == before


def test_reasons_with_quotes_keep_the_list_readable(tmp_path: Path) -> None:
    levels = """levels = ['fe"male', 'ma,le']"""
    lines = [line.replace("female", '"fe""male"') if "female" in line else line.replace("male", '"ma,le"')
             for line in rows()]
    lines[16] = "17,40.5,other,41.5"
    campaign = Campaign.load(write(tmp_path, ('levels = ["female", "male"]', levels), lines=lines))
    campaign.study(3, tmp_path / "study")
    for place in (campaign.list_rejected(campaign.check(), tmp_path / "rejected.csv"),
                  tmp_path / "study" / "operator" / "rejected.csv"):
        with place.open(newline="") as file:
            listed = list(csv.reader(file))
        assert listed == [["id", "reason"], ["17", 'sex: is not a level; must be one of fe"male, \'ma,le\'']]


def test_nobody_rejected_is_a_list_too(campaign: Campaign, tmp_path: Path) -> None:
    assert campaign.list_rejected(campaign.check(), str(tmp_path / "list.csv")).read_text() == "id,reason\n"
