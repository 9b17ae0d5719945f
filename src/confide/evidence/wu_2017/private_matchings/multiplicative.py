"""An auction with a welfare loss that is a share of the optimum OPT. The auction ends after a round with few bids, and
is meant for values that are either 0 or large.

The operator publishes a number lambda and the promise that every positive value is at least lambda. A bidder's row of
values that breaks the promise is refused or replaced by zeros. Under the promise at most OPT/lambda bidders hold a good
after any round, and few goods and few bids are left over, so that the loss is a multiple of OPT. The guarantee is
useful where lambda is well above the price increment alpha, as for values 0 and 1.

The halting threshold and the number of rounds depend on the optimum OPT. Either OPT is public, or OPT is released first
with noise. The noise can be small, since replacing a bidder changes OPT by at most 1.

Source: Wu 2017, Algorithm 5 and Theorem 4.3.11, re-derived for batches, for any counters, and for an OPT that is known
up to noise; spec allocation 3.4; erratum 9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from confide.allocation.guarantees import EquilibriumPromises
from confide.allocation.market import Neighbours, neighbours_today
from confide.allocation.measuring import Measure
from confide.allocation.pmatch import PMatch
from confide.allocation.valuations import Valuations
from confide.contract.checks import finite, one_of, positive
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Relation, Source
from confide.contract.parameters import Declared, Parameter
from confide.contract.remedies import tried
from confide.contract.renamed import renamed
from confide.evidence.wu_2017.private_matchings.settings import BidsSetting
from confide.privacy.events import Event
from confide.privacy.noise import Noise, Stream

__all__ = [
    "BidsPromise",
    "OptimumRange",
    "OptimumRelease",
    "bids_promise",
    "keep_promise",
    "multiplicative_auction",
]

_GRID = 20
_UNIT = 2.0**-_GRID
_MOVES = (1 << _GRID) + 2  # grid units that a replaced bidder moves OPT by, as a solver computes and the grid rounds it


@renamed(gamma="failure_probability")
@dataclass(frozen=True, kw_only=True)
class OptimumRange(Declared):
    """Public lower and upper bounds on the optimum."""

    low: Annotated[float, Parameter("lower bound", above=0)]
    high: Annotated[float, Parameter("upper bound, at least the lower one")]
    failure_probability: Annotated[float, Parameter("probability that a bound fails", symbol="gamma", at_least=0,
                                                    below=1)] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.high < self.low:
            raise InvalidInput("high", f"{self.high!r} is below low = {self.low!r}", "must be at least low")

    @classmethod
    def known(cls, optimum: float) -> OptimumRange:
        """The range that contains only one public number, such as last year's optimum."""
        return cls(low=optimum, high=optimum)


@renamed(gamma="failure_probability", unit="neighbours")
@dataclass(frozen=True, kw_only=True)
class OptimumRelease(Declared):
    """A release of the optimum with Laplace noise of scale 1/epsilon, on a grid of spacing 2^-20.

    Replacing a bidder changes the optimum by at most 1. The privacy loss of the release is charged in addition to that
    of the auction.

    Example:
        >>> release = OptimumRelease(epsilon=0.5, failure_probability=0.02)
        >>> round(release.reach, 3)
        9.21
        >>> found = release.release(240.0, Noise.simulated(1))
        >>> found.low < 240.0 < found.high
        True
    """

    epsilon: Annotated[float, Parameter("privacy loss", unit="nats", above=0)]
    failure_probability: Annotated[float, Parameter("probability that the optimum is outside the range that is claimed",
                                                    symbol="gamma", above=0, below=1)]
    neighbours: Annotated[Neighbours, Parameter("what the row of one bidder is replaced by: any other row, or one of "
                                                "zeros")] = "replace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", neighbours_today("OptimumRelease", self.neighbours))
        super().__post_init__()

    @property
    def _measure(self) -> Measure:
        return Measure(label="optimum", law="laplace", cost=self.epsilon, l1_sensitivity=_MOVES,
                       squared_l2_sensitivity=_MOVES**2)

    @property
    def reach(self) -> float:
        """Bound on the absolute value of the noise, in the unit of the optimum. The noise exceeds the bound with
        probability at most failure_probability/2, and is below minus the bound with at most the same probability.
        """
        return self._measure.reach(self.failure_probability / 2) * _UNIT

    def events(self) -> tuple[Event, ...]:
        """The privacy events of the release."""
        return (self._measure.event(Relation(self.neighbours)),)

    def release(self, optimum: float, noise: Noise, *, stream: Stream = "optimum") -> OptimumRange:
        """Release a public range that contains OPT, except with the failure probability.

        Args:
            optimum: the private optimum OPT, accurate to within 2^-21.
            noise: source of the noise.
            stream: name of the random draw within `noise`.

        Raises:
            Refused: the released value, which is public, leaves no positive lower bound on OPT.
        """
        units = math.floor(finite("optimum", optimum) / _UNIT)
        reported = float(self._measure.draw(np.array([units]), noise, stream)[0]) * _UNIT
        low = reported - self.reach
        if not low > 0:
            raise Refused(f"the released optimum of {reported:.6g} may be 0", "a larger epsilon, or another auction")
        return OptimumRange(low=low, high=reported + _UNIT + self.reach, failure_probability=self.failure_probability)


