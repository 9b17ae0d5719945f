"""Laws of the privacy cost coefficients, and the threshold below which players are assumed to be truthful.

A player with coefficient c has a privacy cost of at most c epsilon^2. Cost coefficients of different players are
independent given the data. Where the law of the coefficients depends on a player's data, use `DependentCosts`, which
takes the largest tail of all possible laws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Protocol, runtime_checkable

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.checks import fraction, non_negative, one_of, whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.wire import wire

__all__ = [
    "LARGEST_EPSILON",
    "CostLaw",
    "DependentCosts",
    "EmpiricalCosts",
    "ExponentialCosts",
    "ParetoCosts",
    "QuadraticCosts",
    "excess_probability",
    "threshold",
]

LARGEST_EPSILON = 1.25
"""Largest total epsilon for which `QuadraticCosts` may be used: e^epsilon <= 1 + 2 epsilon holds up to 1.2564."""


@runtime_checkable
class CostLaw(Protocol):
    """A law of non-negative cost coefficients, given by the upper tail P[c > t]. Small tails would lose their digits if
    they were computed as 1 - P[c <= t].
    """

    def survival(self, cost: float) -> float:
        """The probability P[c > cost] that a coefficient is above `cost`."""

    def quantile(self, tail: float) -> float:
        """The least cost t with P[c > t] <= tail, for tail in (0, 1)."""


@wire("ParetoCosts", "exponent scale")
@dataclass(frozen=True)
class ParetoCosts(Declared):
    """Costs with a heavy tail: P[c > t] = (t / scale)^-exponent for t >= scale.

    Source: Cummings et al. 2015, Assumption 3 (scale 1).
    """

    exponent: Annotated[float, Parameter("exponent of the tail; above 1 the mean exists", symbol="p", above=1)]
    scale: Annotated[float, Parameter("the least cost", unit="the currency", above=0)] = 1.0

    def survival(self, cost: float) -> float:
        return 1.0 if cost <= self.scale else float((cost / self.scale) ** -self.exponent)

    def quantile(self, tail: float) -> float:
        return float(self.scale * fraction("tail", tail) ** (-1 / self.exponent))


@wire("ExponentialCosts", "mean")
@dataclass(frozen=True)
class ExponentialCosts(Declared):
    """Costs with a light tail: P[c > t] = exp(-t / mean)."""

    mean: Annotated[float, Parameter("the mean cost", unit="the currency", above=0)]

    def survival(self, cost: float) -> float:
        return 1.0 if cost <= 0 else math.exp(-cost / self.mean)

    def quantile(self, tail: float) -> float:
        return -self.mean * math.log(fraction("tail", tail))


@wire("EmpiricalCosts", "values")
@dataclass(frozen=True, eq=False)
class EmpiricalCosts:
    """The law of a random value from a public list, such as an earlier survey; never a list of the participants' own
    costs.

    Args:
        values: (k,) non-negative costs.
    """

    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        values = np.sort(np.array(self.values, np.float64).reshape(-1))
        if values.size == 0 or not np.all(np.isfinite(values)) or values[0] < 0:
            raise InvalidInput("values", "cannot be used", "must be one or more finite numbers >= 0")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def survival(self, cost: float) -> float:
        return float((self.values.size - np.searchsorted(self.values, cost, side="right")) / self.values.size)

    def quantile(self, tail: float) -> float:
        above = math.floor(fraction("tail", tail) * self.values.size)
        return float(self.values[self.values.size - 1 - above])


PlainCosts = ParetoCosts | ExponentialCosts | EmpiricalCosts
"""The laws of a single cost coefficient that does not depend on the person's data."""


@wire("DependentCosts", "laws")
@dataclass(frozen=True)
class DependentCosts:
    """A law of coefficients that depend on a person's own data: at each cost the largest tail of several laws counts.

    P[c > t] is the largest such probability over the laws, so that P[c <= t] is a lower bound on min over (x, y) of P[c
    <= t | x, y]. Coefficients must still be independent of each other given all data. If the coefficients are
    independent given the data, the exact threshold remains valid. The number of people above the threshold is
    stochastically dominated by a binomial number. If an unknown common factor moves all coefficients together, set
    `Behaviour.common_factor`.

    Args:
        laws: one law for each kind of people, at least one.

    Source: Cummings et al. 2015, Definition 7 and Lemma 3 (the function F); spec truthful_regression section 5.

    Example:
        >>> both = DependentCosts((ParetoCosts(exponent=4.0), ExponentialCosts(mean=2.0)))
        >>> round(both.quantile(0.5), 4), round(both.quantile(1e-6), 4)
        (1.3863, 31.6228)
    """

    laws: tuple[PlainCosts, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "laws", tuple(self.laws))
        if not self.laws or not all(isinstance(law, PlainCosts) for law in self.laws):
            raise InvalidInput("laws", "cannot be used", "must be at least one Pareto, exponential or empirical law")

    def survival(self, cost: float) -> float:
        return max(law.survival(cost) for law in self.laws)

    def quantile(self, tail: float) -> float:
        return max(law.quantile(tail) for law in self.laws)


