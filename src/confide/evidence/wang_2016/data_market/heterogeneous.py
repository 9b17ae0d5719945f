"""A market that pays reports by the majority of the other reports, for known costs that differ from person to person.
Privacy levels may differ, too.

If all people have the same privacy level, each person is paid by the majority mechanism's table with their own marginal
cost g'. If privacy levels differ, the majority of the other people is a Poisson-binomial variable. The law of the
majority is computed for each person without numerical cancellation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.market.binomials import MajorityErrors, binomial_pmf, chernoff_bound, majority_errors, majority_threshold
from confide.market.costs import Cost, PlainNumbers, as_cost
from confide.market.majority import excess, majority_statistic
from confide.market.matching import MatchingPayment, Quote, check_payable, price_floor, quote_of
from confide.market.signal_model import LARGEST_LEVEL, Reporting, SignalModel
from confide.market.strategies import NONE, Strategy, as_reports

__all__ = ["HeterogeneousMarket", "mixed_majority_errors"]

LARGEST = 2000
"""Largest number of people with different privacy levels."""

Matches = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Two arrays for the number X of m reports that match the state: P(X = k), and P(X = k) - P(X = m - k), computed
without cancellation.
"""


def _group(size: int, reporting: Reporting) -> Matches:
    pmf = binomial_pmf(size, float(reporting.agree), 0, size)
    surplus = 2 * np.arange(size + 1) - size
    upper = pmf * -np.expm1(-np.maximum(surplus, 0) * float(reporting.log_odds))
    return pmf, upper - upper[::-1]


def _both(left: Matches, right: Matches) -> Matches:
    (p, d), (q, e) = left, right
    return np.convolve(p, q), (np.convolve(p + p[::-1], e) + np.convolve(d, q + q[::-1])) / 2.0


def _majority(left: Matches, right: Matches) -> MajorityErrors:
    """The majority errors for the sum of two independent numbers of matches, in O(m) operations."""
    (p, d), (q, e) = left, right
    size, m = q.size - 1, p.size + q.size - 2
    t, i = int(majority_threshold(m)), np.arange(p.size)
    below = np.concatenate([[0.0], np.cumsum(q)])  # of k < j
    high, low = (float(p @ below[np.clip(top - i + 1, 0, size + 1)]) for top in (m - t, t - 1))

    def above(values: NDArray[np.float64], j: NDArray[np.int64]) -> NDArray[np.float64]:
        sums = np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])
        found: NDArray[np.float64] = sums[np.clip(j, 0, size + 1)]
        return found

    # Differences are antisymmetric: a sum from j on is that from size - j + 1 on, which has no cancellation.
    kappa = ((p + p[::-1]) @ above(e, np.maximum(t - i, size + 1 - (t - i))) + d @ above(q + q[::-1], t - i)) / 2.0
    return MajorityErrors(low=low, high=high, kappa=float(kappa))


def mixed_majority_errors(signal_accuracy: float, levels: Sequence[tuple[int, float]]) -> list[MajorityErrors]:
    """The error probabilities of the majority of all people except one. There is one entry for each group of people
    with the same privacy level, where the excluded person is a member of that group.

    Args:
        signal_accuracy: probability theta that a bit equals the state.
        levels: one pair for each group: the number of people (at least 1) and their privacy level in nats.
    """
    laws = [Reporting.of(signal_accuracy, level) for _, level in levels]
    if len(levels) == 1:
        return [majority_errors(levels[0][0] - 1, laws[0])]
    nobody: Matches = (np.array([1.0]), np.array([0.0]))
    groups = [_group(size, law) for (size, _), law in zip(levels, laws, strict=True)]
    after = [nobody]
    for group in reversed(groups[1:]):
        after.append(_both(group, after[-1]))
    before, found = nobody, []
    for (size, _), law, group, rest in zip(levels, laws, groups, reversed(after), strict=True):
        found.append(_majority(_both(before, _group(size - 1, law)), rest))
        before = _both(before, group)
    return found


