"""Conversion of tables of reports into the records of a program. Depending on the program, a table has one row for each
person, or it is a table of bids.

A table of bids has one line for each person and bundle. Each person wants at most one of their bundles.

An invalid line makes the person's whole record unusable. Two lines of a person about the same bundle, or more lines
than a record may have, also make the record unusable.

A cell must contain a number within public bounds, or a name from a public list.

Each cell is checked by the public rule of its own column alone. An error in one cell makes the whole row unusable.

In a table with one row for each person, a rule of the program's family then checks all cells of a row together.

One person's bad row affects nobody else. The person counts as a participant without a record, and their id is reported
to the operator.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.tables import FirstRows, Roster, TableSource, rejections
from confide.tables._cells import is_text, numbers, places, plain, strings
from confide.tables.roles import FINE, INFINITE, MISSING, OUTSIDE, UNLISTED
from confide.tables.slot_rows import SlotRows

__all__ = ["Bids", "Choice", "Column", "Judge", "Number", "Points", "read_wide", "reason", "typed_wide"]

# ---- columns

_Reals = NDArray[np.float64]
_Problems = NDArray[np.int8]
_SHOWN = 12  # names that a message has


@dataclass(frozen=True, kw_only=True)
class Points:
    """The public scale of values, from a lowest number with value 0 to a highest number with value 1.

    Args:
        lowest: number that counts as 0.
        highest: number that counts as 1.
        clip: whether a number outside the scale is moved to the nearer end of the scale. If false, a number outside the
            scale makes the row unusable.
    """

    lowest: float = 0.0
    highest: float = 1.0
    clip: bool = False

    @property
    def unit(self) -> float:
        """Number of points that stand for a value of 1."""
        return self.highest - self.lowest


class Column(Protocol):
    """Public rule for one column of a file of reports. The rule converts cells to numbers and finds their errors."""

    @property
    def name(self) -> str: ...

    def cells(self, column: Any) -> tuple[_Reals, _Problems]:
        """The number in each cell, and the code of each cell's error (0 if valid). Both arrays have shape (m,)."""
        ...

    def typed(self, cell: float) -> str | float:
        """Text or number that a file must contain so that `cells` gives the given number."""
        ...

    def limit(self) -> str:
        """Description of the accepted cells, for error messages."""
        ...


