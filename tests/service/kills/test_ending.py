"""How a service ends: told to, with its supervisor, or not at all since it is only slow."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from confide.campaign import Home, Store
from service.kills.load import Load, put
from service.kills.participants import check, gathered
from service.kills.tree import Tree, alive, await_that

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

RATE = 40
"""Reports a second."""
AT_MOST = 35.0
"""Seconds from the signal to the end: 20 for requests that were begun, 10 for a job, and some for a busy machine."""


@pytest.mark.parametrize("workers", [1, 2])
def test_reported_to_end_under_load(workers: int, tmp_path: Path, database_url: str) -> None:
    """What was begun is answered and stored; the others hand in to the next service."""
    home = tmp_path / "home"
    participants = gathered(home, database_url, 3 * RATE)
    with Store(database_url, home=Home(home)) as store, Tree(home, database_url, workers=workers) as tree:
        with Load(tree.port, participants.people, RATE) as load:
            await_that(lambda: len(load.acknowledged) >= RATE, "it is under way")
            begun = time.monotonic()
            assert tree.end() == 0
            took = time.monotonic() - begun
            before = check(store, participants, load.acknowledged)["told"]
            tree.start()
        assert set(load.statuses) == {204}
        assert 0 < before < len(participants.people)
        assert check(store, participants)["told"] == len(participants.people)
        assert tree.end() == 0
    assert took < AT_MOST
    print(f"{store.name}, {workers}: {before} of {len(participants.people)} told before the end, "
          f"which took {took:.1f} s")


@pytest.mark.parametrize("workers", [1, 2])
def test_what_was_begun_is_answered(workers: int, tmp_path: Path, database_url: str) -> None:
    """Reports that wait for the store when the signal comes are stored, and their owners told."""
    home, waiting = tmp_path / "home", 24
    participants = gathered(home, database_url, waiting)

    async def hand_in(port: int) -> list[int]:
        return await asyncio.gather(*(put(port, person.token, person.values) for person in participant))

    with Store(database_url, home=Home(home)) as store, Tree(home, database_url, workers=workers) as tree:
        participant = [each for each in participants.people if each.campaign == participants.drawn]
        second = participants.people[1]
        assert asyncio.run(put(tree.port, second.token, second.values)) == 204  # it is warm
        second.sent.append(second.values)

        async def during() -> list[int]:
            with store._locked(participants.drawn):
                asked = asyncio.create_task(hand_in(tree.port))
                await asyncio.sleep(2.0)
                assert not asked.done()
                tree.child.send_signal(signal.SIGTERM)
                await asyncio.sleep(2.0)
            return await asked

        assert asyncio.run(during()) == [204] * waiting
        assert tree.child.wait(AT_MOST) == 0
        for person in participant:
            person.sent.append(person.values)
            person.acknowledged = person.values
        assert check(store, participants)["told"] == waiting


def test_workers_end_with_their_supervisor(tmp_path: Path, database_url: str) -> None:
    """Else they would answer without anybody to replace them, and keep the port from the next service."""
    home = tmp_path / "home"
    participants = gathered(home, database_url, 2 * RATE)
    with Store(database_url, home=Home(home)) as store, Tree(home, database_url) as tree:
        with Load(tree.port, participants.people, RATE) as load:
            await_that(lambda: len(load.acknowledged) >= RATE // 2, "it is under way")
            workers = tree.workers()
            tree.child.kill()
            tree.child.wait()
            begun = time.monotonic()
            await_that(lambda: not any(map(alive, workers)), "they end", AT_MOST)
            took = time.monotonic() - begun
            tree.start()
        assert load.statuses == {204: len(participants.people)}
        assert check(store, participants)["told"] == len(participants.people)
        assert tree.end() == 0
    print(f"{store.name}: workers ended {took:.1f} s after their supervisor")


def test_a_dead_worker_is_replaced_at_once(tmp_path: Path) -> None:
    """Also where its supervisor waits for an answer of it: that of the dead never comes."""
    with Tree(tmp_path / "home") as tree:
        dead = tree.workers()[0]
        os.kill(dead, signal.SIGSTOP)
        time.sleep(1.5)  # the supervisor asks twice a second
        tree.kill(dead)
        await_that(lambda: dead not in tree.workers() and len(tree.workers()) == 2, "there is another one", 10.0)
        tree.await_ready()
        assert tree.end() == 0


def test_a_worker_that_is_slow_is_left_alone(tmp_path: Path) -> None:
    """A machine may be busy for seconds, and a settlement's kernel may keep all of a process for as long."""
    with Tree(tmp_path / "home") as tree:
        workers = tree.workers()
        os.kill(workers[0], signal.SIGSTOP)
        time.sleep(12.0)
        os.kill(workers[0], signal.SIGCONT)
        time.sleep(3.0)
        assert tree.workers() == workers
        assert tree.end() == 0
