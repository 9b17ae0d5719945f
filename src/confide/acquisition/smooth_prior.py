"""A prior given by a distribution function and a density. Either the virtual cost is piecewise linear through knots,
and payments are exact, or the virtual cost is the true one, and payments are enclosed between two bounds.

Truth is the best report for any non-decreasing virtual cost. A piecewise linear interpolation through 257 points of the
true virtual cost therefore costs a little more than the optimum, but truth remains the best report. Where bounds on the
slope of the true virtual cost are known, the payments for the true virtual cost can be enclosed instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.priors import HIGHEST, LEAST, ConcernPrior, keep_range
from confide.acquisition.virtual_cost import Piece, VirtualCost
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.parameters import Declared, Parameter
from confide.contract.remedies import within

__all__ = ["SmoothPrior", "SmoothVirtualCost"]

_FINE = 16
"""Number of grid points per knot interval at which monotonicity is checked."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_HALVINGS = 60


@dataclass(frozen=True)
class SmoothVirtualCost(Declared):
    """A rising virtual cost given as a function, with bounds on its slope. Rents under a virtual cost of this class are
    enclosed between two bounds and are not exact.

    Args:
        function: function from an array of reports to an array of virtual costs; infinite at `high` where the density
            ends in 0.
        slope_bounds: function from (left, right) to the least and the largest slope between these reports. The code
            cannot check the given bounds. The largest slope may be infinite.
    """

    function: Callable[[Any], Any]
    slope_bounds: Callable[[float, float], tuple[float, float]]
    low: Annotated[float, LEAST] = 0.0
    high: Annotated[float, HIGHEST] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_range(self)

    @property
    def support(self) -> tuple[float, float]:
        """The least and the highest report."""
        return self.low, self.high

    def __call__(self, reports: ArrayLike) -> NDArray[np.float64]:
        """The virtual costs of reports, in the shape of the reports.

        Raises:
            InvalidInput: a report that the prior cannot produce.
        """
        c = np.asarray(reports, dtype=np.float64)
        if not np.all((c >= self.low) & (c <= self.high)):
            raise InvalidInput("reports", "a report is outside the prior's support",
                               f"must be in {within(self.low, self.high)}")
        return np.asarray(self.function(c), dtype=np.float64)


