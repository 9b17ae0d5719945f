"""Literals of queries as arrays: conversion from names, canonical form, random queries, and all queries with a given
number of attributes.

The module also has the compiled loops on literals: the canonical form of each query, and the first occurrence of each
key.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from confide._compiled import kernel
from confide.contract.errors import InvalidInput
from confide.contract.words import counted
from confide.privacy.noise.simulated import study_generator
from confide.release.records import as_bits
from confide.release.schema import Schema

__all__ = [
    "MOST_QUERIES",
    "all_queries",
    "canonical",
    "first_of",
    "firsts",
    "keys_of",
    "named",
    "random_queries",
    "tidy",
]

# ---- literals


@kernel
def tidy(index: np.ndarray, bits: np.ndarray, parity: bool, state: np.ndarray) -> None:
    """Sort the literals of each query, with the padding -1 last, and drop repeated literals. In a parity two
    occurrences of one attribute cancel, so both are dropped.

    Args:
        index: attributes, int32 (k, r), changed in place.
        bits: bits that the literals require, bool (k, r), changed in place. For padding and for parities the bits are
            set to True.
        parity: whether the queries are parities.
        state: int8 (k,), filled with 0 for a valid query, 1 if an attribute would have to be both on and off, and 2 if
            no literal is left.
    """
    width = index.shape[1]
    for query in range(len(index)):
        count = 0
        state[query] = 0
        for place in range(width):
            attribute, bit = index[query, place], bits[query, place] or parity
            if attribute < 0:
                continue
            at = count
            while at > 0 and index[query, at - 1] > attribute:
                at -= 1
            if at > 0 and index[query, at - 1] == attribute:
                if parity:
                    for other in range(at - 1, count - 1):
                        index[query, other] = index[query, other + 1]
                    count -= 1
                elif bits[query, at - 1] != bit:
                    state[query] = 1
                continue
            for other in range(count, at, -1):
                index[query, other], bits[query, other] = index[query, other - 1], bits[query, other - 1]
            index[query, at], bits[query, at] = attribute, bit
            count += 1
        if count == 0:
            state[query] = 2
        for place in range(count, width):
            index[query, place], bits[query, place] = -1, True
        if parity:
            for place in range(count):
                bits[query, place] = True


@kernel
def first_of(keys: np.ndarray, table: np.ndarray, first: np.ndarray) -> None:
    """Mark the first occurrence of each key.

    Args:
        keys: the k keys, as a uint64 array.
        table: scratch hash table, int32, all -1. The length of the table is a power of two above k.
        first: bool (k,), filled with True for each key that is the first occurrence of its value, and otherwise with
            False.
    """
    mask = np.uint64(len(table) - 1)
    for number in range(len(keys)):
        value = keys[number] * np.uint64(0x9E3779B97F4A7C15)
        place = (value ^ (value >> np.uint64(32))) & mask
        first[number] = True
        while table[place] >= 0:
            if keys[table[place]] == keys[number]:
                first[number] = False
                break
            place = (place + np.uint64(1)) & mask
        if first[number]:
            table[place] = number


# ---- queries

MOST_QUERIES = 1 << 26
"""Largest number of queries of a complete workload."""


def named(index: Any, bits: Any, schema: Schema | None) -> tuple[np.ndarray, np.ndarray]:
    """Queries that are given by names or by numbers, converted to two arrays. The first array has the attributes, int64
    (k, r), padded with -1. The second array, of the same shape, has the bits that the literals require.
    """
    if not _is_sequence(index):
        raise InvalidInput("index", f"is of type {type(index).__name__}", "must be a sequence of queries")
    if isinstance(index, np.ndarray) and index.dtype.kind in "iu":
        found, said = index.astype(np.int64), None
    else:
        queries = [_literals(number, query, schema) for number, query in enumerate(index)]
        found = _rows([[place for place, _ in query] for query in queries], -1)
        said = _rows([[bit for _, bit in query] for query in queries], 1).astype(np.bool_)
    if found.ndim != 2:
        raise InvalidInput("index", f"has {counted(found.ndim, 'dimension')}", "must be k rows of attributes")
    if bits is None:
        return found, np.ones(found.shape, np.bool_) if said is None else said
    if said is not None and not said.all():
        raise InvalidInput("bits", "are given, and an attribute is also negated by name",
                           "use either bits or negated names")
    if not isinstance(bits, np.ndarray):
        if not _is_sequence(bits) or not all(map(_is_sequence, bits)):
            raise InvalidInput("bits", "are not a sequence of rows", "must be a sequence of bits for each query")
        rows = [list(each) for each in bits]
        if [len(row) for row in rows] != [len(query) for query in index]:
            raise InvalidInput("bits", "do not match the attributes", "must be one bit for each attribute")
        bits = _rows(rows, 1, "bits", np.float64)
    required = as_bits("bits", bits, 2)
    if required.shape != found.shape:
        raise InvalidInput("bits", f"are of shape {required.shape}", f"must have the shape of the index, {found.shape}")
    return found, required


def _literals(number: int, query: Any, schema: Schema | None) -> list[tuple[int, bool]]:
    """Pairs of attribute and required bit of a query's literals. A plain number requires its attribute to be on."""
    if not _is_sequence(query):
        raise InvalidInput(f"index[{number}]", f"{query!r} is not a query", "must be a sequence of attributes")
    found: list[tuple[int, bool]] = []
    for each in query:
        if isinstance(each, str):
            if schema is None:
                raise InvalidInput("attribute", f"{each!r} is a name", "names need a schema: attributes=schema")
            try:
                found.extend(schema.literals(each))
            except InvalidInput as error:
                raise InvalidInput(f"index[{number}]", error.problem, error.limit) from None
        elif isinstance(each, int | np.integer) and not isinstance(each, bool):
            found.append((int(each), True))
        else:
            raise InvalidInput("attribute", f"{each!r} is neither a number nor a name")
    return found


