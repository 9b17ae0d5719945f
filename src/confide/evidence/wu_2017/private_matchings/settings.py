"""Printed constants of the source's three auctions: rounds, counters, error, reserve, and the privacy loss of the
printed noise.

Numbers are as printed unless a name says otherwise. Logarithms of horizons (numbers of steps) are to base 2. All other
logarithms are natural, as the proofs mean. The source writes "log" for both.

Source: Wu 2017, Algorithms 4, 5 and 6; spec allocation 3.1, 3.2, 3.4, 5.

The module also computes the exact l1 distance that replacing one bidder causes in the blocks of the printed counters. A
block is a partial sum that a counter releases. The proofs multiply two worst cases: the number of differences in the
bidder's bids and reports, and for each difference the number h of blocks that contain it. A bidder's step is contained
in h blocks only in few rounds. The printed noise is therefore closer to the required noise than the product of the two
worst cases suggests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.renamed import renamed
from confide.privacy.accounting import written
from confide.privacy.tree_blocks import levels

__all__ = [
    "DOCUMENT",
    "BidsSetting",
    "BundleSetting",
    "MatchingSetting",
    "PrintedSetting",
    "as_meant",
    "blocks_of_slots",
    "matching_exposure",
    "printed_error",
]

# ---- exposure


def blocks_of_slots(people: int, rounds: int) -> NDArray[np.int64]:
    """The number of finished blocks of a binary tree over N = nT steps that contain a given step, shape (T, n). The
    entry for a round and a bidder belongs to the step at which the bidder acts in the round.

    Args:
        people: number n of bidders.
        rounds: number T of rounds.

    Example:
        >>> blocks_of_slots(2, 2).tolist()
        [[3, 2], [2, 1]]
    """
    n, horizon = whole("people", people, at_least=1), people * whole("rounds", rounds, at_least=1)
    steps = np.arange(1, horizon + 1, dtype=np.int64)
    found = np.zeros(horizon, dtype=np.int64)
    for level in range(levels(horizon, 2)):
        number = ((steps - 1) >> level) + 1  # of the block of this level that holds the step
        found += (number % 2 == 1) & (number << level <= horizon)
    return found.reshape(rounds, n)


def matching_exposure(people: int, rounds: int) -> int:
    """The largest l1 distance between all finished blocks of bids and reports in two neighbouring runs of Algorithm 4.
    The maximum is over the position of the replaced bidder and over all possible runs.

    Let x_r <= 2 be the distance of the bidder's bids in round r, and y_r <= 1 the distance of the bidder's reports at
    the end of that round. The sum x_{r+1} + y_r is at most 2, because a bidder who is free in only one of the two runs
    bids in only one of them. The report of round r has the same position as the bid in that round.

    Args:
        people: number n of bidders.
        rounds: number T of rounds.

    Source: spec allocation 3.2.

    Example:
        >>> matching_exposure(1024, 8), 2 * 8 * 13, (2 * 8 + 1) * 14
        (215, 208, 238)
    """
    each = blocks_of_slots(people, rounds)
    instead = np.maximum(0, each[:-1] - each[1:]).sum(axis=0)
    return int((2 * each.sum(axis=0) + instead + each[-1]).max())


# ---- settings

DOCUMENT = "Wu 2017"

_SIMPLE = 10**6


def as_meant(value: float | Fraction) -> Fraction:
    """The fraction with a small denominator that rounds to the given double, such as 1/30 for the double nearest to
    1/30. If no such fraction exists, the result is the shortest decimal number that rounds to the double.

    Numbers of rounds must be exact. At increment 1/30 and tolerance 1/30 the number 8/(alpha rho) of rounds is 7200.
    For the doubles just below 1/30 the computed number would be 7201.

    Example:
        >>> as_meant(1 / 30), as_meant(0.05)
        (Fraction(1, 30), Fraction(1, 20))
    """
    if isinstance(value, Fraction | int):
        return Fraction(value)
    simple = Fraction(value).limit_denominator(_SIMPLE)
    return simple if float(simple) == value else written(value)


def printed_error(counter_epsilon: float, horizon: float, goods: int, failure_probability: float) -> float:
    """The printed error bound E = (2 sqrt2/eps') (log2(nT))^(5/2) ln(4k/gamma) of all counts.

    Args:
        counter_epsilon: privacy loss eps' of one counter, in nats.
        horizon: number nT of steps, at least 2.
        goods: number k of goods.
        failure_probability: failure probability gamma, in (0, 1).

    Source: Wu 2017, Theorem 4.2.4 and Algorithm 4.
    """
    least = 2.0 * math.sqrt(2.0) / counter_epsilon * math.log(4.0 * goods / failure_probability)
    return least * math.pow(math.log2(horizon), 2.5)


@renamed(gamma="failure_probability", distance="l1_sensitivity")
@dataclass(frozen=True, kw_only=True)
class PrintedSetting(Declared):
    """The constants that the three auctions of the source share.

    The increment may be a `Fraction` where a double is not exact. The failure probability is missing from the source's
    lists of arguments.
    """

    people: Annotated[int, Parameter("number of bidders", symbol="n", at_least=1)]
    goods: Annotated[int, Parameter("number of different goods", symbol="k", at_least=1)]
    epsilon: Annotated[float, Parameter("privacy loss of the whole auction", unit="nats", above=0)]
    failure_probability: Annotated[float, Parameter("probability that a promise fails", symbol="gamma", above=0,
                                                    below=1)]
    increment: Annotated[float | Fraction, Parameter("step from one price to the next", symbol="alpha", above=0,
                                                     at_most=1)]

    @property
    def rounds(self) -> int:
        """The number of rounds T, rounded up."""
        raise NotImplementedError

    @property
    def l1_sensitivity(self) -> int:
        """Largest total l1 distance of all streams of bids and reports when one bidder is replaced, over all possible
        runs. The source says 2T for T rounds.
        """
        raise NotImplementedError

    @property
    def counter_epsilon(self) -> float:
        """The privacy loss eps' = epsilon/(2T) of one counter."""
        return self.epsilon / (2 * self.rounds)

    @property
    def horizon(self) -> int:
        """The number N = nT of steps after which each counter is released."""
        return self.people * self.rounds

    @property
    def levels(self) -> int:
        """The largest number h of blocks that one bid lies in: floor(log2 N) + 1 for N steps."""
        return levels(self.horizon, 2)

    @cached_property
    def error(self) -> float:
        """Printed error bound E. All counts are within E of the true counts at all times, except with the failure
        probability.
        """
        return printed_error(self.counter_epsilon, self.horizon, self.goods, self.failure_probability)

    @property
    def reserve(self) -> float:
        """The number m = 2E + 1 of copies of each good in reserve."""
        return 2.0 * self.error + 1.0

    def effective_supply(self, supply: int) -> int:
        """The effective supply s' = floor(s - m), for supply s and reserve m. At every realistic size s' is below 1, so
        that nothing can be sold.

        Args:
            supply: number s of copies of each good.
        """
        return math.floor(whole("supply", supply, at_least=1) - self.reserve)

    @property
    def printed_scale(self) -> float:
        """The printed scale log2(N)/eps' of the Laplace noise of every block, for N steps and privacy loss eps' of a
        counter.
        """
        return math.log2(self.horizon) / self.counter_epsilon

    @property
    def proved_epsilon(self) -> float:
        """The proven privacy loss epsilon l1_sensitivity h/(2T log2 N) of the printed noise, which is above epsilon."""
        return self.l1_sensitivity * self.levels / self.printed_scale

    @property
    def strict_scale(self) -> float:
        """The scale l1_sensitivity h/epsilon of the Laplace noise at which the auction has privacy loss epsilon."""
        return self.l1_sensitivity * self.levels / self.epsilon


@renamed()
@dataclass(frozen=True, kw_only=True)
class MatchingSetting(PrintedSetting):
    """The printed constants of the auction PMatch, which gives each bidder at most one good.

    Source: Wu 2017, Algorithm 4; spec allocation 3.1; errata 1, 2.

    Example:
        >>> setting = MatchingSetting(people=10**6, goods=100, epsilon=1.0, failure_probability=0.05,
        ...                           increment=Fraction(1, 30), tolerance=Fraction(1, 30))
        >>> setting.rounds, round(setting.error / 1e9, 5), round(setting.proved_epsilon, 6)
        (7200, 2.24598, 1.007847)
    """

    tolerance: Annotated[float | Fraction, Parameter("share of bidders who may stay unsatisfied", symbol="rho", above=0,
                                                     at_most=1)]

    @cached_property
    def rounds(self) -> int:
        """The number of rounds T = 8/(alpha rho), rounded up."""
        return math.ceil(8 / (as_meant(self.increment) * as_meant(self.tolerance)))

    @property
    def l1_sensitivity(self) -> int:
        """The l1 sensitivity 2T + 1 for T rounds. Bids alone can have distance 2T, and a report of a lost good replaces
        a bid.
        """
        return 2 * self.rounds + 1

    @property
    def halt_below(self) -> float:
        """The halting threshold rho n - 2E: a round with fewer counted reports of outbid bidders is the last round. If
        the threshold is not positive, the auction never halts early.
        """
        return float(as_meant(self.tolerance)) * self.people - 2.0 * self.error


@renamed()
@dataclass(frozen=True, kw_only=True)
class BundleSetting(PrintedSetting):
    """The printed constants of PAlloc, where bidders hold bundles.

    Source: Wu 2017, Algorithm 6; spec allocation 5; erratum 3.
    """

    tolerance: Annotated[float | Fraction, Parameter("share of the d = ks goods that may stay unsold", symbol="rho",
                                                     above=0, at_most=1)]
    tests: Annotated[Literal["slot", "round_end"], Parameter(
        "when holders look whether they are outbid: in their slot, as printed, or at the end of a round")] = "slot"

    @cached_property
    def rounds(self) -> int:
        """The number of rounds T = 10/(alpha rho), rounded up."""
        return math.ceil(10 / (as_meant(self.increment) * as_meant(self.tolerance)))

    @property
    def l1_sensitivity(self) -> int:
        """The l1 sensitivity of all counters. The sensitivity is 3T where bidders test their goods in their slot: two
        bids and one report in every round. The sensitivity is 2T + 1 where bidders test their goods at the end of a
        round.
        """
        return 3 * self.rounds if self.tests == "slot" else 2 * self.rounds + 1

    @cached_property
    def error(self) -> float:
        """Printed error bound E, which is larger by one than that of the other auctions."""
        return printed_error(self.counter_epsilon, self.horizon, self.goods, self.failure_probability) + 1.0

    def halt_below(self, supply: int) -> float:
        """The halting threshold rho d - 2E, with d = ks copies in all.

        Args:
            supply: number s of copies of each good.
        """
        return float(as_meant(self.tolerance)) * self.goods * supply - 2.0 * self.error


@renamed()
@dataclass(frozen=True, kw_only=True)
class BidsSetting(PrintedSetting):
    """The printed constants of CountBids, the version of PMatch that halts after a round with few bids.

    The source assumes that the optimum is known exactly. In that case `optimum_at_most` is left out.

    Source: Wu 2017, Algorithm 5; spec allocation 3.4.

    Example:
        >>> setting = BidsSetting(people=300, goods=6, epsilon=1e9, failure_probability=0.05, increment=0.125,
        ...                       least=1.0, optimum=240.0)
        >>> setting.rounds, round(setting.halt_below, 3)
        (1536, 14.835)
    """

    least: Annotated[float, Parameter("public promise that no value but 0 is below it", symbol="lambda", above=0,
                                      at_most=1)]
    optimum: Annotated[float, Parameter("the best welfare, or a lower bound on it; public", symbol="OPT", above=0)]
    optimum_at_most: Annotated[float | None, Parameter("an upper bound on the best welfare")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.optimum_at_most is not None and not self.optimum_at_most >= self.optimum:
            raise InvalidInput("optimum_at_most", f"{self.optimum_at_most!r} is below {self.optimum!r}",
                               "must be at least the lower bound")

    @cached_property
    def rounds(self) -> int:
        """The number of rounds T = 24 OPT_up/(alpha^2 OPT_low), rounded up. The source's number 24/alpha^2 assumes that
        the optimum OPT is known exactly.
        """
        most = self.optimum if self.optimum_at_most is None else self.optimum_at_most
        return math.ceil(24 * Fraction(most) / (as_meant(self.increment) ** 2 * Fraction(self.optimum)))

    @property
    def l1_sensitivity(self) -> int:
        """The l1 sensitivity 2T for T rounds, because a bidder's report comes in the same round as their bid."""
        return 2 * self.rounds

    @property
    def halt_below(self) -> float:
        """The halting threshold alpha OPT_low/(2 lambda) - 2E: a round with fewer counted bids is the last round."""
        return float(as_meant(self.increment)) * self.optimum / (2.0 * self.least) - 2.0 * self.error
