"""Whether a profile of strategies is an equilibrium, and a search for all symmetric equilibria. Expectations are under
the signal model that the market is designed for, or under another one.

A person's interim matrix has the expected payment of each report, jointly with each bit. The interim matrix is computed
exactly from the law of the others' counts. From the interim matrix `best_response` finds the best replies over all
channels from the bit to a report. The search reports all equilibria that it finds, including the collusive equilibria.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import non_negative, positive
from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.market.binomials import binomial_weights, joint_counts, majority_odds
from confide.market.costs import Cost
from confide.market.signal_model import LARGEST_LEVEL, SignalModel
from confide.market.strategies import NONE, TIE, BestReply, Strategy, best_response, utility

if TYPE_CHECKING:
    from confide.market.pairs.prior import PairPrior

__all__ = [
    "CountMarket",
    "EquilibriumReport",
    "GroupMarket",
    "Others",
    "PersonReport",
    "Robustness",
    "SymmetricEquilibrium",
    "check_equilibrium",
    "interim_matrix",
    "robustness",
    "symmetric_equilibria",
]

Tariff = Callable[[int, int], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""Function from the least and the largest number of participants to two arrays: the payments of a report of 1, and of a
report of 0, that equals the majority of the others.
"""

Others = Strategy | Sequence[Strategy] | Sequence[tuple[int, Strategy]]
"""One common strategy, or one strategy for each person, or pairs (number of people, strategy)."""


class CountMarket(Protocol):
    """A market that `check_equilibrium` can check. A payment depends on a person's own report and the counts of the
    others' reports.
    """

    @property
    def people(self) -> int: ...

    @property
    def cost(self) -> Cost: ...

    @property
    def signal_model(self) -> SignalModel: ...

    @property
    def presence(self) -> float: ...

    @property
    def strategy(self) -> Strategy: ...

    def peer_payments(self, ones: ArrayLike, zeros: ArrayLike) -> NDArray[np.float64]: ...


@runtime_checkable
class GroupMarket(Protocol):
    """A market for bits that need not depend on a common state. Such a market itself computes expectations over the
    others' reports.
    """

    @property
    def people(self) -> int: ...

    @property
    def cost(self) -> Cost: ...

    @property
    def presence(self) -> float: ...

    @property
    def strategy(self) -> Strategy: ...

    def given_groups(self, groups: list[tuple[int, Strategy]],
                     prior: PairPrior | SignalModel | None) -> NDArray[np.float64]: ...


def _groups(others: Others, people: int, field: str) -> list[tuple[int, Strategy]]:
    """The strategies of a given number of people, as groups (number of people, strategy)."""
    if isinstance(others, Strategy):
        return [(people, others)]
    found: list[tuple[int, Strategy]] = []
    for each in others:
        size, strategy = each if isinstance(each, tuple) else (1, each)
        if isinstance(size, bool) or not isinstance(size, int) or size < 0 or not isinstance(strategy, Strategy):
            raise InvalidInput(field, "are not strategies",
                               "must be one strategy, one strategy for each person, or (number, strategy) pairs")
        if found and found[-1][1] is strategy:
            size += found.pop()[0]
        found.append((size, strategy))
    total = sum(size for size, _ in found)
    if total != people:
        raise InvalidInput(field, f"are for {total} people", f"must be for {people}")
    return found


