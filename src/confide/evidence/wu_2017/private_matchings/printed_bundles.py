"""The printed constants of the auction of bundles (Algorithm 6), and the sizes that these constants require."""

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
    """The printed constants of the auction PAlloc(alpha, rho, epsilon), and the sizes that these constants require.

    The source does not list the failure probability among the arguments of the auction.

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
        """The total number d = k s of copies of all k goods."""
        return self.goods * self.supply

    @property
    def rounds(self) -> int:
        """The number of rounds T = 10/(alpha rho), rounded up."""
        return math.ceil(10.0 / (self.increment * self.unsatisfied) * (1.0 - 2.0**-40))

    @property
    def error(self) -> float:
        """Error bound E = (2 sqrt 2/epsilon') (log2 nT)^(5/2) ln(4k/gamma) + 1 of all counts, where epsilon' =
        epsilon/(2T).
        """
        counter = self.epsilon / (2 * self.rounds)
        return 1.0 + (2.0 * math.sqrt(2.0) / counter * math.pow(math.log2(self.people * self.rounds), 2.5)
                      * math.log(4 * self.goods / self.failure_probability))

    @property
    def reserve(self) -> float:
        """The number m = 2E + 1 of copies of each good in reserve, where E is the error bound of all counts."""
        return 2.0 * self.error + 1.0

    @property
    def halt_below(self) -> float:
        """The halting threshold rho d - 2E, for tolerance rho, d copies of all goods and error bound E."""
        return self.unsatisfied * self.market - 2.0 * self.error

    @property
    def possible(self) -> bool:
        """Whether the reserve leaves a copy to sell, and the halting threshold is positive."""
        return self.supply - self.reserve >= 1.0 and self.halt_below > 0.0

    @property
    def loss(self) -> float:
        """The proven privacy loss of the printed noise: epsilon 3T h/(2T log2(nT)) for T rounds and n bidders. Reports
        of lost goods raise the l1 sensitivity from 2T to 3T, and each bid is contained in h = floor(log2 nT) + 1 sums.
        """
        horizon = self.people * self.rounds
        return self.epsilon * 1.5 * levels(horizon, 2) / math.log2(horizon)

    @property
    def theorem_error(self) -> float:
        """Error bound E' of all counts in a run with increment and tolerance alpha/3, as in the theorem."""
        alpha = self.increment
        return 1.0 + (360.0 * math.sqrt(2.0) / (alpha**2 * self.epsilon)
                      * math.pow(math.log2(90.0 * self.people / alpha**2),
                                 2.5) * math.log(4 * self.goods / self.failure_probability))

    @property
    def theorem_supply(self) -> float:
        """The least supply s for which a welfare loss of at most alpha d is proved. The conditions are s >= (12 E' +
        3)/alpha, d > n, and d >= 24 E'/alpha, which the source omits.
        """
        off = self.theorem_error
        return max((12.0 * off + 3.0) / self.increment, (self.people + 1) / self.goods,
                   24.0 * off / self.increment / self.goods)

    @property
    def theorem_loss(self) -> float:
        """The welfare loss alpha d that the theorem allows. A loss of at least the number n of bidders is vacuous,
        because nobody's bundle is worth more than 1.
        """
        return self.increment * self.market
