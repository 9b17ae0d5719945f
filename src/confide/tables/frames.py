"""Numbers from data frames, Arrow tables, files and queries. The table has one row for each person on the public list
of ids, in the order of the list.

A missing number is NaN. Text counts as a number only in a text file or a sheet, since their columns have no types. In
all other tables every column of text is refused, whatever its cells hold. A column of a text file or a sheet is refused
if some cells are not empty and no cell spells a number. The error names the column.
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
from confide.contract.words import counted
from confide.tables._cells import integers, is_text, numbers, plain
from confide.tables._values import as_array, made_by
from confide.tables.sources import SUFFIXES, TableSource, mapping_table, open_table

__all__ = [
    "arrow_numbers", "column_of", "columns_of", "fields_of", "integers_of", "is_table", "named_columns_of",
    "own_fields", "own_row", "plain_numbers", "table_of",
]

_NONE = -(2**63)  # no cell of `integers_of` holds that


def is_table(data: Any) -> bool:
    """Whether an object is a data frame, an Arrow table, a query or the name of a file. Arrays, mappings and sequences
    do not count as tables.

    Args:
        data: the object, such as the input of a run.
    """
    return (isinstance(data, str | os.PathLike | TableSource | pa.Table | pa.RecordBatch) or made_by("ibis", data)
            or (hasattr(type(data), "columns") and hasattr(type(data), "__arrow_c_stream__"))
            or (made_by("polars", data) and hasattr(data, "collect")))


def arrow_numbers(values: NDArray[Any]) -> pa.Array:
    """Numbers as an Arrow column, without a copy if they are contiguous in memory. (`pa.array` would import pandas
    first.)

    Args:
        values: integers or floats, shape (n,). NaN stays NaN.
    """
    dense = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(dense.dtype), dense.size, [None, pa.py_buffer(dense)])


def numpy_numbers(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """An Arrow column of numbers as a numpy array, without a copy if possible. (The column's own `to_numpy` would
    import pandas.)

    Args:
        column: Arrow column of integers or floats.

    Returns:
        The numbers, shape (n,), in the type of the column. If some cells are null, the type is the type that `to_numpy`
        chooses.

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


def table_of(data: Mapping[Any, Any]) -> pa.Table:
    """Arrow table of a mapping from column names to arrays or lists. A list of numbers becomes a column of numbers.

    Raises:
        InvalidInput: no column, columns of different lengths, or a column that is no sequence.
    """
    return mapping_table(_typed_columns(data))


def columns_of(data: Any, count: int | None = None, field: str = "data", *, no_truths: str = "") -> NDArray[Any]:
    """All numbers of a table, as an array with one column for each column of the table.

    Args:
        data: a table in the sense of `is_table`, or a mapping of column names to arrays. The index of a pandas frame is
            no column.
        count: required number of columns; None for any number. Each column holds one number of every record. The order
            of the columns is the order of a record's numbers.
        field: name of the table in error messages.
        no_truths: advice in the error message for a column of booleans. If the advice is not empty, a column of
            booleans is refused. If it is empty, true and false count as 1 and 0.

    Returns:
        The numbers, shape (rows, columns), as float32 if all columns are float32, and otherwise as float64.

    Raises:
        InvalidInput: the table has another number of columns, a column without numbers (named in the message), or rows
            without an order.

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
        raise InvalidInput(field, f"has {counted(len(source.column_names), 'column')}, {_listed(source.column_names)}",
                           "must have 1 column, the number of each record" if count == 1 else
                           f"must have {count} columns, one for each number of a record, in their order")
    return _read(source, source.column_names, no_truths)


def named_columns_of(data: Any) -> tuple[tuple[str, ...], NDArray[Any]]:
    """The names of a table's columns, and the numbers that `columns_of` returns for the table.

    Args:
        data: the table, as for `columns_of`.
    """
    source = _opened(data)
    return source.column_names, _read(source, source.column_names)


def column_of(data: Any, field: str = "data", *, no_truths: str = "") -> NDArray[Any] | None:
    """The numbers of a series, of an Arrow column, or of a table or mapping with one column; None for any other input.

    Args:
        data: the object, such as the input of a run.
        field: name of the input in error messages.
        no_truths: advice in the error message for a column of booleans, as in `columns_of`.

    Returns:
        The numbers, shape (rows,), or None if `data` is another kind of input, such as a list.

    Raises:
        InvalidInput: the input has several columns, or a column without numbers, which the message names.

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
    """Mapping from the name of each field to the numbers of the field, taken from a table. A field is a named number,
    or a named array of numbers, of each record. The shape of an array in the result is the number of rows, followed by
    the shape of the field.

    Args:
        data: table in the sense of `is_table`. A column has the name of its field; the columns of a field with several
            numbers are called field.0, field.1, and so on.
        fields: mapping from the name of each field to the shape of its numbers in one record; () for a single number.
        no_truths: advice in the error message for a column of booleans, as in `columns_of`.

    Raises:
        InvalidInput: a column is no field, or the column of a field is missing. The errors of `columns_of` are raised
            too.

    Example:
        >>> fields_of(pa.table({"most": [1.0], "needs.0": [0.5], "needs.1": [0.25]}), {"needs": (2,), "most": ()})
        {'needs': array([[0.5 , 0.25]]), 'most': array([1.])}
    """
    source = _opened(data)
    wanted = {name: (name,) if shape == () else tuple(f"{name}.{place}" for place in range(math.prod(shape)))
              for name, shape in fields.items()}
    strange = sorted(set(source.column_names).difference(*wanted.values()))
    if strange:
        raise InvalidInput(strange[0], "is not a field of a record", f"fields are {_listed(tuple(fields))}")
    return {name: _read(source, names, no_truths).reshape(-1, *fields[name]) for name, names in wanted.items()}


