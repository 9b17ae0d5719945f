"""Chapters 3 to 5 of Wang 2016: buying private bits at known costs, at unknown costs, and under a general prior."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "enumeration": ("enumerated_interim", "genie_replica", "relabelled_rule"),
        "genie": ("GenieMarket",),
        "heterogeneous": ("HeterogeneousMarket",),
        "least_pair": ("PairOptimum", "least_pair_payment"),
    },
)
