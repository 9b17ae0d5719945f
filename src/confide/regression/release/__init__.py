"""Release estimators: the methods that compute the published coefficients. Each estimator states its own privacy loss
and error.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "ada_ssp": ("AdaSSP",),
        "base": ("Interval", "Release", "Released"),
        "output_perturbation": ("Averaged", "RidgeRelease"),
        "sufficient_statistics": ("SufficientStatistics",),
    },
    moved={
        "evidence.cummings_2015": ("PrintedRidge",),
    },
)
