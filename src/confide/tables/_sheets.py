"""Sheets of workbooks (Excel and OpenDocument) as tables of texts.

The cells of a sheet have types of their own, and a column has none. Every column therefore arrives as text, cell by
cell: a number in its shortest spelling, a date as 2024-05-22, a boolean as true or false. A text such as 007 stays a
text.
"""

from __future__ import annotations

import datetime
import html
import posixpath
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.tables._conversions import dates_of, spelled_numbers
from confide.tables._file_headers import refuse_other_formats
from confide.tables._packaged import extra
from confide.tables._stat_readers import broken
from confide.tables._values import cells
from confide.tables.read_options import ReadOptions
from confide.tables.table_source import Faults, TableSource

__all__ = ["SUFFIXES", "Sheet"]

SUFFIXES = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
"""Suffixes of workbooks."""

_SETTINGS = ("decimal", "thousands", "dates", "missing", "sheet", "header_row", "labels", "codebook")
_LONG = 10.0**15
"""Bound on the absolute value of whole numbers that a workbook stores exactly: it keeps 15 digits."""


class Sheet(TableSource):
    """A sheet of a workbook. Every column is a column of text.

    The row below the header is row 1 of the table. Rows without any value at the end of the sheet are no rows of the
    table. In .xls and .xlsb files, a cell with an error is an empty cell, because these formats are read without a
    second look at their errors and hidden rows.

    Args:
        path: path of the workbook.
        options: the settings of the sheet.

    Raises:
        InvalidInput: the workbook is damaged or has a password; the sheet is not named and is not the only visible one;
            the header does not name the columns; or rows are hidden, or cells merged, within the table.
    """

    untyped = True

    def __init__(self, path: Path, options: ReadOptions) -> None:
        options.allow_only(_SETTINGS, "a sheet")
        refuse_other_formats(path)
        calamine = extra("python_calamine", "files")
        self._path, self.name, self.options = path, path.name, options
        try:
            book = calamine.CalamineWorkbook.from_path(path)
            name = self._sheet_name(book, calamine)
            self._sheet = book.get_sheet_by_name(name)
            self._seen = _look(path, name)
            self._left, self._right = (self._sheet.start or (0, 0))[1], (self._sheet.end or (-1, -1))[1]
            self.row_count = max((self._sheet.end or (-1, -1))[0] + 1 - options.header_row, 0)
            self._places = self._header()
        except InvalidInput:
            raise
        except BaseException as error:  # noqa: BLE001 - a panic of the package is no Exception
            raise self._broken(error) from None
        self.column_names = tuple(name for name, _ in self._places)
        self._refuse_layout()

    def _broken(self, error: BaseException) -> BaseException:
        """The error for a damaged workbook; an error that is not about the workbook stays itself."""
        # A panic of the package, which is written in Rust, is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            return error
        text = str(error).lower()
        if "password" in text or "encrypt" in text:
            return InvalidInput("source", f"{self.name} has a password", "save it without a password")
        return broken(self._path, error)

    def _sheet_name(self, book: Any, calamine: Any) -> str:
        sheets = {each.name: each.visible for each in book.sheets_metadata
                  if each.typ == calamine.SheetTypeEnum.WorkSheet}
        visible: list[str] = [name for name, seen in sheets.items() if seen == calamine.SheetVisibleEnum.Visible]
        if self.options.sheet:
            if self.options.sheet not in sheets:
                raise InvalidInput("sheet", f"{self.name} has no sheet {self.options.sheet!r}", did_you_mean(
                    self.options.sheet, sheets, f"sheets: {', '.join(sheets)}"))
            return self.options.sheet
        if len(visible) != 1:
            raise InvalidInput("sheet", f"is not given, and {self.name} has {len(visible)} visible sheets",
                               f"name one of {', '.join(visible or sheets)}")
        return visible[0]

    def _header(self) -> list[tuple[str, int]]:
        """The names of the columns that have one, with the places of the columns from 0."""
        row, width = self.options.header_row, self._right - self._left + 1
        found = next(self._cells_from(row), [])
        names = [(name, at) for at, cell in enumerate(found) if (name := str(_text(cell, plain=True)).strip())]
        if not names or (len(names) == 1 and width > 1) or 2 * len(names) < width:
            raise InvalidInput("header_row", f"row {row} of the sheet names {len(names)} of {max(width, 0)} columns",
                               "set header_row to the number of the row that names the columns")
        return names

    def _cells_from(self, row: int) -> Iterator[list[Any]]:
        """The cells of the rows from a row of the sheet on, each row from the first column on."""
        before, found = [""] * self._left, islice(self._sheet.iter_rows(), row - 1, None)
        while True:
            try:
                cells_of_row = next(found, None)
            except BaseException as error:  # noqa: BLE001
                raise self._broken(error) from None
            if cells_of_row is None:
                return
            yield before + cells_of_row

    def _refuse_layout(self) -> None:
        """Refuse hidden rows and merged cells within the table: their meaning is unknown."""
        header = self.options.header_row
        last, names = header + (self.row_count or 0), {at: name for name, at in self._places}
        if any(header < row <= last for row in self._seen.hidden_rows):
            why = ", by a filter" if self._seen.filtered else ""
            raise InvalidInput("source", f"rows of the sheet are hidden{why}",
                               "show all rows, and delete the rows that do not belong to the table")
        for (top, left), (bottom, right) in [*(self._sheet.merged_cell_ranges or ()), *self._seen.merged]:
            name = next((names[at] for at in range(left, right + 1) if at in names), None)
            if bottom + 1 >= header and top < last and name is not None:
                raise InvalidInput("source" if top < header else name, "cells of the header are merged"
                                   if top < header else "cells of the column are merged",
                                   "unmerge them, and write the value into each of the cells")

    # ---- the cells

    def numeric(self, columns: Collection[str]) -> Self:
        return self._with("numbers", list(columns))  # in any style: a number may be longer than a code

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        faults, done = self._faults or Faults(), 0
        places = [dict(self._places)[name] for name in columns]
        reads = [self._reader(name, at, faults) for name, at in zip(columns, places, strict=True)]
        wanted: list[list[Any]] = [[] for _ in columns]

        def batch() -> pa.RecordBatch:
            arrays = [read(cells_of_column, done) for read, cells_of_column in zip(reads, wanted, strict=True)]
            return pa.RecordBatch.from_arrays(arrays, names=list(columns))

        for row in self._cells_from(self.options.header_row + 1):
            for at, cells_of_column in zip(places, wanted, strict=True):
                cells_of_column.append(row[at] if at < len(row) else "")
            if len(wanted[0]) == rows:
                yield batch()
                done += rows
                wanted = [[] for _ in columns]
        if wanted[0]:
            yield batch()

    def _reader(self, name: str, at: int, faults: Faults) -> Callable[[list[Any], int], pa.Array]:
        """The function that turns some cells of a column into an array, of which the first follows `done` rows."""
        form, words = self._forms.get(name), set(self.options.missing) - set(self.keep.get(name, ()))
        errors = {row: text for (row, column), text in self._seen.errors.items() if column == at}
        long = {row for row, column in self._seen.long_numbers if column == at}
        letter, header = _letters(at), self.options.header_row

        def place(row: int) -> str:
            return f"row {row:,} (cell {letter}{row + header})"

        def one(value: Any, row: int) -> Any:
            sheet_row = row + header - 1
            if value == "" and sheet_row in errors:
                faults.add(name, *_ERROR if errors[sheet_row] else _NO_VALUE, place(row), errors[sheet_row] or None)
                return None
            text = value.strip() if isinstance(value, str) else ""
            if value == "" or text in words:
                return None
            if isinstance(value, float) and form != "numbers" and (abs(value) >= _LONG or sheet_row in long):
                faults.add(name, *_TOO_LONG, place(row), value)
                return None
            return value

        def blame(wrong: np.ndarray, problem: str, remedy: str, values: list[Any], done: int) -> None:
            for number in np.flatnonzero(wrong).tolist():
                faults.add(name, problem, remedy, place(done + number + 1), values[number])

        def numbered(values: list[Any], done: int) -> pa.Array:
            texts = [value.strip() if isinstance(value, str) else None for value in values]
            spelled, wrong = spelled_numbers(pa.array(texts, pa.large_string()), *self._style(name))
            blame(wrong, "a number in another style", self._remedy(name), values, done)
            return cells([_text(value) if text is None else number for value, text, number
                          in zip(values, texts, spelled.to_pylist(), strict=True)])

        def dated(values: list[Any], done: int) -> pa.Array:
            kept = self.keep.get(name, ())
            texts = [value.strip() if isinstance(value, str) else
                     None if value is None or isinstance(value, datetime.date) else  # of which a datetime is one
                     str(_text(value, plain=True)).strip() for value in values]
            spelled = pa.array([None if text in kept else text for text in texts], pa.large_string())
            days, problems = dates_of(name, spelled, self.options.dates)
            for wrong, problem in problems:
                blame(wrong, problem, self._date_remedy(problem), texts, done)
            found = [text if text in kept else day if value is None or text is not None else
                     value.date() if isinstance(value, datetime.datetime) else value
                     for value, text, day in zip(values, texts, days.to_pylist(), strict=True)]
            if kept:
                return pa.array([None if each is None else str(each) for each in found], pa.large_string())
            return pa.array(found, pa.date32())

        def read(values: list[Any], done: int) -> pa.Array:
            found = [one(value, done + number) for number, value in enumerate(values, 1)]
            if form == "dates":
                return dated(found, done)
            return numbered(found, done) if form == "numbers" else cells(map(_text, found))

        return read

    def _column(self, name: str, array: pa.Array, row: int, faults: Faults) -> pa.Array:
        if self._forms.get(name) in ("numbers", "dates"):  # the cells are in this form already
            return array
        return super()._column(name, array, row, faults)


