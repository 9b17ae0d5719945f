"""What many hand in at once is stored, each report once; jobs are done by one worker, and resumed by another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

import pytest
from sqlalchemy import func, select

from confide.campaign import State
from confide.campaign.store import schema as s
from confide.contract import InvalidInput, Refused, StoreFailed, kind
from confide.service.work import Intake, Jobs, Task, Worker
from confide.service.work import intake as intake_module
from confide.service.work.faults import Changed, NotNow, Unknown
from service.parts import Clock, Parts, filled, sent


@pytest.fixture
def campaign(parts: Parts) -> int:
    return parts.open(kind("bits").template)


def stored(parts: Parts, campaign: int) -> dict[int, bytes]:
    with parts.store.database.reading() as connection:
        rows = connection.execute(select(s.report.c.slot, s.report.c.report).where(s.report.c.campaign_id == campaign))
        return {slot: bytes(report) for slot, report in rows}


def test_reports_of_many_are_all_stored(parts: Parts, campaign: int) -> None:
    with ThreadPoolExecutor(32) as pool:
        list(pool.map(lambda k: parts.intake.submit(campaign, k % 200, bytes([k % 2, k % 7, k // 200])), range(600)))
    found = stored(parts, campaign)
    assert set(found) == set(range(200))
    assert all(report[1] in {(slot + 200 * turn) % 7 for turn in range(3)} for slot, report in found.items())


def test_one_that_cannot_be_taken_hinders_no_other(parts: Parts, campaign: int) -> None:
    slots = parts.store.get(campaign).slots
    parts.store.withdraw(campaign, 5)

    def hand_in(slot: int) -> str:
        try:
            parts.intake.submit(campaign, slot, b"\1\0\0")
        except (InvalidInput, Refused) as error:
            return type(error).__name__
        return ""

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(hand_in, [*range(10), slots, -1]))
    assert found == ["", "", "", "", "", "Refused", "", "", "", "", "InvalidInput", "InvalidInput"]
    assert set(stored(parts, campaign)) == {*range(10)} - {5}


def test_a_draw_is_taken_once(parts: Parts, campaign: int) -> None:
    """Also where two come together: the first one stays, and the same one again does no harm."""
    handed = [(3, b"\1\0\0"), (3, b"\0\0\0"), (4, b"\1\0\0"), (3, b"\1\0\0")]
    for _ in range(2):
        problems = parts.store.submit_many(campaign, handed, once=True)
        assert [str(each) if each else "" for each in problems] == [
            "", "your device's report was handed in before (a second report would disclose more of your "
                "answer)", "", ""]
        assert stored(parts, campaign) == {3: b"\1\0\0", 4: b"\1\0\0"}

    def hand_in(drawn: int) -> int:
        try:
            parts.intake.submit(campaign, 7, bytes([drawn, 0, 0]), once=True)
        except Refused:
            return -1
        return drawn

    with ThreadPoolExecutor(16) as pool:
        (taken,) = {*pool.map(hand_in, range(16))} - {-1}
    assert stored(parts, campaign)[7] == bytes([taken, 0, 0])


def test_nothing_is_taken_once_it_is_closed(parts: Parts, campaign: int) -> None:
    intake = Intake(parts.store)
    intake.submit(campaign, 0, b"\1\0\0")
    intake.close()
    intake.close()
    with pytest.raises(NotNow, match="shutting down"):
        intake.submit(campaign, 1, b"\1\0\0")
    parts.store.close_collection(campaign)
    with pytest.raises(Refused, match="nothing is asked"):
        parts.intake.submit(campaign, 1, b"\1\0\0")
    assert set(stored(parts, campaign)) == {0}


def test_who_waits_in_vain_is_reported_to_try_again(
    parts: Parts, campaign: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Her report is stored once the store can, and the same one again does no harm."""
    monkeypatch.setattr(intake_module, "_PATIENCE", 0.05)
    with parts.store._locked(campaign), pytest.raises(StoreFailed, match=
                                                      "in time that the answer is stored; hand in the same"):
        parts.intake.submit(campaign, 0, b"\1\0\0", once=True)
    monkeypatch.setattr(intake_module, "_PATIENCE", 60.0)
    parts.intake.submit(campaign, 0, b"\1\0\0", once=True)
    assert stored(parts, campaign) == {0: b"\1\0\0"}


