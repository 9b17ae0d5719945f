"""The genie: an imaginary mechanism that knows the state. Nobody can run a genie. The genie's expected payment is a
lower bound on that of every mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.market.costs import Cost, PlainNumbers
from confide.market.matching import MatchingPayment, PeerStatistic, Quote, check_payable, price_floor, quote_of
from confide.market.signal_model import LARGEST_LEVEL, SignalModel

__all__ = ["GenieMarket"]


@renamed(nature="signal_model")
@dataclass(frozen=True)
class GenieMarket(PlainNumbers):
    """Imaginary mechanism that pays c(epsilon)/((2 theta - 1) P(W = w)) for a report that equals the state w, and
    nothing for any other report. For audits and lower bounds only.

    The class has no `for_budget`, because nobody can run a genie.

    Source: Wang 2016, (3.6) and Theorem 3; spec data_market section 2.1.

    Example:
        >>> from confide.market import LinearCost
        >>> quote = GenieMarket(10, 0.8, 0.7, LinearCost(1.0), 1.0).quote()
        >>> round(quote.expected_payment, 9), round(quote.lower_bound, 9)
        (5.413668918, 5.413668918)
    """

    people: Annotated[int, Parameter("people, who do not influence each other", symbol="N", at_least=1)]
    signal_accuracy: Annotated[float, Parameter("probability that a bit equals the state", symbol="theta", above=0.5,
                                                below=1)]
    prior_one: Annotated[float, Parameter("probability that the state is 1", symbol="P1", above=0, below=1)]
    cost: Annotated[Cost, Parameter("everybody's cost of a privacy level", symbol="g")]
    epsilon: Annotated[float, Parameter("level that is bought from each", unit="nats", above=0,
                                        at_most=LARGEST_LEVEL)]

    def __post_init__(self) -> None:
        super().__post_init__()
        signal_model = self.signal_model
        odds = signal_model.prior_one * signal_model.prior_zero * signal_model.edge
        check_payable(self.epsilon, [self.cost], lambda _: odds)

    @cached_property
    def signal_model(self) -> SignalModel:
        """The joint law of the state and of one person's bit."""
        return SignalModel(self.prior_one, self.signal_accuracy)

    @cached_property
    def payment(self) -> MatchingPayment:
        """The payment rule of section 0 of spec data_market, with the state W in place of the majority M."""
        signal_model = self.signal_model
        peers = PeerStatistic(signal_model.prior_one, signal_model.prior_zero,
                              signal_model.edge * signal_model.prior_one * signal_model.prior_zero)
        return MatchingPayment(self.cost, self.epsilon, peers, signal_model.signal_one)

    def quote(self) -> Quote:
        """The offer to each person, which is the same for all people."""
        return quote_of(self.payment, price_floor(self.cost, self.epsilon, self.signal_model.edge))

    @renamed(nature="signal_model")
    def interim_matrix(self, signal_model: SignalModel | None = None) -> NDArray[np.float64]:
        """The (3, 2) interim matrix a[x, s] = P(S = s) E[R | X = x, S = s] of one person with payment R, report X and
        bit S. The matrix does not depend on the other people's strategies. Expectations are taken under `signal_model`,
        by default the law that the genie is designed for.
        """
        if signal_model is None:
            return self.payment.interim
        return np.vstack([self.payment.table @ signal_model.joint, np.zeros(2)])
