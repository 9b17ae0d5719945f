"""The way of one record, as the architecture page tells it: every function is passed, in this order."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from campaign import small
from confide.campaign import Campaign, Home, Store

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "architecture.md"


def way(part: str) -> list[str]:
    """The functions of a numbered list, below a sentence that begins like this."""
    return re.findall(r"^\d+\. `([\w.]+)`", PAGE.read_text(encoding="utf-8").split(f"\n{part}")[1].split("\n\n")[1],
                      flags=re.MULTILINE)


def passed(work: Callable[[], object]) -> list[str]:
    """What is called while some work is done, each at its first time."""
    found = dict[str, None]()

    def called(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found[f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_qualname}".removeprefix("confide.")] = None

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return list(found)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """Of a settlement, and of a share."""
    folder = tmp_path_factory.mktemp("way")
    with Store(f"sqlite:///{folder / 'store.db'}", home=Home(folder / "home")) as store:
        campaign = Campaign.load(small.write(folder / "campaign"))
        return passed(lambda: campaign.settle(store=store)), passed(lambda: campaign.share("3", store=store))


@pytest.mark.parametrize(
    ("part", "index", "least"), [("During the settlement", 0, 10), ("When the participant asks", 1, 4)])
def test_a_record_goes_the_way_that_the_page_tells(
    calls: tuple[list[str], list[str]], part: str, index: int, least: int
) -> None:
    reported = way(part)
    assert len(reported) >= least
    assert [each for each in calls[index] if each in reported] == reported
