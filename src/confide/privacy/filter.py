"""A privacy filter: a fixed budget, the rule that adds up charges, and the amount spent so far. A charge returns a new
filter.

Unlike an accountant, a filter stays valid when a spend is chosen after earlier outputs were seen (spec query_release
A2). Advanced, per-round and optimal composition are proved only for epsilons that are fixed before the first release,
so no rule of a filter uses them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from confide.contract.checks import fraction, one_of
from confide.contract.errors import BudgetExceeded, InvalidInput
from confide.privacy.accounting.split import concentrated_epsilon
from confide.privacy.accounting.sums import counted, float_up, totals, written, written_up
from confide.privacy.events import Event
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

__all__ = ["Cost", "Filter", "Rule", "price"]

Rule = Literal["basic", "zcdp"]

_ROUNDING = Fraction(1, 10**12)
"""Share of a budget below which the rest counts as 0. A campaign whose parts are each rounded down by less than 2^-52
of the budget leaves less than this share.
"""


@dataclass(frozen=True)
class Cost:
    """The exact cost of events by a rule.

    Args:
        epsilon: sum of the epsilons of pure and approximate events. Each epsilon counts as the decimal number that is
            written for it.
        delta: sum of the deltas.
        rho: the zCDP cost; 0 except under the rule "zcdp".
        pure: whether all events were `PureEvent`s or other events with a pure epsilon; used under the rule "zcdp" only.
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    pure: bool = True

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.epsilon + other.epsilon, self.delta + other.delta, self.rho + other.rho,
                    self.pure and other.pure)


def price(rule: Rule, events: Iterable[Event], delta: float = 0.0) -> Cost:
    """The cost of one fixed list of events by a rule.

    Args:
        rule: "basic" or "zcdp".
        events: a list that was fixed before the release.
        delta: under the rule "basic", the delta at which the concentrated events of the list, zCDP and Gaussian, are
            converted to an epsilon. Pure events are converted together with the concentrated ones if that makes the
            list cheaper, as for many draws of bounded range. For a list that was fixed before the release, the
            conversion is valid both with and without the pure events.

    Raises:
        InvalidInput: the rule cannot add one of the events, or does not accept the delta.
    """
    if rule == "zcdp" and delta:
        raise InvalidInput("delta", f"{delta:g} is not 0",
                           "must be 0: the rule 'zcdp' converts the sum once, at the delta of the budget")
    delta = fraction("delta", delta, zero=True)
    sums = totals(counted(tuple(events)))
    if rule == "zcdp":
        if sums.rho is None:
            raise InvalidInput("events", "an event with a delta above 0 has no zCDP cost",
                               "charge it to an account with the rule 'basic'")
        return Cost(sums.pure, Fraction(0), sums.rho, pure=sums.concentrated == 0)
    epsilon, spent = sums.pure + sums.approx, sums.delta
    if sums.concentrated:
        converted = concentrated_epsilon(sums, delta)
        if not math.isfinite(converted):
            raise InvalidInput("delta", f"{delta:g} is too small for concentrated events", "must be above 0; or choose "
                               "the rule 'zcdp', which adds concentrated events up without a delta")
        epsilon, spent = epsilon + Fraction(converted), spent + written(delta)
    if delta and sums.rho is not None:
        together = ZCDP(float_up(sums.rho)).epsilon_at(delta)
        if together < epsilon:
            return Cost(Fraction(together), written(delta), Fraction(0))
    return Cost(epsilon, spent, Fraction(0))


