# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.regression.release.ada_ssp import AdaSSP as AdaSSP
from confide.regression.release.base import Interval as Interval
from confide.regression.release.base import Release as Release
from confide.regression.release.base import Released as Released
from confide.regression.release.output_perturbation import Averaged as Averaged
from confide.regression.release.output_perturbation import RidgeRelease as RidgeRelease
from confide.regression.release.sufficient_statistics import SufficientStatistics as SufficientStatistics

__all__ = [
    "AdaSSP", "Averaged", "Interval", "Release", "Released", "RidgeRelease", "SufficientStatistics",
]
