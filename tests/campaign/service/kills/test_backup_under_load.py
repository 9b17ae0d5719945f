"""A copy that is taken while people hand in has all that was acknowledged before, and a service on it goes on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from campaign.service.kills.crowd import check, gathered
from campaign.service.kills.load import Load, put
from campaign.service.kills.tree import Tree, await_that
from campaign.service.kills.watching import Operator
from confide.campaign import Home, Store

RATE = 60
"""Reports a second."""


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest, database_url: str) -> Iterator[str | None]:
    """Where a copy of the store can go: an empty database, or the new installation's own."""
    if database_url.startswith("sqlite"):
        yield None
        return
    cluster: Any = request.getfixturevalue("postgresql")
    yield cluster.create("copied")
    cluster.drop("copied")


def confide(home: Path, *words: str) -> None:
    """The command line, as somebody beside the service types it."""
    done = subprocess.run([sys.executable, "-m", "confide", *words], env={**os.environ, "CONFIDE_HOME": str(home)},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_copy_under_load(tmp_path: Path, database_url: str, elsewhere: str | None) -> None:
    home, new, archive = tmp_path / "home", tmp_path / "new", tmp_path / "copy.tar"
    crowd = gathered(home, database_url, 4 * RATE)
    with Store(database_url, home=Home(home)) as store, Tree(home, database_url) as tree:
        with Load(tree.port, crowd.people, RATE) as load:
            await_that(lambda: len(load.acknowledged) >= RATE, "it is under way")
            begun = time.monotonic()
            before = [each for each in load.acknowledged if each.at < begun]
            confide(home, "backup", str(archive), "--store", database_url)
            took = time.monotonic() - begun
            during = sum(each.at < begun + took for each in load.acknowledged) - len(before)
        assert check(store, crowd)["told"] == len(crowd.people)
        assert tree.end() == 0
    assert 0 < len(before) < len(crowd.people)
    confide(new, "restore", str(archive), "--home", str(new), *(["--store", elsewhere] if elsewhere else []))
    with Store(elsewhere, home=Home(new), create=False) as copy:
        assert check(copy, crowd, before)["told"] == len(before)  # and of the others each is whole, or not there
        copied = sum(copy.submitted(number) for number in (crowd.drawn, crowd.typed))
        assert len(before) <= copied
        with Tree(new, elsewhere) as tree:  # the sessions are in the copy, too
            for person in (*before[:10], *crowd.people[-10:]):
                assert asyncio.run(put(tree.port, person.token, person.values)) == 204
            operator = Operator(tree.port, crowd.operator)
            for number in (crowd.drawn, crowd.typed):
                assert operator("GET", f"/campaigns/{number}/progress")["handed_in"] == copy.submitted(number)
            drawn = next(each for each in before if each.campaign == crowd.drawn)
            assert asyncio.run(put(tree.port, drawn.token, drawn.other)) == 409
            assert tree.end() == 0
        check(copy, crowd, [*before, *crowd.people[-10:]])
    print(f"{store.name}: {len(before)} told before, {during} while it was taken ({took:.1f} s); {copied} in it")
