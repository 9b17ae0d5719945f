"""The source's auctions with its own constants: settings, what its theorems ask for, and Algorithm 4 as printed.

Nothing here is fit for use, and its guarantees say why: the constants are vacuous at every realistic size, and the
printed noise costs more than the epsilon it is named after. It is kept to be compared with, and to check claims.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.allocation.printed.printed_auction import PrintedPMatch
    from confide.allocation.printed.printed_billboard import PrintedBillboard
    from confide.allocation.printed.settings import BidsSetting, BundleSetting, MatchingSetting
    from confide.allocation.printed.smallest import (
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
    "BidsSetting",
    "Bookkeeping",
    "BundleSetting",
    "LeastToRun",
    "MatchingSetting",
    "PrintedBillboard",
    "PrintedPMatch",
    "Threshold",
    "bids_threshold",
    "bundle_threshold",
    "least_to_run",
    "matching_threshold",
    "smallest_epsilon",
    "smallest_people",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "printed_auction": ("PrintedPMatch",),
        "printed_billboard": ("PrintedBillboard",),
        "settings": ("BidsSetting", "BundleSetting", "MatchingSetting"),
        "smallest": ("Bookkeeping", "LeastToRun", "Threshold", "bids_threshold", "bundle_threshold", "least_to_run",
                     "matching_threshold", "smallest_epsilon", "smallest_people"),
    },
)
