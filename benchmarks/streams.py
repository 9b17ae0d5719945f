"""Running counts and sparse vectors: what a step costs, how it grows, and the error beside OpenDP's trees."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import opendp.prelude as dp

from benchmarks.report import Report, Table, Target
from confide.privacy import Noise, SparseVector, TreeCounter
from confide.privacy.tree_bounds import best_arity

TITLE = "Running counts and sparse vectors"


def least_seconds(job: Callable[..., Any], repeats: int) -> float:
    """Least processor seconds of one call, after one to warm up. A job gets its number, to name its streams."""
    job(0)
    best = float("inf")
    for run in range(1, repeats + 1):
        start = time.process_time()
        job(run)
        best = min(best, time.process_time() - start)
    return best


def compiled(counters: int, steps: int, repeats: int) -> float:
    """Seconds of all steps with noise that is given, at arity 16: four levels at every size here."""
    counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=steps, counters=counters, arity=16)
    noise, streams = counter.draw(Noise.simulated(0)), np.ones((counters, steps), dtype=np.int64)
    return least_seconds(lambda _: counter.count(streams, noise), repeats)


def secure(counters: int, steps: int, repeats: int) -> tuple[float, float]:
    """Seconds of a whole run with secure noise: drawn at once, and fed step by step."""
    counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=steps, counters=counters, arity=2)
    arrived, noise = np.ones(counters, dtype=np.int64), Noise.secure()

    def fed(run: int) -> None:
        running = counter.start(noise, ("fed", counters, steps, run))
        for _ in range(steps):
            running.feed(arrived)

    drawn = least_seconds(lambda run: counter.draw(noise, ("drawn", counters, steps, run)), repeats)
    return drawn, least_seconds(fed, repeats)


def opendp_prefixes(steps: int, arity: int) -> Callable[[], np.ndarray]:
    """All prefix counts from OpenDP's tree with Laplace noise at epsilon = 1, made consistent, in one batch."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64"), size=steps), dp.l1_distance(T="i64")
    tree = dp.t.make_b_ary_tree(*space, leaf_count=steps, branching_factor=arity)
    release = tree >> dp.m.then_laplace(scale=float(tree.map(1)))
    leaves = dp.t.make_consistent_b_ary_tree(branching_factor=arity)
    zeros = np.zeros(steps, dtype=np.int64)
    return lambda: np.cumsum(np.asarray(leaves(release(zeros)))[:steps])


def errors(steps: int, runs: int) -> list[tuple[Any, ...]]:
    """(steps, method, as it goes, RMS over steps and runs, mean largest error, ms a run), same epsilon and stream."""
    rows: list[tuple[Any, ...]] = []
    noise = Noise.secure()
    for name, arity in (("confide, binary", 2), ("confide, best arity", best_arity(steps))):
        counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=steps, arity=arity, running_maximum=False)
        zeros = np.zeros((1, steps), dtype=np.int64)
        start = time.process_time()
        found = [counter.count(zeros, counter.draw(noise, (name, steps, run)))[0] for run in range(runs)]
        rows.append(_row(steps, name, "yes", found, time.process_time() - start))
    own = dp.t.choose_branching_factor(steps)
    for name, arity in (("OpenDP tree, binary", 2), ("OpenDP tree, its own arity", own)):
        job = opendp_prefixes(steps, arity)
        start = time.process_time()
        found = [job() for _ in range(runs)]
        rows.append(_row(steps, name, "no", found, time.process_time() - start))
    return rows


def _row(steps: int, name: str, streaming: str, found: list[np.ndarray], seconds: float) -> tuple[Any, ...]:
    counts = np.array(found, dtype=np.float64)
    rms, largest = float(np.sqrt(np.mean(counts**2))), float(np.abs(counts).max(axis=1).mean())
    return steps, name, streaming, rms, largest, 1e3 * seconds / len(found)


