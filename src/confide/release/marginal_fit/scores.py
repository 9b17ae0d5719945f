"""Scores of candidate tables: how far the model is off, less what measuring would cost; whole numbers.

score(c) = |true_c - model_c|_1 - n |simplex(model_c/n + (sigma/n) g) - model_c/n|_1, in units of 2^-20 counts. One
replaced record moves two cells of the true table by one count each: it moves the score by at most 2 counts, exactly,
because the model's counts and the penalty are rounded before and read earlier releases and public randomness only.

Source: spec query_release D6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.numerics import map_blocks
from confide.numerics.compiled import kernel, kernel_or_plain
from confide.release.marginal_fit.candidates import Candidates, Counter
from confide.release.marginal_fit.consistency import project_simplex
from confide.release.marginal_fit.public_randomness import key_of, normals

__all__ = ["SENSITIVITY", "UNITS", "penalty_of", "scores", "true_tables", "whole_weights"]

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
    """|simplex(p + deviation g) - p|_1 for p = model/total, with the normals g from a place on, cyclic.

    Args:
        model: (cells,) in any unit.
        total: of the model's counts, > 0.
        deviation: of the noise of a measured cell, as a fraction.
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
        tell: told the candidates done and all of them.
    """
    counter = Counter(columns, counts, candidates, sizes)

    def count(chunk: tuple[int, int]) -> NDArray[np.int32]:
        return counter(*chunk).astype(np.int32)

    return _by_chunks(count, candidates.chunks(), candidates, tell)


def scores(
    columns: NDArray[np.uint16], weights: NDArray[np.int64], candidates: Candidates, sizes: NDArray[np.int64],
    true: list[NDArray[np.int32]], n: int, sigma: float, seed: int, batch: int, tell: Progress | None = None,
) -> NDArray[np.int64]:
    """(k,) scores in units of 2^-20 counts; private.

    Args:
        columns: (m, N) the model's rows, column by column.
        weights: (N,) in units of 2^-20 counts.
        candidates: the tables.
        sizes: (m,) cells of each column.
        true: `true_tables`.
        n: number of records.
        sigma: of a measured cell's noise, in counts.
        seed: public.
        batch: which batch is chosen; each has normals of its own.
        tell: told the candidates done and all of them.
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
