"""The accountant, which computes the total privacy cost of a fixed list of events. An epsilon counts as the decimal
number that is written for it, such as exactly 0.1. Sums are exact, and are rounded up once at the end.

A calculator is one method to add up the losses of events. Every calculator gives a valid upper bound on the loss of the
same releases, if the parameters of all events were fixed before the first release. The smallest bound of all
calculators is then valid too. Events that are chosen after earlier outputs were seen need the `Ledger`, which is a
privacy filter. For such events, only the budget of the filter is a guarantee. The epsilon spent so far is not a
guarantee.

`matrix` prints which calculator has a proved rule for which type of event, for the documentation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from confide.contract.checks import fraction, non_negative, one_of
from confide.contract.errors import InvalidInput, NotGuaranteed, Unsupported
from confide.contract.guarantees import Relation
from confide.contract.presentation import Table
from confide.privacy.accounting import advanced, basic, gdp, optimal, per_round, pld, split, zcdp
from confide.privacy.accounting.sums import KINDS, Spend, counted, float_up, totals
from confide.privacy.events import Event
from confide.privacy.losses import ApproxDP, PureDP

__all__ = ["CALCULATORS", "FAST", "MADE_BY", "Accountant", "Calculator", "matrix", "mechanisms"]

# ---- accountant


class Calculator(Protocol):
    """The interface of a calculator, which each module of the calculators implements."""

    RULES: dict[type[Event], str]
    """Mapping from an event type to a short description of the composition rule that is proved for events of this type.
    An event type without an entry is unsupported.
    """

    SOURCE: str
    """The publications that prove the rules."""

    def epsilon(self, spend: Spend, delta: float, /) -> float:
        """The least epsilon, in nats, that the calculator proves for these events at `delta`."""
        ...

    def delta(self, spend: Spend, epsilon: float, /) -> float:
        """The least delta that the calculator proves for these events at `epsilon`."""
        ...


CALCULATORS: dict[str, Calculator] = {
    "basic": basic,
    "advanced": advanced,
    "per_round": per_round,
    "zcdp": zcdp,
    "gdp": gdp,
    "optimal": optimal,
    "split": split,
    "pld": pld,
}

FAST: tuple[str, ...] = ("basic", "advanced", "per_round", "zcdp", "gdp", "optimal", "split")
"""Names of the calculators with closed forms, each of which rounds the results up. The calculator "pld" is not in the
list, and is used only when it is named.
"""


@dataclass(frozen=True)
class Accountant:
    """The total privacy cost of a fixed list of events.

    Args:
        events: the releases, all for one neighbouring relation.

    Raises:
        Unsupported: an event of a type for which no rule is proved.
        InvalidInput: events of several relations.

    Example:
        >>> from confide.contract import Relation
        >>> from confide.privacy import PureEvent
        >>> one = PureEvent(epsilon=0.1, neighbours=Relation.REPLACE)
        >>> round(Accountant((one,) * 3).epsilon(), 12)
        0.3
    """

    events: tuple[Event, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        given = (self.events,) if isinstance(self.events, Event) else tuple(self.events)
        for event in given:
            if not isinstance(event, Event):
                raise InvalidInput("events", f"{type(event).__name__} is not an event",
                                   "must be events, such as PureEvent")
        object.__setattr__(self, "events", given)
        relations = {event.neighbours for event in self.events}
        if len(relations) > 1:
            raise InvalidInput("events", f"have {len(relations)} neighbouring relations",
                               "an accountant adds only events with the same neighbours")
        # Refuses unknown events now, not when the answer is asked for.
        object.__setattr__(self, "_spend", counted(self.events))

    @property
    def spend(self) -> Spend:
        """Mapping from each distinct event to its number of uses, without labels and nesting."""
        found: Spend = vars(self)["_spend"]
        return found

    @property
    def neighbours(self) -> Relation | None:
        """The neighbouring relation of all events; None for an empty list."""
        return self.events[0].neighbours if self.events else None

    @property
    def calculators(self) -> tuple[str, ...]:
        """The names of the calculators that have a rule for every event of the list."""
        kinds = {type(leaf) for leaf in self.spend}
        return tuple(name for name, each in CALCULATORS.items() if kinds <= each.RULES.keys())

    def bounds(self, delta: float = 0.0, calculators: Iterable[str] = FAST) -> dict[str, float]:
        """The epsilon that each calculator with a rule for every event proves at this delta.

        Args:
            delta: a probability in [0, 1).
            calculators: names of the calculators to ask, keys of `CALCULATORS`.

        Returns:
            Mapping from the name of a calculator to its epsilon in nats, rounded up; infinity where the calculator
            proves nothing at this delta.

        Example:
            >>> from confide.contract import Relation
            >>> from confide.privacy import PureEvent
            >>> one = PureEvent(epsilon=0.1, neighbours=Relation.REPLACE)
            >>> found = Accountant((one,) * 100).bounds(1e-6)
            >>> min(found, key=found.get), round(found["advanced"], 6)
            ('optimal', 6.308231)
        """
        delta = fraction("delta", delta, zero=True)
        return {name: CALCULATORS[name].epsilon(self.spend, delta)
                for name in self._asked(calculators) if name in self.calculators}

    def epsilon(self, delta: float = 0.0, *, calculator: str | None = None) -> float:
        """The least epsilon proved at this delta, by the closed forms or by one calculator.

        Args:
            delta: a probability in [0, 1).
            calculator: a key of `CALCULATORS`; None for the least result of all calculators in `FAST`.

        Returns:
            The least epsilon in nats, rounded up; infinity where nothing is proved at this delta.

        Raises:
            Unsupported: the calculator has no rule for an event of the list.
        """
        if calculator is None:
            return min(self.bounds(delta).values())
        return self._one(calculator).epsilon(self.spend, fraction("delta", delta, zero=True))

    def best(self, delta: float = 0.0) -> tuple[str, float]:
        """The name of the closed-form calculator that proves the least epsilon at this delta, and that epsilon.

        Example:
            >>> from confide.contract import Relation
            >>> from confide.privacy import PureEvent
            >>> one = PureEvent(epsilon=0.1, neighbours=Relation.REPLACE)
            >>> Accountant((one,) * 1000).best(1e-6)[0]
            'optimal'
        """
        found = self.bounds(delta)
        name = min(found, key=lambda each: found[each])
        return name, found[name]

    def delta(self, epsilon: float, *, calculator: str | None = None) -> float:
        """The least delta proved at this epsilon, by the closed forms or by one calculator.

        Args:
            epsilon: the loss in nats, >= 0.
            calculator: a key of `CALCULATORS`; None for the least result of all calculators in `FAST`.

        Returns:
            The least delta, in [0, 1], rounded up.

        Raises:
            Unsupported: the calculator has no rule for an event of the list.
        """
        epsilon = non_negative("epsilon", epsilon)
        if calculator is not None:
            return self._one(calculator).delta(self.spend, epsilon)
        return min(CALCULATORS[name].delta(self.spend, epsilon) for name in FAST if name in self.calculators)

    def rho(self) -> float:
        """The total zCDP cost, rounded up.

        Raises:
            NotGuaranteed: an event of the list has no zCDP cost.
        """
        exact = totals(self.spend).rho
        if exact is None:
            raise NotGuaranteed("zCDP", "an event with a delta above 0 has no zCDP cost", "ask for epsilon(delta)")
        return float_up(exact)

    def loss(self, delta: float = 0.0) -> PureDP | ApproxDP:
        """The total privacy loss of all events: `PureDP` at delta = 0, `ApproxDP` otherwise."""
        epsilon = self.epsilon(delta)
        return PureDP(epsilon) if delta == 0 else ApproxDP(epsilon, delta)

    def _asked(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(one_of("calculator", name, tuple(CALCULATORS)) for name in names)

    def _one(self, name: str) -> Calculator:
        calculator = CALCULATORS[self._asked((name,))[0]]
        for leaf in self.spend:
            if type(leaf) not in calculator.RULES:
                raise Unsupported("calculator", f"{type(leaf).__name__} in {name!r}",
                                  f"these calculators have rules for all events: {', '.join(self.calculators)}")
        return calculator


# ---- rules

MADE_BY: dict[str, tuple[str, str]] = {
    "Laplace noise, continuous or discrete": ("PureEvent", "Wu 2017, Theorem 2.3.1"),
    "noisy maximum with Laplace noise": ("PureEvent", "a proof exists for epsilon only"),
    "sparse vector, until its answer above the threshold": (
        "PureEvent", "one event for the answers up to each answer above the threshold"),
    "tree counter with Laplace noise": ("PureEvent", "spec allocation 2"),
    "exponential mechanism, one draw": ("BoundedRangeEvent", "Wu 2017, Theorem 2.3.3"),
    "randomised response over k categories": ("RandomizedResponseEvent", "its law is known exactly"),
    "Gaussian noise, continuous; tree counter with it": ("GDPEvent", "exact trade-off; spec allocation 2"),
    "discrete Gaussian noise": ("ZCDPEvent", "rho = sensitivity^2/(2 sigma^2)"),
    "any mechanism with known (epsilon, delta)": ("ApproxEvent", "Wu 2017, Theorem 2.2.2"),
}
"""Mapping from a mechanism to the event type that one release by the mechanism costs, with the source of the proof."""


def matrix() -> Table:
    """A table with a row for each calculator and a column for each event type. A cell names the proved rule, or holds
    the word "Unsupported".

    Example:
        >>> row = dict(zip(matrix().columns, matrix().rows[3], strict=True))
        >>> row["calculator"], row["BoundedRangeEvent"], row["ApproxEvent"]
        ('zcdp', 'rho = epsilon^2/8', 'Unsupported')
    """
    return Table(
        columns=("calculator", *(kind.__name__ for kind in KINDS), "source"),
        rows=tuple((name, *(each.RULES.get(kind, "Unsupported") for kind in KINDS), each.SOURCE)
                   for name, each in CALCULATORS.items()),
        note="Every rule is a proven upper bound for a list of events that was fixed before the run. Repeated and "
             "Composed events count as the events within them.",
    )


def mechanisms() -> Table:
    """A table with a row for each mechanism: the event type that a release by the mechanism costs, and the source."""
    return Table(columns=("mechanism", "event", "because"),
                 rows=tuple((mechanism, event, why) for mechanism, (event, why) in MADE_BY.items()))
