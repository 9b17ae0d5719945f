"""Weights of a few records that fit noisy counts: maximum entropy with Gaussian slack, by Newton's method in the dual.

p minimises sum_j (n p.q_j - y_j)^2 / (2 sigma^2) + lam KL(p || uniform) over the simplex. With one multiplier for each
measurement p_i is in proportion to exp(-sum_j nu_j q_j(x_i)), and nu minimises

    ln mean_i exp(-nu.q(x_i)) + nu.y/n + kappa |nu|^2 / 2,      kappa = sigma^2 lam / n^2,

which is smooth and strictly convex. It sees records and measurements, and no data.

Source: spec query_release D5, step 4.

The queries that `Reweighted` measures, by rules that see what is public once DualQuery has run.

Source: spec query_release D5 (an extension of Wu 2017, Algorithm 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, NoReturn, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import NotGuaranteed
from confide.contract.parameters import Declared, Parameter
from confide.contract.wire import wire
from confide.privacy.noise.simulated import study_generator
from confide.release.records import PackedBits
from confide.release.synthetic import Rounds
from confide.release.workload import Workload

__all__ = [
    "FLOOR",
    "GRADIENT",
    "Fit",
    "MostDrawn",
    "SelectionRule",
    "Transcript",
    "fit",
    "fit_weights",
    "is_fit",
    "most_targets",
    "total_variation",
]

# ---- dual fit

GRADIENT = 1e-6
"""Of n: what a fit's gradient is below, or the fit has failed."""

FLOOR = 1e-9
"""The smallest kappa that is fitted: below, doubles do not tell exponents apart. Targets that some weights of T records
meet are missed by sqrt(2 kappa ln T) at most in all, which is 1e-4 for T = 100."""

_ENOUGH = 1e-13  # a gradient that rounding errors alone make
_FLAT = 1e9  # kappa from which weights are even to all digits that matter
_FIRST = 1.0  # kappa where the fit starts
_SHRINK = 4.0  # of kappa from one fit to the next
_STEPS = 50  # of Newton's method, for each kappa
_LAST = 200  # for the last kappa
_HALVINGS = 60
_MOST_WORK = 2**38  # of a fit, in products: minutes
_ROUNDING = 1e-15  # of the objective, which steps near the end may seem to raise
_GAP = 1e-9  # of 1 + the objective: two processors' fits differ by less

_Floats = NDArray[np.float64]


class Fit(NamedTuple):
    """Weights, and whether they are the best ones.

    Args:
        weights: (T,) of sum 1; even where the fit failed.
        found: whether the gradient is below 10^-6.
    """

    weights: _Floats
    found: bool


def total_variation(weights: _Floats) -> float:
    """Half the L1 distance of weights from even ones: what reweighting can change in any answer."""
    return float(np.abs(weights - 1.0 / len(weights)).sum() / 2)


def fit_weights(values: NDArray[np.bool_], targets: _Floats, kappa: float) -> _Floats:
    """The weights of `fit`.

    Example:
        >>> values = np.array([[True], [False], [False], [False]])
        >>> fit_weights(values, np.array([0.5]), 1e-9).round(4).tolist()
        [0.5, 0.1667, 0.1667, 0.1667]
    """
    return fit(values, targets, kappa).weights


