"""Tables with a row for each person: her cells, and what the family makes of them.

One person's bad row is hers alone: she counts as a slot without a record, and her id stands on the operator's list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.programs.reading.columns import Column, reason
from confide.tables import FirstRows, Roster, TableSource, rejections
from confide.tables.roles import FINE
from confide.tables.slot_rows import SlotRows

__all__ = ["Judge", "read_wide", "typed_wide"]

_CELLS = 2**21  # of a batch
_PEOPLE = 2**16  # of a batch
_SHOWN = 12

Judge = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.bool_]]]
"""(m, columns) cells that are each fine -> (m, c) cells of the family's layout, and whose rows cannot be used."""


def read_wide(
    source: TableSource, *, columns: Sequence[Column], judge: Judge, limit: str, roster: Roster, id: str = "row",  # noqa: A002
    rejected: MutableMapping[str, str] | None = None, rows: int | None = None,
) -> Iterator[SlotRows]:
    """Read a table once.

    Args:
        source: the table.
        columns: the public rules of its cells.
        judge: what the family makes of a row.
        limit: what a row as a whole must be, in words.
        roster: the public list of ids.
        id: the column that holds the id, or "row": the i-th row belongs to the i-th id of the list. The first row of an
            id counts.
        rejected: receives id -> reason; the operator's alone.
        rows: of a batch, at most; it changes nothing but speed.

    Raises:
        InvalidInput: a column is missing, or of a type that cannot hold what it is for; never for a value.
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
    """(c,) one person's row as she types it, coded as the file's would be.

    Args:
        given: column -> what she would write there; what is left out is an empty cell.
        columns: the public rules.
        judge: what the family makes of a row.
        limit: what a row must be, in words.

    Raises:
        InvalidInput: no such column, or a row that cannot be used. The message is hers.
    """
    names = [each.name for each in columns]
    for name in given:
        if name not in names:
            shown = f"columns: {', '.join(names[:_SHOWN])}{', ...' * (len(names) > _SHOWN)}"
            raise InvalidInput("record", f"{name!r} is no column of this campaign",
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
