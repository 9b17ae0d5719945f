"""Something happens at one durable step: every statement, commit, checkpoint and file that a process makes is counted.

A test says at which step, and what: an exception, or the death of the process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sqlalchemy import Engine, event
from sqlalchemy.engine.default import DefaultDialect

from campaign.store.counting import Counting, CountingCodec
from confide.campaign import Store, pack, settlement
from confide.campaign.store.database import Database

__all__ = ["Died", "Steps", "counted"]

_STAGES = ("open", "check_charge", "submit", "collect", "charge", "reports", "publish", "shares", "withdraw", "approve",
           "export", "confirm", "reopen")
"""Methods of the store that give the steps within them their name."""


class Died(Exception):
    """What a fault raises where no process is killed."""


class Steps:
    """The durable steps of a process, in order.

    Args:
        at: which one something happens at, from 1; None for none.
        act: what happens, told the step's name.
    """

    def __init__(self, at: int | None = None, act: Callable[[str], None] | None = None) -> None:
        self.names: list[str] = []
        self.stage = "connect"
        self._at = at
        self._act = _die if act is None else act

    def step(self, what: str) -> None:
        """One step is reached."""
        if self.next(what):
            self._act(self.names[-1])

    def next(self, what: str) -> bool:
        """Count a step; whether it is the one, so that the caller acts after half of its work."""
        self.names.append(f"{self.stage}: {what}")
        return len(self.names) == self._at

    def half(self, what: str, work: Callable[[], object]) -> None:
        """A step in the middle of something that is not done at once."""
        if self.next(what):
            work()
            self._act(self.names[-1])


def _die(name: str) -> None:
    raise Died(name)


@contextmanager
def counted(steps: Steps) -> Iterator[Steps]:
    """Count all steps that this process makes."""
    commit, forget = DefaultDialect.do_commit, Database.forget
    write, replace, link = Path.write_bytes, os.replace, os.link
    packed, run = CountingCodec.pack, Counting.run

    def statement(_c: Any, _u: Any, text: str, *_: Any) -> None:
        steps.step(" ".join(text.split()[:3]).removesuffix("("))

    def do_commit(self: Any, connection: Any) -> None:
        steps.step("before commit")
        commit(self, connection)
        steps.step("after commit")

    def checkpoint(self: Any, **options: Any) -> None:
        steps.step("before checkpoint")
        forget(self, **options)
        steps.step("after checkpoint")

    def write_bytes(self: Path, data: bytes) -> int:
        steps.step(f"before {self.name}")
        steps.half(f"half of {self.name}", lambda: write(self, data[: len(data) // 2]))
        return write(self, data)

    def moved(source: Any, target: Any) -> None:
        steps.step("before the folder is moved")
        replace(source, target)
        steps.step("after the folder is moved")

    def linked(source: Any, target: Any) -> None:
        steps.step(f"before {Path(target).name}")
        link(source, target)
        steps.step(f"after {Path(target).name}")

    def pack_batch(self: Any, batch: Any) -> Any:
        steps.step("a batch")
        return packed(self, batch)

    def ran(self: Any, data: Any, noise: Any) -> Any:
        steps.step("before the run")
        outcome = run(self, data, noise)
        steps.step("after the run")
        return outcome

    with ExitStack() as stack:
        for place, name, new in ((DefaultDialect, "do_commit", do_commit), (Database, "forget", checkpoint),
                                 (Path, "write_bytes", write_bytes), (os, "replace", moved), (os, "link", linked),
                                 (CountingCodec, "pack", pack_batch), (Counting, "run", ran)):
            stack.enter_context(patch.object(place, name, new))
        for name in _STAGES:
            stack.enter_context(patch.object(Store, name, _staged(steps, name, getattr(Store, name))))
        stack.enter_context(patch.object(settlement, "write_pack", _staged(steps, "pack", pack.write_pack)))
        event.listen(Engine, "before_cursor_execute", statement)
        try:
            yield steps
        finally:
            event.remove(Engine, "before_cursor_execute", statement)


def _staged(steps: Steps, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def staged(*args: Any, **options: Any) -> Any:
        steps.stage = name
        return function(*args, **options)

    return staged
