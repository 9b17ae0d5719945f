"""Wang's mechanism for general priors: a report is paid if it agrees with another person's, or disagrees where D < 0.

Averaged over all peers it is fixed by the two public counts; with one peer each it has the same incentives, more
variance, and needs that peer's report to be checked.

The best replies of people who know their own group: the condition under which a pair market works, checked on a table.

Bits go together because people belong to groups. A person who knows their own group sees the peers' bits as independent
of their own (without replacement: a little opposed), is paid nothing for their bit, and does best with the report that
is paid more in their group. The result is computed from the table's bits: it is for the operator, never a release.
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
    """Buys one randomised bit from each person, to estimate the share of ones, when bits go together for any reason.

    All epsilon-strategies are a strict Nash equilibrium among people who know their own bit and nothing else about the
    others, with `quote().margin` over every report that ignores the bit. It is not the only one: `symmetric_equilibria`
    lists the collusive ones. People who know their own group have another best reply: `audit_groups`.

    Raises:
        InvalidInput: a parameter is out of range, or payments leave the doubles at this level; the message names the
            parameter.

    Source: Wang 2016, section 5.3 and Theorem 9; the average is ours; spec data_market section 4.

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
    epsilon: Annotated[float, Parameter("level that is bought from each", unit="nats", above=0,
                                        at_most=LARGEST_LEVEL)]
    average: Annotated[bool, Parameter("whether pay is by the mean over all other participants, or by one of them "
                                       "each")] = True
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
        """The market that buys a report of the whole budget from each person, and pays by the mean over the others.

        Args:
            epsilon: level of each report, in (0, 700] nats.
            delta: in [0, 1); not used, because a report is randomised alone and needs none.
            prior: common belief about the bits of all N people.
            cost: everybody's cost of a privacy level.
            presence: probability with which each of the others takes part, in (0, 1].

        Raises:
            InvalidInput: a number out of range.
        """
        fraction("delta", delta, zero=True)
        return cls(prior, cost, epsilon, presence=presence)

    @property
    def people(self) -> int:
        """N, invited."""
        return self.prior.people

    def payment_range(self) -> tuple[float, float]:
        """Between what any single payment lies, whoever takes part."""
        return 0.0, max(self.liability())

    @property
    def agreement(self) -> bool:
        """Whether agreement with a peer is paid (D > 0), or disagreement (D < 0)."""
        return self.prior.covariance > 0

    @cached_property
    def payment(self) -> MatchingPayment:
        """The payment of section 0 for those who have a peer: M is the peer's report, or the opposite where D < 0."""
        p, level = self.prior, self.epsilon
        keep, flip = float(scipy.special.expit(level)), float(scipy.special.expit(-level))
        ones, zeros = keep * p.signal_one + flip * p.signal_zero, keep * p.signal_zero + flip * p.signal_one
        one, zero = (ones, zeros) if self.agreement else (zeros, ones)
        covariance = abs(p.covariance) * math.tanh(level / 2.0) * self.company
        return MatchingPayment(self.cost, level, PeerStatistic(one, zero, covariance), p.signal_one)

    @property
    def table(self) -> NDArray[np.float64]:
        """The (2, 2) payments of report x (row) when the peer reports y (column): c A[x, y]."""
        return self.payment.table if self.agreement else self.payment.table[:, ::-1]

    def quote(self) -> Quote:
        """The offer to a person; `payments` are by their report (row) and their peer's (column).

        The lower bound is Proposition 1's, which depends on no prior; `least_pair_payment` gives the exact one.
        """
        floor = float(pair_floor(self.cost, self.epsilon))
        gap = self.payment.unit * float(pair_excess(self.prior, self.epsilon))
        return replace(quote_of(self.payment, floor, gap=gap), payments=self.table,
                       participation=floor + gap - float(self.cost(self.epsilon)))

    def liability(self) -> tuple[float, float]:
        """The largest single payments, for a 1 and for a 0, whoever takes part."""
        return self.payment.for_one, self.payment.for_zero

    def peer_payments(self, ones: ArrayLike, zeros: ArrayLike) -> NDArray[np.float64]:
        """The mean payments of the reports 0, 1, none over peers of whom so many report 1 and 0, shape (3, ...)."""
        paid = averaged_payments(*self.liability(), self.agreement, ones, zeros)
        return np.concatenate([paid, np.zeros((1, *paid.shape[1:]))])

    def pay(self, ones: int, zeros: int) -> Paid:
        """Everybody's payment from the two public counts.

        Args:
            ones: number of reports 1.
            zeros: number of reports 0; everybody else took no part.

        Raises:
            InvalidInput: more reports than people.
            Refused: with one peer each the counts do not say who is paid.
        """
        if not self.average:
            raise Refused("counts do not give payments by one peer each", "use pay_reports, or average=True")
        n = self.participants(ones, zeros)
        one = float(self.peer_payments(ones - 1, zeros)[1]) if ones and n > 1 else 0.0
        zero = float(self.peer_payments(ones, zeros - 1)[0]) if zeros and n > 1 else 0.0
        return Paid(one, zero, one * ones + zero * zeros)

    def pay_reports(self, reports: ArrayLike, rotation: int = 1) -> NDArray[np.float64]:
        """The (N,) payments of N reports; 2 stands for taking no part, which is paid nothing.

        Args:
            reports: (N,) reports 0, 1 and 2, in an order that is fixed before anybody reports.
            rotation: without `average`, distance to the peer in that order, counted in participants, from 1 on; to be
                chosen without a look at the reports.

        Raises:
            InvalidInput: not N reports, or one that is not 0, 1 or 2 (the message does not say which one).
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
        """The law of the sum of all payments in equilibrium, when all take part: mean and largest value for every
        prior; quantiles with a law of the number of ones, up to 2000 people, and `average`.
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
        """The share of ones among those who took part, by (5.2).

        Raises:
            InvalidInput: more reports than people, or none.
        """
        self.participants(ones, zeros)
        return mean_estimate(ones, zeros, self.epsilon)

    @renamed(delta="failure_probability")
    def half_width(self, failure_probability: float) -> float:
        """The largest error of the estimated share of ones, if all take part, except with the failure probability.

        Args:
            failure_probability: probability of a larger error, in (0, 1).
        """
        return half_width(self.people, self.epsilon, failure_probability)

    @renamed(alpha="error")
    def failure_probability(self, error: float) -> float:
        """The probability that it is further off than that if all take part; exact, the worst over all bits.

        Args:
            error: > 0.
        """
        return failure_probability(self.people, self.epsilon, error)

    def interim_matrix(self, others: Others | None = None, prior: PairPrior | None = None) -> NDArray[np.float64]:
        """The (3, 2) interim matrix a[x, s] = P(S = s) E[R | X = x, S = s] of one person; by default in equilibrium.

        Args:
            others: strategies of the N - 1 others: one common strategy, a strategy each, or (number, strategy) pairs.
                Taking part must not depend on a person's bit; all who take part sometimes do so equally often.
            prior: the belief that holds; default the one that the market is designed for.
        """
        return interim_matrix(self, self.peers if others is None else others, prior)

    def given_groups(
        self, groups: list[tuple[int, Strategy]], prior: PairPrior | SignalModel | None,
    ) -> NDArray[np.float64]:
        """The interim matrix for groups (number, strategy), as `confide.market.interim_matrix` asks for it."""
        law = PairPrior.two_state(self.people, prior.signal_accuracy, prior.prior_one) if isinstance(
            prior, SignalModel) else self.prior if prior is None else prior
        if not isinstance(law, PairPrior) or law.people != self.people:
            raise InvalidInput("signal_model", "is not a law of this market's bits",
                               f"a PairPrior of {self.people} people")
        here = [(size, strategy) for size, strategy in groups if size and np.any(strategy.participation > 0)]
        if not here:
            return np.zeros((3, 2))
        present = np.array([strategy.participation for _, strategy in here])
        if np.ptp(present) > 1e-12:
            raise InvalidInput("others", "take part depending on their bits, or some more often than others",
                               "all who take part at all must do so with one probability")
        count, presence = sum(size for size, _ in here), min(float(present[0, 0]), 1.0)
        company = 1.0 if presence == 1.0 else -math.expm1(count * math.log1p(-presence))
        peer = sum(size * strategy.channel[:2] for size, strategy in here) / (count * presence)  # (2, 2) P(y | s')
        return np.vstack([self.table @ peer @ law.pairs * company, np.zeros(2)])

    @renamed(delta="failure_probability")
    def guarantees(self, failure_probability: float = 0.05) -> Guarantees:
        """The guarantees, from public parameters alone.

        Args:
            failure_probability: probability with which the estimate may be further off than the stated bound.
        """
        return pair_guarantees(self, failure_probability)


