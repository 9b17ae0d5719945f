"""What a run tells of its progress, which a terminal and the service show: it must be the same of two neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from confide.contract.mechanism import Mechanism
from confide.contract.running import ran

__all__ = ["telling", "told_run"]

_Steps = list[tuple[int, int | None]]
_HEARD: ContextVar[_Steps | None] = ContextVar("told", default=None)


def told_run(mechanism: Mechanism, data: Any, noise: Any) -> Any:
    """The run of a mechanism as settlement makes it; what it tells meanwhile is heard by the audit that runs it.

    Args:
        mechanism: to be run.
        data: as its `run` takes it.
        noise: likewise.
    """
    heard = _HEARD.get()
    return ran(mechanism, data, noise, None if heard is None else lambda *step: heard.append(step))


@contextmanager
def telling() -> Iterator[_Steps]:
    """Around a run: what `told_run` hears in it, one after the other.

    Example:
        >>> with telling() as steps:
        ...     pass
        >>> steps
        []
    """
    heard = _Steps()
    before = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(before)
