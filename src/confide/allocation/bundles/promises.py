"""What an auction of bundles is known to achieve: from its public numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from confide.contract.checks import finite, non_negative, whole
from confide.contract.errors import InvalidInput, NotGuaranteed

if TYPE_CHECKING:
    from confide.allocation.palloc import PAlloc

__all__ = ["bundle_welfare_bound", "most_unsold"]


def most_unsold(auction: PAlloc, error: float | None = None) -> int:
    """How many copies of a good with a positive price stay unsold at most: fewer than m + 2E + g.

    The holders of good j are the bids from batch b0 on, the first with pub(b0 - 1) >= pub_end - s'. Its price is
    positive, so pub_end >= s'. Either b0 = 1, and N_j >= pub_end - E; or true(b0 - 1) <= true(b0 - 2) + g
    < pub_end - s' + E + g, and N_j = true_end - true(b0 - 1) > s' - 2E - g. A bidder of a batch bids on one good at
    most, and copies that she holds of it are bids of their own, so nothing changes for bundles.

    Args:
        auction: without a final clearing, whose cuts follow other counts.
        error: E, what no published count is off by more; by default what it is not off by but with the failure
            probability.

    Raises:
        NotGuaranteed: it ends with a clearing.
    """
    if auction.reclear:
        raise NotGuaranteed("how many copies stay unsold", "the final clearing cuts by other counts")
    off = auction.error if error is None else non_negative("error", error)
    return math.ceil(auction.effective_reserve + 2.0 * off + auction.batch) - 1


def bundle_welfare_bound(
    auction: PAlloc, *, optimum: float, held: int, unsatisfied: int, prices: ArrayLike, error: float | None = None,
) -> float:
    """SW >= OPT - alpha H - U - sum over j of p_j beta, beta = `most_unsold`; without noise and g = 1 the last is 0.

    Held goods are part of a most-preferred bundle at effective prices, those at which they were won, today's for all
    others (gross substitutes). A good that is still held after the last ones were dropped costs alpha more today at
    most. So whoever would add nothing, a satisfied bidder, is within alpha |S_i| of her best: v_i(S_i) - p(S_i) >=
    v_i(O_i) - p(O_i) - alpha |S_i|. Whoever would, one of U, holds what was worth its price to her: v_i(S_i) >= p(S_i)
    - alpha |S_i|, and v_i(O_i) <= 1. In sum, SW >= OPT - U - alpha H - sum_j p_j (s_j - N_j).

    OPT is over bundles of b goods at most where b is less than the class wants.

    Args:
        auction: without a final clearing.
        optimum: OPT.
        held: H, goods that all bidders hold together.
        unsatisfied: U, those who would still add a good at the final prices.
        prices: (k,) at the end.
        error: E; by default what no published count is off by more but with the failure probability.

    Raises:
        NotGuaranteed: it ends with a clearing: its certificate tells instead.

    Source: Wu 2017, Theorem 4.4.2 (its proof); spec allocation 3.3, 5.
    """
    at = np.asarray(prices, dtype=np.float64)
    if at.shape != (auction.goods,) or not bool((at >= 0.0).all()):
        raise InvalidInput("prices", "are not one number >= 0 for each good")
    unsold = np.minimum(most_unsold(auction, error), np.array(auction.copies))
    lost = [auction.increment * whole("held", held), float(whole("unsatisfied", unsatisfied)), *(at * unsold).tolist()]
    return finite("optimum", optimum) - math.fsum(lost)
