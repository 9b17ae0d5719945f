"""Histograms over the cells of columns: sums and updates of boxes of cells, and every conjunction from one transform.

A cell is a combination of one value of each column, as a number whose digits are the values. A box is a product of
intervals. It is kept as nested loops, (stride, count) each; whole columns beside each other are one loop, and a column
with one value is none, so that a box of few cells is walked in as many steps.

The transform puts, along every column, the sum over all its values into the place of one of them, the pivot. It has as
many places as the histogram, and with it a conjunction of r literals takes about 2^r of them: a value is a place of its
own, all but a value is the sum less that place, and only the pivot's value is the sum less all others.

Source: spec query_release C (its transform is that of columns of two values) and D6 (inclusion and exclusion).

Blocks of cells that are laws: uniform at first, scaled to a mass of 1, or made of the exponents of their cells.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel

__all__ = [
    "fit_boxes",
    "from_exponents",
    "lacking",
    "literal_products",
    "margins",
    "mass_of",
    "scale_to_one",
    "uniform_cells",
]

# ---- block mass

_Floats = NDArray[np.float64]
_FARTHEST = 600.0  # exponents whose factors are doubles


def uniform_cells(starts: NDArray[np.int64]) -> _Floats:
    """Flat cells of uniform blocks.

    Args:
        starts: (b + 1,) where each block begins, and the end.

    Example:
        >>> uniform_cells(np.array([0, 2, 6])).tolist()
        [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    """
    lengths = np.diff(starts)
    return np.repeat(1.0 / lengths, lengths)


@kernel
def mass_of(cells: _Floats, begin: int, end: int) -> float:
    """The sum of a block."""
    mass = 0.0
    for at in range(begin, end):
        mass += cells[at]
    return mass


@kernel
def scale_to_one(cells: _Floats, begin: int, end: int) -> None:
    """Divide a block by its sum."""
    mass = mass_of(cells, begin, end)
    for at in range(begin, end):
        cells[at] /= mass


@kernel
def from_exponents(cells: _Floats, begin: int, end: int) -> None:
    """The law with weights exp(cell), in place; the largest exponent is taken off first."""
    top = cells[begin]
    for at in range(begin, end):
        top = max(top, cells[at])
    for at in range(begin, end):
        cells[at] = math.exp(cells[at] - top)
    scale_to_one(cells, begin, end)


@kernel
def lacking(target: float, inside: float, outside: float, close: float) -> float:
    """The addition to a query's exponent so that a side of it which has all but vanished is measured again; or 0.

    A residual r multiplies the side that is too small by e^(|r|/2) in each pass. Where that changes the answer by less
    than shows, it looks like an end, and takes longer than all passes. It gets what was measured, half at most.

    Args:
        target: target of the answer.
        inside: the answer.
        outside: 1 less that, of full accuracy where it is small, as `inside` is.
        close: smaller changes do not show.
    """
    residual = target - inside
    small = inside if residual > 0.0 else outside
    if small <= 0.0 or abs(residual) <= close or small * math.expm1(abs(residual) / 2.0) >= close:
        return 0.0
    wanted = min(target if residual > 0.0 else 1.0 - target, 0.5)
    more = min(math.log(wanted / (1.0 - wanted)) - math.log(small), _FARTHEST)
    return more if residual > 0.0 else -more


# ---- boxes

_Integers = NDArray[np.int64]
_LEAST, _GREATEST = 1 / 16, 16.0  # of the mass of a block, while updates run: beyond, it is summed again


@kernel
def _next_row(at: int, strides: _Integers, counts: _Integers, digits: _Integers) -> int:
    """Where the innermost loop of a box begins next; -1 when all were run, and `digits` are 0 again.

    Args:
        at: where it began.
        strides: (g,) of the loops, the outer one first.
        counts: (g,) how often each runs.
        digits: (g,) how often each ran; changed.
    """
    turn = len(counts) - 2
    while turn >= 0:
        digits[turn] += 1
        at += strides[turn]
        if digits[turn] < counts[turn]:
            return at
        at -= strides[turn] * counts[turn]
        digits[turn] = 0
        turn -= 1
    return -1


@kernel
def _box_sum(cells: _Floats, begin: int, strides: _Integers, counts: _Integers, digits: _Integers) -> float:
    """Sum over a box.

    Args:
        cells: flat.
        begin: its first cell.
        strides: (g,) of the loops, the outer one first.
        counts: (g,) how often each runs; 1 where there is none.
        digits: (g,) scratch, all 0 before and after.
    """
    last = len(counts) - 1
    step, size = strides[last], counts[last]
    total, at = 0.0, begin
    while True:
        if step == 1:
            # Four sums: one alone would wait for every addition before the next.
            one, two, three, four = 0.0, 0.0, 0.0, 0.0
            whole = at + size - size % 4
            for place in range(at, whole, 4):
                one += cells[place]
                two += cells[place + 1]
                three += cells[place + 2]
                four += cells[place + 3]
            for place in range(whole, at + size):
                one += cells[place]
            total += (one + two) + (three + four)
        else:
            for place in range(at, at + size * step, step):
                total += cells[place]
        at = _next_row(at, strides, counts, digits)
        if at < 0:
            return total


@kernel
def _box_update(
    cells: _Floats, begin: int, strides: _Integers, counts: _Integers, digits: _Integers, factor: float, shift: float
) -> None:
    """cells <- factor cells + shift over a box."""
    last = len(counts) - 1
    step, size = strides[last], counts[last]
    at = begin
    while True:
        if step == 1:
            for place in range(at, at + size):
                cells[place] = factor * cells[place] + shift
        else:
            for place in range(at, at + size * step, step):
                cells[place] = factor * cells[place] + shift
        at = _next_row(at, strides, counts, digits)
        if at < 0:
            return


@kernel
def fit_boxes(
    cells: _Floats, starts: _Integers, block: _Integers, inverse: NDArray[np.bool_], ends: _Integers, base: _Integers,
    strides: _Integers, counts: _Integers, targets: _Floats, passes: int, close: float, settled: bool, weights: _Floats,
) -> None:
    """At most `passes` rounds of multiplicative updates towards every target, and the exact histogram of the weights.

    `cells` of each block sum to 1 before and after. Between, the sums are kept beside them, so that an update touches
    the boxes' own cells alone. A query may be given by the boxes of all other cells: to multiply these by the inverse
    is the same update, as a histogram has no scale. At the end cells are exp(sum of weights) afresh: nothing drifts or
    stays at 0.

    Args:
        cells: changed.
        starts: where each block begins, and the end.
        block: (t,) block of each query.
        inverse: (t,) whether its boxes are the cells that do not satisfy it.
        ends: (t + 1,) where each query's boxes begin, and the end.
        base: (c,) the first cell of each box, within its block.
        strides: (c, g) its loops.
        counts: (c, g) of its loops.
        targets: (t,) fractions.
        passes: number of passes at most.
        close: stop where no residual changed by more since the pass before.
        settled: whether a side of a query that has all but vanished is brought up again, once: see `lacking`.
        weights: (t,) the exponents so far; changed.
    """
    blocks = len(starts) - 1
    fresh = len(targets) - 1 if settled else -1
    digits = np.zeros(counts.shape[1], np.int64)
    mass = np.zeros(blocks)
    before = np.full(len(targets), np.inf)
    for b in range(blocks if passes else 0):
        mass[b] = mass_of(cells, starts[b], starts[b + 1])
    for _ in range(passes):
        change = 0.0
        for j in range(len(targets)):
            b, part = block[j], 0.0
            for c in range(ends[j], ends[j + 1]):
                part += _box_sum(cells, starts[b] + base[c], strides[c], counts[c], digits)
            inside = (mass[b] - part if inverse[j] else part) / mass[b]
            residual = targets[j] - inside
            change = max(change, abs(residual - before[j]))
            before[j] = residual
            step = residual / 2
            if j == fresh:
                share = part / mass[b]
                more = lacking(targets[j], 1.0 - share if inverse[j] else share, share if inverse[j] else 1.0 - share,
                               close)
                step, fresh = more or step, -1
            weights[j] += step
            factor = math.exp(-step if inverse[j] else step)
            for c in range(ends[j], ends[j + 1]):
                _box_update(cells, starts[b] + base[c], strides[c], counts[c], digits, factor, 0.0)
            mass[b] += (factor - 1.0) * part
            if not _LEAST < mass[b] < _GREATEST:
                scale_to_one(cells, starts[b], starts[b + 1])
                mass[b] = 1.0
        if change < close:
            break
    cells[:] = 0.0
    for j in range(len(weights)):
        for c in range(ends[j], ends[j + 1]):
            _box_update(cells, starts[block[j]] + base[c], strides[c], counts[c], digits, 1.0,
                        -weights[j] if inverse[j] else weights[j])
    for b in range(blocks):
        from_exponents(cells, starts[b], starts[b + 1])


@kernel
def margins(values: _Floats, starts: _Integers, columns: _Integers) -> None:
    """Put the sum along each column into its pivot's place, column after column.

    Args:
        values: flat cells; changed.
        starts: (b + 1,) of the blocks.
        columns: (4, m): of each column its block, -1 for none; its stride; its size; its pivot.
    """
    for m in range(columns.shape[1]):
        block, stride, size, pivot = columns[0, m], columns[1, m], columns[2, m], columns[3, m]
        if block < 0:
            continue
        for outer in range(starts[block], starts[block + 1], stride * size):
            into = outer + pivot * stride
            for value in range(size):
                if value != pivot:
                    shift = (value - pivot) * stride
                    for at in range(into, into + stride):
                        values[at] += values[at + shift]


@kernel
def _named_values(
    cell_of: NDArray[np.int32], index: NDArray[np.int32], bits: NDArray[np.bool_], parity: bool, named: _Integers
) -> tuple[int, np.int64]:
    """The values that literals of one column name: all of them are excluded, or one is required.

    Args:
        cell_of: (d,).
        index: (l,) the literals' attributes.
        bits: (l,).
        parity: whether bits do not count.
        named: (>= l,), receives the values.

    Returns:
        How many, and the one that is required: -1 for none, -2 where no value satisfies all literals.
    """
    wanted, count = np.int64(-1), 0
    for j in range(len(index)):
        value = np.int64(cell_of[index[j]])
        if parity or not bits[j]:
            if value >= 0:
                named[count] = value
                count += 1
        elif value < 0 or wanted not in (-1, value):
            return 0, np.int64(-2)
        else:
            wanted = value
    for i in range(count if wanted >= 0 else 0):
        if named[i] == wanted:
            return 0, np.int64(-2)
    if wanted >= 0:
        named[0], count = wanted, 1
    return count, wanted


@kernel
def _column_terms(
    named: _Integers, whole: float, each: float, stride: int, size: int, pivot: int, shifts: _Integers, factors: _Floats
) -> int:
    """A function of one column's value, as a sum over places of the transform.

    Args:
        named: different values.
        whole: what the function is elsewhere.
        each: what it is more at a named value.
        stride: of the column.
        size: of the column.
        pivot: of the column: its place holds the sum over all values.
        shifts: receives the places, from the pivot's.
        factors: receives their factors.

    Returns:
        How many.
    """
    at_pivot, terms = 0.0, 0
    for value in named:
        if value == pivot:
            at_pivot = each
    if whole + at_pivot != 0.0:
        shifts[0], factors[0] = 0, whole + at_pivot
        terms = 1
    if at_pivot == 0.0:
        for value in named:
            shifts[terms], factors[terms] = (value - pivot) * stride, each
            terms += 1
        return terms
    for value in range(size):  # the pivot's value is the sum less all others
        factor = -at_pivot
        for other in named:
            if other == value:
                factor += each
        if value != pivot and factor != 0.0:
            shifts[terms], factors[terms] = (value - pivot) * stride, factor
            terms += 1
    return terms


@kernel
def _block_sum(
    table: _Floats, origin: int, firsts: _Integers, ends: _Integers, shifts: _Integers, factors: _Floats,
    digits: _Integers
) -> float:
    """The sum over all choices of one term of each column.

    Args:
        table: flat.
        origin: of the block.
        firsts: (c,) where the terms of each column begin.
        ends: (c,) and end.
        shifts: of the terms.
        factors: of the terms.
        digits: (>= c,) scratch, all 0 before and after.
    """
    total = 0.0
    while True:
        at, factor = origin, 1.0
        for i in range(len(firsts)):
            at += shifts[firsts[i] + digits[i]]
            factor *= factors[firsts[i] + digits[i]]
        total += float(factor * table[at])
        turn = len(firsts) - 1
        while turn >= 0:
            digits[turn] += 1
            if firsts[turn] + digits[turn] < ends[turn]:
                break
            digits[turn] = 0
            turn -= 1
        if turn < 0:
            return total


@kernel
def literal_products(
    table: _Floats, origins: _Integers, columns: _Integers, column_of: NDArray[np.int32], cell_of: NDArray[np.int32],
    index: NDArray[np.int32], bits: NDArray[np.bool_], parity: bool,
) -> _Floats:
    """The mean over the histogram of each query's product over columns: of indicators, or of signs.

    A product over blocks is the product of their means; a column in no block has all values alike.

    Args:
        table: flat, as `margins` leaves it.
        origins: (b,) the place of each block where all its columns are at their pivots: its whole mass.
        columns: (4, m) as for `margins`.
        column_of: (d,) ascending.
        cell_of: (d,) the value that an attribute names; -1 where no record has it.
        index: (k, r) ascending, padded with -1.
        bits: (k, r).
        parity: whether to multiply -1 for each attribute that is on, and not 1 where all literals hold.

    Returns:
        (k,) up to rounding errors of about 2^-50.
    """
    queries, width = index.shape
    out = np.empty(queries)
    room = columns[2].sum() + 1
    shifts, factors = np.empty(room, np.int64), np.empty(room)  # the terms of all columns of a query
    firsts, ends, blocks = np.empty(width, np.int64), np.empty(width, np.int64), np.empty(width, np.int64)
    named, digits = np.empty(width, np.int64), np.zeros(width, np.int64)
    for q in range(queries):
        answer, lists, terms, begin = 1.0, 0, 0, 0
        while begin < width and index[q, begin] >= 0:
            m = column_of[index[q, begin]]
            end = begin + 1
            while end < width and index[q, end] >= 0 and column_of[index[q, end]] == m:
                end += 1
            count, wanted = _named_values(cell_of, index[q, begin:end], bits[q, begin:end], parity, named)
            begin = end
            whole, each = (0.0 if wanted >= 0 else 1.0), (-2.0 if parity else 1.0 if wanted >= 0 else -1.0)
            if wanted == -2:
                answer = 0.0
            elif columns[0, m] < 0:
                answer *= whole + each * count / columns[2, m]
            elif answer != 0.0:
                found = _column_terms(named[:count], whole, each, columns[1, m], columns[2, m], columns[3, m],
                                      shifts[terms:], factors[terms:])
                answer = answer if found else 0.0
                # Columns of one block stand together.
                place = lists
                while place > 0 and blocks[place - 1] > columns[0, m]:
                    blocks[place], firsts[place], ends[place] = blocks[place - 1], firsts[place - 1], ends[place - 1]
                    place -= 1
                blocks[place], firsts[place], ends[place] = columns[0, m], terms, terms + found
                lists, terms = lists + 1, terms + found
        first = 0
        while first < lists and answer != 0.0:
            last = first + 1
            while last < lists and blocks[last] == blocks[first]:
                last += 1
            answer *= _block_sum(table, origins[blocks[first]], firsts[first:last], ends[first:last], shifts, factors,
                                 digits)
            first = last
        out[q] = answer
    return out
