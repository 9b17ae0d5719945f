"""Cummings, Ioannidis and Ligett 2015, "Truthful linear regression"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.evidence.cummings_2015.corollary import Corollary1, corollary_1, slopes
    from confide.evidence.cummings_2015.printed_mechanism import PrintedTruthfulRegression
    from confide.evidence.cummings_2015.printed_numbers import (
        Printed,
        PrintedRow,
        compare_spectrum,
        printed_confidence,
        printed_guarantees,
        printed_least_payment,
        printed_least_squares,
        printed_remark,
        printed_rows,
    )
    from confide.evidence.cummings_2015.printed_ridge import PrintedRidge

__all__ = [
    "Corollary1",
    "Printed",
    "PrintedRidge",
    "PrintedRow",
    "PrintedTruthfulRegression",
    "compare_spectrum",
    "corollary_1",
    "printed_confidence",
    "printed_guarantees",
    "printed_least_payment",
    "printed_least_squares",
    "printed_remark",
    "printed_rows",
    "slopes",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "corollary": ("Corollary1", "corollary_1", "slopes"),
        "printed_mechanism": ("PrintedTruthfulRegression",),
        "printed_numbers": (
            "Printed", "PrintedRow", "compare_spectrum", "printed_confidence", "printed_guarantees",
            "printed_least_payment", "printed_least_squares", "printed_remark", "printed_rows",
        ),
        "printed_ridge": ("PrintedRidge",),
    },
)
