"""Candidate tables: all pairs and triples of columns that are not too large, and every one's counts in one pass.

Rows come column by column with a whole weight each: how often a distinct record occurs, or how much a row of the model
weighs in units of 2^-20 counts. Sums of whole numbers do not depend on the order or on threads.

Scores of candidate tables: how far the model is off, less what measuring would cost; whole numbers.

score(c) = |true_c - model_c|_1 - n |simplex(model_c/n + (sigma/n) g) - model_c/n|_1, in units of 2^-20 counts. One
replaced record moves two cells of the true table by one count each: it moves the score by at most 2 counts, exactly,
because the model's counts and the penalty are rounded before and read earlier releases and public randomness only.

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
        members: (k, 3) columns, ascending; -1 at the end of a pair.
        starts: (k + 1,) where each one's cells start when all are laid end to end, last column fastest.
    """

    members: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, sizes: tuple[int, ...], widths: tuple[int, ...], largest_table: int) -> Candidates:
        """All sets of so many columns with at most `largest_table` cells. A column of one cell tells nothing."""
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
        """The columns of one candidate."""
        return tuple(int(j) for j in self.members[at] if j >= 0)

    def overlap(self, at: int) -> NDArray[np.int64]:
        """The number of columns that each candidate shares with this one, (k,)."""
        common = np.zeros(len(self), dtype=np.int64)
        for j in self.columns(at):
            for place in self._places:
                common += place == j
        return common

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """(3, k) first columns, second ones, third ones."""
        return np.ascontiguousarray(self.members.T)

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Ranges of candidates with a bounded number of cells each."""
        first = 0
        while first < len(self):
            end = int(np.searchsorted(self.starts, self.starts[first] + _CHUNK_CELLS, side="right")) - 1
            end = min(len(self), max(first + 1, end))
            yield first, end
            first = end


class Batch:
    """The tables that a batch may still choose: none twice, and none that shares two columns with a pick of the batch.

    Where nothing is left that shares fewer, the second rule is dropped for what comes next. Reads picks alone.

    Args:
        candidates: the tables.
        before: picks of earlier batches.
    """

    def __init__(self, candidates: Candidates, before: Iterable[int] = ()) -> None:
        self._candidates = candidates
        self._free = np.ones(len(candidates), dtype=np.bool_)
        self._free[list(before)] = False
        self._apart = self._free.copy()

    def allowed(self) -> NDArray[np.bool_]:
        """Whether each candidate may be the next pick, (k,); read only."""
        if not self._apart.any():
            self._apart = self._free.copy()
        return self._apart

    def pick(self, at: int) -> None:
        """Take one, that is allowed."""
        self._free[at] = False
        self._apart &= self._free & (self._candidates.overlap(at) <= 1)


class Counter:
    """Counts of candidate tables in some rows, chunk by chunk; whole numbers, the same on either way.

    Tables of columns with two cells come from the sums of weights over all rows with one, two or three ones, which
    products of matrices give for all at once; sums of whole numbers below 2^53 are exact in doubles. All others are
    counted row by row.

    Args:
        columns: uint16 (m, r).
        weights: int64 (r,), of sum below 2^53.
        candidates: the tables.
        sizes: (m,) cells of each column.
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
        """The tables from one candidate to another, end to end."""
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
        """(k, 4) or (k, 8) cells, by inclusion and exclusion."""
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
    """Weight of all rows with ones in a column, in two, and (for a <= b <= c, where asked for) in three."""
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
    """Add the rows' weights up in every cell of some candidate tables.

    Args:
        columns: (m, r) cells.
        weights: (r,).
        members: (k, 3), in lexicographic order: tables that start with the same pair follow each other.
        starts: (k + 1,) where each table starts in `out`, but for a common offset.
        sizes: (m,).
        out: flat, filled.
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
"""Scores are in units of 2^-20 counts."""

SENSITIVITY = 2 << UNITS
"""How far one replaced record can move a score, in these units."""

_NORMALS = 2**17  # how many are drawn for a batch of tables; each table reads them from a place of its own


def whole_weights(weights: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Weights of rows, sum 1, as whole units of 2^-20 counts."""
    return np.rint(weights * math.ldexp(n, UNITS)).astype(np.int64)


@kernel_or_plain
def penalty_of(
    model: NDArray[np.int64], total: float, deviation: float, noise: NDArray[np.float64], at: int
) -> float:
    """The distance |simplex(p + deviation g) - p|_1 for p = model/total, with the normals g from a place on, cyclic.

    Args:
        model: (cells,) in any unit.
        total: total of the model's counts, > 0.
        deviation: standard deviation of the noise of a measured cell, as a fraction.
        noise: normals.
        at: where they start.
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
    """One batch's, read only."""
    return normals(key_of(seed, "penalty", batch), _NORMALS)


def _by_chunks(
    work: Callable[[Any], NDArray[Any]], items: Iterable[Any], candidates: Candidates, tell: Progress | None
) -> list[NDArray[Any]]:
    """The results in order; progress in candidates, which are public, after each chunk of them."""
    found = []
    for (_, end), result in zip(candidates.chunks(), map_blocks(work, items), strict=True):
        found.append(result)
        advance(tell, end, len(candidates))
    return found


def true_tables(
    columns: NDArray[np.uint16], counts: NDArray[np.int64], candidates: Candidates, sizes: NDArray[np.int64],
    tell: Progress | None = None,
) -> list[NDArray[np.int32]]:
    """Counts of every candidate table, chunk by chunk. Private.

    Args:
        columns: (m, u) the distinct records, column by column.
        counts: (u,) how many there are of each.
        candidates: the tables.
        sizes: (m,) cells of each column.
        tell: function that is called with the candidates done and all of them.
    """
    counter = Counter(columns, counts, candidates, sizes)

    def count(chunk: tuple[int, int]) -> NDArray[np.int32]:
        return counter(*chunk).astype(np.int32)

    return _by_chunks(count, candidates.chunks(), candidates, tell)


def scores(
    columns: NDArray[np.uint16], weights: NDArray[np.int64], candidates: Candidates, sizes: NDArray[np.int64],
    true: list[NDArray[np.int32]], n: int, sigma: float, seed: int, batch: int, tell: Progress | None = None,
) -> NDArray[np.int64]:
    """The scores in units of 2^-20 counts, (k,); private.

    Args:
        columns: (m, N) the model's rows, column by column.
        weights: (N,) in units of 2^-20 counts.
        candidates: the tables.
        sizes: (m,) cells of each column.
        true: `true_tables`.
        n: number of records.
        sigma: standard deviation of a measured cell's noise, in counts.
        seed: public seed.
        batch: number of the batch that is chosen; each has normals of its own.
        tell: function that is called with the candidates done and all of them.
    """
    noise = _normals(seed, batch)
    total, counter = float(math.ldexp(n, UNITS)), Counter(columns, weights, candidates, sizes)

    def score(task: tuple[tuple[int, int], NDArray[np.int32]]) -> NDArray[np.int64]:
        (first, end), counts = task
        starts = candidates.starts[first : end + 1]
        out = np.empty(end - first, dtype=np.int64)
        _score_cells(counter(first, end), counts, starts, first, UNITS, total, sigma / n, noise, out)
        return out

    return np.concatenate(_by_chunks(score, zip(candidates.chunks(), true, strict=True), candidates, tell))
