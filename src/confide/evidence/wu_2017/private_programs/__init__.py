"""Chapters 5 and 6 of Wu 2017: convex programs under joint differential privacy."""

from confide._lazy import doors

__all__, __getattr__, __dir__ = doors(
    __name__,
    {
        "printed_dude": ("PrintedDude",),
    },
)
