"""Rows with the same number of cells for each person, and the conversion of these rows to bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["CellCodec", "SlotRows", "cell_bytes", "cells_of"]

_Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SlotRows:
    """The usable rows of one batch, which are private. No slot occurs twice in a pass.

    Args:
        index: slot of each row, int64 of shape (m,): the position of the row's person in the public list of ids, from
            0.
        cells: the c cells of each row, float64 of shape (m, c). The campaign's kind defines the meaning of the columns.
    """

    index: NDArray[np.int64]
    cells: _Reals


def cell_bytes(cells: _Reals) -> list[bytes]:
    """Cells of shape (m, c) as m byte strings of 8 c bytes each, which hold little-endian doubles."""
    rows = np.ascontiguousarray(cells, dtype="<f8")
    return rows.view(f"V{8 * rows.shape[1]}").reshape(-1).tolist()


def cells_of(reports: Sequence[bytes], width: int) -> _Reals:
    """The cells, shape (m, width), that `cell_bytes` turned into the given m byte strings."""
    return np.frombuffer(b"".join(reports), dtype="<f8").reshape(len(reports), width)


@dataclass(frozen=True)
class CellCodec:
    r"""Conversion of rows of cells to bytes and back. All cells are stored as doubles, so that a record has the same
    values on every machine.

    Args:
        width: number of cells in a row.

    Example:
        >>> slots, reports = CellCodec(1).pack(SlotRows(np.array([4]), np.array([[0.5]])))
        >>> reports, CellCodec(1).unpack(slots, reports).cells.tolist()
        ([b'\x00\x00\x00\x00\x00\x00\xe0?'], [[0.5]])
    """

    width: int

    def pack(self, batch: SlotRows) -> tuple[np.ndarray, list[bytes]]:
        """The slots of a batch, and the bytes of each of its rows."""
        return batch.index, cell_bytes(batch.cells)

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> SlotRows:
        """The batch of rows that `pack` turned into the given slots and bytes."""
        return SlotRows(slots, cells_of(reports, self.width).astype(np.float64))
