"""Conversion of any value into bytes that contain the whole content of the value. Two values have equal bytes exactly
if they agree in every bit of every element.

If a class is written in another language than Python and keeps contents outside its attributes, these contents are read
in the way in which Python copies the object (`__reduce_ex__`). An object that cannot be copied, such as a generator,
cannot be compared either. Such an object raises an error, and never counts as equal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import ReferenceType

import numpy as np
import pyarrow as pa

from confide.contract.errors import InvalidInput

__all__ = ["attributes", "exact_bytes"]

_PLAIN = (type(None), bool, int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset)
_WORD = 8  # bytes of a pointer
_COPIED = 4  # protocol of `__reduce_ex__`: lists and mappings come as iterators


def exact_bytes(value: Any) -> bytes:
    """Bytes of all contents of a value. The bytes do not depend on the printed form of the value, such as the printed
    digits of a number, the abbreviation of an array, or the fields that an object prints.

    Args:
        value: numbers, texts, arrays with their masks, tables, mappings, sequences, functions with their closures, and
            objects of any class. An object is read by its attributes and by the contents of a copy. NaN is one value,
            whatever its bits.

    Raises:
        InvalidInput: the value contains something that cannot be compared, such as a generator or an open file.

    Example:
        >>> import numpy as np
        >>> one, other = np.zeros(2000), np.zeros(2000)
        >>> other[1000] = 1e-12
        >>> repr(one) == repr(other), exact_bytes({"a": one}) == exact_bytes({"a": other})
        (True, False)
        >>> try:
        ...     exact_bytes(number for number in (1, 2))
        ... except InvalidInput as refused:
        ...     print(refused.problem)
        cannot compare such a value: a generator
    """
    return b"".join(_pieces(value, ()))


def _pieces(value: Any, above: tuple[int, ...]) -> Iterable[bytes]:
    """Pieces of the bytes in order. Each piece begins with its kind and its length, so that no two values have the same
    bytes.
    """
    if id(value) in above:
        return [_piece("above", b"%d" % above.index(id(value)))]
    inside = (*above, id(value))
    match value:
        case Enum():
            return [_piece("named", f"{_address(type(value))}.{value.name}".encode())]
        case np.generic() | np.ndarray():
            return [*_array(value, inside), *_beside(value, inside)]
        case None | bool() | int():
            digits = "" if value is None else hex(value)
            return [_piece(type(value).__name__, digits.encode()), *_beside(value, inside)]
        case str():
            return [_piece(type(value).__name__, str.encode(value, "utf-8", "surrogatepass")), *_beside(value, inside)]
        case float():
            return [_piece(type(value).__name__, float.hex(value).encode()), *_beside(value, inside)]
        case bytes() | bytearray() | memoryview():
            return [_piece(type(value).__name__, bytes(value)), *_beside(value, inside)]
        case pa.Table() | pa.RecordBatch():
            return [_piece("table", value.schema.serialize().to_pybytes()), *_several(value.to_pydict(), inside)]
        case pa.Array() | pa.ChunkedArray() | pa.Scalar():
            return [_piece(str(value.type), b""), *_pieces(value.to_pylist() if hasattr(value, "to_pylist") else
                                                           value.as_py(), inside)]
        case dict():
            return [*_several(value, inside), *_beside(value, inside)]
        case set() | frozenset():
            found = b"".join(sorted(b"".join(_pieces(one, inside)) for one in value))
            return [_piece(type(value).__name__, found), *_beside(value, inside)]
        case list() | tuple():
            return [_piece(type(value).__name__, _joined(value, inside)), *_beside(value, inside)]
        case ReferenceType():
            return [_piece("reference", b""), *_pieces(value(), inside)]
    return _code(value, inside) or _object(value, inside)


def _piece(kind: str, content: bytes) -> bytes:
    return b"%s %d:%s" % (kind.encode(), len(content), content)


def _joined(values: Iterable[Any], above: tuple[int, ...]) -> bytes:
    return b"".join(b"".join(_pieces(one, above)) for one in values)


def _several(value: Mapping[Any, Any], above: tuple[int, ...]) -> list[bytes]:
    inside = [b"".join((*_pieces(name, above), *_pieces(part, above))) for name, part in value.items()]
    return [_piece(type(value).__name__, b"".join(inside))]


def _beside(value: Any, above: tuple[int, ...]) -> list[bytes]:
    """Contents of an object besides its number, text, array or sequence, if its class is derived from one of these
    types.
    """
    if type(value) in _PLAIN:
        return []
    held = attributes(value)
    factory = {"default_factory": value.default_factory} if hasattr(value, "default_factory") else {}
    return _several(held | factory, above) if held or factory else []


def _array(value: Any, above: tuple[int, ...]) -> list[bytes]:
    kind, plain = type(value).__name__, np.asarray(value)
    if isinstance(value, np.ma.MaskedArray):  # the values under the mask count too
        plain = np.asarray(value.data)
        return [*_numbers(plain, kind, above), *_numbers(np.ma.getmaskarray(value), "mask", above)]
    return _numbers(plain, kind, above)


def _numbers(value: np.ndarray, kind: str, above: tuple[int, ...]) -> list[bytes]:
    shape = f"{kind} {value.dtype.str} {value.shape}"
    if value.dtype.names is not None:
        columns = ((*_pieces(name, above), *_numbers(np.asarray(value[name]), kind, above))
                   for name in value.dtype.names)
        return [_piece(shape, b"".join(b"".join(each) for each in columns))]
    if value.dtype.hasobject:
        return [_piece(shape, _joined(value.ravel().tolist(), above))]
    if value.dtype.kind == "c":
        return [_piece(shape, b""), *_numbers(value.real, kind, above), *_numbers(value.imag, kind, above)]
    if value.dtype.kind == "f":
        value = np.where(np.isnan(value), np.array(np.nan, value.dtype), value)
        if value.dtype.itemsize > _WORD:  # its bytes are padded with whatever was there
            with np.errstate(invalid="ignore"):
                high = value.astype(np.float64)
                return [_piece(shape, high.tobytes()), *_numbers((value - high).astype(np.float64), kind, above)]
    return [_piece(shape, value.tobytes())]


# ---- functions and classes


def _code(value: Any, above: tuple[int, ...]) -> list[bytes]:
    """Bytes of a function, a class or a module: its name, if a module holds it under this name, and everything in its
    closure.
    """
    match value:
        case ModuleType():
            return [_piece("module", value.__name__.encode())]
        case type():
            own = {} if _found(value) else {name: part for name, part in vars(value).items()
                                            if name not in ("__dict__", "__weakref__", "__doc__")}
            return [_piece("named", _address(value).encode()), *(_several({"bases": value.__bases__, **own}, above)
                                                                 if own else [])]
        case FunctionType():
            cells = [cell.cell_contents if _filled(cell) else None for cell in value.__closure__ or ()]
            held = {"closure": cells, "defaults": value.__defaults__, "more": value.__kwdefaults__, **vars(value)}
            code = [] if _found(value) else _pieces(value.__code__, above)
            return [_piece("named", _address(value).encode()), *code, *_several(held, above)]
        case CodeType():
            return [_piece("code", value.co_code), *_pieces([*value.co_names, *value.co_varnames], above),
                    *_pieces(list(value.co_consts), above)]
        case MethodType():
            return [_piece("method", b""), *_pieces(value.__func__, above), *_pieces(value.__self__, above)]
        case BuiltinFunctionType():
            owner = value.__self__
            return [_piece("named", f"{value.__module__}.{value.__qualname__}".encode()),
                    *([] if owner is None or isinstance(owner, ModuleType) else _pieces(owner, above))]
        case partial():
            return [_piece("partial", b""), *_pieces([value.func, value.args, value.keywords, vars(value)], above)]
        case staticmethod() | classmethod():
            return [_piece(type(value).__name__, b""), *_pieces(value.__func__, above)]
        case property():
            return [_piece("property", b""), *_pieces([value.fget, value.fset, value.fdel], above)]
    return []


def _address(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _found(value: Any) -> bool:
    """Whether the object's module holds this very object under its name."""
    held: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        held = getattr(held, name, None)
    return held is value


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