def integers_of(data: Any, names: tuple[str, ...], field: str = "data") -> dict[str, NDArray[np.int64]]:
    """The exact 64-bit integers of each column of a table. The table must have the named columns and no others.

    Args:
        data: a table in the sense of `is_table`.
        names: names of the columns, in any order in the table.
        field: name of the table in error messages.

    Raises:
        InvalidInput: the table has other columns; a column holds text, which the message names; or a cell is no whole
            number. The message does not name the cell.

    Example:
        >>> integers_of(pa.table({"index": [2, 0], "message": [-5, 2**62]}), ("index", "message"))["message"].tolist()
        [-5, 4611686018427387904]
    """
    source = _opened(data)
    if sorted(source.column_names) != sorted(names):
        raise InvalidInput(field, f"has the columns {_listed(source.column_names)}",
                           f"must have the columns {_listed(names)}")
    untyped = source.untyped
    found: dict[str, list[NDArray[np.int64]]] = {name: [] for name in names}
    for batch in source.batches(names):
        for name, column in zip(names, batch.columns, strict=True):
            found[name].append(integers(name, plain_numbers(name, column, untyped=untyped), _NONE))
    whole = {name: np.concatenate([np.empty(0, np.int64), *parts]) for name, parts in found.items()}
    for name, column in whole.items():
        if (column == _NONE).any():
            raise InvalidInput(name, "a cell is not a whole number of 64 bits", "leave out rows without a number")
    return whole


