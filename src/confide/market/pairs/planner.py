"""The cheapest level at which the share of ones is estimated with a given accuracy.

Four criteria decide whether a level is accurate enough. `thesis` uses Theorem 10 of Wang 2016 as printed, `chebyshev`
inverts the theorem's bound exactly, and `hoeffding` uses Hoeffding's bound. `exact` uses the failure probability
itself, for every number of ones. Each criterion buys the cheapest level that it accepts. The cheapest accepted level is
often above the least accepted level, because the expected payment diverges both at small and at large levels.
`plan_mean(...).compared` shows the plans by all four criteria.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from confide.contract.checks import exactly_one, fraction, one_of, positive
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.missing import names_missing
from confide.contract.plan import Alternative, Predicted
from confide.contract.presentation import Picture
from confide.contract.remedies import first_that, tried
from confide.contract.renamed import renamed
from confide.market.costs import Cost, as_cost
from confide.market.pairs.accuracy import (
    LARGEST_EXACT,
    PRECISION,
    chebyshev_level,
    half_width,
    hoeffding_level,
    thesis_level,
)
from confide.market.pairs.accuracy import failure_probability as exact_failure
from confide.market.pairs.market import PairMarket
from confide.market.pairs.prices import cheapest_level, pair_prices
from confide.market.pairs.prior import PairPrior
from confide.market.planned import LEVEL, MONEY, TOTAL, PlannedMarket, around, by_criterion, picture
from confide.market.signal_model import LARGEST_LEVEL, as_level

__all__ = ["CRITERIA", "MeanPlan", "TooFewPeople", "plan_mean"]

CRITERIA = ("exact", "hoeffding", "chebyshev", "thesis")

GIVEN = "given"
"""Name of the criterion in a plan for a given level, where no criterion chooses the level."""

ESTIMATE = "error of the share of ones"

_POINTS = 64
_BELOW = 100.0  # how far below what is proved to do an exact level is looked for
_HALVINGS = 40


@renamed(alpha="error", alpha_reached="error_reached")
class TooFewPeople(InvalidInput):
    """Error for too few people: the chosen criterion accepts the allowed error at no privacy level, not even without
    noise (everybody reports their bit unchanged).

    Args:
        error: allowed error that was asked for.
        criterion: name of the criterion.
        people: number of people that would suffice.
        attempt: function that plans again for another number `people`, or another `error`.
        error_reached: approximate least error with the present number of people.
    """

    def __init__(
        self, error: float, criterion: str, people: int, attempt: Callable[..., Any], error_reached: float
    ) -> None:
        ways = [*tried("choose people >= {people}", attempt, people=people),
                *tried("error >= {error}", attempt, error=error_reached)]
        reported = [each.settings["people"] for each in ways if "people" in each.settings]
        self.error, self.criterion, self.people = error, criterion, int(reported[0]) if reported else people
        super().__init__("error", f"{error:g} is out of reach by the criterion {criterion} with this number of people",
                         [*ways, "another criterion"])


@renamed(alpha="error", delta="failure_probability", failure="exact_failure_probability")
@dataclass(frozen=True, kw_only=True)
class MeanPlan(PlannedMarket):
    """A pair market whose estimate of the share of ones is within an error, except with a failure probability, whatever
    the bits are.

    Args:
        error: allowed error that was asked for, or the error that the given level allows.
        failure_probability: probability of a larger error, as it was asked for.
        criterion: exact, hoeffding, chebyshev or thesis; "given" where the level was given.
        accurate_from: least level that the criterion accepts. For the criterion `exact`, the field `accurate_from` is
            the lower of two levels: the bought level, and the level from which on a bound proves that every level
            suffices.
        epsilon: privacy level that is bought from each person, in nats.
        total: expected total payment when all people take part.
        exact_failure_probability: exact probability of a larger error at the bought level, in the worst case over all
            bits; None above 100,000 people.
        lower_bound: lower bound on the expected total of any mechanism with nonnegative payments that buys this level
            from this number of people (Wang 2016, Proposition 1).
        market: market to run.
        max_payment: the user's cap on single payments, if any.
    """

    error: float
    failure_probability: float
    criterion: str
    accurate_from: float
    epsilon: float
    total: float
    exact_failure_probability: float | None
    lower_bound: float
    market: PairMarket
    max_payment: float | None = None

    @property
    def _market(self) -> PairMarket:
        return self.market

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        return {TOTAL: Predicted(self.total, MONEY),
                ESTIMATE: Predicted(self.error, f"except with probability {self.failure_probability:g}", "bound"),
                "people": Predicted(self.market.people, "people"), LEVEL: Predicted(self.epsilon, "nats")}

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The plans by the other criteria for the same error; none where the level was given."""
        return () if self.criterion == GIVEN else by_criterion(self.compared, self.criterion)

    def plot(self) -> Picture:
        """A picture of the plan's expected total payment as a function of the level."""
        levels, it = around(self.epsilon, LARGEST_LEVEL), self.market
        totals = it.people * pair_prices(it.prior, it.cost, np.array(levels)) / it.company
        return picture([*zip(levels, map(float, totals), strict=True)], (self.epsilon, self.total),
                       title="Cost of a level", x="level of one report (nats)", y="expected total",
                       alt="The expected total of all payments at each level; the plan is marked.")

    def _warned(self) -> Sequence[str]:
        largest = max(self.market.liability())
        if self.max_payment is None or largest <= self.max_payment:
            return ()
        return (f"a single payment can be {largest:.6g}, above the cap of {self.max_payment:g}",)

    @cached_property
    def compared(self) -> dict[str, MeanPlan | str]:
        """Mapping from each criterion to its plan, or to the reason why it has none."""
        found: dict[str, MeanPlan | str] = {}
        if self.criterion == GIVEN:
            return {GIVEN: self}
        for criterion in CRITERIA:
            try:
                found[criterion] = self if criterion == self.criterion else plan_mean(
                    self.market.prior, self.market.cost, self.error, self.failure_probability, criterion,
                    max_payment=self.max_payment)
            except InvalidInput as refusal:
                found[criterion] = str(refusal)
        return found

    @property
    def looseness(self) -> dict[str, float]:
        """Mapping from each criterion to the expected total of the criterion's plan, divided by the total of the
        cheapest plan.
        """
        totals = {name: other.total for name, other in self.compared.items() if not isinstance(other, str)}
        least = min(totals.values())
        return {name: total / least for name, total in totals.items()}

    def _own_figures(self) -> Mapping[str, Any]:
        return {
            "error": self.error, "failure_probability": self.failure_probability, "criterion": self.criterion,
            "accurate_from": self.accurate_from, "epsilon": self.epsilon, "total": self.total,
            "exact_failure_probability": self.exact_failure_probability, "lower_bound": self.lower_bound,
            "liability": self.market.liability(), "quote": self.market.quote().to_dict()}