_DOCUMENT = "Wang 2016"


def pair_guarantees(market: PairMarket, failure_probability: float) -> Guarantees:
    """Privacy, truth, participation, accuracy and budget of a pair market, in reading order."""
    quote, attended = market.quote(), market.people * market.presence
    theorem = Source(document=_DOCUMENT, statement="Theorem 9", spec="data_market 4")
    who = ("each person who knows their own bit and nothing else that explains why bits go together, such as their "
           "group, if all others play the same strategy and have the prior of the plan")
    return Guarantees((
        Privacy(loss=PureDP(market.epsilon), neighbours=Relation.BIT, audience=Audience.COLLECTOR, part="one report",
                source=Source(document=_DOCUMENT, statement="Definition 5", spec="data_market 1"),
                note="the level of the randomiser on the participant's device, never of the payments; it holds towards "
                     "everybody, since counts, payments and the estimate are made from the reports; levels of repeated "
                     "reports add up"),
        Truthfulness(gain=0.0, baseline=quote.participation, who=who, source=theorem,
                     note="this covers every way to report; the best report that ignores the bit earns "
                          f"{quote.margin:.6g} less. It does not cover people who know their group. There are other "
                          "equilibria: collusive ones pay too"),
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
    """The situation of a person who knows that they and their peer are of one group.

    Args:
        group: name of the group.
        size: number of people in it.
        ones: number of them whose bit is 1.
        best: best replies of this person while everybody else plays the market's strategy.
        honest: utility of the market's strategy to this person.
    """

    group: object
    size: int
    ones: int
    best: BestReply
    honest: float

    @property
    def gain(self) -> float:
        """The utility of the best reply, less that of the market's strategy."""
        return self.best.utility - self.honest

    @property
    def truthful(self) -> bool:
        """Whether the best reply still depends on the person's bit."""
        return any(reply.informative for reply in self.best.replies)


def group_counts(groups: ArrayLike, bits: ArrayLike) -> tuple[list[object], list[int], list[int]]:
    """Groups in sorted order, how many people each has, and how many ones.

    Args:
        groups: (n,) one label for each person.
        bits: (n,) 0 or 1.

    Example:
        >>> group_counts(["b", "a", "a", "b", "a"], [1, 0, 1, 1, 0])
        (['a', 'b'], [3, 2], [1, 2])
    """
    labels, values = np.asarray(groups), np.asarray(bits)
    if labels.ndim != 1 or values.shape != labels.shape:
        raise InvalidInput("bits", f"have shape {values.shape}", f"must be {labels.shape}, one for each label")
    if not np.all((values == 0) | (values == 1)):
        raise InvalidInput("bits", "contain something else", "each must be 0 or 1")
    names, which = np.unique(labels, return_inverse=True)
    sizes, ones = np.bincount(which), np.bincount(which, weights=values.astype(np.float64))
    return names.tolist(), sizes.tolist(), ones.astype(np.int64).tolist()


def audit_groups(market: PairMarket, sizes: ArrayLike, ones: ArrayLike,
                 groups: list[object] | None = None) -> tuple[Insider, ...]:
    """The best replies of a member of each group who knows their group, and the gain from them.

    Args:
        market: market designed for people who do not know their group.
        sizes: (g,) numbers of people in each group, at least 2.
        ones: (g,) numbers of people whose bit is 1.
        groups: names of the groups; default 1, 2, ...

    Returns:
        One row for each group. The market works among these people only if every row is `truthful`.

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
        raise InvalidInput("groups", f"are {len(names)} names", f"must be {size.size}")
    peer, found = market.strategy.channel[:2], []
    for name, n, k in zip(names, size, one, strict=True):
        zero = n - k
        pairs = np.array([[zero * (zero - 1.0), zero * k], [zero * k, k * (k - 1.0)]]) / (n * (n - 1.0))
        a = np.vstack([market.company * market.table @ peer @ pairs, np.zeros(2)])
        found.append(Insider(group=name, size=int(n), ones=int(k), best=best_response(a, market.cost),
                             honest=utility(a, market.strategy, market.cost)))
    return tuple(found)
