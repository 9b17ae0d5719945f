"""Public values as canonical JSON plus Arrow columns, and back without loss.

A dataclass becomes an object tagged with its type's name; an array becomes a column, named by the SHA-256 of its Arrow
IPC bytes; a rational, a big integer or money becomes a string. Only types that the reader names are ever rebuilt.

Values come back equal, and encode to the same bytes again. JSON has one kind of number: a whole float below 2^53 comes
back as a float where a dataclass declares one, and as an equal integer inside a mapping or a sequence; sequences come
back as tuples.
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
_FLOATS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
_TAGS = frozenset({"type", "column", "rational", "decimal", "integer", "float", "mapping"})
"""Keys with a meaning of their own; a mapping that uses one is written as a list of pairs."""

_ARRAYS = "biufU"
"""Kinds of arrays that can be columns: booleans, integers, floats, texts."""


def canonical(value: Any) -> bytes:
    """RFC 8785 canonical JSON of a JSON-ready value."""
    return rfc8785.dumps(value)


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def column_bytes(array: np.ndarray | pa.Table) -> bytes:
    """An array, or a table, as one Arrow IPC file; the bytes depend on the values alone."""
    if isinstance(array, np.ndarray):
        if array.dtype.kind not in _ARRAYS:
            raise InvalidInput("value", f"an array of type {array.dtype} cannot be written to a manifest")
        flat = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(-1)
        try:
            array = pa.table({"values": pa.array(flat)})
        except pa.ArrowException:
            raise InvalidInput("value", f"an array of type {array.dtype} cannot be written to a manifest") from None
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

    Raises:
        InvalidInput: a type that has no form here, or a mapping whose keys are not text.
    """
    if value is None or isinstance(value, str | bool):
        return value.value if isinstance(value, Enum) else value
    if is_dataclass(value) and not isinstance(value, type):
        return _encode_dataclass(value, columns)
    if isinstance(value, Mapping):
        return _encode_mapping(value, columns)
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
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        number = int(value)
        return number if abs(number) <= _SAFE_INTEGER else {"integer": str(number)}
    if isinstance(value, float | np.floating):
        return _encode_float(float(value))
    raise InvalidInput("value", f"{type(value).__name__} cannot be written to a manifest")


def _encode_dataclass(value: Any, columns: dict[str, bytes]) -> dict[str, Any]:
    names = [item.name for item in fields(value) if item.init]
    if "type" in names:
        raise InvalidInput("value", f"{type(value).__name__} has a field 'type'", "its tag has that name")
    return {"type": type(value).__name__, **{name: encode(getattr(value, name), columns) for name in names}}


def _encode_mapping(value: Mapping[Any, Any], columns: dict[str, bytes]) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in value):
        raise InvalidInput("value", "a mapping with keys that are not text cannot be written to a manifest")
    plain = {str(key): encode(item, columns) for key, item in value.items()}
    if _TAGS.isdisjoint(plain):
        return plain
    return {"mapping": [[key, plain[key]] for key in sorted(plain)]}


def _encode_float(real: float) -> Any:
    """A JSON number where it comes back as it was; canonical JSON loses the sign of -0.0 and the type of 1e20."""
    if math.isnan(real):
        return {"float": "NaN"}
    if math.isinf(real):
        return {"float": "Infinity" if real > 0 else "-Infinity"}
    if (real == 0.0 and math.copysign(1.0, real) < 0) or (abs(real) > _SAFE_INTEGER and real.is_integer()):
        return {"float": repr(real)}
    return real


def decode(value: Any, types: Mapping[str, type], columns: Mapping[str, bytes]) -> Any:
    """The inverse of `encode`.

    Args:
        value: the JSON form.
        types: the dataclasses that may be rebuilt, by name.
        columns: digest -> Arrow IPC bytes.

    Raises:
        InvalidInput: an unknown type, a column that is missing or altered, or a form that `encode` never writes.
    """
    if isinstance(value, list):
        return tuple(decode(item, types, columns) for item in value)
    if not isinstance(value, dict):
        return value
    if "type" in value:
        return _decode_dataclass(value, types, columns)
    if _TAGS.isdisjoint(value):
        return {key: decode(item, types, columns) for key, item in value.items()}
    try:
        match value:
            case {"column": str(name), "dtype": str(dtype), "shape": list(shape), **rest} if not rest:
                return _decode_column(name, dtype, shape, columns)
            case {"mapping": list(pairs), **rest} if not rest:
                return {str(key): decode(item, types, columns) for key, item in pairs}
            case {"rational": str(text), **rest} if not rest:
                return Fraction(text)
            case {"decimal": str(text), **rest} if not rest:
                return Decimal(text)
            case {"integer": str(text), **rest} if not rest:
                return int(text)
            case {"float": str(text), **rest} if not rest:
                return _FLOATS[text] if text in _FLOATS else float(text)
    except InvalidInput:
        raise
    except (ArithmeticError, ValueError, TypeError, pa.ArrowException):
        pass
    raise InvalidInput("value", f"an object with the keys {', '.join(sorted(value))} cannot be read")


def _decode_column(name: str, dtype: str, shape: list[Any], columns: Mapping[str, bytes]) -> np.ndarray:
    if name not in columns or digest(columns[name]) != name:
        raise InvalidInput("column", f"{name} is missing or altered", "its SHA-256 must equal its name")
    kind = np.dtype(dtype)
    if kind.kind not in _ARRAYS or not all(isinstance(side, int) and side >= 0 for side in shape):
        raise InvalidInput("column", f"{name} cannot be of type {dtype!r} and shape {shape!r}")
    flat = table_from_bytes(columns[name])["values"].to_numpy(zero_copy_only=False)
    return np.asarray(flat.astype(kind, copy=False).reshape(shape))


def _decode_dataclass(value: dict[str, Any], types: Mapping[str, type], columns: Mapping[str, bytes]) -> Any:
    name = value["type"]
    if not isinstance(name, str) or name not in types:
        raise InvalidInput("type", f"{name!r} is not a type of this kind", f"known: {', '.join(types)}")
    parts = {key: decode(item, types, columns) for key, item in value.items() if key != "type"}
    for item in fields(types[name]):
        part = parts.get(item.name)
        if item.type in (float, "float", "float | None") and isinstance(part, int) and not isinstance(part, bool):
            parts[item.name] = float(part)
    try:
        return types[name](**parts)
    except TypeError:
        raise InvalidInput("type", f"{name} cannot be rebuilt from {', '.join(sorted(parts))}") from None
