"""The value of each good to each bidder: a dense table, or a sparse one with only the goods that each bidder names.

Each row belongs to one bidder and is checked without any other row. The treatment of a bad row, which is a row with a
value that cannot be used, never depends on another row. A bad row is either refused, or counts as a row of zeros, like
the row of an absent bidder. The error of a refused row is shown to the row's bidder, or to the holder of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.words import counted
from confide.tables._cells import real
from confide.tables.frames import columns_of, is_table, own_row

__all__ = ["Valuations", "as_row"]

_CHUNK = 2**22  # numbers that are looked at in one go: their temporary arrays stay small
_MOST_GOODS = 2**31 - 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Valuations:
    """The valuations in [0, 1] of k goods by n bidders, one row for each bidder. A sparse table leaves out goods of
    value 0. The table is private.

    Args:
        people: number n of rows.
        goods: number k of goods.
        values: valuations of all rows, one row after another, float32 or float64. A dense table holds n k valuations,
            and a sparse table only those of the goods in `named`.
        starts: index in `values` at which each row begins, int64, shape (n + 1,); None for a dense table.
        named: number of the good that each entry of `values` belongs to, ascending within a row, int32; empty for a
            dense table.

    Example:
        >>> of = Valuations.of([[0.5, 0.0, 1.0], [0.0, 0.25, 0.0]], people=2, goods=3)
        >>> of.dense, of.row(1).tolist()
        (True, [0.0, 0.25, 0.0])
    """

    people: int
    goods: int
    values: NDArray[Any]
    starts: NDArray[np.int64] | None
    named: NDArray[np.int32]

    def __repr__(self) -> str:
        return f"<Valuations of {self.people:,} bidders for {self.goods:,} goods>"  # never a number of them

    @property
    def dense(self) -> bool:
        """Whether every row has an entry for each good, even for goods of value 0."""
        return self.starts is None

    @property
    def rows(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int32], bool]:
        """Arrays for compiled loops: values, starts of rows (a single zero for a dense table), named goods, and whether
        the table is dense.
        """
        starts = np.zeros(1, dtype=np.int64) if self.starts is None else self.starts
        return self.values, starts, self.named, self.dense

    @classmethod
    def of(
        cls, data: Any, *, people: int, goods: int, clip: bool = False, unusable: Unusable = "refuse",
    ) -> Valuations:
        """Check the valuations of bidders at n public positions.

        Args:
            data: dense numbers of shape (n, k), or a scipy sparse array or matrix of that shape. A pandas or Polars
                frame, an Arrow table, a mapping, a file or a query is also accepted, with a column for each good, in
                the order of the goods. The data may also be `Valuations`, or the batches of
                `confide.allocation.tables.Rows` that a campaign collects.
            people: number n of positions for bidders.
            goods: number k of goods.
            clip: whether values outside [0, 1] are replaced by the nearest of 0 and 1. A row with a value that is not
                finite stays bad.
            unusable: treatment of a bad row. "refuse" raises an error for the whole table, which reveals the bad row to
                anyone who sees the message. "null" treats the row as zeros.

        Raises:
            InvalidInput: data of another shape or type, or a bad row under "refuse". In the second case the message
                names the row.
        """
        whole("people", people, at_least=1)
        if whole("goods", goods, at_least=1) > _MOST_GOODS:
            raise InvalidInput("goods", f"{goods} is too large", f"must be at most {_MOST_GOODS}")
        one_of("unusable", unusable, ("refuse", "null"))
        if isinstance(data, Valuations):
            found = data
        elif hasattr(data, "tocsr"):
            found = cls._sparse(data)
        elif is_table(data) or isinstance(data, Mapping):
            found = cls._dense(columns_of(data), goods)
        elif isinstance(data, Iterable) and not hasattr(data, "__len__") and not hasattr(data, "__array__"):
            from confide.allocation.tables import gathered

            found = gathered(data, people, goods)
        else:
            found = cls._dense(data, goods)
        if (found.people, found.goods) != (people, goods):
            raise InvalidInput("values", f"its shape is {(found.people, found.goods)}", f"must be {(people, goods)}")
        return found if isinstance(data, Valuations) else found._checked(clip=clip, unusable=unusable)

    @classmethod
    def whole(cls, data: Any) -> Valuations:
        """Check valuations, and take the numbers of bidders and goods from the shape of the data. Runs do not use this
        function.

        Args:
            data: valuations in any form that `of` accepts.
        """
        if isinstance(data, Valuations):
            return data
        data = columns_of(data) if is_table(data) or isinstance(data, Mapping) else data
        try:
            shape = data.shape if hasattr(data, "shape") else np.shape(data)
        except ValueError:  # rows of different lengths
            shape = ()
        if len(shape) != 2:
            raise InvalidInput("values", f"their shape is {tuple(shape)}", "must be (bidders, goods)")
        return cls.of(data, people=shape[0], goods=shape[1])

    @classmethod
    def _dense(cls, data: Any, goods: int) -> Valuations:
        try:
            table = np.asarray(data)
        except ValueError:  # somebody's row or cell has another shape than the others
            table = np.empty(0, dtype=object)
        if table.dtype == object or (table.dtype.kind not in "fiub" and isinstance(data, list | tuple)):
            table = _row_by_row(data, goods)
        if table.ndim != 2 or table.dtype.kind not in "fiub":
            raise InvalidInput("values", f"an array of {table.dtype} with {counted(table.ndim, 'dimension')}",
                               "must be numbers, one row for each bidder and one column for each good")
        kind = np.float32 if table.dtype == np.float32 else np.float64
        flat = np.ascontiguousarray(table, dtype=kind).reshape(-1)
        return cls(people=table.shape[0], goods=table.shape[1], values=flat, starts=None,
                   named=np.empty(0, dtype=np.int32))

    @classmethod
    def _sparse(cls, data: Any) -> Valuations:
        table = data.tocsr()
        if table.ndim != 2 or table.dtype.kind not in "fiub":
            raise InvalidInput("values", f"a sparse array of {table.dtype}", "must be numbers, bidders by goods")
        starts, named = np.asarray(table.indptr), np.asarray(table.indices)
        if len(starts) != table.shape[0] + 1 or starts[0] != 0 or bool((np.diff(starts) < 0).any()) \
                or starts[-1] != len(named) or len(named) != len(table.data):
            raise InvalidInput("values", "is not a valid sparse array: its rows are not in order")
        if len(named) and not 0 <= int(named.min()) <= int(named.max()) < table.shape[1]:
            raise InvalidInput("values", "names a good that does not exist", f"goods are 0 to {table.shape[1] - 1}")
        if not _ascending(starts, named):  # whatever its flags say
            table = table.copy()
            table.has_sorted_indices = False
            table.sort_indices()
            if not _ascending(table.indptr, table.indices):
                raise InvalidInput("values", "names a good twice in one row", "must name each good once")
        kind = np.float32 if table.dtype == np.float32 else np.float64
        return cls(people=table.shape[0], goods=table.shape[1], values=np.ascontiguousarray(table.data, dtype=kind),
                   starts=np.ascontiguousarray(table.indptr, dtype=np.int64),
                   named=np.ascontiguousarray(table.indices, dtype=np.int32))

    def _checked(self, *, clip: bool, unusable: Unusable) -> Valuations:
        bad = self._bad(clip=clip)
        if len(bad) and unusable == "refuse":
            raise InvalidInput("values", f"row {int(bad[0])} holds a value that is not a number in [0, 1]",
                               "each must be in [0, 1]; `Valuations.of(..., clip=True)` moves other values to the "
                               "nearer end")
        if not len(bad) and not clip:
            return self
        values = np.nan_to_num(self.values, nan=0.0)
        for row in bad.tolist():
            values[self._place(row)] = 0.0
        np.clip(values, 0.0, 1.0, out=values)
        return Valuations(people=self.people, goods=self.goods, values=values, starts=self.starts, named=self.named)

    def _bad(self, *, clip: bool) -> NDArray[np.int64]:
        """Indices of the rows with an unusable value."""
        bad = []
        for at in range(0, len(self.values), _CHUNK):
            part = self.values[at : at + _CHUNK]
            wrong = ~np.isfinite(part) if clip else ~((part >= 0.0) & (part <= 1.0))
            if wrong.any():
                places = at + np.flatnonzero(wrong)
                bad.append(places // self.goods if self.starts is None else
                           np.searchsorted(self.starts, places, side="right") - 1)
        return np.unique(np.concatenate(bad)) if bad else np.empty(0, dtype=np.int64)

    def _place(self, row: int) -> slice:
        if self.starts is None:
            return slice(row * self.goods, (row + 1) * self.goods)
        return slice(int(self.starts[row]), int(self.starts[row + 1]))

    def row(self, index: int) -> NDArray[np.float64]:
        """One bidder's valuations of all goods, shape (k,)."""
        values = self.values[self._place(index)].astype(np.float64)
        if self.starts is None:
            return values
        full = np.zeros(self.goods)
        full[self.named[self._place(index)]] = values
        return full

    def welfare(self, allocation: NDArray[Any]) -> float:
        """Welfare of an allocation: the sum of the values of all goods to their holders. The welfare is private.

        Args:
            allocation: good of each bidder, shape (n,), with -1 for none.
        """
        return float(np.sum(self.of_goods(allocation)))

    def of_goods(self, allocation: NDArray[Any]) -> NDArray[np.float64]:
        """The value of each bidder's assigned good to that bidder, shape (n,); 0 for a bidder without a good."""
        chosen = np.asarray(allocation, dtype=np.int64)
        held = np.flatnonzero(chosen >= 0)
        out = np.zeros(self.people)
        if self.starts is None:
            out[held] = self.values[held * self.goods + chosen[held]]
            return out
        keys = np.repeat(np.arange(self.people), np.diff(self.starts)) * self.goods + self.named
        wanted = held * self.goods + chosen[held]
        at = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
        if len(keys):
            out[held] = np.where(keys[at] == wanted, self.values[at], 0.0)
        return out


