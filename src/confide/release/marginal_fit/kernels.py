"""The compiled loops of the fit: raking of weights, Gibbs sweeps, resampling. Plain arrays, changed in place.

Only additions, multiplications, divisions and square roots in a fixed order: the same bits on every machine.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from confide.numerics.compiled import kernel
from confide.release.marginal_fit.public_randomness import uniform

__all__ = ["cells_of", "effective_size", "gibbs", "rake", "resample"]

_Reals = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Cells = NDArray[np.uint16]


@kernel
def cells_of(columns: _Cells, members: _Integers, strides: _Integers, table: int, out: _Cells) -> None:
    """Which cell of one table each row lies in; out (N,) is filled.

    Args:
        columns: (m, N) the population, column by column.
        members: (t, 3) columns of each table; a missing one is repeated with stride 0.
        strides: (t, 3) how far one step in a column moves the cell.
        table: which one.
        out: (N,).
    """
    first, second, third = columns[members[table, 0]], columns[members[table, 1]], columns[members[table, 2]]
    a, b, c = np.uint16(strides[table, 0]), np.uint16(strides[table, 1]), np.uint16(strides[table, 2])
    for i in range(len(out)):
        out[i] = first[i] * a + second[i] * b + third[i] * c


@kernel
def effective_size(weights: _Reals) -> float:
    """(sum w)^2 / sum w^2."""
    total, squares = 0.0, 0.0
    for i in range(len(weights)):
        total += weights[i]
        squares += weights[i] * weights[i]
    return total * total / squares if squares > 0 else 0.0


@kernel
def rake(
    columns: _Cells, members: _Integers, strides: _Integers, starts: _Integers, targets: _Reals, psi: _Reals,
    weights: _Reals, sweeps: int, floor: float, cap: float, least_size: float,
) -> tuple[float, float]:
    """Damped raking: for each table in turn, weights and psi of its cells move half the way (in logs) to the target.

    Cells are numbered again for each table: that takes less time than it would take to fetch them, and no room.

    Args:
        columns: (m, N) the population, column by column.
        members: (t, 3) as `cells_of` reads them.
        strides: (t, 3) too.
        starts: (t + 1,) where each table's cells start in the flat arrays.
        targets: flat target distributions.
        psi: flat factors of the model; changed.
        weights: (N,) of the rows, sum 1; changed.
        sweeps: over all tables, at most.
        floor: added to target and weight of a cell, so that no factor is 0 or infinite.
        cap: no factor is larger.
        least_size: sweeps end when the effective number of rows falls below it.

    Returns:
        The mean L1 distance of tables and targets, as the last sweep met them; the effective number of rows.
    """
    tables, rows = len(members), columns.shape[1]
    cell, before = np.empty(rows, dtype=np.uint16), np.empty(rows, dtype=np.uint16)
    widest = 0
    for t in range(tables):
        widest = max(widest, starts[t + 1] - starts[t])
    even, odd, ratio = np.zeros(widest), np.zeros(widest), np.ones(widest)
    half = rows // 2
    size, misfit = effective_size(weights), 0.0
    for _ in range(sweeps):
        misfit = 0.0
        for t in range(tables):
            width, start = starts[t + 1] - starts[t], starts[t]
            for v in range(width):
                even[v] = 0.0
                odd[v] = 0.0
            cell, before = before, cell
            cells_of(columns, members, strides, t, cell)
            if t == 0:
                for i in range(half):  # two histograms: one cell's sum need not wait for itself
                    even[cell[i]] += weights[i]
                    odd[cell[half + i]] += weights[half + i]
                if half + half < rows:
                    odd[cell[rows - 1]] += weights[rows - 1]
            else:
                for i in range(half):
                    w, u = weights[i] * ratio[before[i]], weights[half + i] * ratio[before[half + i]]
                    weights[i] = w
                    weights[half + i] = u
                    even[cell[i]] += w
                    odd[cell[half + i]] += u
                if half + half < rows:
                    w = weights[rows - 1] * ratio[before[rows - 1]]
                    weights[rows - 1] = w
                    odd[cell[rows - 1]] += w
            total = 0.0
            for v in range(width):
                even[v] += odd[v]
                total += even[v]
            distance = 0.0
            for v in range(width):
                q, target = even[v] / total, targets[start + v]
                distance += abs(target - q)
                factor = min(math.sqrt((target + floor) / (q + floor)), cap)
                psi[start + v] *= factor
                ratio[v] = factor / total
            misfit += distance
        total = 0.0
        for i in range(rows):
            weights[i] *= ratio[cell[i]]
            total += weights[i]
        for i in range(rows):
            weights[i] /= total
        misfit /= tables
        size = effective_size(weights)
        if size < least_size:
            break
    return misfit, size


@kernel
def resample(rows: _Cells, weights: _Reals, start: float, out: _Cells) -> None:
    """Systematic resampling: out (N, m) holds rows in proportion to their weights, in their order.

    Args:
        rows: (N, m).
        weights: (N,) >= 0.
        start: in [0, 1), the place of the first point.
        out: filled; as many rows as there are points.
    """
    total = 0.0
    for i in range(len(weights)):
        total += weights[i]
    points = out.shape[0]
    step = total / points
    place, reached, i = start * step, weights[0], 0
    for k in range(points):
        place = (start + k) * step
        while place >= reached and i < len(weights) - 1:
            i += 1
            reached += weights[i]
        for j in range(rows.shape[1]):
            out[k, j] = rows[i, j]


@kernel
def gibbs(
    rows: _Cells, first: int, step: int, last: int, sizes: _Integers, starts: _Integers, places: _Integers,
    partners: _Integers, strides: _Integers, factors: _Reals, key: np.uint64,
) -> None:
    """One systematic-scan Gibbs sweep under the product of all factors, over rows first, first + step, ... below last.

    Args:
        rows: (N, m); changed.
        first: the first row.
        step: from row to row.
        last: rows from here on are left alone.
        sizes: (m,) cells of each column.
        starts: (m + 1,) where the tables of each column start in the three arrays that follow.
        places: (k,) where such a table starts in `factors`, laid out so that the column's own cell moves fastest. A
            column of two cells has the quotients of its second and its first cell's factors instead.
        partners: (k, 2) its other columns; a missing one is any column with stride 0.
        strides: (k, 2) how far one step in them moves the place.
        factors: flat, >= 0; quotients finite and > 0.
        key: of the draws; row i has number i m + j for column j.
    """
    m = rows.shape[1]
    widest = 0
    for j in range(m):
        widest = max(widest, sizes[j])
    law = np.empty(widest)
    for i in range(first, last, step):
        for j in range(m):
            size = sizes[j]
            if size == 1 or starts[j + 1] == starts[j]:
                continue
            if size == 2:
                odds = 1.0
                for k in range(starts[j], starts[j + 1]):
                    at = places[k] + rows[i, partners[k, 0]] * strides[k, 0] + rows[i, partners[k, 1]] * strides[k, 1]
                    odds *= factors[at]
                place = uniform(key, np.uint64(i * m + j)) * (1.0 + odds)
                rows[i, j] = 1 if place >= 1.0 or odds == math.inf else 0
                continue
            k = starts[j]
            at = places[k] + rows[i, partners[k, 0]] * strides[k, 0] + rows[i, partners[k, 1]] * strides[k, 1]
            for v in range(size):
                law[v] = factors[at + v]
            for k in range(starts[j] + 1, starts[j + 1]):
                at = places[k] + rows[i, partners[k, 0]] * strides[k, 0] + rows[i, partners[k, 1]] * strides[k, 1]
                for v in range(size):
                    law[v] *= factors[at + v]
            total = 0.0
            for v in range(size):
                total += law[v]
            if not (total > 0.0 and total < math.inf):
                continue  # all factors vanished in doubles: the row stays where it is
            place = uniform(key, np.uint64(i * m + j)) * total
            chosen = 0
            reached = law[0]
            while reached <= place and chosen < size - 1:
                chosen += 1
                reached += law[chosen]
            rows[i, j] = chosen
