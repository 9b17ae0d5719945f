"""Candidate tables: all pairs and triples of columns that are not too large, and every one's counts in one pass.

Rows come column by column with a whole weight each: how often a distinct record occurs, or how much a row of the model
weighs in units of 2^-20 counts. Sums of whole numbers do not depend on the order or on threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from confide.release.marginal_fit.public_coins import compiled

__all__ = ["Candidates", "count_cells"]

_CHUNK_CELLS = 2**18  # of the tables that one task counts


@dataclass(frozen=True, eq=False)
class Candidates:
    """Which tables may be measured: a public list, in lexicographic order of their columns.

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
        found = []
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
        """Of one candidate."""
        return tuple(int(j) for j in self.members[at] if j >= 0)

    def overlap(self, at: int) -> NDArray[np.int64]:
        """(k,) how many columns each candidate shares with this one."""
        common = np.zeros(len(self), dtype=np.int64)
        for j in self.columns(at):
            common += (self.members == j).any(axis=1)
        return common

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Ranges of candidates with a bounded number of cells each."""
        first = 0
        while first < len(self):
            end = int(np.searchsorted(self.starts, self.starts[first] + _CHUNK_CELLS, side="right")) - 1
            end = min(len(self), max(first + 1, end))
            yield first, end
            first = end


@compiled
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