def _alike(others: int, tariff: Tariff, law: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3,) expected payments E[R | x] for the reports x = 0, x = 1 and no report, where a report is paid for matching
    the majority, and all others report by one law.

    The law gives the probabilities of 0, 1 and none. The time is O(sqrt N).
    """
    zero, one, none = (float(each) for each in law)
    if none >= 1.0:
        return np.zeros(3)
    n, weights = binomial_weights(others, zero + one) if none > 0 else (np.array([others]), np.ones(1))
    least, largest = int(n[0]), int(n[-1])
    for_one, for_zero = tariff(least + 1, largest + 1)
    zeros, ones = majority_odds(least, largest, one / (zero + one))
    # Sums, not products of vectors: a BLAS that wakes its threads for them takes longer than everything else here.
    return np.array([np.sum(weights * for_zero * zeros), np.sum(weights * for_one * ones), 0.0])


def _given_counts(market: CountMarket, groups: Sequence[tuple[int, NDArray[np.float64]]]) -> NDArray[np.float64]:
    """(3,) expected payments E[R | x] for the reports x = 0, x = 1 and no report, from the joint law of the others'
    counts.
    """
    ones, zeros, weights = joint_counts(groups)
    found: NDArray[np.float64] = market.peer_payments(ones, zeros) @ weights
    return found


@renamed(nature="signal_model")
def interim_matrix(market: CountMarket | GroupMarket, others: Others,
                   signal_model: SignalModel | PairPrior | None = None) -> NDArray[np.float64]:
    """The interim matrix a[x, s] = P(S = s) E[R | X = x, S = s] of one person with bit S, report X and payment R, given
    the strategies of everybody else.

    Args:
        market: market that pays by counts of reports.
        others: strategies of the N - 1 other people: one common strategy, a strategy for each, or (number, strategy)
            pairs.
        signal_model: law of the state and the bits under which expectations are taken; by default the law that the
            market is designed for. For a pair market the signal model is a `PairPrior`.

    Returns:
        (3, 2) exact expectations, for the reports 0, 1, none (rows) and the person's bit 0, 1 (columns).

    Raises:
        InvalidInput: the others are not N - 1 people, or more than 2000 others have different strategies and some are
            sometimes absent.

    Source: spec data_market section 5.

    Example:
        >>> from confide.market import LinearCost, MajorityMarket, best_response
        >>> market = MajorityMarket(101, 0.8, 0.7, LinearCost(1.0), 2.0)
        >>> a = interim_matrix(market, Strategy.randomised(2.0), SignalModel(prior_one=0.65, signal_accuracy=0.75))
        >>> round(best_response(a, market.cost).level, 8)
        1.81670675
    """
    groups = _groups(others, market.people - 1, "others")
    if isinstance(market, GroupMarket):
        return market.given_groups(groups, signal_model)
    law = market.signal_model if signal_model is None else signal_model
    if not isinstance(law, SignalModel):
        raise InvalidInput("signal_model", f"{type(law).__name__} is not a law of a state and bits",
                           "must be a SignalModel")
    given = [strategy.given_state(law.signal_accuracy) for _, strategy in groups]
    by_majority: Tariff | None = getattr(market, "tariff", None)
    rows = []
    for w in (0, 1):
        if len(groups) == 1 and by_majority is not None:
            rows.append(_alike(market.people - 1, by_majority, given[0][:, w]))
        else:
            rows.append(_given_counts(market, [(size, table[:, w])
                                               for (size, _), table in zip(groups, given, strict=True)]))
    found: NDArray[np.float64] = np.column_stack(rows) @ law.joint
    return found


@dataclass(frozen=True)
class PersonReport:
    """The payoffs of each of the `count` people of a profile who play one strategy.

    Args:
        count: number of people with the strategy `strategy`.
        strategy: strategy that all people of the entry play.
        interim: (3, 2) interim matrix of one person with this strategy.
        utility: utility of the strategy: expected payment less the cost of its level.
        best: best replies of one person with this strategy.
    """

    count: int
    strategy: Strategy
    interim: NDArray[np.float64]
    utility: float
    best: BestReply

    @property
    def regret(self) -> float:
        """The utility of the best reply, less the utility of the strategy that is played."""
        return self.best.utility - self.utility


@dataclass(frozen=True)
class EquilibriumReport:
    """The verdict on whether a profile of strategies is an equilibrium.

    Args:
        rows: one entry for each group of people with the same strategy.
        tolerance: largest regret that counts as 0, in the unit of the costs.
    """

    rows: tuple[PersonReport, ...]
    tolerance: float

    @property
    def regret(self) -> float:
        """The largest regret of any person. The profile is a delta-equilibrium for every delta at or above the largest
        regret.
        """
        return max(row.regret for row in self.rows)

    @property
    def holds(self) -> bool:
        """Whether nobody gains more than the tolerance by reporting in another way."""
        return self.regret <= self.tolerance


def _by_counts(market: Any, *, state: bool = False) -> None:
    """Refuse a market that this module cannot analyse; the message names functions or markets that work instead."""
    if hasattr(market, "cost_law"):
        raise InvalidInput("market", "has unknown costs", "use check_types and common_equilibria")
    if not hasattr(market, "presence") or not hasattr(market, "cost"):
        raise InvalidInput("market", f"{type(market).__name__} does not pay by counts of reports",
                           "must be a MajorityMarket or a PairMarket")
    if state and not hasattr(market, "signal_model"):
        raise InvalidInput("market", "has no state, since its prior is the law of the bits", "must be a MajorityMarket")


@renamed(nature="signal_model")
def check_equilibrium(market: CountMarket | GroupMarket, profile: Others | None = None,
                      signal_model: SignalModel | PairPrior | None = None, *,
                      tolerance: float = 1e-9) -> EquilibriumReport:
    """Compute everybody's regret, over all channels from the bit to a report.

    Args:
        market: market that pays by counts of reports.
        profile: strategies of all N people, in a form that `interim_matrix` accepts. By default the market's
            equilibrium: each of the others takes part with the probability `presence` of the market, and all
            participants play the market's strategy.
        signal_model: law of the state and the bits under which expectations are taken; by default the law that the
            market is designed for.
        tolerance: largest regret delta that counts as 0, in the unit of the costs, >= 0.

    Raises:
        InvalidInput: `interim_matrix` does not accept the market or the profile.

    Example:
        >>> from confide.market import LinearCost, MajorityMarket
        >>> market = MajorityMarket(10, 0.8, 0.7, LinearCost(1.0), 1.0)
        >>> check_equilibrium(market).holds, check_equilibrium(market, Strategy.randomised(0.9)).holds
        (True, False)
    """
    _by_counts(market)
    delta = non_negative("tolerance", tolerance)
    rows = []
    if profile is None:
        a, own = interim_matrix(market, market.strategy.thinned(market.presence), signal_model), market.strategy
        rows.append(PersonReport(market.people, own, a, utility(a, own, market.cost), best_response(a, market.cost)))
    groups = [] if profile is None else _groups(profile, market.people, "profile")
    for index, (count, strategy) in enumerate(groups):
        if not count:
            continue
        others = [(size - (j == index), each) for j, (size, each) in enumerate(groups) if size > (j == index)]
        a = interim_matrix(market, others, signal_model)
        rows.append(PersonReport(count, strategy, a, utility(a, strategy, market.cost), best_response(a, market.cost)))
    return EquilibriumReport(tuple(rows), delta)


@dataclass(frozen=True)
class SymmetricEquilibrium:
    """A strategy that is a best reply when everybody else plays the same strategy.

    Args:
        name: name of the strategy, for display.
        strategy: strategy that everybody plays.
        payment: expected payment of one person who takes part.
        utility: expected payment of one participant less the cost of the level.
        strict: whether every other strategy is worse.
    """

    name: str
    strategy: Strategy
    payment: float
    utility: float
    strict: bool

    @property
    def informative(self) -> bool:
        """Whether reports depend on the bits. If reports do not depend on the bits, the collector pays for reports
        without information.
        """
        return self.strategy.informative


@renamed(nature="signal_model")
def symmetric_equilibria(market: Any, signal_model: SignalModel | PairPrior | None = None, *,
                         largest: float | None = None, points: int = 200) -> tuple[SymmetricEquilibrium, ...]:
    """All symmetric equilibria that a scan of strategies finds, and the collusive equilibria, with the highest payment
    first.

    The eta-strategy is randomised response at level eta. The scan searches for fixed points of the map from eta to the
    level of the best reply, between `points` levels in [-largest, largest]. The search also tries the strategies always
    0, always 1, fair coins and no participation. Collusive equilibria usually pay more than the honest equilibrium, and
    a second informative equilibrium may exist. The operator of a market should know all of these equilibria.

    Args:
        market: market that pays by counts of reports, and has an `epsilon`.
        signal_model: law of the state and the bits under which expectations are taken; by default the law that the
            market is designed for.
        largest: largest level of the scan; default 3 epsilon + 3.
        points: number of levels in the scan.

    Source: spec data_market section 5.

    Example:
        >>> from confide.market import LinearCost, MajorityMarket
        >>> market = MajorityMarket(10, 0.8, 0.7, LinearCost(1.0), 1.0)
        >>> for each in symmetric_equilibria(market):
        ...     print(each.name, round(each.payment, 2))
        always 0 20.39
        always 1 12.32
        level 1.48095 9.64
        level 1 8.85
        nobody takes part 0.0
    """
    from scipy.optimize import brentq

    _by_counts(market)
    reach = min(LARGEST_LEVEL, 3.0 * market.epsilon + 3.0) if largest is None else positive("largest", largest)

    def reply(eta: float) -> float:
        """The signed level of the best reply when everybody else reports at level eta; 0 for an uninformative reply."""
        peers = Strategy.randomised(eta).thinned(market.presence)
        best = best_response(interim_matrix(market, peers, signal_model), market.cost).replies[0]
        return 0.0 if NONE in {best.on_one, best.on_zero} else best.level * (best.on_one - best.on_zero)

    def away(eta: float) -> float:
        return reply(eta) - eta

    # 0 is not on it; epsilon is between two close points, so that roots on either side of it are seen.
    around = market.epsilon * np.array([0.999, 1.001])
    grid = np.sort(np.append(np.linspace(-reach, reach, points + points % 2), around))
    values = [away(float(eta)) for eta in grid]
    found = [market.epsilon]
    for (left, low), (right, high) in zip(zip(grid, values, strict=True), zip(grid[1:], values[1:], strict=True),
                                          strict=False):
        if low * high < 0:
            root = float(brentq(away, left, right, xtol=1e-13))
            if all(abs(root - each) > 1e-6 * max(1.0, abs(each)) for each in found):
                found.append(root)
    tried = [(Strategy.randomised(eta), f"level {eta:.6g}" if eta > 0 else f"level {-eta:.6g}, labels exchanged")
             for eta in found if abs(eta) > 1e-9]
    tried += [(Strategy.always("0"), "always 0"), (Strategy.always("1"), "always 1"),
              (Strategy.randomised(0.0), "fair coins"), (Strategy.always("none"), "nobody takes part")]
    equilibria = []
    for strategy, name in tried:
        a = interim_matrix(market, strategy.thinned(market.presence), signal_model)
        best, earned = best_response(a, market.cost), utility(a, strategy, market.cost)
        if best.utility - earned <= TIE * max(float(np.abs(a).max()), 1e-300):
            paid = float(np.sum(a * strategy.channel))
            equilibria.append(SymmetricEquilibrium(name, strategy, paid, earned, best.unique))
    return tuple(sorted(equilibria, key=lambda each: -each.payment))


@dataclass(frozen=True)
class Robustness:
    """The largest error in each assumed probability, with the other probability exact, at which the best reply still
    depends on the bit.

    Args:
        prior_down: largest fall of the prior P(W = 1) at which the best reply still depends on the bit, as it does at
            every smaller fall.
        prior_up: largest rise of the prior P(W = 1) at which the best reply still depends on the bit, as it does at
            every smaller rise.
        accuracy_down: largest fall of the signal accuracy theta at which the best reply still depends on the bit, as it
            does at every smaller fall.
        accuracy_up: largest rise of the signal accuracy theta at which the best reply still depends on the bit, as it
            does at every smaller rise.
    """

    prior_down: float
    prior_up: float
    accuracy_down: float
    accuracy_up: float

    @property
    def prior(self) -> float:
        """Largest error |dP1| of the prior P(W = 1), in either direction, at which the best reply stays informative."""
        return min(self.prior_down, self.prior_up)

    @property
    def accuracy(self) -> float:
        """Largest error |dtheta| of the signal accuracy, in either direction, at which the best reply stays
        informative.
        """
        return min(self.accuracy_down, self.accuracy_up)


def robustness(market: Any) -> Robustness:
    """Compute how far the true law may be from the law that the market is designed for, while the best reply still
    depends on the bit.

    Args:
        market: market that pays by counts of reports, and has a state and an `epsilon`.

    Source: spec data_market section 5.

    Example:
        >>> from confide.market import LinearCost, MajorityMarket
        >>> found = robustness(MajorityMarket(101, 0.8, 0.7, LinearCost(1.0), 2.0))
        >>> round(found.prior, 4), round(found.accuracy, 4)
        (0.0729, 0.1457)
    """
    _by_counts(market, state=True)
    design = market.signal_model

    def informative(prior: float, accuracy: float) -> bool:
        if not (0.0 < prior < 1.0 and 0.5 < accuracy < 1.0):
            return False
        a = interim_matrix(market, market.strategy.thinned(market.presence), SignalModel(prior, accuracy))
        return best_response(a, market.cost).replies[0].informative

    def reach(moved: Callable[[float], bool], limit: float) -> float:
        steps = np.linspace(0.0, limit, 65)[1:-1]  # the ends are no probabilities
        bad = next((step for step in steps if not moved(float(step))), limit)
        good = bad - limit / 64.0
        for _ in range(50):
            middle = (good + bad) / 2.0
            good, bad = (middle, bad) if moved(middle) else (good, middle)
        return float(good)

    p, theta = design.prior_one, design.signal_accuracy
    return Robustness(
        prior_down=reach(lambda d: informative(p - d, theta), p),
        prior_up=reach(lambda d: informative(p + d, theta), 1.0 - p),
        accuracy_down=reach(lambda d: informative(p, theta - d), theta - 0.5),
        accuracy_up=reach(lambda d: informative(p, theta + d), 1.0 - theta),
    )