def keep_promise(values: Valuations, least: float, *, unusable: str = "refuse") -> Valuations:
    """Valuations whose rows keep the promise that every value is 0 or at least lambda.

    Args:
        values: valuations of all bidders, or one row when a single bidder's result is computed.
        least: promised least positive value lambda in (0, 1]. Lambda is public and must not be computed from the
            values. The comparison is made in single precision.
        unusable: treatment of a row that breaks the promise. "refuse" refuses the whole table, and the error message
            reveals this to its reader. "null" replaces the row by zeros.

    Raises:
        InvalidInput: a row breaks the promise, and `unusable` is "refuse".
    """
    positive("least", least, at_most=1.0)
    one_of("unusable", unusable, ("refuse", "null"))
    # In single precision, so that a stored row equals the one that its owner holds.
    small = np.flatnonzero((values.values > 0.0) & (values.values.astype(np.float32) < np.float32(least)))
    if not len(small):
        return values
    rows = np.unique(small // values.goods if values.starts is None
                     else np.searchsorted(values.starts, small, side="right") - 1)
    if unusable == "refuse":
        raise InvalidInput("values", f"row {int(rows[0])} holds a value between 0 and {least:g}",
                           "each must be 0, or at least the promised value")
    kept = values.values.copy()
    ends = np.arange(values.people + 1, dtype=np.int64) * values.goods if values.starts is None else values.starts
    for row in rows.tolist():
        kept[ends[row] : ends[row + 1]] = 0.0
    return replace(values, values=kept)


