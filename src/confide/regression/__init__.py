"""Truthful linear regression: buy answers from people who care about privacy and could lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.regression.corollary import Corollary1, corollary_1, slopes
    from confide.regression.costs import (
        DependentCosts,
        EmpiricalCosts,
        ExponentialCosts,
        ParetoCosts,
        QuadraticCosts,
    )
    from confide.regression.planner import RegressionPlan, plan
    from confide.regression.posterior import PosteriorMean
    from confide.regression.printed import Printed, PrintedRow, compare_spectrum, printed_guarantees
    from confide.regression.priors import (
        Atoms,
        SampledPrior,
        TabulatedNoise,
        TruncatedGaussianNoise,
        UniformBall,
        UniformNoise,
    )
    from confide.regression.private_truthful_regression import (
        Behaviour,
        Payment,
        PrivateTruthfulRegression,
        RegressionBillboard,
    )
    from confide.regression.release import AdaSSP, Averaged, PrintedRidge, RidgeRelease, SufficientStatistics
    from confide.regression.scoring import ScoringRule
    from confide.regression.setting import Setting


__all__ = [
    "AdaSSP",
    "Atoms",
    "Averaged",
    "Behaviour",
    "Corollary1",
    "DependentCosts",
    "EmpiricalCosts",
    "ExponentialCosts",
    "ParetoCosts",
    "Payment",
    "PosteriorMean",
    "Printed",
    "PrintedRidge",
    "PrintedRow",
    "PrivateTruthfulRegression",
    "QuadraticCosts",
    "RegressionBillboard",
    "RegressionPlan",
    "RidgeRelease",
    "SampledPrior",
    "ScoringRule",
    "Setting",
    "SufficientStatistics",
    "TabulatedNoise",
    "TruncatedGaussianNoise",
    "UniformBall",
    "UniformNoise",
    "compare_spectrum",
    "corollary_1",
    "plan",
    "printed_guarantees",
    "slopes",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "corollary": ("Corollary1", "corollary_1", "slopes"),
        "costs": ("DependentCosts", "EmpiricalCosts", "ExponentialCosts", "ParetoCosts", "QuadraticCosts"),
        "planner": ("RegressionPlan", "plan"),
        "posterior": ("PosteriorMean",),
        "priors": ("Atoms", "SampledPrior", "TabulatedNoise", "TruncatedGaussianNoise", "UniformBall", "UniformNoise"),
        "printed": ("Printed", "PrintedRow", "compare_spectrum", "printed_guarantees"),
        "private_truthful_regression": ("Behaviour", "Payment", "PrivateTruthfulRegression", "RegressionBillboard"),
        "release": ("AdaSSP", "Averaged", "PrintedRidge", "RidgeRelease", "SufficientStatistics"),
        "scoring": ("ScoringRule",),
        "setting": ("Setting",),
    },
)
