"""The cheapest threshold market that reaches a target error with a given number of people: its least level and its
share of participants.

There are three criteria for the choice of level and participation. `thesis` takes the participation of Wang's Theorem
8. `pgf` takes the least participation that the bound `attendance_bound` on the error allows. `exact` takes the least
participation at which the exact error is small enough. The criteria `thesis` and `pgf` use loose bounds, so their plans
cost more. `plan_unknown_costs(...).compared` shows the plans by all three criteria.

The expected total rises with the share p of people who take part, so the least sufficient p is the cheapest. The error
need not fall with p, because additional participants report at the least level and dilute the majority. Therefore the
share p is searched on a grid from below. The search stops at the first grid point with a small enough error, and
bisects between this grid point and the grid point before. The planner returns the best plan that this search finds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.missing import names_missing
from confide.contract.plan import Alternative, Predicted
from confide.contract.presentation import Picture
from confide.contract.remedies import trying
from confide.market.planned import ERROR, MONEY, TOTAL, NoPurchase, PlannedMarket, around, by_criterion, picture
from confide.market.planner import TargetUnreachable, least_people
from confide.market.signal_model import Reporting, SignalModel, as_level
from confide.market.threshold.cost_laws import CostLaw, as_cost_law, flip_probability
from confide.market.threshold.signed_payments import (
    Terms,
    attendance_bound,
    attendance_error,
    thesis_attendance,
    thesis_error,
)
from confide.market.threshold.threshold_market import ThresholdMarket, reporting_of

__all__ = ["CRITERIA", "UnknownCostPlan", "plan_unknown_costs"]

CRITERIA = ("exact", "pgf", "thesis")

_PLOTTED = "Accuracy of more participants"
_SHARES = 400  # quantiles of the law of costs, from the least share that can do to nearly everybody
_NEARLY_ALL = 1.0 - 1e-9
_CHUNK = 25  # shares whose quality is computed together
_LEVELS = np.geomspace(0.01, 30.0, 40)  # at 30 every participant reports the bit as it is


@dataclass(frozen=True, kw_only=True)
class UnknownCostPlan(PlannedMarket):
    """The cheapest threshold market that was found to reach a target error with a given number of people.

    Args:
        target: error probability that was asked for.
        criterion: criterion of the plan: exact, pgf or thesis.
        people: number N of invited people.
        epsilon: least level of a participant, which determines the quality of reports; 0 where nothing is bought.
        participation: share p of people who take part; 0 where nothing is bought because the prior alone is accurate
            enough.
        threshold: largest cost c_th of a nat of privacy at which people take part.
        total: expected sum of all payments.
        error: exact probability that the guess of the state is wrong.
        market: market to run; None where nothing is bought.
        max_payment: the user's cap on the size of single payments, positive or negative, if any.
    """

    target: float
    criterion: str
    people: int
    epsilon: float
    participation: float
    threshold: float
    total: float
    error: float
    market: ThresholdMarket | None
    max_payment: float | None = None
    _again: Callable[[str, float | None], UnknownCostPlan] | None = field(default=None, repr=False, compare=False)
    _guess: int = field(default=0, repr=False, compare=False)

    @property
    def participants(self) -> float:
        """The expected number N p of participants."""
        return self.people * self.participation

    @property
    def _market(self) -> ThresholdMarket | NoPurchase:
        return NoPurchase(self.error, self._guess) if self.market is None else self.market

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        return {TOTAL: Predicted(self.total, MONEY), ERROR: Predicted(self.error),
                "participants": Predicted(self.participants, f"of {self.people:,} people, expected"),
                "least level of a report": Predicted(self.epsilon, "nats")}

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The plans by the other criteria at the plan's own level. `compared` searches for the best level of each
        criterion.
        """
        if self._again is None or self.market is None:
            return ()
        return by_criterion({name: self if name == self.criterion else self._other(name, self.epsilon)
                             for name in CRITERIA}, self.criterion)

    def _other(self, criterion: str, epsilon: float | None) -> UnknownCostPlan | str:
        """The plan by another criterion, or the reason why it has none."""
        if self._again is None:
            return self
        try:
            return self._again(criterion, epsilon)
        except InvalidInput as refusal:
            return str(refusal)

    def plot(self) -> Picture:
        """A picture of the expected total payment and the error at the plan's least level, for other shares of
        participants.
        """
        it = self.market
        if it is None:
            return picture([(0.0, self.error)], (0.0, self.error), title=_PLOTTED, x="expected total",
                           y=ERROR, alt="The market buys nothing, since the prior alone is good enough.")
        others = [replace(it, participation=share, threshold=None) for share in around(it.presence, _NEARLY_ALL)]
        return picture([(each.expected_total, each.error_probability()) for each in others], (self.total, self.error),
                       title=_PLOTTED, x="expected total", y=ERROR,
                       alt="The probability of a wrong guess as a larger share of the people takes part at this least "
                       "level; the plan is marked.")

    def _warned(self) -> Sequence[str]:
        if self.market is None:
            return ()
        found = []
        if self.market.ceiling is None:
            found.append("levels have no ceiling, so there is no promise of privacy")
        worst, largest = self.market.worst_payment(), self.market.largest_payment()
        for words, single in (("debt", worst), ("payment", largest)):
            if self.max_payment is not None and abs(single.amount) > self.max_payment:
                found.append(f"a single {words} can be {abs(single.amount):.6g}, above the cap of "
                             f"{self.max_payment:g}, if {single.present} of {self.people} take part")
        return found

    @cached_property
    def compared(self) -> dict[str, UnknownCostPlan | str]:
        """Mapping from each criterion to its plan, or to the reason why it has none."""
        if self._again is None:
            return {self.criterion: self}
        return {name: self if name == self.criterion else self._other(name, None) for name in CRITERIA}

    def _own_figures(self) -> Mapping[str, Any]:
        out: dict[str, Any] = {key: getattr(self, key) for key in (
            "target", "criterion", "people", "epsilon", "participation", "threshold", "participants", "total", "error")}
        if self.market is not None:
            budget = self.market.total_payment()
            out["budget"] = {"mean": budget.mean, "sd": budget.sd, "q95": budget.quantile(0.95),
                             "negative": budget.negative}
            out["liability"] = list(self.market.liability())
            out["quote"] = self.market.quote().to_dict()
        return out


