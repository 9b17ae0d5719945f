"""Compiled work on the literals of queries: canonical form row by row, and which keys come first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

__all__ = ["first_of", "tidy"]

_Compiled = TypeVar("_Compiled", bound=Callable[..., Any])


def _compiled(function: _Compiled) -> _Compiled:
    return cast("_Compiled", njit(cache=True, nogil=True)(function))


@_compiled
def tidy(index: np.ndarray, bits: np.ndarray, parity: bool, state: np.ndarray) -> None:
    """Sort each query's literals, -1 last, and drop its repeated ones: of a parity, both of a pair.

    Args:
        index: int32 (k, r), changed in place.
        bits: bool (k, r), changed in place; True where there is no literal, and for parities.
        parity: whether the queries are parities.
        state: int8 (k,), set to 0; 1 where an attribute must be both; 2 where there is no literal left.
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


@_compiled
def first_of(keys: np.ndarray, table: np.ndarray, first: np.ndarray) -> None:
    """Mark each key that no earlier one equals.

    Args:
        keys: uint64 (k,).
        table: int32, all -1; its length is a power of two above k.
        first: bool (k,), set.
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
