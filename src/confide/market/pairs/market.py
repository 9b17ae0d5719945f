"""Wang's mechanism for general priors: a report is paid if it agrees with another person's report. Where the covariance
D of two bits is negative, a report is paid if it disagrees.

If the payment is averaged over all peers, it follows from the two public counts. If each report is compared with a
single peer's report, the incentives are the same. The variance is then larger, and nobody can check a payment without
the peer's report.

The module also computes the best replies of people who know their own group. The best replies show whether a pair
market works on the people of a given table. Bits are correlated because people belong to groups. To a person who knows
their own group, the peers' bits look independent of their own bit, or slightly negatively correlated, because nobody is
their own peer. A person who knows their own group is therefore paid nothing for their bit, and does best with the
report that is paid more in their group. The best replies are computed from the bits of the table, so they are for the
operator only and must not be released.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import (
    Accuracy,
    Audience,
    Budget,
    Guarantees,
    Participation,
    Privacy,
    Relation,
    Source,
    Truthfulness,
)
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.market.costs import Cost, PlainNumbers
from confide.market.equilibrium import Others, interim_matrix
from confide.market.matching import KnownLevel, MatchingPayment, Paid, PeerStatistic, Quote, check_payable, quote_of
from confide.market.pairs.accuracy import MeanEstimate, failure_probability, half_width, mean_estimate
from confide.market.pairs.prices import PairTotal, averaged_payments, pair_excess, pair_floor
from confide.market.pairs.prior import LARGEST_LAW, PairPrior, as_groups, log_report_law
from confide.market.signal_model import LARGEST_LEVEL, SignalModel
from confide.market.strategies import NONE, BestReply, Strategy, as_reports, best_response, utility
from confide.privacy.losses import PureDP

__all__ = ["Insider", "PairMarket", "audit_groups", "group_counts", "pair_guarantees"]

# ---- market


@wire("PairMarket", "prior cost epsilon average presence")
@dataclass(frozen=True)
class PairMarket(PlainNumbers, KnownLevel):
    """A market that buys one randomised bit from each person to estimate the share of ones, when bits are correlated
    for any reason.

    The epsilon-strategy is randomised response at level epsilon. The profile in which everybody plays the
    epsilon-strategy is a strict Nash equilibrium among people who know their own bit and nothing else about the others.
    In this equilibrium the epsilon-strategy earns `quote().margin` more than every report that ignores the bit. Other
    equilibria exist: `symmetric_equilibria` lists the collusive equilibria. People who know their own group have
    another best reply, which `audit_groups` computes.

    Raises:
        InvalidInput: a parameter is out of range, or payments overflow at the level epsilon; the message names the
            parameter.

    Source: Wang 2016, section 5.3 and Theorem 9; the payment by an average is ours; spec data_market section 4.

    Example:
        >>> from confide.market import LinearCost
        >>> market = PairMarket(PairPrior.beta_binomial(2, 3, people=10), LinearCost(1.0), epsilon=1.0)
        >>> round(market.quote().expected_payment, 6), round(market.quote().lower_bound, 6)
        (35.275826, 3.718282)
        >>> [round(each, 4) for each in market.pay(ones=4, zeros=6)]
        [25.0489, 34.684, 308.2992]
        >>> round(market.estimate(ones=4, zeros=6).value, 4)
        0.2836
    """

    prior: Annotated[PairPrior, Parameter("common belief about the bits")]
    cost: Annotated[Cost, Parameter("everybody's cost of a privacy level", symbol="g")]
    epsilon: Annotated[float, Parameter("privacy level that the market buys from each person", unit="nats", above=0,
                                        at_most=LARGEST_LEVEL)]
    average: Annotated[bool, Parameter("true for a payment by the mean over all other participants, false for a "
                                       "payment by one of them")] = True
    presence: Annotated[float, Parameter("probability with which each of the others takes part, independently of their "
                                         "bit; below 1 the payments rise by 1/(1 - (1-p)^(N-1)), so that the best "
                                         "reply is epsilon exactly", symbol="p", above=0, at_most=1)] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_payable(self.epsilon, [self.cost], lambda level: (
            abs(self.prior.covariance) * math.tanh(level / 2.0) * self.company))

    @classmethod
    def for_budget(cls, *, epsilon: float, delta: float = 0.0, prior: PairPrior, cost: Cost,
                   presence: float = 1.0) -> PairMarket:
        """The market that spends the whole privacy budget epsilon on one report of each person, and pays by the mean
        over the others.

        Args:
            epsilon: level of each report, in (0, 700] nats.
            delta: failure probability in [0, 1); not used, because each report is randomised alone and satisfies pure
                differential privacy.
            prior: common belief about the bits of all N people.
            cost: everybody's cost of a privacy level.
            presence: probability with which each of the others takes part, in (0, 1].

        Raises:
            InvalidInput: a number is out of range.
        """
        fraction("delta", delta, zero=True)
        return cls(prior, cost, epsilon, presence=presence)

    @property
    def people(self) -> int:
        """The number N of invited people."""
        return self.prior.people

    def payment_range(self) -> tuple[float, float]:
        """The smallest and the largest possible single payment, over all sets of participants."""
        return 0.0, max(self.liability())

    @property
    def agreement(self) -> bool:
        """Whether agreement with a peer is paid, which is so where the covariance D > 0; otherwise disagreement is
        paid.
        """
        return self.prior.covariance > 0

    @cached_property
    def payment(self) -> MatchingPayment:
        """The matching payment for a person with a peer: the statistic M is the peer's report, or the opposite of the
        peer's report where D < 0.
        """
        p, level = self.prior, self.epsilon
        keep, flip = float(scipy.special.expit(level)), float(scipy.special.expit(-level))
        ones, zeros = keep * p.signal_one + flip * p.signal_zero, keep * p.signal_zero + flip * p.signal_one
        one, zero = (ones, zeros) if self.agreement else (zeros, ones)
        covariance = abs(p.covariance) * math.tanh(level / 2.0) * self.company
        return MatchingPayment(self.cost, level, PeerStatistic(one, zero, covariance), p.signal_one)

    @property
    def table(self) -> NDArray[np.float64]:
        """The (2, 2) payments of report x (row) when the peer reports y (column)."""
        return self.payment.table if self.agreement else self.payment.table[:, ::-1]

    def quote(self) -> Quote:
        """The offer to one person. The offer's `payments` have the person's report in rows and the peer's report in
        columns.

        The lower bound in the quote is the bound of Wang 2016, Proposition 1, which does not depend on the prior.
        `least_pair_payment` in `confide.evidence.wang_2016.data_market` computes the exact lower bound.
        """
        floor = float(pair_floor(self.cost, self.epsilon))
        gap = self.payment.unit * float(pair_excess(self.prior, self.epsilon))
        return replace(quote_of(self.payment, floor, gap=gap), payments=self.table,
                       participation=floor + gap - float(self.cost(self.epsilon)))

    def liability(self) -> tuple[float, float]:
        """The largest single payments of a report 1 and of a report 0, over all sets of participants."""
        return self.payment.for_one, self.payment.for_zero

    def peer_payments(self, ones: ArrayLike, zeros: ArrayLike) -> NDArray[np.float64]:
        """The payments for the reports 0, 1 and no report of one person, shape (3, ...), averaged over peers of whom
        `ones` report 1 and `zeros` report 0.
        """
        paid = averaged_payments(*self.liability(), self.agreement, ones, zeros)
        return np.concatenate([paid, np.zeros((1, *paid.shape[1:]))])

    def pay(self, ones: int, zeros: int) -> Paid:
        """The payment of each report, from the two public counts.

        Args:
            ones: number of reports 1.
            zeros: number of reports 0; all other people took no part.

        Raises:
            InvalidInput: there are more reports than people.
            Refused: each report is paid by a single peer, so that the counts do not determine the payments.
        """
        if not self.average:
            raise Refused("a payment by the report of a single peer does not follow from counts",
                          "use pay_reports, or average=True")
        n = self.participants(ones, zeros)
        one = float(self.peer_payments(ones - 1, zeros)[1]) if ones and n > 1 else 0.0
        zero = float(self.peer_payments(ones, zeros - 1)[0]) if zeros and n > 1 else 0.0
        return Paid(one, zero, one * ones + zero * zeros)

    def pay_reports(self, reports: ArrayLike, rotation: int = 1) -> NDArray[np.float64]:
        """The (N,) payments of N reports, where the report 2 stands for taking no part and is paid nothing.

        Args:
            reports: (N,) reports 0, 1 or 2, in an order of the people that is fixed before anybody reports.
            rotation: distance from each participant to their peer in that order, counted in participants, >= 1; used
                only without `average`. The rotation has to be chosen without knowledge of the reports.

        Raises:
            InvalidInput: there are not N reports, or a report is not 0, 1 or 2. The message does not say which report
                is wrong.
        """
        found, step = as_reports(reports, self.people), whole("rotation", rotation, at_least=1)
        here = np.flatnonzero(found != NONE)
        paid = np.zeros(self.people)
        if here.size < 2:
            return paid
        says = found[here]
        if self.average:
            each = self.pay(int(says.sum()), int(here.size - says.sum()))
            paid[here] = np.where(says == 1, each.one, each.zero)
        else:
            peers = np.roll(says, -(1 + (step - 1) % (here.size - 1)))
            paid[here] = self.table[says, peers]
        return paid

    def total_payment(self) -> PairTotal:
        """The law of the total payment in equilibrium when all people take part.

        The mean and the largest value of the total are known for every prior. Quantiles of the total need a law of the
        number of ones, at most 2000 people, and payments that are averaged over all peers (`average`).
        """
        n, (one, zero) = self.people, self.liability()
        known = self.average and self.prior.log_counts is not None and n <= LARGEST_LAW
        logs = self.prior.log_counts
        mean = n * (self.payment.unit * math.tanh(self.epsilon / 2.0) / self.company + self.payment.outside)
        if self.agreement:
            largest = n * max(one, zero)
        else:
            largest = (one + zero) * ((n // 2) * (n - n // 2) / (n - 1.0) if self.average else n // 2)
        return PairTotal(n, mean, largest, one, zero, self.agreement,
                         np.exp(log_report_law(logs, self.epsilon)) if known and logs is not None else None)

    def estimate(self, ones: int, zeros: int) -> MeanEstimate:
        """The estimated share of ones among the participants, by Wang 2016, (5.2).

        Raises:
            InvalidInput: there are more reports than people, or no reports.
        """
        self.participants(ones, zeros)
        return mean_estimate(ones, zeros, self.epsilon)

    @renamed(delta="failure_probability")
    def half_width(self, failure_probability: float) -> float:
        """A bound on the error of the estimated share of ones if all people take part, at a given failure probability.

        Args:
            failure_probability: probability of a larger error, in (0, 1).
        """
        return half_width(self.people, self.epsilon, failure_probability)

    @renamed(alpha="error")
    def failure_probability(self, error: float) -> float:
        """The exact probability that the estimated share is off by more than `error` if all people take part, in the
        worst case over all bits.

        Args:
            error: allowed error of the estimated share, > 0.
        """
        return failure_probability(self.people, self.epsilon, error)

    def interim_matrix(self, others: Others | None = None, prior: PairPrior | None = None) -> NDArray[np.float64]:
        """The (3, 2) interim matrix a[x, s] = P(S = s) E[R | X = x, S = s] of one person; by default all others play
        the equilibrium.

        Args:
            others: strategies of the N - 1 other people: one common strategy, a strategy for each, or (number,
                strategy) pairs. Taking part must not depend on a person's bit, and everybody who takes part at all must
                do so with the same probability.
            prior: law of the bits under which expectations are taken; by default the prior that the market is designed
                for.
        """
        return interim_matrix(self, self.peers if others is None else others, prior)

    def given_groups(
        self, groups: list[tuple[int, Strategy]], prior: PairPrior | SignalModel | None,
    ) -> NDArray[np.float64]:
        """The interim matrix of one person when the others are groups (number, strategy);
        `confide.market.interim_matrix` calls this function.
        """
        law = PairPrior.two_state(self.people, prior.signal_accuracy, prior.prior_one) if isinstance(
            prior, SignalModel) else self.prior if prior is None else prior
        if not isinstance(law, PairPrior) or law.people != self.people:
            raise InvalidInput("signal_model", "is not a law of this market's bits",
                               f"must be a PairPrior of {self.people} people")
        here = [(size, strategy) for size, strategy in groups if size and np.any(strategy.participation > 0)]
        if not here:
            return np.zeros((3, 2))
        present = np.array([strategy.participation for _, strategy in here])
        if np.ptp(present) > 1e-12:
            raise InvalidInput("others", "take part with probabilities that depend on the bit or the person",
                               "all people who may take part must do so with the same probability")
        count, presence = sum(size for size, _ in here), min(float(present[0, 0]), 1.0)
        company = 1.0 if presence == 1.0 else -math.expm1(count * math.log1p(-presence))
        peer = sum(size * strategy.channel[:2] for size, strategy in here) / (count * presence)  # (2, 2) P(y | s')
        return np.vstack([self.table @ peer @ law.pairs * company, np.zeros(2)])

    @renamed(delta="failure_probability")
    def guarantees(self, failure_probability: float = 0.05) -> Guarantees:
        """The guarantees of the market, computed from public parameters alone.

        Args:
            failure_probability: probability with which the estimate may be off by more than the stated bound.
        """
        return pair_guarantees(self, failure_probability)


_DOCUMENT = "Wang 2016"


def pair_guarantees(market: PairMarket, failure_probability: float) -> Guarantees:
    """The guarantees of a pair market, in this order: privacy, truthfulness, participation, accuracy and budget."""
    quote, attended = market.quote(), market.people * market.presence
    theorem = Source(document=_DOCUMENT, statement="Theorem 9", spec="data_market 4")
    who = ("each person who knows their own bit and nothing else that explains why bits go together, such as their "
           "group, if all other people play the same strategy and have the prior of the plan")
    return Guarantees((
        Privacy(loss=PureDP(market.epsilon), neighbours=Relation.BIT, audience=Audience.COLLECTOR, part="one report",
                source=Source(document=_DOCUMENT, statement="Definition 5", spec="data_market 1"),
                note="the device of each participant draws the report at this level; the promise holds towards "
                     "everybody, since counts, payments and the estimate are made from the reports; levels of repeated "
                     "reports add up"),
        Truthfulness(gain=0.0, baseline=quote.participation, who=who, source=theorem,
                     note="the promise covers every way to report; a report that ignores the answer earns at least "
                          f"{quote.margin:.6g} less than a truthful report. It does not cover people who know "
                          "their group. There are other equilibria: collusive ones pay too"),
        Participation(utility=quote.participation, who=who, source=theorem,
                      note="in expectation; no payment is negative"),
        Accuracy(bound=market.half_width(failure_probability), baseline=0.5, failure_probability=failure_probability,
                 measure="the distance between the estimate and the share of ones among all people, if all take part,",
                 source=Source(document="confide", statement="Chebyshev's and Hoeffding's inequalities, inverted",
                               spec="data_market 4"),
                 note="over the devices' randomness, for any bits, if all take part and play the equilibrium; with "
                      "fewer participants the estimate is of their own share, with a larger error"),
        Budget(expected=attended * quote.expected_payment, lowest=0.0, highest=quote.largest_payment, source=theorem,
               note="in this equilibrium"),
    ))


# ---- insiders


@dataclass(frozen=True, kw_only=True)
class Insider:
    """The incentives of a person who knows that they and their peer are in one group.

    Args:
        group: name of the group.
        size: number of people in the group.
        ones: number of people in the group whose bit is 1.
        best: best replies of a member of the group while everybody else plays the market's strategy.
        honest: utility of the market's own strategy to a member of the group.
    """

    group: object
    size: int
    ones: int
    best: BestReply
    honest: float

    @property
    def gain(self) -> float:
        """The utility of the best reply, less the utility of the market's own strategy."""
        return self.best.utility - self.honest

    @property
    def truthful(self) -> bool:
        """Whether the best reply still depends on the person's bit."""
        return any(reply.informative for reply in self.best.replies)


