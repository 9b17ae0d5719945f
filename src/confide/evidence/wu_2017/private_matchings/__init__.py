"""Chapter 4: matchings and allocations of bundles under joint differential privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.evidence.wu_2017.private_matchings.lower_bounds import (
        Floor,
        allocation_floor,
        least_supply,
        price_floor,
        printed_supply_floor,
        reconstruction_floor,
        supply_floor,
    )
    from confide.evidence.wu_2017.private_matchings.multiplicative import (
        BidsPromise,
        OptimumRange,
        OptimumRelease,
        bids_promise,
        keep_promise,
        multiplicative_auction,
    )
    from confide.evidence.wu_2017.private_matchings.printed_auction import PrintedPMatch
    from confide.evidence.wu_2017.private_matchings.printed_billboard import PrintedBillboard
    from confide.evidence.wu_2017.private_matchings.printed_bundles import PrintedBundles
    from confide.evidence.wu_2017.private_matchings.settings import BidsSetting, BundleSetting, MatchingSetting
    from confide.evidence.wu_2017.private_matchings.smallest import (
        Bookkeeping,
        LeastToRun,
        Threshold,
        bids_threshold,
        bundle_threshold,
        least_to_run,
        matching_threshold,
        smallest_epsilon,
        smallest_people,
    )

__all__ = [
    "BidsPromise",
    "BidsSetting",
    "Bookkeeping",
    "BundleSetting",
    "Floor",
    "LeastToRun",
    "MatchingSetting",
    "OptimumRange",
    "OptimumRelease",
    "PrintedBillboard",
    "PrintedBundles",
    "PrintedPMatch",
    "Threshold",
    "allocation_floor",
    "bids_promise",
    "bids_threshold",
    "bundle_threshold",
    "keep_promise",
    "least_supply",
    "least_to_run",
    "matching_threshold",
    "multiplicative_auction",
    "price_floor",
    "printed_supply_floor",
    "reconstruction_floor",
    "smallest_epsilon",
    "smallest_people",
    "supply_floor",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "lower_bounds": (
            "Floor", "allocation_floor", "least_supply", "price_floor", "printed_supply_floor", "reconstruction_floor",
            "supply_floor",
        ),
        "multiplicative": (
            "BidsPromise", "OptimumRange", "OptimumRelease", "bids_promise", "keep_promise", "multiplicative_auction",
        ),
        "printed_auction": ("PrintedPMatch",),
        "printed_billboard": ("PrintedBillboard",),
        "printed_bundles": ("PrintedBundles",),
        "settings": ("BidsSetting", "BundleSetting", "MatchingSetting"),
        "smallest": (
            "Bookkeeping", "LeastToRun", "Threshold", "bids_threshold", "bundle_threshold", "least_to_run",
            "matching_threshold", "smallest_epsilon", "smallest_people",
        ),
    },
)
