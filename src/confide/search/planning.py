"""Planning of a private search: predictions for a privacy budget. The predictions depend only on the sizes, the
statistic of proximity and the stopping rule.

The module also computes the cost of all calls of a search together, by every known composition rule. A call with a
drawn threshold is two releases: a draw of an exponential mechanism, which has bounded range, and a noisy maximum.
Separate accounting for the two releases gives a smaller epsilon, even for a small number of calls.

    >>> found = compositions(13, 0.2, 1e-6)
    >>> round(found["basic"], 6), round(found["calls: zcdp"], 2), round(found["two-step"], 6)
    (2.6, 3.62, 1.913402)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.charts import curves
from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.errors import ConfideError, Refused
from confide.contract.guarantees import Guarantees, Relation
from confide.contract.missing import names_missing
from confide.contract.plan import Alternative, Plan, Predicted
from confide.contract.presentation import Picture
from confide.contract.remedies import tried
from confide.contract.renamed import renamed
from confide.contract.wire import wire_name
from confide.privacy.accounting import Accountant
from confide.privacy.accounting.advanced import theorem
from confide.privacy.events import BoundedRangeEvent, Event, PureEvent, Repeated
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.search.noise_kinds import NoiseKind, as_kind, wins_over
from confide.search.targeted import PTarget, within_budget

__all__ = ["RANDOM", "Multipliers", "SearchPlan", "call_cost", "compositions", "multipliers", "plan", "step_events"]

# ---- search accounting

_STOPS = ("none", "public", "private", "smoothed")


def _draws(stop: str) -> bool:
    return one_of("stop", stop, _STOPS) in {"private", "smoothed"}


def call_cost(noise_scale: float, sensitivity: float, stop: str) -> float:
    """Privacy loss of one call, a search for a component, in nats: 2 Delta/b, or 4 Delta/b if a threshold is drawn.

    Args:
        noise_scale: noise scale b > 0.
        sensitivity: sensitivity Delta > 0 of the statistic.
        stop: rule for the end of a search, "none", "public", "private" or "smoothed".

    Source: spec targeted_search 4 and 5, erratum E2.

    Example:
        >>> call_cost(20, 1, "none"), call_cost(20, 1, "private")
        (0.1, 0.2)
    """
    each = 2.0 * positive("sensitivity", sensitivity) / positive("noise_scale", noise_scale)
    return 2.0 * each if _draws(stop) else each


def step_events(epsilon: float, stop: str = "private", noise_kind: NoiseKind = "laplace") -> tuple[Event, ...]:
    """The privacy events of one call.

    Args:
        epsilon: privacy loss of the call, in nats.
        stop: rule for the end of a search, "none", "public", "private" or "smoothed".
        noise_kind: kind of the noise. With Gumbel noise the selection is an exponential mechanism, like the draw of a
            threshold.

    Source: spec targeted_search 4 ("two-step accounting").
    """
    cost, unit = positive("epsilon", epsilon), Relation.EDGES_OF_ONE
    kind = BoundedRangeEvent if as_kind(noise_kind) == "gumbel" else PureEvent
    if not _draws(stop):
        return (kind(epsilon=cost, neighbours=unit, label="selection"),)
    return (BoundedRangeEvent(epsilon=cost / 2, neighbours=unit, label="threshold"),
            kind(epsilon=cost / 2, neighbours=unit, label="selection"))


def compositions(
    calls: int, epsilon: float, delta: float, stop: str = "private", noise_kind: NoiseKind = "laplace",
) -> dict[str, float]:
    """The epsilon of all calls together, by each composition rule. Each epsilon is a valid bound, so the smallest one
    is valid too.

    Args:
        calls: number m = k - 1 >= 1 of calls, for k components.
        epsilon: privacy loss of one call, in nats.
        delta: delta of the whole list, in (0, 1).
        stop: rule for the end of a search, "none", "public", "private" or "smoothed".
        noise_kind: kind of the noise.

    Returns:
        A mapping from rule to epsilon. "basic" is m epsilon, even at delta 0. Four rules compose whole calls by their
        epsilon alone: "calls: advanced", "calls: zcdp plain" (m epsilon^2/2 + epsilon sqrt(2 m ln(1/delta))), "calls:
        zcdp" (the same rho, with a tighter conversion) and "calls: optimal". "steps: optimal" composes the steps of
        each call: two mechanisms at half of epsilon if a threshold is drawn. "two-step" adds the zCDP costs of
        thresholds and selections.

    Raises:
        InvalidInput: a parameter out of range.

    Source: spec targeted_search 4; rules of query_release A2.
    """
    number, cost, slack = whole("calls", calls, at_least=1), positive("epsilon", epsilon), fraction("delta", delta)
    call = Accountant((_repeated(PureEvent(epsilon=cost, neighbours=Relation.EDGES_OF_ONE), number),))
    steps = Accountant(tuple(_repeated(event, number) for event in step_events(cost, stop, noise_kind)))
    return {
        "basic": call.epsilon(0.0),
        "calls: advanced": theorem(cost, number, slack),
        "calls: zcdp plain": number * cost**2 / 2 + cost * math.sqrt(-2 * number * math.log(slack)),
        "calls: zcdp": ZCDP(call.rho()).epsilon_at(slack),
        "calls: optimal": call.epsilon(slack, calculator="optimal"),
        "steps: optimal": steps.epsilon(slack, calculator="optimal"),
        "two-step": ZCDP(steps.rho()).epsilon_at(slack),
    }


def _repeated(event: Event, count: int) -> Repeated:
    return Repeated(event=event, count=count, neighbours=event.neighbours)


@dataclass(frozen=True)
class Multipliers:
    """Largest factors e^loss by which any released list may be more likely on a neighbouring graph.

    Args:
        claimed: factor for the loss as printed in Wu 2017, calls / b, for noise scale b.
        without_threshold: factor for the corrected loss of a stop that draws no threshold, 2 Delta calls / b, for
            sensitivity Delta.
        with_threshold: factor for the corrected loss if each call also draws a threshold, 4 Delta calls / b.
    """

    claimed: float
    without_threshold: float
    with_threshold: float


@renamed(scale="noise_scale")
def multipliers(calls: float, noise_scale: float, sensitivity: float = 1.0) -> Multipliers:
    """The risk multiplier e^loss as printed in Wu 2017, and the corrected risk multipliers. A risk multiplier bounds
    the factor by which a released list is more likely on a neighbouring graph.

    Args:
        calls: number of calls, >= 0. An average over several runs is allowed, as in the printed table, although an
            average is not a bound for a single run.
        noise_scale: scale b of the Laplace noise.
        sensitivity: sensitivity Delta of the statistic.

    Source: Wu 2017, section 7.5 (line 6299); spec targeted_search 5, erratum E2.

    Example:
        >>> found = multipliers(3.14, 20)
        >>> round(found.claimed, 2), round(found.without_threshold, 2), round(found.with_threshold, 2)
        (1.17, 1.37, 1.87)
    """
    number = positive("calls", calls) if calls else 0.0
    plain = number * call_cost(noise_scale, sensitivity, "none")
    return Multipliers(math.exp(number / noise_scale), math.exp(plain), math.exp(2 * plain))


# ---- planning

RANDOM = 0.49
"""Limit on the share of all people examined before a target with the largest possible statistic. From this share on, a
random order is as good as the private search.
"""

_BEFORE = "others examined before a hidden target"
_KINDS: tuple[NoiseKind, ...] = ("laplace", "gumbel")


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchPlan(Plan[PTarget]):
    """A planned private search, with the privacy loss of the released list and predictions of the targets that the
    search can find.

    Args:
        mechanism: mechanism that will run.
    """

    mechanism: PTarget

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.mechanism.guarantees()

    @property
    def people(self) -> int:
        """Number n of people."""
        return self.mechanism.people

    @property
    def total(self) -> float:
        """Privacy loss of all calls by basic composition, (k - 1) epsilon, in nats."""
        return min(each.loss.epsilon for each in self.guarantees.privacy if isinstance(each.loss, PureDP))

    @property
    def loss(self) -> PureDP | ApproxDP:
        """Privacy loss of the released list: (epsilon, delta) if delta is above 0, and otherwise epsilon."""
        found = [each.loss for each in self.guarantees.privacy if isinstance(each.loss, PureDP | ApproxDP)]
        stated = [each for each in found if isinstance(each, ApproxDP)]
        return stated[0] if stated else found[0]

    def before(self, value: float) -> float:
        """Expected number of people with statistic 0 who come before a person, or a fake target, with the given value
        in the noisy order.

        Args:
            value: value of the statistic.
        """
        it = self.mechanism
        return self.people * float(wins_over(it.noise_kind, value, it.call.noise_scale))

    @cached_property
    def gives_up(self) -> float | None:
        """Expected number of people who are examined before a search gives up, if all statistics are 0 and there is not
        a target to find.

        The expected number is None if the search never gives up.
        """
        it = self.mechanism
        if it.stop == "none":
            return None
        law, points = self._fake
        return float(law @ wins_over(it.noise_kind, points, it.call.noise_scale)) * self.people

    @cached_property
    def worth(self) -> tuple[tuple[int, float], ...]:
        """The usefulness of the statistic, as pairs of a target's value and the expected number of people with value 0
        who are examined before this target.
        """
        most = self.mechanism.statistic.most(self.mechanism.degree_bound)
        last = self.people if most is None else min(most, self.people)
        values = sorted({each for each in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if each < last} | {last})
        return tuple((each, self.before(each)) for each in values)

    def missed(self, value: float) -> float | None:
        """Probability that one search gives up before it reaches a target with the given value; None if the search
        never gives up.

        For a drawn threshold all other people are assumed to have the value 0.

        Args:
            value: value of the statistic.
        """
        it = self.mechanism
        if it.stop == "none":
            return None
        law, points = self._fake
        return float(law @ (1.0 - wins_over(it.noise_kind, points - value, it.call.noise_scale)))

    @cached_property
    def _fake(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Probabilities and possible values of the fake target, if all people have the value 0."""
        it = self.mechanism
        if it.public_threshold is not None:
            return np.ones(1), np.array([it.public_threshold])
        return it.call.rule.law(np.zeros(self.people)), np.arange(it.call.rule.top + 1.0)

    # ---- as every plan

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        value, before = self.worth[-1]
        unit = f"of {self.people:,} people, in each search, for the value {value:,} among people with the value 0"
        found = {_BEFORE: Predicted(before, unit)}
        if self.gives_up is not None:
            found["examined before it gives up"] = Predicted(self.gives_up, f"of {self.people:,} people, all values 0")
        return found

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Alternatives to the plan: the search with another kind of noise at the same privacy loss, and a random order,
        which costs no privacy.
        """
        return (*self._other_noise, Alternative(
            name="random order", predicted={_BEFORE: Predicted(self.people / 2)},
            refused="it reads no contacts, so it has no privacy loss and finds nobody earlier"))

    @cached_property
    def _other_noise(self) -> tuple[Alternative, ...]:
        it, loss = self.mechanism, self.loss
        found = []
        for kind in _KINDS:
            if kind == it.noise_kind or not it.calls:
                continue
            name = f"{wire_name(it)} with {kind} noise"
            try:
                other = SearchPlan(mechanism=within_budget(
                    replace(it, noise_kind=kind), loss.epsilon, float(getattr(loss, "delta", 0.0))))
                found.append(Alternative(name=name, predicted=other.predicted, mechanism=other.mechanism))
            except ConfideError as error:
                found.append(Alternative(name=name, refused=str(error)))
        return tuple(found)

    def _own_figures(self) -> Mapping[str, Any]:
        it = self.mechanism
        return {
            "people": it.people, "components": it.components, "searches": it.calls, "stop": it.stop,
            "statistic": it.statistic.name, "noise": it.noise_kind, "scale": it.call.noise_scale,
            "degree_bound": it.degree_bound, "stopping_target": it.stopping_target,
            "epsilon_each": it.epsilon, "epsilon_in_all": self.total, "delta": it.delta, "stated": self.loss.epsilon,
            "gives_up_after": self.gives_up,
            "worth": [{"value": value, "before": before, "at_random": self.people / 2,
                       "gives_up_before": self.missed(value)}
                      for value, before in self.worth],
        }

    def plot(self) -> Picture:
        """Draw the expected number of people examined before a target, as a function of the target's statistic, with a
        random order for comparison.
        """
        last, before = self.worth[-1]
        rows = [(float(value), others, "private search") for value, others in self.worth]
        rows += [(float(value), self.people / 2, "random order") for value, _ in self.worth]
        (picture,) = curves(
            rows, title="Members found by the statistic", x=
                            "statistic of an undiscovered target (everybody else has 0)",
            y="others examined before it", alt="The number of others who are examined before an undiscovered target "
                                               "falls as the target's statistic grows; half of all people come before "
                                               "it in a random order.",
            marks=[(float(last), before, "the largest statistic")])
        return picture


@names_missing()
def plan(
    people: int, components: int, *, epsilon: float, delta: float = 0.0, **options: Any,
) -> SearchPlan:
    """Plan a private search within a privacy budget, and predict the targets that it can find.

    Args:
        people: public number n of people.
        components: largest number k >= 1 of components to find; at most k - 1 searches for a new component are made.
        epsilon: privacy loss of the whole released list, in nats, > 0.
        delta: delta of the privacy loss of the whole list, in [0, 1).
        options: further parameters of `PTarget`, such as stopping_target, degree_bound, stop, statistic or noise_kind.

    Raises:
        InvalidInput: a number out of range.
        Refused: the noise is so large compared with every possible value of the statistic that a random order is as
            good and costs no privacy. The error message names a sufficient epsilon.

    Source: Wu 2017, Algorithm 13; spec targeted_search 3 and 4.

    Example:
        >>> found = plan(10_000, 5, epsilon=4.0, degree_bound=100, stopping_target=50)
        >>> found.mechanism.epsilon, round(found.predicted["others examined before a hidden target"].value)
        (1.0, 0)
        >>> plan(10_000, 5, epsilon=0.001, degree_bound=100, stopping_target=50)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        confide.contract.errors.Refused: at epsilon = 0.001, the noise has scale ...
    """
    it = PTarget.for_budget(epsilon=epsilon, delta=delta, people=people, components=components, **options)
    found = SearchPlan(mechanism=it)
    value, before = found.worth[-1]
    if it.calls and before >= RANDOM * people:
        def again(epsilon: float) -> SearchPlan:
            return plan(people, components, epsilon=epsilon, delta=delta, **options)

        raise Refused(
            f"at epsilon = {epsilon:g}, the noise has scale {it.call.noise_scale:,.4g}. Even an undiscovered target "
            f"with the largest possible value ({value:,}) would come after {before / people:.0%} of all people. A "
            "random order is as good, and discloses nothing about anybody's contacts",
            [*tried("an epsilon of {epsilon}", again, epsilon=_enough(found, epsilon)), "fewer components"])
    return found


def _enough(found: SearchPlan, epsilon: float) -> float:
    """An epsilon, up to a factor of 1.25, from which on the private search beats a random order (`RANDOM`). The epsilon
    is infinite if none is found.
    """
    factor = 1.0
    while factor < 2.0**20:
        factor *= 1.25
        it = replace(found.mechanism, epsilon=found.mechanism.epsilon * factor)
        if SearchPlan(mechanism=it).worth[-1][1] < RANDOM * it.people:
            return epsilon * factor
    return math.inf
