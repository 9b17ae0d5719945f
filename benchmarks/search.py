"""Targeted search: graphs from edge lists, beside scipy; private searches, beside the same on networkx; a study."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.processes import in_own_process
from benchmarks.report import Report, Table, Target

TITLE = "Targeted search of private networks"
RUNS, STARTS, GROWN_STARTS = 3, {"27k": 1, "236k": 5, "2M": 20}, 4
STOPS = ("none", "private", "smoothed")
ROUNDS = (4, 6, 8, 10)
"""Of the contagion among co-authors: the targets' largest component grows with them."""
BUDGETS = (500, 1000, 2000, 5000, 10_000, 15_000)

Found = dict[str, Any]


def run(*, quick: bool) -> Report:
    """Every figure in a process of its own; networks are made once, and opened from disk."""
    load = os.getloadavg()[0]
    counts = (100_000, 1_000_000) if quick else (1_000_000, 10_000_000)
    built = {(by, count): _job(job, count, RUNS) for count in counts
             for by, job in (("confide", "build"), ("scipy", "scipy_build"))}
    if not quick:
        built["confide", 100_000_000] = _job("build", 100_000_000, 1)
    names = ("27k",) if quick else ("27k", "236k", "2M")
    factors = (1, 2) if quick else (1, 2, 4)
    with tempfile.TemporaryDirectory() as folder:
        places = {name: str(Path(folder) / name.replace(" ", "-"))
                  for name in (*names, "coauthors", *(f"times {factor}" for factor in factors))}
        networks = {name: _job("write", name, place) for name, place in places.items()}
        searched = {(name, stop): _job("search", places[name], STARTS[name], stop, "secure", RUNS)
                    for name in names for stop in STOPS}
        beside = {rounds: _job("sets", places["coauthors"], 10, rounds) for rounds in (ROUNDS[:1] if quick else ROUNDS)}
        grown = {factor: (_job("rebuild", places[f"times {factor}"]),
                          _job("search", places[f"times {factor}"], GROWN_STARTS * factor, "none", "1", 5))
                 for factor in factors}
        last = names[min(1, len(names) - 1)]
        studied = _job("study", places[last], STARTS[last], 10 if quick else 200)
    return Report(
        title=TITLE,
        method=[
            f"Each figure is from a process of its own, after a small run that compiles. Times are the least of {RUNS} "
            "runs (5 runs in rows of growth, and one run for 10^8 edges and for the study). Searches have secure "
            "noise, except in rows of growth, in the comparison with networkx and in the study.",
            "Edge lists are uniformly random pairs of 32-bit numbers, with ten pairs for each vertex. The peer is "
            "scipy's conversion from coo to csr of both directions, with one byte an entry, duplicates and self-loops "
            "removed, and rows sorted.",
            "The networks (people / edges) are: " + "; ".join(
                f"{_called(networks[name])}, {networks[name]['said']}" for name in (*names, "coauthors"))
            + ". In simulated networks, people share groups. Rows of growth use simulated networks with one mean "
            "degree.",
            "Searches are for 14 components, with common neighbours. Searches without a stop have Laplace noise of "
            "scale 20, and cost 0.1 a call. A private or smoothed stop costs as much again. The K of a stop is half of "
            "the people, and the grid of a private stop ends at 20, so that a stop seldom ends a call. Targets are "
            "simulated by a contagion (p = .05, 5 rounds, q = .8; p = .1 and q = .5 among co-authors).",
            "The memory of a run is the growth of its process after libraries are loaded and the edge list or graph is "
            "read. A column of its own has the memory of the whole process, including Python and the compiler.",
            "The search on networkx uses sets of neighbours, a heap for the search of a component, one intersection of "
            "sets for each unexamined vertex and call, and numpy for the noise and the order. The time to build the "
            "graphs is not counted on either side.",
            f"The machine is shared. Its load average was {load:.2f} when the measurement began.",
        ],
        findings=_findings(built, counts, searched, networks, beside, studied, last),
        targets=[*_build_targets(built, counts), *_search_targets(searched, networks), *(() if quick else (
            *_beside_targets(beside), *_growth_targets(grown),
            Target(f"200 runs of a study, {_called(networks[last])}, cut off after 15,000 examinations", 300.0,
                   studied["seconds"], "s", note="one process")))],
        tables=[_build_table(built), _search_table(searched, networks), _beside_table(beside), _growth_table(grown),
                _study_table(studied, networks[last])],
        details={"networks": networks, "study": studied},
    )


def _called(network: Found) -> str:
    return f"{network['people']:,} / {network['edges']:,}"


# ---- targets


def _build_targets(built: dict[Any, Found], counts: tuple[int, int]) -> list[Target]:
    rows = [Target(f"graph of {count:,} pairs", limit, built["confide", count]["seconds"], "s",
                   note=f"scipy: {built['scipy', count]['seconds']:.2g} s")
            for count, limit in zip(counts, (1.0, 1.4), strict=True)]
    most = counts[1]
    rows.append(Target(f"graph of {most:,} pairs, memory of the run over scipy's", 1.0,
                       built["confide", most]["run_mb"] / built["scipy", most]["run_mb"],
                       note=f"{built['confide', most]['run_mb']:.0f} and {built['scipy', most]['run_mb']:.0f} MB"))
    if ("confide", 10**8) in built:
        large = built["confide", 10**8]
        rows += [Target("graph of 100,000,000 pairs", 20.0, large["seconds"], "s"),
                 Target("the same, memory of the whole process", 6000.0, large["peak_mb"], "MB",
                        note="including the edge list")]
    return rows


