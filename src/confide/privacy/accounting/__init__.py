"""What a fixed list of events costs together: the accountant, and one module for each calculator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.privacy.accounting.accountant import CALCULATORS, FAST, Accountant, Calculator, matrix, mechanisms
    from confide.privacy.accounting.advanced import corollary_step, largest_step
    from confide.privacy.accounting.sums import (
        Spend,
        Totals,
        as_written,
        counted,
        float_up,
        spendable,
        totals,
        written,
        written_up,
    )


__all__ = [
    "CALCULATORS",
    "FAST",
    "Accountant",
    "Calculator",
    "Spend",
    "Totals",
    "as_written",
    "corollary_step",
    "counted",
    "float_up",
    "largest_step",
    "matrix",
    "mechanisms",
    "spendable",
    "totals",
    "written",
    "written_up",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "accountant": ("CALCULATORS", "FAST", "Accountant", "Calculator", "matrix", "mechanisms"),
        "advanced": ("corollary_step", "largest_step"),
        "sums": (
            "Spend", "Totals", "as_written", "counted", "float_up", "spendable", "totals", "written", "written_up",
        ),
    },
)
