"""What people handed in, read when the run reads it; and rows of cells as bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from confide.contract.kinds import Progress, by_slots
from confide.programs.campaign.coding import Coding
from confide.programs.campaign.config import ProgramConfig, coding_of
from confide.programs.reading.slots import SlotRows
from confide.programs.reading.wide import read_wide, typed_wide
from confide.tables import Roster, Source, open_table

__all__ = ["CellCodec", "Submissions", "typed"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Submissions:
    """A campaign's file, as batches of rows.

    Args:
        config: the campaign's tables.
        coding: its columns.
        source: the table.
        rejected: id -> reason, complete after one pass; the operator's alone.
        counted: how many rows there were, after one pass; private.
    """

    config: ProgramConfig
    coding: Coding
    source: Source
    rejected: dict[str, str] = field(default_factory=dict)
    counted: list[int] = field(default_factory=list)

    @classmethod
    def open(cls, config: ProgramConfig, folder: Path, progress: Progress | None = None) -> Submissions:
        """Open the file that a campaign names, and look at its columns and their types, not at values.

        Args:
            config: the campaign's tables.
            folder: where relative paths start.
            progress: told of invited slots.

        Raises:
            InvalidInput: it cannot be read, or a column is missing or of a wrong type.
        """
        source, coding = open_table(config.data.source, folder=folder), coding_of(config)
        if coding.bids is not None:
            coding.bids.check(source, config.people.id)
        else:
            next(_wide(config, coding, source, {}, 1), None)
        if progress is not None:
            source = source.watched(by_slots(progress, config.people.count))
        return cls(config=config, coding=coding, source=source)

    def __iter__(self) -> Iterator[SlotRows]:
        # Each pass finds the same rejections; the list is rebuilt so that a broken pass cannot leave half of one.
        self.rejected.clear()
        self.counted.clear()
        if self.coding.bids is not None:
            yield from self.coding.bids.read(self.source, roster=Roster(self.config.people.count),
                                             id=self.config.people.id, rejected=self.rejected, counted=self.counted)
            return
        usable = 0
        for batch in _wide(self.config, self.coding, self.source, self.rejected, None):
            usable += len(batch.index)
            yield batch
        self.counted.append(usable + len(self.rejected))


def _wide(
    config: ProgramConfig, coding: Coding, source: Source, rejected: dict[str, str], rows: int | None
) -> Iterator[SlotRows]:
    return read_wide(source, columns=coding.columns, judge=coding.judge, limit=coding.limit,
                     roster=Roster(config.people.count), id=config.people.id, rejected=rejected, rows=rows)


def typed(coding: Coding, values: Mapping[str, str]) -> NDArray[np.float64]:
    """(c,) a row as its owner types it, coded as the file's would be.

    Args:
        coding: of the campaign.
        values: column -> what she would write there; or bundle -> what it is worth.

    Raises:
        InvalidInput: names what is wrong, to her alone.
    """
    if coding.bids is not None:
        return coding.bids.typed(values)
    return typed_wide(values, columns=coding.columns, judge=coding.judge, limit=coding.limit)


@dataclass(frozen=True)
class CellCodec:
    r"""Rows of cells as bytes: all of them, as doubles, so that a record is the same wherever it is read.

    Args:
        width: cells of a row.

    Example:
        >>> slots, reports = CellCodec(1).pack(SlotRows(np.array([4]), np.array([[0.5]])))
        >>> reports, CellCodec(1).unpack(slots, reports).cells.tolist()
        ([b'\x00\x00\x00\x00\x00\x00\xe0?'], [[0.5]])
    """

    width: int

    def pack(self, batch: SlotRows) -> tuple[np.ndarray, list[bytes]]:
        """(slots, reports) of a batch."""
        cells = np.ascontiguousarray(batch.cells, dtype="<f8")
        return batch.index, cells.view(f"V{8 * self.width}").reshape(-1).tolist()

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> SlotRows:
        """The batch of some slots."""
        cells = np.frombuffer(b"".join(reports), dtype="<f8").reshape(len(slots), self.width)
        return SlotRows(slots, cells.astype(np.float64))
