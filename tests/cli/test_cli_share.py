"""`confide share`: what one participant gets, from the operator's file or from her own record."""

from __future__ import annotations

import io
import json
import shutil
import stat
import sys
from pathlib import Path

import pytest

from campaign.small import rows, write
from cli.commands import Run
from confide.campaign import Campaign
from confide.cli.options import values


def test_share(run: Run, settled: tuple[Path, Path]) -> None:
    path, _ = settled
    paid = Campaign.load(path).settled().shares["payment"].to_pylist()[6] / 100
    found = run("share", path, "--id", 7)
    assert (found.code, found.err) == (0, "")
    assert f"Participant 7: payment {paid:,.2f} EUR" in found.out
    assert found.out.count("PRIVATE") == 2
    spoken = run("share", path, "--id", 7, "--json").json
    assert (spoken["command"], spoken["id"]) == ("share", "7")
    assert all(part["private"] for part in spoken["sections"])
    assert spoken["sections"][0]["title"] == f"Participant 7: payment {paid:,.2f} EUR"


def test_an_id_that_a_table_wrote_with_a_point(run: Run, settled: tuple[Path, Path]) -> None:
    """As in a column of records: 7.0 is the id 7, for everything that looks up one participant."""
    assert run("share", settled[0], "--id", "7.0").out == run("share", settled[0], "--id", 7).out


@pytest.mark.parametrize("identity", ["0", "2001", "nobody", "", "7; drop table"])
def test_share_of_nobody(identity: str, run: Run, settled: tuple[Path, Path]) -> None:
    for more in ([], ["--out", settled[1], "--record", "age=40,sex=male,pay=41.5"]):
        found = run("share", settled[0], "--id", identity, *more)
        assert (found.code, found.out) == (2, "")
        assert "not on the public list of 2000 ids; ids are 1 to 2000" in found.err


OWN = "7,31.5,female,37.25"


def test_share_from_public_files_alone(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A participant needs the campaign file, the manifest and its columns; neither the records nor the store."""
    path = write(tmp_path / "operator", lines=[OWN if i == 6 else line for i, line in enumerate(rows())])
    assert run("run", path, "--out", tmp_path / "operator" / "out").code == 0
    stored = run("share", path, "--id", 7)
    monkeypatch.setenv("CONFIDE_HOME", str(tmp_path / "no" / "installation"))
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(path, copy)
    shutil.copytree(tmp_path / "operator" / "out" / "columns", copy / "out" / "columns")
    shutil.copy(tmp_path / "operator" / "out" / "manifest.json", copy / "out")
    ways = [["--record", "age=31.5,sex=female,pay=37.25"], ["--record", "age=31.5", "--record", "pay=37.25,sex=female"],
            ["--record", " pay = 37.25 , age=31.5, sex = female"]]
    for way in ways:
        found = run("share", copy / "pay.toml", "--id", 7, "--out", copy / "out", *way)
        assert found.code == 0
        typed = "This is the payment of the typed record, if it is the record that arrived and was usable.\n"
        assert typed in found.out
        assert found.out.replace(typed, "") == stored.out
    with_note = copy / "out" / "campaign.json"
    shutil.copy(tmp_path / "operator" / "out" / "campaign.json", with_note)
    assert run("share", copy / "pay.toml", "--id", 7, "--out", copy / "out", *ways[0]) == found
    with_note.unlink()
    other = write(tmp_path / "else", ("epsilon_release = 4.0", "epsilon_release = 3.0"))
    found = run("share", other, "--id", 7, "--out", copy / "out", *ways[0])
    assert found.code == 2
    assert "has other parameters than" in found.err
    assert not (tmp_path / "no").exists()  # neither a store nor a key was asked for


def test_the_file_of_a_participant(run: Run, settled: tuple[Path, Path], tmp_path: Path) -> None:
    mine = ["share", settled[0], "--id", 7, "--out", settled[1], "--record", "age=40,sex=male,pay=41.5"]
    shown = run(*mine)
    assert run(*mine, "--write", tmp_path / "mine.json") == shown
    assert stat.S_IMODE((tmp_path / "mine.json").stat().st_mode) == 0o600
    written = json.loads((tmp_path / "mine.json").read_text())
    campaign = Campaign.load(settled[0])
    assert written == campaign.own_file(7, settled[1], record={"age": "40", "sex": "male", "pay": "41.5"})
    assert written["content"] == campaign.file.digest
    assert (written["id"], written["index"]) == ("7", 6)
    for arguments, says in (([*mine, "--write", tmp_path / "mine.json"], "mine.json exists; choose another file"),
                            ([*mine, "--write", tmp_path / "no" / "mine.json"], "cannot be written"),
                            (["share", settled[0], "--id", 7, "--write", tmp_path / "a.json"], "needs the record")):
        found = run(*arguments)
        assert (found.code, found.out) == (2, "")
        assert says in found.err
    assert json.loads((tmp_path / "mine.json").read_text()) == written


def test_a_record_from_the_input(
    run: Run, settled: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it stands in no history and in no list of processes."""
    typed = run("share", settled[0], "--id", 7, "--out", settled[1], "--record", "age=40,sex=male,pay=41.5")
    monkeypatch.setattr(sys, "stdin", io.StringIO("age=40\n\nsex=male\npay=41.5\n"))
    assert run("share", settled[0], "--id", 7, "--out", settled[1], "--record", "-") == typed
    assert typed.code == 0


@pytest.mark.parametrize(("record", "says"), [
    ("age=40,sex=male", "pay is missing; must give age, sex, pay"),
    ("age=40,sx=male,pay=41.5", "'sx' is not a column of this campaign; did you mean 'sex'?"),
    ("age=40,sex=male,pay=41.5,id=7", "'id' is not a column of this campaign"),
    ("age=99,sex=male,pay=41.5", "age: '99' is out of bounds; must be in [20, 60] (unit: year)"),
    ("age=40,sex=else,pay=41.5",
     "must be one of female, male; change the value: such a record counts as empty, and is paid nothing"),
    ("age=40,sex=male,pay=lots", "'lots' is not a number"),
    ("age=40,age=41,sex=male,pay=41.5", "'age' stands twice"),
    ("40", "'40' does not have the form column=value"), ("=40", "does not have the form column=value"),
    ("", "age, sex, pay are missing"),
])
def test_a_record_that_will_not_do(record: str, says: str, run: Run, settled: tuple[Path, Path]) -> None:
    found = run("share", settled[0], "--id", 7, "--out", settled[1], "--record", record)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("confide: record: ")
    assert says in found.err


def test_values_with_commas() -> None:
    assert values(["level=a,b,age=4", "note=x=y"]) == {"level": "a,b", "age": "4", "note": "x=y"}


def test_share_before_run(run: Run, path: Path, tmp_path: Path) -> None:
    for more, says in (([], "settled in another store, name that store with --store"),
                       (["--record", "age=40,sex=male,pay=41.5"],
                        "are in another folder, name that folder with --out")):
        found = run("share", path, "--id", 7, *more)
        assert (found.code, found.out) == (3, "")
        assert "is not settled in" in found.err
        assert f"run `confide run {path}` first. A file that was changed after the settlement is" in found.err
        assert says in found.err


def test_share_without_an_id(run: Run, path: Path) -> None:
    found = run("share", path)
    assert (found.code, found.out) == (2, "")
    assert "--id" in found.err
