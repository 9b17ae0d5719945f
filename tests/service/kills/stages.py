"""`confide serve` whose processes kill themselves when a settlement has come to a stage; a program, and its stages.

Workers are spawned, so that each of them runs this module again. What is to be killed is in the environment.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import getattr_static
from pathlib import Path
from threading import local
from typing import Any

from confide.campaign import pack, settlement
from confide.campaign.store import Store
from confide.campaign.store import store as store_module
from confide.campaign.store.home import Home
from confide.service.work import jobs, worker

__all__ = ["LEASE", "STAGES", "environment", "program"]

STAGES = (
    "the job is taken", "before the collection is closed", "while it is closed", "after it was closed",
    "before the debit", "in the debit", "after the debit", "before the run", "after the run", "before the publication",
    "in the publication, before its payouts", "in the publication, before it is kept", "after the publication",
    "before the release is noted", "after the release was noted", "before the pack is written", "while it is written",
    "after the pack was written", "before the job is done", "after the job was done",
)
"""Of a settlement, in order."""
LEASE = 3
"""Seconds, instead of half a minute."""
_VARIABLE = "KILLED_AT_STAGES"
_now = local()


def program() -> list[str]:
    """What is run; options of `confide serve` follow."""
    return [sys.executable, __file__, "serve"]


def environment(marks: Path, stages: Mapping[int, Sequence[str]]) -> dict[str, str]:
    """What says when processes die.

    Args:
        marks: a folder, in which each kill is noted before it happens, so that it happens once.
        stages: campaign -> the stages of its settlement.
    """
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return {_VARIABLE: json.dumps({"marks": str(marks), "stages": {str(key): list(of) for key, of in stages.items()}}),
            "PYTHONPATH": os.pathsep.join(each for each in paths if each)}


def _reached(stage: str, planned: Mapping[str, Any]) -> None:
    """Die, if this process's own settlement is to be killed here, and was not before."""
    campaign = getattr(_now, "campaign", None)  # of this thread: those who answer do not die
    if campaign is None or stage not in planned["stages"].get(str(campaign), ()):
        return
    try:
        os.close(os.open(Path(planned["marks"]) / f"{campaign} {STAGES.index(stage):02}",
                         os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def _arm(planned: Mapping[str, Any]) -> None:
    def around(owner: Any, name: str, before: str = "", after: str = "", *, when: Callable[..., bool] | None = None
               ) -> None:
        real = getattr(owner, name)

        @wraps(real)
        def wrapped(*args: Any, **named: Any) -> Any:
            meant = when is None or when(*args, **named)
            if before and meant:
                _reached(before, planned)
            out = real(*args, **named)
            if after and meant:
                _reached(after, planned)
            return out

        static = isinstance(getattr_static(owner, name), staticmethod)
        setattr(owner, name, staticmethod(wrapped) if static else wrapped)

    do = worker.Worker._do

    def done(self: Any, job: Any, reported: Any) -> Any:
        _now.campaign = job.campaign
        _reached("the job is taken", planned)
        return do(self, job, reported)

    worker.Worker._do = done  # type: ignore[method-assign]
    jobs._LEASE, worker._RENEWAL = LEASE, LEASE / 6
    around(Store, "close_collection", "before the collection is closed", "after it was closed")
    around(Store, "_move", after="while it is closed", when=lambda *args, **_: args[2] == "close")
    around(Store, "charge", "before the debit", "after the debit")
    around(store_module, "debit", after="in the debit")
    around(settlement, "ran", "before the run", "after the run")
    around(Store, "publish", "before the publication", "after the publication")
    around(store_module, "insert_many", "in the publication, before its payouts",
           when=lambda *args, **_: args[1].name == "payout")
    around(store_module, "erase_paid", "in the publication, before it is kept")
    around(Home, "release", "before the release is noted", "after the release was noted")
    around(settlement, "write_pack", "before the pack is written", "after the pack was written")
    around(pack, "sync", "while it is written")
    around(jobs.Jobs, "finish", "before the job is done", "after the job was done")


if _VARIABLE in os.environ and __name__ in ("__main__", "__mp_main__"):
    _arm(json.loads(os.environ[_VARIABLE]))

if __name__ == "__main__":
    from confide.cli import main

    main()
