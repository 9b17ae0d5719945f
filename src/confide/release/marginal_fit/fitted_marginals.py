"""`FittedMarginals`: the public result of a run of `MarginalFit`, with noisy tables and the population that fits them.

The population is a set of weighted rows. Equal rows are merged, and the rows are in lexicographic order. Rows of equal
weight can be drawn from the population.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.checks import fraction, non_negative, whole
from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard, Certificate
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.release._inputs import of_kind
from confide.release.marginal_fit.measured import MeasuredTables
from confide.release.marginal_fit.model import key_of, permutation
from confide.release.records import Codes, cells_table
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["FittedMarginals", "FittedMarginalsCertificate", "equal_rows", "merged", "merged_columns"]

# ---- population

_ROOM = 2**62  # of a key


def _distinct(
    rows: NDArray[np.uint16], weights: NDArray[np.float64], sizes: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The position of the first occurrence of each distinct row, in lexicographic order of the rows, and the total
    weight of each. Rows with total weight 0 are left out, and the weights are scaled to sum 1.
    """
    keys, room = [np.zeros(len(rows), dtype=np.int64)], 1
    for j, size in enumerate(sizes):
        if room > _ROOM // size:
            keys.append(np.zeros(len(rows), dtype=np.int64))
            room = 1
        keys[-1] = keys[-1] * size + rows[:, j]
        room *= size
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(rows), dtype=np.bool_)
    new[0] = True
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    place = np.cumsum(new) - 1
    sums = np.bincount(place, weights=weights[order])  # adds up in order: the same bits everywhere
    kept = sums > 0
    return order[new][kept], sums[kept] / sums[kept].sum()


def merged_columns(
    rows: NDArray[np.uint16], weights: NDArray[np.float64], sizes: tuple[int, ...]
) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """The distinct rows and weights that `merged` returns, with the rows stored column by column: (m, u)."""
    places, sums = _distinct(rows, weights, sizes)
    columns = np.empty((rows.shape[1], len(places)), dtype=np.uint16)
    for j in range(len(columns)):
        columns[j] = rows[places, j]
    return columns, sums


def merged(
    rows: NDArray[np.uint16], weights: NDArray[np.float64], sizes: tuple[int, ...]
) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """The distinct rows in lexicographic order, with the total weight of each. Rows without weight are left out.

    Args:
        rows: (N, m) rows of cells.
        weights: (N,) weights of the rows, >= 0.
        sizes: number of cells of each column.

    Example:
        >>> cells, weights = merged(np.array([[1, 0], [0, 1], [1, 0]], np.uint16), np.array([0.25, 0.5, 0.25]), (2, 2))
        >>> cells.tolist(), weights.tolist()
        ([[0, 1], [1, 0]], [0.5, 0.5])
    """
    places, sums = _distinct(rows, weights, sizes)
    return rows[places], sums


def equal_rows(
    cells: NDArray[np.uint16], weights: NDArray[np.float64], count: int
) -> NDArray[np.uint16]:
    """Rows of equal weight that approximate the weighted population. The method is systematic sampling along the
    lexicographic order of the population, without a random start.

    In each interval of this order, such as all rows with the same first cell, the number of drawn rows differs from the
    expected number by at most one.

    Args:
        cells: (N, m) rows of the population, in lexicographic order.
        weights: (N,) weights of the rows, with sum 1.
        count: number of rows.
    """
    size = whole("count", count, at_least=1)
    ends = np.cumsum(weights)
    found = np.searchsorted(ends, (np.arange(size) + 0.5) / size * ends[-1], side="right")
    return np.ascontiguousarray(cells[np.minimum(found, len(cells) - 1)])


# ---- fitted marginals

_MISFIT, _DIVERSE = 0.02, 0.3  # above and below which a fit is doubtful
_UNIT = 1e-9  # how far the weights may be from summing to 1


