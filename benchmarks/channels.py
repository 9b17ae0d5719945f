"""Channels: releases, constants, curves, and the two solvers beside their peers."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from benchmarks.processes import in_own_process
from benchmarks.report import Report, Table, Target

TITLE = "Channels"


def run(*, quick: bool) -> Report:
    """Run every job in a process of its own, and report its largest memory."""
    rows = (100_000, 200_000, 400_000) if quick else (2_500_000, 5_000_000, 10_000_000)
    vectors = (14, 15, 16) if quick else (20, 22, 24)
    sizes = (4, 5) if quick else (6, 7, 8)
    slopes = (8, 9, 10) if quick else (16, 17, 18)
    released = [(n, *_figures(_job("release", n), ("randomised response", "top-k", "water-filling"))) for n in rows]
    curves = [(n, *_figures(_job("curve", n), ("dp", "identifiability", "mutual-information"))) for n in (10, 10**6)]
    constants = [(f"2^{n}", *_figures(_job("constants", n), ("seconds", "peak_mb"))) for n in vectors]
    columns = ("seconds", "level", "gap")
    programs = [(2**n, *_figures(_job("program", n), columns), *_figures(_job("clarabel", n), columns[:2]))
                for n in sizes]
    alike = [(m, n, *_figures(_job("types", m, n), ("seconds", "level", "gap")))
             for m, n in (((2, 10), (2, 20), (3, 4)) if quick else ((2, 10), (2, 20), (2, 40), (3, 4), (3, 5), (3, 6)))]
    information = [(f"2^{n}", *_figures(_job("slope", n), ("seconds", "gap", "peak_mb"))) for n in slopes]
    few = 7 if quick else 10
    ours, peer = _job("slope", few), _job("blahut", few)
    limits = {64: 0.3, 128: 15.0, 256: 60.0}
    return Report(
        title=TITLE,
        method=[
            "Each figure is the time of one run in a process of its own, after a small run of the same kind to warm "
            "up.",
            f"One peer is the same linear program in cvxpy {version('cvxpy')} with Clarabel {version('clarabel')}. "
            "This peer certifies nothing, and its channels are analysed unchanged. The other peer is the textbook "
            "iteration of Blahut and Arimoto, stopped at the same gap.",
            "Priors of programs and slopes are drawn from Dirichlet's law, so that no symmetry helps.",
        ],
        targets=[
            Target(f"{rows[-1]:,} rows released by randomised response", 2.0, released[-1][1], "s"),
            Target(f"constants of 2^{vectors[0]} databases", 10.0, constants[0][1], "s"),
            Target(f"constants of 2^{vectors[-1]} databases, memory", 1000.0, constants[-1][2], "MB"),
            *(Target(f"program over {row[0]} x {row[0]} pairs, certified", limits[row[0]], row[1], "s")
              for row in programs if row[0] in limits),
            *(Target(f"program over joint types, m = {m}, n = {n}, certified", limit, seconds, "s")
              for m, n, seconds, *_ in alike for limit in [{(2, 40): 10.0, (3, 6): 6.0}.get((m, n))] if limit),
            Target(f"information, one slope, 2^{slopes[-1]} databases", 10.0, information[-1][1], "s"),
            Target(f"information to a gap of 1e-8, 2^{few} databases, slope 1.5", 0.5, ours["seconds"], "s"),
        ],
        tables=[
            Table("A release of n independent rows, five letters, secure noise",
                  ("rows", "randomised response, s", "top-k, s", "water-filling, s"), released),
            Table("1,000 points of a curve, five letters, independent rows",
                  ("rows", "differential privacy, s", "identifiability, s", "information, s"), curves),
            Table("All constants of any prior", ("databases", "s", "memory, MB"), constants),
            Table("Least distortion at a level of .5, any prior",
                  ("databases", "s", "level of the channel", "certified gap", "cvxpy, s", "level of cvxpy's channel"),
                  programs),
            Table("Least distortion at a level of .5, exchangeable prior",
                  ("letters", "rows", "s", "level of the channel", "certified gap"), alike),
            Table("Least information at slope 1.5, any prior", ("databases", "s", "certified gap", "memory, MB"),
                  information),
            Table(f"The same, 2^{few} databases", ("method", "s", "gap", "steps"),
                  [("confide", ours["seconds"], ours["gap"], None),
                   ("Blahut and Arimoto", peer["seconds"], peer["gap"], peer["steps"])]),
        ],
    )


def _job(*arguments: object) -> dict[str, float]:
    found: dict[str, float] = in_own_process("channels_worker", *arguments)
    return found


def _figures(found: dict[str, float], names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(found[name] for name in names)
