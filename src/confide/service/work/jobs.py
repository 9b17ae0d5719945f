"""Jobs: settlements and audits that were asked for, which any worker does, and another one goes on with.

A job is a worker's for as long as its lease runs, which it renews. Whoever dies loses it, and the next worker begins
again: a settlement is resumed under the same debit, an audit is computed anew.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import and_, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from confide.campaign.store import Store
from confide.campaign.store import service_schema as t
from confide.contract.errors import StoreFailed
from confide.service.work.faults import Unknown

__all__ = ["Job", "Jobs", "Task"]

_LEASE = 30  # seconds
_ATTEMPTS = 5  # of a job whose workers die


class Task(StrEnum):
    """A kind of work on a campaign."""

    SETTLE = "settle"
    AUDIT = "audit"


@dataclass(frozen=True, kw_only=True)
class Job:
    """Work on one campaign.

    Args:
        number: number in the store.
        campaign: number of the campaign.
        task: kind of work.
        accept_unusable: whether a settlement goes on where too many rows of the operator's file cannot be used.
        state: "queued", "running", "done" or "failed".
        attempts: number of times it was begun.
        done: steps done.
        steps: steps in all; None where that is not known.
        problem: reason of a failure, for the operator.
        result: result, JSON-ready.
    """

    number: int
    campaign: int
    task: Task
    state: str
    accept_unusable: bool = False
    attempts: int = 0
    done: int = 0
    steps: int | None = None
    problem: str = ""
    result: Any = None

    @property
    def over(self) -> bool:
        """Whether nothing is left to do."""
        return self.state in ("done", "failed")


class Jobs:
    """The jobs of a store.

    Args:
        store: where they are kept.
        clock: seconds since 1970.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = store.database, clock

    def ask(self, campaign: int, task: Task, *, accept_unusable: bool = False) -> Job:
        """Ask for work on a campaign; where it was asked for before, that one, queued again if it had failed."""
        known = self.of(campaign, task)
        if known is None:
            try:
                with self._database.writing() as connection:
                    connection.execute(insert(t.job).values(
                        campaign_id=campaign, task=task.value, accept_unusable=int(accept_unusable), state="queued",
                        worker="", lease=0, attempts=0, done=0, problem=""))
            except (IntegrityError, StoreFailed):  # somebody has asked at the same time
                if self.of(campaign, task) is None:
                    raise
        elif known.state == "failed":
            with self._database.writing() as connection:
                connection.execute(update(t.job).where(t.job.c.id == known.number, t.job.c.state == "failed").values(
                    state="queued", accept_unusable=int(accept_unusable), attempts=0, done=0, steps=None, problem=""))
        found = self.of(campaign, task)
        if found is None:
            raise Unknown("job of campaign", campaign)
        return found

    def of(self, campaign: int, task: Task) -> Job | None:
        """The job that was asked for; None where there is none."""
        with self._database.reading() as connection:
            row = connection.execute(select(t.job).where(
                t.job.c.campaign_id == campaign, t.job.c.task == task.value)).first()
        return None if row is None else _job(row)

    def get(self, number: int) -> Job:
        """A job by its number.

        Raises:
            Unknown: there is none.
        """
        with self._database.reading() as connection:
            row = connection.execute(select(t.job).where(t.job.c.id == number)).first()
        if row is None:
            raise Unknown("job", number)
        return _job(row)

    def claim(self, worker: str) -> Job | None:
        """Take a job that nobody does, or whose worker has died; None where there is none."""
        now = int(self._clock())
        free = or_(t.job.c.state == "queued", and_(t.job.c.state == "running", t.job.c.lease < now))
        with self._database.writing() as connection:
            query = select(t.job).where(free).order_by(t.job.c.id).limit(1)
            row = connection.execute(query.with_for_update(skip_locked=True)).first()
            if row is None:
                return None
            if row.attempts >= _ATTEMPTS:
                connection.execute(update(t.job).where(t.job.c.id == row.id).values(
                    state="failed", problem=f"{_ATTEMPTS} workers have died at it"))
                return None
            connection.execute(update(t.job).where(t.job.c.id == row.id).values(
                state="running", worker=worker, lease=now + _LEASE, attempts=row.attempts + 1, done=0, steps=None,
                problem=""))
            return _job(connection.execute(select(t.job).where(t.job.c.id == row.id)).one())

    def renew(self, job: Job, worker: str, done: int = 0, steps: int | None = None) -> bool:
        """Keep a job, and say how far it is; whether it is still this worker's."""
        return self._own(job, worker, lease=int(self._clock()) + _LEASE, done=done, steps=steps)

    def finish(self, job: Job, worker: str, result: Any = None) -> bool:
        """Mark a job as done, with all of its steps; true where it still belonged to this worker."""
        steps = func.coalesce(t.job.c.steps, 1)
        return self._own(job, worker, state="done", lease=0, done=steps, steps=steps,
                         result=None if result is None else json.dumps(result, allow_nan=False))

    def fail(self, job: Job, worker: str, problem: str) -> bool:
        """Mark a job as failed, for a reason that does not pass; true where it still belonged to this worker.

        Args:
            job: the job.
            worker: name of the worker.
            problem: reason, for the operator; it may follow from records.
        """
        return self._own(job, worker, state="failed", lease=0, problem=problem[:2000])

    def _own(self, job: Job, worker: str, **values: Any) -> bool:
        with self._database.writing() as connection:
            return connection.execute(update(t.job).where(
                t.job.c.id == job.number, t.job.c.worker == worker, t.job.c.state == "running")
                .values(**values)).rowcount > 0


def _job(row: Any) -> Job:
    return Job(number=row.id, campaign=row.campaign_id, task=Task(row.task), state=row.state,
               accept_unusable=bool(row.accept_unusable), attempts=row.attempts, done=row.done, steps=row.steps,
               problem=row.problem, result=None if row.result is None else json.loads(row.result))
