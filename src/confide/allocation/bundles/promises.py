"""What an auction of bundles is known to achieve: from its public numbers, and as it was printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import ArrayLike

from confide.contract.checks import finite, non_negative, whole
from confide.contract.errors import InvalidInput, NotGuaranteed
from confide.contract.parameters import Declared, Parameter
from confide.contract.renamed import renamed
from confide.privacy.tree_blocks import levels

if TYPE_CHECKING:
    from confide.allocation.palloc import PAlloc

__all__ = ["PrintedBundles", "bundle_welfare_bound", "most_unsold"]


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


@renamed(gamma="failure_probability")
@dataclass(frozen=True, kw_only=True)
class PrintedBundles(Declared):
    """The numbers of PAlloc(alpha, rho, epsilon) as they were printed, and the sizes that they would take.

    The failure probability is missing in print.

    Source: Wu 2017, Algorithm 6, Theorems 4.4.1 and 4.4.2; spec allocation 5, 9.

    Example:
        >>> PrintedBundles(people=10**6, goods=100, supply=20_000, increment=0.1, unsatisfied=0.1, epsilon=1.0,
        ...                failure_probability=0.05).possible
        False
    """

    people: Annotated[int, Parameter("number of bidders", symbol="n", at_least=1)]
    goods: Annotated[int, Parameter("number of different goods", symbol="k", at_least=1)]
    supply: Annotated[int, Parameter("copies of each good", symbol="s", at_least=1)]
    increment: Annotated[float, Parameter("step from one price to the next", symbol="alpha", above=0, at_most=1)]
    unsatisfied: Annotated[float, Parameter("share of bidders who may stay unsatisfied", symbol="rho", above=0,
                                            at_most=1)]
    epsilon: Annotated[float, Parameter("privacy loss of the whole auction", unit="nats", above=0)]
    failure_probability: Annotated[float, Parameter("probability that a promise fails", symbol="gamma", above=0,
                                                    below=1)]

    @property
    def market(self) -> int:
        """d = k s."""
        return self.goods * self.supply

    @property
    def rounds(self) -> int:
        """T = 10/(alpha rho), rounded up."""
        return math.ceil(10.0 / (self.increment * self.unsatisfied) * (1.0 - 2.0**-40))

    @property
    def error(self) -> float:
        """E = (2 sqrt 2/epsilon') (log2 nT)^(5/2) ln(4k/gamma) + 1, epsilon' = epsilon/(2T)."""
        counter = self.epsilon / (2 * self.rounds)
        return 1.0 + (2.0 * math.sqrt(2.0) / counter * math.pow(math.log2(self.people * self.rounds), 2.5)
                      * math.log(4 * self.goods / self.failure_probability))

    @property
    def reserve(self) -> float:
        """m = 2E + 1."""
        return 2.0 * self.error + 1.0

    @property
    def halt_below(self) -> float:
        """rho d - 2E."""
        return self.unsatisfied * self.market - 2.0 * self.error

    @property
    def possible(self) -> bool:
        """Whether anything is left to sell, and it can halt."""
        return self.supply - self.reserve >= 1.0 and self.halt_below > 0.0

    @property
    def loss(self) -> float:
        """What the printed noise is proved to cost: epsilon 3T h/(2T log2(nT)), since reports add a half, and a bid
        lies in h = floor(log2 nT) + 1 sums.
        """
        horizon = self.people * self.rounds
        return self.epsilon * 1.5 * levels(horizon, 2) / math.log2(horizon)

    @property
    def theorem_error(self) -> float:
        """E' of a run with (alpha/3, alpha/3)."""
        alpha = self.increment
        return 1.0 + (360.0 * math.sqrt(2.0) / (alpha**2 * self.epsilon)
                      * math.pow(math.log2(90.0 * self.people / alpha**2),
                                 2.5) * math.log(4 * self.goods / self.failure_probability))

    @property
    def theorem_supply(self) -> float:
        """The least s for SW >= OPT - alpha d: (12 E' + 3)/alpha; d > n; d >= 24 E'/alpha, which the print omits."""
        off = self.theorem_error
        return max((12.0 * off + 3.0) / self.increment, (self.people + 1) / self.goods,
                   24.0 * off / self.increment / self.goods)

    @property
    def theorem_loss(self) -> float:
        """alpha d, of which the theorem speaks; vacuous from n on, as nobody's bundle is worth more than 1."""
        return self.increment * self.market
