"""Chapter 3, and what chapter 2 says of the query game: many counting queries, and synthetic records."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "printed_dual_query": ("PrintedDualQuery",),
        "printed_program": ("PrintedIntegerProgram", "printed_parity_row", "row_defects"),
    },
)
