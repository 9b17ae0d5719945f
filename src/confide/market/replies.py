"""The best reply over all channels: asymmetric, randomised, partly absent, whatever the signs of the payments.

Everything that a person's choice depends on is her interim matrix a[x, s] = P(S = s) E[R | X = x, S = s]. At a fixed
level the channels are a polytope whose extreme points use two labels at most, so nine pairs of labels decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput
from confide.market.costs import Cost, LinearCost
from confide.market.signal_model import LARGEST_LEVEL
from confide.market.strategies import REPORTS, Strategy

__all__ = ["BestReply", "Reply", "as_interim", "best_response", "regret", "utility"]

TIE = 1e-13
"""Utilities closer than this share of the largest payment are equal."""


@dataclass(frozen=True)
class Reply:
    """One maximising pair of labels.

    Args:
        on_one: the report that she mostly gives on bit 1: 0, 1 or 2 (none).
        on_zero: ... on bit 0; the same for an uninformative reply.
        level: its privacy level, 0 for an uninformative one.
        utility: expected payment less the cost of the level.
    """

    on_one: int
    on_zero: int
    level: float
    utility: float

    @property
    def strategy(self) -> Strategy:
        """The channel."""
        return Strategy.on_pair(self.on_one, self.on_zero, self.level)

    @property
    def informative(self) -> bool:
        """Whether it depends on the bit."""
        return self.level > 0

    @property
    def name(self) -> str:
        """In words."""
        if not self.informative:
            return f"always {REPORTS[self.on_one]}"
        return f"{REPORTS[self.on_one]} on 1, {REPORTS[self.on_zero]} on 0, at level {self.level:.6g}"


@dataclass(frozen=True)
class BestReply:
    """All best replies to an interim matrix.

    Args:
        replies: every maximising pair; mixtures of those of one level are best replies too.
        margin: utility of the best informative reply less that of the best uninformative one; minus infinity where no
            informative reply can be as good as some uninformative one.
    """

    replies: tuple[Reply, ...]
    margin: float

    @property
    def utility(self) -> float:
        """What the best replies earn."""
        return self.replies[0].utility

    @property
    def level(self) -> float:
        """The highest level among them."""
        return self.replies[0].level

    @property
    def strategy(self) -> Strategy:
        """One of them, of the highest level."""
        return self.replies[0].strategy

    @property
    def unique(self) -> bool:
        """Whether there is one only."""
        return len(self.replies) == 1

    @property
    def name(self) -> str:
        """In words."""
        return " = ".join(reply.name for reply in self.replies)


def as_interim(interim: ArrayLike) -> NDArray[np.float64]:
    """A (3, 2) table of finite numbers; two rows mean that taking no part pays nothing."""
    try:
        table = np.asarray(interim, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape == (2, 2):
        table = np.vstack([table, np.zeros(2)])
    if table.shape != (3, 2) or not np.all(np.isfinite(table)):
        raise InvalidInput("interim", "is not a table of finite numbers, 3 reports by 2 bits",
                           "rows are the reports 0, 1, none; columns her bit 0, 1")
    return table


def _best_level(half: float, cost: Cost) -> float:
    """The level that maximises half tanh(level/2) - g(level)."""
    if isinstance(cost, LinearCost):
        spare = half / (2.0 * cost.rate) - 1.0  # sinh^2(level/2)
        return 2.0 * math.asinh(math.sqrt(spare)) if spare > 0 else 0.0
    from scipy.optimize import brentq

    def slope(level: float) -> float:
        return half * 2.0 * float(scipy.special.expit(level) * scipy.special.expit(-level)) - float(cost.slope(level))

    if slope(0.0) <= 0:
        return 0.0
    high = 1.0
    while slope(high) > 0:
        if high > LARGEST_LEVEL:
            raise InvalidInput("interim", "has a best reply of a level above 700", "scale the payments down")
        high *= 2.0
    if not math.isfinite(slope(high)):  # the cost overflows
        low = high / 2.0
        while not math.isfinite(slope(high)):
            high = (low + high) / 2.0
    return float(brentq(slope, 0.0, high, xtol=1e-300, rtol=8.9e-16, maxiter=500))


def best_response(interim: ArrayLike, cost: Cost, *, ceiling: float = math.inf) -> BestReply:
    """Every best reply over all channels.

    Args:
        interim: (3, 2) a[x, s] = P(S = s) E[R | X = x, S = s] for the reports 0, 1, none (rows), of any sign; (2, 2)
            where taking no part pays nothing.
        cost: what a privacy level costs her.
        ceiling: the largest level that she can choose, where something enforces one.

    Returns:
        All maximising pairs of labels, within 1e-13 of the payments' size.

    Raises:
        InvalidInput: no such table.

    Source: spec data_market section 1 (ours); contains Wang 2016, Lemma 1.

    Example:
        >>> from confide.market import LinearCost
        >>> best = best_response([[3.0, 0.2], [0.5, 2.7]], LinearCost(1.0))
        >>> best.name, round(best.utility, 6), best.unique
        ('1 on 1, 0 on 0, at level 0.962424', 3.35561, True)
    """
    table = as_interim(interim)
    found = [Reply(x, x, 0.0, float(table[x, 0] + table[x, 1])) for x in range(3)]
    constant = max(reply.utility for reply in found)
    informative = -math.inf
    for on_one, on_zero in permutations(range(3), 2):
        match, miss = table[on_one, 1] + table[on_zero, 0], table[on_one, 0] + table[on_zero, 1]
        half = float(match - miss) / 2.0
        if half <= 0:
            continue  # beaten by one of the two constant reports
        level = min(_best_level(half, cost), ceiling)  # a pair's utility is concave in its level
        if level > 0:
            value = float(match + miss) / 2.0 + half * math.tanh(level / 2.0) - float(cost(level))
            informative = max(informative, value)
            found.append(Reply(on_one, on_zero, level, value))
    best, scale = max(constant, informative), float(np.max(np.abs(table)))
    tied = [reply for reply in found if reply.utility >= best - TIE * max(scale, 1e-300)]
    tied.sort(key=lambda reply: -reply.level)
    return BestReply(tuple(tied), margin=informative - constant)


def utility(interim: ArrayLike, strategy: Strategy, cost: Cost) -> float:
    """What a strategy earns: expected payment less the cost of its level; minus infinity where that is infinite."""
    paid = float(np.sum(as_interim(interim) * strategy.channel))
    level = strategy.level
    return paid - float(cost(level)) if math.isfinite(level) else -math.inf


def regret(interim: ArrayLike, strategy: Strategy, cost: Cost) -> float:
    """How much better than a strategy the best reply is, >= 0 up to rounding."""
    return best_response(interim, cost).utility - utility(interim, strategy, cost)
