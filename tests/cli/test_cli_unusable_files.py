"""`confide check` and `confide run` of a file whose rows cannot be used: exit code 2, and the flag that goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaign.reported_files import survey
from campaign.small import rows, write
from cli.commands import Run
from confide.campaign import Store


def charged() -> bool:
    """Whether the installation's ledger has any data set."""
    with Store() as store:
        return bool(store.data_sets())


def test_check_exits_2_where_a_run_would_stop(run: Run, tmp_path: Path) -> None:
    path = survey(tmp_path)
    found = run("check", path)
    assert found.code == 2
    assert "income: 55 cells are empty" in found.out
    assert found.err.startswith("confide: a run stops before the charge: data.source: 60 of 1,000 rows cannot be used")
    spoken = run("check", path, "--json")
    assert spoken.code == 2
    assert spoken.json["cells"] == ["region: 5 cells are not levels, such as 'North' (levels: north, south)",
                                   "income: 55 cells are empty"]
    assert spoken.json["stop"].startswith("data.source: 60 of 1,000")


@pytest.mark.parametrize("more", [(), ("--noise", "simulated", "--seed", "7")], ids=["secure", "simulated"])
def test_a_run_stops_with_2_and_goes_on_with_the_flag(run: Run, tmp_path: Path, more: tuple[str, ...]) -> None:
    path = survey(tmp_path)
    found = run("run", path, *more)
    assert (found.code, found.out) == (2, "")
    assert "income: 55 cells are empty" in found.err
    assert not charged()
    found = run("run", path, *more, "--accept-unusable")
    assert (found.code, found.err) == (0, "")
    if not more:
        assert run("check", path).code == 0  # what is settled is not run again


def test_the_operator_is_reported_where_too_few_took_part(run: Run, tmp_path: Path) -> None:
    """The public result cannot say it, for who took part is private; whoever ran it is told beside it."""
    path = write(tmp_path, lines=rows()[:1900])
    words = ("100 slots are empty, but the promises of truth and accuracy allow for 1. "
             "So these promises do not hold for this run.")
    assert words in run("check", path).out.replace("\n", " ")
    found = run("run", path)
    assert found.code == 0
    assert words in found.err
    assert "slots are empty" not in found.out
    assert run("run", path).err == ""  # the stored outcome