def own_row(record: Any, count: int | None = None, *, no_truths: str = "") -> Any:
    """One person's own numbers, from a record in any form that a run accepts for all records. A record in another form
    is returned unchanged.

    Args:
        record: a data frame, an Arrow table or a file with one row; a mapping from column name to cell; or the row as a
            series. If `count` is given, an array or a list of one row is read too.
        count: required number of numbers in the record; None if unknown.
        no_truths: advice in the error message for a column of booleans, as in `columns_of`.

    Returns:
        The numbers, shape (count,), or the record unchanged.

    Raises:
        InvalidInput: the table has another number of rows or columns, or a column of text, which the message names.

    Example:
        >>> own_row({"art": 0.5, "law": 1}, 2).tolist(), own_row([[0.5, 1.0]], 2), own_row((0.5, 1.0), 2)
        ([0.5, 1.0], [0.5, 1.0], (0.5, 1.0))
    """
    if record is None or isinstance(record, int | float | np.generic) or (
            type(record) is np.ndarray and record.ndim == 1):  # most records: no form has to be recognised
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
    """Mapping from field name to one person's own numbers, taken from a table of one row or a mapping of columns. A
    record in another form is returned unchanged.

    Args:
        record: record of one person, as for `own_row`.
        fields: mapping from the name of each field to the shape of its numbers, as for `fields_of`.
        no_truths: advice in the error message for a column of booleans, as in `columns_of`.

    Raises:
        InvalidInput: the table has no row, or several rows. The errors of `fields_of` are raised too.

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
    """A record as a table, if it is a table, the path of a table file, or a mapping from names to cells; else None."""
    if isinstance(record, str | os.PathLike):
        return record if os.path.splitext(os.fspath(record))[1].lower() in SUFFIXES else None
    if isinstance(record, Mapping) and record and all(isinstance(name, str) for name in record):
        return {name: cell if np.ndim(cell) == 1 else [cell] for name, cell in record.items()}
    return record if is_table(record) else None


def _one(rows: int) -> None:
    if rows != 1:
        raise InvalidInput("record", f"has {counted(rows, 'row')}", "must be one row, the participant's own")


def _opened(data: Any) -> TableSource:
    if isinstance(data, Mapping):
        data = _typed_columns(data)
    source = open_table(data.reset_index(drop=True) if made_by("pandas", data) else data)
    if not source.ordered:
        raise InvalidInput("data", f"the rows of {source.name} have no order",
                           "sort the rows, so that row i belongs to slot i")
    return source


def _typed_columns(data: Mapping[Any, Any]) -> dict[str, Any]:
    """The columns of a mapping by name, so that a list of numbers has a type."""
    return {str(name): _typed(column) for name, column in data.items()}


def _typed(column: Any) -> Any:
    """A list of numbers as an array of numbers, with nan in place of None. A column that is no list is returned
    unchanged.
    """
    if not isinstance(column, list | tuple):
        return column
    try:
        found = np.asarray([math.nan if each is None else each for each in column])
    except (TypeError, ValueError):
        return column
    return found if found.dtype.kind in "biuf" else column


def _read(source: TableSource, columns: tuple[str, ...], no_truths: str = "") -> NDArray[Any]:
    """(rows, columns) numbers of a table. A missing number is NaN."""
    untyped = source.untyped
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
    """Record of the columns of a text file or a sheet that hold only text: some cells are not empty, and no cell spells
    a number.

    A single cell that is no number concerns its own person, and never stops the run for everybody.
    """

    def __init__(self, columns: tuple[str, ...]) -> None:
        self._columns = columns
        self._written, self._number = np.zeros((2, len(columns)), dtype=bool)

    def see(self, cells: Sequence[pa.Array], read: Sequence[NDArray[Any]]) -> None:
        """Examine one batch of each column."""
        for at, (texts, values) in enumerate(zip(cells, read, strict=True)):
            if not self._number[at]:
                self._number[at] = bool((~np.isnan(values)).any())
                self._written[at] |= not self._number[at] and bool(
                    pc.any(pc.not_equal(pc.ascii_trim_whitespace(texts), "")).as_py())

    def check(self) -> None:
        """Refuse the first column that holds only text, by its name.

        Raises:
            InvalidInput: some column holds only text.
        """
        for name, written, number in zip(self._columns, self._written, self._number, strict=True):
            if written and not number:
                raise InvalidInput(name, "the column holds text", "must be numbers")


def plain_numbers(name: str, cells: Any, *, untyped: bool = False, no_truths: str = "") -> pa.Array:
    """The cells of a column of numbers as a plain Arrow array, without dictionary or other encodings.

    Args:
        name: name of the column.
        cells: the cells, as an Arrow array.
        untyped: whether texts that spell numbers are accepted, as in a CSV file.
        no_truths: advice in the error message for a column of booleans, as in `columns_of`.

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
    """Whether a column has the boolean type, or holds text that spells true or false."""
    if not is_text(cells):
        return bool(pa.types.is_boolean(cells.type))
    words = pc.ascii_lower(pc.ascii_trim_whitespace(cells))
    return bool(pc.any(pc.is_in(words, value_set=pa.array(["false", "true"], pa.large_string()))).as_py())


def _short(cells: pa.Array) -> NDArray[Any]:
    """A single-precision column, without conversion to double precision."""
    found: NDArray[Any] = pc.fill_null(cells, pa.scalar(math.nan, pa.float32())).to_numpy(zero_copy_only=False)
    return found


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
