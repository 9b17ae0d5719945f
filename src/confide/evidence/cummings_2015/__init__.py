"""Cummings, Ioannidis and Ligett 2015, "Truthful linear regression"."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