@dataclass(frozen=True)
class SmoothPrior(ConcernPrior):
    """A probability law with a density. The distribution and the density are functions from an array of reports to an
    array.

    Args:
        distribution: distribution function F.
        density: density f >= 0. Where f is 0 at `high`, the true virtual cost is infinite at `high`, and the piecewise
            linear virtual cost ends in a steep line.
        slope_bounds: function from (left, right) to the least and the largest slope of the virtual cost between these
            reports; used only by `smooth_virtual_cost`. None if no bounds are known.

    Raises:
        InvalidInput: F does not rise from 0 to 1, or f is not its density. The error names a report at which F or f is
            wrong.

    Example:
        >>> prior = SmoothPrior(lambda c: c * c, lambda c: 2 * c)
        >>> bool(abs(prior.virtual_cost()(0.5) - 0.75) < 1e-12), round(prior.mean, 12)
        (True, 0.666666666667)
    """

    distribution: Callable[[Any], Any]
    density: Callable[[Any], Any]
    low: Annotated[float, LEAST] = 0.0
    high: Annotated[float, HIGHEST] = 1.0
    knots: Annotated[int, Parameter("number of pieces of the virtual cost; the pieces are finer near both ends",
                                    at_least=2)] = 256
    slope_bounds: Callable[[float, float], tuple[float, float]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_range(self)
        object.__setattr__(self, "knots", int(self.knots))
        c = self._grid[::_FINE]
        sums, density = self._values(self.distribution, c), self._values(self.density, c)
        self._refuse(c, ~np.isfinite(sums) | np.append(np.diff(sums) < 0, False), "distribution", "does not rise")
        if abs(sums[0]) > 1e-9 or abs(sums[-1] - 1.0) > 1e-9:
            raise InvalidInput("distribution", f"goes from {sums[0]:g} to {sums[-1]:g}", "must go from 0 to 1")
        self._refuse(c, ~(density >= 0), "density", "is negative or is not a number")
        inside = self._values(self.density, self._inside(c))
        every = np.column_stack([density[:-1], inside, density[1:]])
        rises, width = np.diff(sums), np.diff(c)
        off = (rises < every.min(1) * width * (1 - 1e-3) - 1e-9) | (rises > every.max(1) * width * (1 + 1e-3) + 1e-9)
        self._refuse(c, off, "density", "is not the slope of the distribution")

    def _refuse(self, c: NDArray[np.float64], wrong: NDArray[np.bool_], field: str, problem: str) -> None:
        if wrong.any():
            raise InvalidInput(field, f"{problem} at report {c[int(np.argmax(wrong))]:.6g}")

    @staticmethod
    def _values(function: Callable[[Any], Any], c: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.broadcast_to(np.asarray(function(c), dtype=np.float64), c.shape)

    @staticmethod
    def _inside(c: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(c[:-1, None] + np.diff(c)[:, None] * (1.0 + _NODES) / 2.0)

    @cached_property
    def _grid(self) -> NDArray[np.float64]:
        angle = np.linspace(0.0, np.pi, self.knots * _FINE + 1)
        grid = self.low + (self.high - self.low) * (1.0 - np.cos(angle)) / 2.0
        grid[-1] = self.high
        return grid

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def cdf(self, report: ArrayLike) -> NDArray[np.float64]:
        c = np.asarray(report, dtype=np.float64)
        inside = self._values(self.distribution, np.clip(c, self.low, self.high))
        return np.where(c < self.low, 0.0, np.where(c >= self.high, 1.0, inside))

    def quantile(self, probability: ArrayLike) -> NDArray[np.float64]:
        q = np.asarray(probability, dtype=np.float64)
        low, high = np.full(q.shape, self.low), np.full(q.shape, self.high)
        for _ in range(_HALVINGS):
            middle = low + (high - low) / 2.0
            enough = self.cdf(middle) >= q
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.asarray(np.where(self.cdf(low) >= q, low, high))

    @property
    def mean(self) -> float:
        c = self._grid[::_FINE]
        above = 1.0 - self._values(self.distribution, self._inside(c))
        return self.low + float(np.sum(np.diff(c) / 2.0 * (above @ _WEIGHTS)))

    def raw_virtual_cost(self, report: ArrayLike) -> NDArray[np.float64]:
        """The virtual cost c + F/f before ironing; infinite where the density at c is 0 and lower reports have positive
        probability.
        """
        c = np.asarray(report, dtype=np.float64)
        sums, density = self._values(self.distribution, c), self._values(self.density, c)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(sums > 0, c + sums / density, c))

    def virtual_cost(self) -> VirtualCost:
        """The piecewise linear virtual cost through the knots, ironed on a grid 16 times as fine."""
        c = self._grid
        psi = self.raw_virtual_cost(c)
        with np.errstate(invalid="ignore"):
            if np.all(psi[1:] >= psi[:-1]):
                return VirtualCost.through(c[::_FINE], _ending(c[::_FINE], psi[::_FINE]))
        return _ironed(c, self._values(self.distribution, c), psi)

    def smooth_virtual_cost(self) -> SmoothVirtualCost:
        """The true virtual cost, for payments that are enclosed between two bounds.

        Raises:
            Unsupported: no bounds of the virtual cost's slope are given.
            InvalidInput: the virtual cost falls somewhere.
        """
        if self.slope_bounds is None:
            raise Unsupported("slope_bounds", "a virtual cost without bounds of its slope", "use virtual_cost()")
        psi = self.raw_virtual_cost(self._grid)
        self._refuse(self._grid[1:], ~(psi[1:] >= psi[:-1]), "density", "gives a falling virtual cost")
        return SmoothVirtualCost(self.raw_virtual_cost, self.slope_bounds, self.low, self.high)


def _ending(c: NDArray[np.float64], psi: NDArray[np.float64]) -> NDArray[np.float64]:
    """Virtual costs with the first infinite value replaced by the continuation of the line before it, so that the last
    piece rises too.
    """
    first = int(np.argmin(np.isfinite(psi)))
    if first >= 2:
        psi = psi.copy()
        slope = (psi[first - 1] - psi[first - 2]) / (c[first - 1] - c[first - 2])
        psi[first] = psi[first - 1] + slope * (c[first] - c[first - 1])
    return psi


def _ironed(c: NDArray[np.float64], sums: NDArray[np.float64], psi: NDArray[np.float64]) -> VirtualCost:
    """The ironed virtual cost. Pooled slopes of q F^-1(q) between points of the grid are constant pieces, and between
    these pieces the cost is linear through psi.
    """
    from scipy.optimize import isotonic_regression

    nodes = np.append(0, 1 + np.flatnonzero(np.diff(sums) > 0))  # an interval without mass goes to the one after it
    nodes[-1] = len(c) - 1
    masses = np.diff(sums[nodes])
    pooled = isotonic_regression(np.diff(sums[nodes] * c[nodes]) / masses, weights=masses)
    levels = np.concatenate([[0.0], pooled.x, [np.inf]])
    values = _ending(c[nodes], np.clip(psi[nodes], levels[:-1], levels[1:]))
    starts, ends = pooled.blocks[:-1], pooled.blocks[1:]
    alone = ends - starts == 1
    # Of points between flat pieces, every sixteenth is a knot.
    keep = ~alone | np.append(True, ~alone[:-1]) | (nodes[starts] % _FINE == 0)
    starts, ends = starts[keep], np.append(starts[keep][1:], ends[-1])
    flat = ~alone[keep] | ~np.isfinite(values[ends])
    lows = np.where(~alone[keep], pooled.x[starts], values[starts])
    left, right = c[nodes[starts]], c[nodes[ends]]
    slopes = np.where(flat, 0.0, (np.where(flat, lows, values[ends]) - lows) / (right - left))
    return VirtualCost.of_pieces(map(Piece, left.tolist(), right.tolist(), lows.tolist(), slopes.tolist()))
