"""The statistical audit takes samples of a statistic under two neighbouring data sets, and computes a lower confidence
bound on epsilon.

The first half of the samples chooses the tested event, and the second half, which is independent of the choice, tests
it. Therefore one pair of Clopper-Pearson bounds suffices, and the audit calls a kept promise "broken" with probability
at most alpha. The audit can miss a loss that no threshold of this statistic shows; see `detectable`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv

from confide.audit.comparing import Loss, exceeds
from confide.audit.report import AuditRow
from confide.contract.checks import fraction
from confide.contract.errors import InvalidInput

__all__ = ["StatisticalAudit", "ThresholdEvent", "clopper_pearson", "epsilon_lower_bound", "statistical_audit"]

_THRESHOLDS = 1000  # candidate thresholds: all distinct values, or this many of evenly spaced ranks
_Array = NDArray[np.float64]


def clopper_pearson(hits: ArrayLike, runs: ArrayLike, alpha: float) -> tuple[_Array, _Array]:
    """Exact lower and upper confidence bounds of a probability, each wrong with probability at most alpha.

    Args:
        hits: number of runs with the event, in [0, runs].
        runs: number of independent runs, >= 1; broadcasts with `hits`.
        alpha: failure probability of each bound, in (0, 1).

    Returns:
        The lower and the upper bound. The two bounds form a two-sided interval with confidence 1 - 2 alpha.

    Source: Clopper and Pearson 1934.

    Example:
        >>> lower, upper = clopper_pearson(0, 100, 0.05)
        >>> float(lower), round(float(upper), 6)
        (0.0, 0.029513)
    """
    alpha = fraction("alpha", alpha)
    k, n = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(runs, dtype=np.float64))
    if not np.all((n >= 1) & (k >= 0) & (k <= n)):
        raise InvalidInput("hits", "is out of range", "must be in [0, runs], with at least one run")
    lower = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, alpha), 0.0)
    upper = np.where(k < n, betainccinv(k + 1, np.maximum(n - k, 1), alpha), 1.0)
    return lower, upper


def epsilon_lower_bound(
    hits: ArrayLike, runs: ArrayLike, other_hits: ArrayLike, other_runs: ArrayLike, alpha: float, *, delta: float = 0.0
) -> _Array:
    """Lower confidence bound on epsilon from the numbers of runs with one event under two data sets. The event must be
    fixed before the runs.

        ln((lower bound of P(S) - delta) / upper bound of P'(S)), each bound at alpha/2.

    Args:
        hits: number of runs with the event under the data set that favours it.
        runs: number of runs under the data set that favours the event.
        other_hits: number of runs with the event under the neighbour.
        other_runs: number of runs under the neighbour.
        alpha: probability that the bound is above the true epsilon, in (0, 1).
        delta: failure probability that the claim allows, in [0, 1).

    Returns:
        The bound in nats; -infinity where the counts show no loss.

    Example:
        >>> round(float(epsilon_lower_bound(900, 1000, 100, 1000, 1e-6)), 3)
        1.708
    """
    delta = fraction("delta", delta, zero=True)
    lower, _ = clopper_pearson(hits, runs, alpha / 2)
    _, upper = clopper_pearson(other_hits, other_runs, alpha / 2)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(lower - delta, 0.0)) - np.log(upper)


@dataclass(frozen=True, kw_only=True)
class ThresholdEvent:
    """The event that a scalar statistic is at least, or is below, a threshold.

    Args:
        threshold: the threshold, in the unit of the statistic.
        above: True for the event "statistic >= threshold", False for the event "statistic < threshold".
        favours_first: True where the event is likelier under the first data set than under the second data set.
    """

    threshold: float
    above: bool
    favours_first: bool

    def hits(self, samples: _Array) -> int:
        """The number of samples for which the event holds."""
        return int(np.count_nonzero((samples >= self.threshold) == self.above))

    def __str__(self) -> str:
        return f"statistic {'>=' if self.above else '<'} {self.threshold:.6g}"


@dataclass(frozen=True, kw_only=True)
class StatisticalAudit:
    """The result of a statistical audit: a lower confidence bound on epsilon, and the counts behind it.

    Args:
        claim: the promised loss.
        promised: the epsilon that the claim promises at `delta`, in nats.
        epsilon_lower: lower confidence bound on the true epsilon at `delta`, in nats, at least 0.
        log_odds: point estimate ln((hits/runs - delta) / (other_hits/other_runs)), in nats; may be infinite.
        delta: failure probability that the claim allows.
        alpha: false-alarm probability: upper bound of the probability that `epsilon_lower` is above the true epsilon.
        event: the event that was tested.
        hits: number of runs with the event under the data set that favours it, in the second half.
        runs: number of runs under the data set that favours the event, in the second half.
        other_hits: number of runs with the event under the neighbour, in the second half.
        other_runs: number of runs under the neighbour, in the second half.
        flagged: True where `epsilon_lower` is above the promise.
    """

    claim: Loss
    promised: float
    epsilon_lower: float
    log_odds: float
    delta: float
    alpha: float
    event: ThresholdEvent
    hits: int
    runs: int
    other_hits: int
    other_runs: int
    flagged: bool

    def row(self, promise: str = "privacy") -> AuditRow:
        """The result as a row of an `AuditReport`; the measured number is the lower confidence bound."""
        evidence = (f"{self.event} in {self.hits}/{self.runs} runs against {self.other_hits}/{self.other_runs} "
                    f"(log-odds {self.log_odds:.3g}); measured is a lower bound at delta = {self.delta:g}, wrong with "
                    f"probability at most {self.alpha:.2g}")
        return AuditRow.of_loss(promise, self.claim, self.promised, self.epsilon_lower, evidence, flagged=self.flagged,
                                false_alarm=self.alpha)


def statistical_audit(
    first: ArrayLike, second: ArrayLike, claim: Loss, *, alpha: float, delta: float | None = None
) -> StatisticalAudit:
    """Test a promised loss on samples of a statistic of the output under two neighbouring data sets.

    Args:
        first: independent samples under one data set, shape (runs,), at least 2, in the order in which they were drawn
            (never sorted: the first half chooses the event, the second half tests it). Vectors must first be projected
            to numbers, for instance on the direction in which the data sets differ; the direction must not come from
            these samples.
        second: independent samples under a neighbour, shape (runs,), at least 2.
        claim: the promised loss.
        alpha: false-alarm probability, in (0, 1).
        delta: the delta at which epsilon is tested, in [0, 1); if left out, the delta of the claim (0 unless
            `ApproxDP`). `ZCDP`, `GDP` and `RenyiDP` promise no epsilon at delta = 0 and need a delta above 0.

    Raises:
        InvalidInput: there are too few samples, a sample is NaN, or nothing is promised at this delta.

    Source: Jagielski, Ullman and Oprea 2020 (Clopper-Pearson bounds on epsilon); the split of the samples is ours.

    Example:
        >>> import numpy as np
        >>> from confide.privacy import PureDP
        >>> yes, no = np.tile([1, 1, 1, 0], 500), np.tile([0, 0, 0, 1], 500)
        >>> statistical_audit(yes, no, PureDP(0.5), alpha=1e-6).flagged
        True
        >>> statistical_audit(yes, no, PureDP(1.2), alpha=1e-6).flagged
        False
    """
    alpha = fraction("alpha", alpha)
    if delta is None:
        delta = getattr(claim, "delta", 0.0)
        delta = 0.0 if delta >= 1.0 else delta  # such a claim is vacuous: measure the pure loss
    delta = fraction("delta", delta, zero=True)
    promised = claim.epsilon_at(delta)
    if math.isinf(promised) and not claim.vacuous:
        raise InvalidInput("delta", f"{claim} promises no epsilon at delta = {delta:g}", "choose a larger delta")
    one, two = _samples("first", first), _samples("second", second)
    cut_one, cut_two = one.size // 2, two.size // 2
    event = _choose(one[:cut_one], two[:cut_two], alpha, delta)
    favoured, other = (one[cut_one:], two[cut_two:]) if event.favours_first else (two[cut_two:], one[cut_one:])
    hits, other_hits = event.hits(favoured), event.hits(other)
    bound = max(0.0, float(epsilon_lower_bound(hits, favoured.size, other_hits, other.size, alpha, delta=delta)))
    excess, rate = hits / favoured.size - delta, other_hits / other.size
    odds = excess / rate if rate > 0 else math.inf
    log_odds = math.log(odds) if excess > 0 else -math.inf
    return StatisticalAudit(
        claim=claim, promised=promised, epsilon_lower=bound, log_odds=log_odds, delta=delta, alpha=alpha, event=event,
        hits=hits, runs=favoured.size, other_hits=other_hits, other_runs=other.size, flagged=exceeds(bound, promised),
    )


def _samples(field: str, value: ArrayLike) -> _Array:
    samples = np.asarray(value, dtype=np.float64)
    if samples.ndim != 1 or samples.size < 2:
        raise InvalidInput(field, f"shape {samples.shape}", "must be one-dimensional, with two samples or more")
    if np.any(np.isnan(samples)):
        raise InvalidInput(field, "holds a sample that is not a number", "map failures to a separate number")
    return samples


def _choose(one: _Array, two: _Array, alpha: float, delta: float) -> ThresholdEvent:
    """The threshold and side with the highest lower bound on these samples: the event that probably shows the largest
    loss.
    """
    points = np.unique(np.concatenate([one, two]))
    if points.size > 1:
        points = points[1:]  # at the least value the event is certain under both
    if points.size > _THRESHOLDS:
        points = points[np.linspace(0, points.size - 1, _THRESHOLDS).round().astype(np.intp)]
    over = [samples.size - np.searchsorted(np.sort(samples), points, side="left") for samples in (one, two)]
    n, m = one.size, two.size
    sides = [(True, True), (False, True), (True, False), (False, False)]  # (above, favours_first)
    counts = [(over[0], n, over[1], m), (n - over[0], n, m - over[1], m),
              (over[1], m, over[0], n), (m - over[1], m, n - over[0], n)]
    scores = np.stack([epsilon_lower_bound(*count, alpha, delta=delta) for count in counts])
    side, place = np.unravel_index(int(np.argmax(scores)), scores.shape)
    above, favours_first = sides[int(side)]
    return ThresholdEvent(threshold=float(points[place]), above=above, favours_first=favours_first)