@wire("QuadraticCosts", "per_nat")
@dataclass(frozen=True)
class QuadraticCosts(Declared):
    """Costs of at most c for each nat that the publication can reveal about a person (Assumption 4 of Cummings et al.
    2015).

    By Lemma 12, a player's expected costs of two answers differ by at most 2 c epsilon (e^epsilon - 1). The number 2 c
    epsilon (e^epsilon - 1) is at most 4 c epsilon^2 if epsilon, the total loss of the mechanism, is at most 1.25. The
    coefficient of epsilon^2 is therefore 4 c. Cummings et al. 2015 instead write f for a quarter of the cost and keep
    the coefficient c. In the class `QuadraticCosts` all amounts are in money.

    The bound concerns the *difference* of the expected costs of two answers, which suffices for truthfulness.
    Assumption 4 bounds the cost itself only by c epsilon, which is far above 4 c epsilon^2 for small epsilon. The
    participation guarantee therefore uses Assumption 1 also for these costs, which bounds the cost by the coefficient
    times epsilon^2.

    Source: Cummings et al. 2015, Appendix D, Assumption 4 and Lemma 12 (which cites Assumption 5 although it uses
    Assumption 4, erratum E14); spec truthful_regression section 5.

    Example:
        >>> law = QuadraticCosts(ParetoCosts(exponent=4.0))
        >>> law.quantile(0.0625), round(QuadraticCosts.difference(1.0, 0.5), 4)
        (8.0, 0.6487)
    """

    per_nat: Annotated[ParetoCosts | ExponentialCosts | EmpiricalCosts, Parameter(
        "law of the cost of a nat to a person", symbol="c", unit="the currency")]

    def survival(self, cost: float) -> float:
        return self.per_nat.survival(cost / 4.0)

    def quantile(self, tail: float) -> float:
        return 4.0 * self.per_nat.quantile(tail)

    @staticmethod
    def difference(per_nat: float, epsilon: float) -> float:
        """The largest difference of a player's expected cost between two answers, 2 c epsilon (e^epsilon - 1).

        Args:
            per_nat: cost c >= 0 of a nat of privacy to the player.
            epsilon: total privacy loss of the mechanism, in [0, 1.25], with delta 0.

        Raises:
            InvalidInput: epsilon is above 1.25, where 4 c epsilon^2 would not bound the difference.
        """
        covered = QuadraticCosts.check(epsilon)
        return 2.0 * non_negative("per_nat", per_nat) * covered * math.expm1(covered)

    @staticmethod
    def check(epsilon: float, delta: float = 0.0) -> float:
        """Check that this class of costs covers a total privacy loss, and return its epsilon.

        Raises:
            InvalidInput: epsilon is above 1.25, or delta is above 0, in which case likelihood ratios are unbounded.
        """
        if delta > 0:
            raise InvalidInput("costs", "quadratic costs need a bound on every likelihood ratio, which delta = "
                                        f"{delta:g} does not give",
                               "choose a release with pure epsilon")
        if not epsilon <= LARGEST_EPSILON:
            raise InvalidInput("epsilon", f"{epsilon:g} in total is above {LARGEST_EPSILON:g}",
                               "choose a smaller epsilon, since quadratic costs need e^epsilon <= 1 + 2 epsilon; or "
                               "assume other costs")
        return non_negative("epsilon", epsilon)


def _allowed(people: int, misreports: float) -> int:
    # The decimal that was written, not its binary neighbour: 0.29 of 100 people are 29, not 28.
    return math.floor(Fraction(repr(float(misreports))) * people)


def excess_probability(people: int, misreports: float, survival: float) -> float:
    """The probability that more than misreports * people people have a cost above t. Each person has a cost above t
    with probability `survival`, independently of all other people.

    Args:
        people: number n of people, at least 1.
        misreports: tolerated share alpha, in [0, 1).
        survival: probability P[c > t] that one person's cost is above t, in [0, 1].

    Returns:
        P[Bin(n, survival) > floor(alpha n)].
    """
    n = whole("people", people, at_least=1)
    allowed = _allowed(n, fraction("misreports", misreports, zero=True))
    if not 0 <= survival <= 1:
        raise InvalidInput("survival", f"{survival!r} is out of range", "must be in [0, 1]")
    return float(scipy.special.betainc(allowed + 1, n - allowed, survival))


def threshold(people: int, misreports: float, failure_probability: float, costs: CostLaw, mode: str = "exact") -> float:
    """The cost threshold up to which players are assumed to be truthful: tau_{alpha,beta} = max(tau1, tau2).

    tau1 is the least t such that, with probability at least 1 - beta, no more than alpha n players have a cost above t.
    tau2 is the least t with P[c > t] <= alpha, where c is the cost coefficient of any single other player.

    Args:
        people: number n of invited people, at least 1.
        misreports: tolerated share alpha of misreports and absences, in (0, 1).
        failure_probability: probability beta in (0, 1) that more people than tolerated have a cost above the threshold.
        costs: law of one player's cost coefficient.
        mode: method of computation. The mode "exact" is for independent costs. The mode "lemma3" uses the Markov bound
            of Lemma 3 of Cummings et al. 2015, which gives a far larger threshold and also holds for costs with an
            unknown common factor.

    Returns:
        The threshold, in the unit of the costs.

    Source: Cummings et al. 2015, Lemma 3; exact form ours; spec truthful_regression section 5.

    Example:
        >>> round(threshold(10_000, 0.05, 1e-3, ParetoCosts(exponent=2)), 6)
        4.788517
        >>> round(threshold(10_000, 0.05, 1e-3, ParetoCosts(exponent=2), mode="lemma3"), 2)
        141.42
    """
    n = whole("people", people, at_least=1)
    alpha, beta = fraction("misreports", misreports), fraction("failure_probability", failure_probability)
    if one_of("mode", mode, ("exact", "lemma3")) == "lemma3":
        tail = alpha * beta
    else:
        # P[Bin(n, tail) > k] = I_tail(k + 1, n - k) increases with tail: the largest admissible tail is its inverse.
        allowed = _allowed(n, alpha)
        tail = float(scipy.special.betaincinv(allowed + 1, n - allowed, beta))
    return max(costs.quantile(tail), costs.quantile(alpha))
