"""How fast noise is drawn, beside OpenDP, and how the time grows: `python benchmarks/noise.py [--json FILE]`.

Each figure is the least time of several runs, a run of short calls being the mean of many; the contestants take turns,
so that a slow moment of the machine meets all of them.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as dp

from confide.privacy.noise import Noise

SCALE = 0.0173
REPEATS = 9


def least_seconds(jobs: dict[str, tuple[int, Callable[[int], Any]]]) -> dict[str, float]:
    """Least seconds of one call, for each job; a job is told the number of its call, to name its stream with."""
    best = dict.fromkeys(jobs, float("inf"))
    for run in range(REPEATS):
        for name, (count, job) in jobs.items():
            calls = max(1, 2000 // count)
            job(-1 - run)  # warm
            start = time.perf_counter()
            for call in range(calls):
                job(run * calls + call)
            best[name] = min(best[name], (time.perf_counter() - start) / calls)
    return best


def opendp_float_laplace(dimension: int) -> Callable[[int], Any]:
    """OpenDP's Laplace mechanism on a vector of doubles."""
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    measurement = dp.m.make_laplace(domain, dp.l1_distance(T=float), SCALE)
    values = np.zeros(dimension)
    return lambda run: measurement(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    target = parser.parse_args().json

    noise = Noise.secure()
    jobs: dict[str, tuple[int, Callable[[int], Any]]] = {}

    def add(name: str, count: int, job: Callable[[int], Any]) -> None:
        jobs[name] = (count, job)

    for d in (10, 20, 40, 100, 200, 400, 1000, 2000, 4000):
        center = np.random.default_rng(d).normal(size=d)
        add(
            f"vector Laplace, d = {d}",
            d,
            lambda run, d=d, center=center: noise.vector_laplace(SCALE, d, stream=("v", d, run), center=center),
        )
    for d in (10, 100, 1000):
        add(f"OpenDP float Laplace, d = {d}", d, opendp_float_laplace(d))
    n = 4000
    add("discrete Laplace", n, lambda run: noise.discrete_laplace(3.0, n, stream=("dl", run)))
    add("discrete Gaussian", n, lambda run: noise.discrete_gaussian(3.0, n, stream=("dg", run)))
    add("Laplace on the grid", n, lambda run: noise.laplace(SCALE, n, stream=("l", run)))
    add("Gaussian on the grid", n, lambda run: noise.gaussian(SCALE, n, stream=("g", run)))
    add("split of 10 million people", 10**7, lambda run: noise.split(10**7, stream=("s", run)))

    seconds = least_seconds(jobs)
    rows = [
        {
            "name": name,
            "count": count,
            "milliseconds": 1e3 * seconds[name],
            "microseconds_each": 1e6 * seconds[name] / count,
            "per_second": count / seconds[name],
        }
        for name, (count, _) in jobs.items()
    ]
    ratios = {
        f"d = {d}": seconds[f"OpenDP float Laplace, d = {d}"] / seconds[f"vector Laplace, d = {d}"]
        for d in (10, 100, 1000)
    }
    growth = {
        f"d = {d}": [seconds[f"vector Laplace, d = {k * d}"] / seconds[f"vector Laplace, d = {d}"] for k in (2, 4)]
        for d in (10, 100, 1000)
    }

    print(f"{'secure noise, least of ' + str(REPEATS) + ' runs':<34}{'ms':>12}{'us each':>12}{'per second':>14}")
    for row in rows:
        print(f"{row['name']:<34}{row['milliseconds']:>12.3f}{row['microseconds_each']:>12.3f}{row['per_second']:>14,.0f}")
    print("\ncoordinates per second, as a multiple of OpenDP's")
    for name, ratio in ratios.items():
        print(f"  {name:<10}{ratio:6.2f}")
    print("\ngrowth of the time from d to 2d and 4d")
    for name, (double, fourfold) in growth.items():
        print(f"  {name:<10}{double:6.2f}{fourfold:6.2f}")
    if target is not None:
        machine = {"python": platform.python_version(), "machine": platform.machine(), "opendp": dp.__version__}
        target.write_text(json.dumps({"machine": machine, "rows": rows, "ratios": ratios, "growth": growth}, indent=2))


if __name__ == "__main__":
    main()
