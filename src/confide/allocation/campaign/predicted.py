"""What a market would give to made-up people, whose tastes are public: so many, so many goods, at the same noise.

It is no promise, and nothing of it comes from anybody's record. What the family's own advice predicts takes its place
where that is there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from confide.allocation.duality import dual_bound
from confide.allocation.favourites import best_goods
from confide.allocation.instances import instance_a
from confide.allocation.market import Market
from confide.allocation.reading_scales import Ranks, Scale
from confide.allocation.valuations import Valuations
from confide.contract.outcome import SimulatedOutcome
from confide.privacy.noise import Noise

__all__ = ["Prediction", "lottery_welfare", "made_up", "most_welfare", "predicted"]

_RUNS = 3
_LARGEST = 2_000_000  # values of made-up people
_STEPS = 120  # of prices towards those that bound the welfare best


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What made-up people would get.

    Args:
        welfare: mean, in units of the highest value.
        best: no allocation gives them more.
        lottery: what they would get on average if each good were raffled among those who like it best.
    """

    welfare: float
    best: float
    lottery: float

    @property
    def share(self) -> float:
        """Of the best that is possible, at least."""
        return self.welfare / self.best


@lru_cache(maxsize=32)
def predicted(market: Market, scale: Scale) -> Prediction | None:
    """The mean of a few runs with simulated noise; None where there are too many people and goods to try out.

    Args:
        market: which.
        scale: how people's tastes become values.
    """
    if market.people * market.goods > _LARGEST or len(market.events()) == 0:
        return None
    welfare, best, lottery = list[float](), list[float](), list[float]()
    for seed in range(_RUNS):
        values = made_up(market.people, market.goods, scale, seed)
        outcome = market.run(values, Noise.simulated(seed))
        if not isinstance(outcome, SimulatedOutcome):
            return None
        welfare.append(outcome.diagnostics["welfare"])
        best.append(most_welfare(values, market.copies))
        lottery.append(lottery_welfare(values, market.copies))
    return Prediction(welfare=math.fsum(welfare) / _RUNS, best=math.fsum(best) / _RUNS,
                      lottery=math.fsum(lottery) / _RUNS)


def made_up(people: int, goods: int, scale: Scale, seed: int) -> Valuations:
    """Made-up people of instance A, who write what the campaign asks for.

    Args:
        people: n.
        goods: k.
        scale: the public rule; of ranks, everybody ranks all goods.
        seed: public.

    Example:
        >>> made_up(1, 4, Ranks.borda(4), 3).values.tolist()
        [0.5, 0.25, 0.75, 1.0]
    """
    tastes = instance_a(people, goods, seed=seed)
    if isinstance(scale, Ranks):
        row = np.repeat(np.arange(people), goods)
        place = np.argsort(np.argsort(-tastes, axis=1, kind="stable"), axis=1).astype(np.float64) + 1.0
        tastes = scale.values(row, place.reshape(-1)).reshape(people, goods)
    return Valuations.of(tastes, people=people, goods=goods)


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
