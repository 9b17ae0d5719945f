"""Ironing: the virtual cost of any law of reports is the slope of the greatest convex minorant of H(q) = q F^-1(q).

Exact where the quantile function is piecewise linear: histograms, atoms, gaps and their mixtures. H is then a
parabola's arc on each stretch of probabilities, and the minorant is made of parts of arcs and of lines that touch two
of them. A gap of the support is a jump of H, an atom a straight arc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.beliefs.virtual_cost import Piece, VirtualCost

__all__ = ["QuantilePath"]

_SMOOTH = 1e-12
"""Arcs that meet with a fall of the slope below this share of it are one convex arc."""

_NARROW = 1e-13
"""Stretches of reports that are rounding; they go to the stretch after them."""

_ROUNDING = 4e-16


class _Arc(NamedTuple):
    """H(q) = q (first + rate (q - start)) on [start, end]: the report times q, on a stretch without gap."""

    start: float
    end: float
    first: float
    last: float
    rate: float

    def report(self, q: float) -> float:
        return self.first + self.rate * (q - self.start) if q < self.end else self.last

    def slope(self, q: float) -> float:
        return self.report(q) + self.rate * q

    def touch(self, slope: float) -> float:
        """Where a line of this slope touches from below."""
        if slope <= self.slope(self.start):
            return self.start
        if slope >= self.slope(self.end):
            return self.end
        return min(max(((slope - self.first) / self.rate + self.start) / 2.0, self.start), self.end)


@dataclass(frozen=True, eq=False)
class QuantilePath:
    """A law on [0, 1] whose quantile function is piecewise linear, as the corners of the graph of F.

    Args:
        reports: (k,) non-decreasing; equal neighbours make an atom.
        probabilities: (k,) non-decreasing from 0 to 1; equal neighbours make a gap, of which the first and the last
            step have none.
    """

    reports: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    def cdf(self, report: ArrayLike) -> NDArray[np.float64]:
        """F, right continuous."""
        c, ends, sums = np.asarray(report, dtype=np.float64), self.reports, self.probabilities
        k = np.clip(np.searchsorted(ends, c, side="right") - 1, 0, len(ends) - 2)
        width = ends[k + 1] - ends[k]
        inside = np.divide(c - ends[k], width, out=np.ones_like(c), where=width > 0)
        found = sums[k] + np.clip(inside, 0.0, 1.0) * (sums[k + 1] - sums[k])
        return np.where(c < ends[0], 0.0, np.where(c >= ends[-1], 1.0, found))

    def quantile(self, probability: ArrayLike) -> NDArray[np.float64]:
        """The least report c with F(c) >= probability."""
        q, ends, sums = np.asarray(probability, dtype=np.float64), self.reports, self.probabilities
        k = np.clip(np.searchsorted(sums, q, side="left"), 1, len(ends) - 1)
        inside = np.clip((q - sums[k - 1]) / (sums[k] - sums[k - 1]), 0.0, 1.0)
        return np.minimum(ends[k - 1] + inside * (ends[k] - ends[k - 1]), ends[k])

    @cached_property
    def mean(self) -> float:
        """The mean report."""
        return math.fsum(np.diff(self.probabilities) * (self.reports[1:] + self.reports[:-1]) / 2.0)

    def gaps(self) -> list[tuple[float, float]]:
        """The open intervals without mass inside the support."""
        empty = np.diff(self.probabilities) == 0
        return [(float(self.reports[k]), float(self.reports[k + 1])) for k in np.flatnonzero(empty)]

    def virtual_cost(self) -> VirtualCost:
        """Its virtual cost, ironed."""
        return VirtualCost.of_pieces(_minorant_pieces(self._arcs()), self.gaps())

    def _arcs(self) -> list[_Arc]:
        ends, sums = self.reports.tolist(), self.probabilities.tolist()
        arcs = []
        for k in range(len(ends) - 1):
            mass = sums[k + 1] - sums[k]
            if mass > 0:
                rate = (ends[k + 1] - ends[k]) / mass
                arcs.append(_Arc(sums[k], sums[k + 1], ends[k], ends[k + 1], rate))
        return arcs


def _minorant_pieces(arcs: Sequence[_Arc]) -> list[Piece]:
    """The pieces of the minorant's slope, as a function of the report."""
    kept: list[_Arc] = []
    slopes: list[float] = []  # of the line by which the minorant comes to each arc
    for arc in arcs:
        slope = -math.inf
        while kept:
            slope = _common_slope(kept[-1], arc)
            if len(kept) == 1 or slope > slopes[-1]:
                break
            kept.pop()
            slopes.pop()
        kept.append(arc)
        slopes.append(slope)
    pieces: list[Piece] = []
    at = arcs[0].first
    for k, arc in enumerate(kept):
        begins, ends = arc.touch(slopes[k]), arc.touch(slopes[k + 1] if k + 1 < len(kept) else math.inf)
        if arc.report(begins) - at > _NARROW:
            pieces.append(Piece(at, arc.report(begins), slopes[k], 0.0))
            at = arc.report(begins)
        if arc.report(ends) - at > _NARROW or not pieces:
            pieces.append(Piece(at, arc.report(ends), max(arc.slope(begins), slopes[k]), 2.0 if arc.rate else 0.0))
            at = arc.report(ends)
    pieces[-1] = pieces[-1]._replace(right=arcs[-1].last)
    return pieces


def _common_slope(left: _Arc, right: _Arc) -> float:
    """The slope of the line that touches both arcs from below; where they meet in a convex corner, their slope there.

    As the slope grows, the line under the right arc sinks faster at q = 0 than the one under the left arc: the slope
    at which both are one line is the root of a rising function. Newton's steps, kept between bounds.
    """
    corner, upwards = left.slope(left.end), right.slope(right.start)
    if left.end == right.start and left.last == right.first and upwards >= corner * (1.0 - _SMOOTH):
        return corner
    low, high = min(left.slope(left.start), upwards), max(corner, right.slope(right.end))
    if (starts := _chord(left, left.start, right, right.start)) <= low:
        return starts
    if (ends := _chord(left, left.end, right, right.end)) >= high:
        return ends
    slope = low + (high - low) / 2.0
    while True:
        p, q = left.touch(slope), right.touch(slope)
        height = p * (left.report(p) - slope) - q * (right.report(q) - slope)
        if abs(height) <= _ROUNDING * q * slope:
            return slope
        low, high = (slope, high) if height < 0 else (low, slope)
        step = slope - height / (q - p) if q > p else math.nan
        if not low < step < high:
            step = low + (high - low) / 2.0
        if step in {low, high}:
            return step
        slope = step


def _chord(left: _Arc, p: float, right: _Arc, q: float) -> float:
    return (q * right.report(q) - p * left.report(p)) / (q - p)
