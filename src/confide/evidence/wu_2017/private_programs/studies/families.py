"""Measured welfare and excess for bundles, knapsacks, schedules, games and shared projects. Spec convex_programs 9.5.

All instances are simulated. The seeds are not those of the specification, so the numbers are similar but not equal to
the specification's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from confide.charts import intervals
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import OWN_CERTIFICATE, Compared, Findings, Study, advance, bound
from confide.evidence.wu_2017.private_programs.studies.runs import DELTA, REFERENCE, best_of, noisier, ran
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs.families.aggregative_game import AggregativeGame
from confide.programs.families.electricity import Electricity
from confide.programs.families.knapsack import Knapsack
from confide.programs.families.shared_resources import SharedResources
from confide.programs.families.xor_bundles import XorBundles
from confide.programs.priv_dude import PrivDude
from confide.programs.program import Program

__all__ = ["STUDY"]


class _Case(NamedTuple):
    """One family of programs at one size: the program, its records, the ratio of the given noise to ours, and the
    specification's gap and total excess.
    """

    name: str
    program: Program
    data: Any
    times: float
    spec: tuple[float, float]

    @property
    def unit(self) -> str:
        """The quantity with which the excess is compared, as text."""
        bare = self.program.two_sided or isinstance(self.program, SharedResources)
        return " together" if bare else " over all supply"


def _bundles(people: int) -> tuple[Program, Any]:
    """Bundles of 20 goods. Each person has eight bids of three goods, and the supply covers 40% of the demand."""
    draw = study_generator(1, "bundles")
    goods = draw.random((people, 8, 20)).argsort(axis=2)[:, :, :3].astype(np.int32)
    return (XorBundles(people, 0.06 * people, goods=20, size=3, bids=8),
            (np.sort(goods, axis=2), draw.random((people, 8))))


def _items(people: int) -> tuple[Program, Any]:
    """Knapsack with 10 resources and weights uniform on [.2, 1]. A quarter of all items fits."""
    draw = study_generator(1, "items")
    table = np.concatenate([draw.random((people, 1)), draw.uniform(0.2, 1.0, (people, 10))], axis=1)
    return Knapsack(people, 0.15 * people, rows=10, least_weight=0.2), table


def _schedules(people: int) -> tuple[Program, Any]:
    """Schedules of 24 slots in six intervals, with at most eight slots for each person. All values peak at the same
    time, and the supply covers three quarters of the demand.
    """
    draw = study_generator(1, "schedules")
    values = draw.random((people, 6, 4)) * draw.uniform(0.3, 1.0, (6, 4))
    return Electricity(people, 0.25 * people, most=8, intervals=6, slots=4), values


def _game(people: int) -> tuple[Program, Any]:
    """Game with four actions, of which about half are allowed for each person, and three sums. The target is the
    outcome of some mixed strategies.
    """
    draw = study_generator(1, "game")
    parts, allowed = draw.uniform(-1.0, 1.0, (people, 4, 3)), draw.random((people, 4)) < 0.5
    allowed[np.arange(people), draw.integers(0, 4, people)] = True
    mixed = draw.random((people, 4)) * allowed
    mixed /= mixed.sum(axis=1, keepdims=True)
    return (AggregativeGame(people, tuple(np.einsum("na,nak->k", mixed, parts).tolist()), actions=4, largest=1.0),
            (parts, allowed))


def _projects(people: int) -> tuple[Program, Any]:
    """Five projects that share four resources. A resource costs as much as a tenth of all people would pay."""
    draw = study_generator(1, "projects")
    needs = ((0, 1), (1, 2), (2, 3), (0, 3), (1,))
    costs = tuple(float(one) for one in draw.uniform(0.2, 0.5, 4))
    return SharedResources(people, needs=needs, costs=costs), draw.random((people, 5))


def _cases(quick: bool) -> tuple[_Case, ...]:
    def of(name: str, made: Callable[[int], tuple[Program, Any]], people: int, spec: tuple[float, float],
           times: float = 1.0) -> _Case:
        program, data = made(people)
        return _Case(f"{name}, n = {people:,}", program, data, times, spec)

    n = 2_000 if quick else 5_000
    return (
        of("bundles of 3, k = 20, sigma = sqrt6", _bundles, n, (0.006, 0.011)),
        of("bundles of 3, k = 20, sigma = 3 sqrt2 (print)", _bundles, n, (0.016, 0.019), math.sqrt(3.0)),
        of("knapsack, k = 10", _items, 5_000 if quick else 100_000, (0.0002, 0.0008)),
        of("electricity, 24 slots, d_max = 8", _schedules, 1_000 if quick else 4_000, (0.003, 0.007)),
        of("shared resources, 5 projects", _projects, n, (math.nan, math.nan)),
        of("aggregative game, 3 sums", _game, n, (math.nan, 40.0)),
    )


def _unscaled(mechanism: PrivDude, data: Any, runs: int) -> tuple[float, float, float]:
    """Mean welfare error, mean excess and mean certified excess over several runs, for programs with rows that have no
    supply.

    Args:
        mechanism: mechanism of a program of shared resources, or of a game, which has no welfare.
        data: n records.
        runs: number of runs.
    """
    found: list[Any] = [mechanism.run(data, Noise.simulated(seed)) for seed in range(1, runs + 1)]
    total = float(np.mean([one.diagnostics["excess"].sum() for one in found]))
    claimed = float(np.mean([one.certificate.total_excess for one in found]))
    if mechanism.program.two_sided:
        return math.nan, total, claimed
    best = best_of(mechanism.program, data)
    return float(np.mean([abs(best - one.diagnostics["value"]) for one in found])) / best, total, claimed


def _run(quick: bool, progress: Progress | None) -> Findings:
    cases, runs = _cases(quick), 1 if quick else 3
    compared: list[Compared] = []
    rows: list[tuple[str | float, ...]] = []
    points: list[tuple[str, str, float, float, float]] = []
    for done, case in enumerate(cases, 1):
        mechanism = PrivDude(case.program, noisier(1.0, case.times) if case.times != 1.0 else 1.0, DELTA)
        if case.program.two_sided or isinstance(case.program, SharedResources):
            found = _unscaled(mechanism, case.data, runs)
        else:
            measured = ran(mechanism, case.data, best_of(case.program, case.data), runs)
            found = (measured.gap, measured.total, measured.certified_total)
            short = case.name.split(",")[0] + (", print's sigma" if case.times != 1.0 else "")
            points.append((short, "excess, and as certified", found[1], found[1], found[2]))
        gap, total, claimed = found
        compared.append(bound(f"excess of all rows{case.unit}, {case.name}; the certificate claims", total,
                              at_most=claimed, origin=OWN_CERTIFICATE, remark=f"s = {mechanism.noise_std:.1f}"))
        if not math.isnan(gap):
            compared.append(Compared(quantity=f"welfare off, of the optimum, {case.name}", published=None, ours=gap,
                                     agreement="not published"))
        rows.append((case.name, mechanism.noise_std, gap, total, claimed, *case.spec))
        advance(progress, done, len(cases))
    return Findings(compared=tuple(compared), blocks=(
        *intervals(points, title="Excess over supply, and what the certificate claims", axis="share of supply",
                   alt="Excess of all rows over all supply for each family, with a bar up to the certified excess. The "
                       "excess is some percent of supply, and the certified excess is ten times as large at these "
                       "sizes."),
        Table(columns=("family", "noise s of a row", "welfare off", "total excess", "certified", "reference: off",
                       "reference: excess"), rows=tuple(rows),
              note=f"epsilon = 1, delta = 10^-6, T = 200 + 100, mean of {runs}. Excess is the sum over all "
                   f"rows: as it is for the game and for shared resources, else as a share of all supply. {REFERENCE} "
                   "The game of these runs has separate noise for each sign of a row, s = 21.8.")))


STUDY = Study(
    name="programs-families",
    title="The examples of section 5.4, measured",
    source="Wu 2017, section 5.4 and Table 2",
    statement="Excess is in the order of k sigma/epsilon, for every program.",
    run=_run,
)
