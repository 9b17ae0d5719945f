"""Records from tables: one row for each slot, each judged alone.

A row with a number that is not in its public range is bad. It is refused, by name, to whoever holds the table; or it
counts as the null record, where nothing that others see may depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.unusable import Unusable
from confide.programs.grids import values_near

__all__ = ["bad_rows", "numbers", "refused_or_null", "row", "value_units"]

_CHUNK = 1 << 22


def numbers(name: str, data: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """A table as float32 or float64, in that shape.

    Args:
        name: of the field.
        data: whatever numpy reads as numbers.
        shape: what it must have.

    Raises:
        InvalidInput: no numbers, or of another shape.
    """
    try:
        table = np.asarray(data)
    except (ValueError, TypeError):
        raise InvalidInput(name, "is not a table of numbers", f"must be of shape {shape}") from None
    if table.dtype.kind not in "fiub":
        raise InvalidInput(name, f"an array of {table.dtype}", f"must be numbers of shape {shape}")
    if table.shape != shape:
        raise InvalidInput(name, f"its shape is {table.shape}", f"must be {shape}")
    return np.ascontiguousarray(table, dtype=np.float32 if table.dtype == np.float32 else np.float64)


def row(name: str, record: Any, shape: tuple[int, ...], low: float, high: float) -> NDArray[np.float64]:
    """One participant's numbers, in their range.

    Args:
        name: of the field.
        record: whatever numpy reads as numbers.
        shape: what it must have.
        low: least.
        high: largest.

    Raises:
        InvalidInput: names what is wrong, to her alone.
    """
    try:
        found = np.asarray(record, dtype=np.float64)
    except (ValueError, TypeError):
        raise InvalidInput(name, "is not numbers", f"must be of shape {shape}") from None
    if found.shape != shape:
        raise InvalidInput(name, f"its shape is {found.shape}", f"must be {shape}")
    if not bool(((found >= low) & (found <= high)).all()):
        raise InvalidInput(name, "holds what is not a number in its range", f"each must be in [{low:g}, {high:g}]")
    return found


def bad_rows(table: NDArray[Any], low: float, high: float) -> NDArray[np.bool_]:
    """(n,) whether a row holds a number that is not in [low, high].

    Args:
        table: (n, ...).
        low: least.
        high: largest.
    """
    flat = table.reshape(len(table), -1)
    found = np.zeros(len(table), dtype=bool)
    step = max(1, _CHUNK // max(1, flat.shape[1]))
    for at in range(0, len(flat), step):
        part = flat[at : at + step]
        found[at : at + step] = ~((part >= low) & (part <= high)).all(axis=1)
    return found


def refused_or_null(name: str, bad: NDArray[np.bool_], limit: str, unusable: Unusable) -> None:
    """Refuse a table for its first bad row, unless bad rows count as null.

    Args:
        name: of the field.
        bad: (n,).
        limit: what a row must be.
        unusable: what becomes of bad rows.

    Raises:
        InvalidInput: a row is bad, and it is refused.
    """
    if unusable == "refuse" and bool(bad.any()):
        raise InvalidInput(name, f"row {int(np.argmax(bad))} cannot be used", limit)


def value_units(table: NDArray[Any], bad: NDArray[np.bool_], kind: Any) -> NDArray[Any]:
    """Values in units, in a small type, bad rows zero; the temporary arrays stay small.

    Args:
        table: (n, ...) of numbers.
        bad: (n,) rows that count as zeros.
        kind: numpy type of the result.
    """
    out = np.empty(table.shape, dtype=kind)
    flat, into = table.reshape(len(table), -1), out.reshape(len(table), -1)
    step = max(1, _CHUNK // max(1, flat.shape[1]))
    for at in range(0, len(flat), step):
        part = np.where(bad[at : at + step, None], 0.0, flat[at : at + step])
        into[at : at + step] = values_near(part)
    return out
