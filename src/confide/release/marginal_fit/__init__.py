"""MarginalFit: adaptively chosen noisy tables, and a population that fits them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.release.marginal_fit.fitted_marginals import FittedMarginals, FittedMarginalsCertificate
    from confide.release.marginal_fit.measured import MeasuredTables
    from confide.release.marginal_fit.mechanism import MarginalFit


__all__ = ["FittedMarginals", "FittedMarginalsCertificate", "MarginalFit", "MeasuredTables"]

__getattr__, __dir__ = doors(
    __name__,
    {
        "fitted_marginals": ("FittedMarginals", "FittedMarginalsCertificate"),
        "measured": ("MeasuredTables",),
        "mechanism": ("MarginalFit",),
    },
)