class _Search:
    """The search, at a given least level, for the least sufficient share of participants and its expected total
    payment.
    """

    def __init__(self, error: float, signal_model: SignalModel, law: CostLaw, people: int, criterion: str,
                 ceiling: float) -> None:
        self.error, self.signal_model, self.law, self.people = error, signal_model, law, people
        self.criterion, self.ceiling = criterion, ceiling
        # Nobody comes with probability (1-p)^N, and then state 0 is missed: with less than this share the target is.
        alone = error / signal_model.prior_zero if criterion == "exact" else error
        self.least = -math.expm1(math.log(alone) / people)
        self.shares = np.geomspace(self.least, _NEARLY_ALL, _SHARES) if self.least < _NEARLY_ALL else np.empty(0)
        self.thresholds = np.asarray(law.quantile(self.shares), dtype=np.float64)

    def total(self, epsilon: float, share: Any, threshold: Any, flip: Any) -> Any:
        """The expected total payment N p (Q - T (1 - mu)), where p is the share of participants and 1 - mu the flip
        probability.
        """
        unit = Terms(1.0, epsilon)
        return self.people * share * threshold * unit.payment(flip)

    def quality(self, people: int, share: float, reporting: Reporting) -> float:
        """The number that the criterion compares with the target: a bound on the error probability, or its exact
        value.
        """
        if self.criterion == "pgf":
            return attendance_bound(people, share, reporting)
        return attendance_error(people, share, self.signal_model, reporting)

    def enough(self, share: float, reporting: Reporting) -> bool:
        """Whether the criterion accepts this share of participants."""
        if self.criterion == "pgf":
            return self.quality(self.people, share, reporting) <= self.error
        # No rule whose reports have this Bhattacharyya coefficient errs less: p_e (1 - p_e) >= P1 P0 (coefficient)^2.
        odds = self.signal_model.prior_one * self.signal_model.prior_zero
        coefficient = attendance_bound(self.people, share, reporting)
        if odds * coefficient**2 > self.error * (1.0 - self.error) * (1.0 + 1e-9):
            return False
        return self.quality(self.people, share, reporting) <= self.error

    def first(self, epsilon: float, most: float = math.inf) -> tuple[float, float]:
        """(expected total, share) of the least sufficient share of participants; infinite if no share is sufficient at
        a total below `most`.

        Args:
            epsilon: least level of a participant.
            most: largest total of interest.
        """
        for start in range(0, self.shares.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            shares, thresholds = self.shares[part], self.thresholds[part]
            flips = flip_probability(self.law, thresholds, shares, epsilon, self.ceiling, rough=True)
            totals = self.total(epsilon, shares, thresholds, flips)
            if not totals[0] < most:
                break
            for k, share in enumerate(shares):
                if self.enough(float(share), reporting_of(self.signal_model, flips[k], epsilon)):
                    low = float(self.shares[start + k - 1]) if start + k else 0.5 * float(share)
                    return self.halved(epsilon, low, float(share))
        return math.inf, math.nan

    def halved(self, epsilon: float, low: float, high: float) -> tuple[float, float]:
        """(expected total, share) of the least sufficient share, bisected between an insufficient share and a
        sufficient one.
        """
        total = math.inf
        while math.isinf(total) or high - low > 1e-13 * high:
            share = high if math.isinf(total) else (low + high) / 2.0
            threshold = float(self.law.quantile(share))
            flip = float(flip_probability(self.law, threshold, share, epsilon, self.ceiling))
            if self.enough(share, reporting_of(self.signal_model, flip, epsilon)):
                high, total = share, float(self.total(epsilon, share, threshold, flip))
            elif math.isinf(total):
                return math.inf, math.nan  # enough by the rough integral alone
            else:
                low = share
            if not low < (low + high) / 2.0 < high:
                break
        return total, high

    def of_thesis(self, epsilon: float) -> tuple[float, float]:
        """(expected total, share) of the thesis's choice of participation; infinite where it needs all
        people or more.
        """
        share = thesis_attendance(self.error, self.signal_model.signal_accuracy, epsilon) / self.people
        if not share < 1:
            return math.inf, math.nan
        threshold = float(self.law.quantile(share))
        flip = float(flip_probability(self.law, threshold, share, epsilon, self.ceiling))
        return float(self.total(epsilon, share, threshold, flip)), share

    def at(self, epsilon: float, most: float = math.inf) -> tuple[float, float]:
        """(expected total, share) of the criterion's choice at this least level; infinite where there is none."""
        return self.of_thesis(epsilon) if self.criterion == "thesis" else self.first(epsilon, most)

    def best(self) -> tuple[float, float, float]:
        """(expected total, level, share) of the cheapest market over a grid of levels, refined by Brent's method.

        The grid of levels is searched from its middle outwards.
        """
        from scipy.optimize import minimize_scalar

        grid = np.unique(np.minimum(_LEVELS, self.ceiling))
        found = (math.inf, math.nan, math.nan)
        for level in sorted(grid, key=lambda each: abs(math.log(each / 2.0))):
            total, share = self.at(float(level), found[0])
            found = min(found, (total, float(level), share), key=lambda each: each[0])
        if math.isinf(found[0]):
            return found
        index = int(np.argmin(np.abs(grid - found[1])))
        low, high = grid[max(index - 1, 0)], grid[min(index + 1, grid.size - 1)]
        if low < high:
            brent = minimize_scalar(lambda log_level: self._finite(math.exp(log_level)),
                                    bounds=(math.log(low), math.log(high)), method="bounded", options={"xatol": 1e-5})
            level = min(math.exp(float(brent.x)), self.ceiling)
            total, share = self.at(level)
            found = min(found, (total, level, share), key=lambda each: each[0])
        return found

    def _finite(self, epsilon: float) -> float:
        """The expected total at a level, with a large finite number in place of infinity, so that Brent's method can
        compare totals.
        """
        total = self.at(epsilon)[0]
        return total if math.isfinite(total) else 1e300


def _infeasible(search: _Search, epsilon: float | None, again: Callable[..., Any], seconds: float) -> TargetUnreachable:
    """The error that explains why no market was found: the least reachable error, and the number of people that would
    suffice.
    """
    theta, people = search.signal_model.signal_accuracy, search.people
    level = epsilon if epsilon is not None else min(search.ceiling, float(_LEVELS[-1]))

    def reach(count: int) -> float:
        """The criterion's error when `count` people all report at the given level."""
        if search.criterion == "thesis":
            return thesis_error(count, theta, level)
        everybody = Reporting.of(theta, level)
        return search.quality(count, 1.0, everybody)

    if search.criterion == "thesis":
        reachable = reach(people)
    else:
        flips = flip_probability(search.law, search.thresholds, search.shares, level, search.ceiling, rough=True)
        reachable = min((search.quality(people, float(share), reporting_of(search.signal_model, flip, level))
                         for share, flip in zip(search.shares, flips, strict=True)), default=reach(people))
    needed = None if trying() else least_people(lambda count: reach(count) <= search.error)
    most = None if needed is None else max(needed, people + 1)
    return TargetUnreachable(search.error, people, reachable, most, again, seconds / people)


@names_missing()
def plan_unknown_costs(error: float, signal_accuracy: float, prior_one: float, cost_law: CostLaw,
                       criterion: str = "exact", *, people: int, epsilon: float | None = None,
                       ceiling: float | None = None, max_payment: float | None = None) -> UnknownCostPlan:
    """The cheapest threshold market that was found for a target error with a given number of people.

    Args:
        error: target in (0, 1) for the probability of a wrong guess.
        signal_accuracy: probability theta in (0.5, 1) that a bit equals the state.
        prior_one: prior probability P(W = 1) that the state is 1.
        cost_law: law F of everybody's cost of a nat of privacy.
        criterion: criterion of the plan: "exact", "pgf" or "thesis".
        people: number N >= 2 of people who can be invited.
        epsilon: least level of a participant; by default the cheapest level that is found between 0.01 and 30 nats.
        ceiling: largest level that participants' devices allow; with None there is no limit and no guarantee of
            privacy.
        max_payment: amount in the unit of the costs. The plan warns if a single payment or debt can be larger; None for
            no warning.

    Returns:
        The plan. The plan's participation is 0 where the guess by the prior alone is accurate enough.

    Raises:
        InvalidInput: a parameter is out of range.
        TargetUnreachable: the search found no market that reaches the target; the message gives a number of people that
            would suffice.

    Source: Wang 2016, (4.5)-(4.11) and Theorem 8; criteria pgf and exact ours; spec data_market section 3.

    Example:
        >>> from confide.market import LogNormalLaw
        >>> law = LogNormalLaw(0.0, 1.0)
        >>> found = plan_unknown_costs(0.05, 0.8, 0.7, law, people=200)
        >>> round(found.total, 2), round(found.participants, 1), round(found.error, 6)
        (4.0, 8.0, 0.05)
        >>> round(plan_unknown_costs(0.05, 0.8, 0.7, law, "thesis", people=200, epsilon=2.0).total, 1)
        438.7
    """
    target, signal_model = fraction("error", error), SignalModel(prior_one, signal_accuracy)
    chosen, n = one_of("criterion", criterion, CRITERIA), whole("people", people, at_least=2)
    law = as_cost_law("cost_law", cost_law)
    top = math.inf if ceiling is None else as_level("ceiling", ceiling)
    level = None if epsilon is None else as_level("epsilon", epsilon)
    if level is not None and level > top:
        raise InvalidInput("ceiling", f"{top:g} is below epsilon = {level:g}, the least level",
                           "must be at least epsilon")
    cap = None if max_payment is None else positive("max_payment", max_payment)

    def again(other: str, at: float | None) -> UnknownCostPlan:
        return plan_unknown_costs(target, signal_model.signal_accuracy, signal_model.prior_one, law, other, people=n,
                                  epsilon=level if at is None else at, ceiling=ceiling, max_payment=cap)

    def with_others(people: int = n, error: float = target) -> UnknownCostPlan:
        return plan_unknown_costs(error, signal_accuracy, prior_one, law, criterion, people=people, epsilon=epsilon,
                                  ceiling=ceiling, max_payment=max_payment)

    blind = min(signal_model.prior_one, signal_model.prior_zero)
    if chosen != "thesis" and blind <= target * (1 + 1e-12):  # 1 - 0.7 is not 0.3
        return UnknownCostPlan(target=target, criterion=chosen, people=n, epsilon=0.0, participation=0.0, threshold=0.0,
                               total=0.0, error=blind, market=None, max_payment=cap, _again=again,
                               _guess=int(signal_model.prior_one > signal_model.prior_zero))
    start, search = time.process_time(), _Search(target, signal_model, law, n, chosen, top)
    if level is None:
        total, at, share = search.best()
    else:
        (total, share), at = search.at(level), level
    if math.isinf(total):
        raise _infeasible(search, level, with_others, time.process_time() - start)
    market = ThresholdMarket(n, signal_accuracy, prior_one, law, at, participation=share, ceiling=ceiling)
    return UnknownCostPlan(target=target, criterion=chosen, people=n, epsilon=at, participation=share,
                           threshold=market.cost_threshold, total=market.expected_total,
                           error=market.error_probability(), market=market, max_payment=cap, _again=again)
