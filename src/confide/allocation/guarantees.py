"""The promises of an auction beyond privacy: how many copies are sold, how well bidders do, and the gain from a lie.

*Sales and welfare.* Suppose that every published count of bids is within E of the true count. Let s' be the effective
supply of a good, which is the number of its copies less the reserve, and alpha the step from one price to the next.

- No good has more than s' + 2E holders.
- A good with a positive price has few unsold copies.
- The gain of every holder, which is value less final price, is within alpha of the holder's best gain.
- By weak duality little welfare is lost, except by bidders who are still outbid, or out of bids, at the end.

The number of bidders who are still outbid, or out of bids, is not known in advance. The certificate of a run takes the
welfare lost by bidders who are outbid, or out of bids, into account.

Source: Wu 2017, Lemmas 4.3.7 and 4.3.8 and Theorem 4.3.5, for batches and any reserve; spec allocation 3.3.

*The gain from a lie*, if the final prices are charged. Without payments nothing is claimed about lies. Let v_ij be the
value of good j to bidder i, and p_j the final price of the good. Whatever bidder i reports, their utility is at most u*
= max(0, max_j v_ij - p_j), a number in [0, 1]. The prices are differentially private, so the report moves the mean of
u* by at most the total variation distance between the distributions of the prices under two neighbouring data sets. A
truthful bidder gets u* less their `regret`, unless they end unsatisfied. An unsatisfied bidder is outbid in the last
round, out of bids, not admitted, or cut off. The probability that one bidder ends unsatisfied has no bound. The
probability of ending unsatisfied is added to the gain, and may be estimated on a public prior.

Source: spec allocation 7, with the total variation distance in place of e^epsilon - 1, which is never smaller.

*Bundles.* The proven welfare of an auction of bundles follows from its public numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import ArrayLike

from confide.contract.checks import finite, fraction, non_negative, positive, whole
from confide.contract.errors import InvalidInput, NotGuaranteed
from confide.contract.guarantees import Accuracy, Guarantee, Participation, Source, Truthfulness
from confide.contract.parameters import Declared, Parameter
from confide.contract.renamed import renamed
from confide.contract.words import counted
from confide.privacy.accounting import float_up
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

if TYPE_CHECKING:
    from confide.allocation.palloc import PAlloc
    from confide.allocation.pmatch import PMatch

__all__ = [
    "EquilibriumPromises",
    "auction_promises",
    "bundle_welfare_bound",
    "lie_gain",
    "mean_shift",
    "most_unsold",
    "participation",
    "prices_loss",
    "regret",
]

# ---- incentives


def mean_shift(loss: PureDP | ApproxDP | ZCDP) -> float:
    """An upper bound on the difference between the means, under two neighbouring data sets, of a number in [0, 1] that
    follows from private releases. The bound is the total variation distance between the distributions of the releases,
    rounded up.

    For (epsilon, delta) the distance is

        (e^epsilon - 1 + 2 delta)/(e^epsilon + 1)

    which randomised response attains. For zCDP with parameter rho the bound is the smaller of two numbers: the delta of
    zCDP at epsilon = 0, and Pinsker's sqrt(rho/2).

    Args:
        loss: privacy loss when one record is replaced.

    Source: Kairouz, Oh and Viswanath 2015; Pinsker's inequality.

    Example:
        >>> round(mean_shift(PureDP(1.0)), 4), round(math.expm1(1.0), 4)
        (0.4621, 1.7183)
    """
    found = loss.delta_at(0.0)
    if isinstance(loss, ZCDP):
        found = min(found, math.nextafter(math.sqrt(loss.rho / 2.0), math.inf))
    return found


def regret(increment: float, *, supply: int = 1, cut: int | None = None) -> float:
    """The largest amount, in units of value, by which a bidder's gain at the final prices falls short of their best
    gain at these prices.

    Args:
        increment: step alpha from one price to the next, in (0, 1].
        supply: effective supply s' of the bidder's good, in copies; used only if `cut` is given.
        cut: largest age of a bid that the final clearing admits; -1 if the clearing admits no bidder; None for an
            auction without a final clearing. The age of a bid is the number of bids on the same good that were counted
            after it.

    Returns:
        The regret, in units of value. Without a clearing the regret is alpha, because at most s' bids were counted
            after a holder's bid, so the good's price rose at most once. After a final clearing the regret is alpha
            ceil(cut/s'), or 0 if the clearing admits no bidder.

    Example:
        >>> regret(0.1), regret(0.1, supply=100, cut=130), regret(0.1, supply=100, cut=-1)
        (0.1, 0.2, 0.0)
    """
    positive("increment", increment, at_most=1.0)
    if cut is None:
        return increment
    return increment * -(-max(0, cut) // whole("supply", supply, at_least=1))


def lie_gain(
    epsilon: float, increment: float, *, delta: float = 0.0, unsatisfied: float = 0.0, supply: int = 1,
    cut: int | None = None,
) -> float:
    """An upper bound on the mean gain from a lie, in units of value, in an auction that charges the final prices. The
    bound holds for any reports of the other bidders.

    Args:
        epsilon: privacy loss of the prices in nats when one record is replaced, >= 0.
        increment: step alpha from one price to the next, in (0, 1].
        delta: delta of the privacy loss of the prices, in [0, 1).
        unsatisfied: probability, in [0, 1], that a truthful bidder ends outbid in the last round, out of bids, not
            admitted, or cut off.
        supply: effective supply s' of the bidder's good, in copies; used only if `cut` is given.
        cut: largest age of a bid that the final clearing admits; -1 if the clearing admits no bidder; None for an
            auction without a final clearing.

    Example:
        >>> round(lie_gain(1.0, 0.1), 3), round(lie_gain(0.1, 0.1, unsatisfied=0.05), 3)
        (0.562, 0.2)
    """
    shift = mean_shift(ApproxDP(non_negative("epsilon", epsilon), fraction("delta", delta, zero=True)))
    return shift + regret(increment, supply=supply, cut=cut) + non_negative("unsatisfied", unsatisfied, at_most=1.0)


def participation(increment: float, *, returns: bool, supply: int = 1, cut: int | None = None) -> float:
    """A lower bound on the utility, in units of value, of a truthful bidder after any run of an auction that charges
    the final prices.

    Args:
        increment: step alpha from one price to the next, in (0, 1].
        returns: whether a bidder may decline a good that is worth less to them than its final price, and then pays
            nothing.
        supply: effective supply s' of the bidder's good, in copies; used only if `cut` is given.
        cut: largest age of a bid that the final clearing admits; -1 if the clearing admits no bidder; None for an
            auction without a final clearing.

    Returns:
        The lower bound: 0 if `returns` is True, and minus `regret` otherwise, because the good was worth its price when
            the bidder bid.
    """
    return 0.0 if returns else -regret(increment, supply=supply, cut=cut)


def prices_loss(auction: PMatch) -> PureDP | ZCDP:
    """The privacy loss of the price path when one bidder is replaced. The price path covers all releases except the
    final clearing and the certificate.

    Under `add_or_remove` a replacement is two steps between neighbours, which cost twice epsilon, or four times rho.

    Args:
        auction: auction that has fewer copies of some good than bidders. An auction with enough copies of every good
            releases nothing.
    """
    spent = auction.part(1.0) - auction.part(auction.reclear) - auction.part(auction.certify_with)
    steps = 1 if auction.neighbours == "replace" else 2
    if auction.law == "laplace":
        return PureDP(float_up(steps * spent))
    return ZCDP(float_up(Fraction(steps**2) * spent))


# ---- guarantees

_DOCUMENT = "Wu 2017"
_SPEC = "allocation 3.3"
_BATCHES = ("counts are published after batches of bids, and never fall; more than s' later bids outbid a bidder (s' "
            "is the supply without the reserve); prices follow the counts")
_SATISFIED = "the bidder ends satisfied, which depends on the noise and on the bids of all other bidders"
_LEFT_OUT = "bidders who are outbid or out of bids at the end add at most 1 each to the loss"


@renamed(trivial_loss="baseline_loss")
@dataclass(frozen=True, kw_only=True)
class EquilibriumPromises(Declared):
    """Four statements about the result of the corrected auction of Wu 2017. The statements hold if every published
    count of bids is within the error E of the true count.

    The bounds in the statements follow from public numbers. With a reserve of at least twice the error no good is given
    beyond its supply. In all bounds E is rounded down to a whole number.

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
                raise InvalidInput("reserve", f"{self.reserve} of {counted(copies, 'copy', 'copies')}",
                                   "must leave at least one copy of each good")

    @property
    def off(self) -> int:
        """The error bound E, in bids, rounded down to a whole number, since counts are whole numbers."""
        return math.floor(self.error)

    # ---- the four statements

    @property
    def most_held(self) -> tuple[int, ...]:
        """Statement 1: the number N_j of holders of good j is at most s'_j + 2E, where s'_j = s_j - m is the effective
        supply of the good; shape (k,).
        """
        return tuple(copies - self.reserve + 2 * self.off for copies in self.supply)

    @property
    def feasible(self) -> bool:
        """Whether statement 1 ensures that no good has more holders than copies. Statement 1 does so if the reserve m
        is at least 2E.
        """
        return self.reserve >= 2 * self.off

    @property
    def shortfall(self) -> int:
        """Statement 2: a good with a positive price has at most m + 2E + g - 1 unsold copies, for reserve m, error E
        and batches of g bidders. Wu 2017 prints the bound 4E + 1.
        """
        return self.reserve + 2 * self.off + self.batch - 1

    @property
    def least_held(self) -> tuple[int, ...]:
        """Statement 2: a good j with a positive price has at least s_j - shortfall holders; shape (k,)."""
        return tuple(max(0, copies - self.shortfall) for copies in self.supply)

    @property
    def regret(self) -> float:
        """Statement 3: at the final prices every holder's gain is within alpha of their best gain, whatever the error
        of the counts.
        """
        return regret(self.increment)

    def welfare_loss(self, prices: ArrayLike, unsatisfied: int) -> float:
        """Statement 4: an upper bound on the welfare that is lost against the optimum.

        Let OPT be the optimal welfare, SW the welfare of the auction, H the number of holders, U the number of
        unsatisfied bidders, and p_j the price of good j. Then

            OPT - SW <= alpha H + U + sum over p_j > 0 of p_j shortfall

        A bidder who left because no good was worth its price to them loses nothing, so only holders have a term alpha.

        Args:
            prices: final prices, shape (k,).
            unsatisfied: number U of bidders who are outbid, or have no bid left, at the end of the auction.
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
        """Upper bound on the price of a good that somebody holds: the smallest multiple of the increment that is at
        least 1. The proofs printed in Wu 2017 use 1 as the upper bound.
        """
        steps = math.ceil(1.0 / self.increment)
        while steps > 1 and self.increment * (steps - 1) >= 1.0:
            steps -= 1
        while self.increment * steps < 1.0:
            steps += 1
        return self.increment * steps

    @property
    def most_priced(self) -> int:
        """Largest number of goods that can have a positive price. Each good with a positive price has at least
        `least_held` holders, and there are only n bidders.
        """
        held, found = 0, 0
        for least in sorted(self.least_held):
            held += least
            found += held <= self.people
        return found

    def most_loss(self, average_price: float | None = None) -> float:
        """The bound of statement 4 without the term U, in units of value, which holds for any final prices. The bound
        is infinite if some good with a positive price may have no holder.

        Args:
            average_price: assumed average of the positive prices, which replaces `price_ceiling` in the bound; None for
                no assumption.
        """
        if min(self.least_held) < 1:
            return math.inf
        price = self.price_ceiling if average_price is None else non_negative("average_price", average_price)
        return self.regret * self._holders(0) + self.most_priced * price * self.shortfall

    @property
    def baseline_loss(self) -> int:
        """Upper bound min(n, sum of s_j) on the optimal welfare, in units of value, and so on any loss of welfare."""
        return min(self.people, sum(self.supply))

    @property
    def vacuous(self) -> tuple[bool, bool, bool, bool]:
        """Whether each of the four statements is vacuous before a run, because the statement's bound is no better than
        the trivial bound.
        """
        return (min(self.most_held) >= self.people, max(self.least_held) < 1, self.regret >= 1.0,
                self.most_loss() >= self.baseline_loss)


def auction_promises(auction: PMatch) -> tuple[Guarantee, ...]:
    """The promises of a `PMatch` before a run, besides privacy and feasibility.

    With a final clearing nothing is promised about the welfare in advance; the certificate of a run bounds the welfare.
    With charged prices nothing is promised about the welfare either, since goods that are not worth their price remain
    unsold. Without charged prices nothing is claimed about lies.

    Args:
        auction: public parameters of the auction.
    """
    if auction.plentiful:
        return _plenty()
    promises = EquilibriumPromises(
        people=auction.people, supply=auction.copies, reserve=auction.effective_reserve, error=auction.error,
        batch=auction.batch, increment=auction.increment)
    # Everybody who is admitted bid no longer ago than the largest edge.
    missed = promises.regret if auction.clearing is None else max(
        regret(auction.increment, supply=copies, cut=edges[-1])
        for copies, edges in zip(auction.effective_supply, auction.clearing.edges, strict=True))
    found: list[Guarantee] = [
        Accuracy(bound=auction.error, measure="the error of any published count of bids, at any time",
                 baseline=float(auction.people * min(auction.bid_cap, auction.rounds)),
                 failure_probability=auction.failure_probability,
                 source=Source(document="confide", statement="bound of the tree counter", spec="allocation 2")),
        Accuracy(bound=missed, measure="the gain of a bidder with a good from another good, at the final prices",
                 baseline=1.0, note="this holds with and without charged prices",
                 source=Source(document=_DOCUMENT, statement="Lemma 4.3.7", spec=_SPEC, erratum=_BATCHES)),
    ]
    if auction.clearing is None and not auction.charge:
        found += _of_sales(auction, promises)
    if auction.charge:
        found += _of_payments(auction, missed)
    return tuple(found)


def _plenty() -> tuple[Guarantee, ...]:
    source = Source(document="confide", statement="everybody has their favourite", spec=_SPEC)
    return (Accuracy(bound=0.0, measure="welfare lost against the optimum", source=source),
            Truthfulness(gain=0.0, baseline=1.0, who="everybody: nobody's good depends on other people's reports",
                         source=source))


def _of_sales(auction: PMatch, promises: EquilibriumPromises) -> list[Guarantee]:
    # A bidder who is cut off, because of an overflow, is missing among the holders.
    cut_off = auction.failure_probability if auction.on_overflow == "truncate" and not promises.feasible else 0.0
    fails = min(1.0, auction.failure_probability + cut_off)
    return [
        Accuracy(bound=float(promises.shortfall), baseline=float(max(promises.supply)), failure_probability=fails,
                 measure="remaining copies of any good with a price",
                 source=Source(document=_DOCUMENT, statement="Lemma 4.3.8", spec=_SPEC, erratum=_BATCHES)),
        Accuracy(bound=promises.most_loss(), baseline=float(promises.baseline_loss), failure_probability=fails,
                 measure="welfare lost against the optimum by all bidders who do not end outbid or out of bids",
                 note=_LEFT_OUT,
                 source=Source(document=_DOCUMENT, statement="Theorem 4.3.5", spec=_SPEC,
                               erratum=f"{_BATCHES}; any reserve; prices up to alpha ceil(1/alpha)")),
    ]


def _of_payments(auction: PMatch, missed: float) -> list[Guarantee]:
    source = Source(document="confide", statement="private prices and their charge", spec="allocation 7")
    return [
        Truthfulness(gain=mean_shift(prices_loss(auction)) + missed, baseline=1.0, unit_of_gain="of value",
                     who="every bidder who ends satisfied", source=source, condition=_SATISFIED,
                     note="in the mean over the noise, for any reports of the other bidders; the probability that the "
                          "bidder ends outbid, out of bids, not admitted or cut off is not included, and has no bound"),
        Participation(utility=participation(auction.increment, returns=True), source=source,
                      who="everybody, after every run",
                      note="nobody takes a good that is not worth its final price; the loss of privacy is not counted"),
    ]


# ---- promises


def most_unsold(auction: PAlloc, error: float | None = None) -> int:
    """The largest number of unsold copies of a good with a positive price. The number of unsold copies is less than m +
    2E + g, for reserve m, error E and batches of g bidders.

    Let pub(b) and true(b) be the published and the true count of good j after batch b, pub_end and true_end the final
    counts, and N_j the number of holders. Let b0 be the first batch with pub(b0 - 1) >= pub_end - s'. The holders are
    the bids from batch b0 on. The price of the good is positive, so its final published count pub_end is at least its
    effective supply s'. The proof distinguishes two cases:

    - If b0 = 1, then N_j >= pub_end - E.
    - If b0 > 1, then true(b0 - 1) <= true(b0 - 2) + g < pub_end - s' + E + g, so N_j = true_end - true(b0 - 1) > s' -
      2E - g.

    A bidder bids on at most one good in a batch, and each copy that a bidder holds comes from a bid of its own. So the
    proof holds for bundles too.

    Args:
        auction: auction without a final clearing, because a clearing cuts holders off according to other counts.
        error: largest error E of a published count, in bids. The default is the error bound of the auction, which holds
            except with the failure probability.

    Raises:
        NotGuaranteed: an auction with a final clearing.
    """
    if auction.reclear:
        raise NotGuaranteed("a number of unsold copies", "the final clearing uses other counts")
    off = auction.error if error is None else non_negative("error", error)
    return math.ceil(auction.effective_reserve + 2.0 * off + auction.batch) - 1


def bundle_welfare_bound(
    auction: PAlloc, *, optimum: float, held: int, unsatisfied: int, prices: ArrayLike, error: float | None = None,
) -> float:
    """A lower bound on the welfare SW of an auction of bundles:

        SW >= OPT - alpha H - U - sum over j of p_j beta

    In the bound, H is the number of held goods, U the number of unsatisfied bidders, p_j the price of good j, and beta
    = `most_unsold`. Without noise and with g = 1 the sum of p_j beta is 0.

    Proof. By gross substitutes, the goods S_i that a bidder holds are part of a most-preferred bundle at effective
    prices. The effective price of a held good is its price at winning, and the effective price of each other good is
    its current price. A good that is still held after outbid goods are dropped costs at most alpha more at current
    prices. Let O_i be the bidder's bundle in the optimum. A satisfied bidder, who would add no good, is within alpha
    |S_i| of their best:

        v_i(S_i) - p(S_i) >= v_i(O_i) - p(O_i) - alpha |S_i|

    An unsatisfied bidder holds goods that were worth their price, so v_i(S_i) >= p(S_i) - alpha |S_i|, while v_i(O_i)
    <= 1. The sum over all bidders, where N_j is the number of sold copies of good j, is

        SW >= OPT - U - alpha H - sum_j p_j (s_j - N_j)

    If the auction's bundle size b is below the largest bundle of the valuation class, OPT is the optimum over bundles
    of at most b goods.

    Args:
        auction: auction without a final clearing.
        optimum: optimal welfare OPT.
        held: number H of copies that all bidders hold together.
        unsatisfied: number U of bidders who would still add a good at the final prices.
        prices: final prices, shape (k,).
        error: largest error E of a published count, in bids. The default is the error bound of the auction, which holds
            except with the failure probability.

    Raises:
        NotGuaranteed: an auction with a final clearing, whose certificate bounds the welfare instead.

    Source: Wu 2017, Theorem 4.4.2 (its proof); spec allocation 3.3, 5.
    """
    at = np.asarray(prices, dtype=np.float64)
    if at.shape != (auction.goods,) or not bool((at >= 0.0).all()):
        raise InvalidInput("prices", "are not one number >= 0 for each good")
    unsold = np.minimum(most_unsold(auction, error), np.array(auction.copies))
    lost = [auction.increment * whole("held", held), float(whole("unsatisfied", unsatisfied)), *(at * unsold).tolist()]
    return finite("optimum", optimum) - math.fsum(lost)
