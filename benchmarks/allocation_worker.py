"""A process of its own: one job of `allocation` and its sizes; prints what was measured."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.clock import clocked, least, noise_of
from benchmarks.memory import held_mb, peak_mb
from benchmarks.transport import transport
from confide.allocation import (
    PMatch,
    SinkhornMatch,
    exact_auction,
    exact_optimum,
    greedy,
    instance_a,
    instance_b,
    lottery,
    serial_dictatorship,
    sparse_instance,
)
from confide.privacy.noise.simulated import study_generator

KINDS: dict[str, Any] = {"PMatch": PMatch, "SinkhornMatch": SinkhornMatch}
INSTANCES: dict[str, Callable[..., Any]] = {"A": instance_a, "B": instance_b, "sparse": sparse_instance}
SMALL = {"A": (2000, 6), "B": (2000, 6), "sparse": (2000, 60)}
"""Of the run that compiles."""


def compiled(kind: str, instance: str, options: dict[str, Any], mode: str = "1") -> None:
    """A small run of the same kind, which also loads what draws the noise."""
    people, goods = SMALL[instance]
    small = KINDS[kind].for_budget(people=people, goods=goods, supply=people // 10, epsilon=4.0,
                                   **_fitting(options, people))
    small.run(INSTANCES[instance](people, goods, seed=9), noise_of(mode))


def _fitting(options: dict[str, Any], people: int) -> dict[str, Any]:
    return {**options, "batch": min(options["batch"], people)} if "batch" in options else options


def market(kind: str, instance: str, people: str, goods: str, supply: str, epsilon: str, mode: str,
           options: str = "{}", runs: str = "1") -> dict[str, float]:
    """One matching, its settings and its table apart; welfare by bidder."""
    fields = json.loads(options)
    compiled(kind, instance, fields, mode)
    chosen, choosing = clocked(lambda: KINDS[kind].for_budget(people=int(people), goods=int(goods), supply=int(supply),
                                                              epsilon=float(epsilon),
                                                               **fields))
    values = INSTANCES[instance](int(people), int(goods), seed=1)
    _ = chosen.certificate_plan, chosen.budget
    whole = peak_mb()
    before = held_mb()
    outcome, seconds = least(lambda: chosen.run(values, noise_of(mode)), int(runs))
    inside = peak_mb()
    releases = chosen.counter.horizon if kind == "PMatch" else chosen.rounds + 1
    return {"seconds": seconds, "choosing, s": choosing, "run_mb": inside - before, "table_mb": _size(values),
            "peak_mb": max(whole, inside), "draws": releases * int(goods), "welfare": _welfare(values, outcome)}


def _size(values: Any) -> float:
    parts = (values,) if isinstance(values, np.ndarray) else (values.data, values.indices, values.indptr)
    return float(sum(part.nbytes for part in parts)) / 1e6


def _welfare(values: Any, outcome: Any) -> float:
    """The mean worth of what everybody has. The operator's alone under secure noise; here all bidders are made up."""
    held = np.asarray(outcome.shares["good"])
    who = np.flatnonzero(held >= 0)
    worth = np.asarray(values[who, held[who]], dtype=np.float64)
    return float(worth.sum()) / len(held)


def shares(instance: str, people: str, goods: str, supply: str, epsilon: str, seed: str) -> dict[str, float]:
    """Welfare over the exact optimum: both mechanisms, simulated and secure noise, on bidders of this seed."""
    n, k, s = int(people), int(goods), int(supply)
    values = INSTANCES[instance](n, k, seed=int(seed))
    best, exact = clocked(lambda: exact_optimum(values, s))
    found = {"optimum": best.welfare / n, "gap": best.gap / n, "optimum, s": exact}
    for kind, made in KINDS.items():
        chosen = made.for_budget(people=n, goods=k, supply=s, epsilon=float(epsilon))
        for noise, mode in (("simulated", seed), ("secure", "secure")):
            outcome = chosen.run(values, noise_of(mode))
            given = np.bincount(np.asarray(outcome.shares["good"]) + 1, minlength=k + 1)[1:]
            certificate = outcome.certificate
            found |= {f"{kind}, {noise}": _welfare(values, outcome) * n / best.bound,
                      f"{kind}, {noise}, over": float(np.maximum(0, given - s).sum()),
                      f"{kind}, {noise}, certificate": certificate.ratio}
    return found


