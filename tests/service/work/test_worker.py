"""Workers: a lease is renewed, a lost one is given up, and nothing that goes wrong with a job ends the worker."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select

from confide.campaign import State
from confide.campaign.store import service_schema as t
from confide.campaign.store.reports import put_row
from confide.contract import InvalidInput, kind
from confide.contract.errors import StoreFailed
from confide.service.shell.parts import worker_name
from confide.service.work import Jobs, Task, Worker
from confide.service.work import worker as worker_module
from confide.service.work.rounds import FIRST
from service.parts import Clock, Parts, sent

SECONDS = 60.0  # that a test waits for another thread


def until(true: Callable[[], bool]) -> None:
    """Wait until something has come true."""
    last = time.monotonic() + SECONDS
    while not true():
        if time.monotonic() > last:
            raise TimeoutError
        time.sleep(0.005)


def lease(parts: Parts, campaign: int) -> int:
    """Until when the campaign's job is its worker's."""
    with parts.store.database.reading() as connection:
        return int(connection.execute(select(t.job.c.lease).where(t.job.c.campaign_id == campaign)).scalar_one())


def test_a_lease_is_renewed_while_the_work_runs(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, clock = parts.open(kind("bits").template), Clock()
    jobs = Jobs(parts.store, clock=clock)
    monkeypatch.setattr(worker_module, "_RENEWAL", 0.01)
    claimed: list[Any] = []

    def slow(self: Any, seed: int = 0, progress: Any = None) -> Any:
        progress(3, 7)
        for _ in range(4):
            clock.now += 20  # in all more than a lease lasts
            until(lambda: lease(parts, campaign) >= clock.now + 29)
            claimed.append(jobs.claim("another"))
        until(lambda: jobs.of(campaign, Task.AUDIT).done == 3)  # type: ignore[union-attr] # it was asked for
        return SimpleNamespace(to_dict=lambda: {"passed": True})

    monkeypatch.setattr(type(parts.opened.get(campaign).campaign), "audit", slow)
    jobs.ask(campaign, Task.AUDIT)
    assert Worker(parts.store, parts.opened, jobs, "worker").once()
    job = jobs.of(campaign, Task.AUDIT)
    assert job is not None
    assert (job.state, job.problem, job.attempts, job.steps) == ("done", "", 1, 7)
    assert claimed == [None] * 4


def contracted(parts: Parts) -> int:
    """A campaign whose contracts are final, on which some people have sent their records."""
    number = parts.open(kind("mean").template)
    opened, taking = parts.opened.get(number), parts.participation
    with parts.store.database.writing() as connection:
        for slot in range(1000):
            row = {"id": str(slot + 1), "concern": repr((slot + 0.5) / 1000)}
            put_row(connection, number, slot, json.dumps(row), FIRST)
    parts.rounds.draw_up(opened)
    parts.rounds.finish(opened)
    for who in parts.join(number, range(8)):
        instructions = taking.device(who)
        if instructions is not None and instructions["steps"] != "0":
            taking.submit(who, sent(instructions, {taking.form(who)[0].column: "30"}, drawn=-3))
    return number


class _CutOff(Jobs):
    """The jobs as a worker sees them who cannot reach the store for a while."""

    away = True

    def renew(self, *args: Any, **more: Any) -> bool:
        if self.away:
            raise StoreFailed("store", "cannot be reached")
        return super().renew(*args, **more)


@pytest.mark.slow
@pytest.mark.parametrize("first_ends_first", [False, True])
def test_of_two_who_settle_none_hinders_the_other(
    first_ends_first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one loses its lease while it reads; the job is the second one's, and it is done."""
    monkeypatch.setattr(worker_module, "_RENEWAL", 0.01)
    with Parts.at(tmp_path) as parts:
        number, clock = contracted(parts), Clock()
        clock.now = time.time()
        jobs, cut_off = Jobs(parts.store, clock=clock), _CutOff(parts.store, clock=clock)
        it = type(parts.opened.get(number).campaign.file.kind)
        real, reading, go, stopped = it.answered, threading.Event(), threading.Event(), []
        seconds_turn, second_reads = threading.Event(), threading.Event()

        def slow(self: Any, config: Any, plan: Any, folder: Path, batches: Any, progress: Any = None) -> Any:
            if threading.current_thread().name == "first":
                reading.set()
                go.wait(SECONDS)
                if not first_ends_first:
                    try:
                        until(lambda: progress(1, 2))  # where it is told that the job is another's
                    except Exception as error:
                        stopped.append(type(error).__name__)
                        raise
            elif first_ends_first:
                second_reads.set()
                seconds_turn.wait(SECONDS)
            return real(self, config, plan, folder, batches, progress)

        monkeypatch.setattr(it, "answered", slow)
        jobs.ask(number, Task.SETTLE)
        ended: dict[str, bool] = {}
        first, second = (threading.Thread(name=name, target=lambda worker=worker: ended.update(
            {worker.name: worker.once()})) for name, worker in (
                ("first", Worker(parts.store, parts.opened, cut_off, "first")),
                ("second", Worker(parts.store, parts.opened, jobs, "second"))))
        first.start()
        assert reading.wait(SECONDS)
        clock.now += 31
        second.start()
        if first_ends_first:
            assert second_reads.wait(SECONDS)
            go.set()
            first.join()
            seconds_turn.set()
            second.join()
        else:
            second.join()
            cut_off.away = False
            go.set()
            first.join()
            assert stopped == ["_LeaseLost"]
        assert ended == {"first": True, "second": True}
        job = jobs.of(number, Task.SETTLE)
        assert job is not None
        assert (job.state, job.problem, job.attempts) == ("done", "", 2)
        assert parts.store.get(number).state is State.SETTLED
        assert not list(parts.opened.get(number).folder.rglob("records.csv"))
        assert not list(parts.opened.get(number).folder.glob(".rows-*"))


