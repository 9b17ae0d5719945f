"""The cheapest threshold market of given people that reaches an error: which least level, and who is to take part.

Three criteria: `thesis` takes the participation of Wang's Theorem 8, `pgf` the least that the one-line bound on the
error allows, and `exact` the least whose exact error is small enough. What the first two cost more is the price of
their looseness: `plan_unknown_costs(...).compared` shows all three.

The expected total rises with the share p that takes part, so that the least sufficient p is the cheapest; but the error
need not fall with p, since newcomers at the floor dilute the majority. So p is searched on a grid from below, and
halved within the first cell at whose end the error is small enough. The result is the best that was found.
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
_LEVELS = np.geomspace(0.01, 30.0, 40)  # at 30 every participant tells her bit as it is


@dataclass(frozen=True, kw_only=True)
class UnknownCostPlan(PlannedMarket):
    """A threshold market that reaches a target: the best that was found, for this number of people.

    Args:
        target: the error that was asked for.
        criterion: exact, pgf or thesis.
        people: N, invited.
        epsilon: the least level of a participant, a floor of quality; 0 where nothing is bought.
        participation: p, the share that takes part; 0 where the prior alone is good enough.
        threshold: c_th, the largest cost per nat that takes part.
        total: expected sum of all payments.
        error: exact probability that the guess is wrong.
        market: None where nothing is bought.
        max_payment: the user's cap on single payments in either direction, if any.
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
        """N p, the expected number of participants."""
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
        """The plans by the other criteria at the plan's own level. `compared` searches for the best level of each."""
        if self._again is None or self.market is None:
            return ()
        return by_criterion({name: self if name == self.criterion else self._other(name, self.epsilon)
                             for name in CRITERIA}, self.criterion)

    def _other(self, criterion: str, epsilon: float | None) -> UnknownCostPlan | str:
        """The plan by another criterion, or why there is none."""
        if self._again is None:
            return self
        try:
            return self._again(criterion, epsilon)
        except InvalidInput as refusal:
            return str(refusal)

    def plot(self) -> Picture:
        """A picture of the expected total and the error at this level, for more participants."""
        it = self.market
        if it is None:
            return picture([(0.0, self.error)], (0.0, self.error), title=_PLOTTED, x="expected total",
                           y=ERROR, alt="Nothing is bought: the prior alone is good enough.")
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
            found.append("no ceiling on levels: nobody is promised any level of privacy")
        worst, largest = self.market.worst_payment(), self.market.largest_payment()
        for words, single in (("debt", worst), ("payment", largest)):
            if self.max_payment is not None and abs(single.amount) > self.max_payment:
                found.append(f"a single {words} can be {abs(single.amount):.6g}, above the cap of "
                             f"{self.max_payment:g}, if {single.present} of {self.people} take part")
        return found

    @cached_property
    def compared(self) -> dict[str, UnknownCostPlan | str]:
        """The plan by each criterion, or why there is none."""
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
    """For one level: the least share that takes part and is enough, with its expected total."""

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
        """N p (Q - T (1 - mu))."""
        unit = Terms(1.0, epsilon)
        return self.people * share * threshold * unit.payment(flip)

    def quality(self, people: int, share: float, reporting: Reporting) -> float:
        """What the criterion compares with the target."""
        if self.criterion == "pgf":
            return attendance_bound(people, share, reporting)
        return attendance_error(people, share, self.signal_model, reporting)

    def enough(self, share: float, reporting: Reporting) -> bool:
        """Whether the criterion is met."""
        if self.criterion == "pgf":
            return self.quality(self.people, share, reporting) <= self.error
        # No rule whose reports have this Bhattacharyya coefficient errs less: p_e (1 - p_e) >= P1 P0 (coefficient)^2.
        odds = self.signal_model.prior_one * self.signal_model.prior_zero
        coefficient = attendance_bound(self.people, share, reporting)
        if odds * coefficient**2 > self.error * (1.0 - self.error) * (1.0 + 1e-9):
            return False
        return self.quality(self.people, share, reporting) <= self.error

    def first(self, epsilon: float, most: float = math.inf) -> tuple[float, float]:
        """(expected total, share) of the least share that is enough; infinite where none is, below that total.

        Args:
            epsilon: the level.
            most: totals above it do not matter.
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
        """(expected total, share) where the error gets small enough between a share that is too small and one that is
        not.
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
        """(expected total, share) of the thesis' choice; infinite where it needs everybody or more."""
        share = thesis_attendance(self.error, self.signal_model.signal_accuracy, epsilon) / self.people
        if not share < 1:
            return math.inf, math.nan
        threshold = float(self.law.quantile(share))
        flip = float(flip_probability(self.law, threshold, share, epsilon, self.ceiling))
        return float(self.total(epsilon, share, threshold, flip)), share

    def at(self, epsilon: float, most: float = math.inf) -> tuple[float, float]:
        """(expected total, share) by the criterion."""
        return self.of_thesis(epsilon) if self.criterion == "thesis" else self.first(epsilon, most)

    def best(self) -> tuple[float, float, float]:
        """(expected total, level, share), best over a grid of levels, from its middle outwards, and Brent's method."""
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
        """The total, or a large number that a search can compare."""
        total = self.at(epsilon)[0]
        return total if math.isfinite(total) else 1e300


def _infeasible(search: _Search, epsilon: float | None, again: Callable[..., Any], seconds: float) -> TargetUnreachable:
    """Why nothing was found: the best that these people reach, and how many would do."""
    theta, people = search.signal_model.signal_accuracy, search.people
    level = epsilon if epsilon is not None else min(search.ceiling, float(_LEVELS[-1]))

    def reach(count: int) -> float:
        """With everybody at that level: what the criterion looks at."""
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
    """The cheapest threshold market that reaches an error target with these people; the best that was found.

    Args:
        error: the target in (0, 1), for the probability of a wrong guess.
        signal_accuracy: theta in (0.5, 1).
        prior_one: P(W = 1).
        cost_law: F, of everybody's cost per nat.
        criterion: "exact", "pgf" or "thesis".
        people: N >= 2, who can be invited.
        epsilon: the least level of a participant; default the cheapest that was found between 0.01 and 30.
        ceiling: the largest level that clients let through; None for none, and no promise of privacy.
        max_payment: a warning is given where a single payment or debt can be larger.

    Returns:
        The plan; a share of 0 where guessing by the prior alone is good enough.

    Raises:
        InvalidInput: a parameter out of range.
        OutOfReach: a target that was not reached; says how many people could.

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
        raise InvalidInput("ceiling", f"{top:g} is below epsilon, the level at the threshold", "must be at least that")
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