def decoding(kind: str, people: str, goods: str, supply: str, epsilon: str) -> dict[str, float]:
    """One bidder's good from their row and a billboard that was just read: the first one, then others, thrice each."""
    n, k = int(people), int(goods)
    compiled(kind, "A", {})
    chosen = KINDS[kind].for_budget(people=n, goods=k, supply=int(supply), epsilon=float(epsilon))
    values = instance_a(n, k, seed=1)
    outcome = chosen.run(values, noise_of("1"))
    chosen.decode(values[0], 0, outcome.billboard)
    board = replace(outcome.billboard)  # without the index that the run's own has by now
    who = study_generator(3, "benchmark", "decoding").integers(0, n, 300)
    _, first = clocked(lambda: chosen.decode(values[who[0]], int(who[0]), board))
    goods_of, taken = [], []
    for i in who:
        found, seconds = least(lambda at=i: chosen.decode(values[at], int(at), board))
        goods_of.append(found["good"])
        taken.append(seconds)
    held = np.asarray(outcome.shares["good"])
    if goods_of != held[who].tolist():
        raise SystemExit("a decode differs from the run")
    return {"first, ms": 1e3 * first, "mean, ms": 1e3 * float(np.mean(taken)), "largest, ms": 1e3 * max(taken)}


def optimum(people: str, goods: str, supply: str, method: str) -> dict[str, float]:
    """Ours, after a small one that compiles; "assignment" is scipy's."""
    exact_optimum(instance_a(3000, 6, seed=9), 400)
    values = instance_a(int(people), int(goods), seed=1)
    whole = peak_mb()
    before = held_mb()
    by: Literal["paths", "assignment"] = "paths" if method == "paths" else "assignment"
    found, seconds = least(lambda: exact_optimum(values, int(supply), method=by), 2)
    inside = peak_mb()
    return {"seconds": seconds, "peak_mb": max(whole, inside), "run_mb": inside - before, "welfare": found.welfare}


def linear_program(people: str, goods: str, supply: str, limit: str) -> dict[str, float]:
    """The transport program by HiGHS."""
    found = transport(instance_a(int(people), int(goods), seed=1), float(supply), float(limit), "highs")
    return {("welfare" if name == "value" else name): number for name, number in found.items()}


def baselines(instance: str, people: str, goods: str, supply: str) -> dict[str, float]:
    """What is not private: welfare over the optimum, and seconds."""
    n, k, s = int(people), int(goods), int(supply)
    values, small = INSTANCES[instance](n, k, seed=1), INSTANCES[instance](2000, 6, seed=9)
    rules: dict[str, Callable[..., Any]] = {
        "lottery": lottery, "serial dictatorship": serial_dictatorship, "greedy": greedy,
        "auction without noise": lambda table, copies: exact_auction(table, copies, 0.05, batch=100),
        "exact optimum": exact_optimum}
    best = exact_optimum(values, s).bound
    found: dict[str, float] = {}
    for name, rule in rules.items():
        rule(small, 200)
        handout, seconds = clocked(lambda rule=rule: rule(values, s))
        found |= {f"{name}: welfare": handout.welfare / best, f"{name}: s": seconds}
    return found


def instance_file(people: str, goods: str, target: str) -> dict[str, float]:
    """Writes the table for a peer."""
    np.save(Path(target), instance_a(int(people), int(goods), seed=1))
    return {}


if __name__ == "__main__":
    job, *arguments = sys.argv[1:]
    json.dump(globals()[job](*arguments), sys.stdout)
