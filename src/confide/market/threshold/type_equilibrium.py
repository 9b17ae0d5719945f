"""Whether a threshold market is in equilibrium: the regret of people of every cost over all channels, under any
strategies of the others and any signal model.

A person's type is their cost of a nat of privacy. One interim matrix describes the payments to people of all types,
because a person's cost enters only their own utility.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import non_negative, whole
from confide.contract.renamed import renamed
from confide.market.binomials import binomial_weights, majority_odds
from confide.market.costs import LinearCost
from confide.market.equilibrium import Others, interim_matrix
from confide.market.signal_model import LARGEST_LEVEL, SignalModel
from confide.market.strategies import BestReply, Strategy, best_response, utility
from confide.market.threshold.threshold_market import ThresholdMarket

__all__ = ["CommonEquilibrium", "TypeReport", "TypesReport", "check_types", "common_equilibria", "interim_of_types"]

TYPES = 200
"""Number of quantiles of the law of costs that are checked by default."""

_AVERAGED = 2000

TypeStrategy = Callable[[float], Strategy]
"""Function from a person's cost of a nat of privacy to that person's strategy."""


def _averaged(market: ThresholdMarket, strategy: TypeStrategy) -> Strategy:
    """The average strategy of a person of unknown cost, taken over the middles of 2000 equally likely
    groups of costs.
    """
    costs = market.cost_law.quantile((np.arange(_AVERAGED) + 0.5) / _AVERAGED)
    channel = np.mean([strategy(float(cost)).channel for cost in costs], axis=0)
    return Strategy(channel / channel.sum(axis=0))


def _alike(market: ThresholdMarket, law: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3,) expected payments E[R | x] for the reports x = 0, x = 1 and no report, when all others report by one law;
    the time is O(sqrt N).

    The law gives the probabilities of the reports 0, 1 and none.
    """
    zero, one, none = (float(each) for each in law)
    if none >= 1.0:
        return np.zeros(3)
    n, weights = binomial_weights(market.people - 1, zero + one) if none > 0 else (np.array([market.people - 1]),
                                                                                  np.ones(1))
    least, largest = int(n[0]), int(n[-1])
    tables = market.payment_tables(least + 1, largest + 1)
    odds = np.array(majority_odds(least, largest, one / (zero + one)))
    return np.append(np.einsum("n,nxm,mn->x", weights, tables, odds), 0.0)


def interim_of_types(market: ThresholdMarket, others: Others | TypeStrategy | None = None,
                     signal_model: SignalModel | None = None) -> NDArray[np.float64]:
    """The interim matrix a[x, s] = P(S = s) E[R | X = x, S = s] of one person of any cost, given the strategies of
    everybody else.

    Args:
        market: threshold market that pays the reports.
        others: strategies of the N - 1 other people: one common strategy, a function from cost to strategy (averaged
            over 2000 groups of costs), a strategy for each person, or (number, strategy) pairs. By default the others
            play the equilibrium.
        signal_model: law of the state and the bits under which expectations are taken; by default the law that the
            market is designed for.

    Returns:
        (3, 2) for the reports 0, 1, none (rows) and the person's bit 0, 1 (columns). Let Q and T be the market's
        `terms`. In equilibrium each entry is exactly Q/2 for a report that equals the bit, and (Q - T)/2 for a report
        that differs from the bit.

    Source: spec data_market sections 3 and 5.
    """
    if others is None:
        others = market.peers
    elif callable(others):
        others = _averaged(market, others)
    if not isinstance(others, Strategy):
        return interim_matrix(market, others, signal_model)  # type: ignore[arg-type]
    law = market.signal_model if signal_model is None else signal_model
    given = others.given_state(law.signal_accuracy)
    found: NDArray[np.float64] = np.column_stack([_alike(market, given[:, w]) for w in (0, 1)]) @ law.joint
    return found


@dataclass(frozen=True)
class TypeReport:
    """The payoffs of people of one cost.

    Args:
        cost: cost of a nat of privacy to the people of the entry.
        strategy: strategy that the equilibrium assigns to people of this cost.
        utility: utility of the assigned strategy.
        best: best replies over all channels, of levels up to the ceiling.
    """

    cost: float
    strategy: Strategy
    utility: float
    best: BestReply

    @property
    def takes_part(self) -> bool:
        """Whether people of the entry's cost take part in the equilibrium."""
        return bool(self.strategy.participation.max() > 0)

    @property
    def regret(self) -> float:
        """The utility of the best reply, less the utility of the assigned strategy."""
        return self.best.utility - self.utility


@dataclass(frozen=True)
class TypesReport:
    """The verdict on whether the strategies are an equilibrium for people of every cost.

    Args:
        rows: one entry for each cost that was checked, in rising order.
        interim: (3, 2) interim matrix, which is the same for all costs.
        tolerance: largest regret that counts as 0, in the unit of the costs.
    """

    rows: tuple[TypeReport, ...]
    interim: NDArray[np.float64]
    tolerance: float

    @property
    def regret(self) -> float:
        """The largest regret over all checked costs."""
        return max(row.regret for row in self.rows)

    @property
    def holds(self) -> bool:
        """Whether no person of a checked cost gains more than the tolerance by reporting in another way."""
        return self.regret <= self.tolerance

    @property
    def worst(self) -> TypeReport:
        """The entry of the cost with the largest regret."""
        return max(self.rows, key=lambda row: row.regret)


