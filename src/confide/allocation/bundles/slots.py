"""A bidder's slot in an auction of bundles, in plain numbers: the same steps on her device and in the auction.

What she holds has the price that it was won at; one more good has today's. In her slot she drops what was outbid, then
bids on one good of a most-preferred superset of what she still holds, if that is strictly better.

Source: Wu 2017, Algorithm 6, corrected; spec allocation 5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending.running import Rules
from confide.allocation.bundles.bidders import Bidder, BundleClass
from confide.allocation.bundles.exposure import OutbidTests
from confide.contract.wire import wire

__all__ = ["BundleRules", "Standing"]


@wire("BundleRules", "people goods supply increment rounds batch bid_cap charge valuation bundle outbid_tests reports")
@dataclass(frozen=True, kw_only=True)
class BundleRules(Rules):
    """What everybody has to know to bid on bundles.

    Args:
        valuation: the class of everybody's valuation.
        bundle: b, goods that one bidder may hold; who holds as many does not bid.
        outbid_tests: when goods are dropped: in the "slot" of who holds them, or at "round_end".
        reports: whether everybody is asked at the end of a round if she would bid once more.
    """

    valuation: BundleClass
    bundle: int
    outbid_tests: OutbidTests = "slot"
    reports: bool = False


@dataclass(kw_only=True, slots=True)
class Standing:
    """How one bidder stands. Private.

    Args:
        goods: that she holds, as she won them.
        seen: the count of each just before her bid.
        bids: that she made.
        idle: whether nothing adds more than its price to what she holds; so it stays until she loses a good.
    """

    goods: list[int] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)
    bids: int = 0
    idle: bool = False

    def drop(self, counts: NDArray[np.int64], rules: Rules) -> None:
        """Goods after whose bid too many others were counted.

        Args:
            counts: (k,) as published.
            rules: the auction's.
        """
        if self.bids >= rules.bid_cap:  # she never bids again: the end decides
            return
        kept = [(good, seen) for good, seen in zip(self.goods, self.seen, strict=True)
                if int(counts[good]) - seen <= rules.supply[good]]
        if len(kept) < len(self.goods):
            self.goods, self.seen = [good for good, _ in kept], [seen for _, seen in kept]
            self.idle = False

    def wants(self, bidder: Bidder, prices: NDArray[Any], rules: BundleRules) -> int:
        """The good that she would bid on, -1 for none.

        Args:
            bidder: her valuation.
            prices: (k,) of one more of each good.
            rules: the auction's.
        """
        if self.bids >= rules.bid_cap or self.idle or len(self.goods) >= rules.bundle:
            return -1
        good = bidder.pick(self.goods, prices)
        self.idle = good < 0
        return good

    def slot(self, bidder: Bidder, prices: NDArray[Any], counts: NDArray[np.int64], rules: BundleRules) -> int:
        """Her slot; returns the good that she bids on, -1 for none.

        Args:
            bidder: her valuation.
            prices: (k,) of the last release.
            counts: (k,) of the last release.
            rules: the auction's.
        """
        if rules.outbid_tests == "slot":
            self.drop(counts, rules)
        good = self.wants(bidder, prices, rules)
        if good >= 0:
            self.goods.append(good)
            self.seen.append(int(counts[good]))
            self.bids += 1
        return good

    def round_end(self, bidder: Bidder, prices: NDArray[Any], counts: NDArray[np.int64], rules: BundleRules) -> bool:
        """The end of a round; returns whether she would bid once more, where anybody asks."""
        if rules.outbid_tests == "round_end":
            self.drop(counts, rules)
        return rules.reports and self.wants(bidder, prices, rules) >= 0
