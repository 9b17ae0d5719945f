"""A campaign's submissions as batches of records: read when the run reads them, one pass at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from confide.tables import Design, Numeric, Records, Roster, Source, read_records

__all__ = ["RecordCodec", "Submissions"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Submissions:
    """What people handed in, from the file that the campaign names.

    Args:
        source: the table.
        design: coding of the features.
        response: role of the response.
        roster: the public list of ids.
        identity: the id column, or "row".
        rejected: id -> reason, complete after one pass; the operator's alone.
    """

    source: Source
    design: Design
    response: Numeric
    roster: Roster
    identity: str
    rejected: dict[str, str] = field(default_factory=dict, repr=False)

    def check(self) -> None:
        """Raise `InvalidInput` now if a column is missing or of a wrong type; looks at types, not at values."""
        next(self._pass({}, rows=1), None)

    def _pass(self, rejected: dict[str, str], rows: int = 65536) -> Iterator[Records]:
        return read_records(self.source, design=self.design, response=self.response, roster=self.roster,
                            id=self.identity, rows=rows, rejected=rejected)

    def __iter__(self) -> Iterator[Records]:
        # Each pass finds the same rejections; the list is rebuilt so that a broken pass cannot leave half of one.
        self.rejected.clear()
        yield from self._pass(self.rejected)


@dataclass(frozen=True)
class RecordCodec:
    """Records as bytes: the features and the response of one row as little-endian doubles.

    Args:
        dimension: d, the number of coded features.

    Example:
        >>> codec = RecordCodec(2)
        >>> slots, reports = codec.pack(Records(np.array([4]), np.array([[0.5, -0.25]]), np.array([1.0])))
        >>> back = codec.unpack(slots, reports)
        >>> back.index.tolist(), back.X.tolist(), back.y.tolist()
        ([4], [[0.5, -0.25]], [1.0])
    """

    dimension: int

    def pack(self, batch: Records) -> tuple[np.ndarray, list[bytes]]:
        """(slots, reports) of a batch."""
        rows = np.ascontiguousarray(np.column_stack([batch.X, batch.y]), dtype="<f8")
        return batch.index, rows.view(f"V{8 * (self.dimension + 1)}").reshape(-1).tolist()

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Records:
        """The batch of some slots."""
        rows = np.frombuffer(b"".join(reports), dtype="<f8").reshape(len(slots), self.dimension + 1)
        return Records(slots, rows[:, :-1], rows[:, -1])