HANDING_IN = """
    import sys
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path
    from confide.campaign import Home, Store
    from confide.service.work import Intake

    folder, url, campaign = sys.argv[1:]
    with Store(url, home=Home(Path(folder))) as store:
        intake = Intake(store)

        def hand_in(slot):
            intake.submit(int(campaign), slot, bytes([1, 0, 0]))
            sys.stdout.write(f"{slot}\\n")
            sys.stdout.flush()

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(hand_in, range(1000)))
"""


def test_what_was_acknowledged_survives_a_kill(parts: Parts, campaign: int, tmp_path: Path) -> None:
    url = parts.store.database.engine.url.render_as_string(hide_password=False)
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(HANDING_IN), str(parts.store.home.folder), url,
                              str(campaign)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    reported = [int(child.stdout.readline()) for _ in range(50)]
    os.kill(child.pid, signal.SIGKILL)
    reported += [int(line) for line in child.stdout.read().splitlines() if line]
    child.wait()
    child.stdout.close()
    assert set(reported) <= set(stored(parts, campaign))
    assert len(reported) == len(set(reported)) < 1000


def test_a_job_is_one_workers(parts: Parts, campaign: int) -> None:
    clock = Clock()
    jobs = Jobs(parts.store, clock=clock)
    asked = jobs.ask(campaign, Task.AUDIT)
    assert jobs.ask(campaign, Task.AUDIT) == asked
    with ThreadPoolExecutor(8) as pool:
        found = [each for each in pool.map(lambda k: jobs.claim(f"worker {k}"), range(8)) if each is not None]
    (job,) = found
    assert (job.number, job.state, job.attempts) == (asked.number, "running", 1)
    clock.now += 31
    again = jobs.claim("another")
    assert again is not None
    assert (again.number, again.attempts) == (job.number, 2)
    assert not jobs.renew(job, "worker 0", 1, 2)  # its lease has run out, and another has it
    assert not jobs.finish(job, "worker 0", {})
    assert jobs.renew(again, "another", 1, 2)
    assert (jobs.get(job.number).done, jobs.get(job.number).steps) == (1, 2)
    assert jobs.finish(again, "another", {"passed": True})
    assert jobs.get(job.number).result == {"passed": True}
    assert (jobs.get(job.number).done, jobs.get(job.number).steps) == (2, 2)  # all of them
    assert jobs.claim("a third") is None
    short = jobs.ask(campaign, Task.SETTLE)
    assert jobs.claim("another") is not None
    assert jobs.finish(short, "another")  # it has never said how far it was
    assert (jobs.get(short.number).done, jobs.get(short.number).steps) == (1, 1)
    with pytest.raises(Unknown, match="no job 99"):
        jobs.get(99)


def test_a_job_at_which_workers_die_is_given_up(parts: Parts, campaign: int) -> None:
    clock = Clock()
    jobs = Jobs(parts.store, clock=clock)
    jobs.ask(campaign, Task.AUDIT)
    for _ in range(5):
        assert jobs.claim("mortal") is not None
        clock.now += 31
    assert jobs.claim("mortal") is None
    found = jobs.of(campaign, Task.AUDIT)
    assert found is not None
    assert (found.state, found.problem) == ("failed", "5 workers have died during this job")
    assert jobs.ask(campaign, Task.AUDIT).state == "queued"