def one_value(found: np.ndarray, bits: np.ndarray, schema: Schema) -> tuple[np.ndarray, np.ndarray, int]:
    """The queries that require at most one value of each column with bins or levels, and the number of other queries.
    The other queries are left out, since no record satisfies them.
    """
    outside = (found < 0) | (found >= schema.attributes)
    columns = np.where(outside | ~bits, -1, np.asarray(schema.column_of)[np.where(outside, 0, found)])
    order = np.sort(columns, axis=1)
    double = np.flatnonzero(((order[:, 1:] == order[:, :-1]) & (order[:, 1:] >= 0)).any(axis=1))
    # The same attribute twice is one literal.
    lost = [row for row in double.tolist()
            if any(len(set(found[row][columns[row] == column].tolist())) > 1 for column in set(columns[row]) - {-1})]
    kept = np.setdiff1d(np.arange(len(found)), lost)
    return found[kept], bits[kept], len(lost)


def _is_sequence(value: object) -> bool:
    """Whether a value is a sequence or an array, but not a text."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _rows(rows: list[list[int]], fill: int, field: str = "index", kind: type = np.int64) -> np.ndarray:
    width = max((len(row) for row in rows), default=0)
    found: np.ndarray = np.full((len(rows), width), fill, kind)
    try:
        for place, row in enumerate(rows):
            found[place, : len(row)] = row
    except (TypeError, ValueError, OverflowError, np.ma.MaskError):
        raise InvalidInput(field, f"row {place} has an entry that is not a number, or is out of range") from None
    return found


def keys_of(index: np.ndarray, bits: np.ndarray, attributes: int) -> np.ndarray:
    """A key for each query. Equal keys mean equal queries, and the order of the keys is the lexicographic order of the
    literals.

    Returns:
        The keys: uint64 (k,) if all literals fit into 64 bits; otherwise byte strings of the literals, most significant
            byte first.
    """
    letters, width = 2 * attributes + 2, index.shape[1]
    if letters**width < 1 << 64:
        key = np.zeros(len(index), np.uint64)
        for place in range(width):
            key *= np.uint64(letters)
            key += (2 * (index[:, place].astype(np.int64) + 1) + (bits[:, place] & (index[:, place] >= 0))).view(
                np.uint64)
        return key
    literal = 2 * (index.astype(np.int64) + 1) + (bits & (index >= 0))
    # A text loses the zeros at its end, which stand for no literal: texts that differ still differ.
    texts: np.ndarray = np.ascontiguousarray(literal.astype(">u4")).view(np.dtype(("S", 4 * width)))[:, 0]
    return texts


_HASHED = 1 << 18  # keys for which loading the compiler pays; fewer are sorted, unless it is loaded already


def firsts(keys: np.ndarray) -> np.ndarray:
    """Whether each key is the first occurrence of its value, bool (k,)."""
    first = np.zeros(len(keys), np.bool_)
    if keys.dtype == np.uint64 and (len(keys) >= _HASHED or "numba" in sys.modules):
        first_of(keys, np.full(1 << (3 * len(keys) // 2).bit_length(), -1, np.int32), first)
    else:
        first[np.unique(keys, return_index=True)[1]] = True
    return first


def canonical(
    index: np.ndarray, bits: np.ndarray, attributes: int, parity: bool
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Sort each query's attributes and drop its repeated literals. Contradictory and repeated queries are dropped too.

    Args:
        index: attributes, (k, r) whole numbers.
        bits: bits that the literals require, bool (k, r).
        attributes: number of attributes, d.
        parity: whether the queries are parities.

    Returns:
        The attributes, int32 (k, r); the bits, bool (k, r); the number of contradictory queries; and the number of
        repeated queries.

    Raises:
        InvalidInput: an attribute is out of range, or a query has no attribute.
    """
    if index.size and (index.min() < -1 or index.max() >= attributes):
        query, place = np.argwhere((index < -1) | (index >= attributes))[0]
        raise InvalidInput("index", f"query {query} has the attribute {index[query, place]}",
                           f"must be in [0, {attributes}), or -1 for none")
    index, bits, state = index.astype(np.int32), bits.copy(), np.zeros(len(index), np.int8)
    tidy(index, bits, parity, state)
    if (state == 2).any():
        raise InvalidInput("index", f"query {int(np.argmax(state == 2))} has no attribute",
                           "each must have at least one")
    contradictory = int((state == 1).sum())
    if contradictory:
        index, bits = index[state == 0], bits[state == 0]
    first = firsts(keys_of(index, bits, attributes))
    repeated = len(first) - int(first.sum())
    if repeated:
        index, bits = index[first], bits[first]
    return (*_narrow(index, bits), contradictory, repeated)


