"""Chapter 7: targeted search of a private network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.evidence.wu_2017.targeted_search.printed import printed_search

__all__ = [
    "printed_search",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "printed": ("printed_search",),
    },
)
