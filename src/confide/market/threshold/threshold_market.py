"""Wang's mechanism for unknown valuations of privacy: payments can be negative, and so keep out people with high costs.

A participant is paid if their report agrees with the majority of the other participants' reports, and owes money if the
report disagrees. In equilibrium people whose cost of a nat of privacy is above a threshold stay out. All other people
choose their own privacy level, which is higher the cheaper privacy is to them. The market's epsilon is the least level
of any participant. So epsilon guarantees the quality of reports, and does not guarantee privacy. Only a ceiling on
levels, which each person's device enforces, guarantees privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, positive, whole
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
from confide.contract.remedies import first_that, printed, tried
from confide.contract.renamed import renamed
from confide.contract.wire import parts_of, wire
from confide.market.binomials import (
    MajorityErrors,
    StateEstimate,
    binomial_weights,
    majority_errors,
    majority_threshold,
    posterior_one,
    table_of_errors,
)
from confide.market.costs import PlainNumbers, sinh_excess
from confide.market.matching import Paid, PaidByCounts
from confide.market.signal_model import LARGEST_LEVEL, Reporting, SignalModel
from confide.market.strategies import Strategy
from confide.market.threshold.cost_laws import CostLaw, as_cost_law, chosen_level, cost_of_level, flip_probability
from confide.market.threshold.signed_payments import (
    SignedTotal,
    Terms,
    attendance_bound,
    attendance_error,
    signed_tables,
    thesis_error,
)
from confide.privacy.losses import PureDP

__all__ = ["SinglePayment", "ThresholdMarket", "ThresholdQuote", "reporting_of", "unknown_cost_guarantees"]

_FEW = 8  # participants, of whom the extreme payments are: see `largest_payment`


class SinglePayment(NamedTuple):
    """An extreme payment to one person.

    Args:
        amount: amount of money; below 0 the person owes the money.
        present: number of participants at which the payment can occur.
    """

    amount: float
    present: int


@wire("ThresholdQuote", "epsilon ceiling threshold participation payments truth stake expected_payment "
      "expected_total total_bound")
@dataclass(frozen=True, kw_only=True, eq=False)
class ThresholdQuote:
    """An offer of a threshold market to one person, with money in the unit of the costs.

    Args:
        epsilon: least level of a participant, which determines the quality of reports and not their privacy.
        ceiling: largest level, which a participant's device enforces; infinite, without any privacy, in a market
            without a ceiling.
        threshold: largest cost c_th of a nat of privacy at which taking part is worth its cost.
        participation: probability p = F(c_th) that a person takes part, where F is the law of the costs.
        payments: (2, 2) payment of report x (row) when the majority of the others is m (column).
        truth: expected payment Q of a participant who reports their bit unchanged.
        stake: expected loss T from reporting the opposite of the bit.
        expected_payment: expected payment of a participant, averaged over the costs of the participants.
        expected_total: expected total of all payments, averaged over the random number of participants.
        total_bound: upper bound N p Q on the expected total (Wang 2016, (4.13)).
    """

    epsilon: float
    ceiling: float
    threshold: float
    participation: float
    payments: NDArray[np.float64]
    truth: float
    stake: float
    expected_payment: float
    expected_total: float
    total_bound: float

    def to_dict(self) -> dict[str, Any]:
        """The quote as a dictionary that can be written as JSON; a missing ceiling becomes the string "Infinity"."""
        ceiling = self.ceiling if math.isfinite(self.ceiling) else "Infinity"
        return {**parts_of(self), "ceiling": ceiling, "payments": self.payments.tolist()}


def reporting_of(signal_model: SignalModel, flip: Any, epsilon: float) -> Reporting:
    """The law of a participant's report given the state. The report differs from their bit with probability `flip`."""
    theta, keep = signal_model.signal_accuracy, 1.0 - np.asarray(flip)
    edge = signal_model.edge * np.maximum(1.0 - 2.0 * np.asarray(flip), math.tanh(epsilon / 2.0))
    return Reporting(edge=edge[()], agree=(theta * keep + (1.0 - theta) * flip)[()],
                     miss=((1.0 - theta) * keep + theta * flip)[()])


