"""What people handed in, read when the run reads it; and rows of values as bytes. For all kinds that hand out goods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from confide.allocation.campaign.config import GoodsConfig
from confide.allocation.reading.preflib import PrefLib
from confide.allocation.reading.scales import Ranks
from confide.allocation.reading.tables import DENSE, Rows, read_long, read_wide
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress, by_slots
from confide.tables import Roster, Source, open_table

__all__ = ["RowCodec", "Submissions"]

_CELL = np.dtype([("good", "<i4"), ("value", "<f4")])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Submissions:
    """A campaign's file, as batches of rows.

    Args:
        config: the campaign's tables.
        source: the table, or the file of PrefLib.
        rejected: id -> reason, complete after one pass; the operator's alone.
        counted: how many rows there were, after one pass; private.
    """

    config: GoodsConfig
    source: Source | PrefLib
    rejected: dict[str, str] = field(default_factory=dict)
    counted: list[int] = field(default_factory=list)

    @classmethod
    def open(cls, config: GoodsConfig, folder: Path, progress: Progress | None = None) -> Submissions:
        """Open the file that a campaign names, and look at its columns and their types, not at values.

        Args:
            config: the campaign's tables.
            folder: where relative paths start.
            progress: told of invited slots.

        Raises:
            InvalidInput: it cannot be read, or a column is missing or of a wrong type.
        """
        data = config.data
        if data.form == "preflib":
            if config.people.id != "row":
                raise InvalidInput("people.id", f"{config.people.id!r} is no column", "PrefLib's lines have no ids")
            path = Path(folder) / Path(data.source).expanduser()
            if not path.is_file():
                raise InvalidInput("data.source", f"{path.resolve()} is not a file")
            file = PrefLib(path=path, goods=config.goods.listed()[0], unlisted=data.unlisted)
            file.alternatives()
            file.check()
            return cls(config=config, source=file)
        source = open_table(data.source, folder=folder)
        found = cls(config=config, source=source)
        found._table(source, {}, 1)
        if progress is None:
            return found
        return cls(config=config, source=source.watched(by_slots(progress, config.people.count)))

    def __iter__(self) -> Iterator[Rows]:
        # Each pass finds the same rejections; the list is rebuilt so that a broken pass cannot leave half of one.
        self.rejected.clear()
        self.counted.clear()
        if isinstance(self.source, PrefLib):
            scale = self.config.rule()
            if not isinstance(scale, Ranks):
                raise InvalidInput("values.scale", "is of no order", "must be 'ranks'")
            yield from self._records(self.source.read(scale, Roster(self.config.people.count), self.rejected,
                                                      self.counted))
            return
        yield from self._table(self.source, self.rejected, None)

    def _table(self, source: Source, rejected: dict[str, str], rows: int | None) -> Iterator[Rows]:
        config, data = self.config, self.config.data
        goods, roster = config.columns(), Roster(config.people.count)
        if data.form == "long":
            if rows is not None:  # types alone
                _types(source, config.people.id, data.good, data.value)
            return self._records(read_long(
                source, goods=goods, scale=config.rule(), roster=roster, id=config.people.id, good=data.good,
                value=data.value, unlisted=data.unlisted, rejected=rejected, counted=self.counted))
        passed = read_wide(source, goods=goods, scale=config.rule(), roster=roster, id=config.people.id,
                           rejected=rejected, rows=rows)
        if rows is not None:
            next(passed, None)
            return iter(())
        return self._counting(self._records(passed))

    def _records(self, batches: Iterator[Rows]) -> Iterator[Rows]:
        for batch in batches:
            yield self.config.usable(batch, self.rejected)

    def _counting(self, batches: Iterator[Rows]) -> Iterator[Rows]:
        usable = 0
        for batch in batches:
            usable += len(batch.index)
            yield batch
        self.counted.append(usable + len(self.rejected))


def _types(source: Source, identity: str, good: str, value: str) -> None:
    """Raise `InvalidInput` where a column is missing or of a type that cannot hold what it is for."""
    from confide.tables import Measured
    from confide.tables._cells import plain, strings

    if identity == "row":
        return
    for batch in source.batches([identity, good, value], 1):
        Roster(1).index(batch.column(identity), identity)
        strings(good, plain(batch.column(good)))
        Measured(column=value).encode(batch.column(value))
        return


@dataclass(frozen=True)
class RowCodec:
    r"""Rows as bytes: of few goods the value of each, of many the numbers and values of those that are worth anything.

    Args:
        goods: k.

    Example:
        >>> codec = RowCodec(2)
        >>> batch = Rows(np.array([4]), np.array([0, 1]), np.array([1], np.int32), np.array([0.5], np.float32))
        >>> slots, reports = codec.pack(batch)
        >>> reports, codec.unpack(slots, reports).row(0)
        ([b'\x00\x00\x00\x00\x00\x00\x00?'], {1: 0.5})
    """

    goods: int

    def pack(self, batch: Rows) -> tuple[np.ndarray, list[bytes]]:
        """(slots, reports) of a batch."""
        if self.goods <= DENSE:
            table = np.zeros((len(batch.index), self.goods), dtype="<f4")
            table[np.repeat(np.arange(len(batch.index)), np.diff(batch.starts)), batch.named] = batch.values
            return batch.index, table.view(f"V{4 * self.goods}").reshape(-1).tolist()
        cells = np.empty(len(batch.named), dtype=_CELL)
        cells["good"], cells["value"] = batch.named, batch.values
        data, ends = cells.tobytes(), (batch.starts * _CELL.itemsize).tolist()
        return batch.index, [data[start:end] for start, end in pairwise(ends)]

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Rows:
        """The batch of some slots."""
        data = b"".join(reports)
        if self.goods <= DENSE:
            table = np.frombuffer(data, dtype="<f4").reshape(len(slots), self.goods)
            row, named = np.nonzero(table)
            starts = np.append(0, np.cumsum(np.bincount(row, minlength=len(slots)))).astype(np.int64)
            return Rows(slots, starts, named.astype(np.int32), table[row, named].astype(np.float32))
        cells = np.frombuffer(data, dtype=_CELL)
        starts = np.append(0, np.cumsum([len(each) // _CELL.itemsize for each in reports])).astype(np.int64)
        return Rows(slots, starts, cells["good"].astype(np.int32), cells["value"].astype(np.float32))
