"""A column of whole numbers has no more bins than whole numbers, in campaigns that are new."""

from __future__ import annotations

from pathlib import Path

import pytest

from confide.campaign import Campaign
from confide.contract.errors import InvalidInput
from confide.contract.kinds import kind


def written(folder: Path, bins: int) -> Path:
    place = folder / "queries.toml"
    place.write_text(kind("queries").template.replace("bins = 20\n", f"bins = {bins}\n", 1), encoding="utf-8")
    return place


def test_more_bins_than_whole_numbers_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"columns\[1\]\.bins: makes 20,000 bins for 101 whole numbers in"):
        _ = Campaign.load(written(tmp_path, 20_000)).plan


@pytest.mark.parametrize(("keys", "place"), [
    ("lower = 0.2\nupper = 0.8\nbins = 3\n", "lower"), ("edges = [0.2, 0.5, 0.8]\n", "edges"),
    ("lower = 0.2\nupper = 0.8\nbins = 1\n", "lower")])
def test_a_range_without_a_whole_number_is_reported_first(tmp_path: Path, keys: str, place: str) -> None:
    text = kind("queries").template.replace("lower = 0\nupper = 100\nbins = 20\n", keys, 1)
    (tmp_path / "queries.toml").write_text(text, encoding="utf-8")
    said = rf"columns\[1\]\.{place}: there is no whole number in \[0\.2, 0\.8\]"
    with pytest.raises(InvalidInput, match=said) as refused:
        _ = Campaign.load(tmp_path / "queries.toml").plan
    assert "0 bins" not in str(refused.value)


def test_as_many_bins_as_whole_numbers_are_planned_and_older_files_read(tmp_path: Path) -> None:
    assert Campaign.load(written(tmp_path, 101)).plan.to_dict()["attributes"] > 101
    older = Campaign.load(written(tmp_path, 150)).file
    assert older.kind.plan(older.config).to_dict()["attributes"] > 150  # what verifies a pack asks the kind
