"""A comparison of the release estimators by their predicted errors, which follow from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from confide.contract.remedies import outward
from confide.regression.release.ada_ssp import AdaSSP
from confide.regression.release.base import Release
from confide.regression.release.output_perturbation import Averaged, RidgeRelease
from confide.regression.release.sufficient_statistics import SufficientStatistics
from confide.regression.setting import Setting

__all__ = ["KINDS", "RELEASES", "Compared", "best_ridge", "best_ridge_release", "compared", "knowing_nothing",
           "least_epsilon"]

RELEASES = ("auto", "ridge", "averaged", "sufficient statistics", "adassp")
"""Names of the release estimators in plans and campaign files."""

KINDS: Mapping[str, type[Release]] = {
    "ridge": RidgeRelease, "averaged": Averaged, "sufficient statistics": SufficientStatistics, "adassp": AdaSSP}
"""Mapping from the name of a release estimator to its class."""

_EPSILONS, _CLOSE = (2.0**-20, 2.0**10), 1e-4  # that are looked at for an error, and how finely


def knowing_nothing(setting: Setting) -> float:
    """The squared prediction error of a release of all zeros: E(x'theta)^2 for a theta of length R0."""
    return setting.parameter_bound**2 * float(setting.eigenvalues.mean())


def best_ridge(setting: Setting, release: Callable[[float], Release]) -> float:
    """The ridge weight with the least predicted error of a prediction, by one-dimensional search (spec
    truthful_regression section 8).

    Args:
        setting: public facts of the regression.
        release: function from a ridge weight to the release estimator.
    """
    from scipy.optimize import minimize_scalar  # slow to import, and the other functions of this module do not need it

    def error(log_ridge: float) -> float:
        return release(math.exp(log_ridge)).prediction_error(setting)

    grid = np.log(np.geomspace(1e-4 * math.sqrt(setting.people), 10.0 * setting.people, 121))
    best = min(grid, key=error)
    step = float(grid[1] - grid[0])
    found = minimize_scalar(error, bounds=(best - step, best + step), method="bounded", options={"xatol": 1e-10})
    return math.exp(float(found.x))


def best_ridge_release(setting: Setting, epsilon: float) -> float:
    """The best ridge weight gamma_r of a ridge release with a given epsilon."""
    return best_ridge(setting, lambda ridge: RidgeRelease(epsilon=epsilon, ridge=ridge))


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The release estimators that a privacy budget allows, and the chosen one.

    Args:
        estimators: mapping from a name in `RELEASES` to the estimator.
        errors: mapping from the name to the predicted squared error of a prediction.
        chosen: name of the estimator with the least predicted error, or the name that the caller gave.
        ridge_payment: ridge weight of the payment estimates.
    """

    estimators: Mapping[str, Release]
    errors: Mapping[str, float]
    chosen: str
    ridge_payment: float

    @property
    def error(self) -> float:
        """The predicted squared error of the chosen estimator."""
        return self.errors[self.chosen]


def compared(
    setting: Setting, release: str, *, delta: float, epsilon_release: float, epsilon_payment: float,
    ridge_payment: float | None,
) -> Compared:
    """Predict the error of every release estimator that a privacy budget allows.

    Args:
        setting: public facts of the regression.
        release: name in `RELEASES`; "auto" chooses the estimator with the least predicted error.
        delta: failure probability delta of the release's privacy.
        epsilon_release: privacy loss epsilon of the release, in addition to the loss of the payment estimates.
        epsilon_payment: privacy loss epsilon of the payment estimates.
        ridge_payment: ridge weight of the payment estimates; None for the default of `confide.regression.plan`.
    """
    if ridge_payment is None and release == "averaged":
        ridge_payment = best_ridge(
            setting, lambda ridge: Averaged(epsilon_payment=epsilon_payment, ridge_payment=ridge))
    elif ridge_payment is None:
        ridge_payment = setting.diameter * math.sqrt(setting.features + 1) / (
            setting.parameter_bound * epsilon_payment)
    estimators: dict[str, Release] = {
        "ridge": RidgeRelease(epsilon=epsilon_release, ridge=best_ridge_release(setting, epsilon_release)),
        "averaged": Averaged(epsilon_payment=epsilon_payment, ridge_payment=ridge_payment),
        "sufficient statistics": SufficientStatistics(epsilon=epsilon_release),
    }
    if delta > 0:
        estimators["adassp"] = AdaSSP(epsilon=epsilon_release, delta=delta)
    errors = {name: each.prediction_error(setting) for name, each in estimators.items()}
    chosen = min(errors, key=lambda name: errors[name]) if release == "auto" else release
    return Compared(estimators=estimators, errors=errors, chosen=chosen, ridge_payment=ridge_payment)


def least_epsilon(error: float, error_at: Callable[[float], float]) -> float | None:
    """The least epsilon, to about four digits, whose predicted error is at most `error`; None where no epsilon
    suffices.

    Args:
        error: largest accepted error.
        error_at: function from an epsilon to the predicted error, which falls with epsilon.
    """
    low, high = _EPSILONS
    if error_at(high) > error:
        return None
    while high > low * (1.0 + _CLOSE):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if error_at(middle) <= error else (middle, high)
    return outward(high)
