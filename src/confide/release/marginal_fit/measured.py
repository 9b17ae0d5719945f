"""Released noisy tables in flat arrays, and unbiased answers to queries from these tables.

The module also computes the targets of the fit. For each set of columns, the margins of all noisy tables are combined
into one estimate. Each estimate is a probability distribution. All functions read only released tables and public
facts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel_or_plain
from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["MeasuredTables", "RawTable", "consistent", "project_simplex", "simplex"]

# ---- consistency

_Columns = tuple[int, ...]
_ROUNDS = 6  # of iterative proportional fitting
_SPREAD = 0.01  # of independent columns in an estimate at most, so that no margin is asked of cells that are all 0
_DEVIATIONS = 5.0  # of an estimate's length: as much of them as noise can have emptied


@kernel_or_plain
def project_simplex(values: NDArray[np.float64]) -> None:
    """Replace an array of finite numbers by the nearest probability distribution in Euclidean distance, in place.

    The method is Michelot's algorithm: a threshold rises until the values above it, each reduced by the threshold, sum
    to 1. The algorithm ends after finitely many passes and does not sort.
    """
    size = len(values)
    total = 0.0
    for i in range(size):
        total += values[i]
    kept, threshold = size, (total - 1.0) / size
    while True:
        total, left = 0.0, 0
        for i in range(size):
            if values[i] > threshold:
                total += values[i]
                left += 1
        if left >= kept or left == 0:  # rounding may let the threshold fall again: that is the end as well
            break
        kept, threshold = left, (total - 1.0) / left
    for i in range(size):
        values[i] = max(values[i] - threshold, 0.0)


def simplex(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability distribution nearest to an array of finite numbers, in the array's shape.

    Example:
        >>> simplex(np.array([0.9, 0.4, -0.3])).round(6).tolist()
        [0.75, 0.25, 0.0]
    """
    flat = np.array(values, dtype=np.float64).reshape(-1)
    project_simplex(flat)
    return flat.reshape(values.shape)


