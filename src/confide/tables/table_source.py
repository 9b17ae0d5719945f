"""The interface of a table that is read in batches, with the conversions that the roles of its columns need."""

from __future__ import annotations

import copy
import difflib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress
from confide.tables._cells import is_text, plain
from confide.tables._conversions import dates_of, labelled_texts, spelled_dates, spelled_numbers, without_words
from confide.tables.read_options import ColumnFacts, Form, ReadOptions

__all__ = ["CellFault", "Faults", "TableSource", "slices"]


@dataclass(frozen=True, kw_only=True)
class CellFault:
    """Cells of one column that the last pass could not read, with one problem in common. Counts, rows and values are
    private: they are for the holder of the table alone.

    Args:
        column: name of the column.
        problem: the fault of such a cell as a noun, such as "a date that does not exist".
        remedy: the correction, in words.
        count: number of such cells.
        empty: whether these cells arrive empty.
        examples: the places and the values of the first cells, such as ("row 7", "31.02.2024").

    Example:
        >>> fault = CellFault(column="born", problem="a date that does not exist", remedy="correct the date", count=2,
        ...                   examples=(("row 7", "31.02.2024"), ("row 9", "30.02.2024")))
        >>> str(fault)
        "born: 2 cells hold a date that does not exist, such as '31.02.2024' in row 7; correct the date"
        >>> fault.error()
        InvalidInput('born: a cell holds a date that does not exist; correct the date')
    """

    column: str
    problem: str
    remedy: str
    count: int
    empty: bool = True
    examples: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """The fault in words, with an example."""
        return self.in_words(examples=True)

    def in_words(self, *, examples: bool) -> str:
        """The fault in words, with the number of cells, and with or without an example. The words are for the holder of
        the table alone.
        """
        cells = "1 cell holds" if self.count == 1 else f"{self.count:,} cells hold"
        example = ""
        if examples and self.examples:
            place, value = self.examples[0]
            example = f", such as {value!r} in {place}" if value else f", the first in {place}"
        return f"{self.column}: {cells} {self.problem}{example}; {self.remedy}"

    def error(self) -> InvalidInput:
        """The fault as an error that others may see: without number, place or value of the cells."""
        return InvalidInput(self.column, f"a cell holds {self.problem}", self.remedy)


_LONGEST = 40  # letters of an example
_EXAMPLES = 3  # of one problem of one column


