"""A campaign's reports, read when the run reads them; and people played with true answers that are public already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from confide.market.collection import Reports
from confide.tables import Above, Category, FirstRows, Roster, Source, rejections
from confide.tables.roles import FINE, MISSING

__all__ = ["BitCodec", "Submissions"]

_ROW = np.dtype([("report", "u1"), ("group", "<u2")])


@dataclass(frozen=True, kw_only=True, eq=False)
class Submissions:
    """What people handed in, from the file that the campaign names.

    An empty cell takes no part: it is no report, and nothing comes of it. What is no report otherwise is told to the
    operator.

    Args:
        source: the table.
        bit: role of the column of reports, or of true answers; rank 1 is a 1.
        roster: the public list of ids.
        identity: the id column, or "row".
        group: role of the column of groups; None where everybody is in one.
        rejected: id -> reason, complete after one pass; the operator's alone.
        absent: how many rows took no part, after one pass.
    """

    source: Source
    bit: Category | Above
    roster: Roster
    identity: str
    group: Category | None = None
    rejected: dict[str, str] = field(default_factory=dict, repr=False)
    absent: list[int] = field(default_factory=list, repr=False)

    def check(self) -> None:
        """Raise `InvalidInput` now if a column is missing or of a wrong type; looks at types, not at values."""
        next(self._pass({}, rows=1), None)

    def __iter__(self) -> Iterator[Reports]:
        # Each pass finds the same rejections; the list is rebuilt so that a broken pass cannot leave half of one.
        self.rejected.clear()
        self.absent.clear()
        yield from self._pass(self.rejected)

    def _pass(self, rejected: dict[str, str], rows: int = 65536) -> Iterator[Reports]:
        columns = dict.fromkeys([self.bit.column, *([] if self.group is None else [self.group.column]),
                                 *([] if self.identity == "row" else [self.identity])])
        first = FirstRows(self.roster, self.identity)
        for batch in self.source.batches(list(columns), rows):
            index = first.claim(batch)
            bits, problems = self.bit.encode(batch.column(self.bit.column))
            group, unknown = (np.zeros(len(index), np.int64), np.zeros(len(index), np.int8))
            if self.group is not None:
                group, unknown = self.group.encode(batch.column(self.group.column))
            absent = (problems == MISSING) & (index >= 0)
            lost = ~absent & ((problems != FINE) | (unknown != FINE) | (index < 0))
            if lost.any():
                rejected.update(rejections(
                    first, batch, index, lost, self._reasons(np.flatnonzero(lost & (index >= 0)), problems, unknown)))
            self.absent.append(int(absent.sum()))
            taken = ~lost & ~absent
            yield Reports(index[taken], bits[taken].astype(np.uint8), group[taken])

    def _reasons(self, rows: np.ndarray, problems: np.ndarray, unknown: np.ndarray) -> dict[int, str]:
        found = {}
        for row in rows.tolist():
            if problems[row] != FINE and isinstance(self.bit, Category):
                found[row] = self.bit.reason(int(problems[row]))
            elif self.group is not None:
                found[row] = self.group.reason(int(unknown[row]))
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
