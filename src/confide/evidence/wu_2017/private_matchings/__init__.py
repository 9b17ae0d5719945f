"""Chapter 4 of Wu 2017: matchings and allocations of bundles under joint differential privacy."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
