"""Chapter 3 of Wu 2017, and parts of chapter 2: private answers to counting queries, and synthetic records."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "printed_dual_query": ("PrintedDualQuery",),
        "printed_program": ("PrintedIntegerProgram", "printed_parity_row", "row_defects"),
    },
)
