"""A study is never a settlement: it costs nothing, releases nothing, and replaces nothing but an earlier study."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from campaign.settled import RECORD, Done, alone, charged, stands
from campaign.small import tree, write
from confide.campaign import Campaign, State
from confide.contract import InvalidInput, Refused, SimulatedOutcome
from confide.privacy.noise import Noise


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign.load(write(tmp_path))


def test_a_simulated_outcome_cannot_be_settled(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noise, "secure", lambda: Noise.simulated(1))
    with pytest.raises(InvalidInput, match="secure noise"):
        campaign.settle(tmp_path / "out")
    assert stands(campaign)[0] is State.CHARGED
    alone(tmp_path, {"pay.toml", "answers.csv"})


def test_a_study_is_no_release_and_costs_nothing(campaign: Campaign, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    outcome, sections = campaign.study(3, folder)
    assert isinstance(outcome, SimulatedOutcome)
    assert outcome.release_safe is False
    assert all(section.study for section in sections)
    assert not (folder / "campaign.json").exists()
    assert (folder / "coefficients.csv").exists()
    for path in (folder, *folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    with pytest.raises(InvalidInput, match="not empty"):  # it cannot be turned into a settlement
        campaign.settle(folder)
    with pytest.raises(Refused, match="not settled"):
        campaign.share("7")
    with pytest.raises(InvalidInput, match="simulated outcome"):
        campaign.share("7", folder, record=RECORD)
    assert (stands(campaign), charged()) == ((None, 0), (None, 0))
    first = tree(folder)
    (folder / "report.html").write_text("page")
    campaign.study(3, folder)  # an earlier study is replaced
    assert tree(folder) == first
    folder.chmod(0o755)
    campaign.study(4, folder)
    assert tree(folder) != first
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_study_never_replaces_anything_else(settled: Done, tmp_path: Path) -> None:
    campaign, done, _ = settled
    before = tree(done.folder)
    with pytest.raises(InvalidInput, match="settled campaign"):
        campaign.study(3, done.folder)
    assert tree(done.folder) == before

    released = tmp_path / "released"  # saved by hand, without a campaign's note
    done.outcome.save(released)
    website = tmp_path / "website"
    website.mkdir()
    (website / "manifest.json").write_text('{"name": "my site"}')
    extra = tmp_path / "extra"
    campaign.study(3, extra)
    (extra / "notes.txt").write_text("mine")
    numbers = tmp_path / "numbers"
    campaign.study(3, numbers)
    (numbers / "mine.csv").write_text("1,2")
    home = write(tmp_path / "home").parent  # --out . where campaign and answers lie
    (home / "manifest.json").write_text("[]")
    for folder in (released, website, extra, numbers, home):
        kept = tree(folder)
        with pytest.raises(InvalidInput, match="do not belong to a study") as caught:
            campaign.study(3, folder)
        assert caught.value.field == "out"
        assert tree(folder) == kept
    with pytest.raises(InvalidInput, match="not a folder"):
        campaign.study(3, website / "manifest.json")
