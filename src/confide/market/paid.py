"""Payments from two public counts: how many reported 1, and how many 0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.market.costs import Cost
from confide.market.strategies import Strategy, as_reports

__all__ = ["KnownLevel", "Paid", "PaidByCounts"]


class Paid(NamedTuple):
    """What each participant with that report is paid, and all together."""

    one: float
    zero: float
    total: float


class PaidByCounts:
    """What the markets share that pay by counts."""

    if TYPE_CHECKING:

        @property
        def people(self) -> int: ...

        @property
        def presence(self) -> float: ...

        def pay(self, ones: int, zeros: int) -> Paid: ...

    @property
    def company(self) -> float:
        """P(at least one of the others takes part)."""
        if self.presence == 1:
            return 1.0
        return -math.expm1((self.people - 1) * math.log1p(-self.presence))

    def participants(self, ones: int, zeros: int) -> int:
        """How many took part.

        Raises:
            InvalidInput: more reports than people, or no counts.
        """
        n = whole("ones", ones) + whole("zeros", zeros)
        if n > self.people:
            raise InvalidInput("ones + zeros", f"{n} reports are more than are invited", f"at most {self.people}")
        return n

    def pay_reports(self, reports: ArrayLike) -> NDArray[np.float64]:
        """(N,) payments of N reports; 2 stands for taking no part, which is paid nothing.

        Raises:
            InvalidInput: not N reports, or one that is not 0, 1 or 2 (which one is not said).
        """
        found = as_reports(reports, self.people)
        paid = self.pay(int(np.sum(found == 1)), int(np.sum(found == 0)))
        return np.choose(found, [paid.zero, paid.one, 0.0])


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
