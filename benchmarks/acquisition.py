"""Buying a mean: the certified optimum and everybody's payment, beside general optimisers."""

from __future__ import annotations

import os
from importlib.metadata import version

from benchmarks.processes import in_own_process
from benchmarks.report import Report, Table, Target

TITLE = "Buying a mean"


def run(*, quick: bool) -> Report:
    """Every job in a process of its own, at n, 2 n and 4 n where it grows."""
    load = os.getloadavg()[0]
    share = 100 if quick else 1
    largest = 10**6 // share
    sizes = sorted({10**3, 10**4, 10**5 // share, largest // 4, largest // 2, largest})
    optima = {(n, kind, gamma): _job("optimum", n, kind, gamma)
              for kind, gamma in (("uniform", "10"), ("uniform", "10000"), ("close", "10")) for n in sizes}
    rules = {"the optimum": (), "the grid": ("grid",)}
    paid = {(n, gamma, rule): _job("paying", n, gamma, *words) for gamma in ("10", "10000")
            for rule, words in rules.items() for n in sorted({10**3, 10**5 // share, largest // 2, largest})}
    all_of_it = {(n, limit): _job("whole", n, "10000", *([limit] if limit else []))
                 for limit in ("", "2") for n in sorted({10**3, 10**4, 10**5 // share})}
    grids = {(n, gamma): _job("approximation", n, gamma) for gamma in ("10", "10000") for n in (10**3, largest)}
    printed = [_job("printed", row) for row in range(3)]
    slsqp = {n: _job("slsqp", n) for n in ((10, 30) if quick else (10, 30, 100, 300))}
    evolution = {n: _job("evolution", n) for n in ((3,) if quick else (3, 5, 10))}
    cones = {n: _job("cone", n) for n in ((100, 1000) if quick else (100, 1000, 10**4, 10**5))}

    def slowest(n: int) -> float:
        return max(found["seconds"] for (size, _, _), found in optima.items() if size == n)

    def paying(n: int) -> float:
        return max(found["seconds"] for (size, _, _), found in paid.items() if size == n)

    return Report(
        title=TITLE,
        method=[
            "Each figure is the least time of 5 runs (3 runs for payments) after two runs that compile and warm up. "
            "Jobs shorter than 10 ms are repeated within a run. Each job and size has a process of its own. Memory is "
            "the memory of the whole process, including Python and the compiler. The settings are alpha = 2, VAR = "
            "1/12, a uniform prior, and reports in random order.",
            "Close costs are all within 1e-7 of 1/2, so everybody has weight.",
            f"Two peers are from scipy {version('scipy')}: SLSQP on the problem reduced to weights, with its gradient "
            "(ftol 1e-13), and differential evolution on weights and levels (tol 1e-8, at most 2000 generations). The "
            f"third peer is cvxpy {version('cvxpy')} with Clarabel {version('clarabel')} at its own tolerances (1e-8), "
            "for convex problems (psi <= 1). Our objective values the weights of the peers. Our optimum is certified "
            "to 1e-13.",
            f"The machine is shared. Its load average was {load:.2f} when the measurement began.",
        ],
        findings=[
            f"The algorithm as printed misses the optimum in {sum(_missed(each) for each in printed)} of "
            f"{len(printed)} instances. Clarabel takes {_longer(cones):,.0f} times as long as confide for "
            f"{max(cones):,} users, and SLSQP takes {_longer(slsqp):,.0f} times as long for {max(slsqp)} users. "
            "Neither of the two proves anything where psi > 1.",
        ],
        targets=[
            Target(f"the optimum, n = {largest:,}", 3.0, slowest(largest), "s"),
            Target("the optimum, n = 10,000", 0.03, slowest(10**4), "s"),
            *(Target(f"memory, n = {largest:,}, {kind} costs", 300.0, optima[largest, kind, "10"]["peak_mb"], "MB")
              for kind in ("uniform", "close")),
            Target("relative gap proved", 1e-13, max(found["gap"] for found in optima.values())),
            Target(f"contracts and payments of all, n = {largest:,}", 30.0, paying(largest), "s"),
            Target(f"contracts and payments of all, n = {10**5 // share:,}", 5.0, paying(10**5 // share), "s"),
            Target("the whole mechanism, n = 1,000", 0.5,
                   max(found["seconds"] for (n, _), found in all_of_it.items() if n == 10**3), "s"),
        ],
        tables=[
            Table("The optimum", ("virtual costs", "gamma", "users", "winners", "inner solves", "ms", "gap",
                                  "memory, MB"),
                  [(kind, float(gamma), n, found["winners"], found["evaluations"], 1e3 * found["seconds"],
                    found["gap"], found["peak_mb"]) for (n, kind, gamma), found in optima.items()]),
            Table("Contracts and payments of all", ("rule", "gamma", "users", "winners", "s", "memory, MB"),
                  [(rule, float(gamma), n, found["winners"], found["seconds"], found["peak_mb"])
                   for (n, gamma, rule), found in paid.items()],
                  "Rents are exact, and need one more optimum for each winner. The grid is the grid of "
                  "`solve_grid(0.01)`."),
            Table("The whole mechanism, with secure noise on every side, gamma = 10,000, psi_floor = .25",
                  ("largest local loss set", "charged, nats", "users", "asked for a record", "total, s",
                   "contracts and payments, s", "memory, MB"),
                  [(limit or "none", found["charged"], n, found["asked"], found["seconds"], found["contracts, s"],
                    found["peak_mb"]) for (n, limit), found in all_of_it.items()],
                  "Each client's noise is drawn by a call of its own, as on devices."),
            Table("The grid of S that keeps truth best, delta = .01",
                  ("gamma", "users", "values of S", "ms", "more expensive by"),
                  [(float(gamma), n, found["points"], 1e3 * found["seconds"], found["dearer"])
                   for (n, gamma), found in grids.items()]),
            Table("Algorithm 1 as printed, 4001 values of S", ("instance", "optimum", "printed", "ours, ms", "its, ms"),
                  [(name, found["optimum"], found["printed"], 1e3 * found["ours, s"], 1e3 * found["its time"])
                   for name, found in zip(("(.1, 1, 1.9)", "(2, 2)", "10 from .1 to 1.9"), printed, strict=True)],
                  "A printed value below the optimum has negative weights."),
            Table("SLSQP, uniform virtual costs up to 2", ("users", "ours, ms", "one start, ms", "above ours by",
                                                          "best of 10 starts above by"),
                  [(n, 1e3 * found["ours, s"], 1e3 * found["s"], found["above"], found["best of all above"])
                   for n, found in slsqp.items()]),
            Table("Differential evolution", ("users", "ours, ms", "its, ms", "above ours by"),
                  [(n, 1e3 * found["ours, s"], 1e3 * found["s"], found["above"]) for n, found in evolution.items()]),
            Table("cvxpy with Clarabel, convex", ("users", "ours, ms", "its, ms", "above ours by"),
                  [(n, 1e3 * found["ours, s"], 1e3 * found["s"], found["above"]) for n, found in cones.items()]),
        ],
    )


def _longer(peer: dict[int, dict[str, float]]) -> float:
    """How many times as long as ours a peer takes at its largest size."""
    found = peer[max(peer)]
    return found["s"] / found["ours, s"]


def _missed(found: dict[str, float]) -> bool:
    return abs(found["printed"] / found["optimum"] - 1.0) > 1e-6


def _job(*arguments: object) -> dict[str, float]:
    found: dict[str, float] = in_own_process("acquisition_worker", *arguments)
    return found
