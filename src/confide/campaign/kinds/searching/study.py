"""The study beside a simulated run: how fast each search finds members. Uses private data; never a release.

The search without noise and the one in a random order are always shown beside the private one: without the second
nobody sees what epsilon buys.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from confide.campaign.kinds.searching.pages_after import release_of
from confide.campaign.kinds.searching.plan import PlannedSearch
from confide.charts import curves
from confide.charts.shapes import told_apart
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Section, Table, Text
from confide.privacy.noise import Noise
from confide.search.baselines import random_order, target
from confide.search.oracles import Investigation
from confide.search.releases import OperatorLog

__all__ = ["study_sections"]

_MANY, _FEW, _SMALL = 20, 3, 50_000  # runs that are averaged, up to so many people and beyond
_POINTS = 60
_SEED = 20_240_311  # of the runs that are averaged
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def study_sections(plan: PlannedSearch, data: Investigation, outcome: SimulatedOutcome) -> list[Section]:
    """Members found against people examined: without noise, with the plan's, and in a random order.

    Args:
        plan: as it was run.
        data: with all answers.
        outcome: of the simulated run.
    """
    it, people = plan.mechanism, plan.people
    runs = _MANY if people <= _SMALL else _FEW
    logs, calls = list[OperatorLog](), list[int]()
    for number in range(runs):
        log = OperatorLog()
        calls.append(int(release_of(it.run(data, Noise.simulated(_SEED + number), log=log)).calls))
        logs.append(log)
    by_chance = [random_order(data, it.components, Noise.simulated(_SEED + number)).log for number in range(runs)]
    plain = target(data, it.components, it.stopping_target).log
    longest = max(log.queries for log in (*logs, *by_chance, plain))
    grid = np.unique(np.linspace(0, max(1, longest), _POINTS).round().astype(np.int64))
    named = {"without noise (not private)": _found([plain], grid),
             f"private, mean of {runs} runs": _found(logs, grid), **_spread(logs, grid),
             f"random order (costs nothing), mean of {runs} runs": _found(by_chance, grid)}
    budgets = np.unique(np.round(np.array(_SHARES) * people).astype(np.int64))
    columns = (_found([plain], budgets), _found(logs, budgets), *_spread(logs, budgets).values(),
               _found(by_chance, budgets))
    table = Table(
        columns=("people examined", *named), rows=tuple(
            (int(budget), *(float(column[place]) for column in columns)) for place, budget in enumerate(budgets)),
        note="Non-private: members found, the first seed among them, after so many examinations; beside the mean "
             "the 10% and 90% quantiles of private runs. A private search must "
             "never be stopped after a number of them: that would tell on contacts without bound.")
    ends = ", ".join(f"{name}: {values[-1]:.4g}" for name, values in named.items())
    pictures = told_apart(curves([(float(x), float(y), name) for name, values in named.items()
                       for x, y in zip(grid, values, strict=True)],
                      title="Members found", x="people examined", y="members found",
                      alt=f"Members found against people examined. At the end, {ends}."))
    mean = float(np.mean(calls))
    spent = float(np.mean(np.exp(np.minimum(np.array(calls) * it.epsilon, 700.0))))
    lost = "" if it.noise_kind != "laplace" else (
        f"; the source would print {math.exp(min(700.0, mean * it.call.sensitivity / it.call.noise_scale)):.4g} on "
        "average, which is false")
    said = dict(outcome.diagnostics)
    return [Section(title="What this search finds, beside others", study=True, blocks=(table, *pictures, Text((
        f"This run examined {int(said['queries']):,} people and found {len(release_of(outcome).order):,} members by "
        f"{release_of(outcome).calls:,} paid searches.",
        f"On average {mean:.3g} paid searches were made; a list was at most {spent:.4g} times as likely with other "
        f"contacts of one protected person{lost}.",
        "To choose a method or an epsilon by what stands here would be a leak: choose by the plan, or by a study of a "
        "public network.",
    ))))]


def _spread(logs: list[OperatorLog], grid: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """What a tenth of the private runs do not come to, and what a tenth exceed: name -> (len(grid),)."""
    counts = _counts(logs, grid)
    return {f"private, {name} tenth of runs": np.quantile(counts, share, axis=0)
            for name, share in (("lowest", 0.1), ("highest", 0.9))}


def _counts(logs: list[OperatorLog], grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """(runs, len(grid)) members found after so many examinations."""
    return np.array([np.searchsorted(log.found_after, grid, side="right") for log in logs], dtype=np.float64)


def _found(logs: list[OperatorLog], grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """(len(grid),) members found after so many examinations, averaged."""
    return np.asarray(_counts(logs, grid).mean(axis=0))