_ERROR = ("an error of the sheet", "correct its formula, or clear the cell")
_NO_VALUE = ("a formula without a value", "open the workbook in a spreadsheet program, and save it again")
_TOO_LONG = ("a number of more than 15 digits, which a sheet does not hold", "write such codes as text")


def _text(value: Any, *, plain: bool = False) -> Any:
    """A cell in a form that `cells` reads; as a text if `plain`."""
    if isinstance(value, datetime.timedelta):
        seconds = value.total_seconds()
        return f"{seconds:.12g}"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(cells([value])[0].as_py() or "") if plain else value


def _letters(column: int) -> str:
    """The letters of a column of a sheet, which is counted from 0."""
    found, column = "", column + 1
    while column:
        column, letter = divmod(column - 1, 26)
        found = chr(ord("A") + letter) + found
    return found


# ---- the parts of a workbook that its reader does not show

Cell = tuple[int, int]
"""Row and column of a cell, from 0."""


@dataclass
class _Seen:
    """The parts of a sheet that are no values.

    Args:
        errors: mapping from the place of a cell to its error, or to "" for a formula without a value.
        long_numbers: places of the numbers that are written with 16 digits or more.
        hidden_rows: numbers of hidden rows, from 1.
        filtered: whether the sheet has a filter.
        merged: first and last cells of merged ranges.
    """

    errors: dict[Cell, str] = field(default_factory=dict)
    long_numbers: set[Cell] = field(default_factory=set)
    hidden_rows: list[int] = field(default_factory=list)
    filtered: bool = False
    merged: list[tuple[Cell, Cell]] = field(default_factory=list)


