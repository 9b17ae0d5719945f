"""A market as it really pays: in whole coins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.market.costs import Cost
from confide.market.nature import Nature
from confide.market.strategies import Strategy

__all__ = ["InCoins"]


@dataclass(frozen=True)
class InCoins:
    """The market whose payments are rounded up, as the equilibrium checker takes it.

    Args:
        market: a market that pays a report by whether it meets the majority of the others.
        minor_units: smallest coins per unit.

    Example:
        >>> from confide.market import LinearCost, MajorityMarket, check_equilibrium
        >>> market = MajorityMarket(10, 0.8, 0.7, LinearCost(1.0), 1.0)
        >>> [round(check_equilibrium(InCoins(market, coins)).regret, 6) for coins in (1, 100)]
        [0.002423, 0.0]
    """

    market: Any
    minor_units: int

    @property
    def people(self) -> int:
        return int(self.market.people)

    @property
    def cost(self) -> Cost:
        found: Cost = self.market.cost
        return found

    @property
    def nature(self) -> Nature:
        found: Nature = self.market.nature
        return found

    @property
    def presence(self) -> float:
        return float(self.market.presence)

    @property
    def strategy(self) -> Strategy:
        found: Strategy = self.market.strategy
        return found

    def _rounded(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.ceil(amounts * self.minor_units) / self.minor_units
        return found

    def tariff(self, least: int = 2, largest: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What a matching 1 and a matching 0 are paid."""
        for_one, for_zero = self.market.tariff(least, largest)
        return self._rounded(for_one), self._rounded(for_zero)

    def peer_payments(self, ones: ArrayLike, zeros: ArrayLike) -> NDArray[np.float64]:
        """(3, ...) what the reports 0, 1, none are paid when that many of the others report 1 and 0."""
        return self._rounded(self.market.peer_payments(ones, zeros))