class Faults:
    """Collection of the faults of one pass."""

    def __init__(self) -> None:
        self._counts = Counter[tuple[str, str, str, bool]]()
        self._examples: dict[tuple[str, str, str, bool], list[tuple[str, str]]] = {}

    def add(self, column: str, problem: str, remedy: str, place: str, value: object, *, empty: bool = True) -> None:
        """Add one cell."""
        key = (column, problem, remedy, empty)
        self._counts[key] += 1
        kept = self._examples.setdefault(key, [])
        if len(kept) < _EXAMPLES:
            text = "" if value is None else str(value)
            kept.append((place, text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."))

    def add_all(
        self, column: str, problem: str, remedy: str, wrong: np.ndarray, first_row: int, values: pa.Array, *,
        empty: bool = True,
    ) -> None:
        """Add the cells of a mask of shape (m,). The first of the m cells is in row `first_row`, counted from 1."""
        count = int(np.count_nonzero(wrong))
        if not count:
            return
        for at in np.flatnonzero(wrong)[:_EXAMPLES].tolist():
            self.add(column, problem, remedy, f"row {first_row + at:,}", shown(values[at]), empty=empty)
        self._counts[column, problem, remedy, empty] += max(count - _EXAMPLES, 0)

    def listed(self) -> tuple[CellFault, ...]:
        """The faults, the most frequent first."""
        return tuple(CellFault(column=key[0], problem=key[1], remedy=key[2], empty=key[3], count=count,
                               examples=tuple(self._examples[key])) for key, count in self._counts.most_common())


def shown(value: pa.Scalar) -> str:
    """A cell as text; empty for a cell that cannot be shown."""
    try:
        found = value.as_py()
    except (UnicodeDecodeError, ValueError, OverflowError):
        return ""
    return found.decode("latin-1") if isinstance(found, bytes) else "" if found is None else str(found)


class TableSource(ABC):
    """A table that can be read any number of times, in batches.

    Args:
        name: name of the table in messages.
        column_names: names of all columns.
        row_count: number of rows; None if it is unknown before the rows are read.
        ordered: whether every pass gives the rows in the same order.
        untyped: whether the cells have no types, as in a text file, so that text may spell a number.
        facts: mapping from column name to the facts that the file or the codebook declares; empty without any.
        weight: name of the column of survey weights that the file declares; "" for none.
        options: the settings with which the table was opened.
        keep: mapping from column name to the codes that arrive as codes, as in `open_table`.
    """

    name: str
    column_names: tuple[str, ...]
    row_count: int | None = None
    ordered: bool = True
    untyped: bool = False
    facts: Mapping[str, ColumnFacts] = MappingProxyType({})
    weight: str = ""
    options: ReadOptions = ReadOptions()
    keep: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    _forms: Mapping[str, Form] = MappingProxyType({})
    _faults: Faults | None = None

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
        return self._batches(tuple(columns), rows)

    def labelled(self, columns: Collection[str]) -> Self:
        """The same table with value labels in place of codes, in the columns that have value labels.

        A code that has no label, and a code of `keep`, stays a code. If `options.labels` is False, the table is
        unchanged.

        Args:
            columns: names of columns; columns without value labels are unchanged.

        Raises:
            InvalidInput: two codes of answers have one label. The error is raised when the column is read.
        """
        return self._with("labels", [each for each in columns
                                     if self.options.labels and each in self.facts and self.facts[each].labels])

    def numeric(self, columns: Collection[str]) -> Self:
        """The same table, in which text that spells a number in the declared style (`options.decimal` and
        `options.thousands`) spells it with a decimal point: `1.234,50` becomes `1234.50`.

        A number in another style arrives empty, and is listed in `faults`. Other texts are unchanged.

        Args:
            columns: names of columns. Columns of other types than text are unchanged.
        """
        return self._with("numbers", [each for each in columns if self._style(each) != (".", "")])

    def dated(self, columns: Collection[str]) -> Self:
        """The same table with dates (Arrow's date32) in place of timestamps, and of texts in the declared order
        (`options.dates`).

        A cell that is no date arrives empty, and is listed in `faults`. In a column with codes of `keep`, the dates
        arrive as texts such as 2024-05-22 beside the codes.

        Args:
            columns: names of columns of dates, timestamps or texts.

        Raises:
            InvalidInput: a column holds neither dates nor texts. The error is raised when the column is read.
        """
        return self._with("dates", list(columns))

    def for_roles(self, roles: Iterable[Any]) -> Self:
        """The same table in the forms that the roles of its columns read: labels for levels, numbers in the declared
        style, and dates in the declared order.

        Args:
            roles: objects with a `column`, and with `reads`, which is "labels", "numbers" or "dates". A role without
                `reads` leaves its column unchanged.

        Raises:
            InvalidInput: the levels of a role are codes of the file, although the file has labels for these codes; or a
                level is the label of a code that means a missing answer.
        """
        source, forms = self, [(role, getattr(role, "reads", "")) for role in roles]
        for role, form in forms:
            if form == "labels":
                source._check_levels(role)
        source = source.labelled([role.column for role, form in forms if form == "labels"])
        source = source.numeric([role.column for role, form in forms if form == "numbers"])
        return source.dated([role.column for role, form in forms if form == "dates"])

    def _check_levels(self, role: Any) -> None:
        facts, levels = self.facts.get(role.column), set(getattr(role, "levels", ()))
        if facts is None or not self.options.labels or not levels or not facts.labels:
            return
        if levels <= set(facts.labels) and not levels & set(facts.labels.values()):
            listed = ", ".join(facts.levels[:12]) + (", ..." if len(facts.levels) > 12 else "")
            raise InvalidInput(role.column, f"its levels are codes, but {self.name} has labels for them",
                               f"write the labels as levels ({listed}), or set labels = false")
        kept = self.keep.get(role.column, ())
        lost = {label: code for code, label in facts.labels.items() if facts.is_missing(code) and code not in kept}
        for level in getattr(role, "levels", ()):
            if level in lost and level not in facts.levels:
                raise InvalidInput(role.column, f"its level {level!r} is the label of {lost[level]}, a code that means "
                                   "a missing answer", "leave the level out, or declare a cell for the code with codes")

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

        Unreadable rows have another number of cells than the header. A table that is no text file has no unreadable
        rows.
        """
        return Counter()

    @property
    def faults(self) -> tuple[CellFault, ...]:
        """The cells that the last pass could not read, for the holder of the table alone. The most frequent faults come
        first.
        """
        return () if self._faults is None else self._faults.listed()

    def _style(self, column: str) -> tuple[str, str]:
        """The decimal mark and the sign between thousands of the numbers of a column that are texts."""
        if self.facts.get(column, ColumnFacts()).format.endswith("comma_decimal"):
            return ",", self.options.thousands if self.options.thousands != "," else ""
        return self.options.decimal, self.options.thousands

    def _with(self, form: Form, columns: Collection[str]) -> Self:
        new = {column: form for column in columns if column not in self._forms}
        if not new:
            return self
        found = copy.copy(self)
        found._forms = MappingProxyType({**self._forms, **new})
        return found

    def _batches(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        self._faults = faults = Faults()
        batches = self._read(columns, rows)
        if not self.options.missing and not self._forms.keys() & set(columns):
            return batches
        return self._converted(batches, faults)

    def _converted(self, batches: Iterator[pa.RecordBatch], faults: Faults) -> Iterator[pa.RecordBatch]:
        row = 1
        for batch in batches:
            arrays = [self._column(name, batch.column(at), row, faults)
                      for at, name in enumerate(batch.schema.names)]
            yield pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)
            row += batch.num_rows

    def _column(self, name: str, array: pa.Array, row: int, faults: Faults) -> pa.Array:
        """The cells of a column in the form that was asked for. The first cell is in row `row`."""
        kept, form = self.keep.get(name, ()), self._forms.get(name)
        if form is None and not self.options.missing:
            return array
        cells = without_words(plain(array), [word for word in self.options.missing if word not in kept])
        if form == "labels":
            return labelled_texts(name, cells, self.facts[name], kept)
        if form == "numbers" and is_text(cells):
            found, wrong = spelled_numbers(cells, *self._style(name))
            faults.add_all(name, "a number in another style", self._remedy(name), wrong, row, cells)
            return found
        if form == "dates":
            return self._dates(name, cells, kept, row, faults)
        return cells

    def _dates(self, name: str, cells: pa.Array, kept: Collection[str], row: int, faults: Faults) -> pa.Array:
        codes = None
        if kept and is_text(cells):
            codes = pc.is_in(pc.ascii_trim_whitespace(cells), value_set=pa.array(list(kept), pa.large_string()))
            cells, texts = pc.if_else(codes, pa.scalar(None, cells.type), cells), cells
        found, problems = dates_of(name, cells, self.options.dates)
        for wrong, problem in problems:
            faults.add_all(name, problem, self._date_remedy(problem), wrong, row, cells)
        return found if codes is None else pc.if_else(codes, texts, spelled_dates(found))

    @staticmethod
    def _date_remedy(problem: str) -> str:
        return ("correct the date" if "not exist" in problem else
                "write a date within these years, or leave the cell empty" if "outside" in problem else
                'declare the order of the dates, such as dates = "day.month.year", or correct the cell')

    def _remedy(self, column: str) -> str:
        decimal, thousands = self._style(column)
        return f'write it with decimal = "{decimal}" and thousands = "{thousands}", or declare the style of the file'

    def _check(self, column: str) -> None:
        found = self.column_names.count(column)
        if found == 1:
            return
        if found:
            raise InvalidInput(column, f"{found} columns of {self.name} have this name",
                               "give each column a name of its own")
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
        self.row_count, self.ordered, self.untyped = source.row_count, source.ordered, source.untyped
        self.facts, self.weight, self.options, self.keep = source.facts, source.weight, source.options, source.keep

    @property
    def odd_rows(self) -> Counter[int]:
        return self._source.odd_rows

    @property
    def faults(self) -> tuple[CellFault, ...]:
        return self._source.faults

    def _with(self, form: Form, columns: Collection[str]) -> Self:
        found = copy.copy(self)
        found._source = self._source._with(form, columns)
        return found

    def _check(self, column: str) -> None:
        self._source._check(column)

    def _batches(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        return self._read(columns, rows)

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        self._see(None)
        for batch in self._source._batches(columns, rows):
            yield batch
            self._see(batch)


def slices(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    """A batch in parts of at most `rows` rows."""
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