def _look(path: Path, sheet: str) -> _Seen:
    """Read the XML of a sheet once for errors, formulas without values, long numbers, and hidden rows."""
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        with zipfile.ZipFile(path) as archive:
            part = _part(archive, sheet)
            if part is None:
                return _Seen()
            with archive.open(part) as file:
                return _look_at_excel(_blocks(file, rb"</(?:\w+:)?row>"))
    if path.suffix.lower() == ".ods":
        with zipfile.ZipFile(path) as archive, archive.open("content.xml") as file:
            return _look_at_document(_blocks(file, rb"</table:table(?:-row)?>"), sheet)
    return _Seen()


_BLOCK = 1 << 22


def _blocks(file: Any, end: bytes) -> Iterator[bytes]:
    """The bytes of a file in blocks that end behind the end of a row."""
    ends, rest = re.compile(end), b""
    while chunk := file.read(_BLOCK):
        rest += chunk
        done = 0
        for found in ends.finditer(rest):
            done = found.end()
        if done:
            yield rest[:done]
            rest = rest[done:]
    yield rest


def _attribute(tag: bytes, name: bytes) -> str | None:
    found = re.search(rb"\s" + name + rb"""\s*=\s*(?:"([^"]*)"|'([^']*)')""", tag)
    return None if found is None else html.unescape((found[1] or found[2] or b"").decode("utf-8", "replace"))


