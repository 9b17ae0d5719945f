"""How fast secure noise is drawn, beside OpenDP, and how the time grows."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import opendp.prelude as dp

from benchmarks.report import Report, Table, Target
from confide.privacy.noise import Noise

TITLE = "Secure noise"
SCALE = 0.0173

Job = Callable[..., Any]


def least_seconds(jobs: dict[str, tuple[int, Job]], repeats: int) -> dict[str, float]:
    """Least seconds of one call, for each job; a job gets the number of its call, to name its stream with."""
    best = dict.fromkeys(jobs, float("inf"))
    for run in range(repeats):
        for name, (count, job) in jobs.items():
            calls = max(1, 2000 // count)
            job(-1 - run)  # warm
            start = time.perf_counter()
            for call in range(calls):
                job(run * calls + call)
            best[name] = min(best[name], (time.perf_counter() - start) / calls)
    return best


def opendp_float_laplace(dimension: int) -> Job:
    """OpenDP's Laplace mechanism on a vector of doubles."""
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    measurement = dp.m.make_laplace(domain, dp.l1_distance(T=float), SCALE)
    values = np.zeros(dimension)
    return lambda run: measurement(values)


def _jobs(dimensions: tuple[int, ...], people: int) -> dict[str, tuple[int, Job]]:
    noise = Noise.secure()
    jobs: dict[str, tuple[int, Job]] = {}

    def vector(d: int) -> Job:
        center = np.random.default_rng(d).normal(size=d)
        return lambda run: noise.vector_laplace(SCALE, d, stream=("v", d, run), center=center)

    for d in sorted({k * d for d in dimensions for k in (1, 2, 4)}):
        jobs[f"vector Laplace, d = {d}"] = (d, vector(d))
    for d in dimensions:
        jobs[f"OpenDP float Laplace, d = {d}"] = (d, opendp_float_laplace(d))
    n = 4000
    jobs["discrete Laplace"] = (n, lambda run: noise.discrete_laplace(3.0, n, stream=("dl", run)))
    jobs["discrete Gaussian"] = (n, lambda run: noise.discrete_gaussian(3.0, n, stream=("dg", run)))
    jobs["Laplace on the grid"] = (n, lambda run: noise.laplace(SCALE, n, stream=("l", run)))
    jobs["Gaussian on the grid"] = (n, lambda run: noise.gaussian(SCALE, n, stream=("g", run)))
    for k in (1, 2, 4):
        jobs[f"split of {k * people:,} people"] = (
            k * people, lambda run, m=k * people: noise.split(m, stream=("s", m, run))
        )
    return jobs


def run(*, quick: bool) -> Report:
    dimensions, people, repeats = ((10, 100), 10**5, 3) if quick else ((10, 100, 1000), 2_500_000, 9)
    jobs = _jobs(dimensions, people)
    seconds = least_seconds(jobs, repeats)

    def ours(d: int) -> float:
        return seconds[f"vector Laplace, d = {d}"]

    def split(k: int) -> float:
        return seconds[f"split of {k * people:,} people"]

    ratios = {d: seconds[f"OpenDP float Laplace, d = {d}"] / ours(d) for d in dimensions}
    growth = [(f"vector Laplace, d = {d}", 1e3 * ours(d), ours(2 * d) / ours(d), ours(4 * d) / ours(d))
              for d in dimensions]
    growth.append((f"split of {people:,} people", 1e3 * split(1), split(2) / split(1), split(4) / split(1)))
    return Report(
        title=TITLE,
        method=[
            f"Each figure is the least time of {repeats} runs. A run of short calls is the mean of many calls. The "
            "jobs take turns, so a slow moment of the machine affects all of them.",
            f"The peer is the Laplace mechanism of OpenDP {version('opendp')} on a vector of doubles, which draws "
            "independent coordinates. confide's vector Laplace noise has density proportional to exp(-||v||/scale) "
            "and is rounded exactly.",
        ],
        targets=[
            Target(f"coordinates per second, d = {d}, as a multiple of OpenDP's", 1.0, ratio, at_least=True)
            for d, ratio in ratios.items()
        ],
        tables=[
            Table("Draws", ("draw", "ms", "us each", "per second"), [
                (name, 1e3 * seconds[name], 1e6 * seconds[name] / count, count / seconds[name])
                for name, (count, _) in jobs.items()
            ]),
            Table("Growth", ("draw", "ms at 1 x", "2 x takes", "4 x takes"), growth,
                  note="The last two columns are multiples of the first. Multiples of 2 and 4 mean linear growth."),
        ],
        details={"seconds": seconds, "scale": SCALE, "repeats": repeats},
    )
