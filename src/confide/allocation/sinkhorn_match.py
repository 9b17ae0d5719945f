"""`SinkhornMatch`: prices from a few noisy releases of smooth demand, then a public lottery where too many ask.

Not in the source. An ascending auction counts every bid, and its noise is that of a sum of many counts. Here each of R
rounds releases one noisy sum of soft demands at public prices; each price moves by the temperature times the logarithm
of its demand over its supply, as Sinkhorn's scaling does; the temperature falls from round to round. In the end
everybody asks for her best good at the last prices; one more noisy count says which share of those who ask for a good
can have it, and public coins say who.

Source: ours. Scaling of smooth assignment problems: Sinkhorn 1967; private price adjustment: Hsu, Huang, Roth,
Roughgarden and Wu 2014.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.allocation.coins import COINS, coin_of, coins, draw_seed
from confide.allocation.favourites import best_goods
from confide.allocation.market import Market
from confide.allocation.soft_demand import WHOLE, soft_demand
from confide.allocation.valuations import Valuations, as_row
from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.privacy.accounting import float_up
from confide.privacy.events import Event, PureEvent
from confide.privacy.noise.base import as_noise

__all__ = ["ScalingBillboard", "SinkhornMatch"]

_GRID = 20  # of prices: multiples of 2^-20, the same on every machine
_LEAST = 0.2  # of the supply: noise beyond that says nothing of how low demand is


@dataclass(frozen=True, kw_only=True, eq=False)
class ScalingBillboard(AnyBillboard):
    """What anyone may see.

    Args:
        people: n.
        goods: k.
        demands: (R, k) noisy sums of soft demand, in units of 2^-16 bidders.
        paths: (R + 1, k) prices before each round, and at the end, in units of 2^-20.
        asked: (k,) noisy numbers of those who ask for each good at the last prices.
        rates: (k,) a bidder gets what she asks for if her coin is below this, out of 2^32.
        seed: of the coins.
        surplus: as `Billboard` has it.
        welfare: so too.
    """

    people: int
    goods: int
    demands: NDArray[np.int64]
    paths: NDArray[np.int64]
    asked: NDArray[np.int64]
    rates: NDArray[np.int64]
    seed: str
    surplus: float | None = None
    welfare: float | None = None

    @property
    def prices(self) -> NDArray[np.float64]:
        """(k,) at the end."""
        return np.ldexp(self.paths[-1].astype(np.float64), -_GRID)


@dataclass(frozen=True, kw_only=True)
class SinkhornMatch(Market):
    """One good for each bidder at most, out of k goods with several copies each.

    Args:
        rounds: R >= 1, releases of soft demand.
        hottest: temperature of the first round, > 0.
        coolest: of the last one.
        step: how far a price moves, in temperatures for each factor e of demand over supply.
        growth: how many times as much of the budget a round gets as the one before it.
        clear: share of epsilon for the final count, in (0, 1).
    """

    rounds: int = 8
    hottest: float = 0.3
    coolest: float = 0.1
    step: float = 1.0
    growth: float = 1.2
    clear: float = 0.4

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("rounds", self.rounds, at_least=1)
        for name in ("hottest", "coolest", "step", "growth"):
            positive(name, getattr(self, name))
        if fraction("clear", self.clear) + self.certify_with >= 1:
            raise InvalidInput("clear", f"{self.clear!r} leaves nothing for the prices",
                               "clear + certify_with must be below 1")

    @cached_property
    def temperatures(self) -> tuple[float, ...]:
        """Of each round, falling by the same factor."""
        steps = max(1, self.rounds - 1)
        return tuple(self.hottest * (self.coolest / self.hottest) ** (r / steps) for r in range(self.rounds))

    @cached_property
    def budgets(self) -> tuple[Fraction, ...]:
        """Epsilon of each round, together what clearing and certificate leave."""
        left = self.part(1.0) - self.part(self.clear) - self.part(self.certify_with)
        weights = [Fraction(self.growth ** r) for r in range(self.rounds)]
        return tuple(left * weight / sum(weights) for weight in weights)

    def scale(self, budget: Fraction) -> float:
        """Of discrete Laplace noise on whole numbers that a replaced bidder moves by `distance` in l1, rounded up."""
        return float_up(self.distance / budget)

    def _spent(self) -> tuple[Event, ...]:
        spent = [(float_up(sum(self.budgets, Fraction(0))), "soft demands"), (self.part_down(self.clear), "clearing")]
        if self.certificate_plan is not None:
            spent.append((self.certificate_plan.measure.cost, "certificate"))
        return tuple(PureEvent(epsilon=epsilon, neighbours=self.unit, label=label) for epsilon, label in spent)

    # ---- public arithmetic after each release

    def moved(self, prices: NDArray[np.int64], demand: NDArray[np.int64], r: int) -> NDArray[np.int64]:
        """The prices after a round, on the grid.

        Args:
            prices: (k,) before it, in units of 2^-20.
            demand: (k,) as released.
            r: the round, from 0.
        """
        supply = np.array(self.copies, dtype=np.float64)
        excess = np.log(np.maximum(demand / WHOLE, _LEAST * supply) / supply)
        after = np.ldexp(prices.astype(np.float64), -_GRID) + self.step * self.temperatures[r] * excess
        return np.rint(np.ldexp(np.clip(after, 0.0, 1.0), _GRID)).astype(np.int64)

    def rates(self, asked: NDArray[np.int64]) -> NDArray[np.int64]:
        """(k,) the largest rates at which surely no good is given beyond its supply.

        Half of gamma is for the noise, half for the coins: with D who ask at most, the number of those whose coin is
        below the rate is binomial.

        Args:
            asked: (k,) as released.
        """
        from scipy.stats import binom

        each = self.gamma / (2 * self.goods)
        reach = math.ceil(self.scale(self.part(self.clear)) * math.log(1.0 / each))
        found = []
        for most, supply in zip((asked + reach).tolist(), self.copies, strict=True):
            if most <= supply:
                found.append(COINS)
                continue
            low, high = 0, COINS
            while high - low > 1:
                middle = (low + high) // 2
                fits = float(binom.sf(supply, most, middle / COINS)) <= each * (1 - 1e-9)
                low, high = (middle, high) if fits else (low, middle)
            found.append(low)
        return np.array(found, dtype=np.int64)

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Callable[[int, int], object] | None = None,
    ) -> Outcome | SimulatedOutcome:
        """Rounds, clearing, and everybody's good.

        Args:
            data: (n, k) valuations in [0, 1], dense or sparse, or `Valuations`.
            noise: `Noise.secure()` for a settlement.
            progress: told the rounds played and all of them.
        """
        source = as_noise(noise)
        values = Valuations.of(data, people=self.people, goods=self.goods)
        paths, demands = [np.zeros(self.goods, dtype=np.int64)], []
        for r, budget in enumerate(self.budgets):
            prices = np.ldexp(paths[-1].astype(np.float64), -_GRID)
            true = soft_demand(values, prices, self.temperatures[r])
            demands.append(source.discrete_laplace(self.scale(budget / WHOLE), self.goods, stream=("demand", r),
                                                   center=true))
            paths.append(self.moved(paths[-1], demands[-1], r))
            if progress is not None:
                progress(r + 1, self.rounds)
        prices = np.ldexp(paths[-1].astype(np.float64), -_GRID)
        wanted = best_goods(values, prices)
        asked = source.discrete_laplace(self.scale(self.part(self.clear)), self.goods, stream="asked",
                                        center=np.bincount(wanted[wanted >= 0], minlength=self.goods))
        seed = draw_seed(source)
        rates = self.rates(asked)
        lucky = coins(seed, self.people) < rates[np.maximum(wanted, 0)]
        held = np.where((wanted >= 0) & lucky, wanted, -1).astype(np.int32)
        told: tuple[float | None, float | None] = (None, None)
        if self.certificate_plan is not None:
            told = self.certificate_plan.told(values, prices, held, source)
        board = ScalingBillboard(people=self.people, goods=self.goods, demands=np.stack(demands), paths=np.stack(paths),
                                 asked=asked, rates=rates, seed=seed, surplus=told[0], welfare=told[1])
        return self._outcome(noise, billboard=board, shares=pa.table({"good": pa.array(held)}),
                             certificate=self.certify(board), diagnostics=self.diagnose(values, held))

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        board = self._own(billboard)
        row = as_row(record, self.goods)
        gains = row - board.prices
        best = int(np.argmax(gains))
        if not gains[best] > 0.0 or not coin_of(board.seed, index) < int(board.rates[best]):
            return {"good": -1}
        return {"good": best}

    def _own(self, billboard: AnyBillboard) -> ScalingBillboard:
        if not isinstance(billboard, ScalingBillboard) or (billboard.people, billboard.goods) != (
                self.people, self.goods):
            raise InvalidInput("billboard", "is of another mechanism")
        return billboard
