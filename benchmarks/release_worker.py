"""A process of its own: one job of `release` and its sizes; prints what was measured."""

from __future__ import annotations

import json
import math
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import clocked, noise_of
from benchmarks.memory import peak_mb
from benchmarks.release_data import product_data, published
from confide.privacy.noise.simulated import study_generator
from confide.release import MWEM, DualQuery, MarginalFit, Reweighted, Workload, true_answers
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.planning import dual_query

DELTA = 1e-3


def errors(answers: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    off = np.abs(answers - truth)
    return {"average": float(off.mean()), "largest": float(off.max())}


def answers(name: str, queries: str) -> dict[str, float]:
    """True answers of random signed triples, from cells; the first call, of few queries, compiles."""
    schema, codes = published(name)
    true_answers(codes, Workload.random(schema, 100, seed=9))
    workload, made = clocked(lambda: Workload.random(schema, int(queries), seed=1))
    before = peak_mb()
    _, seconds = clocked(lambda: true_answers(codes, workload))
    packed, packing = clocked(codes.packed)
    _, bits = clocked(lambda: workload.counts(packed))
    return {"workload, s": made, "seconds": seconds, "packing, s": packing, "from bits, s": bits,
            "bytes a query": (peak_mb() - before) * 1e6 / int(queries), "peak_mb": peak_mb()}


def dual(name: str, queries: str, eta: str, rounds: str, samples: str, mode: str) -> dict[str, float]:
    """DualQuery on the published tables, true answers apart."""
    schema, codes = published(name)
    small = Workload.random(schema, 1000, seed=9)
    DualQuery(records=codes.records, eta=1.0, rounds=3, samples=10, workload=small).run(codes, noise_of("1"))
    workload = Workload.random(schema, int(queries), seed=1)
    truth = true_answers(codes, workload)
    it = DualQuery(records=codes.records, eta=float(eta), rounds=int(rounds), samples=int(samples), workload=workload,
                   delta=DELTA)
    before = peak_mb()
    outcome, seconds = clocked(lambda: it.run(truth, noise_of(mode)))
    return {"seconds": seconds, "epsilon": it.epsilon(), "bytes a query": (peak_mb() - before) * 1e6 / int(queries),
            "peak_mb": peak_mb(), **errors(outcome.billboard.answers(workload), truth.fractions)}


def wide(attributes: str, samples: str, rounds: str) -> dict[str, float]:
    """100,000 positive triples of product data, n = 100,000; evaluation apart. Only asked attributes are made."""
    d, k, n = int(attributes), 100_000, 100_000
    workload = Workload.random(d, k, seed=1, signed=False)
    used, place = np.unique(workload.index, return_inverse=True)
    asked = Workload.conjunctions(place.reshape(k, -1).astype(np.int32), attributes=len(used))
    truth = true_answers(product_data(n, len(used)), asked)
    small = Workload.random(50, 100, seed=9)
    DualQuery(records=1000, eta=1.0, rounds=3, samples=10, workload=small).run(product_data(1000, 50), noise_of("1"))
    it = DualQuery(records=n, eta=0.4, rounds=int(rounds), samples=int(samples), workload=asked, delta=DELTA,
                   free="random")
    outcome, seconds = clocked(lambda: it.run(truth, noise_of("1")))
    return {"seconds": seconds, "asked": len(used), "peak_mb": peak_mb(),
            **errors(outcome.billboard.answers(asked), truth.fractions)}


def tables(name: str, queries: str, epsilon: str, mode: str) -> dict[str, float]:
    """MarginalFit; its answers to random signed triples apart."""
    schema, codes = published(name)
    it = MarginalFit.for_budget(records=codes.records, epsilon=float(epsilon), delta=DELTA, schema=schema)
    outcome, seconds = clocked(lambda: it.run(codes, noise_of(mode)))
    again, warm = clocked(lambda: it.run(codes, noise_of(mode)))
    memory = peak_mb()
    workload = Workload.random(schema, int(queries), seed=1)
    truth = true_answers(codes, workload).fractions
    board = again.billboard
    found, answering = clocked(lambda: board.answers(workload))
    first = errors(outcome.billboard.answers(workload), truth)
    return {"seconds": warm, "cold, s": seconds, "answers, s": answering, "peak_mb": memory,
            **errors(found, truth), "largest of the other run": first["largest"]}


def rivals(name: str, queries: str, epsilon: str) -> dict[str, float]:
    """Everything else at equal privacy, on the queries of `tables`."""
    schema, codes = published(name)
    n, level = codes.records, float(epsilon)
    workload = Workload.random(schema, int(queries), seed=1)
    truth = true_answers(codes, workload)
    found: dict[str, float] = {}

    def add(method: str, it: Any, data: Any) -> None:
        outcome, seconds = clocked(lambda: it.run(data, noise_of("1")))
        off = errors(outcome.billboard.answers(workload), truth.fractions)
        found.update({f"{method}: {key}": value for key, value in {**off, "s": seconds}.items()})

    add("DualQuery", dual_query(schema, n, workload, level, DELTA), codes)
    with warnings.catch_warnings(action="ignore"):  # how far weights are from even
        add("Reweighted", Reweighted.for_budget(records=n, epsilon=level, delta=DELTA, workload=workload, schema=schema,
                                                one_hot=True), truth)
    add("noisy one-way marginals", IndependentMarginals(records=n, workload=workload, schema=schema, epsilon=level,
                                                        delta=DELTA), codes)
    add("Gaussian noise", NoisyAnswers(records=n, workload=workload, epsilon=level, delta=DELTA), truth)
    return found


def mwem(attributes: str, rounds: str) -> dict[str, float]:
    """MWEM with replay on all positive triples of dependent bits."""
    d, n = int(attributes), 20_000
    generator = study_generator(5, "benchmark", "mwem")
    hidden = generator.random((n, 1)) < 0.4
    bits = np.where(hidden, generator.random((n, d)) < generator.random(d), generator.random((n, d)) < 0.3)
    workload = Workload.complete(d, width=3)
    MWEM(records=n, workload=Workload.complete(4, width=2), rounds=2, epsilon=1.0).run(bits[:, :4], noise_of("1"))
    it = MWEM(records=n, workload=workload, rounds=int(rounds), epsilon=1.0)
    outcome, seconds = clocked(lambda: it.run(bits, noise_of("1")))
    truth = true_answers(bits, workload).fractions
    return {"seconds": seconds, "queries": len(workload), "peak_mb": peak_mb(),
            **errors(outcome.billboard.answers(workload), truth)}


def responses(name: str, samples: str, limit: str) -> dict[str, float]:
    """The printed integer program, the disaggregated one and local search on a first round, the hardest."""
    from confide.evidence.wu_2017.query_release import PrintedIntegerProgram
    from confide.release.oracle import IntegerProgram, LocalSearch, Terms  # brings HiGHS: not a part of other jobs

    schema, _ = published(name)
    workload = Workload.random(schema, 500_000, seed=1)
    drawn = study_generator(7, "benchmark", "first round").integers(0, 2 * len(workload), int(samples))
    terms = Terms.netted(workload, drawn % len(workload), drawn >= len(workload))
    zeros, coins = np.zeros(workload.attributes, np.bool_), study_generator(8, "coins").random(workload.attributes) < .5
    local = LocalSearch()
    local.solve(terms, (zeros, coins), 1)
    found, seconds = clocked(lambda: local.solve(terms, (zeros, coins), 1))
    result = {"local search": float(found.value), "local search, s": seconds}
    for form, oracle in (("printed", PrintedIntegerProgram), ("disaggregated", IntegerProgram)):
        program = oracle(time_limit=float(limit))
        reply, taken = clocked(lambda it=program: _cold(it, terms, zeros, coins))
        result |= {form: float(reply.value), f"{form}, s": taken,
                   f"{form}, bound": math.inf if reply.upper_bound is None else reply.upper_bound}
    return result


def _cold(program: Any, terms: Any, zeros: np.ndarray, coins: np.ndarray) -> Any:
    from dataclasses import replace

    return replace(program, search=None).solve(terms, (zeros, coins), 1)


def cells(name: str, target: str) -> dict[str, float]:
    """Writes the table in cells for a peer."""
    schema, codes = published(name)
    np.savez(Path(target), cells=codes.cells, sizes=np.array(schema.sizes))
    return {}


if __name__ == "__main__":
    job, *arguments = sys.argv[1:]
    json.dump(globals()[job](*arguments), sys.stdout)
