"""The old place of the source's auctions with its own constants: `confide.evidence.wu_2017.private_matchings` has them.

It goes with confide 1.0.0.
"""

from __future__ import annotations

from confide._lazy import doors

__all__, __getattr__, __dir__ = doors(
    __name__,
    {},
    moved={
        "evidence.wu_2017.private_matchings": (
            "BidsSetting", "Bookkeeping", "BundleSetting", "LeastToRun", "MatchingSetting", "PrintedBillboard",
            "PrintedPMatch", "Threshold", "bids_threshold", "bundle_threshold", "least_to_run", "matching_threshold",
            "smallest_epsilon", "smallest_people",
        ),
    },
)
