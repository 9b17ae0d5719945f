"""Candidate tables of MarginalFit: the tables of all pairs and triples of columns that are not too large. One pass over
the rows gives the counts of all of these tables.

Rows are stored column by column, and each row has a whole number as its weight. The weight of a distinct record is its
multiplicity, and the weight of a row of the model is in units of 2^-20 counts. Sums of whole numbers depend neither on
the order of the rows nor on the threads.

The module also computes the scores of candidate tables. A score is the error of the model on a table, minus the error
that the noise of a measurement would cause. Scores are whole numbers in units of 2^-20 counts:

    score(c) = |true_c - model_c|_1 - n |simplex(model_c/n + (sigma/n) g) - model_c/n|_1

In this formula true_c and model_c are the counts of table c in the data and in the model, sigma is the standard
deviation of the noise, and g a vector of standard normal numbers from public randomness. simplex(v) is the probability
distribution that is nearest to v. The replacement of one record changes two cells of the true table by one count each,
and therefore the score by at most 2 counts. The bound of 2 counts is exact in the code, because the model's counts and
the penalty (the second term) are rounded before they are used. The model's counts and the penalty are computed only
from earlier releases and public randomness.

Source: spec query_release D6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel, kernel_or_plain
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.numerics import map_blocks
from confide.release.marginal_fit.measured import project_simplex
from confide.release.marginal_fit.model import key_of, normals

__all__ = [
    "SENSITIVITY",
    "UNITS",
    "Batch",
    "Candidates",
    "Counter",
    "count_cells",
    "penalty_of",
    "scores",
    "true_tables",
    "whole_weights",
]

# ---- candidates

_CHUNK_CELLS = 2**18  # of the tables that one task counts
_FEW = 8  # columns of two cells that are not worth a way of their own
_BLOCK = 2**19  # entries of a factor in a product of matrices


@dataclass(frozen=True, eq=False)
class Candidates:
    """The tables that may be measured: a public list, in lexicographic order of their columns.

    Args:
        members: (k, 3) columns of each table, ascending; -1 at the end of a pair.
        starts: (k + 1,) position of each table's first cell in a flat array of all tables, and the end of the last
            table. In this array the value of a table's last column varies fastest.
    """

    members: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, sizes: tuple[int, ...], widths: tuple[int, ...], largest_table: int) -> Candidates:
        """All sets of columns with the given numbers of columns (`widths`) that have tables of at most `largest_table`
        cells. Columns with only one cell hold no information and are left out.
        """
        useful = [j for j, size in enumerate(sizes) if size > 1]
        found = [np.empty((0, 3), dtype=np.int64)]
        for width in widths:
            wide = np.array(list(combinations(useful, width)), dtype=np.int64).reshape(-1, width)
            padded = np.full((len(wide), 3), -1, dtype=np.int64)
            padded[:, :width] = wide
            found.append(padded)
        members = np.concatenate(found)
        cells = np.where(members >= 0, np.array(sizes, dtype=np.int64)[members], 1).prod(axis=1)
        keep = cells <= largest_table
        members, cells = members[keep], cells[keep]
        order = np.lexsort(members.T[::-1])
        return cls(members[order], np.concatenate(([0], np.cumsum(cells[order]))))

    def __len__(self) -> int:
        return len(self.members)

    def columns(self, at: int) -> tuple[int, ...]:
        """The columns of the candidate table at position `at`."""
        return tuple(int(j) for j in self.members[at] if j >= 0)

    def overlap(self, at: int) -> NDArray[np.int64]:
        """The number of columns that each candidate shares with the given candidate, (k,)."""
        common = np.zeros(len(self), dtype=np.int64)
        for j in self.columns(at):
            for place in self._places:
                common += place == j
        return common

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """The first, the second and the third column of each candidate, (3, k)."""
        return np.ascontiguousarray(self.members.T)

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Ranges of consecutive candidates with a bounded number of cells in each range."""
        first = 0
        while first < len(self):
            end = int(np.searchsorted(self.starts, self.starts[first] + _CHUNK_CELLS, side="right")) - 1
            end = min(len(self), max(first + 1, end))
            yield first, end
            first = end