@dataclass(frozen=True)
class Filter:
    """A privacy budget, and the amount spent of it.

    Args:
        budget: the limit, a finite loss.
        rule: rule that adds up charges. "basic" adds their epsilons and deltas. "zcdp" adds their rho and converts only
            the sum to an epsilon, which is better for many small charges. The rule "zcdp" needs a delta in the budget
            and admits no approximate events. While all events are pure, "zcdp" also admits a charge if the sum of all
            epsilons is within the budget's epsilon. Outputs that are admitted only by the sum of epsilons lose at most
            epsilon, and add nothing to delta. All other outputs are outputs of a zCDP filter.
        total: the cost spent so far.

    Raises:
        InvalidInput: an unlimited budget, or a budget without the delta that the rule needs.

    Example:
        >>> from confide.contract import Relation
        >>> from confide.privacy.events import PureEvent
        >>> half = price("basic", [PureEvent(epsilon=0.5, neighbours=Relation.REPLACE)])
        >>> once = Filter(PureDP(0.8)).charged(half, "survey")
        >>> once.spent
        PureDP(epsilon=0.5)
        >>> once.admits(half)
        False
    """

    budget: PureDP | ApproxDP
    rule: Rule = "basic"
    total: Cost = field(default_factory=Cost)

    def __post_init__(self) -> None:
        one_of("rule", self.rule, ("basic", "zcdp"))
        if not isinstance(self.budget, PureDP | ApproxDP):
            raise InvalidInput("budget", f"{type(self.budget).__name__} is not a budget", "must be PureDP or ApproxDP")
        if self.budget.vacuous:
            raise InvalidInput("budget", f"{self.budget} is unlimited", "must be finite")
        if self.rule == "zcdp" and self.limits[1] == 0:
            raise InvalidInput("budget", f"{self.budget} has no delta", "the rule 'zcdp' needs a delta above 0")

    @property
    def limits(self) -> tuple[Fraction, Fraction]:
        """The exact epsilon and delta of the budget."""
        return written(self.budget.epsilon), written(getattr(self.budget, "delta", 0.0))

    @property
    def spent(self) -> PureDP | ZCDP | ApproxDP:
        """The loss spent so far by the filter's rule, rounded up."""
        if self.rule == "zcdp":
            return ZCDP(float_up(self.total.rho))
        epsilon = written_up(self.total.epsilon)
        return ApproxDP(epsilon, written_up(self.total.delta)) if self.total.delta else PureDP(epsilon)

    @property
    def left(self) -> str:
        """A description of the rest of the budget, in words. A rest that is negligible compared with the budget is
        shown as 0. The decision by `admits` is exact.
        """
        total = self.total
        epsilon, delta = self.limits
        pure = _shown(epsilon - total.epsilon, epsilon)
        if self.rule == "zcdp":
            allowed = ZCDP.within(float(epsilon), float(delta)).rho
            rest = _shown(Fraction(allowed) - total.rho, Fraction(allowed))
            text = f"rho {rest:.6g} of {allowed:.6g} (epsilon {float(epsilon):g} at delta {float(delta):g})"
            return f"{text}, or epsilon {pure:.6g} in releases without a delta" if total.pure and pure else text
        text = f"epsilon {pure:.6g} of {float(epsilon):g}"
        if delta:
            text += f", delta {_shown(delta - total.delta, delta):.3g} of {float(delta):g}"
        return text

    def lowered(self, budget: PureDP | ApproxDP, rule: Rule | None = None) -> Filter:
        """A copy of the filter with another budget, which must have an epsilon and a delta at most as large as before.

        Raises:
            InvalidInput: a larger budget, or another rule.
        """
        rule = self.rule if rule is None else rule
        new = Filter(budget, rule, self.total)
        if rule != self.rule:
            raise InvalidInput("rule", f"{rule!r} differs from the registered {self.rule!r}",
                               "the rule of an account is fixed when it is opened")
        if any(mine > theirs for mine, theirs in zip(new.limits, self.limits, strict=True)):
            raise InvalidInput("budget", f"{budget} exceeds the registered {self.budget}",
                               "a campaign may lower a budget, never raise it")
        return new

    def admits(self, cost: Cost) -> bool:
        """Whether the budget still covers a further cost."""
        total = self.total + cost
        epsilon, delta = self.limits
        if self.rule == "basic":
            return total.epsilon <= epsilon and total.delta <= delta
        if total.pure and total.epsilon <= epsilon:
            return True
        return Fraction(ZCDP(float_up(total.rho)).delta_at(self.budget.epsilon)) <= delta

    @property
    def allowed(self) -> str:
        """A description of the whole budget, in words."""
        epsilon, delta = map(float, self.limits)
        if self.rule == "zcdp":
            return f"rho {ZCDP.within(epsilon, delta).rho:.6g} (epsilon {epsilon:g} at delta {delta:g})"
        return f"epsilon {epsilon:g}, delta {delta:g}" if delta else f"epsilon {epsilon:g}"

    def asked(self, cost: Cost) -> str:
        """A description of a cost in the units of the budget, in words.

        Args:
            cost: a cost, as `price` returns it for the rule of this filter.
        """
        text = f"rho {float(cost.rho):.6g}" if self.rule == "zcdp" else f"epsilon {float(cost.epsilon):.6g}"
        return f"{text}, delta {float(cost.delta):.3g}" if self.rule == "basic" and cost.delta else text

    def charged(self, cost: Cost, account: str) -> Filter:
        """The filter after a further cost is charged.

        Args:
            cost: a cost, as `price` returns it for the rule of this filter.
            account: the name of the charged account, for the error message.

        Raises:
            BudgetExceeded: the budget does not cover the cost.
        """
        if not self.admits(cost):
            whole = self.total == Cost()
            raise BudgetExceeded(account, self.asked(cost), f"{self.left}, the whole budget" if whole else self.left, (
                "nothing was spent before, so the whole budget is too small: choose a smaller privacy loss"
                if whole else ""))
        return replace(self, total=self.total + cost)


def _shown(rest: Fraction, of: Fraction) -> float:
    """The rest of a budget's part in the form that a reader sees: 0 where the rest is below `_ROUNDING` times the
    part.
    """
    return float(rest) if rest >= _ROUNDING * of and rest > 0 else 0.0