@wire("ThresholdMarket", "people signal_accuracy prior_one cost_law epsilon participation threshold ceiling")
@renamed(nature="signal_model")
@dataclass(frozen=True)
class ThresholdMarket(PlainNumbers, PaidByCounts):
    """A market that buys a randomised bit from each person, when only the person knows their cost of a nat of privacy.

    In the Bayesian Nash equilibrium people with a cost C > c_th stay out, and people with C <= c_th report at their own
    level xi(C) >= epsilon. Identical reports by all are another equilibrium; `common_equilibria` lists the known
    equilibria.

    Give either `participation` or `threshold`; the constructor computes the missing one of these two numbers.

    Raises:
        InvalidInput: a parameter is out of range, or the law has an atom or no mass near 0; the message says which.

    Source: Wang 2016, chapter 4 and Theorem 7; ceiling ours; spec data_market section 3.

    Example:
        >>> from confide.market import LogNormalLaw
        >>> market = ThresholdMarket(200, 0.8, 0.7, LogNormalLaw(0.0, 1.0), epsilon=2.0, participation=0.6187127996)
        >>> round(market.threshold, 6), round(market.expected_total, 4), round(market.total_bound, 4)
        (1.352699, 438.7179, 524.8126)
        >>> market.guarantees().privacy[0].vacuous
        True
        >>> market.level_quantile([0.0, 0.5]).round(2).tolist()
        [2.0, 2.95]
    """

    people: Annotated[int, Parameter("number of invited people", symbol="N", at_least=2)]
    signal_accuracy: Annotated[float, Parameter("probability that a bit equals the state", symbol="theta", above=0.5,
                                                below=1)]
    prior_one: Annotated[float, Parameter("probability that the state is 1", symbol="P1", above=0, below=1)]
    cost_law: Annotated[CostLaw, Parameter("law of everybody's cost per nat, continuous and with mass near 0, such as "
                                           "a frozen scipy distribution", symbol="F")]
    epsilon: Annotated[float, Parameter("least level of a participant: a floor of quality, not a promise of privacy",
                                        unit="nats", above=0, at_most=LARGEST_LEVEL)]
    participation: Annotated[float | None, Parameter("share of people who should take part",
                                                     symbol="p", above=0, below=1)] = None
    threshold: Annotated[float | None, Parameter("largest cost per nat of a participant", symbol="c_th",
                                                 above=0)] = None
    ceiling: Annotated[float | None, Parameter("largest level that a participant's device accepts, at least epsilon; "
                                               "without a ceiling there is no promise of privacy",
                                               unit="nats", above=0, at_most=LARGEST_LEVEL)] = None

    def __post_init__(self) -> None:
        law = as_cost_law("cost_law", self.cost_law)
        object.__setattr__(self, "cost_law", law)
        super().__post_init__()
        if self.ceiling is not None:
            if self.ceiling < self.epsilon:
                raise InvalidInput("ceiling", f"{self.ceiling:g} is below epsilon = {self.epsilon:g}, the least level",
                                   f"must be in [{self.epsilon!r}, {LARGEST_LEVEL:g}]")
            object.__setattr__(self, "ceiling", float(self.ceiling))
        share, cost = self._resolved(law)
        object.__setattr__(self, "participation", share)
        object.__setattr__(self, "threshold", cost)

    def _resolved(self, law: CostLaw) -> tuple[float, float]:
        """The participation p and the cost threshold c_th, from the arguments that were given."""
        if self.participation is None and self.threshold is None:
            raise InvalidInput("participation", "is missing", "give `participation` or `threshold`")
        if self.threshold is None:
            share = float(self.participation)  # type: ignore[arg-type]
            cost = float(law.quantile(share))
            if not 0 < cost < math.inf:
                raise InvalidInput("participation", f"{share:g} has the threshold {cost:g}, which is too large for a "
                                                    "64-bit float")
            return share, cost
        cost = float(self.threshold)
        mass = float(law.cdf(cost))
        if not 0 < mass < 1:
            raise InvalidInput("threshold", f"{cost:g} gives a share of participants of {mass:g}",
                               "this share must be between 0 and 1")
        if self.participation is not None:
            share = float(self.participation)
            if abs(mass - share) > 1e-9 * share:
                raise InvalidInput("participation", f"{share:g} is not F(threshold) = {mass:.10g}",
                                   "the two must agree; give only one")
            return share, cost
        return mass, cost

    @classmethod
    def for_budget(cls, *, epsilon: float, delta: float = 0.0, people: int, signal_accuracy: float, prior_one: float,
                   cost_law: CostLaw, participation: float = 0.5) -> ThresholdMarket:
        """The market in which the whole privacy budget is both the least level and the ceiling of every report.

        Args:
            epsilon: level of every report, in (0, 700] nats, which is the guaranteed privacy.
            delta: failure probability in [0, 1); not used, because each report has pure differential privacy.
            people: number N >= 2 of invited people.
            signal_accuracy: probability theta that a bit equals the state, in (0.5, 1).
            prior_one: prior probability that the state is 1, in (0, 1).
            cost_law: law of everybody's cost of a nat of privacy.
            participation: share of people who are to take part, in (0, 1).

        Raises:
            InvalidInput: a number is out of range.
        """
        fraction("delta", delta, zero=True)
        return cls(people, signal_accuracy, prior_one, cost_law, epsilon, participation=participation, ceiling=epsilon)

    @cached_property
    def signal_model(self) -> SignalModel:
        """The law of the state and of one bit that the payments are designed for."""
        return SignalModel(self.prior_one, self.signal_accuracy)

    @property
    def presence(self) -> float:
        """The probability p with which each of the others takes part."""
        return float(self.participation)  # type: ignore[arg-type]

    @property
    def cost_threshold(self) -> float:
        """The largest cost c_th of a nat of privacy at which people take part."""
        return float(self.threshold)  # type: ignore[arg-type]

    @property
    def largest_level(self) -> float:
        """The ceiling on a participant's level; infinite where there is no ceiling."""
        return math.inf if self.ceiling is None else self.ceiling

    @cached_property
    def terms(self) -> Terms:
        """The expected payments: Q for an unchanged bit, and Q - T for its opposite."""
        return Terms(self.cost_threshold, self.epsilon)

    @cached_property
    def flip(self) -> float:
        """The probability 1 - mu that a participant's report differs from their bit."""
        return float(flip_probability(self.cost_law, self.cost_threshold, self.presence, self.epsilon,
                                      self.largest_level))

    @property
    def match(self) -> float:
        """The probability mu that a participant reports their bit unchanged."""
        return 1.0 - self.flip

    @cached_property
    def reporting(self) -> Reporting:
        """The law of one participant's report given the state."""
        return reporting_of(self.signal_model, self.flip, self.epsilon)

    # ---- what each type does

    def takes_part(self, cost: ArrayLike) -> Any:
        """Whether people with these costs of a nat of privacy take part."""
        return np.asarray(cost) <= self.cost_threshold

    def level_of(self, cost: ArrayLike) -> Any:
        """The privacy levels that people with these costs choose; nan for people who stay out."""
        return chosen_level(cost, self.cost_threshold, self.epsilon, self.largest_level)

    def strategy_of(self, cost: float) -> Strategy:
        """The equilibrium strategy of a person with a given cost.

        Args:
            cost: cost of a nat of privacy, > 0. Costs close to 0 give levels above 700, which become 700.
        """
        level = float(self.level_of(positive("cost", cost)))
        return Strategy.always("none") if math.isnan(level) else Strategy.randomised(min(level, LARGEST_LEVEL))

    def channels_of(self, costs: ArrayLike) -> NDArray[np.float64]:
        """The (..., 3, 2) probabilities of the reports 0, 1, none given the bits 0, 1, for an array of costs."""
        level = np.asarray(self.level_of(costs), dtype=np.float64)
        out = np.isnan(level)
        keep, flip = (np.where(out, 0.0, scipy.special.expit(np.where(out, 0.0, side * level))) for side in (1.0, -1.0))
        absent = out.astype(np.float64)
        rows = [[keep, flip], [flip, keep], [absent, absent]]
        table: NDArray[np.float64] = np.moveaxis(np.array(rows), (0, 1), (-2, -1))
        return table

    @property
    def strategy(self) -> Strategy:
        """The average strategy of a participant whose cost is unknown."""
        keep, flip = self.match, self.flip
        return Strategy(np.array([[keep, flip], [flip, keep], [0.0, 0.0]]), name="a participant")

    @property
    def peers(self) -> Strategy:
        """The expected strategy of each of the others, averaged over all costs; people with high costs take no part."""
        return self.strategy.thinned(self.presence)

    # ---- the levels

    def level_quantile(self, probability: ArrayLike) -> Any:
        """Quantiles of the participants' levels. The quantile is epsilon at probability 0. Without a ceiling the
        quantiles rise without bound towards probability 1.
        """
        share = np.asarray(probability, dtype=np.float64)
        if not np.all((share >= 0) & (share <= 1)):
            raise InvalidInput("probability", "is out of range", "must be in [0, 1]")
        cost = np.minimum(self.cost_law.quantile((1.0 - share) * self.presence), self.cost_threshold)
        return np.where(share == 0, self.epsilon, self.level_of(cost))[()]

    def level_cdf(self, level: ArrayLike) -> Any:
        """The probability that a participant's level is at most a given level."""
        x = np.asarray(level, dtype=np.float64)
        cost = cost_of_level(np.maximum(x, self.epsilon), self.cost_threshold, self.epsilon)
        below = 1.0 - self.cost_law.cdf(cost) / self.presence
        return np.where(x < self.epsilon, 0.0, np.where(x >= self.largest_level, 1.0, np.clip(below, 0.0, 1.0)))[()]

    # ---- money

    def payments_at(self, present: int | None = None) -> NDArray[np.float64]:
        """The (2, 2) payments of report x (row) at the others' majority m (column), for `present` people;
        default all.
        """
        n = self.people if present is None else self._present(present)
        return self._signed(majority_errors(n - 1, self.reporting))

    def _present(self, present: int) -> int:
        n = whole("present", present, at_least=2)
        if n > self.people:
            raise InvalidInput("present", f"{n} is more than the number of invited people",
                               f"must be at most {self.people}")
        return n

    def payment_tables(self, least: int = 2, largest: int | None = None) -> NDArray[np.float64]:
        """The (k, 2, 2) payments for every number of participants in least..largest.

        Args:
            least: least number of participants, at least 1; one participant alone is paid nothing.
            largest: largest number of participants; default all people.
        """
        first, most = max(whole("least", least, at_least=1), 2), self.people if largest is None else int(largest)
        alone = np.zeros((first - least, 2, 2))
        if most < first:
            return alone
        errors = table_of_errors(most - 1, self.reporting, first - 1)
        return np.concatenate([alone, self._signed(errors)])

    def _signed(self, errors: MajorityErrors) -> NDArray[np.float64]:
        """The (..., 2, 2) payments at these errors of the others' majority. If the payments overflow, the error names a
        level that can be paid.
        """
        try:
            return signed_tables(self.terms, self.signal_model, errors, self.company)
        except InvalidInput as error:
            def again(epsilon: float) -> None:
                replace(self, epsilon=epsilon).payment_range()

            ways = tried("must be at most {epsilon}", again, up=False,
                         epsilon=lambda: first_that(again, self.epsilon, up=False))
            raise InvalidInput(error.field, error.problem, ways or
                               "must be lower, or the threshold must be lower") from None

    def quote(self, present: int | None = None) -> ThresholdQuote:
        """The offer of the market to one person.

        Args:
            present: number of participants, in 2..people, whose payments are quoted; default all. All other figures in
                the quote are expectations over the random number of participants.

        Raises:
            InvalidInput: `present` is not in 2..people.
        """
        return ThresholdQuote(epsilon=self.epsilon, ceiling=self.largest_level, threshold=self.cost_threshold,
                              participation=self.presence, payments=self.payments_at(present), truth=self.terms.truth,
                              stake=self.terms.stake, expected_payment=self.expected_payment,
                              expected_total=self.expected_total, total_bound=self.total_bound)

    @property
    def expected_payment(self) -> float:
        """The expected payment Q - T (1 - mu) of a participant, where 1 - mu is the flip probability."""
        return float(self.terms.payment(self.flip))

    @property
    def expected_total(self) -> float:
        """The exact expected total payment N p (Q - T (1 - mu)), where N p is the expected number of participants."""
        return self.people * self.presence * self.expected_payment

    @property
    def total_bound(self) -> float:
        """The upper bound N p Q on the expected total payment (Wang 2016, (4.13))."""
        return self.people * self.presence * self.terms.truth

    def payment_of(self, cost: ArrayLike) -> Any:
        """The expected payments to people with these costs; 0 for people who stay out."""
        level = self.level_of(cost)
        return np.where(np.isnan(level), 0.0, self.terms.payment(scipy.special.expit(-level)))[()]

    def utility_of(self, cost: ArrayLike) -> Any:
        """The expected payment less the cost of the level at these costs: >= 0, and 0 from the threshold on."""
        level = self.level_of(cost)
        spent = np.where(np.isnan(level), 0.0, np.asarray(cost) * np.where(np.isnan(level), 0.0, level))
        return (self.payment_of(cost) - spent)[()]

    def peer_payments(self, ones: ArrayLike, zeros: ArrayLike) -> NDArray[np.float64]:
        """The payments for the reports 0, 1 and no report of one person, shape (3, ...), if `ones` other people report
        1 and `zeros` report 0.
        """
        heads, others = np.asarray(ones), np.asarray(ones) + np.asarray(zeros)
        least = int(others.min())
        tables = self.payment_tables(least + 1, int(others.max()) + 1)[others - least]
        majority = (heads >= majority_threshold(others))[..., None]
        paid = np.where(majority, tables[..., 1], tables[..., 0])
        return np.concatenate([np.moveaxis(paid, -1, 0), np.zeros((1, *others.shape))])

    def pay(self, ones: int, zeros: int) -> Paid:
        """The payment of each report, from the two public counts; below 0 the participant owes the money.

        Args:
            ones: number of reports 1.
            zeros: number of reports 0; all other people took no part.

        Raises:
            InvalidInput: there are more reports than people.
        """
        heads, tails, n = int(ones), int(zeros), self.participants(ones, zeros)
        if n < 2:
            return Paid(0.0, 0.0, 0.0)
        table, t = self.payments_at(n), int(majority_threshold(n - 1))
        one, zero = float(table[1, int(heads - 1 >= t)]), float(table[0, int(heads >= t)])
        one, zero = one if heads else 0.0, zero if tails else 0.0
        return Paid(one, zero, one * heads + zero * tails)

    def largest_payment(self) -> SinglePayment:
        """The largest single payment over all numbers of participants.

        Every payment depends on ratios b/kappa, where b is an error probability of the others' majority. For 7 or more
        others kappa is at least 2 rho/(1 + rho), so b/kappa <= 1/kappa - 1 is at most its value for a single other
        person. Therefore the largest single payment occurs in a market with at most 8 participants.
        """
        tables = self.payment_tables(2, min(self.people, _FEW)).reshape(-1, 4).max(axis=1)
        return SinglePayment(float(tables.max()), int(tables.argmax()) + 2)

    def worst_payment(self) -> SinglePayment:
        """The largest debt of a participant over all numbers of participants, as a negative payment."""
        tables = self.payment_tables(2, min(self.people, _FEW)).reshape(-1, 4).min(axis=1)
        return SinglePayment(float(tables.min()), int(tables.argmin()) + 2)

    @property
    def margin(self) -> float:
        """The loss c_th (sinh epsilon - epsilon) from a report that ignores the bit; every participant loses at least
        this amount.
        """
        return self.cost_threshold * float(sinh_excess(self.epsilon))

    def payment_range(self) -> tuple[float, float]:
        """The smallest and the largest possible single payment, over all sets of participants, as `liability` computes
        them.
        """
        return self.liability()

    def liability(self) -> tuple[float, float]:
        """The largest debt of a participant, as a negative payment, and the largest payment to a participant."""
        return self.worst_payment().amount, self.largest_payment().amount

    def negative_probability(self, cost: float | None = None) -> float:
        """The probability that a participant owes money, because their report disagrees with the others' majority.

        Args:
            cost: cost of a nat of privacy to the participant, at most the threshold; by default the average over all
                participants.

        Raises:
            InvalidInput: a person of this cost takes no part.
        """
        reporting = self.reporting if cost is None else reporting_of(
            self.signal_model, scipy.special.expit(-self._level_of_participant(cost)), self.epsilon)
        others, weights = binomial_weights(self.people - 1, self.presence)
        others, weights = others[others > 0], weights[others > 0]
        errors = table_of_errors(int(others[-1]), self.reporting, int(others[0]))
        agree, miss = float(reporting.agree), float(reporting.miss)
        one = agree * errors.low + miss * (1.0 - errors.low)
        zero = agree * errors.high + miss * (1.0 - errors.high)
        return float(weights @ (self.signal_model.prior_one * one + self.signal_model.prior_zero * zero))

    def _level_of_participant(self, cost: float) -> float:
        level = float(self.level_of(positive("cost", cost)))
        if math.isnan(level):
            most = printed(self.cost_threshold, up=False, digits=10)
            raise InvalidInput("cost", f"a person with the cost {cost:g} takes no part", f"must be at most {most}")
        return level

    @renamed(delta="failure_probability")
    def rounds_until_nonnegative(self, failure_probability: float, cost: float | None = None) -> int:
        """The number of rounds after which a person's running total is nonnegative, except with the failure
        probability.

        The bound holds at any single later round, and not at all later rounds together. Each round must ask for a new,
        independent bit, and the person must take part in every round.

        Args:
            failure_probability: probability in (0, 1) that the running total is negative at one later round.
            cost: cost of a nat of privacy to the person, at most the threshold; by default the threshold, which is the
                worst case.

        Source: Hoeffding's inequality; spec data_market section 3 (ours), for the repetition by which Wang 2016,
        section 4.1, justifies negative payments.
        """
        risk = fraction("failure_probability", failure_probability)
        mean = float(self.payment_of(self.cost_threshold if cost is None else cost))
        if cost is not None:
            self._level_of_participant(cost)
        lowest, highest = self.liability()
        ratio = Fraction((highest - lowest) / mean)  # its square can leave the doubles
        return math.ceil(ratio**2 * Fraction(math.log(1.0 / risk) / 2.0))

    def total_payment(self) -> SignedTotal:
        """The law of the total payment of one round, over the random set of participants."""
        n, weights = binomial_weights(self.people, self.presence)
        n, weights = n[n > 1], weights[n > 1]
        tables = self.payment_tables(int(n[0]), int(n[-1]))
        return SignedTotal(n, weights, tables, self.expected_total, self.signal_model, self.reporting)

    # ---- the state

    def error_probability(self) -> float:
        """The exact probability that the majority of the reports, with ties counted as 1, differs from the state."""
        return attendance_error(self.people, self.presence, self.signal_model, self.reporting)

    def estimate(self, ones: int, zeros: int) -> StateEstimate:
        """The guess of the state: the majority of the reports, where a tie counts as 1.

        Args:
            ones: number of reports 1.
            zeros: number of reports 0; all other people took no part.

        Raises:
            InvalidInput: there are more reports than people.
        """
        n = self.participants(ones, zeros)
        state = int(ones >= zeros)
        wrong = posterior_one(ones, zeros, self.signal_model, self.reporting, state=1 - state)
        return StateEstimate(state=state, wrong=wrong, people=n)

    def error_bound(self) -> float:
        """A closed-form upper bound on the error probability of the majority guess, for any number of people."""
        return attendance_bound(self.people, self.presence, self.reporting)

    def thesis_error_bound(self) -> float:
        """The smallest upper bound on the error probability that Theorem 8 of Wang 2016 proves for this market; 1 where
        the theorem gives no bound.
        """
        return thesis_error(self.people * self.presence, self.signal_accuracy, self.epsilon)

    # ---- incentives

    @renamed(nature="signal_model")
    def interim_matrix(self, others: Any = None, signal_model: SignalModel | None = None) -> NDArray[np.float64]:
        """The (3, 2) interim matrix a[x, s] of one person, computed by `interim_of_types`. By default all others play
        the equilibrium.
        """
        from confide.market.threshold.type_equilibrium import interim_of_types

        return interim_of_types(self, others, signal_model)

    def guarantees(self) -> Guarantees:
        """The guarantees of the market, computed from public parameters alone."""
        return unknown_cost_guarantees(self)


