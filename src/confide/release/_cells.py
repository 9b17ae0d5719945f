"""Compiled work on cells: distinct rows, packing, and tables of up to three columns that answer conjunctions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

__all__ = ["answer_groups", "key_groups", "number_distinct", "pack_rows"]

_Compiled = TypeVar("_Compiled", bound=Callable[..., Any])


def _compiled(function: _Compiled) -> _Compiled:
    return cast("_Compiled", njit(cache=True, nogil=True)(function))


@_compiled
def number_distinct(cells: np.ndarray, first: np.ndarray, numbers: np.ndarray, table: np.ndarray) -> int:
    """The distinct rows, in the order in which they come first.

    Args:
        cells: uint16 (n, m).
        first: int64 (n,), receives the first row of each.
        numbers: int32 (n,), receives which of them each row is.
        table: int32, all -1; its length is a power of two above n.

    Returns:
        How many there are.
    """
    found = 0
    mask = np.uint64(len(table) - 1)
    for row in range(len(cells)):
        value = np.uint64(0x9E3779B97F4A7C15)
        for column in range(cells.shape[1]):
            value = (value ^ np.uint64(cells[row, column])) * np.uint64(0xD6E8FEB86659FD93)
            value ^= value >> np.uint64(32)
        place = value & mask
        while True:
            number = table[place]
            if number < 0:
                table[place] = found
                first[found] = row
                numbers[row] = found
                found += 1
                break
            same = True
            for column in range(cells.shape[1]):
                if cells[row, column] != cells[first[number], column]:
                    same = False
                    break
            if same:
                numbers[row] = number
                break
            place = (place + np.uint64(1)) & mask
    return found


@_compiled
def pack_rows(
    cells: np.ndarray, rows: np.ndarray, starts: np.ndarray, attributes: np.ndarray, words: np.ndarray, word: int
) -> None:
    """Set the bits of some rows, one after the other from a word on.

    Args:
        cells: uint16 (n, m).
        rows: int64: which rows.
        starts: int64 (m + 1,): the first cell of each column among all cells.
        attributes: int32: the attribute that each cell sets, -1 for none.
        words: uint64 (d, w), changed in place.
        word: where the first row's bit is bit 0.
    """
    for place in range(len(rows)):
        at, bit = word + (place >> 6), np.uint64(1) << np.uint64(place & 63)
        for column in range(cells.shape[1]):
            attribute = attributes[starts[column] + cells[rows[place], column]]
            if attribute >= 0:
                words[attribute, at] |= bit


@_compiled
def key_groups(index: np.ndarray, column_of: np.ndarray, none: int, keys: np.ndarray) -> None:
    """Each query's choice of columns as one number; its columns are the digits to the base none + 1.

    Args:
        index: int32 (k, r), r at most 3, padded with -1.
        column_of: int32 (d,), ascending.
        none: m, which stands for a column that is missing or repeated.
        keys: int64 (k,), set.
    """
    for query in range(len(index)):
        key, before = 0, -1
        for literal in range(3):
            column = none
            if literal < index.shape[1] and index[query, literal] >= 0 and column_of[index[query, literal]] != before:
                column = before = column_of[index[query, literal]]
            key = key * (none + 1) + column
        keys[query] = key


@_compiled
def answer_groups(
    columns: np.ndarray, weights: np.ndarray, sizes: np.ndarray, members: np.ndarray, groups: np.ndarray,
    order: np.ndarray, index: np.ndarray, bits: np.ndarray, column_of: np.ndarray, cell_of: np.ndarray,
    table: np.ndarray, out: np.ndarray,
) -> None:
    """Answer conjunctions of at most three literals, all those of one choice of columns from one table with margins.

    A query is an inclusion-exclusion over its negative literals; each term is one cell of the table, whose last place
    along each side is the margin.

    Args:
        columns: uint16 (m + 1, n) cells by column; the last column is all 0.
        weights: float64 (n,).
        sizes: int64 (m + 1,), the last is 1.
        members: int64 (g, 3): the columns of each group; one that is missing or repeated is number m.
        groups: int64 (g + 1,): the queries of group j are order[groups[j]:groups[j + 1]].
        order: int64 (k,).
        index: int32 (k, r), r at most 3, padded with -1.
        bits: bool (k, r).
        column_of: int32 (d,): the column of each attribute.
        cell_of: int32 (d,): the cell that an attribute names; -1 where no record has it.
        table: float64, as long as the largest table.
        out: float64 (k,), set for the queries of these groups.
    """
    chosen = np.empty(3, np.int64)
    negative = np.empty(3, np.int64)
    places = np.empty(3, np.int64)
    picked = np.empty(3, np.int64)
    limits = np.empty(3, np.int64)
    for group in range(len(members)):
        a, b, c = columns[members[group, 0]], columns[members[group, 1]], columns[members[group, 2]]
        s0, s1, s2 = sizes[members[group, 0]], sizes[members[group, 1]], sizes[members[group, 2]]
        step1 = s2 + 1
        step0 = (s1 + 1) * step1
        table[: (s0 + 1) * step0] = 0.0
        for row in range(len(weights)):
            table[a[row] * step0 + b[row] * step1 + c[row]] += weights[row]
        for i in range(s0):
            for j in range(s1):
                line = i * step0 + j * step1
                for k in range(s2):
                    table[line + s2] += table[line + k]
                for k in range(s2 + 1):
                    table[i * step0 + s1 * step1 + k] += table[line + k]
            for j in range(step0):
                table[s0 * step0 + j] += table[i * step0 + j]
        limits[0], limits[1], limits[2] = s0, s1, s2
        for at in range(groups[group], groups[group + 1]):
            query = order[at]
            count = 0
            possible = True
            chosen[:] = limits
            for literal in range(index.shape[1]):
                attribute = index[query, literal]
                if attribute < 0:
                    break
                place, wanted = 0, np.int64(cell_of[attribute])
                while members[group, place] != column_of[attribute]:
                    place += 1
                if not bits[query, literal]:
                    if wanted >= 0:
                        negative[count], places[count] = wanted, place
                        count += 1
                    continue
                if wanted < 0 or chosen[place] not in (limits[place], wanted):
                    possible = False
                chosen[place] = wanted
            total = 0.0
            for subset in range(1 << count if possible else 0):
                picked[:] = chosen
                sign = 1.0
                possible = True
                for bit in range(count):
                    if subset >> bit & 1:
                        sign = -sign
                        place, wanted = places[bit], negative[bit]
                        if picked[place] not in (limits[place], wanted):
                            possible = False
                        picked[place] = wanted
                if possible:
                    total += sign * table[picked[0] * step0 + picked[1] * step1 + picked[2]]
            out[query] = total
