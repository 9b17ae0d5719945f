"""The histogram of MWEM for a schema of columns: a distribution over the combinations of the columns' values.

A record has one value of each column. A table with 51,200 combinations of values therefore needs 51,200 cells, whatever
the number of attributes. Columns that no query joins stay independent throughout the updates, so each connected block
of columns has its own histogram.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, Refused
from confide.contract.words import counted
from confide.privacy.noise.simulated import study_generator
from confide.release._boxes import fit_boxes, literal_products, margins, uniform_cells
from confide.release._histogram import ARRAYS, CLOSE, LARGEST_BLOCK, check_total, components, memory
from confide.release.columns import Bit
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["MOST_CELLS", "Boxes", "ColumnBlocks", "ColumnHistogram", "column_blocks", "has_columns"]

MOST_CELLS = 1 << LARGEST_BLOCK
"""Largest number of cells of one block of columns."""

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Masks = dict[int, NDArray[np.bool_]]
"""Mapping from a column to a mask of the allowed values. All values of a column that is not in the mapping are allowed.
"""


def has_columns(schema: Schema | None) -> bool:
    """Whether some column of the schema has bins or levels, so that not every combination of attributes is a possible
    record.
    """
    return schema is not None and not all(isinstance(column, Bit) for column in schema.columns)


@dataclass(frozen=True, eq=False)
class ColumnBlocks:
    """The assignment of columns to blocks. Columns that queries join are in the same block, and each block has its own
    histogram.

    Args:
        schema: schema of the m columns.
        block: (m,) number of the block of each column; -1 for a column that no query names.
        stride: (m,) change of the cell number within the block for a step of 1 in the value of each column.
        starts: (b + 1,) position of the first cell of each block, and the end of the last block.
    """

    schema: Schema
    block: _Integers
    stride: _Integers
    starts: _Integers

    @property
    def attributes(self) -> int:
        """The number of attributes, d."""
        return self.schema.attributes

    @property
    def cells(self) -> int:
        """The number of cells of all blocks."""
        return int(self.starts[-1])

    @cached_property
    def sizes(self) -> _Integers:
        """The number of values of each column, (m,)."""
        return np.array(self.schema.sizes, np.int64)

    @cached_property
    def log_universe(self) -> float:
        """The logarithm ln|X| of the number of possible records, counting only the columns that queries name."""
        return math.fsum(math.log(size) for size in self.sizes[self.block >= 0].tolist())

    @cached_property
    def block_of(self) -> _Integers:
        """The number of the block of each attribute, (d,); -1 for an attribute in no block."""
        found: _Integers = self.block[self.schema.column_of]
        return found

    def members(self, block: int) -> _Integers:
        """The columns of a block. The first column is the slowest digit of the cell number."""
        return np.flatnonzero(self.block == block)


def column_blocks(workload: Workload, schema: Schema) -> ColumnBlocks:
    """The connected blocks of columns of a workload.

    Raises:
        InvalidInput: the schema has another number of attributes, or no query names a column.
        Refused: a block has more than 2^22 cells, or all blocks together have more than 2^24. The message gives the
            number of cells and the memory for them.
    """
    if schema.attributes != workload.attributes:
        raise InvalidInput("schema", f"has {counted(schema.attributes, 'attribute')}",
                           f"must have {workload.attributes}")
    sizes, m = schema.sizes, len(schema.columns)
    if workload.kind == "predicates":
        labels, named = np.zeros(m, np.int64), np.ones(m, np.bool_)
    else:
        index = workload.index
        labels, named = components(np.where(index >= 0, schema.column_of[index], -1), m)
    used = np.unique(labels[named])
    if not len(used):
        raise InvalidInput("workload", "names no attribute", "at least one query must name one")
    block, stride, starts = np.full(m, -1, np.int64), np.zeros(m, np.int64), [0]
    block[named] = np.searchsorted(used, labels[named])
    for b in range(len(used)):
        members = np.flatnonzero(block == b).tolist()
        cells = math.prod(sizes[each] for each in members)
        if cells > MOST_CELLS:
            exact = f"{cells:,}" if cells < 10**15 else f"10^{math.log10(cells):.1f}"
            raise Refused(
                f"MWEM keeps a histogram of the columns that the workload joins. These {len(members)} columns have "
                f"{exact} cells, which take {memory(ARRAYS * 8, math.log2(cells))} of memory",
                f"at most {MOST_CELLS:,} cells: ask for queries on fewer columns together, or use MarginalFit")
        step = cells
        for each in members:
            step //= sizes[each]
            stride[each] = step
        starts.append(starts[-1] + cells)
    check_total(starts[-1], len(used))
    return ColumnBlocks(schema, block, stride, np.array(starts, np.int64))


@dataclass(frozen=True, eq=False)
class Boxes:
    """Queries as unions of disjoint boxes of cells, in the order of the queries. There are t queries and c boxes, and
    each box is stored as g nested loops.

    Args:
        block: (t,) number of the block of each query; 0 for a query that names no attribute.
        inverse: (t,) whether the boxes of a query hold the cells that do not satisfy the query. This form is used if
            fewer cells do not satisfy the query than satisfy it.
        ends: (t + 1,) position of the first box of each query, and the end of the last query.
        base: (c,) number of the first cell of each box within its block.
        strides: (c, g) strides of the nested loops of each box, the outer one first.
        counts: (c, g) number of steps of each loop, 1 for an unused loop.
    """

    block: _Integers
    inverse: NDArray[np.bool_]
    ends: _Integers
    base: _Integers
    strides: _Integers
    counts: _Integers


@dataclass(eq=False)
class ColumnHistogram:
    """A distribution over the combinations of all columns' values. The distribution is stored as one histogram for each
    block, and is uniform at first.

    Args:
        blocks: blocks of the columns.
        cells: flat array of all blocks' cells; each block sums to 1.
    """

    blocks: ColumnBlocks
    cells: _Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self._known: dict[int, tuple[int, bool, list[_Integers]]] = {}
        self._pivots: tuple[Workload | None, _Integers] = (None, np.zeros(0, np.int64))
        if not self.cells.size:
            self.cells = uniform_cells(self.blocks.starts)

    # ---- updates

    def pieces(self, workload: Workload, chosen: _Integers) -> Boxes:
        """The boxes of cells for some queries of a workload. The boxes of each query are computed once and then stored.

        Args:
            workload: workload of the release, the same in every call.
            chosen: (t,) positions of the queries.
        """
        for query in chosen.tolist():
            if query not in self._known:
                self._known[query] = self._boxes(workload, query)
        found = [self._known[query] for query in chosen.tolist()]
        boxes = [box for each in found for box in each[2]]
        loops = max((len(box) // 2 for box in boxes), default=1)
        table = np.zeros((len(boxes), 1 + 2 * loops), np.int64)
        table[:, 1 + loops :] = 1
        for row, box in enumerate(boxes):
            own = len(box) // 2
            table[row, 0] = box[0]
            table[row, 1 + loops - own : 1 + loops] = box[1 : 1 + own]
            table[row, 1 + 2 * loops - own :] = box[1 + own :]
        return Boxes(
            block=np.array([each[0] for each in found], np.int64), inverse=np.array([each[1] for each in found]),
            ends=np.cumsum([0, *(len(each[2]) for each in found)]), base=table[:, 0].copy(),
            strides=table[:, 1 : 1 + loops].copy(), counts=table[:, 1 + loops :].copy())

    def _boxes(self, workload: Workload, query: int) -> tuple[int, bool, list[_Integers]]:
        """The block of a query, whether its boxes hold the cells that do not satisfy it, and the boxes. Each box is an
        array with the number of its first cell, g strides and g counts.
        """
        if workload.kind == "predicates":
            inside = workload.truth[query][self._records]
            inverse = bool(2 * np.count_nonzero(inside) > len(inside))
            return 0, inverse, [np.array([begin, 1, end - begin]) for begin, end in _runs(inside ^ inverse)]
        literals = workload.index[query][workload.index[query] >= 0]
        block = int(self.blocks.block_of[literals[0]]) if len(literals) else 0
        if workload.kind == "parities":
            both = [_even(self._named(literals), rest) for rest in (False, True)]
        else:
            own = self._allowed(literals, workload.bits[query][: len(literals)])
            both = [[own] if all(mask.any() for mask in own.values()) else [], _others(own)]
        shares = [math.fsum(math.prod(float(mask.mean()) for mask in masks.values()) for masks in some)
                  for some in both]
        inverse = shares[1] < shares[0]
        members = self.blocks.members(block).tolist()
        return block, inverse, [box for masks in both[inverse] for box in self._loops(masks, members)]

    def _named(self, literals: NDArray[np.int32]) -> _Masks:
        """Mapping from a column to a mask of the values that a parity counts."""
        schema, found = self.blocks.schema, dict[int, NDArray[np.bool_]]()
        for column, value in zip(schema.column_of[literals].tolist(), schema.cell_of[literals].tolist(), strict=True):
            mask = found.setdefault(column, np.zeros(schema.sizes[column], np.bool_))
            if value >= 0:
                mask[value] = True
        return found

    def _allowed(self, literals: NDArray[np.int32], bits: NDArray[np.bool_]) -> _Masks:
        """Mapping from a column to a mask of the values that satisfy a conjunction."""
        schema, found = self.blocks.schema, dict[int, NDArray[np.bool_]]()
        for column, value, bit in zip(schema.column_of[literals].tolist(), schema.cell_of[literals].tolist(),
                                      bits.tolist(), strict=True):
            mask = found.setdefault(column, np.ones(schema.sizes[column], np.bool_))
            own = np.arange(len(mask)) == value
            mask &= own if bit else ~own
        return found

    def _loops(self, masks: _Masks, members: list[int]) -> Iterator[_Integers]:
        """The boxes that together form a product of sets of values."""
        sides = [_runs(masks[each]) if each in masks else [(0, int(self.blocks.sizes[each]))] for each in members]
        for intervals in product(*sides):
            base, loops = 0, list[tuple[int, int]]()
            for column, (begin, end) in zip(reversed(members), reversed(intervals), strict=True):
                stride, count = int(self.blocks.stride[column]), end - begin
                base += begin * stride
                if loops and loops[-1][0] * loops[-1][1] == stride:
                    loops[-1] = (loops[-1][0], loops[-1][1] * count)
                elif count > 1:
                    loops.append((stride, count))
            if not loops:
                loops.append((1, 1))
            yield np.array([base, *(stride for stride, _ in reversed(loops)), *(count for _, count in reversed(loops))])

    def fit(self, pieces: Boxes, targets: _Floats, weights: _Floats, passes: int, *, close: float = CLOSE,
            settled: bool = True) -> None:
        """Multiplicative updates for one query after another, repeated for at most `passes` passes. An update
        multiplies the mass of each cell x by

            exp(q(x) (target - q(A)) / 2),

        where q is the query, q(A) the present answer of the histogram A, and target the wanted answer.

        Args:
            pieces: cells of the queries.
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
        fit_boxes(self.cells, self.blocks.starts, pieces.block, pieces.inverse, pieces.ends, pieces.base,
                  pieces.strides, pieces.counts, targets, passes, close, settled, weights)

    # ---- answers

    def answers(self, workload: Workload) -> _Floats:
        """The answers as fractions in [0, 1], (k,).

        The answer to a query over several blocks is a product over the blocks. The values of a column in no block are
        equally likely.

        Raises:
            InvalidInput: the workload has another number of attributes.
        """
        blocks, schema = self.blocks, self.blocks.schema
        if workload.attributes != schema.attributes:
            raise InvalidInput("workload", f"is on {counted(workload.attributes, 'attribute')}",
                               f"must be on {schema.attributes}")
        if workload.kind == "predicates":
            return np.clip(self._predicates(workload.truth), 0.0, 1.0)
        pivots = self._pivots_of(workload)
        columns = np.stack([blocks.block, blocks.stride, blocks.sizes, pivots])
        named = blocks.block >= 0
        origins = blocks.starts[:-1] + np.bincount(blocks.block[named], (pivots * blocks.stride)[named],
                                                   minlength=len(blocks.starts) - 1).astype(np.int64)
        table = self.cells.copy()
        margins(table, blocks.starts, columns)
        parity = workload.kind == "parities"
        out = literal_products(table, origins, columns, schema.column_of, schema.cell_of,
                               np.ascontiguousarray(workload.index), np.ascontiguousarray(workload.bits), parity)
        return np.clip((1 + out) / 2 if parity else out, 0.0, 1.0)

    def _pivots_of(self, workload: Workload) -> _Integers:
        """The pivot of each column, (m,): the value that the queries name least often. In the transform, the sum over
        all values of the column takes the place of the pivot.
        """
        if self._pivots[0] is not workload:
            schema = self.blocks.schema
            uses = np.bincount(workload.index[workload.index >= 0], minlength=schema.attributes)
            # The false of a bit is named by no query.
            found = [int(np.argmin(np.where(cells >= 0, uses[cells], 0))) for cells in schema.cell_attributes]
            self._pivots = (workload, np.array(found, np.int64))
        return self._pivots[1]

    @cached_property
    def _records(self) -> _Integers:
        """(cells,) each combination of values as a record of bits. All columns must form one block."""
        found = np.zeros(self.blocks.cells, np.int64)
        for column, sets in enumerate(self.blocks.schema.cell_attributes):
            bits = np.where(sets >= 0, np.int64(1) << np.maximum(sets, 0).astype(np.int64), 0)
            found |= bits[self._values(column, np.arange(len(found)))]
        return found

    def _predicates(self, truth: NDArray[np.bool_]) -> _Floats:
        """The answers to predicates, as sums of cells."""
        if len(self.blocks.starts) != 2 or (self.blocks.block < 0).any():
            raise InvalidInput("workload", "has predicates over all columns",
                               "the release's own queries join fewer columns")
        rows = max(1, MOST_CELLS // len(self.cells))
        parts = [truth[at : at + rows][:, self._records] @ self.cells for at in range(0, len(truth), rows)]
        return np.concatenate([np.zeros(0), *parts])

    def _values(self, column: int, cells: _Integers) -> _Integers:
        """The values of a column in some cells of its block."""
        found: _Integers = cells // self.blocks.stride[column] % self.blocks.sizes[column]
        return found

    # ---- rows

    def rows(self, count: int) -> NDArray[np.uint16]:
        """The values of `count` equally weighted records, (count, m), that approximate the histogram.

        Within a block the number of records in every cell is the expected number, rounded up or down. The method is
        systematic sampling without a random start, in the order of the cells, so that the count of any interval of
        cells has an error of at most one record. Since blocks are independent, the records of each block are put into a
        fixed pseudorandom order before the blocks are combined.
        """
        blocks = self.blocks
        found = np.zeros((count, len(blocks.block)), np.uint16)
        even = (np.arange(count) + 0.5) / count
        for b in range(len(blocks.starts) - 1):
            ends = np.cumsum(self.cells[blocks.starts[b] : blocks.starts[b + 1]])
            cells = np.minimum(np.searchsorted(ends, even * ends[-1], side="right"), len(ends) - 1)
            cells = cells[_mixed(count, b)] if b else cells
            for column in blocks.members(b).tolist():
                found[:, column] = self._values(column, cells)
        for column in np.flatnonzero(blocks.block < 0).tolist():
            values = (even * blocks.sizes[column]).astype(np.int64)
            found[:, column] = values[_mixed(count, len(blocks.starts) + column)]
        return found

    def dense(self) -> _Floats:
        """The whole histogram, (product of all columns' sizes,). The last column's value is the fastest digit of the
        cell number.

        Raises:
            Refused: the histogram has more than 2^22 cells.
        """
        sizes, blocks = self.blocks.schema.sizes, self.blocks
        if math.prod(sizes) > MOST_CELLS:
            raise Refused(f"all {len(sizes)} columns together have 10^{math.log10(math.prod(sizes)):.1f} cells",
                          f"at most {MOST_CELLS:,}; rows and answers to queries need no full table")
        out = np.full(sizes, 1.0 / math.prod(blocks.sizes[blocks.block < 0].tolist()))
        for b in range(len(blocks.starts) - 1):
            shape = np.where(blocks.block == b, blocks.sizes, 1)
            out *= self.cells[blocks.starts[b] : blocks.starts[b + 1]].reshape(shape)
        return out.reshape(-1)


def _mixed(count: int, number: int) -> _Integers:
    """A public pseudorandom permutation of the records of a block."""
    return study_generator(number, "rows of blocks").permutation(count)


def _runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The start and the end of each run of consecutive True entries."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _others(masks: _Masks) -> list[_Masks]:
    """The cells outside a product of sets, as disjoint products. A cell outside the product of sets belongs to the part
    for the first column whose value in the cell is not in the column's set.
    """
    found, before = list[_Masks](), _Masks()
    for column, mask in masks.items():
        if not mask.all():
            found.append({**before, column: ~mask})
        before[column] = mask
    return [some for some in found if all(mask.any() for mask in some.values())]


def _even(named: _Masks, odd: bool) -> list[_Masks]:
    """The cells in which the number of columns with a named value is even, or odd, as disjoint products."""
    found = []
    for signs in product((False, True), repeat=len(named)):
        if sum(signs) % 2 == odd:
            some = {column: mask if sign else ~mask for (column, mask), sign in zip(named.items(), signs, strict=True)}
            if all(mask.any() for mask in some.values()):
                found.append(some)
    return found
