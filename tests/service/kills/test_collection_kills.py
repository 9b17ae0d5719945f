"""Workers, and the whole service, are killed while people hand in: nothing is lost, nothing is there twice."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from confide.campaign import Home, Store
from service.kills.load import Load, put
from service.kills.participants import Participants, check, gathered, in_thirds
from service.kills.tree import Tree, await_that

RATE = 80
"""Reports a second."""
KILLS = ((0.8, 0.0), (2.2, 0.02), (3.4, 0.005), (5.0, 0.06), (6.1, 0.0), (7.7, 0.12), (9.0, 0.01), (10.4, 0.03))
"""Of single workers: seconds after the first report, and after the store can be written again, for which many wait."""
ALL = 12.0
"""Seconds after the first report when the whole service is killed."""
HELD = 0.25
"""Seconds in which nobody can write, so that a killed worker has begun something."""


def hold(store: Store, participants: Participants) -> None:
    """Reports wait for a while: those of one campaign, or in SQLite all."""
    with store._locked(participants.drawn):
        time.sleep(HELD)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kills_during_collection(tmp_path: Path, database_url: str) -> None:
    home = tmp_path / "home"
    participants = gathered(home, database_url, RATE * 7)
    in_thirds(participants.people)
    with Store(database_url, home=Home(home)) as store, Tree(home, database_url) as tree:
        killed: list[int] = []
        with Load(tree.port, participants.people, RATE) as load:
            for turn, (at, after) in enumerate(KILLS):
                time.sleep(max(0.0, load.begun + at - time.monotonic()))
                await_that(lambda: bool(tree.workers()) and tree.ready(), "somebody answers")
                worker = tree.workers()[0 if turn % 2 else -1]
                hold(store, participants)
                time.sleep(after)
                tree.kill(worker)
                killed.append(worker)
            time.sleep(max(0.0, load.begun + ALL - time.monotonic()))
            tree.await_ready()  # the supervisor has brought new ones up
            assert not set(killed) & set(tree.workers())
            hold(store, participants)
            tree.kill_all()
            assert not tree.ready()
            tree.start()
        seconds = time.monotonic() - load.begun
        assert set(load.statuses) <= {204, 409}
        assert load.broken
        figures = check(store, participants)
        assert figures["told"] + figures["not told"] == len(participants.people)
        participant = [each for each in load.acknowledged if each.campaign == participants.drawn][:40]
        for person in participant:
            draw = person.other if person.acknowledged == person.values else person.values
            assert asyncio.run(put(tree.port, person.token, draw)) == 409
            assert asyncio.run(put(tree.port, person.token, person.acknowledged or {})) == 204
        check(store, participants)
        assert tree.end() == 0
        check(store, participants)
    print(f"{store.name}: {len(killed)} workers and once all killed; {len(participants.people)} people, "
          f"{figures['told']} told, {figures['not told']} not told, of whom {figures['not told, yet stored']} "
          f"stored; {load.broken} requests without an answer; {seconds:.0f} s")