def _independent(laws: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The joint distribution of independent columns: the product of their distributions, with one axis for each."""
    product = np.ones(())
    for law in laws:
        product = np.multiply.outer(product, law)
    return np.asarray(product)


class RawTable:
    """A noisy table of counts over some columns, with the standard deviation of the noise of one cell, in counts."""

    def __init__(self, columns: _Columns, counts: NDArray[np.int64], sigma: float) -> None:
        self.columns = columns
        self.counts = counts
        self.sigma = sigma

    def margin(self, columns: _Columns) -> tuple[NDArray[np.float64], float]:
        """The margin of the table over a subset of its columns, and the variance of the noise of one cell of the
        margin.
        """
        away = tuple(at for at, column in enumerate(self.columns) if column not in columns)
        summed = self.counts.sum(axis=away) if away else self.counts
        return summed.astype(np.float64), self.sigma**2 * (self.counts.size / summed.size)


def consistent(raw: Sequence[RawTable], n: int) -> dict[_Columns, NDArray[np.float64]]:
    """One target distribution for every set of columns that lies within a measured table.

    The sets are processed by size, from 1 to 3. The first estimate for a set is the mean of the margins of all measured
    tables that contain the set, weighted by the inverse variances and projected on the simplex. For sets of two or
    three columns, 6 rounds of iterative proportional fitting then adjust this estimate to the targets of the subsets.

    Before the fitting, a share s of the estimate is replaced by the product of the independent columns, so that a
    positive target of a subset never falls on cells that are all 0 because of the noise. The share s is the smaller of
    0.01 and five times the noise of the estimate. The noise of an estimate is the square root of the sum of the
    variances of its cells, as a fraction of n. Replacing a share s of a target changes the target by at most 2 s in L1
    distance, and s vanishes with the noise.

    Args:
        raw: all measured tables, including the one-way tables.
        n: number of records.

    Returns:
        A mapping from a set of columns to an array with one axis for each column, with entries >= 0 and sum 1.

    Source: spec query_release D6.
    """
    containing: dict[_Columns, list[RawTable]] = {}
    for table in raw:
        for width in range(1, len(table.columns) + 1):
            for subset in combinations(table.columns, width):
                containing.setdefault(subset, []).append(table)
    targets: dict[_Columns, NDArray[np.float64]] = {}
    for subset in sorted(containing, key=lambda columns: (len(columns), columns)):
        margins = [table.margin(subset) for table in containing[subset]]
        mean, weight = np.zeros_like(margins[0][0]), 0.0
        for margin, variance in margins:
            mean, weight = mean + margin / variance, weight + 1.0 / variance
        estimate = simplex(mean / (weight * n))
        below = [(at, targets[subset[:at] + subset[at + 1 :]]) for at in range(len(subset))] if len(subset) > 1 else []
        if below:
            spread = min(_SPREAD, _DEVIATIONS * math.sqrt(estimate.size / weight) / n)
            estimate = (1.0 - spread) * estimate + spread * _independent([targets[(j,)] for j in subset])
        for _ in range(_ROUNDS if below else 0):
            for axis, target in below:
                present = estimate.sum(axis=axis)
                ratio = np.divide(target, present, out=np.zeros_like(target), where=present > 0)
                estimate = estimate * np.expand_dims(ratio, axis)
        targets[subset] = estimate / estimate.sum()
    return targets


# ---- measured

_BLOCK = 2**22  # entries of a mask at once


@renamed(sigmas="noise_stds")
@wire("MeasuredTables", "members sigmas counts", noise_stds="sigmas")
@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredTables:
    """Noisy tables of a schema's columns, in the order of their release.

    Args:
        members: columns of each table, int64 (t, 3), ascending; -1 at the end of a table with fewer columns.
        noise_stds: standard deviation of the discrete Gaussian noise of a cell, in counts, float64 (t,).
        counts: noisy counts of all tables as one flat array, int64. In this array the value of a table's last column
            varies fastest.

    Raises:
        InvalidInput: an array has another type or shape, a column is out of range, or a standard deviation is not
            positive.
    """

    members: NDArray[np.int64]
    noise_stds: NDArray[np.float64]
    counts: NDArray[np.int64] = field(repr=False)

    def __post_init__(self) -> None:
        tables = len(self.members)
        for name, kind, shape in (("members", np.int64, (tables, 3)), ("noise_stds", np.float64, (tables,)),
                                  ("counts", np.int64, (np.size(self.counts),))):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != shape:
                raise InvalidInput(f"tables.{name}", "does not have the expected type and shape",
                                   f"must be {np.dtype(kind)} of shape {shape}")
        if not (np.isfinite(self.noise_stds).all() and (self.noise_stds > 0).all()):
            raise InvalidInput("tables.noise_stds", "are out of range", "must be positive")
        if (self.members < -1).any():
            raise InvalidInput("tables.members", "are out of range", "must be columns, or -1 for no column")

    def __len__(self) -> int:
        return len(self.members)

    @classmethod
    def of(cls, raw: list[RawTable]) -> MeasuredTables:
        """Released tables in flat arrays, from a list of tables."""
        members = np.array([(*table.columns, -1, -1)[:3] for table in raw], dtype=np.int64).reshape(-1, 3)
        return cls(members=members, noise_stds=np.array([table.sigma for table in raw], dtype=np.float64),
                   counts=np.concatenate([table.counts.reshape(-1) for table in raw]).astype(np.int64))

    def raw(self, sizes: tuple[int, ...]) -> list[RawTable]:
        """The released tables as a list of tables.

        Args:
            sizes: number of cells of each column.

        Raises:
            InvalidInput: a table names columns that do not exist, or the number of counts is wrong.
        """
        found, at = [], 0
        for members, sigma in zip(self.members.tolist(), self.noise_stds.tolist(), strict=True):
            columns = tuple(j for j in members if j >= 0)
            if not columns or columns[-1] >= len(sizes) or list(columns) != sorted(set(columns)) or \
                    tuple(members[: len(columns)]) != columns:
                raise InvalidInput("tables.members", "cannot be used",
                                   "must name columns of the schema in ascending order")
            shape = tuple(sizes[j] for j in columns)
            end = at + int(np.prod(shape))
            if end > len(self.counts):
                break
            found.append(RawTable(columns, self.counts[at:end].reshape(shape), sigma))
            at = end
        if len(found) < len(self) or at != len(self.counts):
            raise InvalidInput("tables.counts", f"there are {counted(len(self.counts), 'count')} for these tables",
                               "must be one for each cell")
        return found

    @renamed(n="records")
    def estimates(
        self, schema: Schema, workload: Workload, records: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The unbiased estimate of each query, from the least noisy table that has all columns of the query, and the
        standard deviation of its noise.

        Args:
            schema: the public columns.
            workload: conjunctions over the schema's attributes.
            records: number of records of the data.

        Returns:
            The estimates, (k,), and the standard deviations of the noise in the estimates, (k,), both in counts. If no
            table has all columns of a query, the entries are nan and infinity.
        """
        if workload.kind != "conjunctions":
            raise InvalidInput("workload", f"holds {workload.kind}", "must hold conjunctions")
        if workload.attributes != schema.attributes:
            raise InvalidInput("workload", f"is over {counted(workload.attributes, 'attribute')}",
                               f"the schema has {schema.attributes}")
        estimate = np.full(len(workload), np.nan)
        deviation = np.full(len(workload), np.inf)
        containing: dict[tuple[int, ...], list[RawTable]] = {}
        for table in self.raw(schema.sizes):
            for width in range(len(table.columns) + 1):
                for subset in combinations(table.columns, width):
                    containing.setdefault(subset, []).append(table)
        for columns, queries in _by_columns(schema, workload):
            for table in containing.get(columns, []):
                for some in np.array_split(queries, 1 + len(queries) * table.counts.size // _BLOCK):
                    value, cells = _read(table, schema, workload, some, records)
                    noise = table.sigma * np.sqrt(cells)
                    better = noise < deviation[some]
                    estimate[some[better]], deviation[some[better]] = value[better], noise[better]
        return estimate, deviation


def _by_columns(schema: Schema, workload: Workload) -> Iterator[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """The sets of at most three columns that queries name, each with the queries that name exactly these columns."""
    named = np.where(workload.index >= 0, schema.column_of[workload.index], -1)
    named.sort(axis=1)
    for width in range(1, named.shape[1]):
        named[:, width][(named[:, : width] == named[:, width : width + 1]).any(axis=1)] = -1
    named = -np.sort(-named, axis=1)
    kinds, place = np.unique(named, axis=0, return_inverse=True)
    order = np.argsort(place.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(place.reshape(-1), minlength=len(kinds)))
    for kind, queries in zip(kinds.tolist(), np.split(order, ends[:-1]), strict=True):
        columns = tuple(sorted(j for j in kind if j >= 0))
        if len(columns) <= 3:
            yield columns, queries


def _read(
    table: RawTable, schema: Schema, workload: Workload, queries: NDArray[np.int64], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sums of the cells that satisfy some queries, and the number of summed cells. If fewer cells fail a query than
    satisfy it, the result is n minus the sum of the failing cells.
    """
    masks = [np.ones((len(queries), size), dtype=np.float64) for size in table.counts.shape]
    for literal in range(workload.index.shape[1]):
        attribute, bit = workload.index[queries, literal], workload.bits[queries, literal]
        for at, column in enumerate(table.columns):
            here = (attribute >= 0) & (schema.column_of[attribute] == column)
            sets = schema.cell_attributes[column][None, :] == attribute[here, None]
            masks[at][here] *= sets == bit[here, None]
    letters = "abc"[: len(masks)]
    spread = table.counts.astype(np.float64)
    cells = np.prod([mask.sum(axis=1) for mask in masks], axis=0)
    total = np.einsum(f"{letters},{','.join('q' + letter for letter in letters)}->q", spread, *masks, optimize=True)
    fewer = cells * 2 > spread.size
    return np.where(fewer, n - (spread.sum() - total), total), np.where(fewer, spread.size - cells, cells)