def _search_targets(searched: dict[Any, Found], networks: dict[str, Found]) -> list[Target]:
    return [Target(f"private search, 14 components, {_called(networks[name])}, stop \"{stop}\"",
                   {"27k": 0.15, "236k": 1.0, "2M": 3.0}[name], one["seconds"], "s",
                   note=f"{one['calls']} calls, {one['queries']:,} examinations")
            for (name, stop), one in searched.items()]


def _beside_targets(beside: dict[int, Found]) -> list[Target]:
    return [Target(f"networkx over ours, {one['targets']:,} targets among co-authors, time", 20.0,
                   one["networkx, s"] / one["ours, s"], at_least=True,
                   note=f"{one['networkx, s']:.2g} and {one['ours, s']:.2g} s") for one in beside.values()]


def _growth_targets(grown: dict[int, tuple[Found, Found]]) -> list[Target]:
    (first, run), rows = grown[1], []
    for factor, (made, searched) in grown.items():
        if factor > 1:
            rows += [Target(f"graph: growth from {first['edges']:,} to {made['edges']:,} edges, over {factor}", 1.3,
                            made["seconds"] / first["seconds"] / factor),
                     Target("search, the same", 1.3, searched["seconds"] / run["seconds"] / factor)]
    return rows


# ---- tables


def _build_table(built: dict[Any, Found]) -> Table:
    rows = [(f"{count:,}", by, one["seconds"], one["run_mb"], one["peak_mb"]) for (by, count), one in built.items()]
    return Table("Graphs from pairs", ("pairs", "by", "s", "memory of the run, MB", "whole process, MB"), rows)


def _search_table(searched: dict[Any, Found], networks: dict[str, Found]) -> Table:
    rows = [(_called(networks[name]), stop, one["calls"], one["components"], one["targets"], one["queries"],
             one["seconds"], one["run_mb"], one["peak_mb"]) for (name, stop), one in searched.items()]
    return Table("Private searches of 14 components, secure noise",
                 ("people / edges", "stop", "calls", "components found", "targets found", "examined", "s",
                  "memory of the run, MB", "whole process, MB"), rows,
                 "Counts are from the last run. The number of targets depends on the noise, so the table does not "
                 "compare stops.")


def _beside_table(beside: dict[int, Found]) -> Table:
    rows = [(one["targets"], one["found"], one["found by networkx"], one["queries"], one["examined by networkx"],
             one["ours, s"], one["networkx, s"], one["networkx, s"] / one["ours, s"]) for one in beside.values()]
    return Table("Compared with networkx, co-authors, 14 components, no stop",
                 ("targets", "found", "by networkx", "examined", "by networkx", "confide, s", "networkx, s", "times"),
                 rows, "Both programs search the first component in the same order. After that, each program has "
                 "noise of its own.")


def _growth_table(grown: dict[int, tuple[Found, Found]]) -> Table:
    rows = [(factor, made["edges"], made["seconds"], run["calls"], run["queries"], run["seconds"])
            for factor, (made, run) in grown.items()]
    return Table("Growth at one mean degree", ("times", "edges", "graph, s", "calls", "examined", "search, s"), rows)


def _study_table(studied: Found, network: Found) -> Table:
    rows = [(name, *(f"{mean:.1f} ± {spread:.1f}" for mean, spread in zip(
        studied["found"][name], studied["deviation"][name], strict=True))) for name in studied["found"]]
    return Table(f"Targets found after so many examinations, {_called(network)}, {studied['targets']} targets",
                 ("search", *(f"{budget:,}" for budget in BUDGETS)), rows,
                 f"Figures are the mean and standard deviation of {studied['runs']} runs. Target has no noise. PTarget "
                 f"has no stop, noise of scale 20, and {studied['calls']:.1f} calls on average at the last budget. So "
                 f"the risk multiplier of PTarget is {studied['corrected']:.2f}, but the source claims "
                 f"{studied['claimed']:.2f}. RandomOrder costs nothing. All searches are cut off at the last budget, "
                 "which is not allowed for a private search. The PTarget runs took "
                 f"{studied['seconds']:.3g} s, and the RandomOrder runs took {studied['random order, s']:.3g} s.")


# ---- words


def _findings(built: dict[Any, Found], counts: tuple[int, int], searched: dict[Any, Found],
              networks: dict[str, Found], beside: dict[int, Found], studied: Found, last: str) -> list[str]:
    most = counts[1]
    times = [one["networkx, s"] / one["ours, s"] for one in beside.values()]
    ends = {name: found[-1] for name, found in studied["found"].items()}
    slowest = {name: max(one["seconds"] for (at, _), one in searched.items() if at == name) for name, _ in searched}
    return [
        f"A graph of {most:,} pairs takes {built['confide', most]['seconds']:.2g} s and "
        f"{built['confide', most]['run_mb']:.0f} MB, and scipy's graph takes {built['scipy', most]['seconds']:.2g} s "
        f"and {built['scipy', most]['run_mb']:.0f} MB.",
        "A private search of 14 components takes at most "
        + ", ".join(f"{seconds:.2g} s at {_called(networks[name])}" for name, seconds in slowest.items())
        + f". On networkx a search takes at least {min(times):.0f} times as long as ours.",
        f"After {BUDGETS[-1]:,} examinations at {_called(networks[last])}, Target has found {ends['Target']:.1f} "
        f"targets, PTarget {ends['PTarget']:.1f}, and RandomOrder {ends['RandomOrder']:.1f}.",
    ]


# ---- processes


def _job(name: str, *arguments: object) -> Found:
    found: Found = in_own_process("search_worker", name, *arguments)
    return found