def test_a_fault_is_reported_without_what_it_says(parts: Parts, campaign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("she answered yes")

    monkeypatch.setattr(type(parts.opened.get(campaign).campaign), "audit", broken)
    job = parts.do(campaign, Task.AUDIT)
    assert (job.state, job.problem) == ("failed", "an internal error (ValueError)")


SETTLING = """
    import os, signal, sys
    from pathlib import Path
    from confide.campaign import Home, Store
    from confide.service.work import Jobs, Opened, Worker

    folder, url = sys.argv[1:]
    store = Store(url, home=Home(Path(folder)))
    store.publish = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)  # after the run, before its publication
    Worker(store, Opened(store), Jobs(store), "mortal").once()
"""


@pytest.mark.slow
def test_a_killed_workers_settlement_is_resumed_under_the_same_debit(parts: Parts, campaign: int) -> None:
    people = parts.join(campaign, range(4))
    for who in people:
        parts.participation.submit(who, sent(parts.participation.device(who), filled(parts.participation.form(who))))
    clock = Clock()
    parts.jobs.ask(campaign, Task.SETTLE)
    url = parts.store.database.engine.url.render_as_string(hide_password=False)
    child = subprocess.run([sys.executable, "-c", textwrap.dedent(SETTLING), str(parts.store.home.folder), url],
                           check=False)
    assert child.returncode == -signal.SIGKILL
    assert parts.store.get(campaign).state is State.CHARGED
    clock.now += 10**9
    other = Worker(parts.store, parts.opened, Jobs(parts.store, clock=clock), "another")
    assert other.once()
    job = parts.jobs.of(campaign, Task.SETTLE)
    assert job is not None
    assert (job.state, job.attempts) == ("done", 2)
    assert parts.store.get(campaign).state is State.SETTLED
    with parts.store.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(s.debit)).scalar_one() == 1
    assert other.once() is False


def test_workers_stop_when_reported(parts: Parts, campaign: int) -> None:
    stop = Event()
    thread = Thread(target=parts.worker.run, args=(stop,))
    thread.start()
    parts.jobs.ask(campaign, Task.AUDIT)
    for _ in range(600):
        job = parts.jobs.of(campaign, Task.AUDIT)
        if job is not None and job.over:
            break
        stop.wait(0.05)
    stop.set()
    thread.join()
    assert job is not None
    assert job.result["passed"]


def test_drafts_are_written_by_one_at_a_time(parts: Parts) -> None:
    draft = parts.drafts.new("format = 1", parts.operator.number)
    assert (draft.name, draft.version) == ("campaign", 1)
    changed = parts.drafts.change(draft.number, kind("bits").template, 1)
    assert changed.version == 2
    with pytest.raises(Changed, match="changed meanwhile"):
        parts.drafts.change(draft.number, "format = 1", 1)
    number = parts.drafts.open(draft.number).number
    assert parts.drafts.open(draft.number).number == number
    for forbidden in (lambda: parts.drafts.change(draft.number, "", 2), lambda: parts.drafts.delete(draft.number)):
        with pytest.raises(Refused, match="has become a campaign"):
            forbidden()
    again = parts.drafts.new(kind("bits").template + "# the same campaign\n", parts.operator.number)
    with pytest.raises(Refused, match="same content"):
        parts.drafts.open(again.number)
    assert [each.number for each in parts.drafts.all()] == [again.number]
    parts.drafts.delete(again.number)
    assert parts.drafts.all() == ()
    for ask in (lambda: parts.drafts.get(again.number), lambda: parts.drafts.delete(99)):
        with pytest.raises(Unknown, match="no draft"):
            ask()


@pytest.mark.parametrize(("text", "name", "field"), [
    ("x" * (2**20 + 1), "", "text"), ("", "../x", "name"), ("", "X", "name"), ("", "x" * 51, "name")])
def test_what_is_no_draft(parts: Parts, text: str, name: str, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parts.drafts.new(text, parts.operator.number, name)
    assert caught.value.field == field


def test_campaigns_of_others_are_not_the_services(parts: Parts) -> None:
    with pytest.raises(Unknown, match="no campaign 7"):
        parts.opened.get(7)
    with pytest.raises(Unknown):
        parts.opened.stored(7)
    assert parts.opened.all() == ()