def _part(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The part of a workbook that holds a sheet."""
    names = set(archive.namelist())
    if "xl/workbook.xml" not in names or "xl/_rels/workbook.xml.rels" not in names:
        return None
    book, relations = archive.read("xl/workbook.xml"), archive.read("xl/_rels/workbook.xml.rels")
    target = next((_attribute(tag, rb"\w+:id") for tag in re.findall(rb"<(?:\w+:)?sheet\b[^>]*>", book)
                   if _attribute(tag, b"name") == sheet), None)
    for tag in re.findall(rb"<(?:\w+:)?Relationship\b[^>]*>", relations):
        if target is not None and _attribute(tag, b"Id") == target:
            part = posixpath.normpath(posixpath.join("xl", _attribute(tag, b"Target") or "")).lstrip("/")
            part = part if part in names else (_attribute(tag, b"Target") or "").lstrip("/")
            return part if part in names else None
    return None


_ROW = re.compile(rb"""<(?:\w+:)?row\b[^>]*\shidden\s*=\s*["'](?:1|true)["'][^>]*>""")
_WRONG = re.compile(rb"""<(?:\w+:)?c\b[^>]*\st\s*=\s*["']e["'][^>]*>(.*?)</(?:\w+:)?c>""", re.DOTALL)
_VALUE = re.compile(rb"<(?:\w+:)?v\b[^>]*>([^<]*)<")
_FORMULA = re.compile(rb"""(<(?:\w+:)?c\b[^>]*[^>/])>\s*<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*"""
                      rb"""((?:<(?:\w+:)?v\b[^>]*/>|<(?:\w+:)?v\b[^>]*></(?:\w+:)?v>)?)\s*</(?:\w+:)?c>""")
_DIGITS = re.compile(rb"""(<(?:\w+:)?c\b[^>]*)>\s*<(?:\w+:)?v\b[^>]*>-?[0-9]{16,}</""")


def _place(tag: bytes) -> Cell | None:
    """The place of a cell by its address, such as B7."""
    found = re.fullmatch("([A-Z]{1,3})([0-9]{1,7})", _attribute(tag, b"r") or "")
    if found is None:
        return None
    column = 0
    for letter in found[1]:
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(found[2]) - 1, column - 1


def _look_at_excel(blocks: Iterable[bytes]) -> _Seen:
    seen = _Seen()
    for block in blocks:
        for row in _ROW.finditer(block):
            number = _attribute(row[0], b"r")
            if number is not None and number.isdigit():
                seen.hidden_rows.append(int(number))
        for cell in _WRONG.finditer(block):
            value, at = _VALUE.search(cell[1]), _place(cell[0][: cell[0].index(b">")])
            if at is not None:
                seen.errors[at] = html.unescape(value[1].decode("utf-8", "replace")) if value else "#VALUE!"
        for cell in _FORMULA.finditer(block):
            at = _place(cell[1])
            # A formula with an empty text as its value has one.
            if at is not None and not (cell[2] and _attribute(cell[1], b"t") == "str"):
                seen.errors[at] = ""
        for cell in _DIGITS.finditer(block):
            at = _place(cell[1])
            if at is not None and _attribute(cell[1], b"t") in (None, "n"):
                seen.long_numbers.add(at)
        seen.filtered |= re.search(rb"<(?:\w+:)?autoFilter\b", block) is not None
    return seen


_TOKEN = re.compile(rb"<table:(table-row|table-cell|covered-table-cell|table)(?=[\s/>])[^>]*>|</table:table(?:-row)?>")


def _look_at_document(blocks: Iterable[bytes], sheet: str) -> _Seen:
    """Read an OpenDocument sheet, in which equal rows and cells are written once with their number."""
    seen, inside, row, column, repeated = _Seen(), False, 0, 0, 1
    for block in blocks:
        for token in _TOKEN.finditer(block):
            tag, kind = token[0], token[1]
            if kind == b"table":
                inside, row = _attribute(tag, b"table:name") == sheet, 0
            elif not inside:
                continue
            elif kind == b"table-row":
                column, repeated = 0, _count(tag, b"table:number-rows-repeated")
                if _attribute(tag, b"table:visibility") in ("collapse", "filter"):
                    seen.filtered |= _attribute(tag, b"table:visibility") == "filter"
                    seen.hidden_rows.extend(range(row + 1, row + 1 + min(repeated, 1 << 20)))
            elif kind is not None:
                many = _count(tag, b"table:number-columns-repeated")
                down, right = (_count(tag, b"table:number-" + each + b"-spanned") for each in (b"rows", b"columns"))
                if down > 1 or right > 1:
                    seen.merged.append(((row, column), (row + down - 1, column + right - 1)))
                if _attribute(tag, b"calcext:value-type") == "error":
                    for at in range(min(repeated, 1 << 16)):
                        seen.errors.update({(row + at, column + each): "#ERROR" for each in range(min(many, 1 << 10))})
                column += many
            elif tag == b"</table:table-row>":
                row += repeated
            else:
                inside = False
            if kind == b"table-row" and tag.endswith(b"/>"):
                row += repeated
    return seen


def _count(tag: bytes, name: bytes) -> int:
    found = _attribute(tag, name)
    return int(found) if found is not None and found.isdigit() else 1