@wire("FittedMarginals", "schema records tables cells weights misfit diversity")
@dataclass(frozen=True, kw_only=True, eq=False)
class FittedMarginals(Billboard):
    """The public result of a run: the measured tables, and a weighted population that was fitted to them.

    The population is a deterministic function of the measurements and the plan's public seed: `MarginalFit.check` fits
    the population again and compares both results bit for bit. Answers and rows from the population cost no privacy,
    however often they are computed.

    Args:
        schema: the public columns.
        records: number of records, n.
        tables: the measured tables, in the order of their release. The first tables are the one-way tables of all
            columns that have several cells.
        cells: distinct rows of the population in lexicographic order, uint16 (N, m).
        weights: weights of the rows, float64 (N,), > 0 with sum 1.
        misfit: mean L1 distance between the population's tables and the target distributions, in [0, 2]. The misfit is
            not 0, because the targets are noisy and contradict each other slightly.
        diversity: effective number of rows, (sum w)^2 / sum w^2 for weights w, as a fraction of the fitted rows, in (0,
            1].
    """

    schema: Schema
    records: int
    tables: MeasuredTables
    cells: NDArray[np.uint16] = field(repr=False)
    weights: NDArray[np.float64] = field(repr=False)
    misfit: float
    diversity: float

    def __post_init__(self) -> None:
        whole("records", self.records, at_least=1)
        rows, weights = self.population.records, self.weights  # refuses cells that are none of the schema's
        if not isinstance(weights, np.ndarray) or weights.dtype != np.float64 or weights.shape != (rows,):
            raise InvalidInput("weights", "are not one double for each row", f"must have shape ({rows},)")
        if not ((weights > 0).all() and abs(float(weights.sum()) - 1.0) <= _UNIT):
            raise InvalidInput("weights", "are not a law", "must be > 0 with sum 1")
        non_negative("misfit", self.misfit, at_most=2.0 + _UNIT)
        non_negative("diversity", self.diversity, at_most=1.0 + _UNIT)

    def __repr__(self) -> str:
        doubtful = ", doubtful: see warnings" if self.warnings else ""
        return (f"<FittedMarginals: {len(self.tables)} tables, {len(self.weights):,} rows, misfit {self.misfit:.4f}, "
                f"diversity {self.diversity:.2f}{doubtful}>")

    @cached_property
    def population(self) -> Codes:
        """The rows of the population as records of the schema. The weight of each row is in `weights`."""
        return Codes(schema=self.schema, cells=self.cells)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the quality of the fit, in words; empty for a good fit."""
        found = []
        if self.misfit > _MISFIT:
            found.append(f"the population differs from its targets by {self.misfit:.3f} in L1 on average, which is "
                         f"above {_MISFIT}")
        if self.diversity < _DIVERSE:
            found.append(f"the weights are concentrated: the effective number of rows is {self.diversity:.0%} of the "
                         f"population, which is less than {_DIVERSE:.0%}")
        return tuple(found)

    def answers(self, workload: Workload) -> NDArray[np.float64]:
        """The weighted fractions of the population that satisfy each query, (k,), in [0, 1]. Any queries on the
        schema's attributes are allowed.

        Source: spec query_release D6.
        """
        of_kind("workload", workload, Workload)
        return np.asarray(workload.answers(self.population, self.weights))

    def measured(self, workload: Workload) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The measured answer to each query, without the fit, and the standard deviation of its noise. The measured
        answers are unbiased.

        Args:
            workload: a workload of k conjunctions.

        Returns:
            The fractions, (k,), and the standard deviations, (k,); nan and infinity if no measured table has all
            columns of a query.
        """
        counts, deviations = self.tables.estimates(self.schema, workload, self.records)
        return counts / self.records, deviations / self.records

    @renamed(beta="failure_probability")
    def error_bars(self, workload: Workload, *, failure_probability: float = 0.05) -> NDArray[np.float64]:
        """Error bars for `answers`, (k,). All bars hold together, with failure probability beta over the noise.

        The bar of a query is

            |answer - measured| + (standard deviation of the measured answer) sqrt(2 ln(2k/beta)).

        In the formula k is the number of queries that some table measures. The formula is valid because discrete
        Gaussian noise with parameter sigma is sub-Gaussian with variance proxy sigma^2. The bars cover the noise, not
        the sampling of the records from a larger population. For a query that no table measures, the bar is infinite.

        Args:
            workload: a workload of k conjunctions.
            failure_probability: failure probability beta of all bars together, in (0, 1).
        """
        measured, deviation = self.measured(workload)
        known = np.isfinite(deviation)
        bars = np.full(len(workload), np.inf)
        beta = fraction("failure_probability", failure_probability)
        factor = math.sqrt(2.0 * math.log(2.0 * max(1, int(known.sum())) / beta))
        bars[known] = np.abs(self.answers(workload)[known] - measured[known]) + factor * deviation[known]
        return bars

    def rows(self, count: int | None = None) -> pa.Table:
        """The population as a table of rows of equal weight, for tools that cannot use weights. Levels, bins and
        named bits are texts, and other bits are booleans. The rows are shuffled, see `coded_rows`.

        Args:
            count: number of rows; the number of records n if left out.
        """
        return cells_table(self.coded_rows(count).cells, self.schema)

    def coded_rows(self, count: int | None = None) -> Codes:
        """The rows that the method `rows` returns, as records of the schema.

        The rows are drawn by systematic sampling along the lexicographic order of the population. A public shuffle,
        which is the same for everybody, then removes the lexicographic order. Any part of the rows is therefore a
        random sample. To get k rows, call the method with count k rather than take the first k rows of a longer table.
        Systematic sampling of exactly k rows has an error of at most one row in each interval of the population. The
        rows are synthetic, and never more precise than the weighted population.

        Args:
            count: number of rows; the number of records n if left out.
        """
        found = equal_rows(self.cells, self.weights, self.records if count is None else count)
        return Codes(schema=self.schema, cells=found[permutation(key_of(0, "equal rows"), len(found))])


@renamed(beta="failure_probability")
@wire("FittedMarginalsCertificate", "beta cells vacuous", failure_probability="beta")
@dataclass(frozen=True, kw_only=True, eq=False)
class FittedMarginalsCertificate(Certificate):
    """A bound on the errors of a run, computed from its public result, as fractions of n.

    Args:
        failure_probability: failure probability of the bound, over the noise.
        cells: bound on the error of the population in any single cell of a measured table, at most 1.
        vacuous: whether the bound is at least 1/2, the largest possible error of the answer 1/2 to every query.
    """

    failure_probability: float
    cells: float
    vacuous: bool
