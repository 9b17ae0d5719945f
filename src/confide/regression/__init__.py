"""Truthful linear regression: buy answers from people who care about privacy and could lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.regression.bernoulli_peers import BernoulliBillboard, BernoulliPeers, BetaPrior, FinitePrior
    from confide.regression.costs import (
        DependentCosts,
        EmpiricalCosts,
        ExponentialCosts,
        ParetoCosts,
        QuadraticCosts,
    )
    from confide.regression.guarantees import Figures
    from confide.regression.planner import RegressionPlan, plan
    from confide.regression.posterior import PosteriorMean
    from confide.regression.priors import (
        Atoms,
        GaussianBall,
        SampledPrior,
        TabulatedNoise,
        TruncatedGaussianNoise,
        UniformBall,
        UniformBox,
        UniformNoise,
        UniformSphere,
    )
    from confide.regression.private_regression import PrivateRegression
    from confide.regression.private_truthful_regression import (
        Behaviour,
        PaymentScheme,
        PrivateTruthfulRegression,
        RegressionBillboard,
    )
    from confide.regression.release import AdaSSP, Averaged, RidgeRelease, SufficientStatistics
    from confide.regression.scoring import ScoringRule
    from confide.regression.setting import Setting
    from confide.regression.truthful_regression import LeastSquaresBillboard, TruthfulRegression


__all__ = [
    "AdaSSP",
    "Atoms",
    "Averaged",
    "Behaviour",
    "BernoulliBillboard",
    "BernoulliPeers",
    "BetaPrior",
    "DependentCosts",
    "EmpiricalCosts",
    "ExponentialCosts",
    "Figures",
    "FinitePrior",
    "GaussianBall",
    "LeastSquaresBillboard",
    "ParetoCosts",
    "PaymentScheme",
    "PosteriorMean",
    "PrivateRegression",
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
    "TruthfulRegression",
    "UniformBall",
    "UniformBox",
    "UniformNoise",
    "UniformSphere",
    "plan",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "bernoulli_peers": ("BernoulliBillboard", "BernoulliPeers", "BetaPrior", "FinitePrior"),
        "costs": ("DependentCosts", "EmpiricalCosts", "ExponentialCosts", "ParetoCosts", "QuadraticCosts"),
        "guarantees": ("Figures",),
        "planner": ("RegressionPlan", "plan"),
        "posterior": ("PosteriorMean",),
        "priors": (
            "Atoms", "GaussianBall", "SampledPrior", "TabulatedNoise", "TruncatedGaussianNoise", "UniformBall",
            "UniformBox", "UniformNoise", "UniformSphere",
        ),
        "private_regression": ("PrivateRegression",),
        "private_truthful_regression": (
            "Behaviour", "PaymentScheme", "PrivateTruthfulRegression", "RegressionBillboard",
        ),
        "release": ("AdaSSP", "Averaged", "RidgeRelease", "SufficientStatistics"),
        "scoring": ("ScoringRule",),
        "setting": ("Setting",),
        "truthful_regression": ("LeastSquaresBillboard", "TruthfulRegression"),
    },
    renamed={"Payment": "PaymentScheme"},
    moved={
        "evidence.cummings_2015": (
            "Corollary1", "Printed", "PrintedRidge", "PrintedRow", "compare_spectrum", "corollary_1",
            "printed_guarantees", "slopes",
        ),
    },
)
