"""The mechanism MarginalFit: adaptively chosen noisy tables, and a synthetic population that fits them."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "fitted_marginals": ("FittedMarginals", "FittedMarginalsCertificate"),
        "measured": ("MeasuredTables",),
        "mechanism": ("MarginalFit",),
    },
)
