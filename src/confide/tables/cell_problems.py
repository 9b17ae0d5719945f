"""Problems in the cells of a table, counted by column and reason. Only the holder of the table may see the problems.

A run takes the same time for every cell, and its reason for a bad cell follows from the role of the column alone. The
texts of this module describe the bad cells in more detail, for the holder alone and before anything is charged.
Examples are an empty cell, a date, a decimal comma, a currency sign, a level in another spelling, and a row with more
or fewer cells than the header.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.tables._cells import is_text, plain, strings
from confide.tables.roles import INFINITE, OUTSIDE, UNEVEN, UNLISTED
from confide.tables.roster import Roster
from confide.tables.sources import TableSource

__all__ = ["CellProblems", "Judged", "ids_of", "judged"]

_SIGN = "(?:[$€£¥₹]|EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW|TRY)"
_KINDS = (
    ("date", r"^[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?:[T ].*)?$|^[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}$"),
    ("currency", rf"^[+-]?{_SIGN}\s?[+-]?[0-9][0-9.,' ]*$|^[+-]?[0-9][0-9.,' ]*\s?{_SIGN}$"),
    ("thousands", r"^[+-]?[0-9]{1,3}(?:,[0-9]{3}){2,}(?:\.[0-9]*)?$|^[+-]?[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]*$"
                  r"|^[+-]?[0-9]{1,3}(?:[' ][0-9]{3})+(?:[.,][0-9]*)?$"),
    ("comma", r"^[+-]?[0-9]*(?:\.[0-9]{3})*,[0-9]+$"),
)
"""Names and patterns of texts that are no numbers. The name of the first pattern that matches a text is the reason of
the problem.
"""

_SAID = {
    "date": ("is a date, and dates are not supported", "are dates, and dates are not supported"),
    "currency": ("has a currency sign", "have a currency sign"),
    "thousands": ("has signs between thousands", "have signs between thousands"),
    "comma": ("has a comma, for decimals or thousands", "have a comma, for decimals or thousands"),
    "empty": ("is empty", "are empty"),
    "number": ("is not a number", "are not numbers"),
    OUTSIDE: ("is out of bounds", "are out of bounds"),
    INFINITE: ("is not finite", "are not finite"),
    UNEVEN: ("is not a whole number", "are not whole numbers"),
    UNLISTED: ("is not a level", "are not levels"),
    "other": ("cannot be used", "cannot be used"),
}
"""Mapping from the reason of a problem to the wording for one cell and for several cells."""

_LONGEST = 40  # letters of an example
_LISTED = 12  # levels that are named


class Role(Protocol):
    """The interface of a column's public role that finds problems in the cells of the column."""

    @property
    def column(self) -> str: ...

    def encode(self, cells: Any) -> tuple[Any, np.ndarray]: ...


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A column, and the rule that finds problems in its cells.

    Args:
        column: name of the column.
        judge: function from m cells to their values and the codes of their problems, as numbered in
            `confide.tables.roles`.
        unlisted: two texts on cells that are not on the list of the column: one text for one cell, and one text for
            several cells.
        levels: accepted values of the column, which are public; empty if the column has no list of values.
    """

    column: str
    judge: Callable[[Any], tuple[Any, np.ndarray]]
    unlisted: tuple[str, str] = _SAID[UNLISTED]
    levels: tuple[str, ...] = ()


def judged(roles: Sequence[Role]) -> list[Judged]:
    """A rule for each column, made from the column's role. If the role has a field `unlisted`, `Judged.unlisted` is
    taken from this field.
    """
    return [Judged(column=role.column, judge=role.encode,
                   unlisted=getattr(role, "unlisted", None) or _SAID[UNLISTED],
                   levels=tuple(getattr(role, "levels", ()))) for role in roles]


def ids_of(roster: Roster, id: str) -> list[Judged]:  # noqa: A002
    """A list with the rule for the column of ids: each id must be on the public list. The result is empty if the rows
    are numbered.

    Args:
        roster: public list of ids.
        id: name of the column of ids, or "row" if the rows are numbered.
    """
    def judge(cells: Any) -> tuple[Any, np.ndarray]:
        index = roster.index(cells, id)
        return index, np.where(index < 0, UNLISTED, 0)

    words = ("is not an id of the public list", "are not ids of the public list")
    return [] if id == "row" else [Judged(column=id, judge=judge, unlisted=words)]


class CellProblems:
    """Counts of the problems in the cells of one pass over a table. All counts are private.

    Args:
        columns: a rule for each column that is examined.
        examples: whether the text for each reason quotes a cell as an example. Set `examples` to True only for the
            holder of the table, never for data that participants have handed in.

    Example:
        >>> from confide.tables import Category, Numeric, open_table
        >>> problems = CellProblems(judged([Numeric(column="age", lower=0, upper=99),
        ...                                 Category(column="sex", levels=("male", "female"))]), examples=True)
        >>> table = open_table({"age": ["7", "1,5", "", "2024-05-01", "8,25"], "sex": ["male", "Male", "male", "", ""]})
        >>> for batch in problems.of(table).batches(["age", "sex"]):
        ...     pass
        >>> problems.reported()["age"][0]
        "age: 2 cells have a comma, for decimals or thousands, such as '1,5'"
        >>> problems.reported()["sex"]
        ('sex: 2 cells are empty', "sex: 1 cell is not a level, such as 'Male' (levels: male, female)")
    """

    def __init__(self, columns: Sequence[Judged], *, examples: bool = False) -> None:
        self._shown = examples
        self._columns = {each.column: each for each in columns}
        self._source: TableSource | None = None
        self._counts: dict[str, Counter[str | int]] = {}
        self._examples: dict[tuple[str, str | int], str] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are examined."""
        return tuple(self._columns)

    def of(self, source: TableSource) -> TableSource:
        """The same table as a source that counts the problems of each pass. The counts of the last pass are kept."""
        self._source = source
        return source.shown_to(self._see)

    def _see(self, batch: pa.RecordBatch | None) -> None:
        if batch is None:
            self._counts = {name: Counter() for name in self._columns}
            self._examples.clear()
            return
        for name in batch.schema.names:
            if name in self._columns:
                self._look(self._columns[name], batch.column(name))

    def _look(self, column: Judged, cells: pa.Array) -> None:
        _, wrong = column.judge(cells)
        bad = np.flatnonzero(np.asarray(wrong))
        if not len(bad):
            return
        array = plain(cells).take(pa.array(bad))
        texts = strings(column.column, array)
        for reason, which in _reasons(np.asarray(wrong)[bad], array, texts):
            count = int(np.count_nonzero(which))
            if count:
                self._counts[column.column][reason] += count
                self._examples.setdefault((column.column, reason), str(texts[int(np.argmax(which))].as_py()))

    def reported(self) -> dict[str, tuple[str, ...]]:
        """Mapping from column to texts on the problems in its cells. There is one text for each reason, the most
        frequent reason first, after the cells that the source could not read (`TableSource.faults`). A column without
        problems has an empty tuple.

        The key "" comes first and is about rows with more or fewer cells than the header. The cells of such rows are
        not counted as problems.
        """
        if self._source is None:
            return {}
        odd = self._source.odd_rows
        found = {"": tuple(_lengths(odd, len(self._source.column_names)))}
        faults = self._source.faults
        for name, counts in self._counts.items():
            unread = [fault for fault in faults if fault.column == name]
            left = Counter(counts)
            left["empty"] -= sum(odd.values()) + sum(fault.count for fault in unread if fault.empty)
            found[name] = (*(fault.in_words(examples=self._shown) for fault in unread),
                           *(self._text(name, reason, count) for reason, count in left.most_common() if count > 0))
        return found

    def _text(self, name: str, reason: str | int, count: int) -> str:
        one, several = self._columns[name].unlisted if reason == UNLISTED else _SAID[reason]
        text = f"{name}: " + (f"1 cell {one}" if count == 1 else f"{count:,} cells {several}")
        if self._shown and reason not in ("empty", INFINITE, OUTSIDE, UNEVEN):
            text += f", such as {_shown(self._examples[name, reason])!r}"
        levels = self._columns[name].levels if reason == UNLISTED else ()
        more = ", ..." if len(levels) > _LISTED else ""
        return f"{text} (levels: {', '.join(levels[:_LISTED])}{more})" if levels else text


