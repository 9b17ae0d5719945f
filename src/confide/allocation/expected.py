"""Predictions of a market's welfare on synthetic people who answer truthfully, and of the welfare if goods are assigned
without asking anybody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation import predicted as simulation
from confide.allocation.bundles.bidders import BundleClass
from confide.allocation.bundles.rows import width
from confide.allocation.crowds import BundleCrowd, counted_serially, lottery_of_bundles, serial_bundles, spread_evenly
from confide.allocation.instances import instance_a, instance_b
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.planning import worth_it
from confide.allocation.predicted import LOTTERY, RUNS, SERIAL, CrowdPrediction
from confide.allocation.scales import PointsTogether, Ranks, Scale
from confide.allocation.second_identities import CROWDS, SecondIds, second_ids
from confide.allocation.valuations import Valuations
from confide.privacy.noise import Noise

__all__ = ["Expected", "made_up", "made_up_bundles", "predicted", "predicted_bundles", "second_bundles"]

_PRIOR = 4_000  # made-up orders


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Predicted welfare of synthetic people, as a share of the optimal welfare. The figures `share`, `baseline` and
    `baselines` are averages over the kinds of populations.

    Args:
        crowds: mapping from the name of a kind of synthetic population, such as "A", to the prediction for that kind.
    """

    crowds: Mapping[str, CrowdPrediction]

    @property
    def share(self) -> float:
        """Share of the optimal welfare that the market reaches."""
        return self._mean(lambda one: one.welfare)

    @property
    def span(self) -> tuple[float, float]:
        """Share of the optimal welfare that the market reaches in the worst run, and in the best run."""
        return min(one.lowest for one in self.crowds.values()), max(one.highest for one in self.crowds.values())

    @property
    def runs(self) -> int:
        """Number of runs of all kinds of populations together."""
        return sum(one.runs for one in self.crowds.values())

    @property
    def baseline(self) -> float:
        """Share of the optimal welfare if the goods are assigned without asking anybody."""
        return self._mean(lambda one: one.baseline)

    @property
    def baselines(self) -> Mapping[str, float]:
        """Mapping from the name of a rule that is not private to the share of the optimal welfare that the rule
        reaches.
        """
        names = next(iter(self.crowds.values())).baselines
        return {name: self._mean(lambda one, name=name: one.baselines[name]) for name in names}  # type: ignore[misc]

    @property
    def worth_it(self) -> bool:
        """Whether the market reaches more welfare, in each kind of population, than an assignment of the goods without
        asking anybody.
        """
        return worth_it(self.crowds)

    def _mean(self, of: Callable[[CrowdPrediction], float]) -> float:
        return math.fsum(of(one) for one in self.crowds.values()) / len(self.crowds)


@lru_cache(maxsize=64)
def predicted(market: Market, scale: Scale, runs: int = simulation.RUNS) -> Expected:
    """Predict the welfare of a market of single goods on synthetic people of instances A and B (`instance_a`,
    `instance_b`). If people give ranks, their rows are drawn from the ranks of synthetic people of instance A. A large
    market is scaled down (`reduced`).

    Args:
        market: market to predict.
        scale: public rule that turns answers into values.
        runs: number of synthetic populations of each kind, each with one run.
    """
    rows = None
    if isinstance(scale, Ranks):
        rows = made_up(_PRIOR, market.goods, scale, seed=1).reshape(_PRIOR, market.goods)
    return Expected(crowds=simulation.predicted(market, rows, runs=runs))


def made_up(people: int, goods: int, scale: Scale, seed: int) -> NDArray[np.float32]:
    """The values that follow from the answers of synthetic people of instance A (`instance_a`), shape (n, k).

    Args:
        people: number n of people.
        goods: number k of goods.
        scale: public rule that turns answers into values. With ranks, all people rank all goods.
        seed: public seed of the synthetic people.

    Example:
        >>> sorted(made_up(1, 4, Ranks.borda(4), seed=3)[0].tolist())
        [0.25, 0.5, 0.75, 1.0]
    """
    tastes = instance_a(people, goods, seed=seed)
    if not isinstance(scale, Ranks):
        return tastes
    row = np.repeat(np.arange(people), goods)
    place = np.argsort(np.argsort(-tastes, axis=1, kind="stable"), axis=1).astype(np.float64) + 1.0
    return scale.values(row, place.reshape(-1)).reshape(people, goods)


_CELLS = 250_000  # of the table that is made up


@lru_cache(maxsize=64)
def predicted_bundles(market: PAlloc, scale: Scale, runs: int = RUNS) -> Expected:
    """Predict the welfare of a market of bundles on synthetic people. In instance A their tastes differ, and in
    instance B their needs differ too.

    A large market is scaled down, with the same ratio of noise to supply.

    Args:
        market: market to predict.
        scale: public rule that turns answers into values.
        runs: number of synthetic populations of each kind, each with one run.
    """
    small = _reduced(market)
    return Expected(crowds={name: CrowdPrediction.of([_run(small, scale, needs, seed) for seed in range(1, runs + 1)])
                            for name, needs in (("A", False), ("B", True))})


