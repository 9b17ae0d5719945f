"""Reports, or true answers that are public already, as they are read from a table and as they are stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from confide.market.collection import Reports
from confide.tables import Above, Category, FirstRows, Roster, TableSource, rejections
from confide.tables.roles import FINE, MISSING

__all__ = ["BitCodec", "read_reports"]

_ROWS = 65536

_ROW = np.dtype([("report", "u1"), ("group", "<u2")])


def read_reports(
    source: TableSource, *, bit: Category | Above, group: Category | None, roster: Roster, id: str,  # noqa: A002
    rejected: dict[str, str], counted: list[int], rows: int | None = None,
) -> Iterator[Reports]:
    """Read a table of reports, or of true answers, once.

    An empty cell takes no part: it is no report, and nothing comes of it. What is no report otherwise is told to the
    operator.

    Args:
        source: the table.
        bit: role of the column; rank 1 is a 1.
        group: role of the column of groups; None where everybody is in one.
        roster: the public list of ids.
        id: the id column, or "row".
        rejected: receives id -> reason; the operator's alone.
        counted: receives how many rows each batch had.
        rows: of a batch, at most; it changes nothing but speed.
    """
    columns = dict.fromkeys([bit.column, *([] if group is None else [group.column]), *([] if id == "row" else [id])])
    first = FirstRows(roster, id)
    for batch in source.batches(list(columns), _ROWS if rows is None else rows):
        index = first.claim(batch)
        bits, problems = bit.encode(batch.column(bit.column))
        place, unknown = (np.zeros(len(index), np.int64), np.zeros(len(index), np.int8))
        if group is not None:
            place, unknown = group.encode(batch.column(group.column))
        missing = (problems == MISSING) & (index >= 0)
        lost = ~missing & ((problems != FINE) | (unknown != FINE) | (index < 0))
        if lost.any():
            reasons = _reasons(np.flatnonzero(lost & (index >= 0)), bit, group, problems, unknown)
            rejected.update(rejections(first, batch, index, lost, reasons))
        counted.append(len(index))
        taken = ~lost & ~missing
        yield Reports(index[taken], bits[taken].astype(np.uint8), place[taken])


def _reasons(
    rows: np.ndarray, bit: Category | Above, group: Category | None, problems: np.ndarray, unknown: np.ndarray
) -> dict[int, str]:
    found = {}
    for row in rows.tolist():
        if problems[row] != FINE and isinstance(bit, Category):
            found[row] = bit.reason(int(problems[row]))
        elif group is not None:
            found[row] = group.reason(int(unknown[row]))
    return found


@dataclass(frozen=True)
class BitCodec:
    r"""Reports as bytes: the report, and the group in two bytes.

    Example:
        >>> codec = BitCodec()
        >>> slots, reports = codec.pack(Reports(np.array([4]), np.array([1], np.uint8), np.array([2])))
        >>> reports, codec.unpack(slots, reports).group.tolist()
        ([b'\x01\x02\x00'], [2])
    """

    def pack(self, batch: Reports) -> tuple[np.ndarray, list[bytes]]:
        """(slots, reports) of a batch."""
        rows = np.empty(len(batch.index), _ROW)
        rows["report"], rows["group"] = batch.report, batch.group
        return batch.index, rows.view(f"V{_ROW.itemsize}").tolist()

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Reports:
        """The batch of some slots."""
        rows = np.frombuffer(b"".join(reports), dtype=_ROW)
        return Reports(slots, rows["report"], rows["group"].astype(np.int64))
