"""How long a job takes, and with which noise; for processes of their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from confide.privacy.noise import Noise


def clocked(job: Callable[..., Any]) -> tuple[Any, float]:
    """What a job gives, and its seconds."""
    start = time.perf_counter()
    return job(), time.perf_counter() - start


def least(job: Callable[..., Any], runs: int = 3) -> tuple[Any, float]:
    """What the last of some runs gives, and the seconds of the one that other guests disturbed least."""
    done = [clocked(job) for _ in range(runs)]
    return done[-1][0], min(seconds for _, seconds in done)


def noise_of(mode: str) -> Noise:
    """Secure noise, or simulated noise of a seed."""
    return Noise.secure() if mode == "secure" else Noise.simulated(int(mode))
