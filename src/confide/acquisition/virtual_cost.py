"""Virtual costs: the cost of a report to the platform, including the rents that the platform pays to people with lower
reports.

A `VirtualCost` is a non-decreasing, piecewise linear function of the report, for any prior. Two reports in one ironed
interval have bit-identical virtual costs. The computed virtual costs never fall from one report to a higher one.

Ironing: the virtual cost of any law of reports is the slope of the greatest convex minorant of H(q) = q F^-1(q), where
F is the distribution function.

Ironing is exact where the quantile function is piecewise linear: for histograms, atoms, gaps and their mixtures. For a
law with a piecewise linear quantile function, H is an arc of a parabola on each interval of probabilities. The minorant
of H consists of parts of arcs and of lines that touch two arcs. A gap of the support is a jump of H, and an atom is a
straight arc.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import non_negative, positive
from confide.contract.errors import InvalidInput
from confide.contract.remedies import within

__all__ = ["Piece", "QuantilePath", "VirtualCost"]

# ---- virtual cost

_GAPS_SHOWN = 3

_TOUCHING = 1e-12
"""Relative tolerance within which two consecutive pieces with equal slopes and meeting values count as one piece."""


class Piece(NamedTuple):
    """An interval of reports on which the virtual cost is linear. At a jump, the report belongs to the lower piece."""

    left: float
    right: float
    low: float
    """Value of the virtual cost just above `left`."""
    slope: float

    @property
    def high(self) -> float:
        """Value of the virtual cost at `right`."""
        return self.low + self.slope * (self.right - self.left) if self.slope else self.low

    @property
    def width(self) -> float:
        """The length of the piece, in reports."""
        return self.right - self.left


@dataclass(frozen=True, eq=False)
class VirtualCost:
    """A non-decreasing, piecewise linear virtual cost. Priors make virtual costs: `UniformPrior().virtual_cost()`.

    Piece k holds the reports in (bounds[k], bounds[k + 1]], and the first piece also holds its left bound. A gap of the
    support lies inside a constant piece, whose level is the value just above the gap. No report lies in a gap, but the
    integral of a rent extends over the gap.

    Args:
        bounds: (pieces + 1,) non-decreasing reports in [0, 1]. The first piece may have no width, which stands for an
            atom at the least report.
        lows: (pieces,) values >= 0 at the left end of each piece; infinite where people never sell.
        slopes: (pieces,) slopes >= 0; 0 on ironed intervals.
        gaps: (gaps, 2) open intervals of reports that the prior cannot produce.

    Raises:
        InvalidInput: bounds outside [0, 1] or falling; values that fall, or rise from infinity.

    Example:
        >>> cost = VirtualCost.of_pieces([Piece(0.0, 0.25, 0.0, 2.0), Piece(0.25, 1.0, 1.5, 0.0)])
        >>> cost([0.0, 0.25, 0.3, 1.0]).tolist(), cost.support
        ([0.0, 0.5, 1.5, 1.5], (0.0, 1.0))
        >>> [(piece.width, piece.low, piece.high) for piece in cost.pieces_above(0.125)]
        [(0.125, 0.25, 0.5), (0.75, 1.5, 1.5)]
    """

    bounds: NDArray[np.float64]
    lows: NDArray[np.float64]
    slopes: NDArray[np.float64]
    gaps: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name in ("bounds", "lows", "slopes"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64).reshape(-1))
        object.__setattr__(self, "gaps", np.array(self.gaps, dtype=np.float64).reshape(-1, 2))
        bounds, lows, slopes = self.bounds, self.lows, self.slopes
        if lows.size == 0 or bounds.size != lows.size + 1 or slopes.size != lows.size:
            raise InvalidInput("bounds", f"are {bounds.size} for {lows.size} values and {slopes.size} slopes",
                               "must be one more than the values and the slopes")
        if not (bounds[0] >= 0 and bounds[-1] <= 1 and np.all(np.diff(bounds) >= 0)):
            raise InvalidInput("bounds", "are not reports in rising order", "must lie in [0, 1]")
        if not (np.all(lows >= 0) and np.all(slopes >= 0) and np.all(np.isfinite(slopes))
                and np.all(np.isfinite(lows) | (slopes == 0))):
            raise InvalidInput("lows", "are not virtual costs", "must be >= 0, constant or rising with a finite slope")
        highs = lows + np.where(slopes > 0, slopes * np.diff(bounds), 0.0)
        if np.any(highs[:-1] > lows[1:] + _TOUCHING * np.maximum(1.0, lows[1:])):
            raise InvalidInput("lows", "fall from one piece to the next", "must not fall; apply ironing first")
        highs[:-1] = np.minimum(highs[:-1], lows[1:])
        object.__setattr__(self, "_highs", highs)
        for table in (bounds, lows, slopes, self.gaps, highs):
            table.flags.writeable = False

    @classmethod
    def of_pieces(cls, pieces: Iterable[Piece], gaps: Iterable[tuple[float, float]] = ()) -> VirtualCost:
        """A virtual cost from consecutive pieces. Pieces that continue one another are merged into one.

        Args:
            pieces: pieces in order, each beginning where the piece before it ends. Pieces without width are dropped,
                except the first.
            gaps: open intervals that no report can lie in.
        """
        kept: list[Piece] = []
        for piece in pieces:
            if kept and piece.width <= 0:
                continue
            if kept and _continues(kept[-1], piece):
                kept[-1] = kept[-1]._replace(right=piece.right)
            else:
                kept.append(piece)
        return cls(np.array([kept[0].left, *(piece.right for piece in kept)]), np.array([piece.low for piece in kept]),
                   np.array([piece.slope for piece in kept]), np.array(list(gaps)))

    @classmethod
    def through(cls, reports: ArrayLike, values: ArrayLike) -> VirtualCost:
        """The piecewise linear virtual cost through the given points.

        Payments make truth the best report for any points, as long as the values do not fall.

        Args:
            reports: (k,) rising reports, two or more.
            values: (k,) values that do not fall. Where the last value is infinite, the interval before it is constant
                and the jump is at its end.

        Example:
            >>> VirtualCost.through([0.0, 0.5, 1.0], [0.0, 1.0, 3.0])([0.25, 0.75]).tolist()
            [0.5, 2.0]
        """
        c, psi = (np.asarray(each, dtype=np.float64).reshape(-1) for each in (reports, values))
        if c.size < 2 or c.size != psi.size or not np.all(np.diff(c) > 0):
            raise InvalidInput("reports", f"are not {psi.size} rising reports", "must be two or more, one per value")
        flat = ~np.isfinite(psi[1:])
        slopes = np.where(flat, 0.0, np.diff(np.where(np.isfinite(psi), psi, 0.0)) / np.diff(c))
        return cls.of_pieces(map(Piece, c[:-1].tolist(), c[1:].tolist(), psi[:-1].tolist(), slopes.tolist()))

    @property
    def highs(self) -> NDArray[np.float64]:
        """Values of the virtual cost at the right end of each piece, shape (pieces,)."""
        found: NDArray[np.float64] = self._highs  # type: ignore[attr-defined]
        return found

    @property
    def support(self) -> tuple[float, float]:
        """The least and the highest report."""
        return float(self.bounds[0]), float(self.bounds[-1])

    @property
    def top(self) -> float:
        """Value of the virtual cost at the highest report."""
        return float(self.highs[-1])

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """All finite virtual costs at which pieces begin or end, rising. Rents are computed from values at these levels
        of virtual cost.
        """
        wide = np.diff(self.bounds) > 0
        ends = np.concatenate([self.lows[wide], self.highs[wide]])
        return np.unique(ends[np.isfinite(ends)])

    def allowed(self) -> str:
        """Description of the reports that the prior can produce."""
        low, high = self.support
        gaps = [f"between {a:g} and {b:g}" for a, b in self.gaps.tolist()]
        shown = ", ".join(gaps[:_GAPS_SHOWN]) + (", ..." if len(gaps) > _GAPS_SHOWN else "")
        return f"in [{low:g}, {high:g}]" + (f", not {shown}" if gaps else "")

    def admits(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """Whether the prior can produce each report."""
        c = np.asarray(reports, dtype=np.float64)
        inside = (c >= self.bounds[0]) & (c <= self.bounds[-1])
        if len(self.gaps):
            gap = np.searchsorted(self.gaps[:, 0], c, side="left") - 1
            inside &= ~((gap >= 0) & (c < self.gaps[gap, 1]))
        return np.asarray(inside)

    def piece_of(self, reports: ArrayLike) -> NDArray[np.intp]:
        """Number of the piece that each report belongs to.

        Raises:
            InvalidInput: a report that the prior cannot produce. An impossible report is never moved to a possible one.
        """
        c = np.asarray(reports, dtype=np.float64)
        if not np.all(self.admits(c)):
            low, high = self.support
            raise InvalidInput("reports", "a report is outside the prior's support",
                               f"must be in {within(low, high)}" + (", outside its gaps" if len(self.gaps) else ""))
        return np.asarray(np.searchsorted(self.bounds[1:], c, side="left"), dtype=np.intp)

    def __call__(self, reports: ArrayLike) -> NDArray[np.float64]:
        """The virtual costs of reports, in the shape of the reports. Virtual costs may be infinite.

        Raises:
            InvalidInput: a report that the prior cannot produce.
        """
        c = np.asarray(reports, dtype=np.float64)
        k = self.piece_of(c)
        return np.minimum(self.lows[k] + self.slopes[k] * (c - self.bounds[k]), self.highs[k])

    def pieces_above(self, report: float) -> list[Piece]:
        """The pieces between a report and the highest one. The first piece begins at the report, and no piece has width
        0.
        """
        k = int(self.piece_of(report))
        value = float(self(report))
        rest = [Piece(float(report), float(self.bounds[k + 1]), value, float(self.slopes[k])), *self.pieces()[k + 1:]]
        return [piece for piece in rest if piece.width > 0]

    def pieces(self) -> list[Piece]:
        """All pieces, in order."""
        ends = self.bounds.tolist()
        return list(map(Piece, ends[:-1], ends[1:], self.lows.tolist(), self.slopes.tolist()))

    def floored(self, psi_floor: float) -> VirtualCost:
        """The virtual cost, raised to a floor wherever the cost is lower. With a positive floor, no record is bought
        without noise.

        Args:
            psi_floor: public floor, >= 0.

        Example:
            >>> VirtualCost.through([0.0, 1.0], [0.0, 2.0]).floored(0.5)([0.0, 0.25, 0.5]).tolist()
            [0.5, 0.5, 1.0]
        """
        floor = non_negative("psi_floor", psi_floor)
        pieces = []
        for piece, high in zip(self.pieces(), self.highs.tolist(), strict=True):
            if piece.low >= floor:
                pieces.append(piece)
            elif high <= floor:
                pieces.append(piece._replace(low=floor, slope=0.0))
            else:
                cut = min(piece.left + (floor - piece.low) / piece.slope, piece.right)
                pieces += [Piece(piece.left, cut, floor, 0.0), Piece(cut, piece.right, floor, piece.slope)]
        return VirtualCost.of_pieces(pieces, map(tuple, self.gaps.tolist()))


    def ceiled(self, psi_ceiling: float) -> VirtualCost:
        """The virtual cost, made infinite wherever the cost exceeds a ceiling. People with a virtual cost above the
        ceiling never sell.

        Args:
            psi_ceiling: public ceiling, > 0.

        Example:
            >>> VirtualCost.through([0.0, 1.0], [0.0, 2.0]).ceiled(1.0)([0.25, 0.5, 0.75]).tolist()
            [0.5, 1.0, inf]
        """
        ceiling = positive("psi_ceiling", psi_ceiling)
        pieces = []
        for piece, high in zip(self.pieces(), self.highs.tolist(), strict=True):
            if high <= ceiling:
                pieces.append(piece)
            elif piece.low > ceiling or piece.slope == 0:
                pieces.append(piece._replace(low=math.inf, slope=0.0))
            else:
                cut = min(piece.left + (ceiling - piece.low) / piece.slope, piece.right)
                pieces += [piece._replace(right=cut), Piece(cut, piece.right, math.inf, 0.0)]
        return VirtualCost.of_pieces(pieces, map(tuple, self.gaps.tolist()))


def _continues(piece: Piece, after: Piece) -> bool:
    """Whether the second piece continues the first one. Constant pieces of a virtual cost continue one another only at
    exactly the same level.
    """
    if piece.slope == 0 or after.slope == 0:
        return piece.slope == after.slope and piece.low == after.low and piece.width > 0
    return (abs(piece.slope - after.slope) <= _TOUCHING * piece.slope
            and abs(piece.high - after.low) <= _TOUCHING * max(1.0, after.low))


# ---- ironing

_SMOOTH = 1e-12
"""Relative fall of the slope up to which two arcs that meet count as one convex arc."""

_NARROW = 1e-13
"""Width below which an interval of reports counts as rounding. An interval below this width is merged into the interval
after it.
"""

_ROUNDING = 4e-16


class _Arc(NamedTuple):
    """The function H(q) = q (first + rate (q - start)) on [start, end]: the report times its probability q, on an
    interval without a gap.
    """

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
        """Probability q at which a line of the given slope touches the arc from below."""
        if slope <= self.slope(self.start):
            return self.start
        if slope >= self.slope(self.end):
            return self.end
        return min(max(((slope - self.first) / self.rate + self.start) / 2.0, self.start), self.end)


@dataclass(frozen=True, eq=False)
class QuantilePath:
    """A law on [0, 1] with a piecewise linear quantile function, given by the corners of the graph of F.

    Args:
        reports: (k,) non-decreasing reports; equal consecutive reports make an atom.
        probabilities: (k,) non-decreasing from 0 to 1; equal consecutive probabilities make a gap. The first and the
            last two probabilities are different, so the law begins and ends without a gap.
    """

    reports: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    def cdf(self, report: ArrayLike) -> NDArray[np.float64]:
        """The distribution function F, right continuous."""
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
        """The ironed virtual cost of the law."""
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
    """Pieces of the minorant's slope, as a function of the report."""
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
    """The slope of the line that touches both arcs from below. Where the arcs meet in a convex corner, the result is a
    slope of the arcs at the corner.

    As the slope grows, the line under the right arc falls faster at q = 0 than the line under the left arc. Therefore
    the slope at which both lines coincide is the root of a rising function. Newton's method finds the common slope,
    with steps restricted to an interval around the root.
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
