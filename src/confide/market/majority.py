"""Wang's mechanism for known costs: a report is paid if it equals the majority of the others' reports.

In one run all reports of 1 are paid the same amount, and all reports of 0 are paid the same amount. The two amounts
follow from the number n of people who really take part and the number n1 of ones. A tie of the others' reports counts
as 0, and a participant who is alone is paid nothing.

The module also has the law of the total payment of a majority market in one run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, whole
from confide.contract.errors import InvalidInput
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
from confide.market.binomials import (
    UNDERFLOW,
    MajorityErrors,
    StateEstimate,
    binomial_weights,
    error_probability,
    errors_at,
    log_errors,
    majority_errors,
    majority_threshold,
    posterior_one,
    table_of_errors,
)
from confide.market.costs import Cost, PlainNumbers
from confide.market.matching import (
    KnownLevel,
    MatchingPayment,
    Paid,
    PeerStatistic,
    Quote,
    check_payable,
    price_floor,
    quote_of,
)
from confide.market.signal_model import LARGEST_LEVEL, Reporting, SignalModel
from confide.privacy.losses import PureDP

__all__ = ["MajorityMarket", "TotalPayment", "excess", "known_cost_guarantees", "majority_statistic", "proof_function"]

# ---- totals


def _above(n: int, p: float, k: int) -> float:
    """Upper tail P(Bin(n, p) >= k)."""
    if k <= 0:
        return 1.0
    return 0.0 if k > n else float(scipy.special.betainc(k, n - k + 1, p))


def _below(n: int, p: float, k: int) -> float:
    """Lower tail P(Bin(n, p) < k)."""
    if k <= 0:
        return 0.0
    return 1.0 if k > n else float(scipy.special.betaincc(k, n - k + 1, p))


@dataclass(frozen=True)
class TotalPayment:
    """The law of the total payment T(n1) of a majority market with n participants, of whom n1 report 1.

    With t = floor((n-1)/2) + 1, the total payment T(n1) is

        T(n1) = for_one n1          if n1 - 1 >= t,
                for_zero (n - n1)   if n1 < t,
                0                   if n1 = t.

    Each property of this class is computed in time O(log n).

    Args:
        people: number n of people who take part.
        signal_model: law of the state.
        reporting: law of one report given the state.
        for_one: payment of a matching 1.
        for_zero: payment of a matching 0.

    Source: spec data_market section 2.2.

    Example:
        >>> from confide.market import LinearCost, MajorityMarket
        >>> total = MajorityMarket(50, 0.8, 0.7, LinearCost(1.0), 1.0).total_payment()
        >>> [round(each, 3) for each in (total.mean, total.sd, total.quantile(0.95), total.largest)]
        [284.892, 126.759, 511.747, 731.067]
    """

    people: int
    signal_model: SignalModel
    reporting: Reporting
    for_one: float
    for_zero: float

    @property
    def threshold(self) -> int:
        """The threshold t = floor((n-1)/2) + 1: the number of ones that is a majority of the n - 1 others."""
        return int(majority_threshold(self.people - 1))

    @property
    def _states(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """For each state, its prior probability and the probability that a report is 1 in that state."""
        agree, miss = float(self.reporting.agree), float(self.reporting.miss)
        return (self.signal_model.prior_one, agree), (self.signal_model.prior_zero, miss)

    @cached_property
    def _moments(self) -> tuple[float, float, float]:
        """The larger of the two payments, and the moments E[T] and E[T^2] in units of that payment, so that squares do
        not overflow.
        """
        unit = max(self.for_one, self.for_zero)
        for_one, for_zero = self.for_one / unit, self.for_zero / unit
        n, t, first, second = self.people, self.threshold, 0.0, 0.0
        for prior, p in self._states:
            # E[k 1{k > t}] = n p P(Bin(n-1, p) >= t), and E[k (k-1) 1{k > t}] likewise two steps down.
            ones = n * p * _above(n - 1, p, t)
            more = n * (n - 1) * p * p * _above(n - 2, p, t - 1)
            zeros = n * (1 - p) * _below(n - 1, p, t)
            fewer = n * (n - 1) * (1 - p) ** 2 * _below(n - 2, p, t)
            first += prior * (for_one * ones + for_zero * zeros)
            second += prior * (for_one**2 * (more + ones) + for_zero**2 * (fewer + zeros))
        return unit, first, second

    @property
    def mean(self) -> float:
        """The expected total payment E[T]."""
        unit, first, _ = self._moments
        return unit * first

    @property
    def sd(self) -> float:
        """The standard deviation of the total payment."""
        unit, first, second = self._moments
        return unit * math.sqrt(max(second - first**2, 0.0))

    @property
    def largest(self) -> float:
        """The largest possible total, which is paid when everybody gives the same report."""
        return self.people * max(self.for_one, self.for_zero)

    def cdf(self, amount: float) -> float:
        """The probability P(T <= amount) that the total payment is at most an amount."""
        if amount < 0:
            return 0.0
        n, t = self.people, self.threshold
        top = math.floor(min(n, amount / self.for_one))  # largest n1 > t that pays so little
        zeros = math.floor(min(n, amount / self.for_zero))
        while top < n and self.for_one * (top + 1) <= amount:  # floor of a rounded quotient
            top += 1
        while zeros < n and self.for_zero * (zeros + 1) <= amount:
            zeros += 1
        return self._within(min(n - zeros, t), max(top, t))

    def _within(self, low: int, high: int) -> float:
        """The probability P(low <= n1 <= high) of the number n1 of ones."""
        n = self.people
        return sum(prior * (1.0 - _below(n, p, low) - _above(n, p, high + 1)) for prior, p in self._states)

    def quantile(self, probability: float) -> float:
        """The quantile of the total payment T: the least amount t with P(T <= t) >= `probability`. The probability is
        in (0, 1).
        """
        wanted = fraction("probability", probability)
        if self.cdf(0.0) >= wanted:
            return 0.0
        t, n = self.threshold, self.people
        found = []
        # Totals rise with the number of equal reports, on either side of t: the least that suffices on each.
        for each, least, most in ((self.for_one, t + 1, n), (self.for_zero, n - t + 1, n)):
            low, high = least, most + 1
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if self.cdf(each * middle) >= wanted else (middle + 1, high)
            if low <= most:
                found.append(each * low)
        return float(np.min(found))


# ---- majority


def majority_statistic(signal_model: SignalModel, errors: MajorityErrors) -> PeerStatistic:
    """P(M = 1), P(M = 0) and Cov(M, S) of a majority M with given error probabilities and a bit S, as numbers or
    arrays.
    """
    p1, p0 = signal_model.prior_one, signal_model.prior_zero
    return PeerStatistic(one=p1 * (1.0 - errors.low) + p0 * errors.high,
                         zero=p1 * errors.low + p0 * (1.0 - errors.high),
                         covariance=signal_model.edge * errors.kappa * p1 * p0)


def excess(signal_model: SignalModel, errors: MajorityErrors) -> Any:
    """The excess (E[R] - V_LB)/c(epsilon) of the expected payment E[R] over the lower bound V_LB, in payment units
    c(epsilon); numbers or arrays.

    The excess is computed as a sum of positive terms, each of which rises with both error probabilities of the
    majority.
    """
    p1, p0 = signal_model.prior_one, signal_model.prior_zero
    wrong = errors.low * p1**2 + errors.high * p0**2 + errors.low * errors.high / errors.kappa
    return wrong / (p1 * p0 * signal_model.edge)


def proof_function(signal_model: SignalModel, beta: Any, gamma: float) -> Any:
    """The function h(beta) in the proof of Theorem 4 of Wang 2016, for numbers or arrays.

    The function h(beta) gives the expected payment E[R] of the majority market, where c is the payment unit and theta
    the signal accuracy:

        E[R] = V_LB + c (h(beta) - 2 theta/(2 theta - 1))
    """
    theta, odds = signal_model.signal_accuracy, signal_model.prior_one / signal_model.prior_zero
    top = (2 * beta**2 + (4 * theta - 2 - 2 * gamma) * beta + 2 * (1 - theta) * gamma + beta * (1 - beta) * odds
           + (gamma - beta) * (1 - gamma + beta) / odds)
    return top / ((2 * beta - gamma) * signal_model.edge)


@wire("MajorityMarket", "people signal_accuracy prior_one cost epsilon presence")
@renamed(nature="signal_model")
@dataclass(frozen=True)
class MajorityMarket(PlainNumbers, KnownLevel):
    """A market that buys one randomised bit from each person. The expected payment exceeds the cost of the privacy
    level epsilon for everybody.

    The epsilon-strategy is randomised response at level epsilon. The profile in which everybody plays the
    epsilon-strategy is a strict Nash equilibrium. In this equilibrium the epsilon-strategy earns `quote().margin` more
    than every report that ignores the bit. Other equilibria exist: `symmetric_equilibria` also lists the collusive
    equilibria.

    Raises:
        InvalidInput: a parameter is out of range, or payments overflow at the level epsilon. The message names the
            parameter.

    Source: Wang 2016, section 3.3.2 and Theorem 4; spec data_market section 2.2.

    Example:
        >>> from confide.market import LinearCost
        >>> market = MajorityMarket(people=10, signal_accuracy=0.8, prior_one=0.7, cost=LinearCost(1.0), epsilon=1.0)
        >>> round(market.quote().expected_payment, 6), round(market.quote().lower_bound, 6)
        (8.854102, 5.413669)
        >>> [round(each, 2) for each in market.liability()], market.pay(ones=7, zeros=3).zero
        ([12.32, 20.39], 0.0)
    """

    people: Annotated[int, Parameter("people who are invited", symbol="N", at_least=2)]
    signal_accuracy: Annotated[float, Parameter("probability that a bit equals the state", symbol="theta", above=0.5,
                                                below=1)]
    prior_one: Annotated[float, Parameter("probability that the state is 1", symbol="P1", above=0, below=1)]
    cost: Annotated[Cost, Parameter("everybody's cost of a privacy level", symbol="g")]
    epsilon: Annotated[float, Parameter("privacy level that the market buys from each person", unit="nats", above=0,
                                        at_most=LARGEST_LEVEL)]
    presence: Annotated[float, Parameter("probability with which each of the others takes part, independently of their "
                                         "bit; below 1 the payments rise by 1/(1 - (1-p)^(N-1)), so that the best "
                                         "reply is epsilon exactly", symbol="p", above=0, at_most=1)] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        odds = self.signal_model.prior_one * self.signal_model.prior_zero * self.signal_model.edge**2 * self.company
        check_payable(self.epsilon, [self.cost], lambda level: odds * math.tanh(level / 2.0))

    @classmethod
    def for_budget(cls, *, epsilon: float, delta: float = 0.0, people: int, signal_accuracy: float, prior_one: float,
                   cost: Cost, presence: float = 1.0) -> MajorityMarket:
        """The market that spends the whole privacy budget epsilon on one report of each person.

        Args:
            epsilon: level of each report, in (0, 700] nats.
            delta: failure probability in [0, 1); not used, because each report is randomised alone and satisfies pure
                differential privacy.
            people: number N >= 2 of invited people.
            signal_accuracy: probability theta that a bit equals the state, in (0.5, 1).
            prior_one: prior probability that the state is 1, in (0, 1).
            cost: everybody's cost of a privacy level.
            presence: probability with which each of the others takes part, in (0, 1].

        Raises:
            InvalidInput: a number is out of range.
        """
        fraction("delta", delta, zero=True)
        return cls(people, signal_accuracy, prior_one, cost, epsilon, presence)

    @property
    def signal_model(self) -> SignalModel:  # a property, as in `CountMarket`: to pyright a cached one is none
        """The law of the state and of one bit that the payments are designed for."""
        return self._signal_model

    @cached_property
    def _signal_model(self) -> SignalModel:
        return SignalModel(self.prior_one, self.signal_accuracy)

    @cached_property
    def reporting(self) -> Reporting:
        """The law of one report by the epsilon-strategy, given the state."""
        return Reporting.of(self.signal_accuracy, self.epsilon)

    def payment_range(self) -> tuple[float, float]:
        """The smallest and the largest possible single payment, over all numbers of participants."""
        return 0.0, self.worst_payment()[0]

    def payment_at(self, present: int | None = None) -> MatchingPayment:
        """The payments when `present` people take part, at least 2; by default all people."""
        n = self.people if present is None else self._present(present)
        errors = majority_errors(n - 1, self.reporting)
        m = majority_statistic(self.signal_model, MajorityErrors(*map(float, (errors.low, errors.high, errors.kappa))))
        # A larger table is that of a smaller covariance.
        return MatchingPayment(self.cost, self.epsilon, PeerStatistic(m.one, m.zero, m.covariance * self.company),
                               self.signal_model.signal_one)

    def _present(self, present: int) -> int:
        n = whole("present", present, at_least=2)
        if n > self.people:
            raise InvalidInput("present", f"{n} is more than the number of invited people",
                               f"must be at most {self.people}")
        return n

    @property
    def gap(self) -> float:
        """The gap E[R] - V_LB > 0 between one participant's expected payment and its lower bound, to full relative
        accuracy.
        """
        unit = self.payment_at().unit
        if self.presence == 1:
            return unit * float(excess(self.signal_model, majority_errors(self.people - 1, self.reporting)))
        others, weights = binomial_weights(self.people - 1, self.presence)
        others, weights = others[others > 0], weights[others > 0]
        each = excess(self.signal_model, majority_errors(others, self.reporting))
        return unit * float(weights @ each) / self.company

    @property
    def log_gap(self) -> float:
        """The logarithm ln(E[R] - V_LB) of the gap when all people take part, also where the gap itself underflows."""
        m = self.people - 1
        if m * float(self.reporting.chernoff) <= UNDERFLOW:
            gap = self.payment_at().unit * float(excess(self.signal_model, majority_errors(m, self.reporting)))
            return math.log(gap)
        low, high = log_errors(m, self.reporting)  # kappa is 1, and P(M = 1) the prior, to all digits
        odds = math.log(self.signal_model.prior_one / self.signal_model.prior_zero)
        unit = math.log(self.payment_at().unit / self.signal_model.edge)
        return unit + float(np.logaddexp(low + odds, high - odds))

    @property
    def proof_bound(self) -> float | None:
        """The upper bound on the expected payment E[R] from the proof of Theorem 4 of Wang 2016, for the market's
        number N of people. The result is None where the premise 2 e^(-(N-1) D) < gamma of that proof fails. D is the
        Chernoff information of one report, and gamma is 1 - b1 + b0, with the error probabilities of the others'
        majority.

        Source: Wang 2016, proof of Theorem 4; the thesis does not state the premise (erratum E5).
        """
        m, signal_model = self.people - 1, self.signal_model
        errors = majority_errors(m, self.reporting)
        rate, gamma = math.exp(-m * float(self.reporting.chernoff)), 1.0 - float(errors.low) + float(errors.high)
        if not 2.0 * rate < gamma:
            return None
        bound = proof_function(signal_model, gamma - rate, gamma)
        bound -= 2.0 * signal_model.signal_accuracy / signal_model.edge
        return float(price_floor(self.cost, self.epsilon, signal_model.edge) + self.payment_at().unit * bound)

    def quote(self, present: int | None = None) -> Quote:
        """The offer to one person: payments, expected payment and margin.

        Args:
            present: number of participants n >= 2 whose payments are quoted, with the expected payment given n. By
                default the payments are quoted for full attendance, and the expected payment is an average over the
                random number of participants.

        Raises:
            InvalidInput: `present` is not in 2..people.
        """
        floor = price_floor(self.cost, self.epsilon, self.signal_model.edge)
        payment = self.payment_at(present)
        if present is None:
            found = quote_of(payment, floor, gap=self.gap)
            return found if self.presence == 1 else Quote(**{**vars(found), "participation": self._utility})
        if self.presence < 1:  # given n the table is 1/P(company) times the right one
            expected = payment.unit / self.company * math.tanh(self.epsilon / 2.0) + payment.outside
            return quote_of(payment, floor, gap=expected - floor, expected=expected)
        return quote_of(payment, floor, gap=payment.unit * float(
            excess(self.signal_model, majority_errors(self._present(present) - 1, self.reporting))))

    @property
    def _utility(self) -> float:
        floor = price_floor(self.cost, self.epsilon, self.signal_model.edge)
        return (floor + self.gap) - float(self.cost(self.epsilon))

    def tariff(self, least: int = 2, largest: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The payments of a matching 1 and of a matching 0, for every number of participants in least..largest.

        Args:
            least: least number of participants, at least 1; one participant alone is paid nothing.
            largest: largest number of participants; default all people.
        """
        return _tariff(self, whole("least", least, at_least=1), self.people if largest is None else int(largest))

    def peer_payments(self, ones: ArrayLike, zeros: ArrayLike) -> NDArray[np.float64]:
        """The payments for the reports 0, 1 and no report of one person, shape (3, ...), if `ones` of the other people
        report 1 and `zeros` report 0.
        """
        heads, others = np.asarray(ones), np.asarray(ones) + np.asarray(zeros)
        least = int(others.min())
        for_one, for_zero = (each[others - least] for each in self.tariff(least + 1, int(others.max()) + 1))
        majority = heads >= majority_threshold(others)
        return np.array([np.where(majority, 0.0, for_zero), np.where(majority, for_one, 0.0), np.zeros(others.shape)])

    def pay(self, ones: int, zeros: int) -> Paid:
        """The payment of each report, from the two public counts.

        Args:
            ones: number of reports 1.
            zeros: number of reports 0; all other people took no part.

        Raises:
            InvalidInput: there are more reports than people.
        """
        heads, tails, n = int(ones), int(zeros), self.participants(ones, zeros)
        if n < 2:
            return Paid(0.0, 0.0, 0.0)
        payment, t = self.payment_at(n), int(majority_threshold(n - 1))
        one = payment.for_one if heads - 1 >= t else 0.0
        zero = payment.for_zero if heads < t else 0.0
        return Paid(one, zero, one * heads + zero * tails)

    def liability(self) -> tuple[float, float]:
        """The largest single payments when all people take part: for a report of 1, and for a report of 0."""
        payment = self.payment_at()
        return payment.for_one, payment.for_zero

    def worst_payment(self) -> tuple[float, int]:
        """The largest single payment over all numbers of participants, and the number of participants at which it is
        paid.

        With m others, the payment of a matching 1 is proportional to P0 + b1/kappa, and the payment of a matching 0 is
        proportional to P1 + b0/kappa. P0 and P1 are the prior probabilities of the states, and b1, b0 and kappa
        describe the majority of m reports. The ratios b1/kappa and b0/kappa fall from m to m + 2. From an odd m to m +
        1, where a tie counts as 0, b1 grows and b0 falls while kappa stays the same. The payment of a matching 1 is
        therefore largest among 3 participants, and the payment of a matching 0 is largest among 2 participants.
        """
        each = np.maximum(*self.tariff(2, min(self.people, 3)))
        best = int(np.argmax(each))
        return float(each[best]), best + 2

    def total_payment(self, present: int | None = None) -> TotalPayment:
        """The law of the total payment in equilibrium when `present` people take part; by default all people."""
        n = self.people if present is None else self._present(present)
        payment = self.payment_at(n)
        return TotalPayment(n, self.signal_model, self.reporting, payment.for_one, payment.for_zero)

    def error_probability(self) -> float:
        """The exact probability that the best guess of the state from all reports is wrong, averaged over the random
        number of participants.
        """
        if self.presence == 1:
            return error_probability(self.people, self.signal_model, self.reporting)
        n, weights = binomial_weights(self.people, self.presence)
        nobody = min(self.signal_model.prior_one, self.signal_model.prior_zero)
        return float(weights @ np.where(n > 0, errors_at(np.maximum(n, 1), self.signal_model, self.reporting), nobody))

    def estimate(self, ones: int, zeros: int) -> StateEstimate:
        """The best guess of the state from the two public counts; the prior's guess where nobody reports.

        Args:
            ones: number of reports 1.
            zeros: number of reports 0; all other people took no part.

        Raises:
            InvalidInput: there are more reports than people.
        """
        n = self.participants(ones, zeros)
        one, zero = (posterior_one(ones, zeros, self.signal_model, self.reporting, state=state) for state in (1, 0))
        return StateEstimate(state=int(one > 0.5), wrong=min(one, zero), people=n)

    @renamed(nature="signal_model")
    def interim_matrix(self, others: Any = None, signal_model: SignalModel | None = None) -> NDArray[np.float64]:
        """The (3, 2) interim matrix a[x, s], see `confide.market.interim_matrix`; by default all others play the
        equilibrium.
        """
        from confide.market.equilibrium import interim_matrix

        return interim_matrix(self, self.peers if others is None else others, signal_model)

    def guarantees(self) -> Guarantees:
        """The guarantees of the market, computed from public parameters alone."""
        return known_cost_guarantees(self)


