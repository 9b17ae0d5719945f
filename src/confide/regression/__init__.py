"""Truthful linear regression: buying answers from people who care about privacy and may lie."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
