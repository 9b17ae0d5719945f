"""Records from tables, with one row for each slot, the place of one possible participant. Each row is checked without
any other row.

A row with a number outside its public range is bad. A row of a table is also bad if it has a wrong number of cells, or
cells that are no numbers. The holder of a table gets an error that names the number of a bad row. In a release a bad
row counts as the null record, since no output that others see may reveal that the row is bad. The number of rows is
public, and so are the shape and the type of an array, which are the same for all rows. Rows of a list are read one
after the other, whatever they contain, so that an unusual row is handled by the same code as all other rows.

The module also calls methods of objects that come from participants. An error that an object raises is caught and does
not affect other participants.

The methods of participants' objects run on a separate thread. Signals reach only the main thread, so an interrupt that
an object raises can be distinguished from the operator's interrupt. The object's interrupt counts as no answer. The
operator's interrupt ends the run at once, even while an object does not return.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from decimal import Decimal
from itertools import islice
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.remedies import within
from confide.contract.words import counted
from confide.programs.grids import values_near

__all__ = [
    "answered",
    "bad_rows",
    "cells",
    "each_aside",
    "is_row",
    "number",
    "numbers",
    "one_row",
    "refused_or_null",
    "row",
    "value_units",
]

# ---- anybodys

_ANSWER = TypeVar("_ANSWER")
_ASKED = TypeVar("_ASKED")


def answered(ask: Callable[[], _ANSWER], otherwise: _ANSWER) -> _ANSWER:
    """The result of a function, or a default result if the function raises any error. The call must come from another
    thread than the main thread, which receives interrupts.

    Args:
        ask: function that runs the code of an object from a participant.
        otherwise: result if `ask` raises an error.

    Example:
        >>> answered(lambda: 1 // 0, -1)
        -1
    """
    try:
        return ask()
    except BaseException:  # noqa: BLE001, others would see an error, and what it says; interrupts come to the main thread
        return otherwise


def each_aside(ask: Callable[[_ASKED], _ANSWER], of: Iterable[_ASKED]) -> list[_ANSWER]:
    """Results of `ask` for each object, computed one after the other on another thread than the main thread.

    Args:
        ask: function of one object. The function must catch all errors of the object, for example by `answered`.
        of: objects, which `ask` receives one by one.

    Raises:
        KeyboardInterrupt: the operator interrupts the program.

    Example:
        >>> def leave(place):
        ...     raise SystemExit(place)
        >>> each_aside(lambda place: answered(lambda: leave(place), None), range(2))
        [None, None]
    """
    if threading.current_thread() is not threading.main_thread():
        return [ask(one) for one in of]
    found: list[_ANSWER] = []
    faults: list[BaseException] = []
    stopped = threading.Event()

    def work() -> None:
        try:
            for one in of:
                if stopped.is_set():
                    return
                found.append(ask(one))
        except BaseException as fault:  # noqa: BLE001, raised again where it was asked for
            faults.append(fault)

    thread = threading.Thread(target=copy_context().run, args=(work,), daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        stopped.set()
        raise
    if faults:
        raise faults[0]
    return found


# ---- tables

_CHUNK = 1 << 22
_PLAIN = {float, int, bool}


def numbers(name: str, data: Any, shape: tuple[int, ...], unusable: Unusable) -> NDArray[Any]:
    """A table as an array of the given shape: float32 for a float32 array, and float64 for all other data. If bad rows
    count as null, a row of a list without the required numbers becomes NaN.

    Args:
        name: name of the field, for error messages.
        data: an array, or a list of rows.
        shape: required shape, with the number of rows first.
        unusable: treatment of a row without the required numbers. "refuse" refuses the whole table, and "null" fills
            the row with NaN.

    Raises:
        InvalidInput: the data are no table, have a wrong number of rows, or are an array of a wrong shape or type; or a
            row lacks the required numbers, and bad rows are refused.

    Example:
        >>> numbers("records", [[1, 0.5], None, [0.25], ["1", 0]], (4, 2), "null").tolist()
        [[1.0, 0.5], [nan, nan], [nan, nan], [nan, nan]]
    """
    limit = f"must be numbers of shape {shape}"
    if hasattr(type(data), "__array__"):
        try:
            table = np.asarray(data)
        except (ValueError, TypeError):
            raise InvalidInput(name, "is not a table of numbers", limit) from None
        if table.dtype.kind in "fiub":
            if table.shape != shape:
                raise InvalidInput(name, f"its shape is {table.shape}", f"must be {shape}")
            return np.ascontiguousarray(table, dtype=np.float32 if table.dtype == np.float32 else np.float64)
        if table.dtype.kind != "O" or not table.ndim:
            raise InvalidInput(name, f"an array of {table.dtype}", limit)
        data = table.tolist()
    if not isinstance(data, Sequence) or isinstance(data, str | bytes | bytearray):
        raise InvalidInput(name, f"{type(data).__name__} is not a table of numbers", limit)
    if len(data) != shape[0]:
        raise InvalidInput(name, counted(len(data), "row"), limit)
    table = np.full(shape, np.nan)

    def put(place: int, one: Any) -> bool:
        table[place] = cells(one, shape[1:])
        return True

    fine = each_aside(lambda numbered: answered(lambda: put(*numbered), False), enumerate(islice(data, shape[0])))
    refused_or_null(name, ~np.array(fine), f"must be {_wanted(shape[1:])}", unusable)
    return table


def cells(given: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """One participant's numbers as float64 of the given shape. Strings are refused.

    Args:
        given: an array, or nested lists of numbers.
        shape: required shape.

    Raises:
        BaseException: the value is neither an array nor nested lists of numbers; or any error that the object raises.

    Example:
        >>> cells(([1, True], [0.5, np.int8(2)]), (2, 2)).tolist()
        [[1.0, 1.0], [0.5, 2.0]]
    """
    kind = type(given)  # not what it says that it is
    if (kind is list or kind is tuple) and len(shape) == 1 and len(given) == shape[0] and _PLAIN.issuperset(
            map(type, given)):  # nearly all there are; the rest of this would take ten times as long
        return np.array(given, dtype=np.float64)
    if not issubclass(kind, np.ndarray | list | tuple) and shape and hasattr(kind, "__array__"):
        given = np.asarray(given)
        kind = type(given)
    if issubclass(kind, np.ndarray):
        table = np.asarray(given)
        if table.dtype.kind == "O":
            return cells(table.tolist(), shape)
        if table.dtype.kind not in "fiub" or table.shape != shape:
            raise TypeError
        return np.asarray(table, dtype=np.float64)
    if not shape:
        return np.array(number(given))
    if not isinstance(given, Sequence) or isinstance(given, str | bytes | bytearray):
        raise TypeError
    items = list(islice(given, shape[0] + 1))
    if len(items) != shape[0]:
        raise TypeError
    return np.array([cells(one, shape[1:]) for one in items], dtype=np.float64).reshape(shape)


def number(given: Any) -> float:
    """A number as a float. An instance of a subclass of float or int gives its stored number, even if the subclass
    overrides methods.

    Args:
        given: any value.

    Raises:
        BaseException: the value is no number; or any error that the object raises.
    """
    kind = type(given)
    if issubclass(kind, float):
        return float.__add__(given, 0.0)
    if issubclass(kind, int):
        return float(int.__add__(given, 0))
    if given.dtype.kind in "fiub" if issubclass(kind, np.generic) else isinstance(given, Real | Decimal):
        return float(given)  # a duration of numpy is a whole number to it
    raise TypeError


def is_row(given: Any) -> bool:
    """Whether a value is a row of numbers and not a single number, according to its type.

    Args:
        given: row of numbers, or a single number.
    """
    return isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1)


def row(name: str, record: Any, shape: tuple[int, ...], low: float, high: float) -> NDArray[np.float64]:
    """One participant's numbers, checked to lie in a range.

    Args:
        name: name of the field, for error messages.
        record: a row in a form that `numbers` accepts.
        shape: required shape.
        low: smallest allowed number.
        high: largest allowed number.

    Raises:
        InvalidInput: the row is wrong. The error message is for the participant alone.
    """
    found = one_row(name, record, shape)
    if not bool(((found >= low) & (found <= high)).all()):
        raise InvalidInput(name, "has a value that is not a number in its "
                                 "range", f"each must be in {within(low, high)}")
    return found


def one_row(name: str, record: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """One participant's numbers, which may lie in any range.

    Args:
        name: name of the field, for error messages.
        record: a row in a form that `numbers` accepts.
        shape: required shape.

    Raises:
        InvalidInput: the values are no numbers, or their shape is wrong.
    """
    with np.errstate(all="ignore"):
        [found] = each_aside(lambda one: answered(lambda: cells(one, shape), None), [record])
    if found is None:
        [given] = each_aside(lambda one: answered(lambda: np.shape(one), None), [record])
        problem = (f"{type(record).__name__} is not a {'table of numbers' if shape else 'number'}" if given is None else
                   f"its shape is {given}" if given != shape else "holds values that are not numbers" if shape else
                   "is not a number")
        raise InvalidInput(name, problem, f"must be {_wanted(shape)}")
    return found


def _wanted(shape: tuple[int, ...]) -> str:
    return f"numbers of shape {shape}" if shape else "a number"


def bad_rows(table: NDArray[Any], low: float, high: float) -> NDArray[np.bool_]:
    """Whether each row holds a number that is not in [low, high], shape (n,).

    Args:
        table: (n, ...) numbers, one row for each slot.
        low: smallest allowed number.
        high: largest allowed number.
    """
    flat = table.reshape(len(table), -1)
    found = np.zeros(len(table), dtype=bool)
    low, high = np.float64(low), np.float64(high)  # single precision would round the ends of the range with the row
    step = max(1, _CHUNK // max(1, flat.shape[1]))
    for at in range(0, len(flat), step):
        part = flat[at : at + step]
        found[at : at + step] = ~((part >= low) & (part <= high)).all(axis=1)
    return found


def refused_or_null(name: str, bad: NDArray[np.bool_], limit: str, unusable: Unusable) -> None:
    """Raise an error that names the first bad row of a table, unless bad rows count as null.

    Args:
        name: name of the field, for error messages.
        bad: (n,) whether each row is bad.
        limit: description of the rule for a row, for the error message.
        unusable: treatment of bad rows. "refuse" raises the error, and "null" raises none.

    Raises:
        InvalidInput: a row is bad, and bad rows are refused.
    """
    if unusable == "refuse" and bool(bad.any()):
        raise InvalidInput(name, f"row {int(np.argmax(bad))} cannot be used", limit)


def value_units(table: NDArray[Any], bad: NDArray[np.bool_], kind: Any) -> NDArray[Any]:
    """Values converted to whole units of 2^-24, in a given integer type, with bad rows set to zero. The computation
    goes in chunks to save memory.

    Args:
        table: (n, ...) numbers, one row for each slot.
        bad: (n,) whether each row is bad and counts as zeros.
        kind: numpy integer type of the result, such as np.int32.
    """
    out = np.empty(table.shape, dtype=kind)
    flat, into = table.reshape(len(table), -1), out.reshape(len(table), -1)
    step = max(1, _CHUNK // max(1, flat.shape[1]))
    for at in range(0, len(flat), step):
        part = np.where(bad[at : at + step, None], 0.0, flat[at : at + step])
        into[at : at + step] = values_near(part)
    return out
