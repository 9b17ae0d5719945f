"""A process of its own: `NAME KIND SEED` runs one mechanism twice; prints the second run's CPU seconds, and memory."""

from __future__ import annotations

import json
import sys

from benchmarks.memory import peak_mb
from benchmarks.meter import SOURCES, runs, seconds


def once(name: str, kind: str, seed: int) -> dict[str, float]:
    """One run, after one that compiles."""
    job = runs(quick=False)[name]
    job(SOURCES[kind](0))
    return {"cpu": seconds(job, SOURCES[kind](seed)), "peak_mb": peak_mb()}


if __name__ == "__main__":
    json.dump(once(sys.argv[1], sys.argv[2], int(sys.argv[3])), sys.stdout)
