"""Chapters 5 and 6: convex programs under joint differential privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.evidence.wu_2017.private_programs.printed_dude import PrintedDude

__all__ = [
    "PrintedDude",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "printed_dude": ("PrintedDude",),
    },
)