def _exact_level(prior: PairPrior, cost: Cost, error: float, failure: float, safe: float) -> float:
    """The cheapest level found whose exact failure probability is at most `failure`.

    All levels from `safe` on suffice. The levels below `safe` are tried in the order of their prices, because the
    failing levels form no interval: the set of failing counts changes in jumps. The first sufficient level found is
    moved towards its cheaper neighbour as far as the level still suffices.
    """

    def fails(level: float) -> bool:
        return exact_failure(prior.people, level, error) > failure - PRECISION

    def price(level: float) -> float:
        return float(pair_prices(prior, cost, level))

    levels = np.append(np.geomspace(safe / _BELOW, safe, _POINTS), cheapest_level(prior, cost))
    levels = np.sort(levels[levels <= safe])
    best = cheapest_level(prior, cost, safe)
    for level in sorted(map(float, levels), key=price):
        if price(level) >= price(best) or not fails(level):
            best = min(best, level, key=price)
            break
    where = int(np.searchsorted(levels, best))
    if where == levels.size:  # a level above `safe`
        return best
    for neighbour in (where - 1, where + 1):
        if 0 <= neighbour < levels.size and price(levels[neighbour]) < price(best):
            good, bad = best, float(levels[neighbour])
            for _ in range(_HALVINGS):
                middle = math.sqrt(good * bad)
                good, bad = (good, middle) if fails(middle) else (middle, bad)
            best = min(best, good, key=price)
    return best


