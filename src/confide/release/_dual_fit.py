"""Weights of a few records that fit noisy counts: maximum entropy with Gaussian slack, by Newton's method in the dual.

p minimises sum_j (n p.q_j - y_j)^2 / (2 sigma^2) + lam KL(p || uniform) over the simplex. With one multiplier for each
measurement p_i is in proportion to exp(-sum_j nu_j q_j(x_i)), and nu minimises

    ln mean_i exp(-nu.q(x_i)) + nu.y/n + kappa |nu|^2 / 2,      kappa = sigma^2 lam / n^2,

which is smooth and strictly convex. It sees records and measurements, and no data.

Source: spec query_release D5, step 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["GRADIENT", "fit_weights", "total_variation"]

GRADIENT = 1e-6
"""Of n: where the fit is done."""

_STEPS = 200
_HALVINGS = 60

_Floats = NDArray[np.float64]


def total_variation(weights: _Floats) -> float:
    """Half the L1 distance of weights from even ones: what reweighting can change in any answer."""
    return float(np.abs(weights - 1.0 / len(weights)).sum() / 2)


def fit_weights(values: NDArray[np.bool_], targets: _Floats, kappa: float) -> _Floats:
    """The weights.

    Args:
        values: (T, m) whether record i satisfies measured query j.
        targets: (m,) noisy counts over n.
        kappa: (sigma/n)^2 lam > 0: how much a target may be missed for the sake of even weights.

    Returns:
        (T,) > 0 up to underflow, of sum 1.

    Example:
        >>> values = np.array([[True], [False], [False], [False]])
        >>> fit_weights(values, np.array([0.5]), 1e-9).round(4).tolist()
        [0.5, 0.1667, 0.1667, 0.1667]
    """
    q = values.astype(np.float64)
    nu = np.zeros(q.shape[1])
    value, weights = _objective(q, nu, targets, kappa)
    for _ in range(_STEPS):
        expected = weights @ q
        gradient = targets + kappa * nu - expected
        if np.abs(gradient).max(initial=0.0) < GRADIENT:
            break
        step = _newton(np.sqrt(weights)[:, None] * (q - expected), gradient, kappa)
        slope, size = float(gradient @ step), 1.0
        for _ in range(_HALVINGS):
            ahead, there = _objective(q, nu - size * step, targets, kappa)
            if ahead <= value - 1e-4 * size * slope:
                break
            size /= 2
        else:  # rounding errors are all that is left
            break
        nu, value, weights = nu - size * step, ahead, there
    return weights


def _objective(q: _Floats, nu: _Floats, targets: _Floats, kappa: float) -> tuple[float, _Floats]:
    logits = -(q @ nu)
    top = float(logits.max())
    weights = np.exp(logits - top)
    total = float(weights.sum())
    value = top + np.log(total / len(q)) + float(nu @ targets) + kappa * float(nu @ nu) / 2
    return float(value), weights / total


def _newton(spread: _Floats, gradient: _Floats, kappa: float) -> _Floats:
    """(kappa I + S'S)^-1 gradient, in the smaller of both dimensions (Woodbury)."""
    records, queries = spread.shape
    if queries <= records:
        return np.asarray(np.linalg.solve(spread.T @ spread + kappa * np.eye(queries), gradient))
    inner = np.linalg.solve(spread @ spread.T + kappa * np.eye(records), spread @ gradient)
    return np.asarray((gradient - spread.T @ inner) / kappa)