@dataclass(frozen=True, kw_only=True)
class BidsPromise(Declared):
    """The guarantees of an auction that halts after a round with fewer counted bids than a threshold.

    Assume that no count of bids is off by more than E, and no count of the halting test by more than E0. Let c = s' -
    2E - g + 1, H = OPT/lambda and Q = halt_below - 1 + 2 E0, where s' is the effective supply and g the size of a
    batch. At most H = OPT/lambda bidders hold a good after any round. A good from which somebody is outbid, or which
    has a positive price, has at least c holders.

    - The last round has at most Q bids. On at most H/c goods somebody is outbid in the last round. On each such good,
      the number of outbid holders exceeds the number of bids in that round by at most 4E + g - 1, because the good had
      at most s' + 2E holders before the round and keeps at least c holders.
    - Any other round has at least halt_below - 2 E0 bids. All rounds together have at most H bids on goods with price
      0. For each of at most H/c goods and each price below 1 there are at most s' + 2E + g - 1 bids. The auction
      therefore halts within its largest number of rounds.
    - The loss OPT - SW is at most the sum of three terms: alpha for each holder, 1 for everybody who is outbid in the
      last round, and the value of unsold copies of goods with a positive price (statement 4 of the module
      `guarantees`).

    Source: Wu 2017, Theorem 4.3.11, whose proof counts 2E instead of 4E outbid holders beyond the bids; the theorem's
    condition on s is large enough for 4E; spec allocation 3.4.
    """

    promises: Annotated[EquilibriumPromises, Parameter("promises about counts and prices of the same auction")]
    least: Annotated[float, Parameter("public promise that no value but 0 is below it", symbol="lambda", above=0,
                                      at_most=1)]
    optimum: Annotated[OptimumRange, Parameter("public bounds on the optimum")]
    halt_below: Annotated[int, Parameter("a round with fewer counted bids is the last", at_least=0)]
    halting_error: Annotated[float, Parameter("error that no count of the halting test exceeds", symbol="E0",
                                              at_least=0)]
    rounds: Annotated[int, Parameter("largest number of rounds; nobody asks after the last one", symbol="R",
                                     at_least=1)]

    @property
    def _each(self) -> int:
        """Least number c of holders of a good with a positive price, for the good with the least supply."""
        return min(self.promises.supply) - self.promises.shortfall

    @property
    def _off(self) -> int:
        return math.floor(self.halting_error)

    @property
    def last_bids(self) -> int:
        """Largest number Q of true bids in the last round, in which fewer than `halt_below` bids are counted."""
        return max(0, self.halt_below - 1 + 2 * self._off)

    def unsatisfied(self, optimum: float) -> float:
        """Upper bound on the number of bidders who are outbid in the last round; infinity where nothing is promised.

        Args:
            optimum: optimum OPT within the public range.
        """
        if self._each < 1:
            return math.inf
        goods = optimum / self.least / self._each
        return self.last_bids + goods * (4 * self.promises.off + self.promises.batch - 1)

    @property
    def most_bids(self) -> float:
        """Upper bound on the number of bids in a whole run."""
        if self._each < 1:
            return math.inf
        # Of a good with more copies it is a smaller multiple of those that are held.
        at_a_price = min(self.promises.supply) - self.promises.reserve + 2 * self.promises.off + self.promises.batch - 1
        prices = round(self.promises.price_ceiling / self.promises.increment)
        return self.optimum.high / self.least * (1.0 + at_a_price / self._each * prices)

    @property
    def rounds_needed(self) -> float:
        """The number of rounds after which the auction has halted, if no count is off by more than its error bound;
        infinity where errors of the halting test may prevent a halt.
        """
        fewest = self.halt_below - 2 * self._off
        return math.floor(self.most_bids / fewest) + 2 if fewest > 0 and self._each >= 1 else math.inf

    def welfare_loss(self, optimum: float) -> float:
        """Upper bound on the welfare loss compared with the optimum; infinity where nothing is promised.

        Args:
            optimum: optimum OPT within the public range.
        """
        if not self.promises.feasible or not self.rounds >= self.rounds_needed:
            return math.inf
        holders = optimum / self.least
        left = self.promises.shortfall * self.promises.price_ceiling * holders / self._each
        return self.promises.regret * holders + self.unsatisfied(optimum) + left

    @property
    def ratio(self) -> float:
        """Lower bound on the welfare as a share of the optimum, for every optimum in the public range; 0 where nothing
        is promised.
        """
        # The loss is affine in OPT and positive at 0, so that its share is largest where OPT is least.
        return max(0.0, 1.0 - self.welfare_loss(self.optimum.low) / self.optimum.low)


