"""The records of a run, and four methods to read them: `fold`, `each`, `by_id` and `scan`.

A mechanism defines the computation on one batch, and how the results of batches are added. The result does not depend,
in any bit, on where the records are stored, or on the number and order of the batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from confide.contract.errors import InvalidInput, Refused
from confide.numerics.map_reduce import accumulate, map_blocks

__all__ = ["LARGEST_SCAN", "Reader", "Rows", "taken"]

LARGEST_SCAN = 1 << 28
"""Largest number of cells that `Reader.scan` sorts in memory."""

_BLOCK = 1 << 16
"""Largest number of rows that a thread receives at a time. The temporary arrays for so many rows fit into a core's
cache.
"""


class Rows(Protocol):
    """A batch of records: a frozen dataclass of arrays with the same first axis, among them `index`, the slot of each
    record.

    Args:
        index: slot of each record, int64 of shape (m,): the position of the record's person in the public list of ids,
            from 0.
    """

    @property
    def index(self) -> np.ndarray: ...


_Rows = TypeVar("_Rows", bound=Rows)
_State = TypeVar("_State")


class Reader(Generic[_Rows]):
    """The records of all people, which can be read any number of times.

    Passes work on several threads, and their memory does not grow with the number of records. The methods `each` and
    `scan` are exceptions: `each` holds its result for every slot, and `scan` of unordered records sorts them in memory.

    Args:
        batches: function without arguments. Each call returns an iterable over all batches, for one pass.
        people: number of people on the public list of ids. The slot of a person is their position in this list. A row
            without a slot is left out.
        ordered: whether the rows of every pass come in the order of the slots.

    Example:
        >>> from confide.tables.slot_rows import SlotRows
        >>> rows = SlotRows(np.array([2, 0, 2]), np.array([[0.5], [0.25], [1.0]]))
        >>> reader = Reader(lambda: [rows], people=4)
        >>> def add(total: list[float], some: SlotRows) -> None:
        ...     total[0] += float(some.cells.sum())
        >>> def join(total: list[float], other: list[float]) -> None:
        ...     total[0] += other[0]
        >>> reader.fold(lambda: [0.0], add, join)
        [0.75]
        >>> reader.each(lambda some: {"paid": some.cells[:, 0]}, {"paid": 0.0})["paid"].to_pylist()
        [0.25, 0.0, 0.5, 0.0]
    """

    def __init__(self, batches: Callable[[], Iterable[_Rows]], people: int, *, ordered: bool = False) -> None:
        self._batches, self.people, self.ordered = batches, people, ordered

    def by_id(self, *, refuse: str = "") -> Iterator[_Rows]:
        """One pass over the first row of each slot. Later rows of a slot do not count, because the privacy guarantee is
        for one record of each person.

        Args:
            refuse: error message for a slot with a second row. If `refuse` is empty, second rows are left out.

        Raises:
            InvalidInput: a slot has a second row and `refuse` is given. The error is raised after the last batch, and
                its message does not name the slot.
        """
        seen, twice = np.zeros(self.people, dtype=bool), False
        last = np.zeros(self.people, dtype=np.int64)  # where a batch has each slot for the first time
        for batch in (part for whole in self._batches() for part in _parts(whole, _BLOCK)):
            place = np.asarray(batch.index, dtype=np.int64)
            inside = (place >= 0) & (place < self.people)
            place = np.where(inside, place, 0)
            row = np.arange(len(place))
            backwards = np.flatnonzero(inside)[::-1]
            last[place[backwards]] = row[backwards]
            keep = inside & ~seen[place] & (last[place] == row)
            seen[place[keep]] = True
            twice |= bool((inside & ~keep).any())
            yield batch if keep.all() else taken(batch, keep)
        if twice and refuse:
            raise InvalidInput("data", refuse)

    def fold(
        self, start: Callable[[], _State], add: Callable[[_State, _Rows], None],
        join: Callable[[_State, _State], None], *, refuse: str = "",
    ) -> _State:
        """One state with sums over all records. The sums must be exact, such as sums of whole numbers, because the
        threads add the batches in any order.

        Args:
            start: function that makes an empty state.
            add: function that adds a batch to a state, on a worker thread.
            join: function of two states, which adds the second state to the first one.
            refuse: error message, as for `by_id`.

        Returns:
            The joined state, to which the first record of each slot was added exactly once.
        """
        total, *others = accumulate(start, add, self.by_id(refuse=refuse))
        for other in others:
            join(total, other)
        return total

    def each(
        self, give: Callable[[_Rows], Mapping[str, np.ndarray]], null: Mapping[str, Any], *, refuse: str = "",
    ) -> pa.Table:
        """Values for each slot, computed from the slot's own record.

        Args:
            give: function of a batch that returns a mapping from column name to values of shape (m,) or (m, w). The
                values for a row must depend on this row alone. The function runs on a worker thread.
            null: mapping from column name to the value of a slot without a record. The type of the value is the type of
                the column.
            refuse: error message, as in `by_id`.

        Returns:
            A table with one row for each slot, in the order of the slots.
        """
        return pa.table({name: _column(values) for name, values in self.by_slot(give, null, refuse=refuse).items()})

    def by_slot(
        self, give: Callable[[_Rows], Mapping[str, np.ndarray]], null: Mapping[str, Any], *, refuse: str = "",
    ) -> dict[str, np.ndarray]:
        """The result of `each` as arrays: a mapping from column name to an array of shape (people,) or (people, w).

        Args:
            give: function of a batch, as in `each`.
            null: values of a slot without a record, as in `each`.
            refuse: error message, as in `by_id`.
        """
        found = {name: np.full((self.people, *np.shape(value)), value) for name, value in null.items()}

        def work(batch: _Rows) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
            return batch.index, give(batch)

        for index, given in map_blocks(work, self.by_id(refuse=refuse)):
            for name, values in given.items():
                found[name][index] = values
        return found

    def scan(self, rows: int = 1 << 16, *, refuse: str = "") -> Iterator[_Rows]:
        """One pass in the order of the slots, on the calling thread.

        Args:
            rows: largest number of rows in a batch.
            refuse: error message, as in `by_id`.

        Raises:
            Refused: the records come in another order, and have too many cells to be sorted in memory.
        """
        for batch in self.by_id(refuse=refuse) if self.ordered else self._sorted(refuse):
            yield from _parts(batch, rows)

    def _sorted(self, refuse: str) -> Iterator[_Rows]:
        kept, cells = list[Any](), 0
        for batch in self.by_id(refuse=refuse):
            kept.append(batch)
            cells += sum(np.size(getattr(batch, name)) for name in _arrays(batch))
            if cells > LARGEST_SCAN:
                raise Refused(f"unordered records with more than {LARGEST_SCAN:,} cells", "sort the table by slot")
        if kept:
            joined = {name: np.concatenate([getattr(each, name) for each in kept]) for name in _arrays(kept[0])}
            yield taken(replace(kept[0], **joined), np.argsort(joined["index"], kind="stable"))


def _parts(batch: _Rows, rows: int) -> Iterator[_Rows]:
    """Split a batch into parts of at most `rows` rows."""
    for first in range(0, max(len(batch.index), 1), rows):
        yield batch if len(batch.index) <= rows else taken(batch, slice(first, first + rows))


def _arrays(batch: Any) -> list[str]:
    return [each.name for each in fields(batch) if isinstance(getattr(batch, each.name), np.ndarray)]


def taken(batch: _Rows, where: Any) -> _Rows:
    """The selected rows of a batch, as a batch of the same class.

    Args:
        batch: dataclass of arrays with the same first axis. Fields that are no arrays are kept unchanged.
        where: boolean mask, array of positions, or slice that selects the rows.
    """
    some: Any = batch
    changed: _Rows = replace(some, **{name: getattr(some, name)[where] for name in _arrays(some)})
    return changed


def _column(values: np.ndarray) -> pa.Array:
    if values.ndim == 1:
        return pa.array(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), int(np.prod(values.shape[1:])))
