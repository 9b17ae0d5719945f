"""The worker, which does one job after another: it settles or audits a campaign, and reports its progress.

An error in a job ends that job, but never the worker. A worker that has lost its lease, for example because it was
suspended for a while, stops at its next progress report, because the job belongs to another worker.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Event, Lock, Thread
from typing import Any

from confide.campaign.store import Store
from confide.campaign.store.states import State
from confide.contract.errors import ConfideError, StoreFailed
from confide.service.work.jobs import Job, Jobs, Task
from confide.service.work.opened import Opened, OpenedCampaign
from confide.service.work.rounds import CampaignRounds

__all__ = ["Worker"]

_log = logging.getLogger("confide.service")
_PAUSE = 0.5  # seconds between two looks for work
_RENEWAL = 5.0  # seconds between two renewals of a lease


_FOLDERS = re.compile(r"(?<![\w/.])/(?:[^\s/,;:'\"()]+/)+")


class _LeaseLost(Exception):
    """Error: the job belongs to another worker now."""


class Worker:
    """A worker that does the jobs of a store.

    Args:
        store: store in which the campaigns are kept.
        opened: opened campaigns of the store.
        jobs: requested jobs of the store.
        name: name that no other worker has.
    """

    def __init__(self, store: Store, opened: Opened, jobs: Jobs, name: str) -> None:
        self._store, self._opened, self._jobs, self.name = store, opened, jobs, name

    def run(self, stop: Event) -> None:
        """Do jobs until the given event is set. A job that was begun either ends, or is left to another worker."""
        while not stop.is_set():
            try:
                found = self.once()
            except StoreFailed:
                _log.warning("a worker cannot reach the store")
                found = False
            except BaseException as error:  # noqa: BLE001 - a fault of ours: the next job may well be done
                _log.error("a worker has failed: %s", type(error).__name__)
                found = False
            if not found:
                stop.wait(_PAUSE)

    def once(self) -> bool:
        """Do one job. The result is False if there was no job."""
        job = self._jobs.claim(self.name)
        if job is None:
            return False
        try:
            with self._kept(job) as reported:
                result = self._do(job, reported)
            self._jobs.finish(job, self.name, result)
        except StoreFailed:
            raise  # another attempt follows, here or elsewhere
        except _LeaseLost:
            _log.warning("another worker has taken over the job of a worker", extra={"task": str(job.task)})
        except ConfideError as error:
            self._fail(job, _without_folders(str(error), self._store))
        except BaseException as error:  # noqa: BLE001 - a fault of ours: its text may hold private values
            _log.error("a job has failed: %s", type(error).__name__, extra={"task": str(job.task)})
            self._fail(job, f"an internal error ({type(error).__name__})")
        return True

    def _fail(self, job: Job, problem: str) -> None:
        """Mark a job as failed, unless another worker has settled the campaign at the same time."""
        if job.task is Task.SETTLE and self._store.get(job.campaign).state is State.SETTLED:
            self._jobs.finish(job, self.name)
        else:
            self._jobs.fail(job, self.name, problem)

    def _do(self, job: Job, reported: Any) -> Any:
        opened = self._opened.get(job.campaign)
        if job.task is Task.AUDIT:
            return opened.campaign.audit(progress=reported).to_dict()
        return self._settled(opened, reported, job.accept_unusable)

    def _settled(self, opened: OpenedCampaign, reported: Any, accept_unusable: bool) -> None:
        """Close the collection and settle. A settlement that was begun before continues from its last step."""
        known, rounds = self._store.get(opened.number), CampaignRounds(self._store)
        if known.state is not State.SETTLED:
            self._store.check_original(known)  # before anything is closed
        asked_twice = opened.contracts is not None
        if not asked_twice and not opened.campaign.held and known.state is State.OPEN:
            self._store.close_collection(opened.number)
        with rounds.records(opened) if asked_twice else nullcontext(opened.campaign) as campaign:
            campaign.settle(opened.pack, store=self._store, progress=reported, accept_unusable=accept_unusable)
        rounds.tidy(opened)
        if not opened.campaign.held:
            self._store.erase_files(opened.number)  # where nothing is due

    @contextmanager
    def _kept(self, job: Job) -> Iterator[Any]:
        """Context that renews the lease while the work runs, and reports the progress with each renewal."""
        over, lost, lock, reported = Event(), Event(), Lock(), [0, None]

        def report(done: int, steps: int | None) -> None:
            if lost.is_set():
                raise _LeaseLost
            with lock:
                reported[:] = [done, steps]

        def renew() -> None:
            while not over.wait(_RENEWAL):
                with lock:
                    done, steps = reported
                try:
                    if not self._jobs.renew(job, self.name, done or 0, steps):
                        lost.set()
                        return
                except StoreFailed:  # it may come back before the lease ends
                    _log.warning("a lease could not be renewed")

        thread = Thread(target=renew, name="lease", daemon=True)
        thread.start()
        try:
            yield report
        finally:
            over.set()
            thread.join()


def _without_folders(problem: str, store: Store) -> str:
    """Text of a problem for operators. Paths on this machine are removed from the text, and file names stay."""
    return _FOLDERS.sub("", problem.replace(f"{store.home.folder}/", ""))
