"""Private dual dynamics: time, memory and accuracy, beside an exact flow, interior points and plain dynamics."""

from __future__ import annotations

import importlib.util
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peer_ortools
from benchmarks.processes import in_own_process
from benchmarks.report import Report, Table, Target

TITLE = "Shared resources: private convex programs"
RUNS, PEER_RUNS, PEER_SECONDS, POINT_SECONDS = 3, 2, 900.0, 300.0
MODES = ("PrivDude", "TrueDude", "RoundDude", "TightenAndAudit")
NOISES = ("simulated", "secure")
FAMILIES = ("UnitDemand", "CappedAdditive", "XorBundles", "Knapsack", "Electricity", "SharedResources", "Flow",
            "AggregativeGame")
SUMS = ("PrivDude", "TightenAndAudit")
"""One that gives averages, one that gives whole goods, as a flow does."""

Found = dict[str, float]
Size = tuple[int, int, int]


def run(*, quick: bool) -> Report:
    """Every figure in a process of its own."""
    load = os.getloadavg()[0]
    share = 20 if quick else 1
    level = float(share)  # epsilon: supply times epsilon stays what it is among fewer people
    small, wide = _size(100_000 // share, 10), _size(1_000_000 // share, 10)
    many = (100_000 // share, 1000 // (5 if quick else 1), 50)
    ours = {(kind, at): _job("market", kind, *at, level, "secure", 200, 100, RUNS if at == small else 1)
            for at in (small, wide) for kind in SUMS}
    ours["PrivDude", many] = _job("market", "PrivDude", *many, level, "secure")
    flow = _job("flow", share, 200, 100) if _networks() else None
    people = [250_000 // share * times for times in (1, 2, 4)]
    grown = {(n, rounds): _job("market", "PrivDude", *_size(n, 10), level, "1", rounds, rounds // 2, RUNS)
             for n, rounds in [(n, 200) for n in people] + [(people[0], 400)]}
    seeds = (1,) if quick else (1, 2, 3, 4)
    found = [_job("accuracy", *small, level, seed) for seed in seeds]
    families = {name: [_job("family", name, share, level, seed) for seed in seeds[:2]] for name in FAMILIES
                if name != "Flow" or _networks()}
    decoded = {kind: _job("decoding", kind, *small, level) for kind in SUMS}
    beside = [("plain numpy, no noise", at, _job("dynamics", *at)) for at in (small, wide)]
    beside += [("confide.allocation, exact_optimum", at, _job("paths", *at)) for at in (small, wide)]
    beside += [("confide.programs, exact", at, _job("optimum", *at)) for at in (small, wide)]
    beside += [("HiGHS interior point by scipy", small, _job("interior_point", *small, POINT_SECONDS))]
    beside += [(peer_ortools.NAME, at, peer) for at in (small, wide) if (peer := _peer(at)) is not None]
    flows = {at: peer for name, at, peer in beside if name == peer_ortools.NAME}
    return Report(
        title=TITLE,
        method=[
            "Each figure is from a process of its own, after a small run that compiles. A run starts from a table of "
            f"values, and ends with everybody's share. Times are the least of {RUNS} runs with {small[0]:,} people and "
            "in rows of growth, and are from one run elsewhere. OR-tools' times are the least of "
            f"{PEER_RUNS} processes. Noise is secure, except in rows of growth.",
            "In unit demand, values are U(0, 1) times each good's popularity U(.3, 1). There are copies for half of "
            f"the people, but with {many[1]:,} goods, {many[2]} copies of each. Runs have 200 rounds after 100, with "
            f"epsilon = {level:g}, delta = 1e-6, and one record replaced. Figures of accuracy are means over "
            f"{len(seeds)} draws of people and noise, and over {len(seeds[:2])} draws for families.",
            "The memory of a run is the growth of its process after libraries are loaded and the table is read. A "
            "column of its own has the memory of the whole process, including Python and the compiler.",
            f"The peers are: {peer_ortools.NAME}, SimpleMinCostFlow on all pairs with costs in whole millionths, in an "
            f"environment of its own; HiGHS' interior point with its crossover, stopped after {POINT_SECONDS:.0f} s; "
            "and the same rounds in numpy, without noise.",
            f"The machine is shared. Its load average was {load:.2f} when the measurement began.",
        ],
        findings=_findings(small, wide, level, found, ours, flows, beside),
        targets=[*_speed(ours, flow, wide, many), *(() if quick else (
            *_growth(grown, people), *_beside(ours, flows, (small, wide)), *_accuracy(found, level)))],
        tables=[_mode_table(small, level, found), _family_table(families, level), _beside_table(ours, beside),
                _speed_table(ours, flow, grown, decoded)],
        details={"accuracy": found, "families": families},
    )


def _size(people: int, goods: int) -> Size:
    return people, goods, people // (2 * goods)


def _networks() -> bool:
    return importlib.util.find_spec("topohub") is not None


# ---- targets


def _speed(ours: dict[Any, Found], flow: Found | None, wide: Size, many: Size) -> list[Target]:
    rows = [
        Target(f"PrivDude, {_name(wide)}, 300 rounds", 10.0, ours["PrivDude", wide]["seconds"], "s"),
        Target("the same, memory of the whole process", 1000.0, ours["PrivDude", wide]["peak_mb"], "MB"),
        Target(f"PrivDude, {_name(many)}, 300 rounds", 90.0, ours["PrivDude", many]["seconds"], "s",
               note="only the time counts: the noise is larger than so few copies of a good"),
    ]
    return rows if flow is None else [*rows, Target(
        f"PrivDude, polska, {flow['people']:,.0f} flows, {flow['arcs']:.0f} arcs, 300 rounds", 10.0, flow["seconds"],
        "s")]


def _growth(grown: dict[Any, Found], people: list[int]) -> list[Target]:
    first = grown[people[0], 200]["seconds"]
    rows = [Target(f"growth from {people[0]:,} to {n:,} people, over {n / people[0]:.0f}", 1.3,
                   grown[n, 200]["seconds"] / first / (n / people[0])) for n in people[1:]]
    return [*rows, Target("growth from 300 to 600 rounds, over 2", 1.3, grown[people[0], 400]["seconds"] / first / 2.0)]


def _beside(ours: dict[Any, Found], flows: dict[Size, Found], sizes: tuple[Size, Size]) -> list[Target]:
    rows = []
    for at, limit in zip(sizes, (1 / 3, 1 / 2), strict=True):
        if at not in flows:
            continue
        for kind in SUMS:
            one, peer = ours[kind, at], flows[at]
            rows += [
                Target(f"{kind}, {_name(at)}, over OR-tools' exact flow, time", limit, one["seconds"] / peer["seconds"],
                       note=f"{one['seconds']:.2g} and {peer['seconds']:.2g} s"),
                Target("the same, memory of the run", 0.25, one["run_mb"] / peer["run_mb"],
                       note=f"{one['run_mb']:.0f} and {peer['run_mb']:.0f} MB; whole processes: {one['peak_mb']:.0f} "
                            f"and {peer['peak_mb']:.0f} MB")]
    return rows


def _accuracy(found: list[Found], level: float) -> list[Target]:
    rows = []
    for noise in NOISES:
        said = f"epsilon = {level:g}, {noise} noise"
        rows += [
            Target(f"PrivDude, {said}: optimum less value", 0.05, 100.0 * _mean(found, f"PrivDude, {noise}, gap"), "%",
                   note="above the optimum if rows exceed their supply; mean distance in either direction: "
                        f"{_distance(found, noise):.2g}%"),
            Target(f"PrivDude, {said}: largest excess of a row, as a share of its supply", 0.3,
                   100.0 * _mean(found, f"PrivDude, {noise}, excess"), "%"),
            Target(f"TightenAndAudit, {said}: loss", 3.0,
                   100.0 * _mean(found, f"TightenAndAudit, {noise}, gap"), "%"),
            Target(f"TightenAndAudit, {said}: largest excess of a row", 0.0,
                   100.0 * max(one[f"TightenAndAudit, {noise}, excess"] for one in found), "%")]
    return rows


# ---- tables


def _mode_table(size: Size, level: float, found: list[Found]) -> Table:
    rows = [(kind, noise, *(100.0 * _mean(found, f"{kind}, {noise}, {what}")
                            for what in ("gap", "certified gap", "excess", "certified excess")))
            for kind in MODES for noise in NOISES]
    return Table(f"Modes, {_name(size)}, epsilon = {level:g}, %",
                 ("mode", "noise", "optimum less value, share of the optimum", "certified",
                  "largest excess of a row, share of its supply", "certified"), rows,
                 "Certified figures may be claimed in public, and are wrong with probability at most .05. For "
                 "RoundDude and TightenAndAudit the certificate is about the averages, before draws, flags and audits. "
                 "A value above the optimum comes with an excess of a row.")


def _family_table(families: dict[str, list[Found]], level: float) -> Table:
    rows = [(name, int(runs[0]["people"]), int(runs[0]["rows"]), int(runs[0]["rounds"]),
             min(one["seconds"] for one in runs),
             *("-" if math.isnan(runs[0][what]) else 100.0 * _mean(runs, what)
               for what in ("gap", "certified gap", "excess", "certified excess")))
            for name, runs in families.items()]
    return Table(f"Families, PrivDude, epsilon = {level:g}, %",
                 ("family", "people", "rows", "rounds", "s", "optimum less value, share of the optimum", "certified",
                  "excess of all rows, share of their supplies", "certified"), rows,
                 "Seconds are with secure noise, and all other figures with simulated noise. Rounds are the rounds "
                 "that `plan` advises. The gap of flows is a share of the cost of the optimum. Rows of an aggregative "
                 "game are equations, and the largest sum of n contributions replaces their supply. Nothing has a "
                 "value in such a game."
                 + ("" if "Flow" in families else " Flows need topohub, which is not installed here."))


def _beside_table(ours: dict[Any, Found], beside: list[tuple[str, Size, Found]]) -> Table:
    best = {at: next(one["value"] for name, where, one in beside if where == at and "allocation" in name)
            for _, at, _ in beside}
    every = [(f"{kind}, private", at, one) for (kind, at), one in ours.items() if at in best] + beside
    rows = [(_name(at), name, one["seconds"], one["run_mb"], one["peak_mb"],
             "not in time" if math.isnan(one["value"]) else 100.0 * (1.0 - one["value"] / best[at]))
            for name, at, one in sorted(every, key=lambda row: row[1])]
    missing = "" if any(name == peer_ortools.NAME for name, _, _ in beside) else (
        f" OR-tools: {peer_ortools.PEER.missing()}")
    return Table("Other methods, unit demand", ("size", "by", "s", "memory of the run, MB", "whole process, MB",
                                                "below the optimum, %"), rows,
                 "Rows with the word \"private\" are private methods. All other methods see all data without noise."
                 + missing)


def _speed_table(ours: dict[Any, Found], flow: Found | None, grown: dict[Any, Found],
                 decoded: dict[str, Found]) -> Table:
    rows: list[tuple[Any, ...]] = [(_name(at), kind, "secure", 300, one["seconds"], one["run_mb"], one["peak_mb"])
                                   for (kind, at), one in ours.items()]
    rows += [(_name(_size(n, 10)), "PrivDude", "simulated", rounds + rounds // 2, one["seconds"], one["run_mb"],
              one["peak_mb"]) for (n, rounds), one in grown.items()]
    if flow is not None:
        rows.append((f"polska, {flow['people']:,.0f} x {flow['arcs']:.0f}", "PrivDude", "secure", 300, flow["seconds"],
                     flow["run_mb"], flow["peak_mb"]))
    own = "; ".join(f"{kind} {one['mean, ms']:.2g} (at most {one['largest, ms']:.2g})" for kind, one in decoded.items())
    return Table("Time and memory", ("size", "mode", "noise", "rounds", "s", "memory of the run, MB",
                                     "whole process, MB"), rows,
                 f"Time to compute one participant's part from their record and the billboard, in ms: {own}.")


# ---- words


def _findings(small: Size, wide: Size, level: float, found: list[Found], ours: dict[Any, Found],
              flows: dict[Size, Found], beside: list[tuple[str, Size, Found]]) -> list[str]:
    said = [
        f"{_name(small)}, epsilon = {level:g}, secure noise: averages (PrivDude) differ from the optimum by "
        f"{_distance(found, 'secure'):.2g}%, and the largest excess of a row is "
        f"{100.0 * _mean(found, 'PrivDude, secure, excess'):.2g}% of its supply, both in the mean of the draws. "
        "Whole goods within every supply (TightenAndAudit) lose "
        f"{100.0 * _mean(found, 'TightenAndAudit, secure, gap'):.2g}%."]
    for at in (small, wide):
        seconds = {name: one["seconds"] for name, where, one in beside if where == at}
        said.append(
            f"{_name(at)}: PrivDude takes {ours['PrivDude', at]['seconds']:.2g} s, "
            + ("" if at in flows else "and ")
            + f"plain numpy without noise takes {seconds['plain numpy, no noise']:.2g} s"
            + (f", and OR-tools' exact flow takes {flows[at]['seconds']:.2g} s" if at in flows else "")
            + f". Without privacy, the optimum of unit demand takes "
            f"{seconds['confide.allocation, exact_optimum']:.2g} s by `confide.allocation.exact_optimum`.")
    return said


def _name(at: Size) -> str:
    return f"{at[0]:,} x {at[1]:,}"


def _distance(found: list[Found], noise: str) -> float:
    """Of PrivDude's value from the optimum, either way, in per cent: the mean."""
    return 100.0 * float(np.mean([abs(one[f"PrivDude, {noise}, gap"]) for one in found]))


def _mean(runs: list[Found], key: str) -> float:
    return float(np.mean([one[key] for one in runs]))


# ---- processes


def _peer(at: Size) -> Found | None:
    """The run of least time; None where OR-tools cannot be installed, or does not end in time."""
    if peer_ortools.PEER.missing() is not None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "values.npy"
        _job("instance_file", at[0], at[1], table)
        runs = []
        for _ in range(PEER_RUNS):
            done = peer_ortools.assign(table, at[2], seconds=PEER_SECONDS)
            if done is None:
                return None
            held, found = done
            values = np.load(table)
            worth = values[np.arange(len(held)), np.maximum(held, 0)].astype(np.float64)
            runs.append({**found, "value": float(worth[held >= 0].sum())})
    return min(runs, key=lambda one: one["seconds"])


def _job(name: str, *arguments: object) -> Found:
    found: Found = in_own_process("programs_worker", name, *arguments)
    return found