def sparse_vectors(answers: int, repeats: int) -> list[tuple[Any, ...]]:
    """Seconds of a run over quiet answers, secure noise, by law."""
    rows = []
    for law in ("discrete", "continuous"):
        mechanism = SparseVector(threshold=10**6, epsilon=1.0, law=law)
        quiet, noise = [0] * answers, Noise.secure()
        seconds = least_seconds(lambda run, m=mechanism, n=noise, q=quiet: m.run(q, n, ("alarm", run)), repeats)
        rows.append((law, answers, 1e3 * seconds, 1e6 * seconds / answers))
    return rows


def run(*, quick: bool) -> Report:
    repeats = 3 if quick else 7
    counters, steps = (100, 2_500) if quick else (500, 5_000)
    longer = [(counters, factor * steps) for factor in (1, 2, 4)]
    wider = [(factor * counters, steps) for factor in (2, 4)]
    loop = {(k, n): compiled(k, n, repeats) for k, n in longer + wider}
    each = {size: 1e9 * seconds / (size[0] * size[1]) for size, seconds in loop.items()}
    base = loop[counters, steps]
    noisy = {size: secure(*size, 3) for size in (((1, 250), (50, 250)) if quick else ((1, 1_000), (50, 1_000)))}
    compared = [row for n in ((1023,) if quick else (1023, 16_383)) for row in errors(n, 20 if quick else 60)]
    found = {(row[0], row[1]): row[3] for row in compared}
    slowest = max(each.values())
    draw_us = 1e6 * min(drawn / (k * n) for (k, n), (drawn, _) in noisy.items())
    ratios = {n: found[n, "confide, best arity"] / found[n, "OpenDP tree, its own arity"] for n, _ in found}
    return Report(
        title=TITLE,
        method=[
            f"Each figure is the least processor time of {repeats} runs on one thread, after one run to warm up. The "
            "compiled loop gets its noise and all increments, at arity 16 (four levels at every size). Secure noise "
            "reads the operating system's randomness.",
            f"The peer is the b-ary tree of OpenDP {version('opendp')} with integer Laplace noise, made consistent, on "
            "the same stream at the same epsilon. The peer's tree needs the whole stream first, and then uses every "
            "block. A running count must be published while the stream goes on. OpenDP has no sparse vector.",
        ],
        findings=[
            "A secure run spends most of its time on drawing the noise. The counting itself takes a thousandth of the "
            "time.",
        ],
        targets=[
            Target("compiled loop, one step of one counter, slowest size", 100.0, slowest, "ns"),
            Target("compiled loop, 4 times the steps", 5.0, loop[counters, 4 * steps] / base, "times as long"),
            Target("compiled loop, 4 times the counters", 5.0, loop[4 * counters, steps] / base, "times as long"),
            Target("secure noise, one step of one counter", 15.0, draw_us, "us"),
            *(Target(f"RMS of running counts, {n:,} steps, as a multiple of OpenDP's batch tree", 1.6, ratio)
              for n, ratio in ratios.items()),
        ],
        tables=[
            Table("Compiled loop, noise given",
                  ("counters", "steps", "ms", "ns per step of a counter", "times the first"),
                  [(k, n, 1e3 * seconds, each[k, n], seconds / base) for (k, n), seconds in loop.items()]),
            Table("Secure runs, binary tree", ("counters", "steps", "noise at once, ms", "fed step by step, ms",
                                               "us per step, fed"), [
                (k, n, 1e3 * drawn, 1e3 * fed, 1e6 * fed / n) for (k, n), (drawn, fed) in noisy.items()
            ]),
            Table("Error of all prefix counts at epsilon = 1", ("steps", "method", "as the stream goes", "RMS",
                                                                "largest, mean", "ms a run"), compared),
            Table("Sparse vector, secure noise", ("law", "answers", "ms", "us an answer"),
                  sparse_vectors(200 if quick else 1_000, 3)),
        ],
        details={"repeats": repeats, "runs": 20 if quick else 60},
    )
