"""A settlement that is killed, with SIGKILL, at any durable step is settled to the end: once, whole, and for all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from campaign.store.killing import Scene, kill_again, kill_each, new, prepared
from campaign.store.nursery import Nursery

SAMPLE = ("charge: INSERT INTO event", "publish: before commit", "pack: half of manifest.json")
"""Before the debit is kept, before the outcome is, and while the pack is written."""


def once(figures: dict[str, Any]) -> bool:
    """Whether every campaign has one outcome and one debit, every person one payout, and no report was lost."""
    return (figures["lost reports"] == 0
            and all(set(figures[name]) == {1} for name in ("published outcomes", "debits", "payouts a person")))


@pytest.mark.slow
@pytest.mark.parametrize("copies", ["sqlite", "postgresql"], indirect=True)
def test_a_killed_settlement_is_settled_once(nursery: Nursery, copies: Callable[..., Any], tmp_path: Path) -> None:
    figures = kill_each(nursery, prepared(copies, tmp_path / "scene"), SAMPLE)
    assert figures["kills"] == 3
    assert once(figures), figures


@pytest.mark.slow
@pytest.mark.parametrize("scene", [prepared, new])
def test_kills_at_every_step(
    scene: Callable[..., Scene], nursery: Nursery, copies: Callable[..., Any], tmp_path: Path,
    capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest,
) -> None:
    """A new campaign in SQLite is killed at every step; where the same steps come again, at every third one."""
    again = scene is prepared or request.node.callspec.params["copies"] == "postgresql"
    figures = kill_each(nursery, scene(copies, tmp_path / "scene"), every=3 if again else 1)
    with capsys.disabled():
        print(f"\n{scene.__name__}: {json.dumps(figures)}")
    assert figures["kills"] >= (30 if again else 100)
    assert {"open", "collect", "charge", "reports", "publish", "pack"} <= set(figures["by stage"])
    assert once(figures), figures


@pytest.mark.slow
@pytest.mark.parametrize("scene", [prepared, new])
def test_one_settlement_killed_again_and_again(
    scene: Callable[..., Scene], nursery: Nursery, copies: Callable[..., Any], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = kill_again(nursery, scene(copies, tmp_path / "scene"))
    with capsys.disabled():
        print(f"\n{scene.__name__}, again and again: {json.dumps(figures)}")
    assert figures["kills"] >= 20
    assert once(figures), figures


def test_what_is_counted_would_show_a_second_debit() -> None:
    """The figures are no constants."""
    good = {"published outcomes": {1: 3}, "debits": {1: 3}, "payouts a person": {1: 15}, "lost reports": 0}
    assert once(good)
    for bad in ({"debits": {1: 2, 2: 1}}, {"published outcomes": {2: 3}}, {"payouts a person": Counter({0: 1, 1: 14})},
                {"lost reports": 1}):
        assert not once({**good, **bad})
