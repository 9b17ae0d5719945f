"""Encoding of public values as canonical JSON and Arrow columns, and decoding without loss.

A dataclass becomes an object tagged with its wire name, under the wire names of its fields (`confide.contract.wire`).
An array becomes a column, which is named by the SHA-256 digest of the column's Arrow IPC bytes. A rational, a big
integer or an amount of money becomes a string. The decoder rebuilds only objects of the types that its caller lists.

A decoded value equals the encoded one, and encodes to the same bytes again. JSON has only one kind of number. A whole
float below 2^53 comes back as a float where a dataclass declares one, and as an equal integer inside a mapping or a
sequence. Sequences come back as tuples.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa

from confide.contract.digests import digest
from confide.contract.direction_marks import already_judged
from confide.contract.errors import InvalidInput
from confide.contract.upgrades import newest, type_said
from confide.contract.wire import named, wire_name, wire_of, wire_parts, word_of
from confide.contract.words import cause

__all__ = ["column_bytes", "decode", "encode", "table_from_bytes"]

_SAFE_INTEGER = 2**53 - 1
_FLOATS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
_TAGS = frozenset({"type", "column", "rational", "decimal", "integer", "float", "mapping"})
"""Keys that have a special meaning in an encoded object. A mapping that uses one of the special keys is written as a
list of pairs.
"""

_ARRAYS = "biufU"
"""Kinds of numpy arrays that can be columns: booleans, integers, floats and texts."""

_TEXTS_LIMIT = 1 << 28
"""Largest size of an array of texts in bytes; every text takes as many bytes as the longest."""

_ARROW = b"ARROW1\0\0"
_PLAIN = (pa.types.is_primitive, pa.types.is_decimal, pa.types.is_string, pa.types.is_large_string)
_RATIONAL = re.compile(r"-?[0-9]+/[0-9]+")


def column_bytes(array: np.ndarray | pa.Table) -> bytes:
    """An array or a table as one Arrow IPC file, whose bytes depend on the values alone."""
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
    """The table that `column_bytes` wrote; the bytes may come from a stranger.

    Raises:
        InvalidInput: the bytes are no Arrow file, the file is compressed or inconsistent, or a column holds neither
            numbers nor texts.
    """
    if not data.startswith(_ARROW):
        raise InvalidInput("column", "is not an Arrow file")
    # Behind its first bytes, an Arrow file is an Arrow stream; so every message is seen before it is read.
    stream = pa.py_buffer(data).slice(len(_ARROW))
    try:
        for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(stream)):
            if message.type == "record batch" and _compressed(message.metadata.to_pybytes()):
                raise InvalidInput("column", "is compressed",
                                   "must be uncompressed: a small file could fill the memory")
        with pa.ipc.open_stream(pa.BufferReader(stream)) as reader:
            for field in reader.schema:
                of = field.type
                lists = pa.types.is_list(of) or pa.types.is_large_list(of)
                kind = of.value_type if lists and pa.types.is_primitive(of.value_type) else of
                if not any(fits(kind) for fits in _PLAIN):
                    raise InvalidInput("column", f"{field.name!r} is of type {field.type}")
            table = reader.read_all()
        table.validate(full=True)
    except (OSError, pa.ArrowException, struct.error) as error:
        raise InvalidInput("column", f"is not a complete Arrow file: {cause(error)}") from None
    return table


def _compressed(message: bytes) -> bool:
    """Whether a record batch declares a compression, which is field 3 of the batch in FlatBuffers; the batch is field 2
    of the message.
    """

    def field(table: int, number: int) -> int:
        layout = table - int(struct.unpack_from("<i", message, table)[0])
        size, place = int(struct.unpack_from("<H", message, layout)[0]), 4 + 2 * number
        offset = int(struct.unpack_from("<H", message, layout + place)[0]) if place < size else 0
        return table + offset if offset else 0

    header = field(struct.unpack_from("<I", message, 0)[0], 2)
    if not header:
        return False
    return field(header + int(struct.unpack_from("<I", message, header)[0]), 3) != 0


def encode(value: Any, columns: dict[str, bytes]) -> Any:
    """A JSON-ready form of `value`. The arrays in `value` are added to `columns`, each under its digest.

    Args:
        value: a dataclass, mapping, sequence, array or scalar.
        columns: a mapping from digest to Arrow IPC bytes. The function adds the columns of `value` to the mapping.

    Raises:
        InvalidInput: a value has a type that cannot be encoded, or a key of a mapping is not a text.
    """
    if value is None or isinstance(value, str | bool):
        return word_of(value) if isinstance(value, Enum) else value
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
    parts = wire_parts(value)
    if "type" in parts:
        raise InvalidInput("value", f"{wire_name(value)} has a field 'type'",
                           "the name 'type' is reserved for the tag of the object")
    return {"type": wire_of(type(value)).tag, **{name: encode(part, columns) for name, part in parts.items()}}


def _encode_mapping(value: Mapping[Any, Any], columns: dict[str, bytes]) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in value):
        raise InvalidInput("value", "a mapping with keys that are not text cannot be written to a manifest")
    plain = {str(key): encode(item, columns) for key, item in value.items()}
    if _TAGS.isdisjoint(plain):
        return plain
    return {"mapping": [[key, plain[key]] for key in sorted(plain)]}


def _encode_float(real: float) -> Any:
    """A JSON number if it is read back unchanged, otherwise a tagged form. Canonical JSON loses the sign of -0.0 and
    the type of 1e20.
    """
    if math.isnan(real):
        return {"float": "NaN"}
    if math.isinf(real):
        return {"float": "Infinity" if real > 0 else "-Infinity"}
    if (real == 0.0 and math.copysign(1.0, real) < 0) or (abs(real) > _SAFE_INTEGER and real.is_integer()):
        return {"float": repr(real)}
    return real


def decode(value: Any, types: Mapping[str, type], columns: Mapping[str, bytes]) -> Any:
    """The value that `encode` encoded.

    Args:
        value: the JSON form that `encode` returned.
        types: mapping from wire name to dataclass, for all dataclasses that may be rebuilt.
        columns: mapping from a digest to Arrow IPC bytes.

    Raises:
        InvalidInput: the JSON form names an unknown type, or a type of a newer version; a column is missing or altered;
            or the form is one that `encode` never writes.
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
            case {"rational": str(text), **rest} if not rest and _RATIONAL.fullmatch(text):
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
    data = columns.get(name)
    if data is None or digest(data) != name:
        raise InvalidInput("column", f"{name} is missing or altered", "its SHA-256 must equal its name")
    kind = np.dtype(dtype)
    if kind.kind not in _ARRAYS or not all(type(side) is int and side >= 0 for side in shape):
        raise InvalidInput("column", f"{name} cannot be of type {dtype!r} and shape {shape!r}")
    table = table_from_bytes(data)
    if table.column_names != ["values"]:  # what nobody reads must not be there
        raise InvalidInput("column", f"{name} holds more than one array")
    values = table["values"]
    if kind.kind == "U" and kind.itemsize * len(values) > _TEXTS_LIMIT:
        raise InvalidInput("column", f"{name} takes {kind.itemsize * len(values)} bytes",
                           f"must be at most {_TEXTS_LIMIT}")
    return np.asarray(values.to_numpy(zero_copy_only=False).astype(kind, copy=False).reshape(shape))


