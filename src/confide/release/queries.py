"""Literals of queries as arrays: from names, into canonical form, at random, and all of a width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.release.packed import as_bits
from confide.release.schema import Schema

__all__ = ["MOST_QUERIES", "all_queries", "canonical", "keys_of", "named", "random_queries"]

MOST_QUERIES = 1 << 26
"""Of a complete workload."""


def named(index: Any, bits: Any, schema: Schema | None) -> tuple[np.ndarray, np.ndarray]:
    """Attributes as an int64 array (k, r), padded with -1, and the required bits of the same shape."""
    if isinstance(index, np.ndarray) and index.dtype.kind in "iu":
        found = index.astype(np.int64)
    else:
        found = _rows([_numbers(query, schema) for query in index], -1)
    if found.ndim != 2:
        raise InvalidInput("index", f"has {found.ndim} dimensions", "must be k rows of attributes")
    if bits is None:
        return found, np.ones(found.shape, np.bool_)
    if not isinstance(bits, np.ndarray):
        rows = [list(each) for each in bits]
        if [len(row) for row in rows] != [len(query) for query in index]:
            raise InvalidInput("bits", "do not match the attributes", "must be one bit for each")
        bits = _rows(rows, 1)
    required = as_bits("bits", bits, 2)
    if required.shape != found.shape:
        raise InvalidInput("bits", f"are of shape {required.shape}", f"must be of the index's, {found.shape}")
    return found, required


def _numbers(query: Any, schema: Schema | None) -> list[int]:
    if isinstance(query, str) or not isinstance(query, Sequence | np.ndarray):
        raise InvalidInput("index", f"{query!r} is no query", "must be a sequence of attributes")
    found = []
    for each in query:
        if isinstance(each, str):
            if schema is None:
                raise InvalidInput("attribute", f"{each!r} is a name", "names need a schema: attributes=schema")
            found.append(schema.find(each))
        elif isinstance(each, int | np.integer) and not isinstance(each, bool):
            found.append(int(each))
        else:
            raise InvalidInput("attribute", f"{each!r} is neither a number nor a name")
    return found


def _rows(rows: list[list[int]], fill: int) -> np.ndarray:
    width = max((len(row) for row in rows), default=0)
    found = np.full((len(rows), width), fill, np.int64)
    for place, row in enumerate(rows):
        found[place, : len(row)] = row
    return found


def keys_of(index: np.ndarray, bits: np.ndarray, attributes: int) -> np.ndarray:
    """One key for each query, the same only for the same query, that sorts by the first literals first.

    Returns:
        uint64 (k,) where a literal's attribute and bit fit beside the others, else its bytes, big end first.
    """
    letters, width = 2 * attributes + 2, index.shape[1]
    literal = 2 * (index.astype(np.uint64) + np.uint64(1)) + (bits & (index >= 0))
    if letters**width < 1 << 64:
        key = np.zeros(len(index), np.uint64)
        for place in range(width):
            key = key * np.uint64(letters) + literal[:, place]
        return key
    # A text loses the zeros at its end, which stand for no literal: texts that differ still differ.
    texts: np.ndarray = np.ascontiguousarray(literal.astype(">u4")).view(np.dtype(("S", 4 * width)))[:, 0]
    return texts


def canonical(
    index: np.ndarray, bits: np.ndarray, attributes: int, parity: bool
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Sort each query's attributes, drop its repeated literals, then contradictory and repeated queries.

    Returns:
        int32 (k, r) and bool (k, r); how many queries were contradictory; and how many stood twice.

    Raises:
        InvalidInput: an attribute out of range, or a query without one.
    """
    outside = (index < -1) | (index >= attributes)
    if outside.any():
        query, place = np.argwhere(outside)[0]
        raise InvalidInput("index", f"query {query} has the attribute {index[query, place]}",
                           f"must be in [0, {attributes}), or -1 for none")
    # In int32, with -1 last and of two literals of one attribute the false one first.
    keys = np.where(index < 0, 2 * attributes, 2 * index + (bits | parity))
    keys.sort(axis=1)
    index, bits = (keys >> 1).astype(np.int32), (keys & 1).astype(np.bool_)
    there = index < attributes
    contradictory = np.zeros(len(index), np.bool_)
    if parity:
        there = _odd(index, there)
    else:
        same = (index[:, 1:] == index[:, :-1]) & there[:, 1:]
        contradictory = (same & (bits[:, 1:] != bits[:, :-1])).any(axis=1)
        there[:, 1:] &= ~(same & (bits[:, 1:] == bits[:, :-1]))
    empty = ~there.any(axis=1)
    if empty.any():
        raise InvalidInput("index", f"query {int(np.flatnonzero(empty)[0])} has no attribute",
                           "each must have at least one")
    index, bits = index[~contradictory], bits[~contradictory]
    there = there[~contradictory]
    if not there.all():
        index, bits = _shift(index, bits, there)
    index, bits = _narrow(index, bits)
    if not len(index):
        return index, bits, int(contradictory.sum()), 0
    first = _firsts(keys_of(index, bits, attributes))
    if len(first) == len(index):
        return index, bits, int(contradictory.sum()), 0
    return (*_narrow(index[first], bits[first]), int(contradictory.sum()), len(index) - len(first))


