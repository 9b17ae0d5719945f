"""The number of additional targets that improvements of the private search find at equal privacy, for fragmented
targets. The improvements are a smoothed stop, one-sided noise, Gumbel noise, and separate accounting for thresholds and
selections.

All variants of the search have the same total privacy loss (epsilon, delta). Random order has no privacy loss, and
every variant is compared with random order. A search with a stop is compared with random order after the same number of
examinations. Spec targeted_search 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance
from confide.evidence.wu_2017.targeted_search.studies.runs import COMPONENTS, DELTA, Network, casts, costars, group_of
from confide.search.discovery import Found, in_random_order, privately, without_noise
from confide.search.noise_kinds import NoiseKind
from confide.search.planning import compositions
from confide.search.stopping import Stop
from confide.search.targeted import PTarget

__all__ = ["STUDY", "Way", "call_epsilon"]

_Row = tuple[str | int | float | None, ...]
_CALLS = COMPONENTS - 1
_K = 2_000  # in 27,262 people
_GRID = 100


@dataclass(frozen=True, kw_only=True)
class Way:
    """A variant of the search.

    Args:
        stop: stopping rule of the search: "none", "private" or "smoothed".
        noise_kind: law of the noise: "laplace", "exponential" or "gumbel".
        tight: whether the losses of all calls are composed by the best bound at delta = 10^-6; False for their sum, as
            printed.
        grid: public largest value of the threshold; None for the default of the mechanism.
    """

    stop: Stop
    noise_kind: NoiseKind
    tight: bool
    grid: int | None = None

    @property
    def name(self) -> str:
        """The name of the variant, in a few words."""
        stop = {"none": "no stop", "private": "private stop", "smoothed": "smoothed stop"}[self.stop]
        grid = "" if self.grid is None else f", thresholds to {self.grid}"
        return f"{stop}{grid}, {self.noise_kind}, {'best composition' if self.tight else 'sum'}"


_WAYS = (
    Way(stop="private", noise_kind="laplace", tight=False),  # as printed, but for what erratum E3 corrects
    Way(stop="private", noise_kind="exponential", tight=False),
    Way(stop="private", noise_kind="gumbel", tight=True),
    Way(stop="smoothed", noise_kind="laplace", tight=False),
    Way(stop="smoothed", noise_kind="exponential", tight=False),
    Way(stop="smoothed", noise_kind="gumbel", tight=True),
    Way(stop="smoothed", noise_kind="gumbel", tight=True, grid=_GRID),
    Way(stop="none", noise_kind="laplace", tight=False),
    Way(stop="none", noise_kind="exponential", tight=False),
    Way(stop="none", noise_kind="laplace", tight=True),
    Way(stop="none", noise_kind="gumbel", tight=True),
)


def call_epsilon(way: Way, total: float) -> float:
    """The largest privacy loss of one of 13 calls for which all calls together lose at most (total, 10^-6).

    Args:
        way: variant of the search, with stopping rule, noise and accounting.
        total: epsilon of the whole search in nats, > 0.

    Example:
        >>> round(call_epsilon(Way(stop="private", noise_kind="gumbel", tight=True), 1.167237), 4)
        0.2
    """
    if not way.tight:
        return total / _CALLS
    low, high = total / _CALLS, total
    for _ in range(30):
        middle = (low + high) / 2
        fits = min(compositions(_CALLS, middle, DELTA, way.stop, way.noise_kind).values()) <= total
        low, high = (middle, high) if fits else (low, middle)
    return low


def _search(network: Network, way: Way, total: float) -> PTarget:
    people = network.graph.people
    drawn = way.stop != "none"
    target = max(1, round(_K * people / 27_262)) if drawn else None
    return PTarget(people, COMPONENTS, target, call_epsilon(way, total), network.degree_bound if drawn else None,
                   stop=way.stop, noise_kind=way.noise_kind, delta=DELTA, largest_threshold=way.grid)


def _gain(found: Found, chance: Found) -> float:
    """Mean number of targets in whole runs, minus the number that random order finds after the mean number of
    examinations of these runs.

    The difference is not taken run by run, because a run that ends with its last component has just found a target.
    """
    return float(found.ended_with.mean() - chance.curves[:, round(float(found.queries.mean()))].mean())


def _lift(found: Found, chance: Found, budgets: tuple[int, ...]) -> tuple[float, float]:
    """Mean number of targets beyond those of random order, averaged over the budgets, and its standard error."""
    means = [each.curves[:, list(budgets)].mean(axis=1) for each in (found, chance)]
    off = sum(float(each.var(ddof=1)) / len(each) for each in means)
    return float(means[0].mean() - means[1].mean()), math.sqrt(off)


def _run(quick: bool, progress: Progress | None) -> Findings:
    network = costars(small=True) if quick else casts() or costars(small=False)
    runs, totals = (30, (2.6,)) if quick else (200, (1.3, 2.6, 10.4))
    group = group_of(network, 2)
    last, budgets = network.graph.people - 1, network.budgets
    chance, plain = in_random_order(group, COMPONENTS, last, 2 * runs), without_noise(group, COMPONENTS, last)
    base = chance.at(budgets)
    lead = float((plain.at(budgets) - base).mean())
    rows: list[_Row] = [
        ("", name, None, None, *(round(float(each), 2) for each in found.at(budgets)),
         round(float((found.at(budgets) - base).mean()), 2), round(float(found.ended_with.mean()), 2),
         round(float(found.queries.mean())), round(_gain(found, chance), 2))
        for name, found in (("random order", chance), ("Target (not private)", plain))]
    compared: list[Compared] = []
    drawn: list[tuple[float, float, str]] = []
    done = 0
    for total in totals:
        lifts: dict[Way, tuple[float, float]] = {}
        gains: dict[Way, float] = {}
        for way in _WAYS:
            search = _search(network, way, total)
            found = privately(group, search, last, runs)
            lifts[way], gains[way] = _lift(found, chance, budgets), _gain(found, chance)
            rows.append((total, way.name, search.epsilon, search.call.noise_scale,
                         *(round(float(each), 2) for each in found.at(budgets)), round(lifts[way][0], 2),
                         round(float(found.ended_with.mean()), 2), round(float(found.queries.mean())),
                         round(gains[way], 2)))
            if total == 2.6 and way in (_WAYS[0], _WAYS[6], _WAYS[7], _WAYS[10]):
                drawn += _points(found, way.name, network)
            done += 1
            advance(progress, done, len(totals) * len(_WAYS))
        compared += _compared(total, lifts, gains, lead)
    for name, each in (("Target (not private)", plain), ("random order", chance)):
        drawn += _points(each, name, network)
    return Findings(compared=tuple(compared), blocks=(
        *curves(drawn, title=f"Found targets at (2.6, 10^-6) in all, fragmented ({network.name})", x="examinations",
                y="found targets",
                alt="Found targets against examinations. Target finds most. Gumbel and Laplace noise without a stop "
                    "lie between Target and random order. The curve of the printed private stop is flat after the "
                    "first searches."),
        Table(columns=("epsilon in all", "search", "epsilon of a call", "scale b",
                       *(f"found at {each:,}" for each in budgets), "over random order, mean of these", "found in all",
                       "examinations in all", "over random order after as many examinations"),
              rows=tuple(rows),
              note=f"{network.name}{network.instead}: {group.targets} targets in {len(group.sizes)} components, "
                   f"k = {COMPONENTS}, common neighbours, delta = 10^-6, d = {network.degree_bound:,}, K = {_K:,} in "
                   f"27,262 people; means of {runs} runs, random order of {2 * runs}.")))


def _points(found: Found, name: str, network: Network) -> list[tuple[float, float, str]]:
    grid = np.unique(np.linspace(0, network.budgets[-1], 60).astype(int)).tolist()
    return [(float(at), float(mean), name) for at, mean in zip(grid, found.at(tuple(grid)).tolist(), strict=True)]


def _compared(total: float, lifts: dict[Way, tuple[float, float]], gains: dict[Way, float],
              lead: float) -> list[Compared]:
    one = dict(zip(("printed", "one-sided", "gumbel", "smoothed", "smoothed one-sided", "smoothed gumbel", "short",
                    "free", "free one-sided", "free tight", "free gumbel"), _WAYS, strict=True))

    def row(quantity: str, ours: float, remark: str = "") -> Compared:
        return Compared(quantity=f"epsilon {total:g}: {quantity}", published=None, ours=ours, remark=remark,
                        agreement="not published")

    def lift(quantity: str, way: str) -> Compared:
        mean, off = lifts[one[way]]
        more = mean - lifts[one["free"]][0]
        apart = math.hypot(off, lifts[one["free"]][1])
        what = (f"Target's: {lead:.2f}" if way == "free" else
                f"{more:+.2f} from Laplace noise by the sum: " + ("more" if more > 2 * apart else
                                                                 "less" if more < -2 * apart else "no difference seen"))
        return row(quantity, mean, f"+- {off:.2f}; {what}")

    return [
        row("targets over random order after as many examinations, printed settings", gains[one["printed"]],
            "the threshold is nearly uniform: searches stop at once"),
        row("the same, smoothed stop", gains[one["smoothed"]]),
        row("the same, smoothed stop, one-sided noise", gains[one["smoothed one-sided"]],
            "its count is twice as sensitive"),
        row("the same, smoothed stop, gumbel noise, best composition", gains[one["smoothed gumbel"]]),
        row("the same, and a short public grid of thresholds", gains[one["short"]]),
        lift("targets over random order, mean of the budgets, no stop", "free"),
        lift("the same, one-sided noise", "free one-sided"),
        lift("the same, best composition of Laplace noise", "free tight"),
        lift("the same, gumbel noise, best composition", "free gumbel"),
    ]


STUDY = Study(
    name="search-better",
    title="Better searches at equal privacy",
    source="Wu 2017, section 7.5, third regime; extensions of our own",
    statement="With highly fragmented targets PTarget finds only a few less than Target.",
    run=_run,
)
