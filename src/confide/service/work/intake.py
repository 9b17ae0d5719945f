"""The intake of reports. Reports that many people hand in at the same time are stored together, and each person gets an
answer when their report is on disk.

A commit waits for the disk and for other processes, and takes as long for one report as for hundreds. Each
participant's request therefore waits for a thread that collects the reports of a moment, and stores them in one
transaction. A report that cannot be accepted does not affect the other reports.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Lock, Thread

from confide.campaign.store import Store
from confide.contract.errors import StoreFailed
from confide.contract.worded import worded
from confide.service.work.faults import NotNow

__all__ = ["Intake"]

_MOMENT = 0.01  # seconds in which reports come together: a single report waits so long for nobody
_MOST = 256  # reports of one transaction
_PATIENCE = 60.0  # seconds that a caller waits for the commit


@dataclass(frozen=True, eq=False)
class _Handed:
    campaign: int
    slot: int
    report: bytes
    once: bool
    done: Future[None] = field(default_factory=Future)


class Intake:
    """The intake of reports for a store. Each process has one intake.

    Args:
        store: store in which the reports are kept.

    Example:
        >>> from inspect import signature
        >>> list(signature(Intake.submit).parameters)
        ['self', 'campaign', 'slot', 'report', 'once']
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: SimpleQueue[_Handed | None] = SimpleQueue()
        self._lock, self._closed = Lock(), False
        self._thread = Thread(target=self._run, name="intake", daemon=True)
        self._thread.start()

    def submit(self, campaign: int, slot: int, report: bytes, *, once: bool = False) -> None:
        """Hand in one report, and wait until it is stored durably. A later report of the same slot replaces the earlier
        one.

        Args:
            campaign: number of the campaign.
            slot: position of the participant in the public list of ids, from 0.
            report: report as bytes, as returned by `Kind.submission`.
            once: whether this report is final, so that no later report of the slot replaces it.

        Raises:
            Refused, InvalidInput: for the reasons that `Store.submit` states.
            NotNow: this process is shutting down.
            StoreFailed: the database cannot store the report; or it has not answered in time, and may still store it.
        """
        handed = _Handed(campaign, slot, report, once)
        with self._lock:
            if self._closed:
                raise NotNow(worded("the service is shutting down"), worded("hand in your answer again in a moment"))
            self._waiting.put(handed)
        try:
            handed.done.result(timeout=_PATIENCE)
        except TimeoutError:
            raise StoreFailed(self._store.name, "has not confirmed in time that the answer is stored",
                              "hand in the same answer again") from None

    def close(self) -> None:
        """Store all received reports, and accept no further reports."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_ = True
        while open_:
            batch = [self._waiting.get()]
            if batch[0] is not None:
                time.sleep(_MOMENT)
            while len(batch) < _MOST:
                try:
                    batch.append(self._waiting.get_nowait())
                except Empty:
                    break
            open_ = batch[-1] is not None
            handed = [each for each in batch if each is not None]
            for of in dict.fromkeys((each.campaign, each.once) for each in handed):
                self._store_all(*of, [each for each in handed if (each.campaign, each.once) == of])

    def _store_all(self, campaign: int, once: bool, handed: list[_Handed]) -> None:
        try:
            problems = self._store.submit_many(campaign, [(each.slot, each.report) for each in handed], once=once)
        except BaseException as error:  # noqa: BLE001 - the waiting callers receive it, whatever it is
            for each in handed:
                each.done.set_exception(error)
            return
        for each, problem in zip(handed, problems, strict=True):
            if problem is None:
                each.done.set_result(None)
            else:
                each.done.set_exception(problem)
