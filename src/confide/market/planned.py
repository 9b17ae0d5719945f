"""The common part of all markets' plans: the mechanism to run, its predicted figures, and the plans by other criteria.

`NoPurchase` is a market that buys nothing, for cases in which the prior alone is accurate enough, or the budget pays
for no better guess.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np

from confide.charts import curves
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import (
    Accuracy,
    Audience,
    Budget,
    Guarantees,
    Privacy,
    Relation,
    Source,
)
from confide.contract.parameters import Parameter
from confide.contract.plan import Alternative, Plan
from confide.contract.presentation import Picture
from confide.contract.renamed import warn_of_old
from confide.contract.wire import wire, wire_name
from confide.market.binomials import StateEstimate
from confide.market.collection import LARGEST, BitCollection
from confide.market.costs import CustomCost, PlainNumbers
from confide.market.matching import Paid, PaidByCounts
from confide.privacy.losses import PureDP

__all__ = [
    "ERROR",
    "LEVEL",
    "MONEY",
    "TOTAL",
    "NoPurchase",
    "PlannedMarket",
    "Sentences",
    "around",
    "by_criterion",
    "picture",
]

# ---- planned

TOTAL, ERROR, LEVEL = "expected total", "probability of a wrong guess", "level of one report"
MONEY = "in the unit of the costs"

_HUNDREDTHS = 100
_POINTS = 24
_WIDEST = 4.0  # times the plan's number on the horizontal axis of a picture, and its part


class Sentences(tuple[str, ...]):
    """The warnings of a plan. Until version 1.0.0 the tuple of warnings can also be called like a function, because
    `warnings` was a method.
    """

    __slots__ = ()

    def __call__(self) -> Sentences:
        warn_of_old("the plan of a market", "warnings()", "warnings")
        return self


class Promising(Protocol):
    """The methods of a market that its plan needs."""

    def payment_range(self) -> tuple[float, float]: ...

    def guarantees(self) -> Guarantees: ...


class PlannedMarket(Plan[BitCollection]):
    """The plan of a market. Every subclass has the fields `market` and `total`."""

    @property
    @abstractmethod
    def _market(self) -> Promising:
        """The market whose payments are planned."""

    @property
    def mechanism(self) -> BitCollection:
        """The mechanism that counts and pays the reports, in hundredths of the unit of the costs. Where nothing is
        bought, the mechanism has no participants.

        If a payment would be too large a number of hundredths, the mechanism pays whole units.
        `BitCollection(market=plan.market, ...)` uses another currency.

        Raises:
            InvalidInput: a single payment can be more than 2^62 units.
        """
        most = max(map(abs, self._market.payment_range()))
        return BitCollection(market=self._market, minor_units=_HUNDREDTHS if most * _HUNDREDTHS <= LARGEST else 1)

    @property
    def guarantees(self) -> Guarantees:
        """The guarantees of the mechanism, or the guarantees of the market if its payments are too large to be counted
        in whole units.
        """
        try:
            return self.mechanism.guarantees()
        except InvalidInput:
            return self._market.guarantees()

    @property
    def _name(self) -> str:
        return wire_name(self._market)

    @property
    def warnings(self) -> Sentences:
        """Warnings for the reader of the plan, one sentence each."""
        return Sentences([*self._warned(), *self._doubts()])

    def _warned(self) -> Sequence[str]:
        """The plan's own warnings."""
        return ()

    def _doubts(self) -> Iterator[str]:
        """Sentences on the reasons why the market cannot be run or its outcome cannot be saved, if there are any."""
        try:
            cost = getattr(self.mechanism.market, "cost", None)
        except InvalidInput as error:
            yield f"this market cannot be run: {error}"
        else:
            if isinstance(cost, CustomCost):
                yield ("no campaign can run this market, and its outcome cannot be saved, since no file can hold a "
                       "cost that is a function of your own")


