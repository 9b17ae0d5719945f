"""Public values as canonical JSON plus Arrow columns, and back without loss.

A dataclass becomes an object tagged with its type's name; an array becomes a column, named by the SHA-256 of its Arrow
IPC bytes; a rational, a big integer or money becomes a string. Only types that the reader names are ever rebuilt.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import rfc8785

from confide.contract.errors import InvalidInput

__all__ = ["canonical", "column_bytes", "decode", "digest", "encode", "table_from_bytes"]

_SAFE_INTEGER = 2**53 - 1
_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}


def canonical(value: Any) -> bytes:
    """RFC 8785 canonical JSON of a JSON-ready value."""
    return rfc8785.dumps(value)


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def column_bytes(array: np.ndarray | pa.Table) -> bytes:
    """An array, or a table, as one Arrow IPC file; the bytes depend on the values alone."""
    if isinstance(array, np.ndarray):
        array = pa.table({"values": pa.array(np.ascontiguousarray(array).reshape(-1))})
    table = array.combine_chunks().replace_schema_metadata(None)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def table_from_bytes(data: bytes) -> pa.Table:
    """The table written by `column_bytes`."""
    with pa.ipc.open_file(pa.BufferReader(data)) as reader:
        return reader.read_all()


def encode(value: Any, columns: dict[str, bytes]) -> Any:
    """A JSON-ready form of `value`; arrays are added to `columns` under their digest.

    Args:
        value: a dataclass, mapping, sequence, array or scalar.
        columns: receives digest -> Arrow IPC bytes.
    """
    if value is None or isinstance(value, str | bool):
        return value.value if isinstance(value, Enum) else value
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__,
                **{f.name: encode(getattr(value, f.name), columns) for f in fields(value) if f.init}}
    if isinstance(value, Mapping):
        return {str(key): encode(item, columns) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        data = column_bytes(value)
        name = digest(data)
        columns[name] = data
        return {"column": name, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, list | tuple):
        return [encode(item, columns) for item in value]
    if isinstance(value, Fraction):
        return {"rational": f"{value.numerator}/{value.denominator}"}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, int | np.integer):
        number = int(value)
        return number if abs(number) <= _SAFE_INTEGER else {"integer": str(number)}
    if isinstance(value, float | np.floating):
        real = float(value)
        if math.isnan(real):
            return {"float": "NaN"}
        return real if math.isfinite(real) else {"float": "Infinity" if real > 0 else "-Infinity"}
    raise InvalidInput("value", f"{type(value).__name__} cannot be written to a manifest")


def decode(value: Any, types: Mapping[str, type], columns: Mapping[str, bytes]) -> Any:
    """The inverse of `encode`.

    Args:
        value: the JSON form.
        types: the dataclasses that may be rebuilt, by name.
        columns: digest -> Arrow IPC bytes.

    Raises:
        InvalidInput: an unknown type, or a column that is missing or altered.
    """
    if isinstance(value, list):
        return tuple(decode(item, types, columns) for item in value)
    if not isinstance(value, dict):
        return value
    match value:
        case {"column": str(name), "dtype": str(dtype), "shape": list(shape)}:
            if name not in columns or digest(columns[name]) != name:
                raise InvalidInput("column", f"{name} is missing or altered", "its SHA-256 must equal its name")
            flat = table_from_bytes(columns[name])["values"].to_numpy(zero_copy_only=False)
            return flat.astype(np.dtype(dtype), copy=False).reshape(shape)
        case {"rational": str(text)}:
            return Fraction(text)
        case {"decimal": str(text)}:
            return Decimal(text)
        case {"integer": str(text)}:
            return int(text)
        case {"float": "NaN"}:
            return math.nan
        case {"float": str(text)} if text in _INFINITIES:
            return _INFINITIES[text]
        case {"type": str(name), **rest}:
            if name not in types:
                raise InvalidInput("type", f"{name!r} is not a type of this kind", f"known: {', '.join(types)}")
            return types[name](**{key: decode(item, types, columns) for key, item in rest.items()})
        case _:
            return {key: decode(item, types, columns) for key, item in value.items()}
