"""Private matchings beside the exact optimum, by several solvers, and beside rules that keep no secret."""

from __future__ import annotations

import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peer_ortools
from benchmarks.processes import in_own_process
from benchmarks.report import Report, Table, Target

TITLE = "Scarce goods: private matchings"
KINDS = ("PMatch", "SinkhornMatch")
NOISES = ("simulated", "secure")
RUNS, PEER_RUNS, PEER_SECONDS, HIGHS_SECONDS = 3, 3, 300.0, 120.0
FIXED = {"increment": 0.3, "bid_cap": 3, "rounds": 10}
"""Of runs whose speed is compared, so that they do the same work at every size."""

Found = dict[str, float]


def run(*, quick: bool) -> Report:
    """Every figure in a process of its own."""
    load = os.getloadavg()[0]
    share = 20 if quick else 1
    level = float(share)  # epsilon: supply times epsilon stays what it is in a small market
    n, k, s = 100_000 // share, 20, 4000 // share
    wide, thin = (1_000_000 // share, 100, 8000 // share), (1_000_000 // share, 10_000 // share, 80)
    solo = {(kind, mode): _job("market", kind, "A", n, k, s, level, mode, "{}", RUNS) for kind in KINDS
            for mode in ("1", "secure")}
    source = _job("market", "PMatch", "A", n, k, s, level, "1", _options(batch=1), 2)
    dense = {(kind, mode): _job("market", kind, "A", *wide, level, mode) for kind in KINDS for mode in ("1", "secure")}
    sparse = {"PMatch": _job("market", "PMatch", "sparse", *thin, 10, "1", _options(batch=thin[0] // 500)),
              "SinkhornMatch": _job("market", "SinkhornMatch", "sparse", *thin, 10, "1")}
    people = [250_000 // share * times for times in (1, 2, 4)]
    doubled = {(kind, count): _job("market", kind, "A", count, 50, count // 62, level, "1",
                                   _options(batch=count // 125) if kind == "PMatch" else "{}", RUNS)
               for kind in KINDS for count in people}
    decoded = {kind: _job("decoding", kind, *wide, level) for kind in KINDS}
    seeds = (1,) if quick else (1, 2, 3)
    sizes = {("A", n, k, s): 0.87, ("B", n, k, s): 0.86, ("A", 1_000_000 // share, 50, 16_000 // share): 0.94}
    worth = {at: [_job("shares", *at, level, seed) for seed in seeds] for at in sizes}
    rules = {name: _job("baselines", name, n, k, s) for name in ("A", "B")}
    small = (4000 // (4 if quick else 1), 20, 160 // (4 if quick else 1))
    exact = [("confide, paths", at, _job("optimum", *at, "paths")) for at in (small, (n, k, s), *(
        () if quick else ((1_000_000, 50, 16_000),)))]
    exact += [("scipy, linear_sum_assignment", small, _job("optimum", *small, "assignment"))]
    exact += [("HiGHS by scipy, linear program", at, _job("linear_program", *at, 20 if quick else HIGHS_SECONDS))
              for at in ((small,) if quick else (small, (20_000, 20, 800)))]
    exact += [(peer_ortools.NAME, at, found) for at in (small, (n, k, s)) if (found := _peer(*at)) is not None]
    flow = next((found for name, at, found in exact if name == peer_ortools.NAME and at == (n, k, s)), None)
    return Report(
        title=TITLE,
        method=[
            f"Each figure is from a process of its own, after a small run that compiles. Times below a second are the "
            f"least of {RUNS} runs, and longer times are from one run. Welfare is a share of the exact optimum of the "
            "same bidders, and prices prove this optimum. Bidders are simulated: in A tastes differ, and in B needs "
            f"differ, too. Supplies are enough for 80 of 100 bidders. epsilon is {level:g} (10 in sparse tables), "
            f"pure, with one row replaced. Welfare is the mean of {len(seeds)} draws of bidders and noise.",
            "The memory of a run is the growth of its process after libraries are loaded and the table is read. A "
            "column of its own has the memory of the whole process, including Python and the compiler.",
            f"The peer is {peer_ortools.NAME}, SimpleMinCostFlow on all pairs, with costs in whole millionths. The "
            f"peer runs in an environment of its own, and its time is the least of {PEER_RUNS} processes.",
            f"The machine is shared. Its load average was {load:.2f} when the measurement began.",
        ],
        findings=_findings((n, k, s), level, flow, solo, worth, rules),
        targets=[*_speed(wide, thin, n, source, dense, sparse, decoded), *(() if quick else (
            *_growth(doubled, people), *_beside(solo["PMatch", "secure"], flow), *_welfare(sizes, worth)))],
        tables=[_share_table(level, worth), _rule_table(rules, worth, (n, k, s)), _exact_table(exact), *_speed_tables(
            {("dense", *wide): dense, ("dense", n, k, s): solo}, source, (n, k, s), sparse, thin, doubled, decoded)],
        details={"shares": [{"instance": at[0], "people": at[1], "goods": at[2], "supply": at[3], "runs": found}
                            for at, found in worth.items()]},
    )


def _options(**more: object) -> str:
    return json.dumps({**FIXED, **more})


# ---- targets


def _speed(wide: tuple[int, int, int], thin: tuple[int, int, int], n: int, source: Found, dense: dict[Any, Found],
           sparse: dict[str, Found], decoded: dict[str, Found]) -> list[Target]:
    found = []
    for kind in KINDS:
        it = dense[kind, "secure"]
        found += [
            Target(f"{kind}, {wide[0]:,} x {wide[1]} dense, secure noise", 10.0, it["seconds"], "s"),
            Target(f"{kind}, the same, memory of the whole process", 2000.0, it["peak_mb"], "MB"),
            Target(f"{kind}, {thin[0]:,} x {thin[1]:,} sparse, 20 in a row", 30.0, sparse[kind]["seconds"], "s",
                   note="500 releases a round" if kind == "PMatch" else ""),
            Target(f"{kind}, largest time of 300 decodes", 5.0, decoded[kind]["largest, ms"], "ms"),
        ]
    return [*found, Target(f"PMatch, a release after every bidder, {n:,} x 20, 10 rounds", 1.5, source["seconds"], "s")]


def _growth(doubled: dict[Any, Found], people: list[int]) -> list[Target]:
    return [Target(f"{kind}, growth from {people[0]:,} to {people[-1]:,} people, x 50, over 4", 1.3,
                   doubled[kind, people[-1]]["seconds"] / doubled[kind, people[0]]["seconds"] / 4.0) for kind in KINDS]


def _beside(ours: Found, flow: Found | None) -> list[Target]:
    if flow is None:
        return []
    return [
        Target("PMatch, secure noise, over OR-tools' exact flow, time", 1 / 3, ours["seconds"] / flow["seconds"],
               note=f"{ours['seconds']:.2g} and {flow['seconds']:.2g} s"),
        Target("the same, memory of the run", 0.25, ours["run_mb"] / flow["run_mb"],
               note=f"{ours['run_mb']:.0f} and {flow['run_mb']:.0f} MB; whole processes, including libraries: "
                    f"{ours['peak_mb']:.0f} and {flow['peak_mb']:.0f} MB"),
    ]


def _welfare(sizes: dict[Any, float], worth: dict[Any, list[Found]]) -> list[Target]:
    return [Target(f"{kind}, {noise} noise, welfare on {_name(at)}", limit, _mean(worth[at], f"{kind}, {noise}"),
                   at_least=True)
            for at, limit in sizes.items() for kind in KINDS for noise in NOISES]


# ---- tables


def _share_table(level: float, worth: dict[Any, list[Found]]) -> Table:
    rows = [(_name(at), kind, noise, _mean(found, key := f"{kind}, {noise}"), min(one[key] for one in found),
             _mean(found, f"{key}, certificate"), max(one[f"{key}, over"] for one in found))
            for at, found in worth.items() for kind in KINDS for noise in NOISES]
    return Table(f"Welfare at epsilon = {level:g}, over the optimum",
                 ("bidders, goods, copies", "method", "noise", "mean", "least", "certificate", "copies too many"), rows,
                 "The certificate may be claimed in public. It is wrong with probability at most .01.")


def _rule_table(rules: dict[str, Found], worth: dict[Any, list[Found]], size: tuple[int, int, int]) -> Table:
    rows: list[tuple[Any, ...]] = []
    for name, found in rules.items():
        rows += [(name, rule, "no", found[f"{rule}: welfare"], found[f"{rule}: s"])
                 for rule in dict.fromkeys(key.split(":")[0] for key in found)]
        rows += [(name, kind, "yes", _mean(worth[name, *size], f"{kind}, secure"), "-") for kind in KINDS]
    return Table(f"Compared with rules without privacy, {size[0]:,} x {size[1]}, {size[2]:,} copies",
                 ("bidders", "rule", "private", "welfare over the optimum", "s"), rows)


def _exact_table(exact: list[tuple[str, tuple[int, int, int], Found]]) -> Table:
    best = {at: max(found["welfare"] for _, where, found in exact if where == at and not math.isnan(found["welfare"]))
            for _, at, _ in exact}
    rows = [(f"{at[0]:,} x {at[1]}, {at[2]:,} copies", name, found["seconds"],
             found["run_mb"], found["peak_mb"], "not in time" if math.isnan(found["welfare"]) else
             f"{max(0.0, 1.0 - found['welfare'] / best[at]):.1g}") for name, at, found in exact]
    return Table("The exact optimum", ("size", "by", "s", "memory of the run, MB", "whole process, MB",
                                       "below the best of them"), sorted(rows, key=lambda row: len(row[0])),
                 f"HiGHS is stopped after {HIGHS_SECONDS:.0f} s. OR-tools' costs are whole millionths."
                 + ("" if any(name == peer_ortools.NAME for name, _, _ in exact) else
                    f" OR-tools: {peer_ortools.PEER.missing()}"))


def _speed_tables(dense: dict[Any, dict[Any, Found]], source: Found, size: tuple[int, int, int],
                  sparse: dict[str, Found], thin: tuple[int, int, int], doubled: dict[Any, Found],
                  decoded: dict[str, Found]) -> list[Table]:
    columns = ("size", "method", "noise", "draws", "choosing settings, s", "s", "memory of the run, MB", "table, MB",
               "whole process, MB")

    def row(size: str, kind: str, mode: str, found: Found) -> tuple[Any, ...]:
        return (size, kind, "secure" if mode == "secure" else "simulated", int(found["draws"]), found["choosing, s"],
                found["seconds"], found["run_mb"], found["table_mb"], found["peak_mb"])

    rows = [row(f"{at[1]:,} x {at[2]}, {at[0]}", kind, mode, found) for at, runs in dense.items()
            for (kind, mode), found in runs.items()]
    rows.append(row(f"{size[0]:,} x {size[1]}, a release after every bidder", "PMatch", "1", source))
    rows += [row(f"{thin[0]:,} x {thin[1]:,}, 20 in a row", kind, "1", found) for kind, found in sparse.items()]
    rows += [row(f"{count:,} x 50, dense", kind, "1", found) for (kind, count), found in doubled.items()]
    own = [(kind, found["first, ms"], found["mean, ms"], found["largest, ms"]) for kind, found in decoded.items()]
    return [Table("Time and memory", columns, rows), Table("One bidder's good from their row and the billboard", (
        "method", "first, ms", "mean, ms", "largest, ms"), own)]


# ---- words


def _findings(size: tuple[int, int, int], level: float, flow: Found | None, solo: dict[Any, Found],
              worth: dict[Any, list[Found]], rules: dict[str, Found]) -> list[str]:
    said = []
    for name in ("A", "B"):
        private = {kind: _mean(worth[name, *size], f"{kind}, secure") for kind in KINDS}
        said.append(
            f"{_name((name, *size))}, epsilon = {level:g}, secure noise: SinkhornMatch reaches "
            f"{private['SinkhornMatch']:.3f} of the optimum, and PMatch reaches {private['PMatch']:.3f}. Without any "
            f"privacy, a serial dictatorship reaches {rules[name]['serial dictatorship: welfare']:.3f}, and a lottery "
            f"reaches {rules[name]['lottery: welfare']:.3f}.")
    if flow is not None:
        ours = {kind: solo[kind, "secure"]["seconds"] for kind in KINDS}
        said.append(f"PMatch takes {ours['PMatch']:.2g} s with secure noise, SinkhornMatch takes "
                    f"{ours['SinkhornMatch']:.2g} s, and OR-tools' exact flow takes {flow['seconds']:.2g} s.")
    return said


def _name(at: tuple[str, int, int, int]) -> str:
    return f"{at[0]}, {at[1]:,} x {at[2]}, {at[3]:,} copies"


def _mean(runs: list[Found], key: str) -> float:
    return float(np.mean([one[key] for one in runs]))


# ---- processes


def _peer(people: int, goods: int, supply: int) -> Found | None:
    """The run of least time; its welfare is that of its own allocation."""
    if peer_ortools.PEER.missing() is not None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "values.npy"
        _job("instance_file", people, goods, table)
        runs = []
        for _ in range(PEER_RUNS):
            done = peer_ortools.assign(table, supply, seconds=PEER_SECONDS)
            if done is None:
                return None
            if int(np.bincount(done[0] + 1, minlength=goods + 1)[1:].max()) > supply:
                raise RuntimeError("the peer gave out more than there is")
            runs.append(done[1])
    return min(runs, key=lambda one: one["seconds"])


def _job(*arguments: object) -> Found:
    found: Found = in_own_process("allocation_worker", *arguments)
    return found
