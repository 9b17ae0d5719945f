"""What the markets share that buy one level of everybody, at a cost that everybody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide.market.costs import Cost
from confide.market.paid import PaidByCounts
from confide.market.strategies import Strategy

__all__ = ["KnownLevel"]


class KnownLevel(PaidByCounts):
    """A market in which each person's one best reply is the epsilon-strategy."""

    if TYPE_CHECKING:

        @property
        def cost(self) -> Cost: ...

        @property
        def epsilon(self) -> float: ...

    @property
    def strategy(self) -> Strategy:
        """What everybody who takes part does in equilibrium: the epsilon-strategy."""
        return Strategy.randomised(self.epsilon)

    @property
    def peers(self) -> Strategy:
        """What each of the others is expected to do: the same, if she takes part."""
        return self.strategy.thinned(self.presence)

    @property
    def largest_level(self) -> float:
        """The largest level at which anybody's client reports: epsilon."""
        return self.epsilon

    def level_of(self, worth: float | None = None) -> float:
        """The level at which a person reports: epsilon, whatever a nat of privacy is worth to her."""
        return self.epsilon

    @property
    def margin(self) -> float:
        """By how much the epsilon-strategy beats every report that ignores the bit."""
        return float(self.cost.margin(self.epsilon))
