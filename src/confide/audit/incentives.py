"""Best-response search: the best lie of one participant, over the participant's whole report space.

The family of mechanisms supplies the participant's utility as a function of the report. Everything else, such as the
reports of others, is fixed or averaged over. The utility must be deterministic (an expected utility, or an average over
one fixed set of draws), because the maximum of many noisy values is biased upwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.audit.report import AuditRow, Concern
from confide.contract.checks import non_negative, whole
from confide.contract.errors import InvalidInput

__all__ = ["BestResponse", "best_response", "best_response_among"]

_INNER = 8  # parts into which a bracket is cut in one round of refinement
_ROUNDS = 16  # a round keeps two parts, so the last bracket is 4^-16 of the first
_Array = NDArray[np.float64]
Utility = Callable[[_Array], ArrayLike]
"""Function from an array of reports to their utilities, in the same order."""


@dataclass(frozen=True, kw_only=True)
class BestResponse:
    """The best report that was found, and its gain over the truth.

    Args:
        truth: the truthful report.
        report: the report with the largest utility among all tried reports, the truth included; the truth if no other
            report is better.
        lie: the report with the largest utility among all tried reports other than the truth.
        truthful_utility: utility of the truthful report, in the unit of the utilities.
        gain: utility of the best lie minus utility of the truth; negative where every tried lie loses.
        gain_bound: upper bound of the gain of any report; infinity where no bound is known.
        evaluations: number of reports that were tried.
        searched: description of the search, in a few words.
    """

    truth: float
    report: float
    lie: float
    truthful_utility: float
    gain: float
    gain_bound: float
    evaluations: int
    searched: str

    @property
    def regret(self) -> float:
        """Utility that a truthful participant forgoes compared with the best report that was found: max(gain, 0)."""
        return max(0.0, self.gain)

    def row(self, promise: str = "truthfulness", promised: float = 0.0, *, unit: str = "") -> AuditRow:
        """The result as a row of an `AuditReport`.

        Args:
            promise: description of the promise.
            promised: the largest promised gain of any lie; an infinite promise is vacuous.
            unit: unit of the utilities, such as a currency.
        """
        evidence = f"best lie {self.lie:.6g} against the truth {self.truth:.6g}; {self.searched}"
        if not math.isinf(self.gain_bound):
            evidence += f"; no report gains more than {self.gain_bound:.6g}"
        return AuditRow.at_most(promise, promised, self.regret, evidence,
                                scale=abs(self.truthful_utility) + abs(self.gain),
                                unit=unit, concern=Concern.INCENTIVES)


def best_response(
    utility: Utility,
    truth: float,
    low: float,
    high: float,
    *,
    points: int = 2001,
    refine: int = 16,
    lipschitz: float = math.inf,
) -> BestResponse:
    """Best report in an interval: an exhaustive grid, followed by nested grids around the grid's best local maxima.

    Args:
        utility: the participant's utility for an array of reports, shape (k,) -> (k,); -infinity stands for a forbidden
            report.
        truth: the truthful report, in [low, high].
        low: smallest possible report.
        high: largest possible report, > low.
        points: number of points of the grid, >= 3; the truth is added as one more point.
        refine: number of local maxima of the grid that are refined (to 4^-16 of the grid's step).
        lipschitz: a proved Lipschitz constant of the utility, in utility per unit of report. With `lipschitz`, the
            utilities on the grid bound the gain of every report. Without `lipschitz`, the search can miss a spike
            narrower than the grid's step.

    Raises:
        InvalidInput: the interval is empty, the truth is outside it, or a utility is NaN or +infinity.

    Source: design section 7 (incentive audits).

    Example:
        >>> found = best_response(lambda reports: -((reports - 0.3) ** 2), truth=0.5, low=0.0, high=1.0)
        >>> round(found.report, 6), round(found.gain, 6)
        (0.3, 0.04)
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidInput("low", f"[{low!r}, {high!r}] is not an interval",
                           "must be two finite numbers, low below high")
    if not low <= truth <= high:
        raise InvalidInput("truth", "is outside of the report space", "must be in [low, high]")
    points = whole("points", points, at_least=3)
    refine = whole("refine", refine)
    non_negative("lipschitz", 0.0 if lipschitz == math.inf else lipschitz)
    grid = np.unique(np.append(np.linspace(low, high, points), truth))
    values = _evaluate(utility, grid)
    reports, gains = [grid], [values]
    left, right = _brackets(grid, values, refine)
    for _ in range(_ROUNDS if left.size else 0):
        inner = left[:, None] + (right - left)[:, None] * np.linspace(0.0, 1.0, _INNER + 1)
        inner = np.clip(inner, left[:, None], right[:, None])
        found = _evaluate(utility, inner.reshape(-1)).reshape(inner.shape)
        reports.append(inner.reshape(-1))
        gains.append(found.reshape(-1))
        best = np.argmax(found, axis=1)
        rows = np.arange(left.size)
        left, right = inner[rows, np.maximum(best - 1, 0)], inner[rows, np.minimum(best + 1, _INNER)]
    step = float(np.max(np.diff(grid)))
    slack = lipschitz * step / 2 if math.isfinite(lipschitz) else math.inf
    searched = f"grid of {points} reports with step {step:.3g}, {min(refine, len(left))} local maxima refined"
    return _best(truth, np.concatenate(reports), np.concatenate(gains), float(np.max(values)) + slack, searched)


def best_response_among(utility: Utility, truth: float, reports: ArrayLike) -> BestResponse:
    """Best report in a finite set, exactly: every report is tried.

    Args:
        utility: the participant's utility for an array of reports, shape (k,) -> (k,); -infinity stands for a forbidden
            report.
        truth: the truthful report, one of `reports`.
        reports: all reports, shape (k,), at least two. If reports are not numbers, the caller assigns a number to each
            report.

    Raises:
        InvalidInput: there are fewer than two reports, the truth is not among them, or a utility is NaN or +infinity.

    Example:
        >>> best_response_among(lambda reports: -abs(reports - 1), truth=1, reports=[0, 1, 2]).gain
        -1.0
    """
    space = np.asarray(reports, dtype=np.float64)
    if space.ndim != 1 or not np.all(np.isfinite(space)):
        raise InvalidInput("reports", "are not a list of finite numbers", "must be one-dimensional")
    space = np.unique(space)
    if space.size < 2:
        raise InvalidInput("reports", f"{space.size} distinct reports", "must be two or more")
    if truth not in space:
        raise InvalidInput("truth", "is not one of the reports")
    values = _evaluate(utility, space)
    return _best(truth, space, values, float(np.max(values)), f"all {space.size} reports tried")


def _evaluate(utility: Utility, reports: _Array) -> _Array:
    values = np.asarray(utility(reports.copy()), dtype=np.float64)
    if values.shape != reports.shape:
        raise InvalidInput("utility", f"returned shape {values.shape} for reports of shape {reports.shape}",
                           "must return one utility for each report")
    if np.any(np.isnan(values)) or np.any(values == math.inf):
        raise InvalidInput("utility", "returned a value that is not a number or +infinity")
    return values


def _brackets(grid: _Array, values: _Array, most: int) -> tuple[_Array, _Array]:
    """The grid cells on both sides of the best local maxima; a plateau counts as one maximum, at its left end."""
    padded = np.concatenate([[-math.inf], values, [-math.inf]])
    peaks = np.flatnonzero((values > padded[:-2]) & (values >= padded[2:]))
    peaks = peaks[np.argsort(-values[peaks], kind="stable")][:most]
    return grid[np.maximum(peaks - 1, 0)], grid[np.minimum(peaks + 1, grid.size - 1)]


def _best(truth: float, reports: _Array, values: _Array, most: float, searched: str) -> BestResponse:
    start = float(values[np.flatnonzero(reports == truth)[0]])
    if start == -math.inf:
        raise InvalidInput("truth", "is a forbidden report", "the truth must have a finite utility")
    lies = np.flatnonzero(reports != truth)
    place = int(lies[np.argmax(values[lies])])
    lie, gain = float(reports[place]), float(values[place]) - start
    return BestResponse(truth=float(truth), report=lie if gain > 0 else float(truth), lie=lie, truthful_utility=start,
                        gain=gain, gain_bound=max(0.0, most - start, gain), evaluations=reports.size, searched=searched)