_DOCUMENT = "Wang 2016"


def unknown_cost_guarantees(market: ThresholdMarket) -> Guarantees:
    """The guarantees of a threshold market, in this order: privacy, truthfulness, participation, accuracy, budget."""
    signal_model = market.signal_model
    theorem = Source(document=_DOCUMENT, statement="Theorem 7", spec="data_market 3",
                     erratum="not every cost above the threshold has a level as in the proof; the conclusion stands")
    who = (f"each person with a cost of at most {market.cost_threshold:.6g} per nat, if all other people play the "
           "equilibrium and everybody has the prior of the plan")
    lowest, highest = market.liability()
    ours = Source(document="confide", statement="a ceiling on levels, kept by each participant's device",
                  spec="data_market 3")
    printed = Source(document=_DOCUMENT, statement="(4.1)", spec="data_market 3")
    floor = (f"epsilon = {market.epsilon:g}, the least level of a participant, keeps reports accurate, and protects "
             "nobody. Taking part shows that a person's cost is at most the threshold, and their level shows the cost; "
             "levels of repeated reports add up")
    how = "the level of the randomiser on the participant's device" if math.isfinite(market.largest_level) else (
        "levels are unbounded: the lower a person's cost of privacy, the higher their level")
    return Guarantees((
        Privacy(loss=PureDP(market.largest_level), neighbours=Relation.BIT, audience=Audience.COLLECTOR,
                part="one report",
                source=ours if math.isfinite(market.largest_level) else printed, note=f"{how}; {floor}"),
        Truthfulness(gain=0.0, baseline=market.terms.stake, who=who, source=theorem,
                     note="the promise covers every way to report, up to the largest level of the campaign; nobody "
                          "with a higher cost gains by taking part. There are other equilibria, such as the same "
                          "report from everybody"),
        Participation(utility=0.0, who=who, source=theorem, note="on average: a single payment is negative with "
                      f"probability {market.negative_probability():.4g}, and never below -{-lowest:.6g}"),
        Accuracy(bound=market.error_probability(), baseline=min(signal_model.prior_one, signal_model.prior_zero),
                 source=Source(
            document="confide", statement="exact error of the majority rule", spec="data_market 3"),
            measure="the probability that the guess of the state is wrong, computed before anybody reports",
            note="in this equilibrium"),
        Budget(expected=market.expected_total, lowest=lowest, highest=highest, source=Source(
            document="confide", statement="formula of the expected total", spec="data_market 3"),
            note="exact, in this equilibrium; the smallest and largest payments are those for any number of "
                 "participants"),
    ))
