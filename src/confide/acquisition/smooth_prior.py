"""A prior of one's own functions: by knots, with exact payments for what the knots define, or by brackets.

Truth is the best report for any non-decreasing virtual cost. So straight lines through 257 points of the true one cost
a little of the optimum and nothing of the incentives. Where bounds of its slope are known, payments of the true one can
be enclosed instead.
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
"""Points between two knots at which monotonicity is looked at."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_HALVINGS = 60


@dataclass(frozen=True)
class SmoothVirtualCost(Declared):
    """A rising virtual cost as a function, with certified bounds of its slope; rents of it are enclosed, not exact.

    Args:
        function: from an array of reports to an array; infinite at `high` where the density ends in 0.
        slope_bounds: (left, right) -> the least and the largest slope in between, which nobody can check; the largest
            may be infinite.
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
        """The virtual costs of reports, in their shape.

        Raises:
            InvalidInput: a report that the prior cannot produce.
        """
        c = np.asarray(reports, dtype=np.float64)
        if not np.all((c >= self.low) & (c <= self.high)):
            raise InvalidInput("reports", "one at least is outside the prior's support",
                               f"must be in {within(self.low, self.high)}")
        return np.asarray(self.function(c), dtype=np.float64)


@dataclass(frozen=True)
class SmoothPrior(ConcernPrior):
    """A law with a density, as functions from an array of reports to an array.

    Args:
        distribution: F.
        density: f >= 0; where it is 0 at `high`, the virtual cost ends in infinity, and by knots in a steep line.
        slope_bounds: see `SmoothVirtualCost`; for `smooth_virtual_cost` only.

    Raises:
        InvalidInput: F does not rise from 0 to 1, or f is not its density; names the report at which it shows.

    Example:
        >>> prior = SmoothPrior(lambda c: c * c, lambda c: 2 * c)
        >>> bool(abs(prior.virtual_cost()(0.5) - 0.75) < 1e-12), round(prior.mean, 12)
        (True, 0.666666666667)
    """

    distribution: Callable[[Any], Any]
    density: Callable[[Any], Any]
    low: Annotated[float, LEAST] = 0.0
    high: Annotated[float, HIGHEST] = 1.0
    knots: Annotated[int, Parameter("pieces of the virtual cost; they are finer near both ends", at_least=2)] = 256
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
        self._refuse(c, ~(density >= 0), "density", "is negative or no number")
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
        """The virtual cost c + F/f before ironing; infinite where nobody reports c and somebody less."""
        c = np.asarray(report, dtype=np.float64)
        sums, density = self._values(self.distribution, c), self._values(self.density, c)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(sums > 0, c + sums / density, c))

    def virtual_cost(self) -> VirtualCost:
        """Straight lines through the knots, ironed on a grid 16 times as fine."""
        c = self._grid
        psi = self.raw_virtual_cost(c)
        with np.errstate(invalid="ignore"):
            if np.all(psi[1:] >= psi[:-1]):
                return VirtualCost.through(c[::_FINE], _ending(c[::_FINE], psi[::_FINE]))
        return _ironed(c, self._values(self.distribution, c), psi)

    def smooth_virtual_cost(self) -> SmoothVirtualCost:
        """The true virtual cost, of which payments are enclosed.

        Raises:
            Unsupported: no bounds of its slope are given.
            InvalidInput: it falls somewhere.
        """
        if self.slope_bounds is None:
            raise Unsupported("slope_bounds", "a virtual cost without bounds of its slope", "use virtual_cost()")
        psi = self.raw_virtual_cost(self._grid)
        self._refuse(self._grid[1:], ~(psi[1:] >= psi[:-1]), "density", "makes the virtual cost fall")
        return SmoothVirtualCost(self.raw_virtual_cost, self.slope_bounds, self.low, self.high)


def _ending(c: NDArray[np.float64], psi: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first infinite value replaced by the continuation of the line before it: the top is a rising piece too."""
    first = int(np.argmin(np.isfinite(psi)))
    if first >= 2:
        psi = psi.copy()
        slope = (psi[first - 1] - psi[first - 2]) / (c[first - 1] - c[first - 2])
        psi[first] = psi[first - 1] + slope * (c[first] - c[first - 1])
    return psi


def _ironed(c: NDArray[np.float64], sums: NDArray[np.float64], psi: NDArray[np.float64]) -> VirtualCost:
    """The pooled slopes of q F^-1(q) between points of the grid are flat pieces; between them, lines through psi."""
    from scipy.optimize import isotonic_regression

    nodes = np.append(0, 1 + np.flatnonzero(np.diff(sums) > 0))  # a stretch without mass goes to the one after it
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
