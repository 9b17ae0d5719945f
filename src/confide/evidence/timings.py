"""The duration of full runs: measured once, kept in `timings.toml`, and shown before anybody waits for one."""

from __future__ import annotations

import datetime
import os
import platform
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["FullTimes", "full_times", "this_machine", "times_toml"]


@dataclass(frozen=True, kw_only=True)
class FullTimes:
    """Seconds of processor time of full runs: what they take where nothing else runs, at most.

    Args:
        machine: where they were measured, in words.
        day: when.
        seconds: name of a study -> seconds. A study that is not there was not measured.
    """

    machine: str
    day: datetime.date
    seconds: Mapping[str, float]


@cache
def full_times() -> FullTimes:
    """The stored figures.

    Example:
        >>> full_times().seconds["regression-threshold"] < 60
        True
    """
    return FullTimes(**tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")))


def this_machine() -> str:
    """The machine of a run, as text that names nobody."""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def times_toml(times: FullTimes) -> str:
    """The text of the file that holds these times.

    Args:
        times: measured times.
    """
    return "\n".join((
        "# Seconds of processor time of full runs; `confide reproduce --all --no-cache --times FILE` measures.",
        f"machine = \"{times.machine}\"", f"day = {times.day.isoformat()}", "", "[seconds]",
        *(f"{name} = {seconds:.3g}" for name, seconds in times.seconds.items()))) + "\n"
