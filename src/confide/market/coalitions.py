"""The gain of people who agree on one report, or of one person with many ids, and their effect on the answer.

A market for bits pays a report according to the others' reports. A person who controls several reports gains if the
market compares these reports with each other, so the person makes all reports equal. Three ways to choose the common
report are computed:

- the report that pays more on average without knowledge of any bit, which costs no privacy;
- the report that pays more given one person's own bit, without the device's noise;
- the report that one person's device draws by the randomiser, which costs the privacy of one report.

All people outside the coalition keep to the equilibrium. Coalitions in which some members stay away or give the other
report may be paid more, but are not computed. All results are exact and follow from the market's public parameters.
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
    """A coalition that gives one common report in a market for a yes-or-no answer: several people, or one person with
    several ids.

    Args:
        size: number of people or ids in the coalition.
        each: mean payment to each member if the coalition chooses the report that pays more on average without
            knowledge of any bit.
        chosen: mean payment to each member if one person chooses the report according to their own bit, without the
            device's noise; never below `each` and `drawn`.
        drawn: mean payment to each member if one person's device draws the report and all members give that report.
        turned: probability that the answer is wrong if all members report the untrue state, in the worse of the two
            states.
        alone: probability that the answer is wrong without any coalition, in the worse of the two states.
    """

    size: int
    each: float
    chosen: float
    drawn: float
    turned: float
    alone: float


@dataclass(frozen=True, kw_only=True)
class ShareCoalition:
    """A coalition that gives one common report in a market that estimates a share: several people, or one person with
    several ids.

    Args:
        size: number of people or ids in the coalition.
        each: mean payment to each member if the coalition chooses the report that pays more on average without
            knowledge of any bit.
        chosen: mean payment to each member if one person chooses the report according to their own bit, without the
            device's noise; never below `each` and `drawn`.
        drawn: mean payment to each member if one person's device draws the report and all members give that report.
        shift: largest shift of the estimated share, compared with the reports that the members' own devices would have
            drawn.
    """

    size: int
    each: float
    chosen: float
    drawn: float
    shift: float


def answer_coalition(market: MajorityMarket | ThresholdMarket, size: int) -> AnswerCoalition:
    """The payments and the effect of a coalition of m people who all take part and give one report, in a market for a
    yes-or-no answer.

    Args:
        market: market that pays the reports, for known or unknown costs.
        size: size m of the coalition, in 1..people.

    Returns:
        Exact mean payments and error probabilities, as sums over the number of other participants and the number of
        ones among them.

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
    states = np.diag(prior) @ [[theta, 1.0 - theta], [1.0 - theta, theta]]  # P(state, own bit)
    each, chosen, drawn = _routes(given @ states, _keep(market))
    return AnswerCoalition(
        size=m, each=each, chosen=chosen, drawn=drawn,
        turned=max(turned(market, m, x) for x in (0, 1)), alone=max(turned(market, 0, x) for x in (0, 1)))


def _routes(paid: NDArray[np.float64], keep: float) -> tuple[float, float, float]:
    """The mean payment to each member of a coalition by the three ways to choose the common report: `each`, `chosen`,
    `drawn`.

    Args:
        paid: (2, 2) P(S = s) E[R | X = x, S = s], with the common report x in rows and one member's bit s in columns.
        keep: probability with which the device reports the bit itself.
    """
    channel = np.array([[keep, 1.0 - keep], [1.0 - keep, keep]])
    return float(paid.sum(axis=1).max()), float(paid.max(axis=0).sum()), float((channel * paid).sum())


def _keep(market: MajorityMarket | ThresholdMarket) -> float:
    """The probability that an honest report equals the bit, on average over the participants."""
    return 1.0 - market.flip if isinstance(market, ThresholdMarket) else float(market.strategy.channel[1, 1])


def _paid(market: MajorityMarket | ThresholdMarket, m: int, x: int) -> NDArray[np.float64]:
    """(2,) mean payment of each of m equal reports x, given the state 0 and the state 1."""
    n, weights = _present(market.people - m, market.presence)
    there = n + m
    tables = _tables(market, int(there[0]), int(there[-1]))[:, x]
    # The others of one member: the rest of the coalition, m - 1 reports of x, and n honest ones.
    needed = majority_threshold(there - 1) - (m - 1) * x
    chance = np.array([at_least(n, rate, needed) for rate in _rates(market)])  # (2, k) that a 1 is their majority
    found: NDArray[np.float64] = (tables[:, 1] * chance + tables[:, 0] * (1.0 - chance)) @ weights
    return found


def _tables(market: MajorityMarket | ThresholdMarket, least: int, largest: int) -> NDArray[np.float64]:
    """(k, 2, 2) payments of report x when the majority of the others is y, for each number of participants."""
    if isinstance(market, ThresholdMarket):
        return market.payment_tables(least, largest)
    for_one, for_zero = market.tariff(least, largest)
    found = np.zeros((len(for_one), 2, 2))
    found[:, 1, 1], found[:, 0, 0] = for_one, for_zero
    return found


