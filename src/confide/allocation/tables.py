"""Tables of people's values for goods: one column for each good, or one line for each person and good.

A bad row, which holds an answer that cannot be used, affects only its own person. A bad row counts as a row of zeros,
and the person's id appears on the operator's list of rejected ids. A good without a value is worth 0. PrefLib's files
are read by `confide.allocation.preflib`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from confide.allocation.scales import Scale
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.tables import FirstRows, Roster, TableSource, rejections
from confide.tables._cells import is_text, numbers, places, plain, strings
from confide.tables.roles import FINE, INFINITE, MISSING, OUTSIDE

__all__ = [
    "DENSE",
    "RowCodec",
    "Rows",
    "coded",
    "gathered",
    "judged_cells",
    "read_long",
    "read_wide",
    "reason",
    "typed",
]

DENSE = 128
"""Largest number of goods for which values are stored in dense form."""

_CELLS = 2**21  # of a batch
_PEOPLE = 2**16  # of a batch
_SHOWN = 12  # goods that a message names

_Integers = NDArray[np.int64]
_Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """The usable rows of one batch of people's values. A person without a row in any batch counts as a row of zeros.
    The rows are private.

    Args:
        index: position of each row's person in the public list of ids, from 0, int64, shape (m,). No position occurs
            twice in the batches of one pass over the data.
        starts: index in `named` at which each row begins, int64, shape (m + 1,).
        named: number of the good of each entry, ascending within a row, int32.
        values: value of each good in `named`, in (0, 1], float32.
    """

    index: _Integers
    starts: _Integers
    named: NDArray[np.int32]
    values: NDArray[np.float32]

    def row(self, place: int) -> dict[int, float]:
        """Mapping from the number of a good to its value, for the row at one position of the batch, from 0."""
        there = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return dict(zip(self.named[there].tolist(), self.values[there].tolist(), strict=True))


def gathered(batches: Iterable[Rows], people: int, goods: int) -> Valuations:
    """Gather all batches of one pass over the data into the valuations on which a market runs.

    Args:
        batches: batches of rows, in which each person has at most one row.
        people: number n of people.
        goods: number k of goods.

    Raises:
        InvalidInput: a row for a person or a good that does not exist, as in rows of another campaign.

    Example:
        >>> rows = Rows(np.array([2]), np.array([0, 1]), np.array([1], np.int32), np.array([0.5], np.float32))
        >>> gathered([rows], 3, 2).row(2).tolist()
        [0.0, 0.5]
    """
    if goods <= DENSE:
        table = np.zeros((people, goods), dtype=np.float32)
        for batch in batches:
            _check(batch, people, goods)
            table[np.repeat(batch.index, np.diff(batch.starts)), batch.named] = batch.values
        return Valuations.of(table, people=people, goods=goods)
    from scipy.sparse import csr_array

    parts = list(batches)
    for batch in parts:
        _check(batch, people, goods)
    index = np.concatenate([np.repeat(each.index, np.diff(each.starts)) for each in parts] or [np.empty(0, np.int64)])
    named = np.concatenate([each.named for each in parts] or [np.empty(0, np.int32)])
    values = np.concatenate([each.values for each in parts] or [np.empty(0, np.float32)])
    order = np.argsort(index, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(index, minlength=people)))
    return Valuations.of(csr_array((values[order], named[order], starts), shape=(people, goods)), people=people,
                         goods=goods)


def _check(batch: Rows, people: int, goods: int) -> None:
    if len(batch.index) and not 0 <= batch.index.min() <= batch.index.max() < people:
        raise InvalidInput("data", "has a row with an unknown place", f"places are 0 to {people - 1}")
    if len(batch.named) and not 0 <= batch.named.min() <= batch.named.max() < goods:
        raise InvalidInput("data", "names a good that does not exist", f"goods are 0 to {goods - 1}")


# ---- one column for each good


def read_wide(
    source: TableSource, *, goods: Sequence[str], scale: Scale, roster: Roster, id: str = "row",  # noqa: A002
    rejected: MutableMapping[str, str] | None = None, rows: int | None = None,
) -> Iterator[Rows]:
    """Read a table with a column for each good, in a single pass. An empty cell means a value of 0.

    Args:
        source: table to read.
        goods: names of the goods, which are also the names of the columns.
        scale: public rule that turns answers into values.
        roster: public list of ids.
        id: name of the column of ids. With "row", the i-th row belongs to the i-th id of the list. If several rows have
            the same id, only the first row counts.
        rejected: mapping that receives, for the id of each unusable row, the reason. Only the operator may see the
            mapping.
        rows: largest number of rows in a batch; it affects only speed.

    Raises:
        InvalidInput: a missing column, or a column of a type that holds no numbers. A bad value in a column raises no
            error.

    Example:
        >>> from confide.allocation.scales import Points
        >>> from confide.tables import open_table
        >>> table, rejected = open_table({"art": [3, None, 9], "law": ["5", "1", "2"]}), {}
        >>> both = read_wide(table, goods=("art", "law"), scale=Points(highest=8), roster=Roster(3), rejected=rejected)
        >>> gathered(both, 3, 2).values.tolist(), rejected
        ([0.375, 0.625, 0.0, 0.125, 0.0, 0.0], {'3': 'art: is out of bounds; must be in [0, 8]'})
    """
    if id in goods:
        raise InvalidInput("people.id", f"{id!r} is also a good")
    _ordered(source, id)
    columns = [*goods, *([] if id == "row" else [id])]
    size = max(1, min(_PEOPLE, _CELLS // len(goods))) if rows is None else rows
    return _wide(source.batches(columns, size), goods, scale, FirstRows(roster, id), rejected)


def _wide(
    batches: Iterator[pa.RecordBatch], goods: Sequence[str], scale: Scale, first: FirstRows,
    rejected: MutableMapping[str, str] | None,
) -> Iterator[Rows]:
    for batch in batches:
        index = first.claim(batch)
        cells = np.empty((batch.num_rows, len(goods)))
        wrong = np.zeros((batch.num_rows, len(goods)), dtype=np.int8)
        for place, name in enumerate(goods):
            cells[:, place], wrong[:, place] = judged_cells(name, batch.column(name), scale)
        bad = (wrong != FINE).any(axis=1)
        lost = bad | (index < 0)
        if rejected is not None and lost.any():
            column = np.argmax(wrong != FINE, axis=1)
            reasons = {row: reason(goods[column[row]], int(wrong[row, column[row]]), scale)
                       for row in np.flatnonzero(bad & (index >= 0)).tolist()}
            rejected.update(rejections(first, batch, index, lost, reasons))
        kept = cells[~lost]
        row, named = np.nonzero(~np.isnan(kept))
        yield coded(index[~lost], row, named, kept[row, named], scale)


def judged_cells(name: str, column: Any, scale: Scale) -> tuple[_Reals, NDArray[np.int8]]:
    """The cells of a column as numbers, with NaN for empty cells, and the code of each cell's problem
    (`confide.tables.roles`).

    Args:
        name: name of the column.
        column: cells of the column.
        scale: public rule that turns answers into values.
    """
    array = plain(column)
    found = numbers(name, array)
    empty = np.isnan(found)
    problems = np.zeros(len(found), dtype=np.int8)
    problems[~empty] = scale.problems(found[~empty])
    if is_text(array):  # what is written and no number is wrong; of a column of numbers, a missing one is left out
        written = pc.fill_null(pc.not_equal(strings(name, array), ""), False).to_numpy(zero_copy_only=False)
        problems[empty & written] = MISSING
    return found, problems


# ---- one line for each person and good


def read_long(
    source: TableSource, *, goods: Sequence[str], scale: Scale, roster: Roster, id: str,  # noqa: A002
    good: str = "good", value: str = "value", unlisted: Literal["reject", "ignore"] = "reject",
    rejected: MutableMapping[str, str] | None = None, counted: list[int] | None = None,
) -> Iterator[Rows]:
    """Read a table that has one line for each pair of person and good, in a single pass. A good without a line is worth
    0.

    All lines are held in memory together, since the lines of one person may stand anywhere in the table.

    Args:
        source: table to read.
        goods: names of the goods.
        scale: public rule that turns answers into values.
        roster: public list of ids.
        id: name of the column that holds the id. If there are several lines for the same person and good, only the
            first line counts.
        good: name of the column that names the good.
        value: name of the column that holds the answer.
        unlisted: treatment of a line whose good is not on the list: "reject" makes the person's record unusable,
            "ignore" leaves the line out.
        rejected: mapping that receives, for the id of each unusable record, the reason. For a line that belongs to no
            listed person, the key is the number of the line, such as "row 7". Only the operator may see the mapping.
        counted: list to which the number of lines of the table is appended; None for no count.

    Raises:
        InvalidInput: a missing column, or a column of a wrong type. A bad value in a column raises no error.

    Example:
        >>> from confide.allocation.scales import Points
        >>> from confide.tables import open_table
        >>> lines = open_table({"id": [2, 1, 2], "good": ["law", "law", "art"], "value": [5, 1, 2]})
        >>> both = read_long(lines, goods=("art", "law"), scale=Points(highest=8), roster=Roster(2), id="id")
        >>> gathered(both, 2, 2).values.tolist()
        [0.0, 0.125, 0.25, 0.625]
    """
    if id == "row":
        raise InvalidInput("people.id", "'row' is not a column",
                           "name the column of ids, since several lines may belong "
                                                              "to one person")
    if len({id, good, value}) < 3:
        raise InvalidInput("data", f"{id!r}, {good!r} and {value!r} must be three different columns")
    return _long(source.batches([id, good, value]), goods, scale, roster, (id, good, value), unlisted == "ignore",
                 rejected, counted)


class _Lines(NamedTuple):
    """Lines of a long table: the person, the good, the answer, its problem, and the position of each line in the
    table.
    """

    who: _Integers
    which: _Integers
    cells: _Reals
    wrong: NDArray[np.int8]
    at: _Integers

    def only(self, some: NDArray[Any]) -> _Lines:
        """Select lines by a mask or by positions."""
        return _Lines(*(each[some] for each in self))

    @classmethod
    def joined(cls, parts: Sequence[_Lines]) -> _Lines:
        """Join parts, and order their lines by person, then by good, then by position in the table."""
        nothing = _Lines(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0, np.int8),
                         np.empty(0, np.int64))
        found = cls(*(np.concatenate(each) for each in zip(nothing, *parts, strict=True)))
        return found.only(np.lexsort((found.at, found.which, found.who)))

    @property
    def again(self) -> NDArray[np.bool_]:
        """Whether each line has the same person and good as the line before. The lines must have been joined before."""
        return np.append(False, (self.who[1:] == self.who[:-1]) & (self.which[1:] == self.which[:-1])
                         & (self.which[1:] >= 0))[: len(self.who)]


def _long(
    batches: Iterator[pa.RecordBatch], goods: Sequence[str], scale: Scale, roster: Roster,
    columns: tuple[str, str, str], ignore: bool, rejected: MutableMapping[str, str] | None, counted: list[int] | None,
) -> Iterator[Rows]:
    known = tuple(goods)
    parts, before, reported = list[_Lines](), 0, dict[str, str]()
    for batch in batches:
        lines = _read(batch, columns, known, scale, roster, before)
        before += batch.num_rows
        passed = (lines.which < 0) & ignore
        nobody = lines.at[(lines.who < 0) & ~passed]
        reported.update((f"row {at + 1}", "no id of the public list") for at in nobody.tolist())
        parts.append(lines.only((lines.who >= 0) & ~passed))
    if counted is not None:
        counted.append(before)
    lines = _Lines.joined(parts)
    again = lines.again
    later = lines.only(again)
    reported.update((f"{roster.identity(person)} (row {at + 1})", "a later row of the same id and good")
                    for person, at in zip(later.who.tolist(), later.at.tolist(), strict=True))
    bad = lines.only(~again & ((lines.which < 0) | (lines.wrong != FINE)))
    for place in np.argsort(bad.at).tolist():
        why = f"{columns[1]}: is not a good; {_listed(goods)}" if bad.which[place] < 0 else reason(
            goods[bad.which[place]], int(bad.wrong[place]), scale)
        reported.setdefault(roster.identity(int(bad.who[place])), why)
    if rejected is not None:
        rejected.update(reported)
    kept = lines.only(~again & ~np.isin(lines.who, bad.who))
    yield from _people(kept.who, kept.which, kept.cells, scale)


def _read(
    batch: pa.RecordBatch, columns: tuple[str, str, str], known: tuple[str, ...], scale: Scale, roster: Roster,
    before: int,
) -> _Lines:
    """The lines of a batch."""
    identity, name, value = columns
    words = strings(name, plain(batch.column(name)))
    return _Lines(roster.index(batch.column(identity), identity), places(words, known),
                  *judged_cells(value, batch.column(value), scale), before + np.arange(batch.num_rows))


def _people(who: _Integers, which: _Integers, cells: _Reals, scale: Scale) -> Iterator[Rows]:
    """Batches of some people each. All lines of one person are in the same batch."""
    index, first = np.unique(who, return_index=True)
    for start in range(0, len(index), _PEOPLE):
        end = min(len(index), start + _PEOPLE)
        lines = slice(int(first[start]), int(first[end]) if end < len(index) else len(who))
        row = np.searchsorted(index[start:end], who[lines])
        there = ~np.isnan(cells[lines])
        yield coded(index[start:end], row[there], which[lines][there], cells[lines][there], scale)


# ---- what all readings share


def coded(index: _Integers, row: _Integers, named: _Integers, cells: _Reals, scale: Scale) -> Rows:
    """Convert answers into rows of values, without zeros.

    Args:
        index: for each of m rows, the position of the row's person in the public list of ids, from 0, shape (m,).
        row: row that each of z cells belongs to, ascending, shape (z,).
        named: good of each cell, ascending within a row, shape (z,).
        cells: answers without a problem, shape (z,).
        scale: public rule that turns answers into values.
    """
    values = scale.values(row, cells)
    worth = values > 0
    starts = np.append(0, np.cumsum(np.bincount(row[worth], minlength=len(index)))).astype(np.int64)
    return Rows(index, starts, named[worth].astype(np.int32), values[worth])


def typed(given: Mapping[str, str], *, goods: Sequence[str], scale: Scale) -> dict[int, float]:
    """One person's record from typed answers, as a mapping from the number of a good to its value. The values are the
    same as for a row of a file with the same answers.

    Args:
        given: mapping from the name of a good to the text that the person typed for this good.
        goods: names of the goods.
        scale: public rule that turns answers into values.

    Raises:
        InvalidInput: a name that is no good of the campaign, or an answer that the campaign cannot use. The error
            message is for the person alone.

    Example:
        >>> from confide.allocation.scales import Ranks
        >>> typed({"law": "1", "art": "2"}, goods=("art", "law"), scale=Ranks.borda(2))
        {0: 0.5, 1: 1.0}
    """
    places = {name: place for place, name in enumerate(goods)}
    found: dict[int, float] = {}
    for name, text in given.items():
        if name not in places:
            raise InvalidInput("record", f"{name!r} is not a good of this campaign",
                               did_you_mean(name, goods, _listed(goods), cutoff=0.5))
        cells, wrong = judged_cells(name, pa.array([str(text)], pa.large_string()), scale)
        if wrong[0] != FINE:
            raise InvalidInput("record", reason(name, int(wrong[0]), scale))
        if not np.isnan(cells[0]):
            found[places[name]] = float(cells[0])
    named = np.array(sorted(found), dtype=np.int64)
    rows = coded(np.zeros(1, np.int64), np.zeros(len(named), np.int64), named,
                 np.array([found[good] for good in named.tolist()], dtype=np.float64), scale)
    return rows.row(0)


def reason(name: str, problem: int, scale: Scale) -> str:
    """Description of a cell's problem, for an error message that reveals no number of the cell."""
    words = {MISSING: "is not a number", INFINITE: "is not finite", OUTSIDE: "is out of bounds"}
    return f"{name}: {words[problem]}; {scale.limit()}"


