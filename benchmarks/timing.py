"""Wall-clock times: several runs, the median reported, the least beside it.

A run waits a little for the machine to be quiet, and is done again, a few times at most, when other processes took more
than a fifth of one core meanwhile: the figures are about confide, not about the machine's other guests.
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")
"""Of a job, which is called with nothing. To mypy a lambda that binds values by defaults is `Callable[..., Result]`."""

DISTURBED = 0.2
ATTEMPTS = 3
"""Per run that is asked for."""
PATIENCE = 15.0
"""Seconds to wait for quiet before a run."""


@dataclass(frozen=True)
class Timed(Generic[Result]):
    """Several runs.

    Args:
        seconds: of each.
        results: what each returned.
        disturbed: how many of them other processes disturbed all the same.
    """

    seconds: tuple[float, ...]
    results: tuple[Result, ...]
    disturbed: int

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def least(self) -> float:
        return min(self.seconds)


def timed(job: Callable[..., Result], repeats: int, *, warm: bool = True) -> Timed[Result]:
    """Run a job, which needs nothing, once to warm up, then `repeats` times."""
    if warm:
        job()
    runs = [_run(job) for _ in range(repeats)]
    again = (ATTEMPTS - 1) * repeats
    while again and any(others > DISTURBED for _, _, others in runs):
        worst = max(range(repeats), key=lambda k: runs[k][2])
        runs[worst] = min(runs[worst], _run(job), key=lambda run: run[2])
        again -= 1
    return Timed(tuple(run[0] for run in runs), tuple(run[1] for run in runs),
                 sum(others > DISTURBED for _, _, others in runs))


def timed_command(command: Sequence[str], repeats: int) -> Timed[Any]:
    """A whole process, from its start to its end; once to warm up, then `repeats` times."""
    return timed(lambda: subprocess.run(command, check=True, capture_output=True), repeats)


def _run(job: Callable[..., Result]) -> tuple[float, Result, float]:
    """Seconds, result, and the cores that other processes used meanwhile."""
    _wait_for_quiet()
    busy, own, start = _busy_seconds(), _own_seconds(), time.perf_counter()
    result = job()
    seconds = time.perf_counter() - start
    others = (_busy_seconds() - busy) - (_own_seconds() - own)
    # The kernel counts in hundredths of a second: nothing can be said about a short run.
    return seconds, result, others / seconds if seconds > 0.2 else 0.0


def _wait_for_quiet() -> None:
    for _ in range(int(PATIENCE / 0.25)):
        busy = _busy_seconds()
        time.sleep(0.25)
        if (_busy_seconds() - busy) / 0.25 <= DISTURBED:
            return


def _busy_seconds() -> float:
    """Seconds that all cores together were busy or stolen; 0 where the kernel does not tell."""
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    except OSError:
        return 0.0
    user, nice, system, _idle, _wait, interrupts, soft, stolen = map(float, fields[:8])
    return (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    parts = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in parts)

def seconds(job: Callable[..., object], *, runs: int = 5) -> float:
    """The least of some runs after two, which other guests of the machine disturbed least; short jobs many together.

    For workers, whose process has one job: the first run compiles and warms up, the second tells how long it is.
    """
    job()
    start = time.perf_counter()
    job()
    count = max(1, math.ceil(0.01 / (time.perf_counter() - start)))
    spent = []
    for _ in range(runs):
        start = time.perf_counter()
        for _ in range(count):
            job()
        spent.append((time.perf_counter() - start) / count)
    return min(spent)