def _reasons(wrong: np.ndarray, array: pa.Array, texts: pa.Array) -> Iterator[tuple[str | int, np.ndarray]]:
    """Pairs of a reason and a mask of the bad cells that have the reason."""
    empty = pc.fill_null(pc.equal(texts, ""), True).to_numpy(zero_copy_only=False)
    yield "empty", empty
    named = np.isin(wrong, (INFINITE, OUTSIDE, UNEVEN, UNLISTED)) & ~empty
    for problem in (INFINITE, OUTSIDE, UNEVEN, UNLISTED):
        yield problem, named & (wrong == problem)
    rest = ~empty & ~named
    if not is_text(array):
        yield "other", rest
        return
    for reason, pattern in _KINDS:
        match = pc.fill_null(pc.match_substring_regex(texts, pattern), False).to_numpy(zero_copy_only=False)
        yield reason, rest & match
        rest &= ~match
    yield "number", rest


def _lengths(odd: Counter[int], header: int) -> Iterator[str]:
    for cells, count in odd.most_common():
        rows = f"{count:,} {'row' if count == 1 else 'rows'}"
        if not cells:
            yield f"{rows} cannot be read: an empty line, not UTF-8, or quotes that do not close"
            continue
        length = "1 cell" if cells == 1 else f"{cells} cells"
        text = f"{rows} {'has' if count == 1 else 'have'} {length}, the header {header}"
        yield f"{text}: a comma at the end of a row, or a decimal comma" if cells > header else text


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
