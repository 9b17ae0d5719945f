"""A run goes straight on: how many modules it enters, and how often it goes back, may only become less."""

from __future__ import annotations

from pathlib import Path

from house.imports import imports
from house.steps_of_run import followed, run

ROOMS, CLIMBS, RETURNS = 12, 1, 3
ABOVE = {"confide.campaign.trade_off"}
"""Modules of campaigns that are written for users of `Campaign`, as the command line is."""


def test_a_run_enters_few_modules_and_seldom_goes_back(tmp_path: Path) -> None:
    found = run(tmp_path)
    assert {"campaign", "settlement", "store", "charging"} <= found.rooms.keys()
    assert len(found.rooms) <= ROOMS
    assert len(found.climbs) <= CLIMBS
    assert len(found.returns) <= RETURNS


def test_no_step_imports_the_facade() -> None:
    graph = imports()
    inside = {name for name in graph if name.startswith("confide.campaign.")}
    assert {name for name in inside if "confide.campaign.campaign" in graph[name]} == ABOVE


def test_what_goes_back_is_seen() -> None:
    """`one` calls `other`, which calls back into it; and `third`, which calls `other` too."""
    spaces = [{"__name__": f"confide.campaign.{name}"} for name in ("one", "other", "third")]
    texts = ("def f(g, h): g(k); h()\ndef k(): pass", "def g(k): k()", "def h(g): g(int)")
    for space, text in zip(spaces, texts, strict=True):
        exec(text, space)
    one, other, third = spaces
    found = followed(lambda: one["f"](other["g"], lambda: third["h"](other["g"])))  # type: ignore[operator]
    assert list(found.rooms) == ["one", "other", "third"]
    assert list(found.climbs) == [("other", "one")]
    assert list(found.returns) == [("third", "other")]
