"""A process of its own: one job of `programs` and its sizes; prints what was measured."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import clocked, least, noise_of
from benchmarks.memory import held_mb, peak_mb
from benchmarks.programs_people import FAMILIES
from benchmarks.transport import transport
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import PrivDude, RoundDude, TightenAndAudit, TrueDude, UnitDemand, exact, plan
from confide.programs.instances import popular

MODES: dict[str, Any] = {kind.__name__: kind for kind in (PrivDude, TrueDude, RoundDude, TightenAndAudit)}
DELTA = 1e-6


def market(kind: str, people: str, goods: str, supply: str, epsilon: str, mode: str, rounds: str = "200",
           burn_in: str = "100", runs: str = "1") -> dict[str, float]:
    """Unit demand, from a table of values to everybody's share; a small run compiles before."""
    n, k = int(people), int(goods)
    MODES[kind](UnitDemand(50_000, 10_000, goods=5), 4.0, DELTA, 10, 5).run(popular(50_000, 5, seed=9), noise_of(mode))
    values = popular(n, k, seed=1)
    made = MODES[kind](UnitDemand(n, float(supply), goods=k), float(epsilon), DELTA, int(rounds), int(burn_in))
    whole = peak_mb()
    before = held_mb()
    outcome, seconds = clocked(lambda: made.run(values, noise_of(mode)))
    inside = peak_mb()  # of one run: what the next ones find is what the allocator kept of this one
    for _ in range(int(runs) - 1):
        outcome, again = clocked(lambda: made.run(values, noise_of(mode)))
        seconds = min(seconds, again)
    return {"seconds": seconds, "run_mb": inside - before, "table_mb": values.nbytes / 1e6,
            "peak_mb": max(whole, inside), "draws": len(outcome.billboard.prices) * k,
            "value": handed_out(values, outcome.shares)[0]}


def handed_out(values: np.ndarray, shares: Any) -> tuple[float, np.ndarray]:
    """Value and load of everybody's part. The operator's alone under secure noise; here all people are made up."""
    n, k = values.shape
    if "action" in shares.column_names:
        taken, weights, who = np.asarray(shares["action"]), np.ones(n), np.arange(n)
    else:
        actions, times = (shares[name].combine_chunks() for name in ("actions", "times"))
        taken, counts = np.asarray(actions.flatten()), np.asarray(times.flatten()).astype(np.float64)
        each = np.diff(np.asarray(times.offsets))
        who = np.repeat(np.arange(n), each)
        weights = counts / np.add.reduceat(counts, np.cumsum(each) - each)[who]
    some = taken >= 0
    worth = values[who[some], taken[some]].astype(np.float64)
    return float(worth @ weights[some]), np.bincount(taken[some], weights[some], minlength=k)


def accuracy(people: str, goods: str, supply: str, epsilon: str, seed: str) -> dict[str, float]:
    """Modes on people of this seed, simulated and secure noise: value, excess of a row, certificates."""
    n, k, b = int(people), int(goods), float(supply)
    values, program = popular(n, k, int(seed)), UnitDemand(n, b, goods=k)
    best = exact(program, values, start="rounds")
    found = {"gap of the optimum": best.gap / best.value}
    for kind, made in MODES.items():
        for noise, mode in (("simulated", seed), ("secure", "secure")):
            outcome = made(program, float(epsilon), DELTA).run(values, noise_of(mode))
            value, load = handed_out(values, outcome.shares)
            name = f"{kind}, {noise}"
            found |= {f"{name}, gap": (best.value - value) / best.value,
                      f"{name}, excess": max(0.0, float((load - b).max())) / b,
                      f"{name}, certified gap": outcome.certificate.gap / best.value,
                      f"{name}, certified excess": float(outcome.certificate.excess.max()) / b}
    return found


def family(name: str, share: str, epsilon: str, seed: str) -> dict[str, float]:
    """PrivDude on a program of a family, with the rounds that `plan` advises: seconds, gap, excess, certificates."""
    program, data = FAMILIES[name](int(share), int(seed))
    advised = plan(program, epsilon=float(epsilon), delta=DELTA, mode="PrivDude", most_excess=0.99, timed=False)
    made, records = advised.path, program.read(data)
    replace(made, rounds=2, burn_in=1).run(records, Noise.secure())
    best = exact(program, records, start="rounds")
    _, seconds = least(lambda: made.run(data, Noise.secure()), 1)
    study = made.run(records, Noise.simulated(int(seed)))
    holds = float(advised.holds.sum())
    # Of flows the value is what is saved of the escapes; the gap is of what everything costs.
    of = program.constants.most_value * program.people - best.value if name == "Flow" else best.value
    return {"people": program.people, "rows": program.rows, "rounds": made.schedule.total, "seconds": seconds,
            "gap": (best.value - study.diagnostics["value"]) / of if of else float("nan"),
            "certified gap": study.certificate.gap / of if of else float("nan"),
            "largest excess": float((study.diagnostics["excess"] / np.maximum(1.0, advised.holds)).max()),
            "excess": float(study.diagnostics["excess"].sum()) / holds,
            "certified excess": study.certificate.total_excess / holds, "gap of the optimum": best.gap / (of or 1.0)}