@lru_cache(maxsize=64)
def second_bundles(market: PAlloc, scale: Scale) -> SecondIds:
    """The gain of one person from a second identity, on synthetic people whose tastes and needs differ.

    Args:
        market: market to measure.
        scale: public rule that turns answers into values.
    """
    small = _reduced(market)
    crowds = [made_up_bundles(small.valuation, small.people, small.goods, scale, seed=seed, needs=True)
              for seed in range(1, CROWDS + 1)]

    def worth(record: Any, goods: tuple[int, ...]) -> float:
        """The value of goods to a bidder. A second copy of a good counts only in classes in which copies add value."""
        kept = goods if small.valuation.repeats else tuple(sorted(set(goods)))
        return small.valuation.bidder(record, small.goods).value(kept)

    return second_ids(small, [(each.data, each.record) for each in crowds], lambda share: tuple(share["bundle"]), worth)


def _run(small: PAlloc, scale: Scale, needs: bool, seed: int) -> CrowdPrediction:
    crowd = made_up_bundles(small.valuation, small.people, small.goods, scale, seed=seed, needs=needs)
    outcome: Any = small.run(crowd.data, Noise.simulated(seed))
    best, _ = crowd.best(small.copies, outcome.billboard.prices)
    share = outcome.diagnostics["welfare"] / best
    return CrowdPrediction(
        welfare=share, lowest=share, highest=share, baseline=_blind(crowd, small.copies) / best, runs=1,
        baselines={name: welfare / best for name, welfare in _beside(crowd, small.copies, seed).items()},
        certificate=None if outcome.certificate is None else outcome.certificate.ratio, people=small.people,
        goods=small.goods)


def _beside(crowd: BundleCrowd, supply: tuple[int, ...], seed: int) -> dict[str, float]:
    """The welfare of rules that see all numbers. If only the number of goods counts, no bidder has a favourite good, so
    there is no lottery.
    """
    table, most = crowd.rows.values.reshape(crowd.rows.people, -1), crowd.valuation.largest(crowd.goods)
    if crowd.valuation.repeats:
        return {SERIAL: counted_serially(table, sum(supply), seed)}
    return {LOTTERY: lottery_of_bundles(table.astype(np.float64), supply, most),
            SERIAL: serial_bundles(table.astype(np.float64), supply, most, seed)}


def _reduced(market: PAlloc) -> PAlloc:
    part = _CELLS / (market.people * market.goods)
    if part >= 1.0:
        return market
    copies = tuple(max(1, round(copy * part)) for copy in market.copies)
    reserve = None if market.reserve is None else int(market.reserve * part)
    return replace(market, people=max(1, round(market.people * part)), supply=copies, epsilon=market.epsilon / part,
                   batch=max(1, round(market.batch * part)), reserve=reserve, on_overflow="flag")


def made_up_bundles(
    valuation: BundleClass, people: int, goods: int, scale: Scale, *, seed: int, needs: bool = False
) -> BundleCrowd:
    """The rows that follow from the answers of synthetic people of instance A or B.

    The answers of a synthetic person are in proportion to the person's tastes, and add up to at most the public total
    of the rule `scale`.

    Args:
        valuation: class of the valuations.
        people: number n of people.
        goods: number k of goods.
        scale: public rule that turns answers into values.
        seed: public seed of the synthetic people.
        needs: whether needs differ too (instance B).
    """
    most, size = valuation.largest(goods), width(valuation, goods)
    if isinstance(scale, Ranks):
        return BundleCrowd(valuation, _rows(made_up(people, goods, scale, seed)), goods)
    tastes = (instance_b if needs else instance_a)(people, size, seed=seed)
    if valuation.repeats:
        tastes = -np.sort(-tastes, axis=1)
    worth = tastes.astype(np.float64)
    if isinstance(scale, PointsTogether):
        worth *= (scale.highest - scale.lowest) / scale.total
    largest = -np.sort(-worth, axis=1)[:, :most].sum(axis=1)
    return BundleCrowd(valuation, _rows((worth / np.maximum(1.0, largest)[:, None]).astype(np.float32)), goods)


def _rows(table: NDArray[np.float32]) -> Valuations:
    return Valuations.of(table, people=table.shape[0], goods=table.shape[1])


def _blind(crowd: BundleCrowd, supply: tuple[int, ...]) -> float:
    """The expected welfare if goods are assigned by lot, and no person gets more goods than they may want."""
    table = crowd.rows.values.reshape(crowd.rows.people, -1)
    if crowd.valuation.repeats:
        return spread_evenly(table, sum(supply))
    people, copies = len(table), np.array(supply)
    means = table.mean(axis=0, dtype=np.float64)
    order = np.argsort(-means, kind="stable")
    given = np.minimum(copies, people)[order]
    left = np.maximum(0, people * crowd.valuation.largest(crowd.goods) - np.cumsum(given) + given)
    return float((np.minimum(given, left) * means[order]).sum())
