"""Simulated rounds of a market with fictitious people: the counts of reports are drawn directly, or person by person.

A simulation can only validate a market. A simulation cannot decide whether a strategy is an equilibrium, because a
regret of 1e-4 is invisible in the noise of a simulation. `check_equilibrium` decides exactly whether a strategy is an
equilibrium.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.checks import fraction, one_of, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.renamed import renamed
from confide.market.binomials import decision_threshold
from confide.market.majority import MajorityMarket
from confide.market.pairs.market import PairMarket
from confide.market.pairs.prior import PairPrior
from confide.market.signal_model import SignalModel
from confide.market.strategies import Strategy
from confide.market.threshold.threshold_market import ThresholdMarket
from confide.privacy.noise.simulated import study_generator

__all__ = ["Market", "Simulation", "simulate"]

Market = MajorityMarket | ThresholdMarket | PairMarket

_CHUNK = 1 << 18  # people, of one round or of several, that are drawn at a time
_TENTHS = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulation:
    """The draws and the payments of R simulated rounds of a market.

    Args:
        state: (R,) uint8, state W of each round, 0 or 1; 2 where the prior is a law of the bits without a state.
        truth: (R,) int64, number of people whose bit is 1 in each round.
        ones: (R,) int64, number of reports 1 in each round.
        zeros: (R,) int64, number of reports 0 in each round.
        for_one: (R,) payment of each report 1 of the round.
        for_zero: (R,) payment of each report 0 of the round.
        wrong: (R,) bool, whether the guess of the state from the counts was wrong; empty where there is no state.
        types: (10, 3) table with one row for each tenth of the participants by cost, the cheapest first. The columns of
            `types` are the number of people, the mean payment, and the mean payment less the cost of the level. The
            table `types` is empty where costs are known, people were not drawn one by one, or all people were given one
            strategy.
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
        """The number R of rounds."""
        return len(self.ones)

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """The (R,) total payment of each round."""
        found: NDArray[np.float64] = self.ones * self.for_one + self.zeros * self.for_zero
        return found

    @property
    def mean_total(self) -> float:
        """The mean of the total payment over the rounds."""
        return float(self.totals.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the mean total payment."""
        return float(self.totals.std(ddof=1)) / math.sqrt(self.rounds) if self.rounds > 1 else math.inf

    def quantile(self, probability: float) -> float:
        """A quantile of the total payment over the rounds."""
        return float(np.quantile(self.totals, fraction("probability", probability)))

    @property
    def error_rate(self) -> float:
        """The share of rounds in which the guess of the state was wrong; nan where there is no state to guess."""
        return float(self.wrong.mean()) if self.wrong.size else math.nan

    def error_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Clopper and Pearson's confidence interval for the probability of a wrong guess."""
        from scipy.stats import beta

        if not self.wrong.size:
            return 0.0, 1.0
        tail, k, n = (1.0 - fraction("level", level)) / 2.0, int(self.wrong.sum()), self.wrong.size
        return (float(beta.ppf(tail, k, n - k + 1)) if k else 0.0,
                float(beta.ppf(1.0 - tail, k + 1, n - k)) if k < n else 1.0)

    @property
    def mean_payment(self) -> float:
        """The mean payment of one participant, over all rounds."""
        reports = float(self.ones.sum() + self.zeros.sum())
        return float(self.totals.sum()) / reports if reports else 0.0

    @property
    def payments(self) -> NDArray[np.float64]:
        """The (2, 2, 2) table of payments by report 0 or 1 (first axis) and by unpaid or paid (second axis).

        The last axis holds two numbers: the share of such reports among all reports, and the mean payment of such a
        report. In a majority market a report is paid if it equals the majority of the others.
        """
        found = np.zeros((2, 2, 2))
        for report, counts, each in ((0, self.zeros, self.for_zero), (1, self.ones, self.for_one)):
            for paid in (0, 1):
                some = (each > 0) == paid
                number = float(counts[some].sum())
                found[report, paid] = number, float(counts[some] @ each[some]) / number if number else 0.0
        found[:, :, 0] /= max(float(found[:, :, 0].sum()), 1.0)
        return found


@renamed(nature="signal_model")
def simulate(market: Market, rounds: int, *, seed: int, level: str = "aggregate", strategy: Strategy | None = None,
             signal_model: SignalModel | PairPrior | None = None) -> Simulation:
    """Simulate a market for a number of rounds.

    Args:
        market: `MajorityMarket`, `ThresholdMarket` or `PairMarket`.
        rounds: number R of rounds, >= 1.
        seed: seed of all draws; the same seed gives the same rounds.
        level: detail of the draws. With "aggregate" the counts alone are drawn, in a time that does not grow with the
            number of people. With "individual" each person is drawn with their bit, their cost where costs are unknown,
            and their report, some hundred thousand people at a time.
        strategy: strategy that everybody plays, including the probability of taking no part; by default the market's
            equilibrium.
        signal_model: law of the state and the bits of the rounds; by default the law that the market is designed for.
            For a pair market the signal model is a `PairPrior`.

    Raises:
        InvalidInput: a parameter is out of range, or a `PairPrior` has no law of the number of ones.
        Refused: the market is a pair market that pays each report by a single peer, so that counts do not determine the
            payments.

    Source: spec data_market section 5.

    Example:
        >>> from confide.market import LinearCost, MajorityMarket
        >>> market = MajorityMarket(50, 0.8, 0.7, LinearCost(1.0), 1.0)
        >>> found = simulate(market, 20_000, seed=1)
        >>> abs(found.mean_total - market.total_payment().mean) < 4 * found.standard_error
        True
    """
    if not isinstance(market, Market):
        raise InvalidInput("market", f"{type(market).__name__} cannot be played",
                           "must be MajorityMarket, ThresholdMarket or PairMarket")
    if strategy is not None and not isinstance(strategy, Strategy):
        raise InvalidInput("strategy", f"{type(strategy).__name__} is not a Strategy")
    count, how = whole("rounds", rounds, at_least=1), one_of("level", level, ("aggregate", "individual"))
    source = study_generator(seed, "market", how)
    bits = _Pairs(market, signal_model, count, source) if isinstance(market, PairMarket) else _State(
        market, signal_model, count, source)
    channel = (market.peers if strategy is None else strategy).channel
    if how == "individual":
        types = _Types(market) if isinstance(market, ThresholdMarket) and strategy is None else None
        truth, ones, zeros = _one_by_one(market, bits, channel, types, source)
        table = np.zeros((0, 3)) if types is None else types.table()
    else:
        truth, table = bits.number(), np.zeros((0, 3))
        ones, zeros = (_reports(truth, channel[:, 1], source)
                       + _reports(market.people - truth, channel[:, 0], source))
    for_one, for_zero = _paid(market, bits.state, ones, zeros)
    return Simulation(state=bits.state, truth=truth, ones=ones, zeros=zeros, for_one=for_one, for_zero=for_zero,
                      wrong=_wrong(market, bits.state, ones, zeros), types=table)


class _State:
    """The bits of people with a common state: the state W of each round, and bits that are independent given W."""

    def __init__(self, market: MajorityMarket | ThresholdMarket, signal_model: object, rounds: int,
                 source: Any) -> None:
        law = market.signal_model if signal_model is None else signal_model
        if not isinstance(law, SignalModel):
            raise InvalidInput("signal_model", f"{type(law).__name__} is not a law of a state and bits",
                               "must be a SignalModel")
        self.people, self.source = market.people, source
        self.state = (source.random(rounds) < law.prior_one).astype(np.uint8)
        self.chance = np.array([1.0 - law.signal_accuracy, law.signal_accuracy])[self.state]  # P(a bit is 1)

    def number(self) -> NDArray[np.int64]:
        """(R,) number of people whose bit is 1, in each round."""
        found: NDArray[np.int64] = self.source.binomial(self.people, self.chance)
        return found

    def drawn(self, some: slice, start: int, size: int) -> NDArray[np.bool_]:
        """(r, size) bits of `size` people from rank `start` on, in some of the rounds."""
        del start
        found: NDArray[np.bool_] = self.source.random((len(self.chance[some]), size)) < self.chance[some, None]
        return found


class _Pairs:
    """The bits of an exchangeable law. The number of ones is drawn for each round, and that many people, the first in
    the order, have bit 1.
    """

    def __init__(self, market: PairMarket, signal_model: object, rounds: int, source: Any) -> None:
        law = market.prior if signal_model is None else signal_model
        if not market.average:
            raise Refused("a payment by the report of a single peer does not follow from counts", "use average=True")
        if not isinstance(law, PairPrior) or law.people != market.people:
            raise InvalidInput("signal_model", "is not a law of this market's bits",
                               f"must be a PairPrior of {market.people} people")
        if law.log_counts is None:
            raise InvalidInput("prior", "states the agreement of two people, not of all people",
                               "give a law of the number of ones")
        ends = np.cumsum(np.exp(law.log_counts))
        self.state = np.full(rounds, 2, dtype=np.uint8)
        self.ones: NDArray[np.int64] = np.searchsorted(ends, source.random(rounds) * ends[-1], side="right")

    def number(self) -> NDArray[np.int64]:
        """(R,) number of people whose bit is 1, in each round."""
        return self.ones

    def drawn(self, some: slice, start: int, size: int) -> NDArray[np.bool_]:
        """(r, size) bits of `size` people from rank `start` on, in some of the rounds."""
        found: NDArray[np.bool_] = np.arange(start, start + size) < self.ones[some, None]
        return found


def _reports(people: NDArray[np.int64], law: NDArray[np.float64], source: Any) -> NDArray[np.int64]:
    """(2, R) number of people who report 1, and number of people who report 0, in each round.

    Args:
        people: (R,) number of people who may report.
        law: (3,) probabilities that a person reports 0, reports 1, and takes no part.
        source: random generator.
    """
    here = float(law[0] + law[1])
    present = source.binomial(people, min(here, 1.0))
    ones = source.binomial(present, min(float(law[1]) / here, 1.0) if here > 0 else 0.0)
    return np.array([ones, present - ones])


def _one_by_one(market: Market, bits: _State | _Pairs, channel: NDArray[np.float64], types: _Types | None,
                source: Any) -> NDArray[np.int64]:
    """(3, R) number of bits that are 1, of reports 1 and of reports 0, drawn person by person.

    Several whole rounds are drawn together as long as they have few people in all.
    """
    rounds, people = len(bits.state), market.people
    counts = np.zeros((3, rounds), dtype=np.int64)
    at_a_time = max(1, _CHUNK // people)
    for first in range(0, rounds, at_a_time):
        some = slice(first, min(first + at_a_time, rounds))
        for start in range(0, people, _CHUNK):
            bit = bits.drawn(some, start, min(_CHUNK, people - start))
            one, here = (types.report(bit, source) if types is not None else _report(bit, channel, source))
            counts[:, some] += [np.count_nonzero(each, axis=1) for each in (bit, one, here)]
        if types is not None:
            ones, present = counts[1:, some]
            types.settle(*_paid(market, bits.state[some], ones, present - ones))
    counts[2] -= counts[1]
    return counts


def _report(bit: NDArray[np.bool_], channel: NDArray[np.float64],
            source: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each person, whether they report 1, and whether they report at all."""
    coin, held = source.random(bit.shape), bit.view(np.uint8)
    return coin < channel[1][held], coin < (channel[0] + channel[1])[held]


class _Types:
    """People whose costs are drawn as well: their equilibrium reports, and the payments to each tenth of the
    participants by cost.

    Args:
        market: market whose equilibrium the people play.
    """

    def __init__(self, market: ThresholdMarket) -> None:
        self.market = market
        self.edges = np.asarray(market.cost_law.quantile(market.presence * np.arange(1, _TENTHS) / _TENTHS))
        self.counts: NDArray[np.int64] | None = None  # of rounds that are not paid yet, by tenth and report
        self.people, self.paid, self.spent = np.zeros((3, _TENTHS))

    def report(self, bit: NDArray[np.bool_],
               source: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For each person, whether they report 1, and whether they report at all."""
        cost = self.market.cost_law.sample(bit.size, source).reshape(bit.shape)
        here = np.asarray(self.market.takes_part(cost))
        cost = cost[here]
        level = np.asarray(self.market.level_of(cost))
        said = bit[here] ^ (source.random(cost.size) < scipy.special.expit(-level))
        tenth = np.searchsorted(self.edges, cost)
        self.spent += np.bincount(tenth, weights=cost * level, minlength=_TENTHS)
        cell = (np.nonzero(here)[0] * _TENTHS + tenth) * 2 + said
        found = np.bincount(cell, minlength=len(bit) * _TENTHS * 2).reshape(-1, _TENTHS, 2)
        self.counts = found if self.counts is None else self.counts + found
        one = np.zeros(bit.shape, dtype=np.bool_)
        one[here] = said
        return one, here

    def settle(self, for_one: NDArray[np.float64], for_zero: NDArray[np.float64]) -> None:
        """Record the payments of the rounds for which all reports have been drawn."""
        if self.counts is not None:
            self.people += self.counts.sum(axis=(0, 2))
            self.paid += for_zero @ self.counts[:, :, 0] + for_one @ self.counts[:, :, 1]
            self.counts = None

    def table(self) -> NDArray[np.float64]:
        """(10, 3) number of people, mean payment and mean utility, for each tenth of the participants by cost."""
        number = np.maximum(self.people, 1.0)
        return np.column_stack([self.people, self.paid / number, (self.paid - self.spent) / number])


def _paid(market: Market, state: NDArray[np.uint8], ones: NDArray[np.int64],
          zeros: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The payment of each report 1 and of each report 0, in each round; 0 where nobody gives that report, or where one
    person reports alone.
    """
    for_one, for_zero = np.zeros((2, len(ones)))
    # State by state: payments are tabulated from the least to the largest attendance, which may depend on it.
    for each in np.unique(state):
        rounds = np.flatnonzero((state == each) & (ones + zeros >= 2))
        for paid, report in ((for_one, 1), (for_zero, 0)):
            some = rounds[(ones if report else zeros)[rounds] > 0]
            if some.size:
                paid[some] = market.peer_payments(ones[some] - report, zeros[some] - (1 - report))[report]
    return for_one, for_zero


def _wrong(market: Market, state: NDArray[np.uint8], ones: NDArray[np.int64],
           zeros: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the market's guess of the state is wrong, in each round.

    A majority market guesses the likelier state. A threshold market guesses the majority of the reports, and 1 at a
    tie.
    """
    if isinstance(market, PairMarket):
        return np.zeros(0, dtype=np.bool_)
    enough = zeros if isinstance(market, ThresholdMarket) else decision_threshold(
        ones + zeros, market.signal_model, market.reporting)
    found: NDArray[np.bool_] = (ones >= enough) != state
    return found
