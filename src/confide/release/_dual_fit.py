"""Fit of the weights of a few records to noisy counts: maximum entropy with Gaussian slack, by Newton's method in the
dual.

The weights p minimise

    sum_j (n p.q_j - y_j)^2 / (2 sigma^2) + lam KL(p || uniform)

over the simplex. In this objective q_j is the vector of answers of the records to measured query j, y_j is the noisy
count of query j, and sigma is the standard deviation of the noise. The dual problem has one multiplier nu_j for each
measurement. The weight p_i of record x_i is proportional to exp(-sum_j nu_j q_j(x_i)), and nu minimises the smooth and
strictly convex function

    ln mean_i exp(-nu.q(x_i)) + nu.y/n + kappa |nu|^2 / 2, kappa = sigma^2 lam / n^2.

The fit reads the records and the noisy measurements, and no private data.

Source: spec query_release D5, step 4.

The module also has the rules by which `Reweighted` selects the queries to measure. The rules depend on data that are
public after DualQuery has run.

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
"""Largest absolute entry of the gradient, as a fraction of the n records, at which a fit counts as converged. A fit
with a larger gradient has failed.
"""

FLOOR = 1e-9
"""Smallest kappa in a fit, since for smaller kappas doubles are not precise enough for the exponents. If some weights
of T records meet all targets, the fitted weights miss the targets by at most sqrt(2 kappa ln T) in Euclidean norm. For
T = 100 records this bound is 1e-4.
"""

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
    """The weights of a fit, and whether the fit converged.

    Args:
        weights: (T,) weights with sum 1; uniform if the fit failed.
        found: whether the largest absolute entry of the gradient is below 10^-6.
    """

    weights: _Floats
    found: bool


def total_variation(weights: _Floats) -> float:
    """Half the L1 distance between the weights and uniform weights. Reweighting changes no answer by more than this
    number.
    """
    return float(np.abs(weights - 1.0 / len(weights)).sum() / 2)


def fit_weights(values: NDArray[np.bool_], targets: _Floats, kappa: float) -> _Floats:
    """The weights that `fit` finds, (T,). The result does not show whether the fit converged.

    Example:
        >>> values = np.array([[True], [False], [False], [False]])
        >>> fit_weights(values, np.array([0.5]), 1e-9).round(4).tolist()
        [0.5, 0.1667, 0.1667, 0.1667]
    """
    return fit(values, targets, kappa).weights


def most_targets(records: int) -> int:
    """The largest number of targets, at least 1, to which the weights of T records may be fitted. A fit with m targets
    takes about min(T, m)^2 max(T, m) operations, and this number may be at most 2^38. The limit exists because every
    verifier of a release repeats the fit.

    Args:
        records: number of records, T.

    Example:
        >>> most_targets(1000), most_targets(100_000)
        (274877, 1657)
    """
    return max(1, _MOST_WORK // records**2 if records**3 <= _MOST_WORK else math.isqrt(_MOST_WORK // records))


def fit(values: NDArray[np.bool_], targets: _Floats, kappa: float) -> Fit:
    """The weights that fit noisy counts best. Newton's method runs for a decreasing sequence of kappas down to the
    given kappa. Each run starts from the solution for the preceding kappa, which is close to the solution for the next
    kappa.

    The function never raises an error. If the gradient does not become small enough, for any reason, the weights are
    uniform.

    Args:
        values: (T, m) whether record i satisfies measured query j.
        targets: (m,) noisy counts divided by n.
        kappa: regularisation (sigma/n)^2 lam > 0. A larger kappa allows larger deviations from the targets and keeps
            the weights closer to uniform. A kappa below 10^-9 is replaced by 10^-9.
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
    """Whether given weights reach the least value of the objective that `fit` minimises, up to a tolerance for
    differences between processors.

    If the objective of some weights exceeds the minimum by at most g, their L1 distance from the best weights is at
    most sqrt(2 g).
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
    """Newton's method for the dual objective, started at the multipliers nu. The results are the multipliers with the
    smallest gradient, their weights, and that gradient.
    """
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
    """The vector (kappa I + S'S)^-1 gradient, where S is the matrix `spread`. The linear system has the smaller of both
    dimensions of the matrix S (Woodbury's identity).
    """
    records, queries = spread.shape
    if queries <= records:
        return _solved(spread.T @ spread + kappa * np.eye(queries), gradient)
    inner = _solved(spread @ spread.T + kappa * np.eye(records), spread @ gradient)
    return np.asarray((gradient - spread.T @ inner) / kappa)


def _solved(matrix: _Floats, right: _Floats) -> _Floats:
    """The solution of a linear system. If rounding errors made the matrix singular, the result is the least-squares
    solution; if that fails too, NaN.
    """
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
    """The public information that a selection rule may use after DualQuery has run.

    Args:
        records: the T records that DualQuery made.
        rounds: the samples of queries that DualQuery drew in each round.
        workload: the k queries.
        answers: (k,) answers of the records with uniform weights.
        seed: public seed, which breaks ties.
    """

    records: PackedBits
    rounds: Rounds
    workload: Workload
    answers: NDArray[np.float64] = field(repr=False)
    seed: int

    @property
    def true_errors(self) -> NoReturn:
        """Attribute that raises an error at every access. A selection of queries by their true errors reads the private
        data, and must be charged.

        Raises:
            NotGuaranteed: always.
        """
        raise NotGuaranteed("a selection by true errors", "true errors are private, and no selection event pays for "
                                                          "this use",
                            "selection='private' draws by the exponential mechanism and charges rho_sel")


@runtime_checkable
class SelectionRule(Protocol):
    """A rule that uses the transcript to select the queries to measure. A rule is a frozen dataclass of public
    parameters.
    """

    def choose(self, transcript: Transcript, count: int) -> NDArray[np.int64]:
        """Choose `count` different positions in the workload."""
        ...


@wire("MostDrawn", "last")
@dataclass(frozen=True, kw_only=True)
class MostDrawn(Declared):
    """A rule that selects the queries that DualQuery drew most often in its last rounds. Ties are broken by the number
    of draws in all rounds, and then at random. DualQuery draws a query or its negation often if the answer of the
    synthetic records is far from the true answer.

    If a query and its negation were both drawn in a round, their draws cancel, and the rule uses only the difference of
    their numbers of draws.
    """

    last: Annotated[int, Parameter("number of last rounds; the rule takes queries of these rounds first",
                                   at_least=1)] = 10

    def choose(self, transcript: Transcript, count: int) -> NDArray[np.int64]:
        k, rounds = len(transcript.workload), transcript.rounds
        drawn = np.abs(rounds.weights)
        begin = int(rounds.ends[-self.last - 1]) if self.last < len(rounds) else 0
        total = np.bincount(rounds.queries, weights=drawn, minlength=k)
        recent = np.bincount(rounds.queries[begin:], weights=drawn[begin:], minlength=k)
        ties = study_generator(transcript.seed, "ties").permutation(k)
        return np.asarray(np.lexsort((ties, -total, -recent))[:count])
