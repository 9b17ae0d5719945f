"""The histogram of MWEM over {0,1}^d: a distribution that multiplicative weights fit to noisy counts.

Attributes that no query joins stay independent in all updates, because the weights start uniform and every update
multiplies by a function of one query. The histogram is therefore stored exactly as one factor for each connected block
of attributes. The memory is in proportion to the sum of the blocks' cells, not to their product.

The answers to all conjunctions and parities follow from a single fast Walsh-Hadamard transform of the histogram, in
place. A cell is a record as an integer: attribute i is its bit i. The transform

    F[S] = sum_x A(x) (-1)^(ones of x in S)

holds the answers to all parities. In this formula A(x) is the mass of cell x. A conjunction of r literals is 2^-r times
a signed sum of 2^r entries of F. The answers to k queries therefore take O(d 2^d + 2^r k) operations and not k scans of
the histogram.

The histograms of several blocks lie one after the other in one flat array.

Source: spec query_release C and E3 (with the sign that is missing in Wu 2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.errors import InvalidInput, Refused
from confide.contract.words import counted
from confide.release._boxes import from_exponents, lacking, mass_of, scale_to_one, uniform_cells
from confide.release.workload import Workload

__all__ = [
    "ARRAYS",
    "CLOSE",
    "LARGEST_BLOCK",
    "MOST_TOGETHER",
    "Blocks",
    "Cubes",
    "Histogram",
    "blocks_of",
    "check_total",
    "components",
    "conjunction_sums",
    "cube_scale",
    "cube_sum",
    "cubes_of",
    "memory",
    "parity_sums",
    "transform",
]

# ---- walsh

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_TILE = 1 << 12  # doubles that stay in the fastest cache while the short strides are done


@kernel
def _strides(values: _Floats, begin: int, end: int, first: int, last: int) -> None:
    """Butterfly steps of the Walsh-Hadamard transform within [begin, end). The strides double from `first` and stay
    below `last`.
    """
    step = first
    while step < last:
        for block in range(begin, end, 2 * step):
            for at in range(block, block + step):
                a, b = values[at], values[at + step]
                values[at], values[at + step] = a + b, a - b
        step *= 2


@kernel
def transform(values: _Floats, starts: _Integers) -> None:
    """The Walsh-Hadamard transform of each histogram, in place. Applied twice, the transform gives 2^d times the
    histogram.

    Args:
        values: flat array of cells; changed in place.
        starts: (b + 1,) position of the first cell of each histogram, and the end of the last histogram; each length is
            a power of 2.
    """
    for b in range(len(starts) - 1):
        begin, end = starts[b], starts[b + 1]
        tile = min(_TILE, end - begin)
        for at in range(begin, end, tile):
            _strides(values, at, at + tile, 1, tile)
        _strides(values, begin, end, tile, end - begin)


@kernel
def cube_sum(cells: _Floats, origin: int, base: int, free: int) -> float:
    """Sum of the cells of a subcube: the cells base | s for all subsets s of the bits `free`.

    Args:
        cells: flat array of cells.
        origin: position of the first cell of the histogram.
        base: bits that must be 1.
        free: bits that are not fixed.
    """
    run = ~free & (free + 1)  # 2^(lowest free bits in a row): cells that lie side by side
    rest = free & ~(run - 1)
    total, subset = 0.0, 0
    while True:
        begin = origin + (base | subset)
        for at in range(begin, begin + run):
            total += cells[at]
        subset = (subset - rest) & rest
        if subset == 0:
            return total


@kernel
def cube_scale(cells: _Floats, origin: int, base: int, free: int, factor: float, shift: float) -> None:
    """Replace every cell of a subcube by factor * cell + shift. The subcube is given by the same arguments as in
    `cube_sum`.
    """
    run = ~free & (free + 1)
    rest = free & ~(run - 1)
    subset = 0
    while True:
        begin = origin + (base | subset)
        for at in range(begin, begin + run):
            cells[at] = factor * cells[at] + shift
        subset = (subset - rest) & rest
        if subset == 0:
            return


@kernel
def conjunction_sums(
    spectrum: _Floats, origins: _Integers, places: NDArray[np.int32], bits: NDArray[np.bool_]
) -> _Floats:
    """The mass of the cells that satisfy each conjunction.

    Args:
        spectrum: flat array of the transforms of all histograms.
        origins: (k,) position of the first entry of each query's histogram.
        places: (k, r) bit of each literal within its histogram, -1 for no literal.
        bits: (k, r) bits that the literals require.

    Returns:
        (k,) sums, up to rounding errors of about 2^-50 of the whole mass.
    """
    queries, width = places.shape
    out = np.empty(queries)
    masks, signs = np.empty(width, np.int64), np.empty(width)
    for q in range(queries):
        r = 0
        for j in range(width):
            if places[q, j] >= 0:
                masks[r], signs[r] = 1 << np.int64(places[q, j]), -1.0 if bits[q, j] else 1.0
                r += 1
        # A Gray code: one literal enters or leaves the set at a time.
        total, subset, sign = spectrum[origins[q]], np.int64(0), 1.0
        for step in range(1, 1 << r):
            turn = 0
            while (step >> turn) & 1 == 0:
                turn += 1
            subset ^= masks[turn]
            sign *= signs[turn]
            total += sign * spectrum[origins[q] + subset]
        out[q] = total / (1 << r)
    return out


@kernel
def parity_sums(spectrum: _Floats, origins: _Integers, places: NDArray[np.int32]) -> _Floats:
    """The mass of the cells in which an even number of a query's attributes are on: (F[0] + F[S]) / 2, where F[0] is
    the whole mass and S the set of attributes.

    Args:
        spectrum: flat array of the transforms of all histograms.
        origins: (k,) position of the first entry of each query's histogram.
        places: (k, r) bits within the histogram, -1 for no bit.
    """
    queries, width = places.shape
    out = np.empty(queries)
    for q in range(queries):
        subset = np.int64(0)
        for j in range(width):
            if places[q, j] >= 0:
                subset |= 1 << np.int64(places[q, j])
        out[q] = (spectrum[origins[q]] + spectrum[origins[q] + subset]) / 2
    return out


# ---- histogram

LARGEST_BLOCK = 22
"""Largest number of attributes of a block. A block of 22 attributes has 2^22 cells."""

MOST_TOGETHER = 1 << 24
"""Largest number of cells of all blocks together."""

ARRAYS = 3  # of doubles: cells, their transform, and a sum of iterates or the memory of a copy
CLOSE = 1e-6  # of n: a replay in which no residual changes by more has converged
_HUGE = 1e200
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB")


@dataclass(frozen=True, eq=False)
class Blocks:
    """The assignment of attributes to blocks. Attributes that queries join are in the same block, and each block has
    its own histogram.

    Args:
        attributes: number of attributes, d.
        block: (d,) number of the block of each attribute; -1 for an attribute that no query names.
        place: (d,) position of each attribute's bit in the cell numbers of the attribute's block.
        starts: (b + 1,) position of the first cell of each block, and the end of the last block.
    """

    attributes: int
    block: NDArray[np.int64]
    place: NDArray[np.int32]
    starts: _Integers

    @property
    def cells(self) -> int:
        """The number of cells of all blocks."""
        return int(self.starts[-1])

    @property
    def log_universe(self) -> float:
        """The logarithm ln|X| of the number of possible records, counting only the attributes that queries name."""
        return self.bits * math.log(2)

    @property
    def block_of(self) -> NDArray[np.int64]:
        """The number of the block of each attribute, (d,); -1 for an attribute in no block."""
        return self.block

    @cached_property
    def bits(self) -> int:
        """Number of attributes that some query names; ln|X| of `log_universe` is ln 2 times this number."""
        return int(np.count_nonzero(self.block >= 0))


def check_total(cells: int, blocks: int) -> None:
    """Refuse a histogram whose blocks fit into memory one by one but not all together.

    Raises:
        Refused: the blocks have more than 2^24 cells together. The message gives the number of cells and the memory for
            them.
    """
    if cells > MOST_TOGETHER:
        raise Refused(
            f"MWEM keeps a histogram of the attributes that the workload joins. The {blocks:,} groups of joined "
            f"attributes have {cells:,} cells together, which take {memory(ARRAYS * 8, math.log2(cells))} of memory",
            f"at most {MOST_TOGETHER:,} cells: ask for fewer queries, or use DualQuery")


def blocks_of(workload: Workload) -> Blocks:
    """The connected blocks of attributes of a workload.

    Raises:
        Refused: a block has more than 2^22 cells, or all blocks together have more than 2^24. The message gives the
            number of cells and the memory for them.
    """
    d = workload.attributes
    if workload.kind == "predicates":
        labels, named = np.zeros(d, np.int64), np.ones(d, np.bool_)
    else:
        labels, named = components(workload.index, d)
    used = np.unique(labels[named])
    block = np.full(d, -1, np.int64)
    block[named] = np.searchsorted(used, labels[named])
    sizes = np.bincount(block[named], minlength=len(used))
    largest = int(sizes.max(initial=0))
    if not largest:
        raise InvalidInput("workload", "names no attribute", "at least one query must name one")
    if largest > LARGEST_BLOCK:
        raise Refused(
            f"MWEM keeps a histogram of the attributes that the workload joins. These {largest} attributes have "
            f"2^{largest}{f' = {2.0**largest:.3g}' if largest < 1000 else ''} cells, which take "
            f"{memory(ARRAYS * 8, largest)} of memory",
            f"at most 2^{LARGEST_BLOCK} cells: ask for queries on fewer attributes together, or use DualQuery")
    order = np.lexsort((np.arange(d), block))
    order = order[block[order] >= 0]
    starts_of = np.concatenate([[0], np.cumsum(sizes)])
    place = np.zeros(d, np.int32)
    place[order] = np.arange(len(order)) - starts_of[block[order]]
    starts = np.concatenate([[0], np.cumsum(2 ** sizes.astype(np.int64))]).astype(np.int64)
    check_total(int(starts[-1]), len(used))
    return Blocks(d, block, place, starts)


def components(index: NDArray[np.int32], d: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The label of the connected component of each attribute, (d,), and a mask of the attributes that some query names.

    Args:
        index: (k, r) attributes that each query names, padded with -1 at the end.
        d: number of attributes, or of columns if `index` holds columns.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = np.repeat(index[:, :1], index.shape[1], axis=1)
    there = index >= 0
    edges = (np.ones(int(there.sum()), np.int8), (first[there], index[there]))
    labels = connected_components(coo_array(edges, shape=(d, d)), directed=False)[1]
    named = np.zeros(d, np.bool_)
    named[index[there]] = True
    return labels.astype(np.int64), named


def memory(each: int, log_cells: float) -> str:
    """The memory for 2^log_cells cells of `each` bytes, as text.

    Example:
        >>> memory(8, 20), memory(24, 2000)
        ('8 MiB', '10^603.4 bytes')
    """
    logarithm = math.log2(each) + log_cells
    power = int(logarithm // 10)
    if power >= len(_UNITS):
        return f"10^{logarithm * math.log10(2):.1f} bytes"
    return f"{2.0 ** (logarithm - 10 * power):.3g} {_UNITS[power]}"


@dataclass(frozen=True, eq=False)
class Cubes:
    """Queries as unions of disjoint subcubes of cells, in the order of the queries. There are t queries and c subcubes.

    Args:
        block: (t,) number of the block of each query; 0 for a query that names no attribute.
        ends: (t + 1,) position of the first cube of each query, and the end of the last query.
        base: (c,) bits that must be 1 in each cube.
        free: (c,) bits that are not fixed in each cube.
    """

    block: _Integers
    ends: _Integers
    base: _Integers
    free: _Integers


def cubes_of(workload: Workload, blocks: Blocks, chosen: _Integers) -> Cubes:
    """The cells of some queries of a workload, as subcubes: one cube for a conjunction, 2^(r-1) cubes for a parity of r
    attributes, and one cube for each cell of a predicate.
    """
    owner, bases, frees = [], [], []
    counts = np.zeros(len(chosen), np.int64)
    for row, query in enumerate(chosen.tolist()):
        if workload.kind == "predicates":
            block, base = 0, np.flatnonzero(workload.truth[query]).astype(np.int64)
            free = np.zeros(len(base), np.int64)
        else:
            literals = workload.index[query][workload.index[query] >= 0]
            block = int(blocks.block[literals[0]]) if len(literals) else 0
            masks = np.int64(1) << blocks.place[literals].astype(np.int64)
            whole = int(blocks.starts[block + 1] - blocks.starts[block]) - 1 if len(blocks.starts) > 1 else 0
            if workload.kind == "conjunctions":
                base = np.array([masks[workload.bits[query][: len(literals)]].sum()], np.int64)
            else:
                patterns = np.arange(1 << len(literals))[:, None] >> np.arange(len(literals)) & 1
                base = (patterns[patterns.sum(axis=1) % 2 == 0] * masks).sum(axis=1).astype(np.int64)
            free = np.full(len(base), whole - int(masks.sum()), np.int64)
        owner.append(block)
        bases.append(base)
        frees.append(free)
        counts[row] = len(base)
    empty = np.zeros(0, np.int64)
    return Cubes(np.array(owner, np.int64), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
                 np.concatenate([empty, *bases]), np.concatenate([empty, *frees]))


@kernel
def _replay(
    cells: _Floats, starts: _Integers, block: _Integers, ends: _Integers, base: _Integers, free: _Integers,
    targets: _Floats, passes: int, close: float, settled: bool, weights: _Floats,
) -> None:
    """Run at most `passes` passes of multiplicative updates towards every target, and then compute the exact histogram
    of the final weights.

    The `cells` of each block sum to 1 before and after the call. During the updates the sum of each block is tracked
    separately, so that an update touches only the query's own cells. At the end all cells are computed again as exp(sum
    of weights), so that rounding errors do not accumulate and no cell stays at 0.

    Args:
        cells: flat array of cells; changed.
        starts: position of the first cell of each block, and the end of the last block.
        block: (t,) block of each query.
        ends: (t + 1,) position of the first cube of each query, and the end of the last query.
        base: bits that must be 1 in each cube.
        free: bits that are not fixed in each cube.
        targets: (t,) targets of the answers, as fractions.
        passes: largest number of passes.
        close: change of a residual (target minus answer) from one pass to the next. The passes stop when all changes
            are below `close`.
        settled: whether the last query is corrected once if one of its sides has lost nearly all of its mass (`lacking`
            in `_boxes`).
        weights: (t,) sum of the exponents of all updates by each query so far; changed in place.
    """
    blocks = len(starts) - 1
    fresh = len(targets) - 1 if settled else -1
    mass = np.empty(blocks)
    before = np.full(len(targets), np.inf)
    for _ in range(passes):
        for b in range(blocks):
            mass[b] = mass_of(cells, starts[b], starts[b + 1])
        change = 0.0
        for j in range(len(targets)):
            b = block[j]
            origin, inside = starts[b], 0.0
            for c in range(ends[j], ends[j + 1]):
                inside += cube_sum(cells, origin, base[c], free[c])
            residual = targets[j] - inside / mass[b]
            change = max(change, abs(residual - before[j]))
            before[j] = residual
            step = residual / 2
            if j == fresh:
                share = inside / mass[b]
                more = lacking(targets[j], share, 1.0 - share, close)
                step, fresh = more or step, -1
            weights[j] += step
            factor = math.exp(step)
            for c in range(ends[j], ends[j + 1]):
                cube_scale(cells, origin, base[c], free[c], factor, 0.0)
            mass[b] += (factor - 1.0) * inside
            if not 1 / _HUGE < mass[b] < _HUGE:
                scale_to_one(cells, starts[b], starts[b + 1])
                mass[b] = 1.0
        if change < close:
            break
    cells[:] = 0.0
    for j in range(len(weights)):
        for c in range(ends[j], ends[j + 1]):
            cube_scale(cells, starts[block[j]], base[c], free[c], 1.0, weights[j])
    for b in range(blocks):
        from_exponents(cells, starts[b], starts[b + 1])


@dataclass(eq=False)
class Histogram:
    """A distribution over {0,1}^d. The distribution is stored as one histogram for each block, and is uniform at first.

    Args:
        blocks: blocks of the attributes.
        cells: flat array of all blocks' cells; each block sums to 1.
    """

    blocks: Blocks
    cells: _Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not self.cells.size:
            self.cells = uniform_cells(self.blocks.starts)

    def pieces(self, workload: Workload, chosen: _Integers) -> Cubes:
        """The cells of some queries, as subcubes."""
        return cubes_of(workload, self.blocks, chosen)

    def fit(self, cubes: Cubes, targets: _Floats, weights: _Floats, passes: int, *, close: float = CLOSE,
            settled: bool = True) -> None:
        """Multiplicative updates for one query after another, repeated for at most `passes` passes. An update
        multiplies the mass of each cell x by

            exp(q(x) (target - q(A)) / 2),

        where q is the query, q(A) the present answer of the histogram A, and target the wanted answer.

        Args:
            cubes: cells of the queries.
            targets: (t,) targets of the answers, as fractions.
            weights: (t,) sum of the exponents of all updates by each query so far; changed in place.
            passes: largest number of passes. The updates stop earlier when no residual (target minus answer) changes by
                `close` or more in a pass. The number of passes depends on the targets alone. With 0 passes the result
                is the histogram that the weights define.
            close: change of a residual from one pass to the next, as a fraction of the records, below which the fit
                counts as converged.
            settled: whether the last query is corrected once if the cells that satisfy it, or the other cells, have
                lost nearly all of their mass (`lacking` in `_boxes`). Without the correction the updates may stop too
                early.
        """
        _replay(self.cells, self.blocks.starts, cubes.block, cubes.ends, cubes.base, cubes.free, targets, passes, close,
                settled, weights)

    def answers(self, workload: Workload) -> _Floats:
        """The answers as fractions in [0, 1], (k,).

        The answer to a query over several blocks is a product over the blocks. An attribute in no block is on with
        probability 1/2.

        Raises:
            InvalidInput: the workload has another number of attributes.
        """
        if workload.attributes != self.blocks.attributes:
            raise InvalidInput("workload", f"is on {counted(workload.attributes, 'attribute')}",
                               f"must be on {self.blocks.attributes}")
        if workload.kind == "predicates":
            return np.clip(self._predicates(workload.truth), 0.0, 1.0)
        spectrum = self.cells.copy()
        transform(spectrum, self.blocks.starts)
        index = workload.index
        there = index >= 0
        block = np.where(there, self.blocks.block[index], -1)
        outside = there & (block < 0)
        place = np.where(block >= 0, self.blocks.place[index], -1).astype(np.int32)
        signed = workload.kind == "parities"
        out = np.where(outside.any(axis=1), 0.0, 1.0) if signed else 0.5 ** outside.sum(axis=1)
        while (block >= 0).any():
            current = block.max(axis=1)
            mine = (block == current[:, None]) & (block >= 0)
            origins = self.blocks.starts[np.maximum(current, 0)]
            local = np.ascontiguousarray(np.where(mine, place, np.int32(-1)))
            if signed:
                out = out * (2 * parity_sums(spectrum, origins, local) - 1)
            else:
                bits = np.ascontiguousarray(workload.bits)
                out = out * np.where(current >= 0, conjunction_sums(spectrum, origins, local, bits), 1.0)
            block = np.where(mine, -1, block)
        return np.clip((1 + out) / 2 if signed else out, 0.0, 1.0)

    def _predicates(self, truth: NDArray[np.bool_]) -> _Floats:
        """The answers to predicates, as sums of cells. All attributes must form one block in their own order."""
        dense = self.dense()
        rows = max(1, (1 << 22) // max(1, truth.shape[1]))
        parts = [truth[at : at + rows] @ dense for at in range(0, len(truth), rows)]
        return np.concatenate([np.zeros(0), *parts])

    def dense(self) -> _Floats:
        """The whole histogram, (2^d,), with attribute i as bit i of the cell number.

        Raises:
            Refused: there are more than 22 attributes, that is, more than 2^22 cells.
        """
        d = self.blocks.attributes
        if d > LARGEST_BLOCK:
            raise Refused(f"all {d} attributes together have 2^{d} cells, {memory(8, d)} of memory",
                          f"at most 2^{LARGEST_BLOCK}; the answers to queries need no full table")
        cell = np.arange(1 << d)
        out = np.full(1 << d, 0.5 ** (d - self.blocks.bits))
        for b in range(len(self.blocks.starts) - 1):
            local = np.zeros(1 << d, np.int64)
            for attribute in np.flatnonzero(self.blocks.block == b).tolist():
                local |= (cell >> attribute & 1) << int(self.blocks.place[attribute])
            out *= self.cells[self.blocks.starts[b] + local]
        return out
