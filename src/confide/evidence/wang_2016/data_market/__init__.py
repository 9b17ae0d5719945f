"""Chapters 3 to 5: buying private bits at known costs, at unknown ones, and under a general prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.evidence.wang_2016.data_market.enumeration import enumerated_interim, genie_replica, relabelled_rule
    from confide.evidence.wang_2016.data_market.genie import GenieMarket
    from confide.evidence.wang_2016.data_market.heterogeneous import HeterogeneousMarket
    from confide.evidence.wang_2016.data_market.least_pair import PairOptimum, least_pair_payment

__all__ = [
    "GenieMarket",
    "HeterogeneousMarket",
    "PairOptimum",
    "enumerated_interim",
    "genie_replica",
    "least_pair_payment",
    "relabelled_rule",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "enumeration": ("enumerated_interim", "genie_replica", "relabelled_rule"),
        "genie": ("GenieMarket",),
        "heterogeneous": ("HeterogeneousMarket",),
        "least_pair": ("PairOptimum", "least_pair_payment"),
    },
)
