"""What people handed in, read when the run reads it; and rows of values as bytes. For all kinds that hand out goods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from confide.allocation.reading.preflib import PrefLib
from confide.allocation.reading.scales import Ranks
from confide.allocation.reading.tables import DENSE, Rows, judged_cells, read_long, read_wide
from confide.campaign.kinds.allocation.config import GoodsConfig
from confide.contract.errors import InvalidInput
from confide.tables import Roster, TableSource, open_table
from confide.tables.cell_problems import Judged

__all__ = ["RowCodec", "judged_goods", "look_at_lines", "open_goods", "read_goods"]

_CELL = np.dtype([("good", "<i4"), ("value", "<f4")])


def open_goods(config: GoodsConfig, folder: Path) -> TableSource | PrefLib:
    """The table that a campaign names, or the file of PrefLib.

    Raises:
        InvalidInput: it cannot be read.
    """
    data = config.data
    if data.form != "preflib":
        return open_table(data.source, folder=folder)
    if config.people.id != "row":
        raise InvalidInput("people.id", f"{config.people.id!r} is no column", "PrefLib's lines have no ids")
    path = Path(folder) / Path(data.source).expanduser()
    if not path.is_file():
        raise InvalidInput("data.source", f"{path.resolve()} is not a file")
    file = PrefLib(path=path, goods=config.goods.listed()[0], unlisted=data.unlisted)
    file.alternatives()
    file.check()
    return file


def read_goods(
    config: GoodsConfig, source: TableSource | PrefLib, roster: Roster, rejected: dict[str, str], counted: list[int],
    rows: int | None = None,
) -> Iterator[Rows]:
    """One pass over what `open_goods` gave.

    Args:
        config: the campaign's tables.
        source: the table, or the file of PrefLib.
        roster: the public list of ids.
        rejected: receives id -> reason; the operator's alone.
        counted: receives how many rows there were, where that is not those that are used or rejected.
        rows: of a batch of a wide table, at most.
    """
    scale, data = config.rule(), config.data
    if isinstance(source, PrefLib):
        if not isinstance(scale, Ranks):
            raise InvalidInput("values.scale", "is of no order", "must be 'ranks'")
        return source.read(scale, roster, rejected, counted)
    if data.form == "long":
        return read_long(source, goods=config.columns(), scale=scale, roster=roster, id=config.people.id,
                         good=data.good, value=data.value, unlisted=data.unlisted, rejected=rejected, counted=counted)
    return read_wide(source, goods=config.columns(), scale=scale, roster=roster, id=config.people.id, rejected=rejected,
                     rows=rows)


def judged_goods(config: Any) -> list[Judged]:
    """How the cells of a table of goods are judged."""
    scale, data = config.rule(), config.data
    if data.form == "long":
        return [Judged(column=data.value, judge=partial(judged_cells, data.value, scale=scale))]
    return [Judged(column=name, judge=partial(judged_cells, name, scale=scale)) for name in config.columns()]


def look_at_lines(source: TableSource, identity: str, good: str, value: str) -> None:
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
