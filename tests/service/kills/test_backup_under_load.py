"""A copy that is taken while people hand in has all that was acknowledged before, and a service on it goes on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from confide.campaign import Home, Store
from service.kills.load import Load, Person, put
from service.kills.participants import Participants, check, gathered
from service.kills.tree import Tree, await_that
from service.kills.watching import Operator, ask
from service.parts import PASSWORD

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


def logged_in_again(port: int, participants: Participants, people: Sequence[Person]) -> Operator:
    """Nobody has a session in a copy: the operator logs in, and these people join with new codes."""
    for person in people:
        assert asyncio.run(put(port, person.token, person.values)) == 401
    assert ask(port, "GET", "/api/v1/drafts", token=participants.operator)[0] == 401
    anybody = Operator(port, "")
    operator = Operator(port, anybody("POST", "/login", {"name": "ada", "password": PASSWORD})["token"])
    for number in (participants.drawn, participants.typed):
        participant = {person.slot: person for person in people if person.campaign == number}
        for code in operator("POST", f"/campaigns/{number}/invitations", {"slots": sorted(participant)})["codes"]:
            participant[code["slot"]].token = anybody("POST", "/join", {"code": code["code"]})["token"]
    return operator


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_copy_under_load(tmp_path: Path, database_url: str, elsewhere: str | None) -> None:
    home, new, archive = tmp_path / "home", tmp_path / "new", tmp_path / "copy.tar"
    participants = gathered(home, database_url, 4 * RATE)
    with Store(database_url, home=Home(home)) as store, Tree(home, database_url) as tree:
        with Load(tree.port, participants.people, RATE) as load:
            await_that(lambda: len(load.acknowledged) >= RATE, "it is under way")
            begun = time.monotonic()
            before = [each for each in load.acknowledged if each.at < begun]
            confide(home, "backup", str(archive), "--store", database_url)
            took = time.monotonic() - begun
            during = sum(each.at < begun + took for each in load.acknowledged) - len(before)
        assert set(load.statuses) == {204}
        assert check(store, participants)["told"] == len(participants.people)
        assert tree.end() == 0
    assert 0 < len(before) < len(participants.people)
    confide(new, "restore", str(archive), "--home", str(new), *(["--store", elsewhere] if elsewhere else []))
    with Store(elsewhere, home=Home(new), create=False) as copy:
        assert check(copy, participants, before)["told"] == len(before)  # and of the others each is whole, or not there
        copied = sum(copy.submitted(number) for number in (participants.drawn, participants.typed))
        assert len(before) <= copied
        with Tree(new, elsewhere) as tree:
            going_on = [*before[:10], *participants.people[-10:]]
            operator = logged_in_again(tree.port, participants, going_on)
            for person in going_on:
                assert asyncio.run(put(tree.port, person.token, person.values)) == 204
            for number in (participants.drawn, participants.typed):
                assert operator("GET", f"/campaigns/{number}/progress")["handed_in"] == copy.submitted(number)
            drawn = next(each for each in before[:10] if each.campaign == participants.drawn)
            assert asyncio.run(put(tree.port, drawn.token, drawn.other)) == 409
            assert tree.end() == 0
        check(copy, participants, [*before, *participants.people[-10:]])
    print(f"{store.name}: {len(before)} told before, {during} while it was taken ({took:.1f} s); {copied} in it")