def flow(share: str, rounds: str, burn_in: str) -> dict[str, float]:
    """Seconds of a run on polska with secure noise, from records to everybody's paths."""
    program, data = FAMILIES["Flow"](int(share), 0)
    PrivDude(program, 1.0, DELTA, 2, 1).run(data, Noise.secure())
    made = PrivDude(program, 1.0, DELTA, int(rounds), int(burn_in))
    whole = peak_mb()
    before = held_mb()
    _, seconds = least(lambda: made.run(data, Noise.secure()))
    inside = peak_mb()
    return {"seconds": seconds, "run_mb": inside - before, "peak_mb": max(whole, inside), "people": program.people,
            "arcs": program.rows}


def decoding(kind: str, people: str, goods: str, supply: str, epsilon: str) -> dict[str, float]:
    """One participant's part from their record and the billboard, of 300 participants."""
    n, k = int(people), int(goods)
    values = popular(n, k, seed=1)
    made = MODES[kind](UnitDemand(n, float(supply), goods=k), float(epsilon), DELTA)
    outcome = made.run(values, noise_of("1"))
    taken = []
    for i in study_generator(3, "benchmark", "decoding").integers(0, n, 300):
        found, seconds = least(lambda at=int(i): made.decode(values[at], at, outcome.billboard))
        if any(outcome.shares[name][int(i)].as_py() != part for name, part in found.items()):
            raise SystemExit("a decode differs from the run")
        taken.append(seconds)
    return {"mean, ms": 1e3 * float(np.mean(taken)), "largest, ms": 1e3 * max(taken)}


# ---- beside it


def dynamics(people: str, goods: str, supply: str) -> dict[str, float]:
    """The same rounds in plain numpy, without noise and privacy: favourites by argmax, in blocks."""
    n, k, b, block, rounds, burn_in = int(people), int(goods), float(supply), 1 << 15, 200, 100
    values = popular(n, k, seed=1)
    before = held_mb()

    def played() -> float:
        prices, total = np.zeros(k, dtype=np.float32), 0.0
        for t in range(burn_in + rounds):
            load = np.zeros(k)
            for at in range(0, n, block):
                part = values[at : at + block]
                left = part - prices
                taken = left.argmax(axis=1)
                rows = np.arange(len(part))
                some = left[rows, taken] > 0
                load += np.bincount(taken[some], minlength=k)
                if t >= burn_in:
                    total += float(part[rows[some], taken[some]].sum(dtype=np.float64))
            step = 2.0 / (n * np.sqrt(rounds if t >= burn_in else burn_in))
            prices = np.clip(prices - step * (b - load), 0.0, 2.0).astype(np.float32)
        return total / rounds

    value, seconds = clocked(played)
    return {"seconds": seconds, "run_mb": peak_mb() - before, "peak_mb": peak_mb(), "value": value}


def interior_point(people: str, goods: str, supply: str, limit: str) -> dict[str, float]:
    """The linear program by HiGHS' interior point."""
    return transport(popular(int(people), int(goods), seed=1), float(supply), float(limit), "highs-ipm")


def paths(people: str, goods: str, supply: str) -> dict[str, float]:
    """The exact matching of `confide.allocation`, for goods in whole copies alone."""
    from confide.allocation import exact_optimum

    exact_optimum(popular(3000, 6, seed=9), 400)
    values = popular(int(people), int(goods), seed=1)
    before = held_mb()
    found, seconds = least(lambda: exact_optimum(values, int(supply)))
    return {"seconds": seconds, "peak_mb": peak_mb(), "run_mb": peak_mb() - before, "value": found.welfare}


def optimum(people: str, goods: str, supply: str) -> dict[str, float]:
    """The family's own optimum, which takes any program."""
    values = popular(int(people), int(goods), seed=1)
    program = UnitDemand(int(people), float(supply), goods=int(goods))
    before = held_mb()
    found, seconds = clocked(lambda: exact(program, values, start="rounds"))
    return {"seconds": seconds, "peak_mb": peak_mb(), "run_mb": peak_mb() - before, "value": found.value}


def instance_file(people: str, goods: str, target: str) -> dict[str, float]:
    """Writes the table for a peer."""
    np.save(Path(target), popular(int(people), int(goods), seed=1))
    return {}


if __name__ == "__main__":
    job, *arguments = sys.argv[1:]
    json.dump(globals()[job](*arguments), sys.stdout)
