"""Former place of the auctions with the constants of the source, which are in
`confide.evidence.wu_2017.private_matchings`.

The module is to be removed in confide 1.0.0.
"""

from __future__ import annotations

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