def _narrow(index: np.ndarray, bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The arrays without columns that no query uses."""
    used = max(1, int((index >= 0).any(axis=0).sum()))
    return np.ascontiguousarray(index[:, :used]), np.ascontiguousarray(bits[:, :used])


# ---- at random, and all


def _column_of(domain: Schema | int) -> np.ndarray:
    return domain.column_of if isinstance(domain, Schema) else np.arange(domain, dtype=np.int32)


def _elementary(sizes: np.ndarray, width: int) -> int:
    """The number of sets of `width` attributes from different columns of the given sizes, as an exact integer."""
    sums = [1] + [0] * width
    values, counts = np.unique(sizes, return_counts=True)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        # (1 + value t)^count, by the binomials up to t^width
        factors = [math.comb(count, power) * value**power for power in range(width + 1)]
        sums = [sum(sums[power - k] * factors[k] for k in range(power + 1)) for power in range(width + 1)]
    return sums[width]


def random_queries(
    domain: Schema | int, count: int, width: int, seed: int, signed: bool, parity: bool, distinct_columns: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Random queries, as described in `Workload.random`."""
    column_of = _column_of(domain)
    d = len(column_of)
    sizes = np.bincount(column_of) if distinct_columns else np.ones(d, np.int64)
    if width > len(sizes):
        what = "columns" if distinct_columns else "attributes"
        raise InvalidInput("width", f"{width} is more than the {len(sizes)} {what}", "there are no such queries")
    patterns = 2 if signed else 1
    widths = [width] if distinct_columns else range(1 + (parity and width % 2 == 0), width + 1, 1 + parity)
    total = sum(_elementary(sizes, each) * patterns**each for each in widths)
    if count > total:
        raise InvalidInput("count", f"there are only {total} such queries", "ask for fewer or wider queries")
    generator = study_generator(seed, "workload")
    if distinct_columns and 2 * count > total:
        index, bits = all_queries(domain, range(width, width + 1), not signed)
        chosen = generator.permutation(len(index))[:count]
        return index[chosen], bits[chosen]
    # How often a draw is of different columns, and new among those that are there already.
    share = total / patterns**width * math.factorial(width) / d**width if distinct_columns else 1.0
    index, bits = np.zeros((0, width), np.int32), np.zeros((0, width), np.bool_)
    while len(index) < count:
        some = int(min((count - len(index)) / share * 1.03, 2.0 * count)) + 64
        drawn = generator.integers(0, d, (some, width), dtype=np.int32)
        required = generator.integers(0, 2, (some, width), dtype=np.uint8).view(np.bool_)
        drawn, required = _admitted(drawn, required | (not signed), column_of if distinct_columns else None, parity)
        index, bits = np.concatenate([index, drawn]), np.concatenate([bits, required])
        first = np.flatnonzero(firsts(keys_of(index, bits, d)))[:count]
        index, bits = index[first], bits[first]
    return _narrow(index, bits)


def _admitted(
    index: np.ndarray, bits: np.ndarray, column_of: np.ndarray | None, parity: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The random draws that are valid queries, in canonical form. A valid query is neither contradictory nor constant,
    and its attributes are from different columns.
    """
    state = np.zeros(len(index), np.int8)
    tidy(index, bits, parity, state)
    kept = state == 0
    if column_of is not None:
        column = column_of[index]
        kept &= (index[:, -1] >= 0) & (column[:, 1:] != column[:, :-1]).all(axis=1)
    return index[kept], bits[kept]


def _widen(index: np.ndarray, bits: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    more = ((0, 0), (0, width - index.shape[1]))
    return np.pad(index, more, constant_values=-1), np.pad(bits, more, constant_values=True)


def all_queries(domain: Schema | int, widths: range, positive: bool) -> tuple[np.ndarray, np.ndarray]:
    """All queries of some widths, as described in `Workload.complete`."""
    column_of = _column_of(domain)
    sizes = np.bincount(column_of)
    width = widths[-1]
    if width > len(sizes):
        raise InvalidInput("width", f"{width} is more than the {counted(len(sizes), 'column')}",
                           f"must be at most {len(sizes)}")
    total = sum(_elementary(sizes, each) * (1 if positive else 2**each) for each in widths)
    if total > MOST_QUERIES:
        raise InvalidInput("width", f"there are {total} such queries", f"must be at most {MOST_QUERIES}")
    ends = np.cumsum(sizes)[column_of].astype(np.int32)  # the attribute behind each one's column
    indices, patterns = [], []
    index = np.arange(len(column_of), dtype=np.int32)[:, None]
    for each in range(1, width + 1):
        if each > 1:
            start = ends[index[:, -1]]
            more = len(column_of) - start
            first = np.repeat(np.cumsum(more) - more, more)
            following = np.arange(len(first)) - first + np.repeat(start, more)
            index = np.column_stack([np.repeat(index, more, axis=0), following.astype(np.int32)])
        if each in widths:
            bits = np.ones((1, each), np.bool_) if positive else _patterns(each)
            there, required = np.repeat(index, len(bits), axis=0), np.tile(bits, (len(index), 1))
            there, required = _widen(there, required, width)
            indices.append(there)
            patterns.append(required)
    return np.concatenate(indices), np.concatenate(patterns)


def _patterns(width: int) -> np.ndarray:
    """All patterns of bits, (2^width, width), starting with the pattern of all True."""
    found: np.ndarray = (np.arange(1 << width)[:, None] >> np.arange(width)[::-1]) & 1 == 0
    return found
