"""A participant's own computer draws once, at no level above her own largest, and says so."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cli.commands import Run
from confide.contract import kind
from confide.privacy.device_odds import LARGEST_LEVEL

STANDS = "it stays valid. The command did not use the answers of this call"


@pytest.fixture
def bits(tmp_path: Path) -> Path:
    path = tmp_path / "bits.toml"
    path.write_text(kind("bits").template, encoding="utf-8")
    return path


@pytest.mark.parametrize("later", ["answer=no", "answer=yes", "answer="])
def test_another_answer_is_not_drawn_and_that_is_said(later: str, run: Run, bits: Path) -> None:
    """In the same words whatever was answered then and now: who looks over her shoulder learns nothing of it."""
    first = run("submit", bits, "--id", "1", "--record", "answer=yes")
    assert (first.code, STANDS in first.err) == (0, False)
    again = run("submit", bits, "--id", "1", "--record", later)
    assert (again.code, again.out) == (0, first.out)
    assert again.err == run("submit", bits, "--id", "1", "--record", "answer=yes").err
    assert STANDS in again.err
    assert "answer=" not in again.err
    assert run("submit", bits, "--id", "1", "--record", later, "--json").json["drawn_before"] is True
    assert run("submit", bits, "--id", "2", "--record", later, "--json").json["drawn_before"] is False


def test_a_participant_without_a_report_may_still_answer(run: Run, bits: Path) -> None:
    nothing = run("submit", bits, "--id", "1", "--record", "answer=")
    assert nothing.out.splitlines()[1] == "1,"
    answered = run("submit", bits, "--id", "1", "--record", "answer=yes")
    assert answered.out.splitlines()[1] in ("1,yes", "1,no")
    assert STANDS not in answered.err


def test_a_name_with_a_comma_stands_in_quotes(run: Run, bits: Path) -> None:
    """What is printed is a row of a CSV file, whatever an answer is called."""
    text = bits.read_text(encoding="utf-8").replace('one = "yes"', 'one = "yes, often"')
    bits.write_text(text.replace('zero = "no"', 'zero = "no, never"'), encoding="utf-8")
    found = run("submit", bits, "--id", "1", "--record", "answer=yes, often")
    assert (found.code, len(found.out.splitlines())) == (0, 2)
    (row,) = csv.DictReader(found.out.splitlines())
    assert row["report"] in ("yes, often", "no, never")


def test_nothing_is_drawn_above_the_largest_accepted_level(run: Run, bits: Path) -> None:
    refused = run("submit", bits, "--id", "1", "--record", "answer=yes", "--largest", "0.01")
    assert (refused.code, refused.out) == (3, "")
    assert "discloses more than a report at 0.01, the largest level at which this device draws" in refused.err
    assert run("submit", bits, "--id", "1", "--record", "answer=", "--largest", "0.01").code == 0  # tells nothing
    assert run("submit", bits, "--id", "1", "--record", "answer=yes", "--largest", "0").code == 2
    drawn = run("submit", bits, "--id", "1", "--record", "answer=yes", "--largest", "5", "--json").json
    assert drawn["drawn_before"] is False  # the refusal had cost nothing
    assert drawn["spent"] <= 5


def test_a_browsers_device_has_the_same_largest_level(run: Run) -> None:
    assert f"[{LARGEST_LEVEL:g}, as in a browser]" in " ".join(run("submit", "--help").out.split())
