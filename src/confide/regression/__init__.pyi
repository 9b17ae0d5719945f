# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.regression.bernoulli_peers import BernoulliBillboard as BernoulliBillboard
from confide.regression.bernoulli_peers import BernoulliPeers as BernoulliPeers
from confide.regression.bernoulli_peers import BetaPrior as BetaPrior
from confide.regression.bernoulli_peers import FinitePrior as FinitePrior
from confide.regression.costs import DependentCosts as DependentCosts
from confide.regression.costs import EmpiricalCosts as EmpiricalCosts
from confide.regression.costs import ExponentialCosts as ExponentialCosts
from confide.regression.costs import ParetoCosts as ParetoCosts
from confide.regression.costs import QuadraticCosts as QuadraticCosts
from confide.regression.guarantees import Figures as Figures
from confide.regression.planner import RegressionPlan as RegressionPlan
from confide.regression.planner import plan as plan
from confide.regression.posterior import PosteriorMean as PosteriorMean
from confide.regression.priors import Atoms as Atoms
from confide.regression.priors import GaussianBall as GaussianBall
from confide.regression.priors import SampledPrior as SampledPrior
from confide.regression.priors import TabulatedNoise as TabulatedNoise
from confide.regression.priors import TruncatedGaussianNoise as TruncatedGaussianNoise
from confide.regression.priors import UniformBall as UniformBall
from confide.regression.priors import UniformBox as UniformBox
from confide.regression.priors import UniformNoise as UniformNoise
from confide.regression.priors import UniformSphere as UniformSphere
from confide.regression.private_regression import PrivateRegression as PrivateRegression
from confide.regression.private_truthful_regression import Behaviour as Behaviour
from confide.regression.private_truthful_regression import PaymentScheme as PaymentScheme
from confide.regression.private_truthful_regression import PrivateTruthfulRegression as PrivateTruthfulRegression
from confide.regression.private_truthful_regression import RegressionBillboard as RegressionBillboard
from confide.regression.release import AdaSSP as AdaSSP
from confide.regression.release import Averaged as Averaged
from confide.regression.release import RidgeRelease as RidgeRelease
from confide.regression.release import SufficientStatistics as SufficientStatistics
from confide.regression.scoring import ScoringRule as ScoringRule
from confide.regression.setting import Setting as Setting
from confide.regression.truthful_regression import LeastSquaresBillboard as LeastSquaresBillboard
from confide.regression.truthful_regression import TruthfulRegression as TruthfulRegression

__all__ = [
    "AdaSSP", "Atoms", "Averaged", "Behaviour", "BernoulliBillboard", "BernoulliPeers", "BetaPrior", "DependentCosts",
    "EmpiricalCosts", "ExponentialCosts", "Figures", "FinitePrior", "GaussianBall", "LeastSquaresBillboard",
    "ParetoCosts", "PaymentScheme", "PosteriorMean", "PrivateRegression", "PrivateTruthfulRegression",
    "QuadraticCosts", "RegressionBillboard", "RegressionPlan", "RidgeRelease", "SampledPrior", "ScoringRule",
    "Setting", "SufficientStatistics", "TabulatedNoise", "TruncatedGaussianNoise", "TruthfulRegression", "UniformBall",
    "UniformBox", "UniformNoise", "UniformSphere", "plan",
]
