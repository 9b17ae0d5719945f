"""Release estimators: how the public coefficients are made; each states its own privacy and error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.regression.release.ada_ssp import AdaSSP
    from confide.regression.release.base import Interval, Release, Released
    from confide.regression.release.output_perturbation import Averaged, RidgeRelease
    from confide.regression.release.sufficient_statistics import SufficientStatistics


__all__ = [
    "AdaSSP",
    "Averaged",
    "Interval",
    "Release",
    "Released",
    "RidgeRelease",
    "SufficientStatistics",
]

__getattr__, __dir__ = doors(
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
