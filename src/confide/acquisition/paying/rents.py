"""Rents: what a person earns because the platform does not know how much she minds, the integral of d above her report.

V is concave in her virtual cost psi with slope d. So where psi is linear in the report the integral is a difference of
two values over psi's slope, exact though d jumps and is infinite at 0; a flat stretch is d at its level times its
length; a jump of psi is nothing. Where psi is a smooth function, the integral is enclosed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from confide.acquisition.beliefs.smooth_prior import SmoothVirtualCost
from confide.acquisition.beliefs.virtual_cost import VirtualCost
from confide.contract.errors import SolverFailed

__all__ = ["Enclosed", "Replace", "Sellers", "enclosed_rents", "exact_rents"]

Floats = NDArray[np.float64]

Replace = Callable[[NDArray[np.int64], Floats], tuple[Floats, Floats]]
"""(m,) people, (m, k) virtual costs of theirs -> (m, k) values V and (m, k) differences d; the others as they are."""

_FIRST = 4
"""Levels that are looked at together at first; most people are out of the market soon above their own."""

_TABLE = 1 << 22
_CELLS = 4096

_SHARES = np.linspace(0.0, 1.0, 9) ** 2
"""Cells are small near the truth: d is steep at low reports."""


class Sellers(NamedTuple):
    """People with weight under one prior.

    Args:
        people: (m,) positions.
        reports: (m,) c.
        differences: (m,) d at the truth.
        value: V at the truth of all.
    """

    people: NDArray[np.int64]
    reports: Floats
    differences: Floats
    value: float


def exact_rents(cost: VirtualCost, sellers: Sellers, replace: Replace) -> Floats:
    """(m,) rents under a piecewise linear virtual cost.

    Args:
        cost: of all these people.
        sellers: who they are.
        replace: values where one of them has another virtual cost.
    """
    found = np.zeros(len(sellers.people))
    block = max(1, _TABLE // (len(cost.levels) + 1))
    for start in range(0, len(found), block):
        part = slice(start, start + block)
        found[part] = _rents_of(cost, sellers._replace(
            people=sellers.people[part], reports=sellers.reports[part], differences=sellers.differences[part]), replace)
    return found


def _rents_of(cost: VirtualCost, sellers: Sellers, replace: Replace) -> Floats:
    """The sum over all pieces; those below a report have no room above it and one value at both ends."""
    values, differences = _at_levels(cost, sellers, replace)
    used = np.flatnonzero((np.diff(cost.bounds) > 0) & np.isfinite(cost.lows))
    rising, flat = used[cost.slopes[used] > 0], used[cost.slopes[used] == 0]
    low, high = (np.searchsorted(cost.levels, ends[rising]) for ends in (cost.lows, cost.highs))
    rents = np.sum(np.maximum(values[:, high] - values[:, low], 0.0) / cost.slopes[rising], axis=1)
    room = np.maximum(cost.bounds[flat + 1] - np.maximum(cost.bounds[flat], sellers.reports[:, None]), 0.0)
    levels = differences[:, np.searchsorted(cost.levels, cost.lows[flat])]
    return np.asarray(rents + np.sum(np.where(room > 0, levels, 0.0) * room, axis=1))


def _at_levels(cost: VirtualCost, sellers: Sellers, replace: Replace) -> tuple[Floats, Floats]:
    """(m, levels) V and d where a person has a level's virtual cost, or her own where that is larger.

    Whoever has no weight at one level has none at a higher one, and V stays as it is.
    """
    levels, psi = cost.levels, cost(sellers.reports)
    values = np.full((len(psi), len(levels)), sellers.value)
    differences = np.repeat(sellers.differences[:, None], len(levels), axis=1)
    inside = np.ones(len(psi), dtype=bool)
    start, size = 0, _FIRST
    while start < len(levels) and inside.any():
        stop = min(start + size, len(levels))
        rows = np.flatnonzero(inside & (psi < levels[stop - 1]))
        if len(rows):
            asked = np.maximum(levels[start:stop], psi[rows, None])
            higher = asked > psi[rows, None]
            found = replace(sellers.people[rows], asked)
            for table, each in zip((values, differences), found, strict=True):
                table[rows, start:stop] = np.where(higher, each, table[rows, start:stop])
                table[rows, stop:] = table[rows, stop - 1, None]
            inside[rows] = differences[rows, stop - 1] > 0
        start, size = stop, 2 * size
    return values, differences


class Enclosed(NamedTuple):
    """Rents between two bounds.

    Args:
        points: (m,) what is paid.
        widths: (m,) upper less lower bound; they take V and d as exact.
    """

    points: Floats
    widths: Floats


def enclosed_rents(cost: SmoothVirtualCost, sellers: Sellers, replace: Replace, tolerance: float) -> Enclosed:
    """Rents under a smooth virtual cost: the range above each report is cut into cells, the widest bounds first.

    Args:
        cost: of all these people.
        sellers: who they are.
        replace: values where one of them has another virtual cost.
        tolerance: how far apart the bounds of one rent may be.

    Raises:
        SolverFailed: they are still further apart with 4096 cells.
    """
    room = (cost.support[1] - sellers.reports)[:, None]
    shares = _SHARES
    nodes = _nodes(cost, sellers, replace, shares)
    while True:
        low, point, high = _cells(cost, sellers.reports[:, None] + room * shares, *nodes)
        widths = high - low
        total = widths.sum(axis=1)
        if not np.any(total > tolerance):
            return Enclosed(point.sum(axis=1), total)
        if len(shares) > _CELLS:
            raise SolverFailed("enclosed_rents", f"rents are known to {total.max():.3g} only, not to {tolerance:.3g}; "
                               "give narrower bounds of the slope, or use the prior's virtual_cost()")
        widest = np.where(total[:, None] > tolerance, widths, 0.0).max(axis=0)
        split = np.flatnonzero(widest > min(tolerance / (2.0 * len(widest)), widest.max() / 2.0))
        middles = (shares[split] + shares[split + 1]) / 2.0
        shares = np.insert(shares, split + 1, middles)
        nodes = tuple(np.insert(old, split + 1, new, axis=1)
                      for old, new in zip(nodes, _nodes(cost, sellers, replace, middles), strict=True))


def _nodes(
    cost: SmoothVirtualCost, sellers: Sellers, replace: Replace, shares: Floats
) -> tuple[Floats, ...]:
    """(m, k) psi, V and d at reports that lie by these shares between the truth and the highest report."""
    c, top = sellers.reports[:, None], cost.support[1]
    psi = cost(np.minimum(c + (top - c) * shares, top))
    known = np.isfinite(psi) & (shares > 0)
    values, differences = replace(sellers.people, np.where(known, psi, cost(c)))
    values = np.where(shares > 0, np.where(known, values, np.nan), sellers.value)
    differences = np.where(shares > 0, np.where(known, differences, 0.0), sellers.differences[:, None])
    return psi, values, differences


def _cells(
    cost: SmoothVirtualCost, reports: Floats, psi: Floats, values: Floats, differences: Floats
) -> tuple[Floats, Floats, Floats]:
    """Lower bound, value to pay and upper bound of the integral of d over each cell."""
    left, right = reports[:, :-1], np.minimum(reports[:, 1:], cost.support[1])
    slopes = [cost.slope_bounds(*ends) for ends in zip(left.ravel().tolist(), right.ravel().tolist(), strict=True)]
    least, most = np.array(slopes, dtype=np.float64).reshape(*left.shape, 2).transpose(2, 0, 1)
    length, rise = right - left, np.maximum(np.diff(values), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.fmax(length * differences[:, 1:], rise / most)
        high = np.fmin(length * differences[:, :-1], rise / least)
        point = rise * length / np.diff(psi)
    low, high = np.minimum(low, high), np.maximum(low, high)
    return low, np.where(np.isfinite(point), np.clip(point, low, high), (low + high) / 2.0), high
