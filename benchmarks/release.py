"""Answering counting queries: true answers, DualQuery, MarginalFit and MWEM, beside mbi and integer programs."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from benchmarks import peer_mbi
from benchmarks.processes import in_own_process
from benchmarks.release_data import published
from benchmarks.report import Report, Table, Target
from confide.release import Codes, Workload, true_answers
from confide.release.calculators import rho_within

TITLE = "Answering counting queries"
ADULT, KDD = "adult", "kdd99_10pct"
NAMES = {ADULT: "Adult", KDD: "KDD99"}
PEER_MB, PEER_SECONDS = 20.0, 400.0
"""How large the peer's junction tree may become, and when it is stopped."""


def run(*, quick: bool) -> Report:
    """Every job in a process of its own, at k, 2 k and 4 k queries where it grows."""
    load = os.getloadavg()[0]
    share = 50 if quick else 1
    sizes = [500_000 // share, 1_000_000 // share, 2_000_000 // share]
    largest = sizes[-1]
    counted = {(name, k): _job("answers", name, k) for name in (ADULT, KDD) for k in sizes}
    adult = {mode: _job("dual", ADULT, 500_000 // share, 2.0, 43, 1000, mode) for mode in ("1", "secure")}
    kdd = {(k, mode): _job("dual", KDD, k, 1.2, 170, 1750, mode) for k in sizes for mode in ("1", "secure")}
    wide = {(d, s, t): _job("wide", d, s, t) for d, s, t in (
        ((1000, 2000, 70),) if quick else ((1000, 2000, 70), (16_000, 7000, 50), (512_000, 50_000, 28)))}
    modes = ("1", "2", "3", "4", "5", "secure")
    tables = {(name, level, mode): _job("tables", name, k, level, mode)
              for name, k, levels, seeds in ((ADULT, 50_000, (0.25, 1, 5), modes), (KDD, 500_000, (0.25, 1, 5),
                                                                                   ("1", "secure")))
              for level in levels for mode in seeds if not (quick and (name == KDD or mode not in ("1", "secure")))}
    others = {(name, level): _job("rivals", name, k // share, level)
              for name, k in ((ADULT, 50_000), (KDD, 500_000)) for level in (0.25, 1, 5) if not (quick and name == KDD)}
    small = {(d, 20): _job("mwem", d, 20) for d in ((10, 12) if quick else (10, 12, 14, 16))}
    programs = {(ADULT, 1000): _job("responses", ADULT, 1000, 2 if quick else 10),
                (KDD, 1750): _job("responses", KDD, 1750, 2 if quick else 10)}
    peers = _peers(quick=quick)

    def fits(name: str, what: str, pick: Any = max) -> float:
        return float(pick(found[what] for (which, level, _), found in tables.items() if which == name and level == 1))

    mean_adult = float(np.mean([found["average"] for (which, level, _), found in tables.items()
                                if which == ADULT and level == 1]))
    targets = [
        Target(f"true answers of {largest:,} triples, KDD99", 15.0, counted[KDD, largest]["seconds"], "s"),
        Target("DualQuery, Adult, 500,000 queries, T = 43, secure noise", 3.0, adult["secure"]["seconds"], "s"),
        Target(f"DualQuery, KDD99, {largest:,} queries, T = 170, secure noise", 30.0, kdd[largest, "secure"]["seconds"],
               "s"),
        Target(f"growth from {sizes[0]:,} to {largest:,} queries, over 4", 1.3,
               kdd[largest, "secure"]["seconds"] / kdd[sizes[0], "secure"]["seconds"] / 4.0),
        Target("memory of a query, DualQuery on KDD99", 100.0, kdd[largest, "secure"]["bytes a query"], "B"),
        Target("MarginalFit, Adult, epsilon = 1, average error, mean of 6", 0.0006, mean_adult),
        Target("MarginalFit, Adult, epsilon = 1, largest error of 6", 0.020, fits(ADULT, "largest")),
        Target("MarginalFit, Adult, epsilon = 1", 8.0, fits(ADULT, "seconds"), "s"),
        Target("MarginalFit, Adult, epsilon = 1, memory", 400.0, fits(ADULT, "peak_mb"), "MB"),
    ]
    if not quick:
        targets += [
            Target("DualQuery, 512,000 attributes, s = 50,000, T = 28, without evaluation", 90.0,
                   wide[512_000, 50_000, 28]["seconds"], "s"),
            Target("MarginalFit, KDD99, epsilon = 1, average error", 0.0003, fits(KDD, "average")),
            Target("MarginalFit, KDD99, epsilon = 1, largest error", 0.010, fits(KDD, "largest")),
            Target("MarginalFit, KDD99, epsilon = 1, secure noise too", 30.0, fits(KDD, "seconds"), "s"),
            Target("MWEM with replay, 16 attributes, 560 triples, T = 20", 60.0, small[16, 20]["seconds"], "s"),
        ]
    return Report(
        title=TITLE,
        method=[
            "Each figure is from one run in a process of its own, after a small run that compiles. Memory is the "
            "memory of the whole process, including Python and the compiler. delta is 0.001, with one record replaced. "
            "The data are Adult (30,162 records, 235 attributes) and KDD99 (494,021 records, 396 attributes) with the "
            "published bins. Queries are random signed triples of different columns.",
            f"The peer is {peer_mbi.NAME} in an environment of its own, with two published drivers, MWEM+PGM and AIM. "
            f"The drivers have junction trees of at most {PEER_MB:g} MB, as many synthetic rows as records, and one "
            "seed.",
            f"The machine is shared. Its load average was {load:.2f} when the measurement began.",
        ],
        findings=_findings(others, tables, programs),
        targets=targets,
        tables=[
            Table("True answers", ("data", "queries", "drawing them, s", "from cells, s", "packing, s",
                                   "from packed bits, s", "memory, MB"),
                  [(NAMES[name], k, found["workload, s"], found["seconds"], found["packing, s"], found["from bits, s"],
                    found["peak_mb"]) for (name, k), found in counted.items()]),
            Table("DualQuery, without the time of true answers",
                  ("data", "queries", "eta, T, s", "noise", "epsilon", "s", "average error", "largest",
                   "bytes a query"),
                  [*(("Adult", 500_000 // share, "2, 43, 1000", _noise(mode), found["epsilon"], found["seconds"],
                      found["average"], found["largest"], found["bytes a query"]) for mode, found in adult.items()),
                   *(("KDD99", k, "1.2, 170, 1750", _noise(mode), found["epsilon"], found["seconds"], found["average"],
                      found["largest"], found["bytes a query"]) for (k, mode), found in kdd.items())]),
            Table("DualQuery, product data, 100,000 positive triples, n = 100,000, eta = .4, random free attributes",
                  ("attributes", "s", "T", "asked attributes", "seconds", "average error", "largest", "memory, MB"),
                  [(d, s, t, found["asked"], found["seconds"], found["average"], found["largest"], found["peak_mb"])
                   for (d, s, t), found in wide.items()]),
            Table("MarginalFit", ("data", "queries", "epsilon", "noise, seed", "average error", "largest", "s",
                                  "first run, s", "answers, s", "memory, MB"),
                  [(NAMES[name], 50_000 if name == ADULT else 500_000, level, _noise(mode), found["average"],
                    found["largest"], found["seconds"], found["cold, s"], found["answers, s"], found["peak_mb"])
                   for (name, level, mode), found in tables.items()]),
            Table("Others at equal privacy, the same queries", ("data", "epsilon", "method", "average error", "largest",
                                                                "s"),
                  [(NAMES[name], level, method, found[f"{method}: average"], found[f"{method}: largest"],
                    found[f"{method}: s"]) for (name, level), found in others.items()
                   for method in dict.fromkeys(key.split(":")[0] for key in found)],
                  "DualQuery and Reweighted have their usual settings, on one-hot records."),
            Table("mbi on Adult, the same queries", ("driver", "epsilon", "average error", "largest", "tables", "s",
                                                     "memory, MB"), peers,
                  "" if peers else peer_mbi.PEER.missing() or ""),
            Table("MWEM with replay, all positive triples", ("attributes", "queries", "T", "s", "average error",
                                                            "largest", "memory, MB"),
                  [(d, found["queries"], t, found["seconds"], found["average"], found["largest"], found["peak_mb"])
                   for (d, t), found in small.items()]),
            Table("Best response of a first round, satisfied samples",
                  ("data", "s", "local search", "its s", "printed program", "its s", "disaggregated", "its s",
                   "bound proved"),
                  [(NAMES[name], s, found["local search"], found["local search, s"], found["printed"],
                    found["printed, s"], found["disaggregated"], found["disaggregated, s"],
                    found["disaggregated, bound"]) for (name, s), found in programs.items()],
                  "HiGHS starts from the start records, without the record of local search, and has a time limit of "
                  "10 s."),
        ],
    )


def _findings(others: dict[Any, dict[str, float]], tables: dict[Any, dict[str, float]],
              programs: dict[Any, dict[str, float]]) -> list[str]:
    said = []
    for (name, level), found in others.items():
        if level != 1:
            continue
        methods = dict.fromkeys(key.split(":")[0] for key in found)
        best = min(methods, key=lambda method: found[f"{method}: average"])
        ours = tables[name, level, "secure"]
        said.append(
            f"{NAMES[name]}, epsilon = 1: MarginalFit has an average error of {ours['average']:.2g} and a largest "
            f"error of {ours['largest']:.2g}. Of the other methods, {best} has the least average error, "
            f"{found[f'{best}: average']:.2g}, with a largest error of {found[f'{best}: largest']:.2g}. DualQuery has "
            f"an average error of {found['DualQuery: average']:.2g} and a largest error of "
            f"{found['DualQuery: largest']:.2g}.")
    worst = max(max(found["printed"], found["disaggregated"]) - found["local search"] for found in programs.values())
    said.append("No integer program finds a better response than local search does." if worst <= 0 else
                f"An integer program finds up to {worst:.0f} more satisfied samples than local search does.")
    return said


def _peers(*, quick: bool) -> list[tuple[Any, ...]]:
    if quick or peer_mbi.PEER.missing() is not None:
        return []
    schema, codes = published(ADULT)
    workload = Workload.random(schema, 50_000, seed=1)
    truth = true_answers(codes, workload).fractions
    rows: list[tuple[Any, ...]] = []
    for method, label, levels in (("mwem", "MWEM+PGM", (0.25, 1.0, 5.0)), ("aim", "AIM", (1.0,))):
        for level in levels:
            found = peer_mbi.fit(codes.cells, schema.sizes, method, rho=rho_within(level, 1e-3), seed=1,
                                 largest_mb=PEER_MB, seconds=PEER_SECONDS)
            if found is None:
                rows.append((label, level, math.nan, math.nan, "-", f"stopped after {PEER_SECONDS:.0f}", math.nan))
                continue
            cells, cost = found
            off = np.abs(workload.answers(Codes(schema=schema, cells=cells)) - truth)
            rows.append((label, level, float(off.mean()), float(off.max()), cost["tables"], cost["seconds"],
                         cost["peak_mb"]))
    return rows


def _noise(mode: str) -> str:
    return "secure" if mode == "secure" else f"simulated {mode}"


def _job(*arguments: object) -> dict[str, float]:
    found: dict[str, float] = in_own_process("release_worker", *arguments)
    return found
