"""What an auction promises beyond privacy: how much is sold, to whom, and how good that is.

While no published count is off by more than E: no good is held more than s' + 2E times; of a good with a price few
copies are left; every holder is within alpha of what she likes best at the final prices; and by weak duality little
welfare is lost, but for bidders who are still outbid, or out of bids, at the end. How many these are is not known in
advance; the certificate of a run counts everything.

Source: Wu 2017, Lemmas 4.3.7 and 4.3.8 and Theorem 4.3.5, for batches and any reserve; spec allocation 3.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import ArrayLike

from confide.allocation.incentives import mean_shift, participation, prices_loss, regret
from confide.contract.checks import non_negative, whole
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy, Guarantee, Participation, Source, Truthfulness
from confide.contract.parameters import Declared, Parameter
from confide.contract.renamed import renamed

if TYPE_CHECKING:
    from confide.allocation.pmatch import PMatch

__all__ = ["EquilibriumPromises", "auction_promises"]

_DOCUMENT = "Wu 2017"
_SPEC = "allocation 3.3"
_BATCHES = "batches; more than s' bids outbid; prices follow the counts; counts never fall"
_SATISFIED = "the bidder ends satisfied, which the noise and the bids of all others decide"
_LEFT_OUT = "bidders who are still outbid, or out of bids, at the end come on top, with 1 each at most"


@renamed(trivial_loss="baseline_loss")
@dataclass(frozen=True, kw_only=True)
class EquilibriumPromises(Declared):
    """Statements that hold at the end of the corrected auction while no count is off by more than the error.

    They are functions of public numbers. With a reserve of twice the error or more nothing is given beyond its supply.

    Example:
        >>> promises = EquilibriumPromises(people=2000, supply=(500, 500), reserve=40, error=20.0, batch=10,
        ...                                increment=0.05)
        >>> promises.most_held, promises.shortfall, promises.least_held
        ((500, 500), 89, (411, 411))
        >>> round(promises.welfare_loss([0.4, 0.0], unsatisfied=30), 6), round(promises.most_loss(), 6)
        (115.6, 228.0)
    """

    people: Annotated[int, Parameter("number of bidders", symbol="n", at_least=1)]
    supply: Annotated[tuple[int, ...], Parameter("copies of each good", symbol="s_j", at_least=1)]
    reserve: Annotated[int, Parameter("copies of each good in reserve", symbol="m", at_least=0)]
    error: Annotated[float, Parameter("error that no count exceeds", symbol="E", at_least=0)]
    batch: Annotated[int, Parameter("number of bidders who bid between two releases of the counts", symbol="g",
                                    at_least=1)]
    increment: Annotated[float, Parameter("step from one price to the next", symbol="alpha", above=0, at_most=1)]

    def __post_init__(self) -> None:
        super().__post_init__()
        for copies in self.supply:
            if copies <= self.reserve:
                raise InvalidInput("reserve", f"{self.reserve} of {copies} copies", "must leave one of each good")

    @property
    def off(self) -> int:
        """E as a whole number: counts are."""
        return math.floor(self.error)

    # ---- the four statements

    @property
    def most_held(self) -> tuple[int, ...]:
        """(k,) 1: N_j <= s'_j + 2E, for s' = s - m."""
        return tuple(copies - self.reserve + 2 * self.off for copies in self.supply)

    @property
    def feasible(self) -> bool:
        """Whether no good is held more than s_j times, by statement 1: m >= 2E."""
        return self.reserve >= 2 * self.off

    @property
    def shortfall(self) -> int:
        """2: of a good whose price is positive at most m + 2E + g - 1 copies are left; 4E + 1 as printed."""
        return self.reserve + 2 * self.off + self.batch - 1

    @property
    def least_held(self) -> tuple[int, ...]:
        """(k,) 2: N_j >= s_j - shortfall, if its price is positive."""
        return tuple(max(0, copies - self.shortfall) for copies in self.supply)

    @property
    def regret(self) -> float:
        """3: every holder is within alpha of her best, at the final prices; whatever the error."""
        return regret(self.increment)

    def welfare_loss(self, prices: ArrayLike, unsatisfied: int) -> float:
        """4: OPT - SW <= alpha (holders) + U + sum over p_j > 0 of p_j shortfall.

        Nobody who left because no price suited her loses anything, so that alpha counts for holders alone.

        Args:
            prices: (k,) final.
            unsatisfied: U, bidders who are free or out of bids at the end.
        """
        at = np.asarray(prices, dtype=np.float64)
        if at.shape != (len(self.supply),) or not bool((at >= 0.0).all()):
            raise InvalidInput("prices", "are not one number >= 0 for each good")
        left = [price * min(self.shortfall, copies) for price, copies in zip(at.tolist(), self.supply, strict=True)]
        return math.fsum([self.regret * self._holders(whole("unsatisfied", unsatisfied)), unsatisfied, *left])

    # ---- before a run

    def _holders(self, unsatisfied: int) -> int:
        return min(max(0, self.people - unsatisfied), sum(self.most_held))

    @cached_property
    def price_ceiling(self) -> float:
        """No good that is held costs more: one increment above the last price below 1. The proofs take 1."""
        steps = math.ceil(1.0 / self.increment)
        while steps > 1 and self.increment * (steps - 1) >= 1.0:
            steps -= 1
        while self.increment * steps < 1.0:
            steps += 1
        return self.increment * steps

    @property
    def most_priced(self) -> int:
        """How many goods can have a price: each is held `least_held` times, and by n bidders together."""
        held, found = 0, 0
        for least in sorted(self.least_held):
            held += least
            found += held <= self.people
        return found

    def most_loss(self, average_price: float | None = None) -> float:
        """Statement 4 with U left out, whatever the prices are: infinite where some good may be sold out to nobody.

        Args:
            average_price: an assumption on the prices of the goods that have one, in place of `price_ceiling`.
        """
        if min(self.least_held) < 1:
            return math.inf
        price = self.price_ceiling if average_price is None else non_negative("average_price", average_price)
        return self.regret * self._holders(0) + self.most_priced * price * self.shortfall

    @property
    def baseline_loss(self) -> int:
        """No optimum is above this: min(n, sum of s_j)."""
        return min(self.people, sum(self.supply))

    @property
    def vacuous(self) -> tuple[bool, bool, bool, bool]:
        """Which of the four statements say nothing, before a run."""
        return (min(self.most_held) >= self.people, max(self.least_held) < 1, self.regret >= 1.0,
                self.most_loss() >= self.baseline_loss)


def auction_promises(auction: PMatch) -> tuple[Guarantee, ...]:
    """What a `PMatch` promises in advance, beside privacy and feasibility.

    With a final clearing nothing is promised of the welfare: the certificate of a run does that. Where prices are
    charged nothing is either, since goods that are not worth their price stay on the shelf. Without charges nothing is
    claimed about lies.

    Args:
        auction: its public parameters.
    """
    if auction.plentiful:
        return _plenty()
    promises = EquilibriumPromises(
        people=auction.people, supply=auction.copies, reserve=auction.effective_reserve, error=auction.error,
        batch=auction.batch, increment=auction.increment)
    # Whoever is admitted bid no longer ago than the largest edge.
    missed = promises.regret if auction.clearing is None else max(
        regret(auction.increment, supply=copies, cut=edges[-1])
        for copies, edges in zip(auction.effective_supply, auction.clearing.edges, strict=True))
    found: list[Guarantee] = [
        Accuracy(bound=auction.error, measure="the error of any published count of bids, at any time",
                 baseline=float(auction.people * min(auction.bid_cap, auction.rounds)),
                 failure_probability=auction.failure_probability,
                 source=Source(document="confide", statement="bound of the tree counter", spec="allocation 2")),
        Accuracy(bound=missed, measure="how much better a bidder with a good would do with another one, at the final "
                 "prices", baseline=1.0, note="whether prices are charged or not",
                 source=Source(document=_DOCUMENT, statement="Lemma 4.3.7", spec=_SPEC, erratum=_BATCHES)),
    ]
    if auction.clearing is None and not auction.charge:
        found += _of_sales(auction, promises)
    if auction.charge:
        found += _of_payments(auction, missed)
    return tuple(found)


def _plenty() -> tuple[Guarantee, ...]:
    source = Source(document="confide", statement="everybody has her favourite", spec=_SPEC)
    return (Accuracy(bound=0.0, measure="welfare lost against the optimum", source=source),
            Truthfulness(gain=0.0, baseline=1.0, who="everybody: nobody's good depends on what others report",
                         source=source))


def _of_sales(auction: PMatch, promises: EquilibriumPromises) -> list[Guarantee]:
    # Whoever is cut off, because of an overflow, is missing among the holders.
    cut_off = auction.failure_probability if auction.on_overflow == "truncate" and not promises.feasible else 0.0
    fails = min(1.0, auction.failure_probability + cut_off)
    return [
        Accuracy(bound=float(promises.shortfall), baseline=float(max(promises.supply)), failure_probability=fails,
                 measure="copies that are left of any good with a price",
                 source=Source(document=_DOCUMENT, statement="Lemma 4.3.8", spec=_SPEC, erratum=_BATCHES)),
        Accuracy(bound=promises.most_loss(), baseline=float(promises.baseline_loss), failure_probability=fails,
                 measure="welfare lost against the optimum by all bidders who are not left outbid or out of bids",
                 note=_LEFT_OUT,
                 source=Source(document=_DOCUMENT, statement="Theorem 4.3.5", spec=_SPEC,
                               erratum=f"{_BATCHES}; any reserve; prices up to alpha ceil(1/alpha)")),
    ]


def _of_payments(auction: PMatch, missed: float) -> list[Guarantee]:
    source = Source(document="confide", statement="private prices and their charge", spec="allocation 7")
    return [
        Truthfulness(gain=mean_shift(prices_loss(auction)) + missed, baseline=1.0, unit_of_gain="of value",
                     who="every bidder who ends satisfied", source=source, condition=_SATISFIED,
                     note="in the mean, whatever the others report; the probability that she ends outbid, out of bids, "
                     "not admitted or cut off comes on top, and has no bound"),
        Participation(utility=participation(auction.increment, returns=True), source=source,
                      who="everybody, after every run",
                      note="a good that is not worth its final price is not taken; her loss of privacy is not counted"),
    ]
