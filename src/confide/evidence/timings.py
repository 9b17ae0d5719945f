"""The processor times of full runs of all studies. These times are measured once, stored in `timings.toml`, and shown
to a user before a full run starts.
"""

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
    """Measured processor times of full runs. On an otherwise idle machine, a run takes at most this time.

    Args:
        machine: description of the machine on which the times were measured.
        day: date of the measurement.
        seconds: mapping from the name of a study to the processor time of a full run, in seconds. Studies that were not
            measured are missing.
    """

    machine: str
    day: datetime.date
    seconds: Mapping[str, float]


@cache
def full_times() -> FullTimes:
    """The processor times of full runs that are stored in `timings.toml`.

    Example:
        >>> full_times().seconds["regression-threshold"] < 60
        True
    """
    return FullTimes(**tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")))


def this_machine() -> str:
    """A description of the current machine: number of cores, operating system, processor type and Python version. The
    description contains no name of a host or a user.
    """
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def times_toml(times: FullTimes) -> str:
    """The text of a file `timings.toml` that stores the given times.

    Args:
        times: measured processor times, with the machine and the date.
    """
    return "\n".join((
        "# Seconds of processor time of full runs; `confide reproduce --all --no-cache --times FILE` measures.",
        f"machine = \"{times.machine}\"", f"day = {times.day.isoformat()}", "", "[seconds]",
        *(f"{name} = {seconds:.3g}" for name, seconds in times.seconds.items()))) + "\n"
