# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.release.marginal_fit.fitted_marginals import FittedMarginals as FittedMarginals
from confide.release.marginal_fit.fitted_marginals import FittedMarginalsCertificate as FittedMarginalsCertificate
from confide.release.marginal_fit.measured import MeasuredTables as MeasuredTables
from confide.release.marginal_fit.mechanism import MarginalFit as MarginalFit

__all__ = [
    "FittedMarginals", "FittedMarginalsCertificate", "MarginalFit", "MeasuredTables",
]
