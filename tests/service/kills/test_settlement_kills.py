"""Workers are killed while they settle: another one goes on under the same debit, and one outcome is ever shown."""

from __future__ import annotations

import io
import os
import signal
import time
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from campaign.small import TEXT
from confide.campaign import Home, State, Store, verify
from confide.campaign.store import schema as s
from confide.campaign.store import service_schema as t
from confide.contract.outcome_folder import rebuild
from confide.service.access import Operators, Role, Sessions
from confide.service.work import Drafts, Jobs, Opened, Task
from service.kills.participants import text_of
from service.kills.stages import LEASE, STAGES, environment, program
from service.kills.tree import Tree, await_that
from service.kills.watching import Operator, Public
from service.parts import PASSWORD

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

DELAYS = (0.0, 0.01, 0.03, 0.06, 0.1, 0.15, 0.25, 0.4)
"""Seconds from when a settlement was begun to when its process is killed."""
PEOPLE = 12
EARLY = tuple(stage for stage in STAGES if stage != "in the debit")
"""Of a settlement whose opening was debited: nothing is debited with it."""
MONEY = ("in the debit", "after the debit", "after the run",
         "in the publication, before its payouts", "after the publication")
"""Stages at which another kind's settlement is killed, too."""


def prepared(store: Store, texts: Sequence[str]) -> tuple[list[int], str]:
    """Open campaigns, in each of which some have handed in; and the token of an operator."""
    ada = Operators(store).add("ada", PASSWORD, Role.ADMIN)
    drafts, opened, numbers = Drafts(store), Opened(store), []
    for text in texts:
        number = drafts.open(drafts.new(text, ada.number).number).number
        it = opened.get(number)
        file, plan = it.campaign.file, it.campaign.plan
        drawn = file.kind.name == "bits"  # of which most agree, so that they are paid
        store.submit_many(number, [
            file.kind.submission(file.config, plan, it.identities[slot], {"report": "no" if slot % 4 else "yes"}
                                 if drawn else {"age": str(20 + slot), "sex": "male", "pay": str(30 + slot)})
            for slot in range(store.get(number).slots if drawn else PEOPLE)])
        numbers.append(number)
    return numbers, Sessions(store).begin(ada)


def bits(name: str) -> str:
    return text_of("bits", title=f'"{name}"', data_set=f'"{name}"')


def record(store: Store, number: int) -> Mapping[str, Any]:
    """All that a settlement has left of itself."""
    with store.database.reading() as connection:
        def rows(table: Any) -> list[tuple[Any, ...]]:
            return [tuple(row) for row in connection.execute(select(table).where(table.c.campaign_id == number))]

        return {"debits": rows(s.debit), "payouts": sorted(rows(s.payout)), "pack": sorted(rows(s.billboard)),
                "shares": rows(s.share), "events": [each.event for each in store.events(number)]}