@renamed(gamma="failure_probability")
def multiplicative_auction(
    *, people: int, goods: int, supply: int | tuple[int, ...], increment: float, epsilon: float, least: float,
    optimum: OptimumRange, failure_probability: float = 0.01, batch: int = 1, arity: int = 2, **options: Any,
) -> PMatch:
    """The auction of Algorithm 5 (CountBids) with corrected counters.

    The auction has T = 24 OPT_up/(alpha^2 OPT_low) rounds, where OPT_up and OPT_low are the public bounds on OPT. The
    auction halts after a round with fewer than alpha OPT_low/(2 lambda) - 2 E0 counted bids. Here E bounds the error of
    every count of bids, and E0 that of the halting test. The reserve is 2E copies of each good, and the number of bids
    of one bidder has no cap.

    Args:
        people: number n of bidders.
        goods: number k of goods.
        supply: number of copies of each good: one number for all goods, or k numbers.
        increment: price increment alpha in (0, 1].
        epsilon: privacy loss of the auction, in nats. The loss of a released OPT is additional.
        least: promised least positive value lambda in (0, 1]. All rows must keep this promise; see `keep_promise`.
        optimum: public range of OPT.
        failure_probability: failure probability gamma, half for the counts of bids and half for those of the halting
            test. The failure probability of the range of OPT is additional.
        batch: number g of bidders who act at the same published counts.
        arity: arity of the counters' trees, at least 2.
        options: further fields of `PMatch`, such as rounds, halt_with or certify_with.

    Raises:
        Refused: the noise leaves no copies, or no positive halting threshold. The message says which sizes would
            suffice.

    Example:
        >>> auction = multiplicative_auction(people=300, goods=6, supply=40, increment=0.125, epsilon=1e9, least=1.0,
        ...                                  optimum=OptimumRange.known(240.0))
        >>> auction.rounds, auction.halt_below, auction.effective_reserve
        (1536, 15, 0)
    """
    source = BidsSetting(people=people, goods=goods, epsilon=epsilon, failure_probability=failure_probability,
                         increment=increment, least=least, optimum=optimum.low, optimum_at_most=optimum.high)
    settings: dict[str, Any] = {"rounds": source.rounds, "bid_cap": source.rounds, **options}
    draft = PMatch(people=people, goods=goods, supply=supply, increment=increment, epsilon=epsilon, batch=batch,
                   arity=arity, failure_probability=failure_probability / 2, halting="bids", reclear=0.0, reserve=0,
                   **settings)
    if draft.plentiful:
        return draft

    def again(**changed: Any) -> PMatch:
        if "optimum" in changed:
            low = changed["optimum"]
            changed["optimum"] = replace(optimum, low=low, high=max(low, optimum.high))
        return multiplicative_auction(**{
            "people": people, "goods": goods, "supply": supply, "increment": increment, "epsilon": epsilon,
            "least": least, "optimum": optimum, "failure_probability": failure_probability, "batch": batch,
            "arity": arity} | options | changed)

    off, halting = math.floor(draft.error), math.floor(_halting_error(draft))
    target = increment * optimum.low / (2.0 * least)
    if min(draft.copies) <= 2 * off:
        enough = epsilon * 2.0 * draft.error / min(draft.copies)
        raise Refused(f"counts may be off by {off:,}, and there are {min(draft.copies):,} copies",
                      [*tried("{supply} copies of each good or more", again, supply=2 * off + 1),
                       *tried("epsilon = {epsilon}", again, digits=3, epsilon=enough)]
                      or "more copies, a larger epsilon and a larger optimum")
    if target < 4 * halting + 1:
        enough = (8 * halting + 2) * least / increment
        raise Refused(f"the halting test may be off by {halting:,}, and waits for {target:,.3g} bids",
                      [*tried("an optimum of {optimum}", again, digits=6, optimum=enough),
                       *tried("epsilon = {epsilon}", again, digits=3, epsilon=epsilon * (4 * halting + 1) / target)]
                      or "a larger optimum and a larger epsilon, or more for halt_with")
    return replace(draft, reserve=2 * off, halt_below=math.floor(target - 2 * halting))


def _halting_error(auction: PMatch) -> float:
    """Error bound E0 of the halting test, at the auction's own failure probability."""
    counter = auction.halting_plan.counter
    return 0.0 if counter is None else counter.error_bound(auction.failure_probability)


def bids_promise(auction: PMatch, least: float, optimum: OptimumRange) -> tuple[BidsPromise, Accuracy]:
    """The guarantee of an auction from `multiplicative_auction`: the numbers behind the guarantee, and the guarantee as
    a statement.

    Args:
        auction: auction from `multiplicative_auction`, or another auction that halts by the number of bids and has no
            final clearing of unsold copies.
        least: promised least positive value lambda.
        optimum: public range of OPT.

    Raises:
        InvalidInput: the auction is of another kind.
    """
    if auction.halting != "bids" or auction.clearing is not None or auction.charge or auction.bid_cap < auction.rounds:
        raise InvalidInput("auction", "is of another kind",
                           "must halt on bids, without a cap, a final clearing or charges")
    promise = BidsPromise(
        promises=EquilibriumPromises(people=auction.people, supply=auction.copies, reserve=auction.effective_reserve,
                                     error=auction.error, batch=auction.batch, increment=auction.increment),
        least=least, optimum=optimum, halt_below=auction.halt_below, halting_error=_halting_error(auction),
        rounds=auction.rounds)
    source = Source(document="Wu 2017", statement="Theorem 4.3.11", spec="allocation 3.4",
                    erratum="1 - 3 alpha/lambda, not an upper bound; batches; any counters; OPT within a range")
    return promise, Accuracy(
        bound=1.0 - promise.ratio, baseline=1.0, measure="the share of the optimum that is lost", source=source,
        failure_probability=min(1.0, 2 * auction.failure_probability + optimum.failure_probability),
        note=f"no value but 0 is below {least:g}: a promise that every row keeps or counts as zeros")
