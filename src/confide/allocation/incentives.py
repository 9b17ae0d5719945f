"""What a lie can gain where the final prices are charged. Without payments nothing is claimed.

Whatever she reports, a bidder gets at most u* = max(0, max_j v_ij - p_j) at the final prices, a number in [0, 1]. The
prices are private, so her report moves the mean of u* by at most the total variation distance of two neighbouring
price paths. Truth gives her u* less her regret, unless she ends unsatisfied: outbid in the last round, out of bids, not
admitted, or cut off. How likely that is for one bidder has no bound; it is added, and may be estimated on a public
prior.

Source: spec allocation 7, with total variation in place of e^epsilon - 1, which is never less.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from confide.contract.checks import fraction, non_negative, positive, whole
from confide.privacy.accounting import float_up
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

if TYPE_CHECKING:
    from confide.allocation.pmatch import PMatch

__all__ = ["lie_gain", "mean_shift", "participation", "prices_loss", "regret"]


def mean_shift(loss: PureDP | ApproxDP | ZCDP) -> float:
    """By how much the mean of a number in [0, 1] moves at most between two neighbours: their total variation distance.

    (e^epsilon - 1 + 2 delta)/(e^epsilon + 1) for (epsilon, delta), which randomised response attains; for rho the
    lesser of what zCDP gives at epsilon = 0 and Pinsker's sqrt(rho/2). Rounded up.

    Args:
        loss: for records that are replaced.

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
    """How much less a bidder may get at the final prices than what she likes best at them.

    Args:
        increment: alpha.
        supply: s', of her good; it counts with a cut alone.
        cut: the age up to which bidders are admitted after a final clearing; None without one.

    Returns:
        alpha: whoever holds a good saw at most s' bids counted since, so that its price rose once at most. After a
        final clearing alpha ceil(cut/s').

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
    """What a lie gains at most, in the mean, whatever the others report, where final prices are charged.

    Args:
        epsilon: of the prices, for a record that is replaced, >= 0.
        increment: alpha.
        delta: of the prices.
        unsatisfied: the probability that a truthful bidder ends unsatisfied, in [0, 1].
        supply: s', with a cut.
        cut: see `regret`; whoever is not admitted is unsatisfied.

    Example:
        >>> round(lie_gain(1.0, 0.1), 3), round(lie_gain(0.1, 0.1, unsatisfied=0.05), 3)
        (0.562, 0.2)
    """
    shift = mean_shift(ApproxDP(non_negative("epsilon", epsilon), fraction("delta", delta, zero=True)))
    return shift + regret(increment, supply=supply, cut=cut) + non_negative("unsatisfied", unsatisfied, at_most=1.0)


def participation(increment: float, *, returns: bool, supply: int = 1, cut: int | None = None) -> float:
    """The least that a truthful bidder gets, after every run, where final prices are charged.

    Args:
        increment: alpha.
        returns: whether a good that is not worth its final price is not taken, and not paid for.
        supply: s', with a cut.
        cut: see `regret`.

    Returns:
        0 with returns, else -regret: her good was worth its price when she bid.
    """
    return 0.0 if returns else -regret(increment, supply=supply, cut=cut)


def prices_loss(auction: PMatch) -> PureDP | ZCDP:
    """What the price path costs for a bidder who is replaced: all releases but the final clearing and the certificate.

    Under `add_remove` a replacement is two steps: twice epsilon, four times rho.

    Args:
        auction: not one with plenty for all, where nothing is released.
    """
    spent = auction.part(1.0) - auction.part(auction.reclear) - auction.part(auction.certify_with)
    steps = 1 if auction.neighbours == "replace" else 2
    if auction.law == "laplace":
        return PureDP(float_up(steps * spent))
    return ZCDP(float_up(Fraction(steps**2) * spent))
