"""Whether a table in CSV is one that this machine computes, cell by cell, each by the type of its column.

What a column holds is known from the table that is computed here, never from the stranger's text: words that hold
digits stay words, whole numbers stay whole, and a large number in one cell says nothing about its neighbours.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pyarrow as pa

from confide.campaign.folder import as_csv
from confide.campaign.verification.findings import Broken
from confide.campaign.verification.likeness import same_doubles

__all__ = ["contradict", "same_table"]


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


def _same_column(now: pa.ChunkedArray, then: Sequence[str]) -> bool:
    mine = [row[0] for row in csv.reader(io.StringIO(_text([[value] for value in now.to_pylist()])))]
    if mine == list(then):
        return True
    return pa.types.is_floating(now.type) and same_doubles(mine, then)


def _text(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
