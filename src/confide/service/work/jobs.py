"""Jobs: requested settlements and audits. Any worker may do a job, and another worker may take over the job.

A worker has a job for the time of a lease, and renews the lease while it works. A worker that dies loses the job, and
another worker begins the job again. A settlement is then resumed under the same charge to the ledger, and an audit is
computed again.
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
    """The kind of a job: a settlement or an audit of a campaign."""

    SETTLE = "settle"
    AUDIT = "audit"


@dataclass(frozen=True, kw_only=True)
class Job:
    """A requested settlement or audit of one campaign.

    Args:
        number: number of the job in the store.
        campaign: number of the campaign.
        task: kind of the job: a settlement or an audit.
        accept_unusable: whether a settlement continues even if too many rows of the operator's file cannot be used.
        state: state of the job: "queued", "running", "done" or "failed".
        attempts: number of times that a worker has begun the job.
        done: number of steps that the present attempt has done.
        steps: total number of steps; None if the number is unknown.
        problem: reason why the job has failed, for the operator alone; empty otherwise.
        result: report of an audit, as JSON values; None for a settlement.
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
        """Whether the job is done or has failed."""
        return self.state in ("done", "failed")


class Jobs:
    """The jobs of the service, which are kept in a store.

    Args:
        store: store in which the jobs are kept.
        clock: clock that gives seconds since 1970.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = store.database, clock

    def ask(self, campaign: int, task: Task, *, accept_unusable: bool = False) -> Job:
        """Request a settlement or an audit of a campaign, and return the job. If the same work was requested before,
        the result is the earlier job. A failed job is queued again.
        """
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
        """The job of this kind for a campaign; None if nobody has requested it."""
        with self._database.reading() as connection:
            row = connection.execute(select(t.job).where(
                t.job.c.campaign_id == campaign, t.job.c.task == task.value)).first()
        return None if row is None else _job(row)

    def get(self, number: int) -> Job:
        """The job with this number in the store.

        Raises:
            Unknown: there is no job with this number.
        """
        with self._database.reading() as connection:
            row = connection.execute(select(t.job).where(t.job.c.id == number)).first()
        if row is None:
            raise Unknown("job", number)
        return _job(row)

    def claim(self, worker: str) -> Job | None:
        """Give the worker of this name a job that no worker does, or whose worker has died. The result is None if there
        is no such job. A job is marked as failed, and is not given, if too many workers have died while doing it.
        """
        now = int(self._clock())
        free = or_(t.job.c.state == "queued", and_(t.job.c.state == "running", t.job.c.lease < now))
        with self._database.writing() as connection:
            query = select(t.job).where(free).order_by(t.job.c.id).limit(1)
            row = connection.execute(query.with_for_update(skip_locked=True)).first()
            if row is None:
                return None
            if row.attempts >= _ATTEMPTS:
                connection.execute(update(t.job).where(t.job.c.id == row.id).values(
                    state="failed", problem=f"{_ATTEMPTS} workers have died during this job"))
                return None
            connection.execute(update(t.job).where(t.job.c.id == row.id).values(
                state="running", worker=worker, lease=now + _LEASE, attempts=row.attempts + 1, done=0, steps=None,
                problem=""))
            return _job(connection.execute(select(t.job).where(t.job.c.id == row.id)).one())

    def renew(self, job: Job, worker: str, done: int = 0, steps: int | None = None) -> bool:
        """Renew a worker's lease on a job, and record that `done` of `steps` steps of the job are done. The result is
        False if another worker has the job now, or the job is over.
        """
        return self._own(job, worker, lease=int(self._clock()) + _LEASE, done=done, steps=steps)

    def finish(self, job: Job, worker: str, result: Any = None) -> bool:
        """Mark a job as done, with all of its steps. The result is False if this worker did not have the job any
        more.
        """
        steps = func.coalesce(t.job.c.steps, 1)
        return self._own(job, worker, state="done", lease=0, done=steps, steps=steps,
                         result=None if result is None else json.dumps(result, allow_nan=False))

    def fail(self, job: Job, worker: str, problem: str) -> bool:
        """Mark a job as failed for a permanent reason. The result is False if this worker did not have the job any
        more.

        Args:
            job: job that has failed.
            worker: name of the worker that has the job.
            problem: reason of the failure, for the operator alone, because the reason may follow from records.
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
