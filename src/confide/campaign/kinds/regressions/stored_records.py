"""A campaign's records as they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.people.slot_rows import cell_bytes, cells_of
from confide.tables import Records

__all__ = ["RecordCodec"]


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
        return batch.index, cell_bytes(np.column_stack([batch.X, batch.y]))

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Records:
        """The batch of some slots."""
        rows = cells_of(reports, self.dimension + 1)
        return Records(slots, rows[:, :-1], rows[:, -1])