@renamed(nature="signal_model")
@dataclass(frozen=True, eq=False)
class HeterogeneousMarket(PlainNumbers):
    """The majority market in which every person's cost is known. Costs and privacy levels may differ from person to
    person.

    The class has no `for_budget`, because each person's privacy level is given, and no single number could be adjusted
    to a budget.

    Source: Wang 2016, section 3.3.3; different levels are ours; spec data_market section 2.4.

    Example:
        >>> from confide.market import LinearCost
        >>> market = HeterogeneousMarket(0.8, 0.7, [LinearCost(1.0)] * 9 + [LinearCost(3.0)], 1.0)
        >>> round(market.quote(0).expected_payment, 6), round(market.quote(9).expected_payment, 6)
        (8.854102, 26.562306)
    """

    signal_accuracy: Annotated[float, Parameter("probability that a bit equals the state", symbol="theta", above=0.5,
                                                below=1)]
    prior_one: Annotated[float, Parameter("probability that the state is 1", symbol="P1", above=0, below=1)]
    costs: Annotated[Sequence[Cost], Parameter("cost of a privacy level of each of two people or more", symbol="g_i")]
    epsilon: Annotated[float | Sequence[float] | tuple[float, ...], Parameter(
        "one level for all, or a level for each person (different ones for at most 2,000 people)", unit="nats", above=0,
        at_most=LARGEST_LEVEL)]

    def __post_init__(self) -> None:
        costs = tuple(as_cost("costs", cost) for cost in self.costs)
        if len(costs) < 2:
            raise InvalidInput("costs", f"are of {len(costs)} people", "at least 2 are needed")
        object.__setattr__(self, "costs", costs)
        levels = (self.epsilon,) * len(costs) if np.ndim(self.epsilon) == 0 else tuple(self.epsilon)  # type: ignore[arg-type]
        if len(levels) != len(costs):
            raise InvalidInput("epsilon", f"are {len(levels)} levels", f"must be one, or {len(costs)}")
        object.__setattr__(self, "epsilon", levels)
        super().__post_init__()
        found = tuple(float(level) for level in self.levels)
        if len(set(found)) > 1 and len(found) > LARGEST:
            raise InvalidInput("epsilon", f"are different levels of {len(found)} people", f"at most {LARGEST} people")
        object.__setattr__(self, "epsilon", found)
        signal_model = self.signal_model
        odds, least = signal_model.prior_one * signal_model.prior_zero * signal_model.edge**2, min(found)
        for level in set(found):
            asked = {cost for cost, own in zip(costs, found, strict=True) if own == level}
            check_payable(level, asked, lambda one: odds * math.tanh(min(least, one) / 2.0))

    @property
    def people(self) -> int:
        """Number N of people."""
        return len(self.costs)

    @property
    def levels(self) -> tuple[float, ...]:
        """The privacy level of each person in nats, in the order of `costs`."""
        found: tuple[float, ...] = self.epsilon  # type: ignore[assignment]
        return found

    @cached_property
    def signal_model(self) -> SignalModel:
        """The joint law of the state and of one person's bit."""
        return SignalModel(self.prior_one, self.signal_accuracy)

    @cached_property
    def _everybody(self) -> dict[float, MajorityErrors]:
        return self._errors(self.levels)

    def _errors(self, levels: Sequence[float]) -> dict[float, MajorityErrors]:
        """Mapping from a person's level to the errors of the majority of all other people, where people of the given
        levels take part.
        """
        values, sizes = np.unique(np.asarray(levels), return_counts=True)
        groups = [(int(size), float(value)) for value, size in zip(values, sizes, strict=True)]
        found = mixed_majority_errors(self.signal_accuracy, groups)
        return {level: errors for (_, level), errors in zip(groups, found, strict=True)}

    def _payment(self, person: int, errors: dict[float, MajorityErrors]) -> MatchingPayment:
        level = self.levels[person]
        return MatchingPayment(self.costs[person], level, majority_statistic(self.signal_model, errors[level]),
                               self.signal_model.signal_one)

    def payment(self, person: int) -> MatchingPayment:
        """The payment rule of one person when everybody takes part."""
        if not 0 <= person < self.people:
            raise InvalidInput("person", f"{person} is out of range", f"must be in 0..{self.people - 1}")
        return self._payment(person, self._everybody)

    def quote(self, person: int) -> Quote:
        """The offer to one person when everybody takes part."""
        payment = self.payment(person)
        floor = price_floor(payment.cost, payment.epsilon, self.signal_model.edge)
        over = float(excess(self.signal_model, self._everybody[payment.epsilon]))
        return quote_of(payment, floor, gap=payment.unit * over)

    @cached_property
    def expected_payments(self) -> NDArray[np.float64]:
        """The (N,) expected payments E[R_i] in equilibrium."""
        return np.array([self.quote(person).expected_payment for person in range(self.people)])

    @property
    def expected_total(self) -> float:
        """The sum of the expected payments in equilibrium."""
        return float(self.expected_payments.sum())

    def interim_matrix(self, person: int) -> NDArray[np.float64]:
        """The (3, 2) interim matrix a[x, s] = P(S = s) E[R | X = x, S = s] of one person with payment R, report X and
        bit S, in equilibrium.
        """
        return self.payment(person).interim

    def strategy(self, person: int) -> Strategy:
        """The strategy of one person in equilibrium: randomised response at the person's privacy level."""
        return Strategy.randomised(self.levels[person])

    def pay_reports(self, reports: ArrayLike) -> NDArray[np.float64]:
        """The (N,) payments for N reports, where the report 2 means that a person stays out. The payment table is
        computed for the people who take part. With fewer than two participants nobody is paid.

        Raises:
            InvalidInput: the number of reports is not N, or a report is not 0, 1 or 2.
        """
        found = as_reports(reports, self.people)
        here = np.flatnonzero(found != NONE)
        paid = np.zeros(self.people)
        if here.size < 2:
            return paid
        errors = self._errors([self.levels[i] for i in here])
        ones, t = int(np.sum(found == 1)), int(majority_threshold(here.size - 1))
        for i in here:
            says = int(found[i])
            if says == (ones - says >= t):
                payment = self._payment(int(i), errors)
                paid[i] = payment.for_one if says else payment.for_zero
        return paid

    @property
    def error_bound(self) -> float:
        """Upper bound sqrt(P1 P0) e^(-sum of D) on the error probability of the best guess of the state from all
        reports. P1 and P0 are the prior probabilities of the states, and D is the Chernoff information of one report.
        """
        information: Any = Reporting.of(self.signal_accuracy, np.array(self.levels)).chernoff
        return chernoff_bound(self.signal_model, float(np.sum(information)))
