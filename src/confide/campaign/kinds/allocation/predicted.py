"""What a campaign's market would give to made-up people who write what the campaign asks for; and what else there is.

Predictions are no promises, and nothing of them comes from anybody's record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from confide.allocation.duality import dual_bound
from confide.allocation.favourites import best_goods
from confide.allocation.instances import instance_a
from confide.allocation.market import Market
from confide.allocation.planning import predicted as simulation
from confide.allocation.planning.advice import worth_it
from confide.allocation.planning.predicted import CrowdPrediction
from confide.allocation.reading.scales import Ranks, Scale
from confide.allocation.valuations import Valuations

__all__ = ["Expected", "lottery_welfare", "made_up", "most_welfare", "predicted"]

_PRIOR = 4_000  # made-up orders
_STEPS = 120  # of prices towards those that bound the welfare best


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What made-up people would get, as shares of the best that is possible: means over all kinds of crowds.

    Args:
        crowds: what came out on each kind of them.
    """

    crowds: Mapping[str, CrowdPrediction]

    @property
    def share(self) -> float:
        """From the market."""
        return self._mean(lambda one: one.welfare)

    @property
    def span(self) -> tuple[float, float]:
        """The same in the worst and in the best of all runs."""
        return min(one.lowest for one in self.crowds.values()), max(one.highest for one in self.crowds.values())

    @property
    def runs(self) -> int:
        """Of all kinds together."""
        return sum(one.runs for one in self.crowds.values())

    @property
    def baseline(self) -> float:
        """From handing out the goods without asking anybody."""
        return self._mean(lambda one: one.baseline)

    @property
    def baselines(self) -> Mapping[str, float]:
        """From rules that are not private."""
        names = next(iter(self.crowds.values())).baselines
        return {name: self._mean(lambda one, name=name: one.baselines[name]) for name in names}  # type: ignore[misc]

    @property
    def worth_it(self) -> bool:
        """Whether each kind of crowd does better than if nobody of it were asked."""
        return worth_it(self.crowds)

    def _mean(self, of: Callable[[CrowdPrediction], float]) -> float:
        return math.fsum(of(one) for one in self.crowds.values()) / len(self.crowds)


@lru_cache(maxsize=64)
def predicted(market: Market, scale: Scale, runs: int = simulation.RUNS) -> Expected:
    """On made-up people of the family's instances; where sizes are large, on smaller crowds (`reduced`).

    Args:
        market: which.
        scale: how people's tastes become values.
        runs: crowds of each kind.
    """
    rows = None
    if isinstance(scale, Ranks):
        rows = made_up(_PRIOR, market.goods, scale, seed=1).reshape(_PRIOR, market.goods)
    return Expected(crowds=simulation.predicted(market, rows, runs=runs))


def made_up(people: int, goods: int, scale: Scale, seed: int) -> NDArray[np.float32]:
    """(n, k) values of made-up people of instance A, as they follow from what they would write.

    Args:
        people: n.
        goods: k.
        scale: the public rule; of ranks, everybody ranks all goods.
        seed: public.

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


def lottery_welfare(values: Valuations, supply: tuple[int, ...]) -> float:
    """The expected welfare of raffling each good among those who like it best, without a second choice. Private.

    Args:
        values: everybody's.
        supply: (k,).

    Example:
        >>> lottery_welfare(Valuations.of([[1.0, 0.5], [0.5, 0.0]], people=2, goods=2), (1, 1))
        0.75
    """
    wanted = best_goods(values, np.zeros(values.goods))
    there = wanted >= 0
    asked = np.bincount(wanted[there], minlength=values.goods)
    liked = np.bincount(wanted[there], weights=values.of_goods(wanted)[there], minlength=values.goods)
    return math.fsum(liked * np.minimum(1.0, np.array(supply) / np.maximum(1, asked)))


def most_welfare(values: Valuations, supply: tuple[int, ...]) -> float:
    """No allocation gives more: the least bound by weak duality on a walk of prices after demand. Private.

    Args:
        values: everybody's.
        supply: (k,).

    Example:
        >>> round(most_welfare(Valuations.of([[1.0], [0.5], [0.2]], people=3, goods=1), (1,)), 2)
        1.0
    """
    copies = np.array(supply, dtype=np.float64)
    prices = np.zeros(values.goods)
    least = dual_bound(values, supply, prices)
    for step in range(_STEPS):
        wanted = best_goods(values, prices)
        asked = np.bincount(wanted[wanted >= 0], minlength=values.goods)
        excess = np.clip((asked - copies) / copies, -1.0, 1.0)
        prices = np.clip(prices + 0.2 * 0.96**step * excess, 0.0, 1.0)
        least = min(least, dual_bound(values, supply, prices))
    return least