def _rates(market: MajorityMarket | ThresholdMarket) -> tuple[float, float]:
    """The probability that an honest report is 1, in state 0 and in state 1."""
    return float(market.reporting.miss), float(market.reporting.agree)


def turned(market: MajorityMarket | ThresholdMarket, size: int, report: int) -> float:
    """The exact probability that the answer equals `report` although the state is the other one, when `size` people all
    give that report.

    Args:
        market: market whose answer is the best guess of the state, or the majority of the reports where costs are
            unknown.
        size: size m of the coalition, in 0..people.
        report: report that all members give, 0 or 1.
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
    """The payments and the effect of a coalition of m people who all take part and give one report, in a market of
    pairs.

    Args:
        market: market that pays the reports.
        size: size m of the coalition, in 1..peers.
        peers: number of people in the group of peers that holds the coalition, at least 2. By default everybody is in
            one group.

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
        raise InvalidInput("peers", f"{group} is more than the number of invited people",
                           f"must be at most {market.people}")
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
        raise InvalidInput("size", f"{m} is more than the number of people", f"must be at most {people}")
    return m


def _present(people: int, presence: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if people == 0 or presence >= 1.0:
        return np.array([people]), np.ones(1)
    return binomial_weights(people, presence)


_HALF = 0.5
_MANY = 100_000  # people, above which every number of identities is not tried
SHARE_FAILURE = 0.05
"""Failure probability of the error bound of an estimated share. A coalition decides the result if it shifts the
estimate by at least this error bound.
"""


@dataclass(frozen=True)
class Agreements:
    """The gain of identities that agree on one report, and the smallest numbers of identities that gain.

    Args:
        market: market that pays the reports.
        peers: number of people in the smallest group of peers, where an agreement gains first; None where everybody is
            in one group.
    """

    market: Any
    peers: int | None = None

    @property
    def paid(self) -> float:
        """The mean payment of a truthful report."""
        return float(self.market.quote().expected_payment)

    @property
    def truthful(self) -> float:
        """The mean value of a truthful report: its payment less the cost of privacy. Where costs are unknown, the
        result is the payment alone.
        """
        return float(self.market.quote().participation) if hasattr(self.market, "cost") else self.paid

    @property
    def among(self) -> int:
        """Number of people in the smallest group of peers. The payment of a report depends on the reports of its group
        of peers.
        """
        people = int(self.market.people)
        return people if self.peers is None else min(self.peers, people)

    def of(self, size: int) -> AnswerCoalition | ShareCoalition:
        """The coalition of a given number of identities, all of which give one report."""
        it = self.market
        return share_coalition(it, size, self.peers) if isinstance(it, PairMarket) else answer_coalition(it, size)

    def done(self, size: int) -> float:
        """The effect of a given number of identities on the result: shift of the estimated share, or probability of a
        wrong answer in the worse of the two states.
        """
        it = self.market
        return share_coalition(it, size).shift if isinstance(it, PairMarket) else max(
            turned(it, size, x) for x in (0, 1))

    @property
    def with_one(self) -> float:
        """The largest mean payment to one person with a single id, before the cost of privacy is subtracted."""
        return max(self.of(1).chosen, self.paid, 0.0)

    @cached_property
    def deciding(self) -> int | None:
        """The smallest number of identities that decides the result; None where no number does.

        Identities decide a yes-or-no answer if the answer is then wrong with probability at least 1/2, in the worse of
        the two states. Identities decide an estimated share if they shift the estimate by at least the estimate's error
        bound.
        """
        it = self.market
        if isinstance(it, PairMarket):
            bound = it.half_width(SHARE_FAILURE)
            return fewest(lambda m: self.done(m) >= bound, it.people)
        singly = 32 if it.people <= _MANY else 1  # where few decide, ties matter
        return fewest(lambda m: self.done(m) >= _HALF, it.people, singly)

    @cached_property
    def smallest(self) -> dict[str, int | None]:
        """The smallest number of identities for each of four kinds of success; None where no number succeeds.

        - "second": smallest number of ids with which one person is paid more in all than with one id.
        - "group": smallest number of people each of whom gains by an agreement, compared with an honest report.
        - "fixed": smallest number of people each of whom earns more by one fixed report, for any bits, than by an
          honest report.
        - "deciding": smallest number of identities that decide the result.
        """
        truth, paid, one, among = self.truthful, self.paid, self.with_one, self.among

        def fixed(m: int) -> bool:
            return m > 1 and self.of(m).each > truth

        return {"second": fewest(lambda m: m > 1 and m * self.of(m).chosen > one, among),
                "group": fewest(lambda m: m > 1 and (self.of(m).drawn > paid or fixed(m)), among),
                "fixed": fewest(fixed, among), "deciding": self.deciding}