# ---- objects


def _object(value: Any, above: tuple[int, ...]) -> list[bytes]:
    name, held = type(value).__qualname__, attributes(value)
    if not _holds_more(type(value)):
        try:
            return [_piece(name, b""), *_several(held, above)]
        except InvalidInput:  # such as caches, where the class says itself what a copy is made of
            if not any("__reduce__" in vars(each) for each in type(value).__mro__[:-1]):
                raise
            held = {}
    try:
        copied = value.__reduce_ex__(_COPIED)
    except Exception as refusal:
        raise InvalidInput("value", f"cannot compare such a value: a {name}",
                           "must be made of numbers, texts, arrays, tables, sequences, mappings and objects of these"
                           ) from refusal
    if isinstance(copied, str):
        return [_piece(name, copied.encode()), *_several(held, above)]
    # What makes it, of what; its state, and what is then put in, by place and by name.
    parts = [list(part) if at in (3, 4) and part is not None else part for at, part in enumerate(copied)]
    return [_piece(name, _joined(parts, above)), *_several(held, above)]


def _holds_more(kind: type) -> bool:
    """Whether objects of a class have more contents than their attributes, judged by their size."""
    attributed = len([name for each in kind.__mro__ for name in _names(vars(each).get("__slots__", ()))
                      if name not in ("__dict__", "__weakref__")])
    known = attributed + (kind.__dictoffset__ != 0) + (kind.__weakrefoffset__ != 0)
    return kind.__itemsize__ != 0 or kind.__basicsize__ > object.__basicsize__ + _WORD * known


def attributes(value: Any) -> dict[str, Any]:
    """Mapping from the name to the value of an object's fields, whether in slots or not. Cached values, which the
    object computed from its other fields, are left out.
    """
    known = {one.name: getattr(value, one.name, None) for one in fields(value)} if is_dataclass(value) else {}
    slots = (_mangled(each, name) for each in type(value).__mro__ for name in _names(vars(each).get("__slots__", ())))
    known |= {name: getattr(value, name) for name in slots if not _dunder(name) and hasattr(value, name)}
    known |= getattr(value, "__dict__", {})
    return {name: part for name, part in known.items()
            if not isinstance(getattr(type(value), name, None), cached_property)}


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _mangled(kind: type, name: str) -> str:
    """Name of a private slot as seen from outside its class."""
    return f"_{kind.__name__.lstrip('_')}{name}" if name.startswith("__") and not _dunder(name) else name


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
