"""Any value as bytes that tell all of it: where they are alike two values are, to the last bit and element."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["attributes", "exact_bytes"]


def exact_bytes(value: Any) -> bytes:
    """All that a value holds. How it prints plays no part: not the digits of a number, the length of an array, or the
    fields that an object shows.

    Args:
        value: numbers, texts, arrays, tables, mappings, sequences, and objects of any class, by their attributes. NaN
            is one value, whatever its bits.

    Example:
        >>> import numpy as np
        >>> one, other = np.zeros(2000), np.zeros(2000)
        >>> other[1000] = 1e-12
        >>> repr(one) == repr(other), exact_bytes({"a": one}) == exact_bytes({"a": other})
        (True, False)
    """
    return b"".join(_pieces(value, ()))


def _pieces(value: Any, above: tuple[int, ...]) -> Iterable[bytes]:
    """One after the other; each begins with its kind and its length, so that no two values have the same."""
    if id(value) in above:
        return [_piece("above", b"%d" % above.index(id(value)))]
    inside = (*above, id(value))
    match value:
        case None | bool() | int() | str():
            return [_piece(type(value).__name__, str(value).encode("utf-8", "surrogatepass"))]
        case float():
            return [_piece(type(value).__name__, value.hex().encode())]
        case bytes() | bytearray() | memoryview():
            return [_piece(type(value).__name__, bytes(value))]
        case np.generic() | np.ndarray():
            return _array(np.asarray(value), type(value).__name__, inside)
        case pa.Table() | pa.RecordBatch():
            return [_piece("table", value.schema.serialize().to_pybytes()), *_several(value.to_pydict(), inside)]
        case pa.Array() | pa.ChunkedArray() | pa.Scalar():
            return [_piece(str(value.type), b""), *_pieces(value.to_pylist() if hasattr(value, "to_pylist") else
                                                           value.as_py(), inside)]
        case Mapping():
            return _several(value, inside)
        case set() | frozenset():
            return [_piece(type(value).__name__, b"".join(sorted(b"".join(_pieces(one, inside)) for one in value)))]
        case list() | tuple():
            return [_piece(type(value).__name__, b"".join(b"".join(_pieces(one, inside)) for one in value))]
        case type() | FunctionType():
            return [_piece("named", f"{value.__module__}.{value.__qualname__}".encode())]
    name, held = type(value).__qualname__, attributes(value)
    shows: Any = type(value).__repr__
    if not held and shows is not object.__repr__:  # such as a date
        return [_piece(name, repr(value).encode("utf-8", "surrogatepass"))]
    return [_piece(name, b""), *_several(held, inside)]


def _piece(kind: str, content: bytes) -> bytes:
    return b"%s %d:%s" % (kind.encode(), len(content), content)


def _several(value: Mapping[Any, Any], above: tuple[int, ...]) -> list[bytes]:
    inside = [b"".join((*_pieces(name, above), *_pieces(part, above))) for name, part in value.items()]
    return [_piece(type(value).__name__, b"".join(inside))]


def _array(value: np.ndarray, kind: str, above: tuple[int, ...]) -> list[bytes]:
    shape = f"{kind} {value.dtype.str} {value.shape}"
    if value.dtype.hasobject:
        return [_piece(shape, b"".join(b"".join(_pieces(one, above)) for one in value.ravel().tolist()))]
    if value.dtype.kind in "fc":
        value = np.where(np.isnan(value), np.array(np.nan, value.dtype), value)
    return [_piece(shape, value.tobytes())]


def attributes(value: Any) -> dict[str, Any]:
    """What an object holds, fields, slots or neither, but for what it computed from the rest of it."""
    known = {one.name: getattr(value, one.name, None) for one in fields(value)} if is_dataclass(value) else {}
    slots = (name for each in type(value).__mro__ for name in _names(getattr(each, "__slots__", ())))
    known |= {name: getattr(value, name) for name in slots if not name.startswith("__") and hasattr(value, name)}
    known |= getattr(value, "__dict__", {})
    return {name: part for name, part in known.items()
            if not isinstance(getattr(type(value), name, None), cached_property)}


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)
