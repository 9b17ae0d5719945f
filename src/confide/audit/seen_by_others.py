"""Everything that all others see of an outcome together, and what a collector receives of one device, as bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa

from confide.audit.value_bytes import attributes, exact_bytes
from confide.contract.encoding import canonical
from confide.contract.errors import InvalidInput

__all__ = ["published", "received"]

_PRIVATE = ("shares", "diagnostics")
_WHOLE = ("mechanism", "guarantees", "provenance")  # what the manifest says of them is all


def published(outcome: Any, index: int | None = None) -> bytes:
    """The public manifest and its columns, whatever else the outcome, its billboard or its certificate hold, all shares
    but one, and how shares are laid out.

    Args:
        outcome: outcome of a run.
        index: place of the person whose share is left out; None where nobody has one.
    """
    shares = outcome.shares
    others = {name: _but_one(shares.column(name), index) for name in shares.column_names}
    beside = {name: part for name, part in attributes(outcome).items() if name not in (*_PRIVATE, *_WHOLE)}
    manifest, columns = outcome.public()
    return b"\n".join([repr(sorted(others.items())).encode(), exact_bytes(sorted(beside.items())), canonical(manifest),
                       *(columns[name] for name in sorted(columns)), shares.schema.serialize().to_pybytes()])


def _but_one(column: pa.ChunkedArray, index: int | None) -> Any:
    """Values of all but one, to be compared: quickly where they are numbers, and none is missing."""
    if column.null_count or not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        values = column.to_pylist()
        return values if index is None else values[:index] + values[index + 1:]
    numbers = column.to_numpy().copy() if index is None else np.delete(column.to_numpy(), index)
    if numbers.dtype.kind == "f":
        numbers[np.isnan(numbers)] = np.nan  # one value, whatever its bits
    return numbers.dtype.str, numbers.tobytes()


def received(report: Any) -> bytes:
    """The bytes that one device sends, by its values: how it shows itself in Python, or of which type of number it is,
    is not sent.

    Args:
        report: a report of numbers, texts and bytes; or several of them, by place or by name.

    Raises:
        InvalidInput: something else, of which nobody knows what is sent.

    Example:
        >>> received(np.int64(3)) == received(3), received((3, True)) == received((3, False))
        (True, False)
    """
    return json.dumps(_sent(report), sort_keys=True).encode()


def _sent(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    match value:
        case None | str() | bool():
            return value
        case bytes():
            return {"bytes": value.hex()}
        case Integral():
            return int(value)
        case Real():
            return float(value).hex()
        case Mapping():
            return {"named": sorted([str(name), _sent(part)] for name, part in value.items())}
        case list() | tuple():
            return [_sent(part) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {"fields": {name: _sent(part) for name, part in attributes(value).items()}}
    raise InvalidInput("report", f"holds {type(value).__name__}", "must be numbers, texts or bytes, or several of them")
