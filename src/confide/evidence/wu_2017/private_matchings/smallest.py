"""The least sizes at which the printed theorems promise more than a trivial bound, and the least sizes at which the
printed auctions can run at all.

Source: Wu 2017, Theorems 4.3.5, 4.3.11 and 4.4.2, Lemma 4.3.9; spec allocation 3.3, 3.4, 5; erratum 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import NotGuaranteed, Refused
from confide.contract.parameters import Declared, Parameter
from confide.contract.remedies import Remedy, tried
from confide.contract.renamed import renamed
from confide.evidence.wu_2017.private_matchings.settings import BidsSetting, MatchingSetting, as_meant

__all__ = [
    "Bookkeeping",
    "LeastToRun",
    "Threshold",
    "bids_threshold",
    "bundle_threshold",
    "least_to_run",
    "matching_threshold",
    "smallest_epsilon",
    "smallest_people",
]

_MOST = 2**200


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """The requirements of a printed theorem.

    Args:
        error: error bound E' of all counts in the theorem.
        supply: least number s of copies of each good.
        people: least number n of bidders at this E'. For Theorem 4.4.2, instead the least total number d = ks of copies
            of all goods.
    """

    error: float
    supply: float
    people: float


@renamed(gamma="failure_probability")
def matching_threshold(people: int, goods: int, increment: float, epsilon: float,
                       failure_probability: float) -> Threshold:
    """Requirements of Theorem 4.3.5 for a welfare loss of at most alpha n with probability 1 - gamma. Increment and
    tolerance of the run are alpha/3.

    The requirements are

        E' = (288 sqrt2/(alpha^2 epsilon)) (log2(72n/alpha^2))^(5/2) ln(4k/gamma)
        s >= (16E' + 4)/alpha
        n >= 24E'/alpha

    The theorem omits the last requirement, although Lemma 4.3.9 needs it. Final prices may be above 1, up to (alpha/3)
    ceil(3/alpha). The proof uses 1 as the highest price; other inequalities of the proof leave enough room for the
    difference.

    Args:
        people: number n of bidders.
        goods: number k of goods.
        increment: required accuracy alpha in (0, 1], the allowed welfare loss per bidder.
        epsilon: privacy loss in nats, > 0.
        failure_probability: failure probability gamma, in (0, 1).

    Example:
        >>> found = matching_threshold(10**6, 50, 0.5, 1.0, 0.05)
        >>> f"{found.supply:.1e} copies, {found.people:.1e} bidders"
        '1.8e+09 copies, 2.7e+09 bidders'
    """
    n, alpha = whole("people", people, at_least=1), positive("increment", increment, at_most=1.0)
    error = _error(288, math.log2(72 * n) - 2 * math.log2(alpha), goods, alpha, epsilon, failure_probability)
    return Threshold(error=error, supply=(16.0 * error + 4.0) / alpha, people=24.0 * error / alpha)


@renamed(gamma="failure_probability")
def bundle_threshold(people: int, goods: int, increment: float, epsilon: float,
                     failure_probability: float) -> Threshold:
    """Requirements of Theorem 4.4.2 for a welfare loss of at most alpha d with probability 1 - gamma, where d is the
    number of all copies. For bundles of at most b goods, the source claims a loss of at most alpha n b.

    The requirements are

        E' = (360 sqrt2/(alpha^2 epsilon)) (log2(90n/alpha^2))^(5/2) ln(4k/gamma) + 1
        s >= (12E' + 3)/alpha
        d > n
        d >= 24E'/alpha

    The theorem omits the last requirement.

    Args:
        people: number n of bidders.
        goods: number k of goods.
        increment: required accuracy alpha in (0, 1], the allowed welfare loss per copy.
        epsilon: privacy loss in nats, > 0.
        failure_probability: failure probability gamma, in (0, 1).

    Returns:
        The requirements, where the field `people` is the least d = ks. The bound says something only where alpha d is
        below n.
    """
    n, alpha = whole("people", people, at_least=1), positive("increment", increment, at_most=1.0)
    error = _error(360, math.log2(90 * n) - 2 * math.log2(alpha), goods, alpha, epsilon, failure_probability) + 1.0
    return Threshold(error=error, supply=(12.0 * error + 3.0) / alpha, people=max(n + 1.0, 24.0 * error / alpha))


def _error(factor: int, logs: float, goods: int, alpha: float, epsilon: float, failure_probability: float) -> float:
    chances = math.log(4.0 * whole("goods", goods, at_least=1) / fraction("failure_probability", failure_probability))
    return factor * math.sqrt(2.0) / (alpha**2 * positive("epsilon", epsilon)) * math.pow(logs, 2.5) * chances


def bids_threshold(setting: BidsSetting) -> tuple[float, float]:
    """Requirements of Theorem 4.3.11, re-derived, for a welfare of at least (1 - 3 alpha/lambda) times the optimum with
    probability 1 - gamma.

    Args:
        setting: parameters of the auction CountBids, with the public bounds on the optimum OPT.

    Returns:
        The least number s of copies, max(12E/alpha + 6E + 1, (4E + 1)(1 + 1/alpha)), and the least optimum OPT, 16
        lambda E/alpha, for the error bound E of all counts.

    Source: Wu 2017, Theorem 4.3.11; spec allocation 3.4; erratum 9.
    """
    error, alpha = setting.error, float(as_meant(setting.increment))
    supply = max(12.0 * error / alpha + 6.0 * error + 1.0, (4.0 * error + 1.0) * (1.0 + 1.0 / alpha))
    return supply, 16.0 * setting.least * error / alpha


@renamed(gamma="failure_probability")
def smallest_people(goods: int, increment: float, epsilon: float, failure_probability: float) -> int:
    """The least number of bidders at which Theorem 4.3.5 is of use: some supply meets the requirements of the theorem
    and is not enough for everybody.

    Args:
        goods: number k of goods.
        increment: required accuracy alpha in (0, 1], the allowed welfare loss per bidder.
        epsilon: privacy loss in nats, > 0.
        failure_probability: failure probability gamma, in (0, 1).

    Example:
        >>> f"{smallest_people(100, 0.5, 1.0, 0.05):.3e}"
        '7.558e+09'
    """

    def says(people: int) -> bool:
        found = matching_threshold(people, goods, increment, epsilon, failure_probability)
        return people >= found.people and people > math.ceil(found.supply)

    return _least(says)


@renamed(gamma="failure_probability")
def smallest_epsilon(people: int, goods: int, supply: int, increment: float, failure_probability: float) -> float:
    """The least epsilon, in nats, at which these sizes meet the requirements of Theorem 4.3.5; infinity where no
    epsilon is enough.

    Args:
        people: number n of bidders.
        goods: number k of goods.
        supply: number s of copies of each good. With s >= n the theorem is not needed, and the result is infinity.
        increment: required accuracy alpha in (0, 1], the allowed welfare loss per bidder.
        failure_probability: failure probability gamma, in (0, 1).
    """
    alpha, s = positive("increment", increment, at_most=1.0), whole("supply", supply, at_least=1)
    most = min((alpha * s - 4.0) / 16.0, alpha * people / 24.0)
    if most <= 0 or s >= people:
        return math.inf
    return matching_threshold(people, goods, increment, 1.0, failure_probability).error / most


def _least(fits: Callable[[int], bool]) -> int:
    """The least whole number that satisfies a condition, if all larger ones satisfy it, too."""
    high = 1
    while not fits(high):
        high *= 2
        if high > _MOST:
            raise Refused(f"no number of bidders below {_MOST:.0e} is enough",
                          "a larger epsilon, increment or failure_probability")
    low = high // 2  # does not fit, or is 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


@dataclass(frozen=True, kw_only=True)
class LeastToRun:
    """The least sizes at which Algorithm 4 runs as printed. At these sizes the reserve m leaves a copy of each good,
    and the halting threshold rho n - 2E is positive.

    Args:
        people: least number of bidders for which the auction can halt, with all other parameters unchanged.
        supply: least number of copies of each good for an auction with `people` bidders.
        epsilon: least epsilon, in nats, at the requested sizes; infinity where none is enough.
    """

    people: int
    supply: int
    epsilon: float

    def ways(self, attempt: Callable[..., Any]) -> tuple[Remedy, ...]:
        """Proposals for an error message: changed sizes, or a changed epsilon, for which `attempt` succeeds.

        Args:
            attempt: function that constructs the auction, with the changed parameters `people` and `supply`, or
                `epsilon`, as keyword arguments.
        """
        return (*tried("with these parameters {people} bidders and {supply} copies", attempt, people=self.people,
                       supply=self.supply),
                *tried("epsilon = {epsilon} at these sizes", attempt, digits=6, epsilon=self.epsilon))


def least_to_run(
    setting: MatchingSetting, supply: int, error: Callable[[MatchingSetting], float] | None = None
) -> LeastToRun:
    """The smallest n and s, or the smallest epsilon, with which Algorithm 4 is not refused.

    Args:
        setting: requested parameters of the auction.
        supply: requested number s of copies of each good.
        error: function that computes the error bound E of all counts from a setting, with E in proportion to 1/epsilon;
            by default the printed bound.
    """
    bound = error or (lambda of: of.error)
    tolerance = float(as_meant(setting.tolerance))
    people = _least(lambda n: tolerance * n > 2.0 * bound(replace(setting, people=n)))
    copies = math.ceil(2.0 * bound(replace(setting, people=people)) + 2.0)
    most = min((whole("supply", supply, at_least=1) - 2.0) / 2.0, tolerance * setting.people / 2.0)
    epsilon = setting.epsilon * bound(setting) / most * (1.0 + 2.0**-30) if most > 0 else math.inf
    return LeastToRun(people=people, supply=copies, epsilon=epsilon)


@dataclass(frozen=True, kw_only=True)
class Bookkeeping(Declared):
    """Lemma 4.3.9: the largest number of bids, and the number of rounds after which few bidders are unsatisfied.

    Let E be the error bound of all counts, alpha the price increment and rho the tolerance. With at least 8E + 1 copies
    and at least 8E/rho bidders, the source says that there are at most 3n/alpha bids, and that 8/(alpha rho) rounds are
    enough. A good takes bids at ceil(1/alpha) prices below 1, and not at 1/alpha prices. Where alpha is above 1/3 and
    1/alpha is no whole number, the printed numbers may therefore be too small. The properties `bids` and `rounds` count
    all prices.

    Example:
        >>> book = Bookkeeping(people=10_000, error=10.0, increment=0.1, tolerance=0.1)
        >>> book.supply_needed, book.people_needed, book.printed_bids, book.bids, book.printed_rounds, book.rounds
        (81.0, 800.0, 300000.0, 210000, 800, 230)
    """

    people: Annotated[int, Parameter("number of bidders", symbol="n", at_least=1)]
    error: Annotated[float, Parameter("error that no count exceeds", symbol="E", at_least=0)]
    increment: Annotated[float, Parameter("step from one price to the next", symbol="alpha", above=0, at_most=1)]
    tolerance: Annotated[float, Parameter("share of bidders who may stay unsatisfied", symbol="rho", above=0,
                                          at_most=1)]

    @property
    def supply_needed(self) -> float:
        """The required number 8E + 1 of copies of each good."""
        return 8.0 * self.error + 1.0

    @property
    def people_needed(self) -> float:
        """The required number 8E/rho of bidders."""
        return 8.0 * self.error / float(as_meant(self.tolerance))

    @property
    def printed_bids(self) -> float:
        """The printed largest number 3n/alpha of bids."""
        return float(3 * self.people / as_meant(self.increment))

    @property
    def bids(self) -> int:
        """The largest number n + 2n ceil(1/alpha) of bids. The factor 2 is a bound on (s' + 2E)/(s' - 2E), where s' is
        the effective supply.
        """
        return self.people * (1 + 2 * math.ceil(1 / as_meant(self.increment)))

    @property
    def printed_rounds(self) -> int:
        """The printed number 8/(alpha rho) of rounds, rounded up."""
        return math.ceil(8 / (as_meant(self.increment) * as_meant(self.tolerance)))

    @property
    def rounds(self) -> int:
        """The least sufficient number of rounds: the least R for which R (rho n - 4E) - n is above `bids`.

        Raises:
            NotGuaranteed: the number n of bidders is below 8E/rho.
        """
        if self.people < self.people_needed:
            raise NotGuaranteed("a small number of unsatisfied bidders",
                                f"{self.people:,} bidders are fewer than 8E/rho",
                                f"use at least {math.ceil(self.people_needed):,} bidders")
        each = as_meant(self.tolerance) * self.people - 4 * Fraction(self.error)
        return math.floor((self.bids + self.people) / each) + 1