def group_counts(groups: ArrayLike, bits: ArrayLike) -> tuple[list[object], list[int], list[int]]:
    """The groups in sorted order, the number of people in each, and the number of ones in each.

    Args:
        groups: (n,) group label of each person.
        bits: (n,) bit of each person, 0 or 1.

    Example:
        >>> group_counts(["b", "a", "a", "b", "a"], [1, 0, 1, 1, 0])
        (['a', 'b'], [3, 2], [1, 2])
    """
    labels, values = np.asarray(groups), np.asarray(bits)
    if labels.ndim != 1 or values.shape != labels.shape:
        raise InvalidInput("bits", f"have shape {values.shape}", f"must be {labels.shape}, one for each label")
    if not np.all((values == 0) | (values == 1)):
        raise InvalidInput("bits", "contain another value", "each must be 0 or 1")
    names, which = np.unique(labels, return_inverse=True)
    sizes, ones = np.bincount(which), np.bincount(which, weights=values.astype(np.float64))
    return names.tolist(), sizes.tolist(), ones.astype(np.int64).tolist()


def audit_groups(market: PairMarket, sizes: ArrayLike, ones: ArrayLike,
                 groups: list[object] | None = None) -> tuple[Insider, ...]:
    """The best reply of a member of each group who knows their group, and that member's gain over the market's
    strategy.

    Args:
        market: market designed for people who do not know their group.
        sizes: (g,) number of people in each group, at least 2.
        ones: (g,) number of people in each group whose bit is 1.
        groups: names of the groups; default 1, 2, ...

    Returns:
        One row for each group. The market works among people who know their group only if every row is `truthful`.

    Source: spec data_market section 6, real data.

    Example:
        >>> from confide.market import LinearCost, PairPrior
        >>> sizes, ones = [99, 348, 993, 2242, 2684], [74, 221, 547, 724, 487]
        >>> market = PairMarket(PairPrior.of_groups(sizes, ones), LinearCost(1.0), 1.0)
        >>> [(row.best.name, round(row.gain, 2)) for row in audit_groups(market, sizes, ones)][2:]
        [('always 1', 12.3), ('always 1', 1.03), ('always 0', 6.17)]
    """
    size, one = as_groups(sizes, ones)
    names = list(range(1, size.size + 1)) if groups is None else list(groups)
    if len(names) != size.size:
        raise InvalidInput("groups", f"are {counted(len(names), 'name')}", f"must be {size.size}")
    peer, found = market.strategy.channel[:2], []
    for name, n, k in zip(names, size, one, strict=True):
        zero = n - k
        pairs = np.array([[zero * (zero - 1.0), zero * k], [zero * k, k * (k - 1.0)]]) / (n * (n - 1.0))
        a = np.vstack([market.company * market.table @ peer @ pairs, np.zeros(2)])
        found.append(Insider(group=name, size=int(n), ones=int(k), best=best_response(a, market.cost),
                             honest=utility(a, market.strategy, market.cost)))
    return tuple(found)
