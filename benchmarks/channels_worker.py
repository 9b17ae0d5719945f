"""A process of its own: one job of `channels` and its sizes; prints what was measured."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.memory import peak_mb
from confide.channels import (
    Exchangeable,
    FullPrior,
    IndependentRows,
    Prior,
    PriorConstants,
    RandomizedResponse,
    TopK,
    WaterFilling,
    analyse,
    closed_form,
)
from confide.channels.channel import Channel
from confide.channels.notions import Notion
from confide.channels.solvers.information import HammingProduct, solve_slope
from confide.channels.solvers.programs import distances, solve_program
from confide.privacy import Noise

LAW = [0.3, 0.25, 0.2, 0.15, 0.1]
LEVEL, SLOPE, GAP = 0.5, 1.5, 1e-8


def drawn(bits: int, seed: int = 1) -> FullPrior:
    """Databases of so many bits."""
    return FullPrior(np.random.default_rng(seed).dirichlet(np.ones(2**bits)), 2, bits)


def seconds(job: Callable[..., object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def solved(small: Prior, prior: Prior) -> dict[str, float]:
    """A certified program, after a small one."""
    solve_program(small, LEVEL, "dp")
    start = time.perf_counter()
    point = solve_program(prior, LEVEL, "dp")
    spent = time.perf_counter() - start
    return {"seconds": spent, "level": analyse(point.channel, prior).dp, "gap": point.upper - point.lower}


def release(rows: str) -> dict[str, float]:
    found = {}
    for size in (1000, int(rows)):
        prior = IndependentRows([LAW], [size])
        letters = np.random.default_rng(1).integers(0, 5, size)
        for name, it in (
            ("randomised response", RandomizedResponse(epsilon=1.0, letters=5, records=size)),
            ("top-k", TopK(prior=prior, epsilon=1.0, prior_provenance="public")),
            ("water-filling", WaterFilling(prior=prior, distortion=0.4 * size, prior_provenance="public")),
        ):
            found[name] = seconds(lambda it=it, letters=letters: it.release(letters, Noise.secure()))
    return found


def curve(rows: str) -> dict[str, float]:
    prior = IndependentRows([LAW], [int(rows)])
    constants = PriorConstants.of(prior)
    points = (np.linspace(0.01, 0.69, 1000) * prior.records).tolist()

    def whole(notion: Notion) -> None:
        for distortion in points:
            closed_form(notion, prior, distortion, constants)

    notions: tuple[Notion, ...] = ("dp", "identifiability", "mutual-information")
    return {notion: seconds(partial(whole, notion)) for notion in notions}


def constants(bits: str) -> dict[str, float]:
    prior = drawn(int(bits))
    return {"seconds": seconds(lambda: PriorConstants.of(prior)), "peak_mb": peak_mb()}


def program(bits: str) -> dict[str, float]:
    return solved(drawn(2), drawn(int(bits)))


def clarabel(bits: str) -> dict[str, float]:
    """The peer: the same program, stated with matrices, as fast as cvxpy compiles it."""
    import cvxpy
    import scipy.sparse

    prior = drawn(int(bits))
    size, law, d = prior.cells, prior.vector(), distances(2, int(bits))
    left, right = np.nonzero(d == 1.0)
    count = len(left)
    rows = np.arange(count)
    limits = scipy.sparse.csr_matrix(
        (np.concatenate([np.ones(count), np.full(count, -math.exp(LEVEL))]),
         (np.concatenate([rows, rows]), np.concatenate([left, right]))), shape=(count, size))
    start = time.perf_counter()
    q = cvxpy.Variable((size, size), nonneg=True)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(cvxpy.multiply(law[:, None] * d, q))),
                            [limits @ q <= 0, cvxpy.sum(q, axis=1) == 1])
    problem.solve(solver=cvxpy.CLARABEL)
    spent = time.perf_counter() - start
    table = np.maximum(np.asarray(q.value), 0.0)
    channel = Channel(table / table.sum(axis=1, keepdims=True), 2, int(bits))
    return {"seconds": spent, "level": analyse(channel, prior).dp}


def types(letters: str, rows: str) -> dict[str, float]:
    m, n = int(letters), int(rows)
    laws = [[0.7, 0.3], [0.3, 0.7]] if m == 2 else [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]
    return solved(*(Exchangeable.mixture([0.5, 0.5], laws, size) for size in (2, n)))


def slope(bits: str) -> dict[str, float]:
    solve_slope(drawn(4), SLOPE)
    prior = drawn(int(bits))
    start = time.perf_counter()
    point = solve_slope(prior, SLOPE)
    return {"seconds": time.perf_counter() - start, "gap": point.gap, "peak_mb": peak_mb()}


def blahut(bits: str) -> dict[str, float]:
    """The peer: q <- q c, with products by axes as ours, until the gap is met; the gap is looked at now and then."""
    prior = drawn(int(bits))
    law, size = prior.vector(), prior.cells
    product = HammingProduct(2, int(bits), SLOPE)
    q = np.full(size, 1.0 / size)
    start, steps, gap = time.perf_counter(), 0, math.inf
    while gap > GAP:
        c = product.forward(law / product.forward(q))
        if steps % 100 == 0:
            used = q > 0
            gap = math.log(c.max()) - float(q[used] @ (c[used] * np.log(c[used])))
        q *= c
        steps += 1
    return {"seconds": time.perf_counter() - start, "gap": gap, "steps": float(steps)}


if __name__ == "__main__":
    jobs = {job.__name__: job for job in (release, curve, constants, program, clarabel, types, slope, blahut)}
    json.dump(jobs[sys.argv[1]](*sys.argv[2:]), sys.stdout)