@dataclass(frozen=True, kw_only=True)
class Number:
    """Rule for a column of numbers within public bounds. The numbers are scaled: (number - zero)/unit.

    Args:
        name: name of the column.
        lowest: lowest accepted number.
        highest: highest accepted number.
        zero: number in the file that is read as 0.
        unit: the number `zero + unit` in the file is read as 1.
        clip: whether a number outside its bounds is moved to the nearer bound.
        empty: number of the file that an empty cell counts as; None where an empty cell makes the row unusable.

    Example:
        >>> import pyarrow as pa
        >>> Number(name="law", lowest=0, highest=8, zero=0, unit=8, empty=0).cells(pa.array(["2", "", "9", "x"]))
        (array([0.25, 0.  , 0.  , 0.  ]), array([0, 0, 3, 1], dtype=int8))
    """

    name: str
    lowest: float
    highest: float
    zero: float = 0.0
    unit: float = 1.0
    clip: bool = False
    empty: float | None = None

    @classmethod
    def of_values(cls, name: str, points: Points) -> Number:
        """Rule for a column of values on the public scale. An empty cell is read as value 0.

        Args:
            name: name of the column.
            points: public scale of values.
        """
        return cls(name=name, lowest=points.lowest, highest=points.highest, zero=points.lowest, unit=points.unit,
                   clip=points.clip, empty=points.lowest)

    def cells(self, column: Any) -> tuple[_Reals, _Problems]:
        array = plain(column)
        found = numbers(self.name, array)
        blank = np.isnan(found)
        if is_text(array):  # what is written and no number is wrong; of a column of numbers, a missing one is left out
            written = pc.fill_null(pc.not_equal(strings(self.name, array), ""), False).to_numpy(zero_copy_only=False)
            blank &= ~written
        problems = np.zeros(len(found), dtype=np.int8)
        if not self.clip:
            problems[(found < self.lowest) | (found > self.highest)] = OUTSIDE
        problems[np.isinf(found)] = INFINITE
        problems[np.isnan(found)] = MISSING
        if self.empty is not None:
            problems[blank] = FINE
            found = np.where(blank, self.empty, found)
        inside = np.clip(np.where(problems == FINE, found, self.zero), self.lowest, self.highest)
        return (inside - self.zero) / self.unit, problems

    def typed(self, cell: float) -> str | float:
        return self.zero + cell * self.unit

    def limit(self) -> str:
        return f"must be in [{self.lowest:.12g}, {self.highest:.12g}]"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Rule for a column of names from a public list. A cell is read as the index of its name in the list, from 0.

    Args:
        name: name of the column.
        names: public list of the accepted names.
    """

    name: str
    names: tuple[str, ...]

    def cells(self, column: Any) -> tuple[_Reals, _Problems]:
        words = strings(self.name, plain(column))
        found = places(words, tuple(self.names)).astype(np.float64)
        return found, np.where(found < 0, UNLISTED, FINE).astype(np.int8)

    def typed(self, cell: float) -> str | float:
        return self.names[int(cell)]

    def limit(self) -> str:
        shown = ", ".join(repr(name) if "," in name else name for name in self.names[:_SHOWN])
        return f"must be one of {shown}{', ...' * (len(self.names) > _SHOWN)}"


def reason(column: Column, problem: int) -> str:
    """Description of the error of a cell, from public information alone.

    Args:
        column: column of the cell.
        problem: code of the cell's error, from `Column.cells`.
    """
    words = {MISSING: "is not a number", INFINITE: "is not finite", OUTSIDE: "is out of bounds",
             UNLISTED: "is not on the public list"}
    return f"{column.name}: {words[problem]}; {column.limit()}"


# ---- wide

_CELLS = 2**21  # of a batch
_PEOPLE = 2**16  # of a batch

Judge = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.bool_]]]
"""Type of the rule that a family of programs has for whole rows, a function. The function receives the cells of m rows,
shape (m, columns), each of which is valid by itself. The function returns the cells in the order in which records are
stored (`slots.Layout`), shape (m, c), and whether each row is unusable, shape (m,).
"""


def read_wide(
    source: TableSource, *, columns: Sequence[Column], judge: Judge, limit: str, roster: Roster, id: str = "row",  # noqa: A002
    rejected: MutableMapping[str, str] | None = None, rows: int | None = None,
) -> Iterator[SlotRows]:
    """Read a table with one row for each person, in one pass. The result is an iterator of batches of records.

    Args:
        source: table to read.
        columns: public rule of each column of the table except the column of ids.
        judge: rule of the program's family for a whole row.
        limit: description of the rule for a whole row, for error messages.
        roster: public list of ids.
        id: name of the column of ids. With "row", the i-th row belongs to the i-th id of the list. If an id has several
            rows, the first row counts.
        rejected: dictionary to which the reason of each rejected row is added. The key is the id of the person, or the
            number of the row, such as "row 7", if the row has no id of the list. Only the operator may see the
            dictionary.
        rows: largest number of rows in a batch. The number affects only the speed.

    Raises:
        InvalidInput: a column is missing, or has a type without the required values. A wrong value in a single cell
            never raises an error.
    """
    names = [each.name for each in columns]
    if id == "row" and not source.ordered:
        raise InvalidInput("people.id", "the rows of a query have no order", "name a column of ids")
    size = max(1, min(_PEOPLE, _CELLS // len(names))) if rows is None else rows
    return _wide(source.batches([*names, *([] if id == "row" else [id])], size), columns, judge, limit,
                 FirstRows(roster, id), rejected)


def _wide(
    batches: Iterator[pa.RecordBatch], columns: Sequence[Column], judge: Judge, limit: str, first: FirstRows,
    rejected: MutableMapping[str, str] | None,
) -> Iterator[SlotRows]:
    for batch in batches:
        index = first.claim(batch)
        cells, wrong = _cells([batch.column(each.name) for each in columns], columns)
        flat, unfit = judge(cells)
        bad = (wrong != FINE).any(axis=1)
        lost = bad | unfit | (index < 0)
        if rejected is not None and lost.any():
            column = np.argmax(wrong != FINE, axis=1)
            reasons = {row: reason(columns[column[row]], int(wrong[row, column[row]])) if bad[row] else limit
                       for row in np.flatnonzero((bad | unfit) & (index >= 0)).tolist()}
            rejected.update(rejections(first, batch, index, lost, reasons))
        yield SlotRows(index[~lost], flat[~lost])


def _cells(given: Sequence[object], columns: Sequence[Column]) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    found = [each.cells(column) for each, column in zip(columns, given, strict=True)]
    return (np.stack([one[0] for one in found], axis=1), np.stack([one[1] for one in found], axis=1))


def typed_wide(
    given: Mapping[str, str], *, columns: Sequence[Column], judge: Judge, limit: str
) -> NDArray[np.float64]:
    """One person's row in the form in which records are stored (`slots.Layout`), shape (c,), from answers that the
    person typed. The answers are converted like a row of a file.

    Args:
        given: mapping from column name to the text that the person typed for it. A missing column counts as an empty
            cell.
        columns: public rule of each column.
        judge: rule of the program's family for a whole row.
        limit: description of the rule for a whole row, for error messages.

    Raises:
        InvalidInput: an unknown column, or an unusable row. The error message is for the person alone.
    """
    names = [each.name for each in columns]
    for name in given:
        if name not in names:
            shown = f"columns: {', '.join(names[:_SHOWN])}{', ...' * (len(names) > _SHOWN)}"
            raise InvalidInput("record", f"{name!r} is not a column of this campaign",
                               did_you_mean(name, names, shown, cutoff=0.5))
    texts = [pa.array([str(given.get(name, ""))], pa.large_string()) for name in names]
    cells, wrong = _cells(texts, columns)
    for place, problem in enumerate(wrong[0].tolist()):
        if problem != FINE:
            raise InvalidInput("record", reason(columns[place], problem))
    flat, unfit = judge(cells)
    if unfit[0]:
        raise InvalidInput("record", "cannot be used", limit)
    row: NDArray[np.float64] = flat[0]
    return row


# ---- bids

_JOIN = "+"


@dataclass(frozen=True, kw_only=True)
class Bids:
    """Rules for a table of bids, in which "a+b" stands for the bundle of the goods a and b.

    Args:
        goods: names of the goods. No name contains a plus sign.
        size: largest number of goods in a bundle.
        most: largest number of bids of one person.
        value: public rule of the column of values.
        bundle: name of the column of bundles.

    Example:
        >>> from confide.programs.reading import Points
        >>> both = Bids(goods=("a", "b"), size=2, most=1, value=Number.of_values("value", Points(highest=4)))
        >>> both.typed({"b+a": "3"}).tolist()
        [0.0, 1.0, 0.75]
    """

    goods: tuple[str, ...]
    size: int
    most: int
    value: Number
    bundle: str = "bundle"

    @property
    def limit(self) -> str:
        """Description of the rule for a bundle."""
        return f"must be 1 to {self.size} different goods with {_JOIN} between them, such as {self._example}"

    @property
    def _example(self) -> str:
        return _JOIN.join(self.goods[: self.size])

    def parsed(self, text: str | None) -> tuple[int, ...] | None:
        """The indices of the goods in a bundle, from 0, ascending; None if the text is no bundle.

        Args:
            text: text such as "a+b".
        """
        named = [part.strip() for part in (text or "").split(_JOIN)]
        if not 1 <= len(named) <= self.size:
            return None
        known = places(pa.array(named, pa.large_string()), tuple(self.goods)).tolist()
        if min(known) < 0 or len(set(known)) < len(known):
            return None
        return tuple(sorted(known))

    def check(self, source: TableSource, id: str) -> None:  # noqa: A002
        """Check that all columns exist and have suitable types. The result does not depend on the values in the
        columns.

        Args:
            source: table to read.
            id: name of the column of ids.

        Raises:
            InvalidInput: a column is missing or has an unsuitable type.
        """
        if id == "row":
            raise InvalidInput("people.id", "'row' is not a column",
                               "name the column of ids, since several lines may belong to one person")
        names = [id, self.bundle, self.value.name]
        if len(set(names)) < len(names):
            raise InvalidInput("data", f"{', '.join(map(repr, names))} must be three different columns")
        for batch in source.batches(names, 1):
            Roster(1).index(batch.column(id), id)
            strings(self.bundle, plain(batch.column(self.bundle)))
            self.value.cells(batch.column(self.value.name))
            return

    def read(
        self, source: TableSource, *, roster: Roster, id: str,  # noqa: A002
        rejected: MutableMapping[str, str] | None = None, counted: list[int] | None = None,
    ) -> Iterator[SlotRows]:
        """Read a table of bids, in one pass. The result is an iterator of batches of records.

        Args:
            source: table to read.
            roster: public list of ids.
            id: name of the column of ids.
            rejected: dictionary to which the reason of each rejected row is added. The key is the id of the person, or
                the number of the row, such as "row 7", if the row has no id of the list. Only the operator may see the
                dictionary.
            counted: list to which the number of lines of the table is appended.
        """
        reported, lines, before = dict[str, str](), defaultdict[int, list[tuple[tuple[int, ...], float]]](list), 0
        bad = dict[int, str]()
        for batch in source.batches([id, self.bundle, self.value.name]):
            index = roster.index(batch.column(id), id).tolist()
            words = strings(self.bundle, plain(batch.column(self.bundle))).to_pylist()
            cells, wrong = self.value.cells(batch.column(self.value.name))
            for place, (who, text, cell, problem) in enumerate(
                    zip(index, words, cells.tolist(), wrong.tolist(), strict=True)):
                if who < 0:
                    reported[f"row {before + place + 1}"] = "no id of the public list"
                    continue
                goods = self.parsed(text)
                if goods is None:
                    bad.setdefault(who, f"{self.bundle}: is not a bundle; {self.limit}")
                elif problem != FINE:
                    bad.setdefault(who, reason(self.value, problem))
                else:
                    lines[who].append((goods, cell))
            before += batch.num_rows
        if counted is not None:
            counted.append(before)
        for who, bids in lines.items():
            fault = self._fault(bids)
            if fault:
                bad.setdefault(who, fault)
        reported.update((roster.identity(who), why) for who, why in bad.items())
        if rejected is not None:
            rejected.update(reported)
        kept = sorted(lines.keys() - bad.keys())
        for at in range(0, len(kept), _PEOPLE):
            some = kept[at : at + _PEOPLE]
            yield SlotRows(np.array(some, dtype=np.int64), np.stack([self._row(lines[who]) for who in some]))

    def typed(self, given: Mapping[str, str]) -> NDArray[np.float64]:
        """One person's bids, from typed answers, as a row in the form in which records are stored (`slots.Layout`),
        shape (c,).

        Args:
            given: mapping from the text of a bundle, such as "a+b", to the text of the bundle's value.

        Raises:
            InvalidInput: a text that is no bundle, or unusable bids. The error message is for the person alone.
        """
        bids = []
        for text, worth in given.items():
            goods = self.parsed(text)
            if goods is None:
                raise InvalidInput("record", f"{text!r} is not a bundle", self.limit)
            cells, wrong = self.value.cells(pa.array([str(worth)], pa.large_string()))
            if wrong[0] != FINE:
                raise InvalidInput("record", reason(self.value, int(wrong[0])))
            bids.append((goods, float(cells[0])))
        fault = self._fault(bids)
        if fault:
            raise InvalidInput("record", fault)
        return self._row(bids)

    def listed(self, row: NDArray[np.float64]) -> list[tuple[str, float]]:
        """Bundle and value of each bid in a row in the form in which records are stored (`slots.Layout`). Values are on
        the scale of the file.

        Args:
            row: (c,) row of one person, from `typed`.

        Example:
            >>> from confide.programs.reading import Points
            >>> both = Bids(goods=("a", "b"), size=2, most=2, value=Number.of_values("value", Points(highest=4)))
            >>> both.listed(both.typed({"b+a": "3"}))
            [('a+b', 3.0)]
        """
        goods, values = row[: -self.most].reshape(self.most, self.size).astype(np.int64), row[-self.most :]
        return [(_JOIN.join(self.goods[good] for good in named if good >= 0), self.value.zero + worth * self.value.unit)
                for named, worth in zip(goods.tolist(), values.tolist(), strict=True) if named[0] >= 0]

    def _fault(self, bids: Sequence[tuple[tuple[int, ...], float]]) -> str:
        if len(bids) > self.most:
            return f"{self.bundle}: {len(bids)} bundles are too many; at most {self.most}"
        if len({goods for goods, _ in bids}) < len(bids):
            return f"{self.bundle}: a bundle occurs twice; give each bundle once"
        return ""

    def _row(self, bids: Sequence[tuple[tuple[int, ...], float]]) -> NDArray[np.float64]:
        """Row of the given bids, sorted by their goods so that the order of lines reveals nothing."""
        goods: NDArray[Any] = np.full((self.most, self.size), -1.0)
        values = np.zeros(self.most)
        for place, (named, worth) in enumerate(sorted(bids)):
            goods[place, : len(named)] = named
            values[place] = worth
        return np.concatenate([goods.reshape(-1), values])
