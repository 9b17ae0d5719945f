"""Whether a table in CSV is one that this machine computes, cell by cell, each by the type of its column.

What a column holds is known from the table that is computed here, never from the stranger's text: words that hold
digits stay words, whole numbers stay whole, and a large number in one cell says nothing about its neighbours.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pyarrow as pa

from confide.campaign.pack import as_csv
from confide.campaign.verification.findings import Broken
from confide.campaign.verification.likeness import same_doubles

__all__ = ["contradict", "same_rows", "same_table"]

_BATCH = 1 << 16  # rows
_OVERHEAD = 1 << 16  # bytes that a column takes beside its values, at most


def same_table(now: pa.Table, then: str) -> bool:
    """Whether a text is a table as it is written, but for the last digits of its doubles.

    Args:
        now: the table that follows.
        then: the text.
    """
    mine = as_csv(now)
    if mine == then:
        return True
    if len(then) > 2 * len(mine) + 25 * (now.num_rows + 1) * now.num_columns:  # a stranger's may be far longer
        return False
    try:
        rows = list(csv.reader(io.StringIO(then), strict=True))
    except csv.Error:
        return False
    if _text(rows) != then or not rows or rows[0] != now.column_names or len(rows) - 1 != now.num_rows or any(
        len(row) != now.num_columns for row in rows
    ):
        return False
    return all(_same_column(column, [row[k] for row in rows[1:]]) for k, column in enumerate(now.columns))


def contradict(now: pa.Table, then: str) -> bool:
    """Whether a table that another version laid out differs in a column that both have, or shares none.

    Args:
        now: the table that follows.
        then: the text.

    Raises:
        Broken: the text is no table.
    """
    try:
        head, *rows = csv.reader(io.StringIO(then), strict=True)
    except (csv.Error, ValueError) as error:
        raise Broken(f"a table is no CSV: {error}") from None
    if len(set(head)) < len(head) or any(len(row) != len(head) for row in rows):
        raise Broken("a table has cells without a heading of their own")
    shared = [name for name in now.column_names if name in head]
    return not shared or len(rows) != now.num_rows or any(
        not _same_column(now[name], [row[head.index(name)] for row in rows]) for name in shared)


def same_rows(now: pa.Table, then: bytes) -> bool:
    """Whether a long table, in Parquet that other software wrote, holds the values of one that follows, and no more.

    Args:
        now: the table that follows.
        then: the file.
    """
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(then))
        said = file.metadata
        size = sum(said.row_group(k).total_byte_size for k in range(said.num_row_groups))
        if file.schema_arrow.remove_metadata() != now.schema.remove_metadata() or said.num_rows != now.num_rows or (
            size > 4 * now.nbytes + _OVERHEAD * now.num_columns  # what it unpacks to
        ):
            return False
        place = 0
        for batch in file.iter_batches(batch_size=_BATCH):
            mine = now.slice(place, batch.num_rows)
            if not all(_same_values(one, pa.chunked_array([other]))
                       for one, other in zip(mine.columns, batch.columns, strict=True)):
                return False
            place += batch.num_rows
    except (pa.ArrowException, OSError):
        return False
    return bool(place == now.num_rows)


def _same_values(now: pa.ChunkedArray, then: pa.ChunkedArray) -> bool:
    if now.equals(then):
        return True
    return pa.types.is_floating(now.type) and same_doubles(
        *(["" if each is None else repr(each) for each in column.to_pylist()] for column in (now, then)))


def _same_column(now: pa.ChunkedArray, then: Sequence[str]) -> bool:
    mine = [row[0] for row in csv.reader(io.StringIO(_text([[value] for value in now.to_pylist()])))]
    if mine == list(then):
        return True
    return pa.types.is_floating(now.type) and same_doubles(mine, then)


def _text(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