def test_of_two_who_read_rows_each_has_a_file(tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        opened = parts.opened.get(contracted(parts))
        with parts.rounds.records(opened) as first:
            with parts.rounds.records(opened) as second:
                files = [each.file.folder / "records.csv" for each in (first, second)]
                assert files[0] != files[1]
                assert files[0].read_text() == files[1].read_text()
                assert [each.parent.stat().st_mode & 0o777 for each in files] == [0o700] * 2
                assert first.file.digest == opened.campaign.file.digest
            assert [each.exists() for each in files] == [True, False]
        assert not files[0].exists()


def test_what_viewers_read_of_a_problem_names_no_folder(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = parts.open(kind("bits").template)
    folder = parts.opened.get(campaign).folder
    said = [f"{folder / 'records.csv'} cannot be read: /srv/the data/t.csv, (/var/lib/x/y.csv) and/or https://a.b/c"]

    def broken(*_: Any, **__: Any) -> None:
        raise InvalidInput("data.source", said[0])

    monkeypatch.setattr(type(parts.opened.get(campaign).campaign), "audit", broken)
    job = parts.do(campaign, Task.AUDIT)
    assert job.state == "failed"
    assert str(parts.store.home.folder) not in job.problem
    assert "/var/lib" not in job.problem
    assert "records.csv cannot be read" in job.problem
    assert "(y.csv) and/or https://a.b/c" in job.problem


def test_what_is_settled_has_not_failed(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong afterwards, as with the place of its public files, which whoever asks for them writes."""
    campaign = parts.open(kind("bits").template)
    it = type(parts.opened.get(campaign).campaign)
    real = it.settle

    def settled(self: Any, *args: Any, **more: Any) -> None:
        real(self, *args, **more)
        raise InvalidInput("out", "cannot be written")

    monkeypatch.setattr(it, "settle", settled)
    job = parts.do(campaign, Task.SETTLE)
    assert (job.state, job.problem) == ("done", "")
    assert parts.store.get(campaign).state is State.SETTLED


def test_a_worker_survives_what_it_cannot_store(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """An infinite number is no JSON; and a fault in taking jobs, too, ends no worker."""
    campaign = parts.open(kind("bits").template)
    monkeypatch.setattr(type(parts.opened.get(campaign).campaign), "audit",
                        lambda *_, **__: SimpleNamespace(to_dict=lambda: {"error": float("inf")}))
    monkeypatch.setattr(worker_module, "_PAUSE", 0.01)
    real, turns = parts.jobs.claim, [0]

    def claim(worker: str) -> Any:
        turns[0] += 1
        if turns[0] == 1:
            raise RuntimeError("any fault")
        return real(worker)

    monkeypatch.setattr(parts.jobs, "claim", claim)
    parts.jobs.ask(campaign, Task.AUDIT)
    stop = threading.Event()
    thread = threading.Thread(target=parts.worker.run, args=(stop,))
    thread.start()
    try:
        until(lambda: parts.jobs.of(campaign, Task.AUDIT).over)  # type: ignore[union-attr] # it was asked for
        seen = turns[0]
        until(lambda: turns[0] > seen)
        assert thread.is_alive()
    finally:
        stop.set()
        thread.join()
    job = parts.jobs.of(campaign, Task.AUDIT)
    assert job is not None
    assert (job.state, job.problem) == ("failed", "an internal error (ValueError)")


def test_no_two_workers_have_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where their hosts are called alike and their processes have one number, as in two containers."""
    monkeypatch.setattr("socket.gethostname", lambda: "confide")
    monkeypatch.setattr("os.getpid", lambda: 1)
    first, second = worker_name(), worker_name()
    clock = Clock()
    with Parts.at(tmp_path) as parts:
        jobs = Jobs(parts.store, clock=clock)
        number = parts.open(kind("bits").template)
        jobs.ask(number, Task.SETTLE)
        job = jobs.claim(first)
        assert job is not None
        clock.now += 31
        assert jobs.claim(second) is not None
        assert not jobs.renew(job, first)
        assert not jobs.fail(job, first, "late")
        assert jobs.renew(job, second)
