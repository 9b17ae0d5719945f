"""Wall-clock times: several runs, the median reported, the least beside it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Timed:
    """Seconds of each run."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def least(self) -> float:
        return min(self.seconds)


def timed(job: Callable[[], Any], repeats: int) -> Timed:
    """Run a job once to warm up, then `repeats` times."""
    job()
    return Timed(tuple(_seconds(job) for _ in range(repeats)))


def timed_command(command: Sequence[str], repeats: int) -> Timed:
    """A whole process, from its start to its end; once to warm up, then `repeats` times."""
    return timed(lambda: subprocess.run(command, check=True, capture_output=True), repeats)


def _seconds(job: Callable[[], Any]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start