def by_criterion(compared: Mapping[str, Any], own: str) -> tuple[Alternative, ...]:
    """The plans by the other criteria, the cheapest first, followed by the criteria that have no plan.

    Args:
        compared: mapping from each criterion to its plan, or to the reason why it has none.
        own: criterion of the plan itself, which is left out.
    """
    others = [(name, each) for name, each in compared.items() if name != own]
    found = sorted((each.total, name) for name, each in others if not isinstance(each, str))
    return (*(Alternative(name=f"criterion {name}", predicted=compared[name].predicted,
                          mechanism=compared[name].mechanism) for _, name in found),
            *(Alternative(name=f"criterion {name}", refused=each) for name, each in others if isinstance(each, str)))


def around(value: float, most: float) -> list[float]:
    """Numbers from a quarter of a value to four times that value, including the value itself, as the axis of a
    picture.
    """
    grid = np.geomspace(value / _WIDEST, min(value * _WIDEST, most), _POINTS)
    return sorted({*map(float, grid), value})


def picture(rows: Sequence[tuple[float, float]], mark: tuple[float, float], *, title: str, x: str, y: str,
            alt: str) -> Picture:
    """A chart with one curve, on which the plan is marked."""
    (found,) = curves([(*each, y) for each in rows], title=title, x=x, y=y, alt=alt, marks=[(*mark, "this plan")])
    return found


# ---- no purchase


@wire("NoPurchase", "guess prior_error")
@dataclass(frozen=True)
class NoPurchase(PlainNumbers, PaidByCounts):
    """A market in which nobody is asked and nobody is paid; the state is guessed by the prior.

    Raises:
        InvalidInput: the probability is out of range.

    Example:
        >>> market = NoPurchase(prior_error=0.3, guess=1)
        >>> market.people, market.error_probability(), market.pay(ones=0, zeros=0).total
        (0, 0.3, 0.0)
        >>> market.estimate(ones=0, zeros=0)
        StateEstimate(state=1, wrong=0.3, people=0)
    """

    prior_error: Annotated[float, Parameter("probability that the guess by the prior is wrong", above=0, at_most=0.5)]
    guess: Annotated[int, Parameter("the state with the larger prior probability", at_least=0, at_most=1)] = 0

    people: ClassVar[int] = 0
    presence: ClassVar[float] = 1.0
    largest_level: ClassVar[float] = 0.0
    margin: ClassVar[float] = 0.0

    def level_of(self, worth: float | None = None) -> float:
        """The level of a report, which is 0 because nobody reports."""
        return 0.0

    def payment_range(self) -> tuple[float, float]:
        """The smallest and the largest single payment, both 0."""
        return 0.0, 0.0

    def pay(self, ones: int, zeros: int) -> Paid:
        """The payments for no reports, all 0.

        Args:
            ones: number of reports 1, which must be 0.
            zeros: number of reports 0, which must be 0.

        Raises:
            InvalidInput: somebody reported.
        """
        self.participants(ones, zeros)
        return Paid(0.0, 0.0, 0.0)

    def estimate(self, ones: int, zeros: int) -> StateEstimate:
        """The state that the prior makes likelier.

        Args:
            ones: number of reports 1, which must be 0.
            zeros: number of reports 0, which must be 0.

        Raises:
            InvalidInput: somebody reported.
        """
        self.participants(ones, zeros)
        return StateEstimate(state=self.guess, wrong=self.prior_error, people=0)

    def error_probability(self) -> float:
        """The probability that the guess by the prior is wrong."""
        return self.prior_error

    def guarantees(self) -> Guarantees:
        """The guarantees: no privacy loss, no payment, and the error of the guess by the prior."""
        source = Source(document="confide", statement="nobody is asked", spec="data_market 2.5")
        error = self.error_probability()
        return Guarantees((
            Privacy(loss=PureDP(0.0), neighbours=Relation.BIT, audience=Audience.COLLECTOR, source=source),
            Accuracy(bound=error, baseline=error, source=source,
                     measure="the probability of guessing the state wrongly"),
            Budget(expected=0.0, lowest=0.0, highest=0.0, source=source),
        ))
