"""The numbers of an auction of bundles as they were printed, and the sizes that they would take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from confide.contract.parameters import Declared, Parameter
from confide.contract.renamed import renamed
from confide.privacy.tree_blocks import levels

__all__ = ["PrintedBundles"]


@renamed(gamma="failure_probability")
@dataclass(frozen=True, kw_only=True)
class PrintedBundles(Declared):
    """The numbers of PAlloc(alpha, rho, epsilon) as they were printed, and the sizes that they would take.

    The failure probability is missing in print.

    Source: Wu 2017, Algorithm 6, Theorems 4.4.1 and 4.4.2; spec allocation 5, 9.

    Example:
        >>> PrintedBundles(people=10**6, goods=100, supply=20_000, increment=0.1, unsatisfied=0.1, epsilon=1.0,
        ...                failure_probability=0.05).possible
        False
    """

    people: Annotated[int, Parameter("number of bidders", symbol="n", at_least=1)]
    goods: Annotated[int, Parameter("number of different goods", symbol="k", at_least=1)]
    supply: Annotated[int, Parameter("copies of each good", symbol="s", at_least=1)]
    increment: Annotated[float, Parameter("step from one price to the next", symbol="alpha", above=0, at_most=1)]
    unsatisfied: Annotated[float, Parameter("share of bidders who may stay unsatisfied", symbol="rho", above=0,
                                            at_most=1)]
    epsilon: Annotated[float, Parameter("privacy loss of the whole auction", unit="nats", above=0)]
    failure_probability: Annotated[float, Parameter("probability that a promise fails", symbol="gamma", above=0,
                                                    below=1)]

    @property
    def market(self) -> int:
        """The number of copies d = k s."""
        return self.goods * self.supply

    @property
    def rounds(self) -> int:
        """T = 10/(alpha rho), rounded up."""
        return math.ceil(10.0 / (self.increment * self.unsatisfied) * (1.0 - 2.0**-40))

    @property
    def error(self) -> float:
        """E = (2 sqrt 2/epsilon') (log2 nT)^(5/2) ln(4k/gamma) + 1, epsilon' = epsilon/(2T)."""
        counter = self.epsilon / (2 * self.rounds)
        return 1.0 + (2.0 * math.sqrt(2.0) / counter * math.pow(math.log2(self.people * self.rounds), 2.5)
                      * math.log(4 * self.goods / self.failure_probability))

    @property
    def reserve(self) -> float:
        """The reserve m = 2E + 1."""
        return 2.0 * self.error + 1.0

    @property
    def halt_below(self) -> float:
        """The halting threshold rho d - 2E."""
        return self.unsatisfied * self.market - 2.0 * self.error

    @property
    def possible(self) -> bool:
        """Whether anything is left to sell, and it can halt."""
        return self.supply - self.reserve >= 1.0 and self.halt_below > 0.0

    @property
    def loss(self) -> float:
        """The proven cost of the printed noise: epsilon 3T h/(2T log2(nT)), since reports add a half, and a bid lies in
        h = floor(log2 nT) + 1 sums.
        """
        horizon = self.people * self.rounds
        return self.epsilon * 1.5 * levels(horizon, 2) / math.log2(horizon)

    @property
    def theorem_error(self) -> float:
        """E' of a run with (alpha/3, alpha/3)."""
        alpha = self.increment
        return 1.0 + (360.0 * math.sqrt(2.0) / (alpha**2 * self.epsilon)
                      * math.pow(math.log2(90.0 * self.people / alpha**2),
                                 2.5) * math.log(4 * self.goods / self.failure_probability))

    @property
    def theorem_supply(self) -> float:
        """The least s for SW >= OPT - alpha d: (12 E' + 3)/alpha; d > n; d >= 24 E'/alpha, which the print omits."""
        off = self.theorem_error
        return max((12.0 * off + 3.0) / self.increment, (self.people + 1) / self.goods,
                   24.0 * off / self.increment / self.goods)

    @property
    def theorem_loss(self) -> float:
        """The loss alpha d, of which the theorem speaks; vacuous from n on, as nobody's bundle is worth more than 1."""
        return self.increment * self.market