def most_targets(records: int) -> int:
    """The number of targets to which T records may be fitted, at least 1: the smaller number squared times the larger,
    which is about what a fit takes, is 2^38 at most. Whoever verifies a release fits again.

    Args:
        records: T.

    Example:
        >>> most_targets(1000), most_targets(100_000)
        (274877, 1657)
    """
    return max(1, _MOST_WORK // records**2 if records**3 <= _MOST_WORK else math.isqrt(_MOST_WORK // records))


def fit(values: NDArray[np.bool_], targets: _Floats, kappa: float) -> Fit:
    """The weights that fit noisy counts best, by Newton's method for one kappa after the other, from a large one down
    to the one that is meant: each start is near its end, which a small kappa alone would not give.

    Nothing in it can fail. Where the gradient is not met, whatever the reason, the weights are even.

    Args:
        values: (T, m) whether record i satisfies measured query j.
        targets: (m,) noisy counts over n.
        kappa: (sigma/n)^2 lam > 0: how much a target may be missed for the sake of even weights. At least 10^-9 is
            used.
    """
    q = values.astype(np.float64)
    even = np.full(len(q), 1.0 / len(q))
    if not np.isfinite(targets).all() or not math.isfinite(kappa):
        return Fit(even, False)
    end = min(max(kappa, FLOOR), _FLAT)
    now, nu = max(end, _FIRST), np.zeros(q.shape[1])
    with np.errstate(all="ignore"):
        while now > end:
            nu, _, _ = _descend(q, nu, targets, now, _STEPS, 1e-3 * GRADIENT)
            now = max(now / _SHRINK, end)
        _, weights, gradient = _descend(q, nu, targets, end, _LAST, _ENOUGH)
    if not (gradient < GRADIENT and np.isfinite(weights).all()):
        return Fit(even, False)
    return Fit(weights / weights.sum(), True)


def is_fit(weights: _Floats, values: NDArray[np.bool_], targets: _Floats, kappa: float) -> bool:
    """Whether weights are what `fit` gives, on this processor or another: as good, by the objective that it minimises.

    Weights whose objective is within g of the smallest are within sqrt(2 g) of the best ones, summed over all records.
    """
    own = fit(values, targets, kappa)
    if not own.found:
        return bool(np.array_equal(weights, own.weights))
    used = min(max(kappa, FLOOR), _FLAT)
    best = _primal(own.weights, values, targets, used)
    return _primal(weights, values, targets, used) - best <= _GAP * (1 + best)


def _primal(weights: _Floats, values: NDArray[np.bool_], targets: _Floats, kappa: float) -> float:
    error = weights @ values.astype(np.float64) - targets
    some = weights[weights > 0]
    return float(error @ error) / (2 * kappa) + float((some * np.log(some * len(weights))).sum())


def _descend(
    q: _Floats, nu: _Floats, targets: _Floats, kappa: float, steps: int, close: float
) -> tuple[_Floats, _Floats, float]:
    """Newton steps from nu; the multipliers with the smallest gradient, their weights, and that gradient."""
    value, weights = _objective(q, nu, targets, kappa)
    best = (nu, weights, math.inf)
    for _ in range(steps):
        expected = weights @ q
        gradient = targets + kappa * nu - expected
        size = float(np.abs(gradient).max(initial=0.0))
        if not size < best[2] and best[2] < GRADIENT:
            break  # rounding errors are all that is left
        if size < best[2]:
            best = (nu, weights, size)
        if not size > close:
            break
        step = _newton(np.sqrt(weights)[:, None] * (q - expected), gradient, kappa)
        slope, length = float(gradient @ step), 1.0
        for _ in range(_HALVINGS):
            ahead, there = _objective(q, nu - length * step, targets, kappa)
            if ahead <= value - 1e-4 * length * slope + _ROUNDING * abs(value):
                break
            length /= 2
        else:
            break
        nu, value, weights = nu - length * step, ahead, there
    return best


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
        return _solved(spread.T @ spread + kappa * np.eye(queries), gradient)
    inner = _solved(spread @ spread.T + kappa * np.eye(records), spread @ gradient)
    return np.asarray((gradient - spread.T @ inner) / kappa)


def _solved(matrix: _Floats, right: _Floats) -> _Floats:
    """The solution, or the nearest one where rounding errors made a matrix singular; NaN where there is none."""
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        pass
    try:
        return np.asarray(np.linalg.lstsq(matrix, right)[0])
    except np.linalg.LinAlgError:
        return np.full(len(right), np.nan)


# ---- selection rules


@dataclass(frozen=True, kw_only=True, eq=False)
class Transcript:
    """All that a selection rule may see: what is public once DualQuery has run.

    Args:
        records: the T records.
        rounds: the samples that were drawn.
        workload: the queries.
        answers: (k,) those of the records with even weights.
        seed: public, for ties.
    """

    records: PackedBits
    rounds: Rounds
    workload: Workload
    answers: NDArray[np.float64] = field(repr=False)
    seed: int

    @property
    def true_errors(self) -> NoReturn:
        """There are none to be had: naming queries by their true errors reads the data, and must be charged.

        Raises:
            NotGuaranteed: always.
        """
        raise NotGuaranteed("a selection by true errors", "these are private, and no selection event pays for them",
                            "selection='private' draws by the exponential mechanism and charges rho_sel")


@runtime_checkable
class SelectionRule(Protocol):
    """Names measured queries from the transcript: a frozen dataclass of public parameters."""

    def choose(self, transcript: Transcript, count: int) -> NDArray[np.int64]:
        """`count` different positions in the workload."""
        ...


@wire("MostDrawn", "last")
@dataclass(frozen=True, kw_only=True)
class MostDrawn(Declared):
    """The queries that were drawn most often in the last rounds, then in all, then any: where the records were seen to
    be wrong last. Queries that cancelled against their negations count as what is left.
    """

    last: Annotated[int, Parameter("last rounds that count first", at_least=1)] = 10

    def choose(self, transcript: Transcript, count: int) -> NDArray[np.int64]:
        k, rounds = len(transcript.workload), transcript.rounds
        drawn = np.abs(rounds.weights)
        begin = int(rounds.ends[-self.last - 1]) if self.last < len(rounds) else 0
        total = np.bincount(rounds.queries, weights=drawn, minlength=k)
        recent = np.bincount(rounds.queries[begin:], weights=drawn[begin:], minlength=k)
        ties = study_generator(transcript.seed, "ties").permutation(k)
        return np.asarray(np.lexsort((ties, -total, -recent))[:count])
