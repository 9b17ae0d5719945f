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
    with pytest.raises(InvalidInput, match=r"columns\[1\]\.bins: makes 20,000 bins, and 101 whole numbers lie in"):
        _ = Campaign.load(written(tmp_path, 20_000)).plan


def test_as_many_bins_as_whole_numbers_are_planned_and_older_files_read(tmp_path: Path) -> None:
    assert Campaign.load(written(tmp_path, 101)).plan.to_dict()["attributes"] > 101
    older = Campaign.load(written(tmp_path, 150)).file
    assert older.kind.plan(older.config).to_dict()["attributes"] > 150  # what verifies a pack asks the kind
