"""The gain of people who agree on one report, or of one person with many ids, and their effect on the answer; exact.

A market for bits pays a report by how it meets the others' reports. Somebody who controls several reports is paid as
they meet each other: all of them give the same report. Three ways to choose it are computed: the report that pays more
whatever is true, which costs no privacy; the one that pays more given one person's own answer, without the device's
noise; and one report that this person's device draws as it should, which costs the privacy of one. All others keep to
the equilibrium. Groups in which some stay away, or give the other report, may be paid more: they are not computed.
Everything here follows from the market's public parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.market.binomials import at_least, binomial_weights, decision_threshold, majority_threshold
from confide.market.majority import MajorityMarket
from confide.market.pairs.market import PairMarket
from confide.market.threshold.threshold_market import ThresholdMarket
from confide.numerics.fewest import fewest

__all__ = ["SHARE_FAILURE", "Agreements", "AnswerCoalition", "ShareCoalition", "answer_coalition", "share_coalition",
           "turned"]


@dataclass(frozen=True, kw_only=True)
class AnswerCoalition:
    """People, or ids of one person, who all give one report in a market that answers yes or no.

    Args:
        size: number of people or ids.
        each: mean payment to each of them if they choose the report that is paid more, whatever is true.
        chosen: mean payment if one person chooses the report by their own answer, without the device's noise; the most
            of these three.
        drawn: mean payment if the device of one person draws the report, and all of them give it.
        turned: probability that the answer is wrong where they all report the untrue state; the worse of both states.
        alone: probability that the answer is wrong where nobody agrees on anything.
    """

    size: int
    each: float
    chosen: float
    drawn: float
    turned: float
    alone: float


@dataclass(frozen=True, kw_only=True)
class ShareCoalition:
    """People, or ids of one person, who all give one report in a market that estimates a share.

    Args:
        size: number of people or ids.
        each: mean payment to each of them if they choose the report that is paid more.
        chosen: mean payment if one person chooses the report by their own answer, without the device's noise; the most
            of these three.
        drawn: mean payment if the device of one person draws the report, and all of them give it.
        shift: largest shift of the estimate, compared with the reports that their own devices would have drawn.
    """

    size: int
    each: float
    chosen: float
    drawn: float
    shift: float


def answer_coalition(market: MajorityMarket | ThresholdMarket, size: int) -> AnswerCoalition:
    """A coalition of a market for known or unknown costs, all of which take part and give one report.

    Args:
        market: market that pays.
        size: size m of the coalition, in 1..people.

    Returns:
        Closed sums over who else takes part, and how many of them report a 1.

    Raises:
        InvalidInput: the size is out of range.

    Example:
        >>> from confide.market import LinearCost
        >>> market = MajorityMarket(200, 0.7, 0.5, LinearCost(0.5), 1.0)
        >>> twenty = answer_coalition(market, 20)
        >>> round(20 * twenty.each, 1), round(20 * twenty.chosen, 1), round(market.quote().participation, 2)
        (73.1, 95.1, 3.29)
    """
    m = _checked(market.people, size)
    theta, prior = market.signal_accuracy, (market.signal_model.prior_zero, market.signal_model.prior_one)
    given = np.array([_paid(market, m, x) for x in (0, 1)])  # [x, w]
    states = np.diag(prior) @ [[theta, 1.0 - theta], [1.0 - theta, theta]]  # P(state, her bit)
    each, chosen, drawn = _routes(given @ states, _keep(market))
    return AnswerCoalition(
        size=m, each=each, chosen=chosen, drawn=drawn,
        turned=max(turned(market, m, x) for x in (0, 1)), alone=max(turned(market, 0, x) for x in (0, 1)))


def _routes(paid: NDArray[np.float64], keep: float) -> tuple[float, float, float]:
    """What each is paid by the three routes: of (2, 2) P(S = s) E[R | X = x, S = s], one person's bit in columns."""
    channel = np.array([[keep, 1.0 - keep], [1.0 - keep, keep]])
    return float(paid.sum(axis=1).max()), float(paid.max(axis=0).sum()), float((channel * paid).sum())


