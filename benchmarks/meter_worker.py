"""A process of its own that runs one mechanism, `NAME KIND`, once for each seed that it reads, a line each.

It answers each with a line of JSON: the run's CPU seconds, and the most memory that the process has held.
"""

from __future__ import annotations

import json
import sys

from benchmarks.memory import peak_mb
from benchmarks.meter import SOURCES, runs, seconds


def main(name: str, kind: str) -> None:
    """Answer until there are no more seeds; a run before the first one compiles."""
    job = runs(quick=False)[name]
    job(SOURCES[kind](0))
    for seed in sys.stdin:
        print(json.dumps([seconds(job, SOURCES[kind](int(seed))), peak_mb()]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
