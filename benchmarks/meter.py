"""What the meter of a run costs: the same runs with it and without, in turn, in one process.

`python -m benchmarks.meter PYTHON [NAME ...]` measures the same runs, or those whose names begin so, beside another
build of confide: the one that this interpreter has installed.
"""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

from benchmarks.processes import ROOT
from benchmarks.report import Report, Table, Target
from confide.allocation import PMatch, instance_a
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import PrivDude, RoundDude, UnitDemand
from confide.programs.instances import popular
from confide.release import MWEM, Codes, DualQuery, MarginalFit, Schema, Workload

TITLE = "The meter"

Run = Callable[[Noise], Any]

SOURCES: dict[str, Callable[[int], Noise]] = {"simulated": Noise.simulated, "secure": lambda _: Noise.secure()}


@contextmanager
def unmetered() -> Iterator[None]:
    """Runs without a meter, as the primitives draw where nobody charges."""
    sound = Noise._open_meter
    Noise._open_meter = lambda self, mechanism, **more: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        Noise._open_meter = sound  # type: ignore[method-assign]


def runs(*, quick: bool) -> dict[str, Run]:
    """Runs of a second or more each (with `quick`, much less) that pay by every form of line."""
    size = 10 if quick else 1
    bits = study_generator(1, "bits").random((50_000 // size, 20)) < 0.3
    few = bits[:, :12]
    schema = Schema.bits(10)
    mechanisms: dict[str, tuple[Any, Any]] = {
        "PMatch, a session": (PMatch.for_budget(people=450_000 // size, goods=20, supply=18_000 // size, epsilon=4.0),
                              instance_a(450_000 // size, 20, seed=1)),
        "PrivDude, 1,600 draws on an allowance": (
            PrivDude(UnitDemand(40_000 // size, 4_000 // size, goods=10), 2.0, 1e-6, rounds=1500, burn_in=100),
            popular(40_000 // size, 10, seed=1)),
        "RoundDude, an allowance and flags": (
            RoundDude(UnitDemand(600_000 // size, 60_000 // size, goods=10), 8.0, 1e-6, rounds=300, burn_in=50),
            popular(600_000 // size, 10, seed=1)),
        "MWEM, two fixed lists of 100": (
            MWEM(records=len(few), workload=Workload.complete(12, width=2), rounds=100, epsilon=1.0), few),
        "DualQuery, a list of rounds": (
            DualQuery(records=len(bits), workload=Workload.complete(20, width=3), eta=1.0, rounds=220, samples=200),
            bits),
        "MarginalFit, two allowances": (
            MarginalFit.for_budget(records=len(bits), epsilon=1.0, delta=1e-6, schema=schema, population=60_000),
            Codes(schema=schema, cells=bits[:, :10].astype("uint16"))),
    }
    return {name: lambda noise, it=it, data=data: it.run(data, noise)  # type: ignore[misc]
            for name, (it, data) in mechanisms.items()}


def seconds(run: Run, noise: Noise) -> float:
    gc.collect()
    start = time.process_time()
    run(noise)
    return time.process_time() - start


def _peak(run: Run) -> int:
    tracemalloc.start()
    try:
        run(Noise.simulated(1))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def run(*, quick: bool) -> Report:
    repeats = 3 if quick else 15
    rows: list[tuple[Any, ...]] = []
    targets, details = [], dict[str, Any]()
    for name, job in runs(quick=quick).items():
        job(Noise.simulated(0))  # compiled
        with unmetered():
            bare = _peak(job)
        more = _peak(job) / bare - 1.0
        for kind, source in SOURCES.items():
            pairs = []
            for k in range(repeats):
                with unmetered():
                    without = seconds(job, source(k))
                pairs.append((seconds(job, source(k)), without))
            ratio = statistics.median(metered / without for metered, without in pairs)
            rows.append((name, kind, statistics.median(without for _, without in pairs), 100 * (ratio - 1), 100 * more))
            details[f"{name}, {kind}"] = pairs
            if not quick:
                targets.append(Target(f"time of {name} ({kind} noise), as a multiple of the same without a meter", 1.02,
                                      ratio))
        targets.append(Target(f"peak memory of {name}, as a multiple of the same without a meter", 1.01, 1.0 + more))
    return Report(
        title=TITLE,
        method=[f"Each mechanism runs {repeats} times with its meter and {repeats} times without, in turn. The figure "
                "is the median ratio of CPU seconds. Compiled code is warm.",
                "Memory is the peak that Python's tracer sees in one run, including numpy's arrays."],
        targets=targets,
        tables=[Table("A run with its meter", ("run", "noise", "CPU seconds without", "more time, %", "more memory, %"),
                      rows)],
        details=details,
    )


def beside(python: str, *names: str, repeats: int = 15) -> None:
    """Print each run's CPU seconds and peak memory here as a multiple of another build's, the median of pairs.

    Both builds run in processes of their own, which wait for each other, so that a pair's runs are a second apart.
    """
    for name, kind in product(runs(quick=True), SOURCES):
        if name.startswith(names or ""):
            command = ["-m", "benchmarks.meter_worker", name, kind]
            here, there = (subprocess.Popen([each, *command], cwd=ROOT, text=True, bufsize=1, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE) for each in (sys.executable, python))
            pairs = [(_asked(here, seed), _asked(there, seed)) for seed in range(repeats)]
            for worker in (here, there):
                worker.communicate()
            time, memory = (statistics.median(mine[k] / theirs[k] for mine, theirs in pairs) for k in (0, 1))
            bare = statistics.median(theirs[0] for _, theirs in pairs)
            print(f"{name}, {kind}: {bare:.2f} s there; time x {time:.3f}, memory x {memory:.4f}", flush=True)


def _asked(worker: subprocess.Popen[str], seed: int) -> tuple[float, float]:
    """One run's seconds, and the process's memory."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    print(seed, file=worker.stdin, flush=True)
    taken, held = json.loads(worker.stdout.readline())
    return taken, held


if __name__ == "__main__":
    beside(*sys.argv[1:])
