"""Numbers of frames, Arrow tables, files and queries: a row for each slot, in the order of the slots.

A missing number is NaN. Text is a number only where a CSV file spells one, because its cells have no types. A column of
text is refused by its name, whatever its cells hold; a column of a CSV file, where none of its cells spells a number.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.tables._cells import integers, is_text, numbers, plain
from confide.tables._values import as_array, made_by
from confide.tables.sources import SUFFIXES, TableSource, open_table

__all__ = [
    "arrow_numbers", "column_of", "columns_of", "fields_of", "integers_of", "is_table", "named_columns_of",
    "own_fields", "own_row", "plain_numbers",
]

_NONE = -(2**63)  # no cell of `integers_of` holds that


def is_table(data: Any) -> bool:
    """Whether data is a frame, an Arrow table, a query or the name of a file; arrays, mappings and sequences are none.

    Args:
        data: input of a run.
    """
    return (isinstance(data, str | os.PathLike | TableSource | pa.Table | pa.RecordBatch) or made_by("ibis", data)
            or (hasattr(type(data), "columns") and hasattr(type(data), "__arrow_c_stream__"))
            or (made_by("polars", data) and hasattr(data, "collect")))


def arrow_numbers(values: NDArray[Any]) -> pa.Array:
    """Numbers as an Arrow column, without a copy where they lie side by side; `pa.array` would import pandas first.

    Args:
        values: (n,) integers or floats. NaN stays NaN.
    """
    dense = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(dense.dtype), dense.size, [None, pa.py_buffer(dense)])


def numpy_numbers(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """An Arrow column of numbers as numpy's, without a copy where that can be; its own `to_numpy` would import pandas.

    Args:
        column: integers or floats.

    Returns:
        (n,) of the same type; as `to_numpy` gives it where cells are null.

    Example:
        >>> numpy_numbers(pa.chunked_array([arrow_numbers(np.array([1, 2])), arrow_numbers(np.array([3]))]))
        array([1, 2, 3])
    """
    parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    primitive = pa.types.is_integer(column.type) or (pa.types.is_floating(column.type) and column.type.bit_width > 16)
    if column.null_count or not primitive:
        return np.asarray(column.to_numpy() if isinstance(column, pa.ChunkedArray) else
                          column.to_numpy(zero_copy_only=False))
    letter = "f" if pa.types.is_floating(column.type) else "i" if pa.types.is_signed_integer(column.type) else "u"
    kind = np.dtype(f"{letter}{column.type.bit_width // 8}")
    found = [np.frombuffer(part.buffers()[1], kind, len(part), part.offset * kind.itemsize)
             for part in parts if len(part)]
    return found[0] if len(found) == 1 else np.concatenate(found) if found else np.empty(0, kind)


def columns_of(data: Any, count: int | None = None, field: str = "data", *, no_truths: str = "") -> NDArray[Any]:
    """All numbers of a table.

    Args:
        data: a table in the sense of `is_table`, or a mapping of column names to arrays. The index of a pandas frame is
            no column.
        count: required number of columns, where it is given: they are the numbers of a record, in their order.
        field: name of the table in errors.
        no_truths: advice, where a column of true and false is refused; by default they are 1 and 0.

    Returns:
        (rows, columns) in float32 where all columns are, else in float64.

    Raises:
        InvalidInput: another number of columns; a column without numbers, which is named; or rows that have no order.

    Example:
        >>> columns_of(pa.table({"a": [0.5, None], "b": [1, 0]}), 2).tolist()
        [[0.5, 1.0], [nan, 0.0]]
        >>> columns_of({"art": [0.5, 1.0], "name": ["a", "b"]})
        Traceback (most recent call last):
        ...
        confide.contract.errors.InvalidInput: name: the column holds text; must be numbers
    """
    source = _opened(data)
    if count is not None and len(source.column_names) != count:
        raise InvalidInput(field, f"has {len(source.column_names)} columns, {_listed(source.column_names)}",
                           f"must be {count}, the numbers of a record in their order")
    return _read(source, source.column_names, no_truths)


def named_columns_of(data: Any) -> tuple[tuple[str, ...], NDArray[Any]]:
    """The names of the columns, and their numbers as of `columns_of`.

    Args:
        data: as for `columns_of`.
    """
    source = _opened(data)
    return source.column_names, _read(source, source.column_names)


def column_of(data: Any, field: str = "data", *, no_truths: str = "") -> NDArray[Any] | None:
    """The numbers of a series, of an Arrow column, or of a table or mapping with one column; None for anything else.

    Args:
        data: input of a run.
        field: name of the input in errors.
        no_truths: advice, as in `columns_of`.

    Returns:
        (rows,), or None where `data` has no type of its own, such as a list.

    Raises:
        InvalidInput: several columns, or one without numbers, which is named.

    Example:
        >>> column_of(pa.array([1, 0, None])).tolist()
        [1.0, 0.0, nan]
    """
    if is_table(data) or isinstance(data, Mapping):
        return columns_of(data, 1, field, no_truths=no_truths)[:, 0]
    if not any(made_by(package, data) for package in ("pandas", "polars", "pyarrow")):
        return None
    name = str(getattr(data, "name", None) or field)
    cells = plain_numbers(name, as_array(data), no_truths=no_truths)
    return _short(cells) if pa.types.is_float32(cells.type) else numbers(name, cells)


def fields_of(
    data: Any, fields: Mapping[str, tuple[int, ...]], *, no_truths: str = "",
) -> dict[str, NDArray[np.float64]]:
    """Field -> its numbers, (rows, and then its shape), from a table.

    Args:
        data: as `is_table` finds it. A column has the name of its field; the columns of a field with several numbers
            are called field.0, field.1, and so on.
        fields: name -> shape.
        no_truths: as for `columns_of`.

    Raises:
        InvalidInput: a column that is no field, or is missing; or as of `columns_of`.

    Example:
        >>> fields_of(pa.table({"most": [1.0], "needs.0": [0.5], "needs.1": [0.25]}), {"needs": (2,), "most": ()})
        {'needs': array([[0.5 , 0.25]]), 'most': array([1.])}
    """
    source = _opened(data)
    wanted = {name: (name,) if shape == () else tuple(f"{name}.{place}" for place in range(math.prod(shape)))
              for name, shape in fields.items()}
    strange = sorted(set(source.column_names).difference(*wanted.values()))
    if strange:
        raise InvalidInput(strange[0], "is no field of a record", f"fields are {_listed(tuple(fields))}")
    return {name: _read(source, names, no_truths).reshape(-1, *fields[name]) for name, names in wanted.items()}


def integers_of(data: Any, names: tuple[str, ...], field: str = "data") -> dict[str, NDArray[np.int64]]:
    """The whole numbers of 64 bits of each column, exactly, from a table of these columns and no others.

    Args:
        data: a table in the sense of `is_table`.
        names: names of the columns, in any order in the table.
        field: name of the table in errors.

    Raises:
        InvalidInput: another column; one of text, by its name; or a cell that is no whole number; the message does not
            say which.

    Example:
        >>> integers_of(pa.table({"index": [2, 0], "message": [-5, 2**62]}), ("index", "message"))["message"].tolist()
        [-5, 4611686018427387904]
    """
    source = _opened(data)
    if sorted(source.column_names) != sorted(names):
        raise InvalidInput(field, f"has the columns {_listed(source.column_names)}", f"must be {_listed(names)}")
    untyped = source.name.lower().endswith(".csv")
    found: dict[str, list[NDArray[np.int64]]] = {name: [] for name in names}
    for batch in source.batches(names):
        for name, column in zip(names, batch.columns, strict=True):
            found[name].append(integers(name, plain_numbers(name, column, untyped=untyped), _NONE))
    whole = {name: np.concatenate([np.empty(0, np.int64), *parts]) for name, parts in found.items()}
    for name, column in whole.items():
        if (column == _NONE).any():
            raise InvalidInput(name, "a cell is no whole number of 64 bits", "leave out rows without a number")
    return whole


def own_row(record: Any, count: int | None = None, *, no_truths: str = "") -> Any:
    """One person's own numbers, from any input that a run accepts for everybody; other input is returned unchanged.

    Args:
        record: a frame, an Arrow table or a file with one row; a mapping of the columns' names to its cells; the row as
            a series; or, where there is a `count`, an array or a list of one row. Other input is allowed, too.
        count: number of numbers, where it is known.
        no_truths: advice, as in `columns_of`.

    Returns:
        (count,) numbers; or the record itself.

    Raises:
        InvalidInput: a table of another number of rows or columns, or a column of text, by its name.

    Example:
        >>> own_row({"art": 0.5, "law": 1}, 2).tolist(), own_row([[0.5, 1.0]], 2), own_row((0.5, 1.0), 2)
        ([0.5, 1.0], [0.5, 1.0], (0.5, 1.0))
    """
    if record is None or isinstance(record, int | float | np.generic):
        return record
    table = _own_table(record)
    if table is not None:
        found = columns_of(table, count, "record", no_truths=no_truths)
        _one(len(found))
        return found[0]
    column = None if isinstance(record, str | Mapping) else column_of(record, "record", no_truths=no_truths)
    if column is not None:
        return column
    single = count is not None and isinstance(record, np.ndarray | list | tuple) and len(np.shape(record[:1])) == 2
    return record[0] if single and len(record) == 1 and len(record[0]) == count else record


def own_fields(record: Any, fields: Mapping[str, tuple[int, ...]], *, no_truths: str = "") -> Any:
    """One person's own fields by their names, from a table of one row or a mapping of columns; anything else as it is.

    Args:
        record: as for `own_row`.
        fields: as for `fields_of`.
        no_truths: as for `columns_of`.

    Raises:
        InvalidInput: as of `fields_of`; or another number of rows.

    Example:
        >>> own_fields(pa.table({"needs.0": [0.5], "needs.1": [0.25]}), {"needs": (2,)})
        {'needs': array([0.5 , 0.25])}
    """
    table = _own_table(record)
    if table is None:
        return record
    found = fields_of(table, fields, no_truths=no_truths)
    for column in found.values():
        _one(len(column))
    return {name: column[0] for name, column in found.items()}


def _own_table(record: Any) -> Any:
    """A record as a table: what is one, a file by its suffix, or a mapping of names to cells; else None."""
    if isinstance(record, str | os.PathLike):
        return record if os.path.splitext(os.fspath(record))[1].lower() in SUFFIXES else None
    if isinstance(record, Mapping) and record and all(isinstance(name, str) for name in record):
        return {name: cell if np.ndim(cell) == 1 else [cell] for name, cell in record.items()}
    return record if is_table(record) else None


def _one(rows: int) -> None:
    if rows != 1:
        raise InvalidInput("record", f"has {rows} rows", "must be one, one's own")


def _opened(data: Any) -> TableSource:
    if isinstance(data, Mapping):  # so that a list of numbers has a type
        data = {str(name): _typed(column) for name, column in data.items()}
    source = open_table(data.reset_index(drop=True) if made_by("pandas", data) else data)
    if not source.ordered:
        raise InvalidInput("data", f"the rows of {source.name} have no order", "sort them: row i is that of slot i")
    return source


def _typed(column: Any) -> Any:
    """A list of numbers with the type of numbers, None among them as nan; anything else as it is."""
    if not isinstance(column, list | tuple):
        return column
    try:
        found = np.asarray([math.nan if each is None else each for each in column])
    except (TypeError, ValueError):
        return column
    return found if found.dtype.kind in "biuf" else column


def _read(source: TableSource, columns: tuple[str, ...], no_truths: str = "") -> NDArray[Any]:
    """(rows, columns) numbers; what is missing is no number."""
    untyped = source.name.lower().endswith(".csv")
    spelled = _Spelled(columns) if untyped else None
    parts = []
    for batch in source.batches(columns):
        cells = [plain_numbers(name, batch.column(at), untyped=untyped, no_truths=no_truths)
                 for at, name in enumerate(columns)]
        short = all(pa.types.is_float32(each.type) for each in cells)  # beside wider ones, each is the decimal it shows
        read = [_short(each) if short else numbers(name, each) for name, each in zip(columns, cells, strict=True)]
        parts.append(np.column_stack(read))
        if spelled is not None:
            spelled.see(cells, read)
    if spelled is not None:
        spelled.check()
    return np.concatenate(parts) if parts else np.empty((0, len(columns)))


class _Spelled:
    """Which columns of a file without types hold text alone: cells that are not empty, and no number among them.

    One cell that is no number is that person's, and never stops everybody's run.
    """

    def __init__(self, columns: tuple[str, ...]) -> None:
        self._columns = columns
        self._written, self._number = np.zeros((2, len(columns)), dtype=bool)

    def see(self, cells: Sequence[pa.Array], read: Sequence[NDArray[Any]]) -> None:
        """Look at a batch of each column."""
        for at, (texts, values) in enumerate(zip(cells, read, strict=True)):
            if not self._number[at]:
                self._number[at] = bool((~np.isnan(values)).any())
                self._written[at] |= not self._number[at] and bool(
                    pc.any(pc.not_equal(pc.ascii_trim_whitespace(texts), "")).as_py())

    def check(self) -> None:
        """Refuse the first column that holds text alone, by its name.

        Raises:
            InvalidInput: there is one.
        """
        for name, written, number in zip(self._columns, self._written, self._number, strict=True):
            if written and not number:
                raise InvalidInput(name, "the column holds text", "must be numbers")


def plain_numbers(name: str, cells: Any, *, untyped: bool = False, no_truths: str = "") -> pa.Array:
    """The plain cells of a column whose type holds numbers.

    Args:
        name: name of the column.
        cells: an Arrow array.
        untyped: whether text may spell numbers.
        no_truths: advice, as in `columns_of`.

    Raises:
        InvalidInput: the column holds text, dates, or another type that holds no numbers.
    """
    cells = plain(cells)
    if no_truths and _has_truths(cells):
        raise InvalidInput(name, "the column holds true and false", no_truths)
    if is_text(cells) and not untyped:  # as every column of Python objects is
        raise InvalidInput(name, "the column holds text", "must be numbers")
    numbers(name, cells[:0])
    return cells


def _has_truths(cells: pa.Array) -> bool:
    """Whether a plain column is of true and false by its type, or holds text that spells them."""
    if not is_text(cells):
        return bool(pa.types.is_boolean(cells.type))
    words = pc.ascii_lower(pc.ascii_trim_whitespace(cells))
    return bool(pc.any(pc.is_in(words, value_set=pa.array(["false", "true"], pa.large_string()))).as_py())


def _short(cells: pa.Array) -> NDArray[Any]:
    """A column of single precision as it is."""
    found: NDArray[Any] = pc.fill_null(cells, pa.scalar(math.nan, pa.float32())).to_numpy(zero_copy_only=False)
    return found


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
