"""`confide reproduce`: the list, one study, and its files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.commands import Run
from confide.study import study_names


def test_studies_are_listed(run: Run) -> None:
    listed = run("reproduce")
    assert (listed.code, listed.err) == (0, "")
    family = re.compile("(acquisition|allocation|channels|market|programs|queries|regression|search)-")
    names = [line.split()[0] for line in listed.out.splitlines() if family.match(line)]
    assert names == list(study_names())
    assert [each["name"] for each in run("reproduce", "--json").json["studies"]] == list(study_names())


def test_one_study_is_computed_and_written(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = run("reproduce", "regression-threshold", "--quick")
    assert (found.code, found.err) == (0, "")
    assert "4,472" in found.out
    assert (tmp_path / "out" / "studies" / "regression-threshold" / "figure-1.svg").exists()
    object_ = run("reproduce", "regression-threshold", "--quick", "--out", "mine", "--json").json
    assert object_["quick"] is True
    assert object_["files"]["numbers.csv"] == str(Path("mine") / "numbers.csv")
    assert (tmp_path / "mine" / "numbers.csv").exists()


def test_an_unknown_study_is_bad_input(run: Run) -> None:
    found = run("reproduce", "regression-treshold")
    assert found.code == 2
    assert "did you mean 'regression-threshold'" in found.err
