"""The maximum-entropy model of all measured tables: a product of factors, represented by weighted rows.

Raking multiplies the weights of the rows and the factors of the model by the same numbers, so that the weighted rows
always represent the product. Resampling loses distinct rows. Gibbs sweeps under the product draw new rows, and raking
corrects the sampling error. No junction tree is needed.

Source: spec query_release D6.

The module also has the public randomness of the fit: shuffles, resampling and Gibbs draws, which anybody can repeat
from a seed. The public randomness does not serve as privacy noise. The fitted population must follow from the
measurements bit for bit, on any machine and with any number of threads. Therefore each draw is a function of a key and
a position, in whole-number arithmetic. The generator is SplitMix64, applied to the key plus a multiple of the position.

Source: Steele, Lea and Flood 2014, Figure 15.

The compiled loops of the fit are raking of weights, Gibbs sweeps and resampling. These loops change plain arrays in
place, and use only additions, multiplications, divisions and square roots in a fixed order, so that every machine
computes the same bits.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping

import numpy as np
import scipy
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.numerics import map_blocks

__all__ = [
    "Model",
    "cells_of",
    "effective_size",
    "gibbs",
    "key_of",
    "normals",
    "permutation",
    "rake",
    "resample",
    "uniform",
    "uniforms",
]

# ---- public randomness

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_BITS = 2.0**-53


def key_of(seed: int, *name: str | int) -> np.uint64:
    """The key of a named stream of public randomness.

    Example:
        >>> len({int(key_of(1, *name)) for name in (("shuffle", 0), ("shuffle", 1), ("shuffle", 0), ("shuffle0",))})
        3
    """
    text = "\n".join([str(seed), *(f"i{part}" if isinstance(part, int) else f"s{part}" for part in name)])
    return np.uint64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little"))


@kernel
def uniform(key: np.uint64, position: np.uint64) -> float:
    """The pseudorandom number at a position of the stream with the given key. The number is uniform over the 2^53
    multiples of 2^-53 in [0, 1).
    """
    z = key + (position + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * 1.1102230246251565e-16


def _words(key: np.uint64, count: int) -> NDArray[np.uint64]:
    z = key + np.arange(1, count + 1, dtype=np.uint64) * _STEP
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return np.asarray(z ^ (z >> np.uint64(31)))


def uniforms(key: np.uint64, count: int) -> NDArray[np.float64]:
    """The values of `uniform` at the positions 0, 1, ..., count - 1, as an array (count,).

    Example:
        >>> k = key_of(1, "x")
        >>> uniforms(k, 3).tolist() == [uniform(k, np.uint64(i)) for i in range(3)]
        True
    """
    return np.asarray((_words(key, count) >> np.uint64(11)).astype(np.float64) * _BITS)


def normals(key: np.uint64, count: int) -> NDArray[np.float64]:
    """Standard normal numbers, (count,): the normal quantile function at uniform numbers that are shifted away from 0
    by 2^-54.
    """
    return np.asarray(scipy.special.ndtri(uniforms(key, count) + _BITS / 2))


def permutation(key: np.uint64, count: int) -> NDArray[np.int64]:
    """A pseudorandom order of 0, 1, ..., count - 1. The numbers are sorted by pseudorandom 64-bit words; numbers with
    equal words stay in ascending order.
    """
    return np.argsort(_words(key, count), kind="stable").astype(np.int64)


# ---- kernels

_Reals = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Cells = NDArray[np.uint16]


@kernel
def cells_of(columns: _Cells, members: _Integers, strides: _Integers, table: int, out: _Cells) -> None:
    """Fill `out`, (N,), with the cell of one table to which each row belongs.

    Args:
        columns: (m, N) the population, column by column.
        members: (t, 3) columns of each of the t tables. A table with fewer than three columns repeats a column with
            stride 0.
        strides: (t, 3) change of the cell number for a step of 1 in each column.
        table: number of the table, from 0.
        out: (N,) array, which is filled.
    """
    first, second, third = columns[members[table, 0]], columns[members[table, 1]], columns[members[table, 2]]
    a, b, c = np.uint16(strides[table, 0]), np.uint16(strides[table, 1]), np.uint16(strides[table, 2])
    for i in range(len(out)):
        out[i] = first[i] * a + second[i] * b + third[i] * c


@kernel
def effective_size(weights: _Reals) -> float:
    """The effective number of rows of the population: (sum w)^2 / sum w^2 for weights w."""
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
    """Damped raking. The tables are processed one after another. For each table, the weights of the rows and the
    factors psi of the table's cells move half of the way to the target, on a logarithmic scale.

    The cell of each row is computed again for each table, which is faster than reading it from memory.

    Args:
        columns: (m, N) the population, column by column.
        members: (t, 3) columns of each table. A table with fewer than three columns repeats a column with stride 0.
        strides: (t, 3) change of the cell number for a step of 1 in each column.
        starts: (t + 1,) position of each table's first cell in the flat arrays, and the end of the last table.
        targets: flat target distributions, one probability for each cell of the tables.
        psi: flat factors of the model, one for each cell of the tables; changed in place.
        weights: (N,) weights of the rows, with sum 1; changed in place.
        sweeps: largest number of sweeps over all tables.
        floor: small number > 0 that is added to the target and to the weight of each cell. With this addition no factor
            becomes 0 or infinite.
        cap: largest factor by which one step may change a weight.
        least_size: effective number of rows below which the sweeps end.

    Returns:
        The mean L1 distance between tables and targets, each measured in the last sweep before the table was changed,
        and the effective number of rows.
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
    """Systematic resampling: fill `out` with rows in proportion to their weights, in the order of the rows.

    Args:
        rows: (N, m) rows of cells.
        weights: (N,) weights of the rows, >= 0.
        start: position of the first sampling point, in [0, 1), in units of the distance between sampling points.
        out: (number of sampling points, m) array, which is filled with the drawn rows.
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
    """One systematic-scan Gibbs sweep under the product of all factors, over the rows first, first + step, ... below
    last.

    Args:
        rows: (N, m) rows of cells; changed.
        first: the first row of the sweep.
        step: difference between the numbers of consecutive rows of the sweep.
        last: end of the sweep; row `last` and the rows after it are not changed.
        sizes: (m,) number of cells of each column.
        starts: (m + 1,) position of each column's first table in `places`, `partners` and `strides`, and the end of the
            last column's tables.
        places: (k,) position of each table of a column in `factors`, with the column's own cell as the fastest digit. A
            column of two cells has ratios in place of the factors: the factor of its second cell divided by the factor
            of its first cell.
        partners: (k, 2) other columns of each table. A missing column is represented by any column with stride 0.
        strides: (k, 2) change of the position in `factors` for a step of 1 in each partner.
        factors: flat factors, >= 0. Ratios are finite and > 0.
        key: key of the random draws. The draw for row i and column j has number i m + j.
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


