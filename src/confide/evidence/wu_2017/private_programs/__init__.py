"""Chapters 5 and 6 of Wu 2017: convex programs under joint differential privacy."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "printed_dude": ("PrintedDude",),
    },
)