def _listed(goods: Sequence[str]) -> str:
    return f"goods: {', '.join(goods[:_SHOWN])}{', ...' * (len(goods) > _SHOWN)}"


def _ordered(source: TableSource, identity: str) -> None:
    if identity == "row" and not source.ordered:
        raise InvalidInput("people.id", "the rows of a query have no order", "name a column of ids")


_CELL = np.dtype([("good", "<i4"), ("value", "<f4")])


@dataclass(frozen=True)
class RowCodec:
    r"""Conversion between rows and bytes. With at most `DENSE` goods the bytes of a row hold the value of each good.
    With more goods the bytes of a row hold the number and the value of each good with a positive value.

    Args:
        goods: number k of goods.

    Example:
        >>> codec = RowCodec(2)
        >>> batch = Rows(np.array([4]), np.array([0, 1]), np.array([1], np.int32), np.array([0.5], np.float32))
        >>> slots, reports = codec.pack(batch)
        >>> reports, codec.unpack(slots, reports).row(0)
        ([b'\x00\x00\x00\x00\x00\x00\x00?'], {1: 0.5})
    """

    goods: int

    def pack(self, batch: Rows) -> tuple[np.ndarray, list[bytes]]:
        """The positions of a batch's people in the public list of ids, and a bytes object for each row."""
        if self.goods <= DENSE:
            table = np.zeros((len(batch.index), self.goods), dtype="<f4")
            table[np.repeat(np.arange(len(batch.index)), np.diff(batch.starts)), batch.named] = batch.values
            return batch.index, table.view(f"V{4 * self.goods}").reshape(-1).tolist()
        cells = np.empty(len(batch.named), dtype=_CELL)
        cells["good"], cells["value"] = batch.named, batch.values
        data, ends = cells.tobytes(), (batch.starts * _CELL.itemsize).tolist()
        return batch.index, [data[start:end] for start, end in pairwise(ends)]

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Rows:
        """The batch that positions and bytes objects encode, in the form that `pack` returns."""
        data = b"".join(reports)
        if self.goods <= DENSE:
            table = np.frombuffer(data, dtype="<f4").reshape(len(slots), self.goods)
            row, named = np.nonzero(table)
            starts = np.append(0, np.cumsum(np.bincount(row, minlength=len(slots)))).astype(np.int64)
            return Rows(slots, starts, named.astype(np.int32), table[row, named].astype(np.float32))
        cells = np.frombuffer(data, dtype=_CELL)
        starts = np.append(0, np.cumsum([len(each) // _CELL.itemsize for each in reports])).astype(np.int64)
        return Rows(slots, starts, cells["good"].astype(np.int32), cells["value"].astype(np.float32))