# ---- model

_Columns = tuple[int, ...]
_Targets = Mapping[_Columns, NDArray[np.float64]]

_CYCLES = 12  # at most, of raking, resampling and a Gibbs sweep
_LEAST, _LEAST_LAST = 4, 8  # before a fit may stop
_SWEEPS, _FINAL_SWEEPS = 2, 10  # of raking in a cycle, and after the last fit
_MISFIT = 0.02  # mean L1 distance that is good enough
_DIVERSE = 0.3  # of the rows: the effective number that is enough
_SLICE = 8192  # rows that a thread draws at once; even
_LEAST_FACTOR = 1e-150  # in a quotient of factors
_CAP = 4.0  # of a factor of one raking step


class Model:
    """Weighted rows, and the factors of all tables. The model reads only targets and public randomness.

    Args:
        sizes: number of cells of each column.
        population: number of rows, N.
        seed: seed of the public randomness.
        one_way: initial distribution of each column, as released.
    """

    def __init__(self, sizes: tuple[int, ...], population: int, seed: int, one_way: _Targets) -> None:
        self.sizes = np.array(sizes, dtype=np.int64)
        self.seed = seed
        self.rows = np.empty((population, len(sizes)), dtype=np.uint16)
        self.weights = np.full(population, 1.0 / population)
        self.psi: dict[_Columns, NDArray[np.float64]] = {}
        self.misfit, self.size = 0.0, float(population)
        self._sweep = 0
        places = (np.arange(population) + 0.5) / population
        for j in range(len(sizes)):
            law = one_way[(j,)]
            ends = np.cumsum(law)
            ends[-1] = 1.0
            quantiles = np.minimum(np.searchsorted(ends, places, side="right"), len(law) - 1)
            self.rows[:, j] = quantiles[permutation(key_of(seed, "shuffle", j), population)]
            self.psi[(j,)] = law.copy()

    @property
    def columns(self) -> NDArray[np.uint16]:
        """The rows, (m, N), stored column by column."""
        return np.ascontiguousarray(self.rows.T)

    def fit(self, targets: _Targets, tables: list[_Columns], *, last: bool, progress: Progress | None = None) -> None:
        """Fit the rows and factors to the targets.

        Args:
            targets: target distributions, from `consistent`.
            tables: the tables to fit, besides the one-way tables of all columns.
            last: whether this fit is the last one of the run.
            progress: function that is called with the number of finished cycles and the largest number of cycles.
        """
        order = tables + [(j,) for j in range(len(self.sizes)) if self.sizes[j] > 1]
        for table in order:
            self.psi.setdefault(table, np.ones([self.sizes[j] for j in table]))
        rows, fitted = len(self.rows), _Fitted(order, self.sizes, targets)
        least = _LEAST_LAST if last else _LEAST
        for cycle in range(_CYCLES):
            advance(progress, cycle, _CYCLES)
            self.misfit, self.size = fitted.rake(self, _SWEEPS, _DIVERSE)
            done = cycle + 1 >= least and self.misfit < _MISFIT and self.size > _DIVERSE * rows
            if done or cycle + 1 == _CYCLES:
                break
            self._renew(cycle)
        if last:
            self.misfit, self.size = fitted.rake(self, _FINAL_SWEEPS, 0.0)
        advance(progress, _CYCLES, _CYCLES)

    def _renew(self, cycle: int) -> None:
        """Resample the rows in proportion to their weights, then draw every second row again by a Gibbs sweep."""
        self._sweep += 1
        out = np.empty_like(self.rows)
        resample(self.rows, self.weights, float(uniforms(key_of(self.seed, "resample", self._sweep), 1)[0]), out)
        self.rows, self.weights = out, np.full(len(out), 1.0 / len(out))
        layout, key = _Layout(self.psi, self.sizes), key_of(self.seed, "gibbs", self._sweep)

        def draw(first: int) -> None:
            gibbs(self.rows, first + cycle % 2, 2, min(first + _SLICE, len(out)), self.sizes, layout.starts,
                  layout.places, layout.partners, layout.strides, layout.factors, key)

        for _ in map_blocks(draw, range(0, len(out), _SLICE)):
            pass  # each slice of rows on a thread, with draws of its own: how many threads there are changes nothing

    def effective(self) -> float:
        """The effective number of rows."""
        return effective_size(self.weights)


