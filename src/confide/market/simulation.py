"""Rounds of a market played with made-up people: by drawing the counts alone, or person by person.

Simulation validates; it does not decide. A regret of 1e-4 cannot be seen in it: `check_equilibrium` is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from confide.contract.checks import fraction, one_of, whole
from confide.contract.errors import InvalidInput
from confide.market.decision import decision_threshold
from confide.market.nature import Nature
from confide.market.strategies import Strategy
from confide.privacy.noise.simulated import study_generator

__all__ = ["Simulation", "simulate"]

_CHUNK = 1_000_000
_TYPES = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulation:
    """What was drawn in R rounds, and what was paid.

    Args:
        state: (R,) uint8, W; where the prior is of the bits themselves, 2.
        truth: (R,) int64, number of people whose bit is 1; -1 where single bits were not drawn.
        ones: (R,) int64, reports 1.
        zeros: (R,) int64, reports 0.
        for_one: (R,) what each report 1 was paid.
        for_zero: (R,) what each report 0 was paid.
        wrong: (R,) bool, whether the guess of the state from the counts was wrong; empty where there is no state.
        types: (10, 3) by tenths of the costs of those who can take part, from the cheapest: how many people there were,
            what they were paid on average, and that less the cost of their level; empty where costs are known, or
            people were not drawn one by one.
    """

    state: NDArray[np.uint8]
    truth: NDArray[np.int64]
    ones: NDArray[np.int64]
    zeros: NDArray[np.int64]
    for_one: NDArray[np.float64]
    for_zero: NDArray[np.float64]
    wrong: NDArray[np.bool_]
    types: NDArray[np.float64]

    @property
    def rounds(self) -> int:
        """R."""
        return len(self.ones)

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """(R,) all that was paid in a round."""
        found: NDArray[np.float64] = self.ones * self.for_one + self.zeros * self.for_zero
        return found

    @property
    def mean_total(self) -> float:
        """Mean of the totals."""
        return float(self.totals.mean())

    @property
    def standard_error(self) -> float:
        """Of that mean."""
        return float(self.totals.std(ddof=1)) / math.sqrt(self.rounds) if self.rounds > 1 else math.inf

    def quantile(self, probability: float) -> float:
        """Of the totals."""
        return float(np.quantile(self.totals, fraction("probability", probability)))

    @property
    def error_rate(self) -> float:
        """Share of rounds in which the guess was wrong; nan where there is no state to guess."""
        return float(self.wrong.mean()) if self.wrong.size else math.nan

    def error_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Clopper and Pearson's interval for the error probability."""
        if not self.wrong.size:
            return 0.0, 1.0
        tail, k, n = (1.0 - fraction("level", level)) / 2.0, int(self.wrong.sum()), self.wrong.size
        return (float(beta.ppf(tail, k, n - k + 1)) if k else 0.0,
                float(beta.ppf(1.0 - tail, k + 1, n - k)) if k < n else 1.0)

    @property
    def mean_payment(self) -> float:
        """Of one participant, over all rounds."""
        reports = float(self.ones.sum() + self.zeros.sum())
        return float(self.totals.sum()) / reports if reports else 0.0

    @property
    def payments(self) -> NDArray[np.float64]:
        """(2, 2) share of reports 0 and 1 (rows), and what they were paid on average (second column)."""
        counts = np.array([self.zeros.sum(), self.ones.sum()], dtype=np.float64)
        paid = np.array([self.zeros @ self.for_zero, self.ones @ self.for_one])
        total = counts.sum()
        return np.column_stack([counts / total if total else counts,
                                np.divide(paid, counts, out=np.zeros(2), where=counts > 0)])


def simulate(market: Any, rounds: int, *, seed: int, level: str = "aggregate", strategy: Strategy | None = None,
             nature: Nature | None = None) -> Simulation:
    """Play a market many times.

    Args:
        market: `MajorityMarket`, `ThresholdMarket` or `PairMarket`.
        rounds: R >= 1.
        seed: of everything; the same seed gives the same rounds.
        level: "aggregate" draws the counts, at a cost that does not grow with people; "individual" draws each person,
            her bit, her cost where costs are unknown, and her report, a million at a time.
        strategy: what everybody does, absence included; default the market's equilibrium.
        nature: the law of the state and the bits; default the design's. Not for `PairMarket`.

    Raises:
        InvalidInput: a parameter out of range.

    Source: spec data_market section 5.

    Example:
        >>> from confide.market import LinearCost, MajorityMarket
        >>> market = MajorityMarket(50, 0.8, 0.7, LinearCost(1.0), 1.0)
        >>> found = simulate(market, 20_000, seed=1)
        >>> abs(found.mean_total - market.total_payment().mean) < 4 * found.standard_error
        True
    """
    count, how = whole("rounds", rounds, at_least=1), one_of("level", level, ("aggregate", "individual"))
    source = study_generator(seed, "market", how)
    if hasattr(market, "prior"):
        if nature is not None or strategy is not None:
            raise InvalidInput("nature" if nature is not None else "strategy", "is not for a market of pairs",
                               "its prior is the law of the bits, and people play its strategy")
        state, truth, ones, zeros, types = _pairs(market, count, source, how)
    else:
        law = market.nature if nature is None else nature
        drawn = _aggregate if how == "aggregate" else _individual
        state, truth, ones, zeros, types = drawn(market, count, law, strategy, source)
    for_one, for_zero = _paid(market, ones, zeros)
    wrong = np.zeros(0, dtype=np.bool_)
    if not hasattr(market, "prior"):
        wrong = _guess(market, ones, zeros) != state
    if len(types):
        types = _settled(types, for_one, for_zero)
    return Simulation(state=state, truth=truth, ones=ones, zeros=zeros, for_one=for_one, for_zero=for_zero, wrong=wrong,
                      types=types)


