"""The total privacy cost of a fixed list of events: the accountant, and one module for each calculator."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "accountant": ("CALCULATORS", "FAST", "Accountant", "Calculator", "matrix", "mechanisms"),
        "advanced": ("corollary_step", "largest_step"),
        "sums": (
            "Spend", "Totals", "as_written", "counted", "float_up", "spendable", "totals", "written", "written_up",
        ),
    },
)
