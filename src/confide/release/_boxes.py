"""Histograms over the cells of several columns: sums and updates over boxes of cells, and answers to all conjunctions
from one transform.

A cell is a combination of one value of each column. The digits of a cell's number, in mixed radix, are the values of
its columns. A box is a product of intervals of values. A box is stored as nested loops, each with a stride and a count.
Adjacent columns that are not restricted form one loop, and a column with one allowed value needs no loop. The time for
a sum or an update over a box is proportional to the box's number of cells.

The transform works column by column: it replaces the entry of one value of the column, the pivot, by the sum over all
values of the column. The transform has as many entries as the histogram. A conjunction of r literals is a combination
of about 2^r entries of the transform. A literal that requires a value other than the pivot needs one entry. A literal
that excludes a value other than the pivot needs the entry of the sum minus one entry. A literal that requires the
pivot's value needs the entry of the sum minus all other entries of the column.

Source: spec query_release C (the transform for columns of two values) and D6 (inclusion and exclusion).

A block is a set of columns that the queries connect. The cells of a block are a probability distribution: uniform at
first, scaled to a mass of 1, or computed from the exponents of the cells.
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
    """Flat array of the cells of all blocks, each block with a uniform distribution.

    Args:
        starts: (b + 1,) position of the first cell of each block, and the end of the last block.

    Example:
        >>> uniform_cells(np.array([0, 2, 6])).tolist()
        [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    """
    lengths = np.diff(starts)
    return np.repeat(1.0 / lengths, lengths)


@kernel
def mass_of(cells: _Floats, begin: int, end: int) -> float:
    """The sum of the cells of a block."""
    mass = 0.0
    for at in range(begin, end):
        mass += cells[at]
    return mass


@kernel
def scale_to_one(cells: _Floats, begin: int, end: int) -> None:
    """Divide the cells of a block by their sum."""
    mass = mass_of(cells, begin, end)
    for at in range(begin, end):
        cells[at] /= mass


@kernel
def from_exponents(cells: _Floats, begin: int, end: int) -> None:
    """Replace the cells of a block by the distribution in proportion to exp(cell). The largest exponent is subtracted
    from all exponents first.
    """
    top = cells[begin]
    for at in range(begin, end):
        top = max(top, cells[at])
    for at in range(begin, end):
        cells[at] = math.exp(cells[at] - top)
    scale_to_one(cells, begin, end)


@kernel
def lacking(target: float, inside: float, outside: float, close: float) -> float:
    """The correction of a query's exponent if one side of the query has lost nearly all of its mass; otherwise 0. The
    sides of a query are the cells that satisfy the query, and the other cells.

    In each pass over the queries, a query with residual r (target minus answer) multiplies the mass of the side that
    must grow by e^(|r|/2). If the mass of this side is tiny, one pass changes the answer by less than `close`, as if
    the fit had converged. The fit would need more passes than allowed. The correction therefore gives this side its
    measured mass in one step, but never more than one half of the whole mass.

    Args:
        target: wanted answer to the query, as a fraction in [0, 1].
        inside: present answer, which is the mass of the cells that satisfy the query.
        outside: mass of the other cells, 1 - inside. Both `inside` and `outside` must have a small relative error, also
            if they are small.
        close: smallest change of an answer that counts as a change.
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
    """Position at which the innermost loop of a box begins next. After the last run of the innermost loop the result is
    -1, and all `digits` are 0.

    Args:
        at: position at which the innermost loop began last.
        strides: (g,) strides of the loops, the outer one first.
        counts: (g,) number of steps of each loop.
        digits: (g,) number of finished steps of each loop; changed.
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
    """Sum of the cells of a box.

    Args:
        cells: flat array of cells.
        begin: position of the first cell of the box.
        strides: (g,) strides of the loops, the outer one first.
        counts: (g,) number of steps of each loop; 1 for an unused loop.
        digits: (g,) scratch array, all 0 before and after the call.
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
    """Replace every cell of a box by factor * cell + shift."""
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
    """Run at most `passes` passes of multiplicative updates towards every target, and then compute the exact histogram
    of the final weights.

    The `cells` of each block sum to 1 before and after the call. During the updates the sum of each block is tracked
    separately, so that an update touches only the cells of the query's boxes. A query may be given by the boxes of the
    cells that do not satisfy it. Multiplying the cells outside a query by the inverse factor is the same update,
    because the histogram is normalised. After the last pass all cells are computed again as exp(sum of weights), so
    that rounding errors do not accumulate and no cell stays at 0.

    Args:
        cells: flat array of cells; changed.
        starts: position of the first cell of each block, and the end of the last block.
        block: (t,) block of each query.
        inverse: (t,) whether the boxes of each query hold the cells that do not satisfy the query.
        ends: (t + 1,) position of the first box of each query, and the end of the last query.
        base: (c,) number of the first cell of each box within its block.
        strides: (c, g) strides of the loops of each box.
        counts: (c, g) number of steps of the loops of each box.
        targets: (t,) targets of the answers, as fractions.
        passes: largest number of passes.
        close: change of a residual (target minus answer) from one pass to the next. The passes stop when all changes
            are below `close`.
        settled: whether the last query is corrected once, in the first pass, if one of its sides has lost nearly all of
            its mass (see `lacking`).
        weights: (t,) sum of the exponents of all updates by each query so far; changed in place.
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
    """Replace, for one column after another, the entry of the column's pivot by the sum over all values of the column.

    Args:
        values: flat array of cells; changed in place.
        starts: (b + 1,) position of the first cell of each block, and the end of the last block.
        columns: (4, m) four numbers for each column: block (-1 for none), stride, number of values, and pivot.
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
    """The values of one column that the literals of a query name. Either all named values are excluded, or one of them
    is required.

    Args:
        cell_of: (d,) value of its column that each attribute names; -1 for none.
        index: (l,) attributes of the literals.
        bits: (l,) bits that the literals require.
        parity: whether the query is a parity. The bits of a parity are ignored.
        named: scratch array of at least l entries, which receives the values.

    Returns:
        The number of values, and the required value: -1 if none is required, -2 if no value satisfies all literals.
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
    """A function of one column's value, as a sum of terms over entries of the transform. The function is constant
    except at the named values.

    Args:
        named: different values of the column.
        whole: value of the function at column values that are not named.
        each: number that is added to `whole` at a named column value.
        stride: stride of the column.
        size: number of values of the column.
        pivot: value of the column whose entry holds the sum over all values.
        shifts: receives the positions of the entries, relative to the position of the pivot's entry.
        factors: receives the factors of the entries.

    Returns:
        The number of terms.
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
    """The sum over all combinations of one term from each column of a block.

    Args:
        table: flat array of the transform.
        origin: position of the block's entry with all columns at their pivots.
        firsts: (c,) position of the first term of each column.
        ends: (c,) position after the last term of each column.
        shifts: positions of the entries of all terms, relative to the position of the pivot's entry.
        factors: factors of all terms.
        digits: scratch array of at least c entries, all 0 before and after the call.
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
    """The mean over the histogram of each query's product over columns. The product has indicators as factors for a
    conjunction, and signs for a parity.

    The mean of a product over several blocks is the product of the blocks' means. The values of a column in no block
    are equally likely.

    Args:
        table: flat array, as transformed by `margins`.
        origins: (b,) position of each block's entry with all columns at their pivots, which holds the block's whole
            mass.
        columns: (4, m) four numbers for each column: block (-1 for none), stride, number of values, and pivot.
        column_of: (d,) column of each attribute, ascending.
        cell_of: (d,) value of the column that each attribute stands for; -1 if no record can have the attribute.
        index: (k, r) attributes of each query, ascending, padded with -1.
        bits: (k, r) bits that the literals require.
        parity: whether the queries are parities. A parity is the product of a factor -1 for each attribute that is on.
            A conjunction is 1 if all literals hold, and otherwise 0.

    Returns:
        (k,) means, up to rounding errors of about 2^-50.
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