Drawn = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
_NOTHING = np.zeros((0, 3))


def _aggregate(market: Any, rounds: int, law: Nature, strategy: Strategy | None, source: Any) -> Drawn:
    state = (source.random(rounds) < law.prior_one).astype(np.uint8)
    played = market.peers if strategy is None else strategy
    given = played.given_state(law.signal_accuracy)[:, state]  # (3, R)
    present = source.binomial(market.people, np.clip(1.0 - given[2], 0.0, 1.0))
    share = np.divide(given[1], given[0] + given[1], out=np.zeros(rounds), where=given[0] + given[1] > 0)
    ones = source.binomial(present, np.clip(share, 0.0, 1.0))
    return state, np.full(rounds, -1), ones, present - ones, _NOTHING


def _individual(market: Any, rounds: int, law: Nature, strategy: Strategy | None, source: Any) -> Drawn:
    """Each person: her bit given the state, her cost where the market has a law of costs, her report."""
    state = (source.random(rounds) < law.prior_one).astype(np.uint8)
    counts = np.zeros((3, rounds), dtype=np.int64)
    typed = strategy is None and hasattr(market, "cost_law")
    played = market.peers if strategy is None else strategy
    # Who can take part, by tenths; counted by (type, report), with the cost of their levels.
    types = np.zeros((rounds, _TYPES, 3)) if typed else np.zeros((0, 0, 0))
    edges = np.asarray(market.cost_law.quantile(market.presence * np.arange(1, _TYPES) / _TYPES)) if typed else _NOTHING
    for k in range(rounds):
        agree = law.signal_accuracy if state[k] else 1.0 - law.signal_accuracy
        for start in range(0, market.people, _CHUNK):
            size = min(_CHUNK, market.people - start)
            bit = source.random(size, dtype=np.float32) < np.float32(agree)
            counts[0, k] += np.count_nonzero(bit)
            coin = source.random(size, dtype=np.float32)
            if not typed:
                present = played.channel[:2].sum(axis=0)
                one = played.channel[1].astype(np.float32)
                counts[1, k] += np.count_nonzero(coin < one[bit.view(np.uint8)])
                within = present.astype(np.float32)[bit.view(np.uint8)]
                counts[2, k] += np.count_nonzero(coin < within)
                continue
            cost = market.cost_law.sample(size, source)
            inside = np.asarray(market.takes_part(cost))
            cost, bit, coin = cost[inside], bit[inside], coin[inside]
            chosen = np.asarray(market.level_of(cost))
            report = bit ^ (coin < 1.0 / (1.0 + np.exp(np.minimum(chosen, 700.0))))
            counts[1, k] += np.count_nonzero(report)
            counts[2, k] += len(report)
            place = np.atleast_1d(np.searchsorted(edges, cost))
            types[k, :, 0] += np.bincount(place[~report], minlength=_TYPES)
            types[k, :, 1] += np.bincount(place[report], minlength=_TYPES)
            types[k, :, 2] += np.bincount(place, weights=cost * chosen, minlength=_TYPES)
    return state, counts[0], counts[1], counts[2] - counts[1], types


def _pairs(market: Any, rounds: int, source: Any, how: str) -> Drawn:
    """Counts of true ones from the prior, and their reports."""
    logs = market.prior.log_counts
    if logs is None:
        raise InvalidInput("prior", "says how two people agree, and not how all do", "give a law of the number of ones")
    law = np.exp(logs)
    truth = source.choice(len(law), size=rounds, p=law / law.sum()).astype(np.int64)
    keep = float(market.strategy.channel[1, 1])
    n = market.people
    if how == "aggregate":
        ones = source.binomial(truth, keep) + source.binomial(n - truth, 1.0 - keep)
    else:
        ones = np.array([np.count_nonzero((np.arange(n) < k) ^ (source.random(n) >= keep)) for k in truth])
    return np.full(rounds, 2, dtype=np.uint8), truth, ones, n - ones, _NOTHING


def _paid(market: Any, ones: NDArray[np.int64], zeros: NDArray[np.int64]) -> tuple[NDArray[np.float64], ...]:
    """What each report 1, and each report 0, is paid in each round."""
    enough = ones + zeros >= 2
    heads, tails = np.where(enough, ones, 1), np.where(enough, zeros, 1)
    for_one = market.peer_payments(np.maximum(heads - 1, 0), np.where(heads > 0, tails, np.maximum(tails - 1, 0)))[1]
    for_zero = market.peer_payments(np.where(tails > 0, heads, np.maximum(heads - 1, 0)), np.maximum(tails - 1, 0))[0]
    return np.where(enough & (ones > 0), for_one, 0.0), np.where(enough & (zeros > 0), for_zero, 0.0)


def _guess(market: Any, ones: NDArray[np.int64], zeros: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The state as the market's rule takes it: the likelier one; where costs are unknown, what most report."""
    if hasattr(market, "cost_law"):
        return ones >= zeros
    found: NDArray[np.bool_] = ones >= decision_threshold(ones + zeros, market.nature, market.reporting)
    return found


def _settled(
    types: NDArray[np.float64], for_one: NDArray[np.float64], for_zero: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(10, 3) people, mean payment, mean utility of each tenth of the types."""
    people = (types[:, :, 0] + types[:, :, 1]).sum(axis=0)
    paid = (types[:, :, 0] * for_zero[:, None] + types[:, :, 1] * for_one[:, None]).sum(axis=0)
    utility = paid - types[:, :, 2].sum(axis=0)
    safe = np.maximum(people, 1.0)
    return np.column_stack([people, paid / safe, utility / safe])