_DOCUMENT = "Wang 2016"


def known_cost_guarantees(market: MajorityMarket) -> Guarantees:
    """The guarantees of a majority market, in this order: privacy, truthfulness, participation, accuracy, budget."""
    quote, signal_model = market.quote(), market.signal_model
    theorem = Source(document=_DOCUMENT, statement="Theorem 4", spec="data_market 2.2",
                     erratum="needs at least two people; the equilibrium is strict with a margin that is stated")
    others = "each person, if all other people play the same strategy and everybody has the prior of the plan"
    attended = market.people * market.presence
    return Guarantees((
        Privacy(loss=PureDP(market.epsilon), neighbours=Relation.BIT, audience=Audience.COLLECTOR, part="one report",
                source=Source(document=_DOCUMENT, statement="Definition 5", spec="data_market 1"),
                note="the device of each participant draws the report at this level; the promise holds towards "
                     "everybody, since counts, payments and decisions are made from the reports; levels of repeated "
                     "reports add up"),
        Truthfulness(gain=0.0, baseline=quote.participation, who=others, source=theorem,
                     note="the promise covers every way to report; a report that ignores the answer earns at least "
                          f"{quote.margin:.6g} less than a truthful report. There are other equilibria, such as the "
                          "same report from everybody, which usually pays more"),
        Participation(utility=quote.participation, who=others, source=theorem, note="in expectation; no payment is "
                      "negative"),
        Accuracy(bound=market.error_probability(), baseline=min(signal_model.prior_one, signal_model.prior_zero),
                 source=Source(
            document="confide", statement="maximum a posteriori rule", spec="data_market 2.5"),
            measure="the probability that the guess of the state is wrong, computed before anybody reports",
            note="exact, if everybody plays the equilibrium and takes part as expected"),
        Budget(expected=attended * quote.expected_payment, lowest=0.0, highest=market.worst_payment()[0],
               source=theorem, note="in this equilibrium; the largest payment is the largest for any number of people"),
    ))


@lru_cache(maxsize=32)  # a plan weighs hundreds of replies against the same tariff
def _tariff(market: MajorityMarket, least: int, largest: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The cached result of `MajorityMarket.tariff`, whose arrays must not be written to."""
    first = max(least, 2)
    alone = np.zeros(first - least)
    if largest < first:
        return alone, alone
    errors = table_of_errors(largest - 1, market.reporting, first - 1)
    m, unit = majority_statistic(market.signal_model, errors), market.payment_at().unit
    each = unit / (m.covariance * market.company)
    found = np.append(alone, each * m.zero), np.append(alone, each * m.one)
    for part in found:
        part.flags.writeable = False
    return found