def _odd(index: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Of each run of the same attribute the last place, if the run is odd: pairs cancel out of a parity."""
    kept = there.copy()
    odd = np.ones(len(index), np.bool_)
    for place in range(1, index.shape[1]):
        same = index[:, place] == index[:, place - 1]
        kept[:, place - 1] &= ~same & odd
        odd = np.where(same, ~odd, True)
    kept[:, -1] &= odd
    return kept


def _shift(index: np.ndarray, bits: np.ndarray, there: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Literals to the front, in their order, -1 behind them."""
    order = np.argsort(~there, axis=1, kind="stable")
    index = np.take_along_axis(np.where(there, index, np.int32(-1)), order, axis=1)
    bits = np.take_along_axis(bits | ~there, order, axis=1)
    return index, bits


def _narrow(index: np.ndarray, bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Without places that no query uses."""
    used = max(1, int((index >= 0).any(axis=0).sum()))
    return np.ascontiguousarray(index[:, :used]), np.ascontiguousarray(bits[:, :used])


def _firsts(keys: np.ndarray) -> np.ndarray:
    """The positions of the first of each key, ascending."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    found: np.ndarray = np.sort(order[np.append(True, ordered[1:] != ordered[:-1])])
    return found


# ---- at random, and all


def _column_of(domain: Schema | int) -> np.ndarray:
    return domain.column_of if isinstance(domain, Schema) else np.arange(domain, dtype=np.int32)


def _elementary(sizes: np.ndarray, width: int) -> int:
    """How many sets of attributes there are from different columns of these sizes: exact, of any length."""
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
    """See `Workload.random`."""
    column_of = _column_of(domain)
    d = len(column_of)
    sizes = np.bincount(column_of) if distinct_columns else np.ones(d, np.int64)
    patterns = 2 if signed else 1
    widths = [width] if distinct_columns else range(1 + (parity and width % 2 == 0), width + 1, 1 + parity)
    total = sum(_elementary(sizes, each) * patterns**each for each in widths)
    if count > total:
        raise InvalidInput("count", f"there are only {total} such queries", "ask for fewer, or for wider ones")
    generator = study_generator(seed, "workload")
    if distinct_columns and 2 * count > total:
        index, bits = all_queries(domain, range(width, width + 1), not signed)
        chosen = generator.permutation(len(index))[:count]
        return index[chosen], bits[chosen]
    index, bits = np.zeros((0, width), np.int32), np.zeros((0, width), np.bool_)
    while len(index) < count:
        some = count - len(index) + (count - len(index)) // 16 + 64
        drawn = generator.integers(0, d, (some, width), dtype=np.int32)
        required = generator.integers(0, 2, (some, width), dtype=np.int8).view(np.bool_) if signed else np.ones(
            (some, width), np.bool_)
        if distinct_columns:
            columns = np.sort(column_of[drawn], axis=1)
            apart = (columns[:, 1:] != columns[:, :-1]).all(axis=1)
            drawn, required = drawn[apart], required[apart]
        elif parity:
            drawn = _not_constant(drawn)
            required = np.ones(drawn.shape, np.bool_)
        if not len(drawn):
            continue
        drawn, required, _, _ = canonical(drawn, required, d, parity)
        drawn, required = _widen(drawn, required, width)
        index, bits = np.concatenate([index, drawn]), np.concatenate([bits, required])
        first = _firsts(keys_of(index, bits, d))[:count]
        index, bits = index[first], bits[first]
    return _narrow(index, bits)


def _not_constant(drawn: np.ndarray) -> np.ndarray:
    """Without the parities in which every attribute cancels out."""
    ordered = np.sort(drawn, axis=1)
    kept: np.ndarray = drawn[_odd(ordered, np.ones(ordered.shape, np.bool_)).any(axis=1)]
    return kept


def _widen(index: np.ndarray, bits: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    more = ((0, 0), (0, width - index.shape[1]))
    return np.pad(index, more, constant_values=-1), np.pad(bits, more, constant_values=True)


def all_queries(domain: Schema | int, widths: range, positive: bool) -> tuple[np.ndarray, np.ndarray]:
    """See `Workload.complete`."""
    column_of = _column_of(domain)
    sizes = np.bincount(column_of)
    width = widths[-1]
    if width > len(sizes):
        raise InvalidInput("width", f"{width} is more than the {len(sizes)} columns", "must be at most as many")
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
    """All patterns of bits, (2^width, width), the true ones first."""
    found: np.ndarray = (np.arange(1 << width)[:, None] >> np.arange(width)[::-1]) & 1 == 0
    return found
