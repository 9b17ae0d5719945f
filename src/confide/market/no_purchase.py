"""A market that buys nothing, because the prior alone is good enough, or no better guess can be paid for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

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
from confide.contract.wire import wire
from confide.market.decision import StateEstimate
from confide.market.paid import Paid, PaidByCounts
from confide.market.plain_numbers import PlainNumbers
from confide.privacy.losses import PureDP

__all__ = ["NoPurchase"]


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
    guess: Annotated[int, Parameter("the state that the prior makes likelier", at_least=0, at_most=1)] = 0

    people: ClassVar[int] = 0
    presence: ClassVar[float] = 1.0
    largest_level: ClassVar[float] = 0.0
    margin: ClassVar[float] = 0.0

    def level_of(self, worth: float | None = None) -> float:
        """The level of a report, which nobody gives: 0."""
        return 0.0

    def payment_range(self) -> tuple[float, float]:
        """Between what any payment lies: there is none."""
        return 0.0, 0.0

    def pay(self, ones: int, zeros: int) -> Paid:
        """Nothing, for no reports.

        Args:
            ones: 0.
            zeros: 0.

        Raises:
            InvalidInput: somebody reported.
        """
        self.participants(ones, zeros)
        return Paid(0.0, 0.0, 0.0)

    def estimate(self, ones: int, zeros: int) -> StateEstimate:
        """The state that the prior makes likelier.

        Args:
            ones: 0.
            zeros: 0.

        Raises:
            InvalidInput: somebody reported.
        """
        self.participants(ones, zeros)
        return StateEstimate(state=self.guess, wrong=self.prior_error, people=0)

    def error_probability(self) -> float:
        """The probability that the guess by the prior is wrong."""
        return self.prior_error

    def guarantees(self) -> Guarantees:
        """Nothing is learned of anybody, and nothing is paid."""
        source = Source(document="confide", statement="nobody is asked", spec="data_market 2.5")
        error = self.error_probability()
        return Guarantees((
            Privacy(loss=PureDP(0.0), neighbours=Relation.BIT, audience=Audience.COLLECTOR, source=source),
            Accuracy(bound=error, baseline=error, source=source,
                     measure="the probability of guessing the state wrongly"),
            Budget(expected=0.0, lowest=0.0, highest=0.0, source=source),
        ))
