"""Chapter 3, and what chapter 2 says of the query game: many counting queries, and synthetic records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.evidence.wu_2017.query_release.printed_dual_query import PrintedDualQuery
    from confide.evidence.wu_2017.query_release.printed_program import (
        PrintedIntegerProgram,
        printed_parity_row,
        row_defects,
    )

__all__ = [
    "PrintedDualQuery",
    "PrintedIntegerProgram",
    "printed_parity_row",
    "row_defects",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "printed_dual_query": ("PrintedDualQuery",),
        "printed_program": ("PrintedIntegerProgram", "printed_parity_row", "row_defects"),
    },
)