def _decode_dataclass(value: dict[str, Any], types: Mapping[str, type], columns: Mapping[str, bytes]) -> Any:
    said = type_said(value, "type")
    name = named(said)[0] if isinstance(said, str) else ""
    if name not in types:
        raise InvalidInput("type", f"{said!r} is not a type of this kind", f"known: {', '.join(types)}")
    kind = types[name]
    found, written = newest(value, "type", kind), wire_of(kind)
    parts = {**written.absent, **{key: decode(item, types, columns) for key, item in found.items() if key != "type"}}
    _check_names(name, kind, parts)
    hints, given = _hints(kind), dict[str, Any]()
    for own, key in written.fields.items():
        if key not in parts:  # it has a default
            continue
        part, hint = written.read(own, parts[key]), hints.get(own, Any)
        if type(part) is int and _fits(0.5, hint) and not _fits(part, hint):
            part = float(part)
        if not _fits(part, hint):
            raise InvalidInput(key, f"is of type {wire_name(part)}, which this field of {name} does not accept")
        given[own] = part
    try:
        with already_judged():
            return kind(**given)
    except TypeError:
        raise InvalidInput("type", f"{name} cannot be rebuilt from {', '.join(sorted(parts))}") from None


def _check_names(name: str, kind: type, parts: Mapping[str, Any]) -> None:
    """Check that an object has exactly the fields that its type is written with."""
    known = wire_of(kind).fields
    more = sorted(parts.keys() - set(known.values()))
    if more:
        raise InvalidInput("type", f"{name} cannot be rebuilt: {more[0]!r} is not one of its fields",
                           f"its fields are {', '.join(known.values()) or 'none'}")
    missing = [known[each.name] for each in fields(kind) if each.name in known and known[each.name] not in parts
               and each.default is MISSING and each.default_factory is MISSING]
    if missing:
        raise InvalidInput("type", f"{name} cannot be rebuilt: missing fields: {', '.join(missing)}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The declared types of a dataclass's fields, by their names in Python; empty if they cannot be resolved at run
    time.
    """
    try:
        return get_type_hints(kind)
    except (NameError, TypeError):
        return {}


def _fits(value: Any, hint: Any) -> bool:
    """Whether a decoded value has the declared type `hint`; True if the type cannot be checked."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, option) for option in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    kind = origin or hint
    if kind is None or kind is NoneType:
        return value is None
    if not isinstance(kind, type) or kind is Any or getattr(kind, "_is_protocol", False):
        return True
    if issubclass(kind, Enum):  # comes back as its word
        return any(value in (member.value, word_of(member)) for member in kind)
    if isinstance(value, bool):
        return issubclass(bool, kind) and kind is not int
    if isinstance(value, tuple):  # whatever the sequence was, it comes back as a tuple
        return issubclass(kind, Sequence) or kind is object
    return isinstance(value, kind)
