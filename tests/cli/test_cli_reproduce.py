"""`confide reproduce`: the list, one study, several, and their files."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cases import fast
from cli.commands import Run
from confide.cli import reproduce as verb
from confide.contract.errors import InvalidInput
from confide.contract.presentation import Picture
from confide.evidence import StudyCache, full_times, reproduced, study_names

FIVE = ("regression-threshold", "channels-stars", "market-pairs", "acquisition-minimax", "allocation-vacuity")


def test_studies_are_listed(run: Run) -> None:
    listed = run("reproduce")
    assert (listed.code, listed.err) == (0, "")
    family = re.compile("(acquisition|allocation|channels|market|programs|queries|regression|search)-")
    lines = {line.split()[0]: line for line in listed.out.splitlines() if family.match(line)}
    assert list(lines) == list(study_names())
    times = full_times()
    assert times.day.isoformat() in listed.out
    assert all(line.endswith(" s)") == (name in times.seconds) for name, line in lines.items())
    object_ = run("reproduce", "--json").json
    assert [each["name"] for each in object_["studies"]] == list(study_names())
    assert object_["full_seconds"] == times.seconds


def test_one_study_is_computed_and_written(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = run("reproduce", "regression-threshold", "--quick")
    assert (found.code, found.err) == (0, "")
    assert "4,472" in found.out
    assert "computed in" in found.out
    said = " ".join(found.out.split())
    assert "sizes are smaller and repetitions fewer than in the full one" in said
    assert re.search("leave out --quick for the full one, in about [0-9.]+ s of processor time", said)
    assert (tmp_path / "out" / "studies" / "regression-threshold-quick" / "figure-1.svg").exists()
    object_ = run("reproduce", "regression-threshold", "--quick", "--out", "mine", "--json").json
    assert (object_["quick"], object_["cached"]) == (True, True)
    assert object_["files"]["numbers.csv"] == str(Path("mine") / "numbers.csv")
    mine = (tmp_path / "mine" / "numbers.csv").read_text(encoding="utf-8")
    assert mine == (tmp_path / "out" / "studies" / "regression-threshold-quick" / "numbers.csv").read_text(
        encoding="utf-8")
    assert "computed before" in run("reproduce", "regression-threshold", "--quick").out
    assert "computed in" in run("reproduce", "regression-threshold", "--quick", "--no-cache").out


def test_a_quick_run_stands_beside_the_full_one(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    full = run("reproduce", "regression-threshold")
    quick = run("reproduce", "regression-threshold", "--quick")
    assert (full.code, quick.code) == (0, 0)
    assert ("quick run" in full.out, "(quick run)" in quick.out, "computed in" in quick.out) == (False, True, True)
    assert {path.name for path in (tmp_path / "out" / "studies").iterdir()} == {
        "regression-threshold", "regression-threshold-quick"}
    rows = list(csv.DictReader((tmp_path / "out" / "studies" / "regression-threshold" / "numbers.csv").read_text(
        encoding="utf-8").splitlines()))
    assert {row["relation"] for row in rows} == {"bound holds: ours <= bound"}
    assert {row["origin of what is set beside"] for row in rows} == {
        "evaluated from the printed formula: Cummings, Ioannidis and Ligett 2015, Lemma 3, line 310"}


@pytest.mark.slow
def test_five_studies_one_table(run: Run, tmp_path: Path, home: Path) -> None:
    found = run("reproduce", *FIVE, "--quick", "--out", tmp_path / "five")
    assert (found.code, found.err) == (0, "")  # no bar in a pipe
    assert all(re.search(rf"^{name} ", found.out, flags=re.MULTILINE) for name in FIVE)
    assert "5 studies; 5 computed now" in found.out
    for name in FIVE:
        folder = tmp_path / "five" / f"{name}-quick"
        assert {"numbers.csv", "figure-1.svg", "figure-1.png", "figure-1.vl.json", "figure-1.csv"} <= {
            path.name for path in folder.iterdir()}
        rows = list(csv.reader((folder / "numbers.csv").read_text(encoding="utf-8").splitlines()))
        assert rows[0] == ["quantity", "set beside", "ours", "relation", "remark", "origin of what is set beside"]
        assert "quick run" in (folder / "figure-1.vl.json").read_text(encoding="utf-8")
    assert len(list((home / "cache" / "studies").iterdir())) == 5
    object_ = run("reproduce", *FIVE, "--quick", "--out", tmp_path / "again", "--json").json
    assert [each["study"]["name"] for each in object_["studies"]] == list(FIVE)
    assert all(each["cached"] for each in object_["studies"])
    assert object_["failed"] == {}
    first = object_["studies"][0]
    assert (first["kind"], object_["undrawn"]) == ("evaluated from the printed formula", "")
    assert (first["published"], round(first["ours"], 3), first["stand"]) == (pytest.approx(4472.136), 4.519, 2)
    for path in (tmp_path / "five").rglob("*.csv"):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(tmp_path / "five")).read_bytes()


_WITHOUT = ("import sys; sys.modules.update(altair=None, vl_convert=None); from confide.cli import main; "
            "sys.argv = ['confide', *sys.argv[1:]]; main()")
"""A computer without the extra `[plots]`: what is None there cannot be imported, and is not found."""


@pytest.mark.slow
@pytest.mark.parametrize("names", fast(1, [["regression-threshold"], ["regression-threshold", "channels-stars"]]))
def test_without_plots_the_data_of_pictures_are_written(names: list[str], tmp_path: Path, home: Path) -> None:
    def call(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-W", "error", "-c", _WITHOUT, "reproduce", *names, "--quick", "--out",
                               str(tmp_path / "out"), *more], capture_output=True, text=True, check=False)

    found = call()
    assert (found.returncode, found.stderr) == (0, "")
    assert "no picture was drawn: pip install 'confide[plots]' installs the drawing of pictures" in found.stdout
    assert "4,472" in found.stdout
    for folder in [tmp_path / "out"] if len(names) == 1 else [tmp_path / "out" / f"{name}-quick" for name in names]:
        assert {"numbers.csv", "figure-1.csv", "figure-1.vl.json"} <= {path.name for path in folder.iterdir()}
        assert not [path for path in folder.iterdir() if path.suffix in {".svg", ".png"}]
        spec = json.loads((folder / "figure-1.vl.json").read_text(encoding="utf-8"))
        points = list(csv.reader((folder / "figure-1.csv").read_text(encoding="utf-8").splitlines()))
        assert "vega-lite" in spec["$schema"]
        assert len(points) > 5
    assert json.loads(call("--json").stdout)["undrawn"] == "pip install 'confide[plots]'"
    # What was kept there has its pictures here.
    module = "confide.evidence.cummings_2015.studies"
    drawn = StudyCache(home / "cache" / "studies").find("regression-threshold", module, True)
    assert drawn is not None
    assert any(isinstance(block, Picture) and block.spec for block in drawn.findings.blocks)


def test_a_gallery_of_two(run: Run, tmp_path: Path) -> None:
    found = run("reproduce", "regression-threshold", "market-pairs", "--quick", "--gallery", tmp_path / "gallery")
    assert found.code == 0
    assert f"wrote {tmp_path / 'gallery.md'}" in found.out
    assert "(gallery/market-pairs." in (tmp_path / "gallery.md").read_text(encoding="utf-8")


def test_full_runs_are_timed(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "times.toml"
    found = run("reproduce", "regression-threshold", "--times", target, "--out", tmp_path / "full")
    assert found.code == 0
    assert re.search(r"^regression-threshold = [\d.e-]+$", target.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_a_study_that_lacks_its_data_is_reported_at_the_end(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = reproduced.reproduce

    def lacking(name: str, **given: object) -> object:
        if name == "market-pairs":
            raise InvalidInput("source", "the package zoo is not installed")
        return real(name, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(reproduced, "reproduce", lacking)
    found = run("reproduce", "market-pairs", "regression-threshold", "--quick", "--out", tmp_path)
    assert found.code == 2
    assert "1 of 2 studies could not be computed: market-pairs" in found.err
    assert "the package zoo is not installed" in found.out
    assert "1 studies; 1 computed now" in found.out
    assert (tmp_path / "regression-threshold-quick" / "numbers.csv").exists()


def test_two_bars_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with verb._bars(3) as none:
        assert none("zoo") is None
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with verb._bars(3) as begin:
        for name in ("one", "two"):
            bar = begin(name)
            assert bar is not None
            bar(1, 4)
            bar(4, 4)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("arguments", "reported"), [
    (("regression",), "studies of that family: regression-"), (("no-such-study",), "`confide reproduce` lists them"),
    (("regression-treshold",), "did you mean 'regression-threshold'"),
    (("regression-threshold", "regression-treshold"), "did you mean 'regression-threshold'"),
    (("regression-threshold", "--all"), "all studies are asked for"),
    (("--gallery", "g"), "no study is asked for"), (("--times", "t"), "no study is asked for"),
    (("--out", "o"), "no study is asked for"), (("--quick",), "no study is asked for"),
    (("--all", "--quick", "--times", "t"), "only full runs are timed"),
    (("--all", "--gallery", "g", "--out", "o"), "a gallery has its own folder"),
])
def test_what_makes_no_sense_is_bad_input(
    run: Run, arguments: tuple[str, ...], reported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run("reproduce", *arguments)
    assert found.code == 2
    assert reported in found.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_of_them(run: Run, tmp_path: Path) -> None:
    object_ = run("reproduce", "--all", "--quick", "--out", tmp_path, "--json").json
    assert [each["study"]["name"] for each in object_["studies"]] == list(study_names())
    assert all((tmp_path / f"{name}-quick" / "figure-1.svg").stat().st_size > 500 for name in study_names())
    assert sum(each["stand"] for each in object_["studies"]) > sum(each["differ"] for each in object_["studies"]) > 0