def _row_by_row(data: Any, goods: int) -> NDArray[np.float64]:
    """Rows of a list or of an array of objects, each read by itself. A row with another number of values becomes
    not-a-number, and None, a slot without a record, becomes zeros.
    """
    if not isinstance(data, list | tuple | np.ndarray) or not len(data):
        raise InvalidInput("values", "is not a table of numbers")
    found = np.full((len(data), goods), np.nan)
    for place, row in enumerate(data):
        if row is None:
            found[place] = 0.0
        elif isinstance(row, list | tuple | np.ndarray) and np.ndim(row[:1]) == 1 and len(row) == goods:
            found[place] = [real(cell) for cell in row]
    return found


def _ascending(starts: NDArray[Any], named: NDArray[Any]) -> bool:
    """Whether goods ascend strictly within each row."""
    if len(named) < 2:
        return True
    rises = np.diff(named.astype(np.int64)) > 0
    ends = np.asarray(starts[1:-1], dtype=np.int64) - 1  # from a row's last entry to the next row's first
    rises[ends[(ends >= 0) & (ends < len(rises))]] = True
    return bool(rises.all())


def as_row(record: Any, goods: int) -> NDArray[np.float64]:
    """One bidder's valuations of all goods, shape (k,), checked without any other bidder's row. An absent bidder has
    zeros.

    Args:
        record: valuations in [0, 1], shape (k,); or a mapping from the number of a good to its valuation; or a row in
            any form that a run accepts (`confide.tables.frames.own_row`); None for no record.
        goods: number k of goods.

    Raises:
        InvalidInput: a record that cannot be used. The message describes the error, and is meant for the bidder alone.
    """
    if record is None:
        return np.zeros(goods)
    record = own_row(record, goods)
    if isinstance(record, dict):
        row = np.zeros(goods)
        for good, value in record.items():
            if not isinstance(good, int | np.integer) or not 0 <= good < goods:
                raise InvalidInput("record", f"{good!r} is not a good", f"goods are 0 to {goods - 1}")
            row[good] = _number(value)
    else:
        try:
            whole_row = record.toarray() if hasattr(record, "toarray") else record  # a row of a sparse table
            numbers: Any = np.asarray(whole_row, dtype=np.float64)
            row = numbers[0] if hasattr(record, "toarray") and numbers.shape == (1, goods) else numbers
        except (TypeError, ValueError):
            raise InvalidInput("record", "is not a row of numbers") from None
    if row.shape != (goods,):
        raise InvalidInput("record", f"its shape is {row.shape}", f"must be ({goods},)")
    if not bool(((row >= 0.0) & (row <= 1.0)).all()):
        raise InvalidInput("record", "holds a value that is not a number in [0, 1]", "each must be in [0, 1]")
    return row


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInput("record", f"{value!r} is not a number", "each value must be in [0, 1]") from None
