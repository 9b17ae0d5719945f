"""One page for each kind: all have the same headings, and each campaign file that they show loads and plans."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from confide.campaign import Campaign
from confide.contract import kind_names

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "kinds"
HEADINGS = ["When to use it, and when not", "The smallest file", "Reading the result",
            "The privacy promise, by an example", "Cost and accuracy at three sizes", "Limits"]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


FILES = [(page, text) for page in sorted(FOLDER.glob("*.md")) for text in blocks(page, "toml")]


def test_each_kind_has_a_page_with_the_same_headings() -> None:
    assert {page.stem for page in FOLDER.glob("*.md")} == set(kind_names())
    for page in FOLDER.glob("*.md"):
        assert re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE) == HEADINGS, page.name
    assert {page.stem for page, _ in FILES} == set(kind_names())


@pytest.mark.parametrize(("page", "text"), FILES, ids=[page.stem for page, _ in FILES])
def test_a_file_that_a_page_shows_loads_and_plans(
    page: Path, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONFIDE_HOME", str(tmp_path / "home"))
    (tmp_path / "shown.toml").write_text(text, encoding="utf-8")
    campaign = Campaign.load(tmp_path / "shown.toml")
    assert campaign.file.kind.name == page.stem
    assert campaign.plan.guarantees


def test_commands_that_pages_name_are_there() -> None:
    shown = subprocess.run([sys.executable, "-m", "confide", "--help"], capture_output=True, text=True, check=True)
    verbs = {verb for page in FOLDER.glob("*.md") for text in blocks(page, "bash")
             for verb in re.findall(r"^confide (\w+)", text, flags=re.MULTILINE)}
    assert {"plan", "run", "submit", "contracts"} <= verbs
    assert all(re.search(rf"^  {verb} ", shown.stdout, flags=re.MULTILINE) for verb in verbs)
