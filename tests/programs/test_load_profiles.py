"""Load profiles: a file as simbench writes it, days and parts of days, and the power that is left."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.programs import Electricity, TightenAndAudit
from confide.programs.families.electricity import load_profile, what_is_left
from confide.programs.instances import popular

NEW_YEAR = date(2016, 1, 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two days, the second one's rows first."""
    path = tmp_path / "LoadProfile.csv"
    start = datetime(2016, 1, 1)
    lines = [f"{start + timedelta(minutes=15 * at):%d.%m.%Y %H:%M};0.5;{at / 1000}" for at in range(192)]
    path.write_text("\n".join(["time;H0-A_qload;H0-A_pload", *lines[96:], *lines[:96]]) + "\n", encoding="utf-8")
    return path


def test_means_of_parts_of_a_day(file: Path) -> None:
    assert load_profile("H0-A", NEW_YEAR, path=file) == pytest.approx((4 * np.arange(24) + 1.5) / 1000)
    assert load_profile("H0-A", date(2016, 1, 2), slots=2, path=file) == pytest.approx([0.1195, 0.1675])
    assert load_profile("H0-A", NEW_YEAR, slots=96, path=file).tolist() == [at / 1000 for at in range(96)]


@pytest.mark.parametrize(("name", "day", "slots", "said"), [
    ("H0-B", NEW_YEAR, 24, "name: the profile 'H0-B' is unknown.*H0-A"),
    ("H0-A", date(2017, 1, 1), 24, "day: the file has 0 quarters of an hour for 2017-01-01"),
    ("H0-A", NEW_YEAR, 7, "slots: 7 equal parts")])
def test_what_is_not_there_is_named(file: Path, name: str, day: date, slots: int, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        load_profile(name, day, slots=slots, path=file)


def test_other_files_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a;b\n1;2\n", encoding="utf-8")
    for path, said in ((other, "not a file of load profiles"), (tmp_path / "none.csv", "cannot be read")):
        with pytest.raises(InvalidInput, match=said):
            load_profile("H0-A", NEW_YEAR, path=path)


def test_without_the_package_its_file_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match="simbench is not installed"):
        load_profile("H0-A", NEW_YEAR)


def test_what_is_left_is_shared_and_never_exceeded(file: Path) -> None:
    night = load_profile("H0-A", NEW_YEAR, slots=8, path=file)
    supply = what_is_left(30_000.0, night, 200_000.0, 11.0)
    assert list(supply) == sorted(supply, reverse=True)
    program = Electricity(2_000, supply, most=2, intervals=1, slots=8)
    outcome = TightenAndAudit(program, 1.0, 1e-6, 50, 25).run(
        popular(2_000, 8, seed=1)[:, None, :], Noise.simulated(1))
    assert outcome.billboard.accepted
    assert float(outcome.diagnostics["excess"].max()) == 0.0
    assert float(outcome.diagnostics["value"]) > 500.0
