"""Is it an equilibrium? Every type's regret over all channels, whatever the others do and whatever law holds.

A person's choice depends on one interim matrix, the same for all types: their cost enters their utility alone.
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
"""Quantiles of the law of costs that are checked by default."""

_AVERAGED = 2000

TypeStrategy = Callable[[float], Strategy]
"""What a person does, by her cost."""


def _averaged(market: ThresholdMarket, strategy: TypeStrategy) -> Strategy:
    """What a person of unknown type does, from the middles of 2000 equally likely groups of types."""
    costs = market.cost_law.quantile((np.arange(_AVERAGED) + 0.5) / _AVERAGED)
    channel = np.mean([strategy(float(cost)).channel for cost in costs], axis=0)
    return Strategy(channel / channel.sum(axis=0))


def _alike(market: ThresholdMarket, law: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3,) E[R | x] when all others report by one law of 0, 1, none: O(sqrt N)."""
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
    """The interim matrix a[x, s] = P(S = s) E[R | X = x, S = s] of one person of any type, given the strategies of
    everybody else.

    Args:
        market: market whose payments count.
        others: strategies of the N - 1 others: one common strategy over all types, a function from cost to strategy
            (averaged over 2000 groups of types), a strategy each, or (number, strategy) pairs; default the equilibrium.
        signal_model: the law that holds; default the one that the market is designed for.

    Returns:
        (3, 2) for the reports 0, 1, none (rows) and the person's bit 0, 1. In equilibrium Q/2 for a report that equals
        the bit and (Q - T)/2 for one that does not, exactly.

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
    """One type's situation.

    Args:
        cost: cost per nat.
        strategy: strategy that the equilibrium assigns.
        utility: utility of that strategy.
        best: best replies over all channels, of levels up to the ceiling.
    """

    cost: float
    strategy: Strategy
    utility: float
    best: BestReply

    @property
    def takes_part(self) -> bool:
        """Whether the equilibrium has this type take part."""
        return bool(self.strategy.participation.max() > 0)

    @property
    def regret(self) -> float:
        """The utility of the best reply, less that of the assigned strategy."""
        return self.best.utility - self.utility


@dataclass(frozen=True)
class TypesReport:
    """The verdict.

    Args:
        rows: one for each type, by cost.
        interim: (3, 2) the interim matrix of all of them.
        tolerance: regrets up to it count as none.
    """

    rows: tuple[TypeReport, ...]
    interim: NDArray[np.float64]
    tolerance: float

    @property
    def regret(self) -> float:
        """The largest."""
        return max(row.regret for row in self.rows)

    @property
    def holds(self) -> bool:
        """Whether no type gains more than the tolerance by another channel."""
        return self.regret <= self.tolerance

    @property
    def worst(self) -> TypeReport:
        """The type that gains most."""
        return max(self.rows, key=lambda row: row.regret)


@renamed(nature="signal_model")
def check_types(market: ThresholdMarket, others: Others | TypeStrategy | None = None,
                signal_model: SignalModel | None = None, *, types: int = TYPES,
                tolerance: float | None = None) -> TypesReport:
    """Every type's regret over all channels, if the type follows the equilibrium.

    Args:
        market: market whose payments count.
        others: strategies of the others, as in `interim_of_types`; default the equilibrium.
        signal_model: the law that holds; default the design's.
        types: number of quantiles of the law of costs; c_th (1 - 1e-6) and c_th (1 + 1e-6) are checked, too.
        tolerance: delta, in money, >= 0; default 1e-9 of T.

    Raises:
        InvalidInput: as `interim_matrix`.

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
    """A common strategy of all people from which no type gains by another channel.

    Args:
        name: name, as text.
        participation: share of people who take part.
        payment: expected payment of one person who takes part.
        total: expected sum of all payments.
        informative: whether reports say anything about the bits; where not, the collector pays for nothing.
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
    """The market's own equilibrium, where it holds, and the collusive ones; best paid first.

    All reporting the same, whatever their types and bits, always agree, and are paid for it: an equilibrium in which
    the collector learns nothing. Others may exist; these are the ones that are easy to agree on.

    Args:
        market: market whose payments count.
        signal_model: the law that holds; default the design's.

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
        # The cheapest type has most to gain from another report: it is enough that she has nothing.
        if float(a.max(axis=0).sum()) <= earned + 1e-12 * max(float(np.abs(a).max()), 1e-300):
            share = 0.0 if report == "none" else 1.0
            found.append(CommonEquilibrium("nobody takes part" if report == "none" else strategy.name, share, earned,
                                           market.people * share * earned, False))
    return tuple(sorted(found, key=lambda each: -each.payment))