def _keep(market: MajorityMarket | ThresholdMarket) -> float:
    """P(an honest report is the bit), on average over those who take part."""
    return 1.0 - market.flip if isinstance(market, ThresholdMarket) else float(market.strategy.channel[1, 1])


def _paid(market: MajorityMarket | ThresholdMarket, m: int, x: int) -> NDArray[np.float64]:
    """(2,) what each of m reports of x is paid on average, given the state."""
    n, weights = _present(market.people - m, market.presence)
    there = n + m
    tables = _tables(market, int(there[0]), int(there[-1]))[:, x]
    # The others of one member: the rest of the coalition, m - 1 reports of x, and n honest ones.
    needed = majority_threshold(there - 1) - (m - 1) * x
    chance = np.array([at_least(n, rate, needed) for rate in _rates(market)])  # (2, k) that a 1 is their majority
    found: NDArray[np.float64] = (tables[:, 1] * chance + tables[:, 0] * (1.0 - chance)) @ weights
    return found


def _tables(market: MajorityMarket | ThresholdMarket, least: int, largest: int) -> NDArray[np.float64]:
    """(k, 2, 2) money for report x when the majority of the others is m, for each number of participants."""
    if isinstance(market, ThresholdMarket):
        return market.payment_tables(least, largest)
    for_one, for_zero = market.tariff(least, largest)
    found = np.zeros((len(for_one), 2, 2))
    found[:, 1, 1], found[:, 0, 0] = for_one, for_zero
    return found


def _rates(market: MajorityMarket | ThresholdMarket) -> tuple[float, float]:
    """Of an honest report 1, by the state."""
    return float(market.reporting.miss), float(market.reporting.agree)


def turned(market: MajorityMarket | ThresholdMarket, size: int, report: int) -> float:
    """The probability that the answer is a report although the other one is true, where `size` people all give it;
    exact.

    Args:
        market: market whose best guess, or majority of reports, is the answer.
        size: size m of the coalition, in 0..people.
        report: 0 or 1.
    """
    n, weights = _present(market.people - size, market.presence)
    there = n + size
    if isinstance(market, ThresholdMarket):  # the majority of the reports, and 1 at a tie
        needed = (there + 1) // 2
    else:
        blind = 0 if market.signal_model.prior_one > market.signal_model.prior_zero else 1
        most = decision_threshold(np.maximum(there, 1), market.signal_model, market.reporting)
        needed = np.where(there > 0, most, blind)
    ones = at_least(n, _rates(market)[1 - report], needed - size * report)
    return float((ones if report else 1.0 - ones) @ weights)


def share_coalition(market: PairMarket, size: int, peers: int | None = None) -> ShareCoalition:
    """A coalition of a market of pairs, all of which take part and give one report.

    Args:
        market: market that pays.
        size: size m of the coalition, in 1..peers.
        peers: number of people who are compared with each other, the coalition among them, at least 2; by default
            everybody. Smaller where people are in groups of peers.

    Raises:
        InvalidInput: the size or the number of peers is out of range.

    Example:
        >>> from confide.market import LinearCost, PairPrior
        >>> market = PairMarket(PairPrior.beta_binomial(2, 3, people=100), LinearCost(1.0), epsilon=1.0)
        >>> [round(share_coalition(market, m).each - market.quote().participation, 2) for m in (1, 50)]
        [-0.18, 20.14]
    """
    group = market.people if peers is None else whole("peers", peers, at_least=2)
    if group > market.people:
        raise InvalidInput("peers", f"{group} is more than are invited", f"must be at most {market.people}")
    m, keep = _checked(group, size), market.strategy.channel[1]  # of a report 1, by the bit
    shares = np.array([market.prior.signal_zero, market.prior.signal_one])
    own = np.outer(np.diag(market.table), shares)  # (2, 2), by the report and one person's bit
    honest = market.table @ market.strategy.channel[:2] @ market.prior.pairs
    n, weights = _present(group - m, market.presence)
    others = np.maximum(n + m - 1, 1)
    fellow, other = float((m - 1) / others @ weights), float(n / others @ weights)
    each, chosen, drawn = _routes(fellow * own + other * honest, float(keep[1]))
    n, weights = _present(market.people - m, market.presence)
    return ShareCoalition(size=m, each=each, chosen=chosen, drawn=drawn,
                          shift=m * float((1.0 / (n + m)) @ weights) / float(keep[1] - keep[0]))