@renamed(nature="signal_model")
def check_types(market: ThresholdMarket, others: Others | TypeStrategy | None = None,
                signal_model: SignalModel | None = None, *, types: int = TYPES,
                tolerance: float | None = None) -> TypesReport:
    """Compute the regret over all channels of people of many costs who follow the equilibrium.

    Args:
        market: threshold market that pays the reports.
        others: strategies of the N - 1 other people, in a form that `interim_of_types` accepts. By default the others
            play the equilibrium.
        signal_model: law of the state and the bits under which expectations are taken; by default the law that the
            market is designed for.
        types: number of quantiles of the law of costs to check. The costs c_th (1 - 1e-6) and c_th (1 + 1e-6) next to
            the threshold are always checked.
        tolerance: largest regret delta that counts as 0, in the unit of the costs, >= 0; by default 1e-9 T, where T is
            the market's stake.

    Raises:
        InvalidInput: `interim_of_types` does not accept the market or the strategies.

    Source: spec data_market section 5.

    Example:
        >>> from confide.market import LogNormalLaw, SignalModel
        >>> market = ThresholdMarket(200, 0.8, 0.7, LogNormalLaw(0.0, 1.0), epsilon=2.0, participation=0.6)
        >>> check_types(market).holds, check_types(market, signal_model=SignalModel(0.7, 0.75)).holds
        (True, False)
    """
    count = whole("types", types, at_least=1)
    delta = 1e-9 * market.terms.stake if tolerance is None else non_negative("tolerance", tolerance)
    a = interim_of_types(market, others, signal_model)
    c = market.cost_threshold
    quantiles = market.cost_law.quantile((np.arange(count) + 0.5) / count)
    rows = []
    for each in np.sort(np.append(quantiles, [c * (1.0 - 1e-6), c * (1.0 + 1e-6)])):
        own = market.strategy_of(float(each))
        cost = LinearCost(float(each))
        rows.append(TypeReport(float(each), own, utility(a, own, cost),
                               best_response(a, cost, ceiling=min(market.largest_level, LARGEST_LEVEL))))
    return TypesReport(tuple(rows), a, delta)


@dataclass(frozen=True)
class CommonEquilibrium:
    """A common strategy of all people from which nobody, whatever their cost, gains by reporting in another way.

    Args:
        name: name of the strategy, for display.
        participation: share of people who take part.
        payment: expected payment of one participant.
        total: expected sum of all payments.
        informative: whether reports depend on the bits. If reports do not depend on the bits, the collector pays for
            reports without information.
    """

    name: str
    participation: float
    payment: float
    total: float
    informative: bool


@renamed(nature="signal_model")
def common_equilibria(
    market: ThresholdMarket, signal_model: SignalModel | None = None,
) -> tuple[CommonEquilibrium, ...]:
    """The market's own equilibrium, where it holds, and the collusive equilibria, with the highest payment first.

    If all people give the same report, whatever their costs and bits, their reports always agree and are paid. A common
    report of all people is an equilibrium in which the collector learns nothing. Further equilibria may exist; the
    listed equilibria are easy to agree on.

    Args:
        market: threshold market that pays the reports.
        signal_model: law of the state and the bits under which expectations are taken; by default the law that the
            market is designed for.

    Source: spec data_market section 5.

    Example:
        >>> from confide.market import LogNormalLaw
        >>> market = ThresholdMarket(200, 0.8, 0.7, LogNormalLaw(0.0, 1.0), epsilon=2.0, participation=0.6)
        >>> for each in common_equilibria(market):
        ...     print(each.name, round(each.payment, 2), each.informative)
        always 0 13.55 False
        always 1 5.81 False
        costs up to 1.28833 3.37 True
        nobody takes part 0.0 False
    """
    found = []
    own = check_types(market, signal_model=signal_model)
    if own.holds:
        paid = float(np.sum(own.interim * market.strategy.channel))
        found.append(CommonEquilibrium(f"costs up to {market.cost_threshold:.6g}", market.presence, paid,
                                       market.people * market.presence * paid, True))
    for report in ("0", "1", "none"):
        strategy = Strategy.always(report)
        a = interim_of_types(market, strategy, signal_model)
        earned = float(np.sum(a * strategy.channel))
        # The cheapest type has most to gain from another report: it is enough that this type gains nothing.
        if float(a.max(axis=0).sum()) <= earned + 1e-12 * max(float(np.abs(a).max()), 1e-300):
            share = 0.0 if report == "none" else 1.0
            found.append(CommonEquilibrium("nobody takes part" if report == "none" else strategy.name, share, earned,
                                           market.people * share * earned, False))
    return tuple(sorted(found, key=lambda each: -each.payment))
