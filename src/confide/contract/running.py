"""One run of a mechanism, called in the same way wherever it is settled, studied, tried out or audited.

A run that takes `progress` is given something to call, always, and of the same type: a branch "where somebody listens"
that only settlement takes would be settled without having been audited.
"""

from __future__ import annotations

from inspect import signature
from operator import index
from typing import Any

from confide.contract.kinds import Progress
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import Outcome, SimulatedOutcome

__all__ = ["Told", "ran"]


class Told:
    """What a run calls as it goes on: `progress(done, total)`, of public units alone.

    Args:
        listener: who is told; nobody, if left out.

    Raises:
        TypeError: when called with something else than whole numbers, or None for an unknown total.

    Example:
        >>> heard = []
        >>> Told(lambda done, total: heard.append((done, total)))(1, 3)
        >>> heard
        [(1, 3)]
    """

    __slots__ = ("_listener",)

    def __init__(self, listener: Progress | None = None) -> None:
        self._listener = listener

    def __call__(self, done: int, total: int | None) -> None:
        it = index(done), None if total is None else index(total)
        if self._listener is not None:
            self._listener(*it)


def ran(mechanism: Mechanism, data: Any, noise: Any, progress: Progress | None = None) -> Outcome | SimulatedOutcome:
    """Run a mechanism, which tells how far it is where its `run` takes `progress`.

    Args:
        mechanism: to be run.
        data: as its `run` takes it.
        noise: likewise.
        progress: who is told; nobody, if left out.
    """
    run = mechanism.run
    if "progress" not in signature(run).parameters:
        return run(data, noise)
    more: dict[str, Any] = {"progress": Told(progress)}
    return run(data, noise, **more)