class Batch:
    """The tables that may still be chosen in a batch of choices. No table is chosen twice. Two tables that are chosen
    in the same batch must not share two columns.

    If every remaining table shares two columns with a choice of the batch, all remaining tables become allowed again.
    The rules read only earlier choices.

    Args:
        candidates: the tables that may be chosen.
        before: positions of the tables that earlier batches chose.
    """

    def __init__(self, candidates: Candidates, before: Iterable[int] = ()) -> None:
        self._candidates = candidates
        self._free = np.ones(len(candidates), dtype=np.bool_)
        self._free[list(before)] = False
        self._apart = self._free.copy()

    def allowed(self) -> NDArray[np.bool_]:
        """Whether each candidate may be the next choice, (k,), as a read-only array."""
        if not self._apart.any():
            self._apart = self._free.copy()
        return self._apart

    def pick(self, at: int) -> None:
        """Choose an allowed candidate."""
        self._free[at] = False
        self._apart &= self._free & (self._candidates.overlap(at) <= 1)


class Counter:
    """Counter of the weighted rows in each cell of candidate tables, for one range of candidates after another. The
    counts are whole numbers and do not depend on the method of counting.

    Tables of two-valued columns follow from the total weights of the rows with ones in one, two or three columns.
    Matrix products give the total weights for all columns in one computation. Sums of whole numbers below 2^53 are
    exact in doubles. All other tables are counted row by row.

    Args:
        columns: cells of r rows, uint16 (m, r), column by column.
        weights: weights of the rows, int64 (r,), with a sum below 2^53.
        candidates: the tables that may be chosen.
        sizes: (m,) number of cells of each column.
    """

    def __init__(
        self, columns: NDArray[np.uint16], weights: NDArray[np.int64], candidates: Candidates, sizes: NDArray[np.int64]
    ) -> None:
        self._columns, self._weights, self._candidates, self._sizes = columns, weights, candidates, sizes
        bits = np.flatnonzero(sizes == 2)
        self._place = np.full(len(sizes) + 1, -1, dtype=np.int64)  # at the end, what a pair lacks
        if len(bits) >= _FEW:
            self._place[bits] = np.arange(len(bits))
            triples = bool((candidates.members[:, 2] >= 0).any())
            self._moments = _moments(columns[bits], weights, triples)

    def __call__(self, first: int, end: int) -> NDArray[np.int64]:
        """The counts of a range of candidates, as one flat array."""
        members, starts = self._candidates.members[first:end], self._candidates.starts[first : end + 1]
        out = np.empty(starts[-1] - starts[0], dtype=np.int64)
        places = self._place[members]
        quick = ((places >= 0) | (members < 0)).all(axis=1)
        if not quick.all():
            slow = np.flatnonzero(~quick)
            ends = np.concatenate(([0], np.cumsum(starts[slow + 1] - starts[slow])))
            counted = out if len(slow) == end - first else np.empty(ends[-1], dtype=np.int64)
            count_cells(self._columns, self._weights, members[slow], ends, self._sizes, counted)
            if counted is not out:
                cell = np.repeat(starts[slow] - starts[0] - ends[:-1], np.diff(ends)) + np.arange(ends[-1])
                out[cell] = counted
        for width in (2, 3):
            these = np.flatnonzero(quick & ((members >= 0).sum(axis=1) == width))
            if len(these):
                cell = (starts[these] - starts[0])[:, None] + np.arange(2**width)
                out[cell] = self._from_moments(places[these, :width])
        return out

    def _from_moments(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cells of some tables, (k, 4) or (k, 8), by inclusion and exclusion."""
        one, two, three = self._moments
        total = np.int64(self._weights.sum())
        a, b = places[:, 0], places[:, 1]
        if places.shape[1] == 2:
            both = two[a, b]
            return np.stack([total - one[a] - one[b] + both, one[b] - both, one[a] - both, both], axis=1)
        c = places[:, 2]
        ab, ac, bc, every = two[a, b], two[a, c], two[b, c], three[a, b, c]
        lone = [one[a] - ab - ac + every, one[b] - ab - bc + every, one[c] - ac - bc + every]
        none = total - one[a] - one[b] - one[c] + ab + ac + bc - every
        return np.stack([none, lone[2], lone[1], bc - every, lone[0], ac - every, ab - every, every], axis=1)


def _moments(
    bits: NDArray[np.uint16], weights: NDArray[np.int64], triples: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The total weights of the rows with ones in one column, in two columns, and in three columns a <= b <= c. The
    weights for three columns are computed only if `triples` is true.
    """
    count, rows = bits.shape
    block = max(1, _BLOCK // count)

    def add(first: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        some = bits[:, first : first + block].T.astype(np.float64)
        heavy = some * weights[first : first + block, None]
        three = np.zeros((count, count, count) if triples else (0, 0, 0))
        for a in range(count if triples else 0):
            ones = some[:, a] > 0
            three[a, a:, a:] = some[ones, a:].T @ heavy[ones, a:]
        return some.T @ heavy, three

    pairs, triple = np.zeros((count, count)), np.zeros((count, count, count) if triples else (0, 0, 0))
    for two, three in map_blocks(add, range(0, rows, block)):
        pairs += two
        triple += three
    found = pairs.astype(np.int64)
    return np.diagonal(found).copy(), found, triple.astype(np.int64)


@kernel
def count_cells(
    columns: NDArray[np.uint16], weights: NDArray[np.int64], members: NDArray[np.int64], starts: NDArray[np.int64],
    sizes: NDArray[np.int64], out: NDArray[np.int64],
) -> None:
    """Add up the weights of the rows in each cell of some candidate tables.

    Args:
        columns: (m, r) cells of r rows, column by column.
        weights: (r,) weights of the rows.
        members: (k, 3) columns of the tables, in lexicographic order, so that tables with the same first pair are
            adjacent.
        starts: (k + 1,) position of each table's first cell, and the end of the last table. The first table begins at
            position 0 of `out`, so starts[0] is subtracted.
        sizes: (m,) number of cells of each column.
        out: flat array, which is filled with the sum of the weights in each cell.
    """
    rows = columns.shape[1]
    half = rows // 2
    widest = 0
    for t in range(len(members)):
        widest = max(widest, starts[t + 1] - starts[t])
    other = np.zeros(widest, dtype=np.int64)
    pair = np.empty(rows, dtype=np.int32)
    held_a, held_b = -1, -1
    for t in range(len(members)):
        a, b, c = members[t, 0], members[t, 1], members[t, 2]
        start, width = starts[t] - starts[0], starts[t + 1] - starts[t]
        if a != held_a or b != held_b:
            scale = sizes[b]
            if c >= 0:
                for i in range(rows):
                    pair[i] = columns[a, i] * scale + columns[b, i]
                held_a, held_b = a, b
        for v in range(width):
            out[start + v] = 0
            other[v] = 0
        if c < 0:
            scale = sizes[b]
            for i in range(half):
                out[start + columns[a, i] * scale + columns[b, i]] += weights[i]
                other[columns[a, half + i] * scale + columns[b, half + i]] += weights[half + i]
            if half + half < rows:
                i = rows - 1
                out[start + columns[a, i] * scale + columns[b, i]] += weights[i]
        else:
            scale = sizes[c]
            for i in range(half):
                out[start + pair[i] * scale + columns[c, i]] += weights[i]
                other[pair[half + i] * scale + columns[c, half + i]] += weights[half + i]
            if half + half < rows:
                i = rows - 1
                out[start + pair[i] * scale + columns[c, i]] += weights[i]
        for v in range(width):
            out[start + v] += other[v]


# ---- scores

UNITS = 20
"""Number of binary digits of a count: scores are in units of 2^-20 counts."""

SENSITIVITY = 2 << UNITS
"""Sensitivity of a score to the replacement of one record, in units of 2^-20 counts."""

_NORMALS = 2**17  # how many are drawn for a batch of tables; each table reads them from a place of its own


def whole_weights(weights: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Weights of rows with sum 1, converted to counts with sum n and then to whole numbers in units of 2^-20 counts."""
    return np.rint(weights * math.ldexp(n, UNITS)).astype(np.int64)


@kernel_or_plain
def penalty_of(
    model: NDArray[np.int64], total: float, deviation: float, noise: NDArray[np.float64], at: int
) -> float:
    """The distance |simplex(p + deviation g) - p|_1, where p = model/total and g is a vector of standard normal
    numbers. These numbers are read cyclically from `noise`, starting at position `at`.

    Args:
        model: (cells,) counts of the table in the model, in any unit.
        total: total of the model's counts, > 0.
        deviation: standard deviation of the noise of a measured cell, as a fraction of the records.
        noise: array of standard normal numbers.
        at: position in `noise` of the first number to use.
    """
    moved = np.empty(len(model))
    for v in range(len(model)):
        moved[v] = model[v] / total + deviation * noise[(at + v) % len(noise)]
    project_simplex(moved)
    distance = 0.0
    for v in range(len(model)):
        distance += abs(moved[v] - model[v] / total)
    return distance


@kernel
def _score_cells(
    model: NDArray[np.int64], true: NDArray[np.int32], starts: NDArray[np.int64], first: int, units: int, total: float,
    deviation: float, noise: NDArray[np.float64], out: NDArray[np.int64],
) -> None:
    for t in range(len(starts) - 1):
        start, width = starts[t] - starts[0], starts[t + 1] - starts[t]
        table = model[start : start + width]
        distance = 0
        for v in range(width):
            distance += abs((np.int64(true[start + v]) << units) - table[v])
        at = ((first + t) * 40503) % len(noise)
        out[t] = distance - np.int64(round(penalty_of(table, total, deviation, noise, at) * total))


@lru_cache(maxsize=1)
def _normals(seed: int, batch: int) -> NDArray[np.float64]:
    """The standard normals of one batch, as a read-only array."""
    return normals(key_of(seed, "penalty", batch), _NORMALS)


def _by_chunks(
    work: Callable[[Any], NDArray[Any]], items: Iterable[Any], candidates: Candidates, progress: Progress | None
) -> list[NDArray[Any]]:
    """The results of the work on all ranges of candidates, in order. Progress is reported in candidates, which are
    public, after each range.
    """
    found = []
    for (_, end), result in zip(candidates.chunks(), map_blocks(work, items), strict=True):
        found.append(result)
        advance(progress, end, len(candidates))
    return found


def true_tables(
    columns: NDArray[np.uint16], counts: NDArray[np.int64], candidates: Candidates, sizes: NDArray[np.int64],
    progress: Progress | None = None,
) -> list[NDArray[np.int32]]:
    """The counts of every candidate table in the data, as one array for each range of candidates. The counts are
    private.

    Args:
        columns: (m, u) the distinct records, column by column.
        counts: (u,) multiplicities of the distinct records.
        candidates: the tables that may be chosen.
        sizes: (m,) number of cells of each column.
        progress: function that is called with the number of finished candidates and the number of all candidates.
    """
    counter = Counter(columns, counts, candidates, sizes)

    def count(chunk: tuple[int, int]) -> NDArray[np.int32]:
        return counter(*chunk).astype(np.int32)

    return _by_chunks(count, candidates.chunks(), candidates, progress)


def scores(
    columns: NDArray[np.uint16], weights: NDArray[np.int64], candidates: Candidates, sizes: NDArray[np.int64],
    true: list[NDArray[np.int32]], n: int, sigma: float, seed: int, batch: int, progress: Progress | None = None,
) -> NDArray[np.int64]:
    """The scores of all candidates in units of 2^-20 counts, (k,). The scores are private.

    Args:
        columns: (m, N) the model's rows, column by column.
        weights: (N,) weights of the rows, in units of 2^-20 counts.
        candidates: the tables that may be chosen.
        sizes: (m,) number of cells of each column.
        true: private counts of the tables in the data, from `true_tables`.
        n: number of records.
        sigma: standard deviation of a measured cell's noise, in counts.
        seed: public seed of the pseudorandom numbers.
        batch: number of the batch of choices. Each batch has its own standard normal numbers.
        progress: function that is called with the number of finished candidates and the number of all candidates.
    """
    noise = _normals(seed, batch)
    total, counter = float(math.ldexp(n, UNITS)), Counter(columns, weights, candidates, sizes)

    def score(task: tuple[tuple[int, int], NDArray[np.int32]]) -> NDArray[np.int64]:
        (first, end), counts = task
        starts = candidates.starts[first : end + 1]
        out = np.empty(end - first, dtype=np.int64)
        _score_cells(counter(first, end), counts, starts, first, UNITS, total, sigma / n, noise, out)
        return out

    return np.concatenate(_by_chunks(score, zip(candidates.chunks(), true, strict=True), candidates, progress))