class _Fitted:
    """The tables of the fit as flat arrays for the raking loop."""

    def __init__(self, order: list[_Columns], sizes: NDArray[np.int64], targets: _Targets) -> None:
        self.order = order
        cells = [targets[table].size for table in order]
        self.starts = np.concatenate(([0], np.cumsum(cells))).astype(np.int64)
        self.targets = np.concatenate([targets[table].reshape(-1) for table in order])
        self.members = np.array([(table + table[:1] * 3)[:3] for table in order], dtype=np.int64)
        self.strides = np.zeros((len(order), 3), dtype=np.int64)
        for t, table in enumerate(order):
            step = 1
            for at in reversed(range(len(table))):
                self.strides[t, at] = step
                step *= int(sizes[table[at]])

    def rake(self, model: Model, sweeps: int, diverse: float) -> tuple[float, float]:
        rows = len(model.rows)
        psi = np.concatenate([model.psi[table].reshape(-1) for table in self.order])
        misfit, size = rake(model.columns, self.members, self.strides, self.starts, self.targets, psi, model.weights,
                            sweeps, 1.0 / rows, _CAP, diverse * rows)
        for t, table in enumerate(self.order):
            part = psi[self.starts[t] : self.starts[t + 1]].reshape(model.psi[table].shape)
            model.psi[table] = part / part.max()
        return misfit, size


class _Layout:
    """The factors in the layout that `gibbs` reads: one copy for each column of a table, with that column's cells
    adjacent.
    """

    def __init__(self, psi: Mapping[_Columns, NDArray[np.float64]], sizes: NDArray[np.int64]) -> None:
        starts, places, partners, strides, flat, place = [0], [], [], [], [], 0
        of: list[list[tuple[_Columns, NDArray[np.float64]]]] = [[] for _ in sizes]
        for table, factor in psi.items():
            for j in table:
                of[j].append((table, factor))
        for j in range(len(sizes)):
            for table, factor in of[j]:
                others = [k for k in table if k != j]
                copy = np.moveaxis(factor, table.index(j), -1)
                if sizes[j] == 2:
                    copy = np.maximum(copy[..., 1], _LEAST_FACTOR) / np.maximum(copy[..., 0], _LEAST_FACTOR)
                    steps = [int(np.prod(copy.shape[at + 1 :])) for at in range(copy.ndim)]
                else:
                    steps = [int(np.prod(copy.shape[at + 1 :])) for at in range(copy.ndim - 1)]
                places.append(place)
                partners.append([*others, j, j][:2])
                strides.append([*steps, 0, 0][:2])
                flat.append(copy.reshape(-1))
                place += copy.size
            starts.append(len(places))
        self.starts = np.array(starts, dtype=np.int64)
        self.places = np.array(places, dtype=np.int64)
        self.partners = np.array(partners, dtype=np.int64).reshape(-1, 2)
        self.strides = np.array(strides, dtype=np.int64).reshape(-1, 2)
        self.factors = np.concatenate(flat)
