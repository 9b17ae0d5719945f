"""Readers of statistical files behind one interface. A reader gives the numbers as they are stored, and the texts as
bytes; `confide.tables._statistical` gives them a meaning.

SPSS and Stata files are read by readstat-arrow, which streams and keeps the types of the file. pyreadstat reads them
too, and is the second choice. Portable SPSS files and SAS data sets are read by pyreadstat. Both packages decode texts
as Latin-1, in which every byte is a character, so that the bytes can be recovered. In this way one text that is broken
never stops the reading of the others.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import queue
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.errors import InvalidInput
from confide.tables._file_headers import unreadable

__all__ = ["BYTES", "ArrowReader", "PyreadstatReader", "RawColumn", "StatReader", "broken", "streaming"]

BYTES = "latin-1"
"""The encoding in which names, labels and codes arrive: a character for each byte of the file."""

Missing = str | float | tuple[float, float]
"""A code that means a missing answer, or the lowest and the highest number of a range of such codes."""


class RawColumn(NamedTuple):
    """Some cells of a column as they are stored.

    Args:
        values: numbers in the type of the file, or bytes (large_binary). A missing number is null.
        tags: the letters of tagged missing values, in the type large_string; null for other cells. None if the column
            cannot have tags.
    """

    values: pa.Array
    tags: pa.Array | None = None


class StatReader(ABC):
    """A statistical file.

    Args:
        names: names of the columns, in the order of the file.
        texts: names of the columns of texts.
        formats: mapping from column to display format.
        labels: mapping from column to its description.
        value_labels: mapping from column to pairs of a code and its label. The letter of a tag is a text.
        missing: mapping from column to the codes that mean a missing answer.
        rows: number of rows that the file declares; None if it declares none.
        unicode: whether the texts are decoded already, so that their bytes are UTF-8.
    """

    names: tuple[str, ...]
    texts: frozenset[str]
    formats: Mapping[str, str]
    labels: Mapping[str, str]
    value_labels: Mapping[str, Sequence[tuple[str | float, str]]]
    missing: Mapping[str, Sequence[Missing]]
    rows: int | None = None
    unicode: bool = False

    @abstractmethod
    def read(self, columns: Sequence[str], rows: int) -> Iterator[list[RawColumn]]:
        """The cells of some columns, in batches of at most `rows` rows, in the order of the columns.

        Raises:
            InvalidInput: the file is damaged.
        """


def streaming() -> Any:
    """The package readstat-arrow; None if it is absent, or a version without the attributes that are used here."""
    try:
        import readstat_arrow
        from readstat_arrow import reader
    except ImportError:
        return None
    complete = hasattr(reader, "_tag_struct_schema") and hasattr(reader.SavStreamingReader, "read_batches")
    return readstat_arrow if complete else None


def broken(path: Path, error: BaseException) -> InvalidInput:
    """The error for a damaged file."""
    return unreadable(path, error, "open it in the program that made it, and save it again")


def _bytes_of(column: pa.Array) -> pa.Array:
    """The bytes of texts that were decoded as Latin-1, as large_binary."""
    texts = column.cast(pa.large_string())
    lengths = pc.fill_null(pc.utf8_length(texts), 0).to_numpy(zero_copy_only=False)
    if int(lengths.sum()) == int(pc.sum(pc.binary_length(texts)).as_py() or 0):  # ASCII alone
        return texts.view(pa.large_binary())
    data = "".join(text or "" for text in texts.to_pylist()).encode(BYTES, "replace")
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    mask = None if not texts.null_count else pa.array(pc.is_valid(texts)).buffers()[1]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(texts),
                                            [mask, pa.py_buffer(offsets), pa.py_buffer(data)])


# ---- readstat-arrow


class _Stop(Exception):
    pass


class ArrowReader(StatReader):
    """An SPSS or Stata file, read by readstat-arrow.

    Args:
        path: path of the file.
        package: the package.
    """

    def __init__(self, path: Path, package: Any) -> None:
        self._path, self._package = path, package
        self._stata = path.suffix.lower() == ".dta"
        opened = self._open(None)
        found, schema = opened.metadata, opened._read_schema
        self.names, self.rows = tuple(schema.names), opened.num_rows
        self.texts = frozenset(each.name for each in schema
                               if pa.types.is_string(each.type) or pa.types.is_large_string(each.type))
        # strL variables of Stata, whose texts are not decoded at all.
        self._long = frozenset(name for name in self.texts if self._stata and found.storage_widths.get(name) is None)
        self.formats = {name: form or "" for name, form in found.formats.items()}
        self.labels = {name: label for name, label in found.variable_labels.items() if label}
        self.value_labels = {name: [(each["value"], each["label"]) for each in codes]
                             for name, codes in found.value_labels.items() if codes}
        self.missing = {name: _missing(each) for name, each in found.missing_values.items() if each}

    def _open(self, columns: Sequence[str] | None) -> Any:
        open_file = self._package.open_dta if self._stata else self._package.open_sav
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of damage that the package repairs
                found = open_file(self._path, columns=columns, encoding="ISO-8859-1", preserve_user_missing=True)
        except Exception as error:  # noqa: BLE001 - of the package, or of its decoding
            raise broken(self._path, error) from None
        # Without formats nothing is converted to dates, and the numbers come as they are stored.
        found.metadata = dataclasses.replace(found.metadata, formats={}) if columns is not None else found.metadata
        found.schema = found._read_schema
        if self._stata:
            from readstat_arrow import reader

            found.schema = reader._tag_struct_schema(found.schema)
        return found

    def read(self, columns: Sequence[str], rows: int) -> Iterator[list[RawColumn]]:
        opened = self._open(list(columns))
        for batch in _pulled(self._path, opened, rows):
            yield [self._column(name, batch.column(name)) for name in columns]

    def _column(self, name: str, array: pa.Array) -> RawColumn:
        if name in self._long:
            return RawColumn(array.view(pa.large_binary()))
        if name in self.texts:
            return RawColumn(_bytes_of(array))
        if not self._stata:
            return RawColumn(array)
        tags = pc.struct_field(array, "tag")
        return RawColumn(pc.struct_field(array, "value"), tags.cast(pa.large_string()))


def _missing(declared: Any) -> list[Missing]:
    if "values" in declared:
        return list(declared["values"])
    one = [declared["value"]] if "value" in declared else []
    return [(float(declared["lo"]), float(declared["hi"])), *one]


def _pulled(path: Path, opened: Any, rows: int) -> Iterator[pa.RecordBatch]:
    """The batches that a parser pushes. The parser runs on a thread, at most two batches ahead."""
    batches: queue.Queue[Any] = queue.Queue(maxsize=2)
    stopped = threading.Event()

    def give(batch: Any) -> None:
        while not stopped.is_set():
            try:
                batches.put(batch, timeout=0.1)
            except queue.Full:
                continue
            return
        raise _Stop

    def parse() -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                opened.read_batches(give, batch_rows=rows)
            give(None)
        except _Stop:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised where the batches are read
            with contextlib.suppress(_Stop):
                give(broken(path, error))

    thread = threading.Thread(target=parse, name="statistical file", daemon=True)
    thread.start()
    try:
        while (batch := batches.get()) is not None:
            if isinstance(batch, InvalidInput):
                raise batch
            yield batch
    finally:
        stopped.set()
        thread.join()


# ---- pyreadstat

_CELLS = 1 << 21
"""Largest number of cells that pyreadstat reads at once: it makes a Python object of each."""
_FLOATS = {"double": pa.float64(), "float": pa.float32()}
_KINDS = {**_FLOATS, "int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32()}


class PyreadstatReader(StatReader):
    """An SPSS, Stata or SAS file, read by pyreadstat.

    Args:
        path: path of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._suffix = path, path.suffix.lower()
        self.unicode = self._suffix == ".por"
        _, found = self._call(metadataonly=True)
        kinds = found.readstat_variable_types
        self.names = tuple(found.column_names)
        self.rows = found.number_rows if self._suffix != ".por" and (found.number_rows or 0) >= 0 else None
        self.texts = frozenset(name for name in self.names if kinds[name] == "string")
        self._types = {name: _KINDS.get(kinds[name], pa.float64()) for name in self.names}
        widths = found.variable_storage_width
        self._long = frozenset(name for name in self.texts if self._suffix == ".dta" and not widths.get(name))
        self.formats = {name: form or "" for name, form in found.original_variable_types.items()}
        self.formats = {name: "" if form == "NULL" else form for name, form in self.formats.items()}
        self.labels = {name: label for name, label in found.column_names_to_labels.items() if label}
        self.value_labels = {name: list(codes.items()) for name, codes in found.variable_value_labels.items() if codes}
        self.missing = {name: [each["lo"] if each["lo"] == each["hi"] else (float(each["lo"]), float(each["hi"]))
                               for each in ranges] for name, ranges in found.missing_ranges.items()}

    def _call(self, **settings: Any) -> Any:
        from confide.tables._packaged import extra

        pyreadstat = extra("pyreadstat", "files")
        reads = {".sav": pyreadstat.read_sav, ".zsav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta,
                 ".por": pyreadstat.read_por, ".sas7bdat": pyreadstat.read_sas7bdat}
        if self._suffix != ".por":
            settings |= {"user_missing": True, "encoding": "ISO-8859-1"}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return reads[self._suffix](self._path, disable_datetime_conversion=True, output_format="dict",
                                           **settings)
        except Exception as error:  # noqa: BLE001 - of the package, or of its decoding
            raise broken(self._path, error) from None

    def read(self, columns: Sequence[str], rows: int) -> Iterator[list[RawColumn]]:
        limit = max(_CELLS // max(len(columns), 1), 1)
        start = 0
        while True:
            cells, _ = self._call(usecols=list(columns), row_offset=start, row_limit=limit)
            if not set(columns) <= cells.keys():
                raise broken(self._path, KeyError())
            count = len(cells[columns[0]])
            found = [self._column(name, cells[name]) for name in columns]
            for at in range(0, count, rows):
                yield [RawColumn(each.values.slice(at, rows), each.tags and each.tags.slice(at, rows))
                       for each in found]
            start += count
            if count < limit or start == self.rows:
                return

    def _column(self, name: str, cells: Sequence[Any]) -> RawColumn:
        if name in self.texts:
            encoding = "utf-8" if self.unicode or name in self._long else BYTES
            raw = [None if cell is None else str(cell).encode(encoding, "replace") for cell in cells]
            return RawColumn(pa.array(raw, pa.large_binary()))
        tags = pa.array([cell if isinstance(cell, str) else None for cell in cells], pa.large_string())
        plain = [None if cell is None or isinstance(cell, str) or math.isnan(cell) else cell for cell in cells]
        kind = self._types[name]
        # pyreadstat gives floats of 32 bits as doubles of the same value.
        return RawColumn(pa.array(plain, pa.float64()).cast(kind, safe=False), tags)
