"""Bytes of everything in an outcome that all people other than one participant see together, and bytes of everything
that a collector receives from one device.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa

from confide.audit.value_bytes import attributes, exact_bytes
from confide.contract.digests import canonical
from confide.contract.errors import InvalidInput

__all__ = ["published", "received"]

_PRIVATE = ("shares", "diagnostics")
_WHOLE = ("mechanism", "guarantees", "provenance")  # what the manifest says of them is all


def published(outcome: Any, index: int | None = None) -> bytes:
    """Bytes of the published outcome: the public manifest and its columns, all other contents of the outcome, its
    billboard and its certificate, all shares but one, and the layout of the shares.

    Args:
        outcome: outcome of a run.
        index: position of the person whose share is left out, from 0; None to leave out no share.
    """
    shares = outcome.shares
    others = {name: _but_one(shares.column(name), index) for name in shares.column_names}
    beside = {name: part for name, part in attributes(outcome).items() if name not in (*_PRIVATE, *_WHOLE)}
    manifest, columns = outcome.public()
    return b"\n".join([repr(sorted(others.items())).encode(), exact_bytes(sorted(beside.items())), canonical(manifest),
                       *(columns[name] for name in sorted(columns)), shares.schema.serialize().to_pybytes()])


def _but_one(column: pa.ChunkedArray, index: int | None) -> Any:
    """Values of a column without one place, in a form that can be compared. The comparison is fast for numbers without
    missing entries.
    """
    if column.null_count or not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        values = column.to_pylist()
        return values if index is None else values[:index] + values[index + 1:]
    numbers = column.to_numpy().copy() if index is None else np.delete(column.to_numpy(), index)
    if numbers.dtype.kind == "f":
        numbers[np.isnan(numbers)] = np.nan  # one value, whatever its bits
    return numbers.dtype.str, numbers.tobytes()


def received(report: Any) -> bytes:
    """The bytes that one device sends, by the values in its report. The Python representation of a value, and the type
    of a number, are not sent.

    Args:
        report: a report of numbers, texts and bytes, or a sequence or mapping of such reports.

    Raises:
        InvalidInput: the report holds a value of another type, for which the sent bytes are unknown.

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