def _checked(people: int, size: int) -> int:
    m = whole("size", size, at_least=1)
    if m > people:
        raise InvalidInput("size", f"{m} is more than there are", f"must be at most {people}")
    return m


def _present(people: int, presence: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if people == 0 or presence >= 1.0:
        return np.array([people]), np.ones(1)
    return binomial_weights(people, presence)


_HALF = 0.5
_MANY = 100_000  # people, above which every number of identities is not tried
SHARE_FAILURE = 0.05
"""Failure probability of the error of a share that identities move."""


@dataclass(frozen=True)
class Agreements:
    """The gain of identities that agree on one report, and the least number that gain.

    Args:
        market: market that pays.
        peers: number of people in the smallest group of peers, where an agreement gains first; None where everybody is
            in one.
    """

    market: Any
    peers: int | None = None

    @property
    def paid(self) -> float:
        """The mean payment of a truthful report."""
        return float(self.market.quote().expected_payment)

    @property
    def truthful(self) -> float:
        """The mean value of truth: its pay less the cost of privacy where that is known, else its pay."""
        return float(self.market.quote().participation) if hasattr(self.market, "cost") else self.paid

    @property
    def among(self) -> int:
        """How many people are compared with each other at least."""
        people = int(self.market.people)
        return people if self.peers is None else min(self.peers, people)

    def of(self, size: int) -> AnswerCoalition | ShareCoalition:
        """The coalition of this number of identities, who give one report."""
        it = self.market
        return share_coalition(it, size, self.peers) if isinstance(it, PairMarket) else answer_coalition(it, size)

    def done(self, size: int) -> float:
        """The effect of this number of identities on the result."""
        it = self.market
        return share_coalition(it, size).shift if isinstance(it, PairMarket) else max(
            turned(it, size, x) for x in (0, 1))

    @property
    def with_one(self) -> float:
        """The most that one person is paid on average with one id, privacy not counted."""
        return max(self.of(1).chosen, self.paid, 0.0)

    @cached_property
    def deciding(self) -> int | None:
        """The fewest identities that decide the result; None where no number does.

        They decide a yes or no where it is wrong in half of all cases, and a share where it moves by its stated error.
        """
        it = self.market
        if isinstance(it, PairMarket):
            bound = it.half_width(SHARE_FAILURE)
            return fewest(lambda m: self.done(m) >= bound, it.people)
        singly = 32 if it.people <= _MANY else 1  # where few decide, ties matter
        return fewest(lambda m: self.done(m) >= _HALF, it.people, singly)

    @cached_property
    def smallest(self) -> dict[str, int | None]:
        """The fewest identities of several kinds.

        "second" of one person who is paid more than with one, "group" of people each of whom earns more than by the
        truth, "fixed" of such people who give the same report whatever is true, and "deciding".
        """
        truth, paid, one, among = self.truthful, self.paid, self.with_one, self.among

        def fixed(m: int) -> bool:
            return m > 1 and self.of(m).each > truth

        return {"second": fewest(lambda m: m > 1 and m * self.of(m).chosen > one, among),
                "group": fewest(lambda m: m > 1 and (self.of(m).drawn > paid or fixed(m)), among),
                "fixed": fewest(fixed, among), "deciding": self.deciding}