def settled_once(store: Store, public: Public, number: int) -> Mapping[str, Any]:
    """Hold a settled campaign: one debit, one outcome and no other one ever shown, everybody queued once."""
    it, found = Opened(store).get(number), record(store, number)
    pack = store.pack(number)
    assert store.get(number).state is State.SETTLED
    assert found["events"] == ["plan", "open", "close", "charge", "publish"]
    assert [len(found[each]) for each in ("debits", "shares")] == [1, 1]
    (standing,) = store.ledger(it.campaign.file.budget.data_set)
    assert [each.campaign for each in standing.debits] == [it.campaign.file.name]
    shares = rebuild(pack, store.shares(number))["shares"]
    terms, codec = it.campaign.file.kind.payouts(it.campaign.plan), it.campaign.file.kind.codec(it.campaign.plan)
    assert terms is not None
    assert codec is not None
    with store.reports(number, codec) as taken:
        due = dict(each for block in terms.amounts(shares, taken.deposited) for each in block)
    with store.database.reading() as connection:
        queue = connection.execute(select(s.payout.c.slot, s.payout.c.amount, s.payout.c.state, s.payout.c.batch)
                                   .where(s.payout.c.campaign_id == number)).all()
    assert due
    assert sorted(tuple(row) for row in queue) == sorted((slot, coins, "queued", None) for slot, coins in due.items())
    (shown,) = public.shown[f"/api/v1/campaigns/{number}/pack.zip"]
    with zipfile.ZipFile(io.BytesIO(shown)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == pack
    for path in (f"/api/v1/campaigns/{number}/result", f"/campaigns/{number}"):
        assert len(public.shown[path]) == 1
    assert {path.relative_to(it.pack).as_posix(): path.read_bytes()
            for path in it.pack.rglob("*") if path.is_file()} == pack
    assert sorted(path.name for path in it.folder.iterdir()) == ["pack"]  # no draft of who was killed
    assert verify(it.pack, key=store.home.fingerprint).passed
    return found


def nothing_more(store: Store, operator: Operator, public: Public, number: int) -> None:
    """Asked again, a settlement changes nothing."""
    before = settled_once(store, public, number)
    for _ in range(2):
        assert operator("POST", f"/campaigns/{number}/settle", {"confirm": True}, status=202)["state"] == "done"
    time.sleep(2.0)  # somebody looks for work twice a second
    assert settled_once(store, public, number) == before


def test_killed_at_every_stage(tmp_path: Path, database_url: str) -> None:
    """One after the other, of two kinds; where five have died, the operator has to ask again."""
    home, marks = tmp_path / "home", tmp_path / "marks"
    marks.mkdir()
    begun = time.monotonic()
    with Store(database_url, home=Home(home)) as store:
        numbers, token = prepared(store, [bits("killed"), TEXT])
        stages = dict(zip(numbers, (EARLY, MONEY), strict=True))
        env = environment(marks, stages)
        with Tree(home, database_url, program=program(), env=env) as tree, Public(tree.port, numbers) as public:
            operator, asked = Operator(tree.port, token), 0
            for number in numbers:
                operator("POST", f"/campaigns/{number}/settle", {"confirm": True}, status=202)
            left = set(numbers)
            last = time.monotonic() + 600
            while left:
                assert time.monotonic() < last, sorted(path.name for path in marks.iterdir())
                time.sleep(LEASE / 3)
                for number in sorted(left):
                    job = operator("GET", f"/campaigns/{number}/jobs/settle")
                    if job["state"] == "failed":
                        assert job["problem"] == "5 workers have died during this job"
                        operator("POST", f"/campaigns/{number}/settle", {"confirm": True}, status=202)
                        asked += 1
                    elif job["state"] == "done":
                        left.remove(number)
            tree.await_ready()
            kills = sorted(path.name for path in marks.iterdir())
            assert kills == sorted(f"{number} {STAGES.index(each):02}" for number, of in stages.items() for each in of)
            time.sleep(1.0)  # the public looks once more
            for number in numbers:
                nothing_more(store, operator, public, number)
            assert tree.end() == 0
    assert set(public.statuses) == {200, 409}
    assert public.taken_back == 0
    print(f"{store.name}: {len(kills)} kills at {len(STAGES)} stages of {len(numbers)} settlements, asked for again "
          f"{asked} times; the public was answered {public.statuses[200]} times with a result, {public.statuses[409]} "
          f"times without, {public.unanswered} times not; {time.monotonic() - begun:.0f} s")


def test_killed_at_any_time(tmp_path: Path, database_url: str) -> None:
    """`confide serve` as it is: whoever settles is killed some time after it has begun; another one goes on later."""
    home = tmp_path / "home"
    begun = time.monotonic()
    with Store(database_url, home=Home(home)) as store:
        numbers, token = prepared(store, [bits(f"number {place}") for place in range(len(DELAYS))])
        jobs = Jobs(store)
        with Tree(home, database_url) as tree, Public(tree.port, numbers) as public:
            operator, met = Operator(tree.port, token), 0
            for number, delay in zip(numbers, DELAYS, strict=True):
                tree.await_ready()
                operator("POST", f"/campaigns/{number}/settle", {"confirm": True}, status=202)
                worker = taken_by(store, number)
                time.sleep(delay)
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
                job = jobs.of(number, Task.SETTLE)
                met += job is not None and not job.over
            for number in numbers:
                await_that(lambda number=number: jobs.get(number).over, "it is settled")  # type: ignore[misc]
            tree.await_ready()
            time.sleep(2.0)
            attempts = [jobs.get(number).attempts for number in numbers]
            assert all(jobs.get(number).state == "done" for number in numbers)
            assert max(attempts) == 2
            for number in numbers:
                settled_once(store, public, number)
            nothing_more(store, operator, public, numbers[0])
            assert tree.end() == 0
    assert set(public.statuses) == {200, 409}
    assert public.taken_back == 0
    assert met
    print(f"{store.name}: {len(DELAYS)} processes killed, {met} while they settled; {time.monotonic() - begun:.0f} s")


def taken_by(store: Store, number: int) -> int:
    """The process that settles, as soon as there is one."""
    found: list[str] = []

    def taken() -> bool:
        with store.database.reading() as connection:
            found[:] = connection.execute(select(t.job.c.worker).where(
                t.job.c.campaign_id == number, t.job.c.worker != "")).scalars()
        return bool(found)

    await_that(taken, "a worker has taken the job")
    return int(found[0].rsplit("-", 3)[1])  # host-process-CODE-CODE