@renamed(alpha="error", delta="failure_probability")
@names_missing("error | epsilon")
def plan_mean(prior: PairPrior, cost: Cost, error: float | None = None, failure_probability: float = 0.05,
              criterion: str = "exact", *, epsilon: float | None = None,
              max_payment: float | None = None) -> MeanPlan:
    """The cheapest pair market that estimates the share of ones with a given error, or the pair market of a given
    level.

    Give `error` or `epsilon`. There is no delta, because every report is randomised alone and satisfies pure
    differential privacy at level epsilon.

    Args:
        prior: common belief of the N people about each other's bits.
        cost: cost function g of everybody.
        error: allowed error, > 0.
        failure_probability: probability of a larger error, in (0, 1), over the reports' randomness and for any bits.
        criterion: "exact" (up to 100,000 people), "hoeffding", "chebyshev" or "thesis"; without effect if `epsilon` is
            given.
        epsilon: privacy level that is bought from each person, in (0, 700] nats.
        max_payment: amount in the unit of the costs. The plan warns if a single payment can be larger; None for no
            warning.

    Raises:
        InvalidInput: a parameter is out of range, or not exactly one of error and epsilon is given.
        TooFewPeople: Hoeffding's bound is above the failure probability even if everybody reports their bit unchanged.
            The message gives a number of people that would suffice.

    Source: Wang 2016, section 5.3.3; the other criteria and the cheapest level are ours; spec data_market section 4.

    Example:
        >>> from confide.market import LinearCost
        >>> prior = PairPrior.beta_binomial(2.0, 3.0, 1000)
        >>> found = plan_mean(prior, LinearCost(1.0), error=0.05, failure_probability=0.05)
        >>> round(found.epsilon, 3), round(found.exact_failure_probability, 3)
        (1.274, 0.032)
        >>> {name: round(ratio, 3) for name, ratio in found.looseness.items()}
        {'exact': 1.0, 'hoeffding': 1.79, 'chebyshev': 1.47, 'thesis': 1.48}
        >>> round(plan_mean(prior, LinearCost(1.0), epsilon=1.0).error, 3)
        0.093
    """
    n = prior.people
    failure, chosen = fraction("failure_probability", failure_probability), one_of("criterion", criterion, CRITERIA)
    as_cost("cost", cost)
    cap = None if max_payment is None else positive("max_payment", max_payment)
    exactly_one(error=error, epsilon=epsilon)
    if epsilon is not None:
        return _plan_of(PairMarket(prior, cost, epsilon), half_width(n, as_level("epsilon", epsilon), failure), failure,
                        GIVEN, epsilon, cap)
    width = positive("error", error)
    if chosen == "exact" and n > LARGEST_EXACT:
        raise Unsupported("criterion", f"'exact' for {n} people",
                          f"'exact' is for at most {LARGEST_EXACT} people; choose another criterion")

    def again(people: int = n, error: float = width) -> MeanPlan:
        crowd = prior if people == n else replace(prior, people=people, log_counts=None)
        return plan_mean(crowd, cost, error, failure, criterion, max_payment=max_payment)

    levels = {"thesis": thesis_level, "chebyshev": chebyshev_level, "hoeffding": hoeffding_level}
    least = (min(chebyshev_level(n, width, failure), hoeffding_level(n, width, failure)) if chosen == "exact"
             else levels[chosen](n, width, failure))
    if chosen == "hoeffding" and math.isinf(least):
        enough = math.log(2.0 / failure) / 2.0
        raise TooFewPeople(width, chosen, math.floor(enough / width**2) + 1, again, math.sqrt(enough / n))
    if least > LARGEST_LEVEL:
        raise InvalidInput("error", f"{width:g} needs a level above {LARGEST_LEVEL:g}",
                           tried("must be at least {error}", again, error=lambda: first_that(
                               lambda error: levels.get(chosen, hoeffding_level)(n, error, failure) <= LARGEST_LEVEL,
                               width)) or "must be larger")
    if chosen == "exact":
        epsilon = _exact_level(prior, cost, width, failure, least)
        least = min(least, epsilon)
    else:
        epsilon = cheapest_level(prior, cost, least)
    return _plan_of(PairMarket(prior, cost, epsilon), width, failure, chosen, least, cap)


def _plan_of(market: PairMarket, error: float, failure: float, criterion: str, least: float,
             cap: float | None) -> MeanPlan:
    """The plan of a given market, with its expected total payment."""
    n, quote = market.people, market.quote()
    return MeanPlan(error=error, failure_probability=failure, criterion=criterion, accurate_from=least,
                    epsilon=market.epsilon, total=n * quote.expected_payment, lower_bound=n * quote.lower_bound,
                    market=market, max_payment=cap,
                    exact_failure_probability=None if n > LARGEST_EXACT else market.failure_probability(error))
