"""The public list of the ids of all invited people, the rank of each id, and the assignment of the rows of a table to
ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.tables._cells import integers, is_text, plain, strings
from confide.tables._values import as_array, cell

__all__ = ["DUPLICATE", "UNKNOWN", "FirstRows", "Roster"]

UNKNOWN = -1
"""The value -1, which takes the place of an index if an id is missing or not on the list."""
DUPLICATE = -2
"""The value -2, which takes the place of an index if an earlier row has the same id."""

_NONE = int(np.iinfo(np.int64).min)  # a cell that is no integer
_PLAIN = re.compile(r"[1-9][0-9]{0,18}")
_SPACE = " \t\n\v\f\r"
_CHUNK = 1 << 18  # texts hashed at a time
_FACTOR = np.uint64(0x9E3779B97F4A7C15)

Finder = Callable[[np.ndarray], np.ndarray]
Lookup = Callable[[str, pa.Array], np.ndarray]


def _twice(identity: object) -> InvalidInput:
    return InvalidInput("ids", f"{identity!r} stands twice", "every slot needs a different id")


def _table(ids: np.ndarray, low: int, high: int) -> tuple[Finder, np.ndarray]:
    """A finder for integers that lie close together, by a table over their range, and the positions of repeated
    integers.
    """
    table = np.full(high - low + 1, UNKNOWN, np.int64)
    place = np.arange(len(ids))
    table[ids - low] = place

    def find(wanted: np.ndarray) -> np.ndarray:
        inside = (wanted >= low) & (wanted <= high)
        return np.where(inside, table[np.where(inside, wanted - low, 0)], UNKNOWN)

    return find, np.flatnonzero(table[ids - low] != place)


def _sorted(keys: np.ndarray) -> tuple[Finder, np.ndarray]:
    """A finder for arbitrary keys, by binary search, and the positions of repeated keys."""
    order = np.argsort(keys)
    keys = keys[order]

    def find(wanted: np.ndarray) -> np.ndarray:
        # Sorted queries pass the list once instead of missing the cache at every step.
        turn = np.argsort(wanted)
        ahead = wanted[turn]
        place = np.minimum(np.searchsorted(keys, ahead), len(keys) - 1)
        found = np.empty(len(wanted), np.int64)
        found[turn] = np.where(keys[place] == ahead, order[place], UNKNOWN)
        return found

    return find, order[1:][keys[1:] == keys[:-1]]


def _hash(texts: pa.Array) -> np.ndarray:
    """A polynomial hash modulo 2^64 of each text of a large_string array, uint64 of shape (m,)."""
    offsets, data = texts.buffers()[1:]
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    lengths, starts = np.diff(ends), ends[:-1] - ends[0]
    result = np.zeros(len(texts), np.uint64)
    some = lengths > 0
    if some.any():
        letters = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]].astype(np.uint64)
        powers = np.cumprod(np.full(int(lengths.max()), _FACTOR))
        letters *= powers[np.arange(len(letters)) - np.repeat(starts, lengths)]
        result[some] = np.add.reduceat(letters, starts[some])
    return result


def _by_number(ids: np.ndarray) -> Lookup:
    low, high = int(ids.min()), int(ids.max())
    find, repeated = _table(ids, low, high) if high - low < 4 * len(ids) + 1024 else _sorted(ids)
    if len(repeated):
        raise _twice(int(ids[repeated[0]]))
    return lambda name, values: find(integers(name, values, _NONE))


def _by_text(ids: pa.Array, numbers: np.ndarray) -> Lookup:
    """A lookup of texts by their spelling. A text without a match that spells a whole number is looked up by that
    number: 7.0 is the id 7.
    """
    exactly = _by_spelling(ids)
    values, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    once = (values != _NONE) & (counts == 1)  # of two ids that spell one number, neither is meant by a third spelling
    if not once.any():
        return exactly
    find, _ = _sorted(values[once])
    ranks = first[once]

    def look(name: str, cells: pa.Array) -> np.ndarray:
        found, same = exactly(name, cells), find(integers(name, cells, _NONE))
        return np.where((found == UNKNOWN) & (same != UNKNOWN), ranks[same], found)

    return look


def _by_spelling(ids: pa.Array) -> Lookup:
    """A lookup of texts by hash, followed by a comparison of the texts. Arrow's `index_in` would build its hash table
    again for every batch.
    """
    find, repeated = _sorted(np.concatenate([_hash(ids[at : at + _CHUNK]) for at in range(0, len(ids), _CHUNK)]))
    if len(repeated):  # an id that stands twice, or two ids that share a hash: rare, slow, right
        counts = pc.value_counts(ids)
        counts = counts.filter(pc.greater(counts.field("counts"), 1))
        if len(counts):
            raise _twice(counts[0]["values"].as_py())
        return lambda name, values: _index_in(strings(name, values), ids)

    longest = pc.max(pc.binary_length(ids))

    def look(name: str, values: pa.Array) -> np.ndarray:
        wanted = pc.fill_null(strings(name, values), "")
        # A text longer than every id is none of them, and hashing it would take time and memory for its length.
        wanted = pc.if_else(pc.less_equal(pc.binary_length(wanted), longest), wanted, "")
        found = find(_hash(wanted))
        same = pc.equal(ids.take(pa.array(np.maximum(found, 0))), wanted).to_numpy(zero_copy_only=False)
        return np.where(same, found, UNKNOWN)

    return look


def _index_in(wanted: pa.Array, ids: pa.Array) -> np.ndarray:
    found = pc.index_in(wanted, value_set=ids)
    result: np.ndarray = pc.fill_null(pc.cast(found, pa.int64()), UNKNOWN).to_numpy(zero_copy_only=False)
    return result


class Roster:
    """The public list of ids. The rank of an id is its position in the list, from 0, and is the participant's `index`.

    `Roster(n)` is the list "1", "2", ..., "n". Ids are compared as texts: 7 and "7" are the same id, and "07" is
    another id. A text that is not on the list but spells a whole number matches the id of this number: "7.0" matches
    "7".

    Args:
        count: number of invited people, at least 1.

    Raises:
        InvalidInput: the count is no whole number of at least 1.

    Example:
        >>> import numpy as np
        >>> Roster(3).index(np.array([2, 3, 4]))
        array([ 1,  2, -1])
        >>> Roster.from_ids(["ann", "bob"]).rank("bob")
        1
    """

    __slots__ = ("_ids", "_look", "count")

    def __init__(self, count: int) -> None:
        self.count = whole("count", count, at_least=1)
        self._ids: pa.Array | None = None

        def look(name: str, values: pa.Array) -> np.ndarray:
            number = integers(name, values, 0)
            return np.where((number >= 1) & (number <= self.count), number - 1, UNKNOWN)

        self._look: Lookup = look

    @classmethod
    def from_ids(cls, ids: Sequence[str] | Sequence[int] | np.ndarray | pa.Array) -> Roster:
        """An explicit public list of ids. The position of an id in the list is its rank.

        Args:
            ids: texts or whole numbers, all different.

        Raises:
            InvalidInput: there are no ids; or an id is empty, occurs twice, or is neither a text nor a whole number.
        """
        array = plain(as_array(ids))
        if not len(array):
            raise InvalidInput("ids", "the list is empty", "must hold at least one id")
        try:
            array.validate(full=True)
        except pa.ArrowInvalid:
            raise InvalidInput("ids", "an id is not UTF-8") from None
        roster = cls(len(array))
        if not pa.types.is_integer(array.type):
            array = strings("ids", array)
        if array.null_count or (is_text(array) and pc.any(pc.equal(array, "")).as_py()):
            raise InvalidInput("ids", "an id is empty, or is neither a text nor a whole number",
                               "every slot needs a different id")
        numbers = integers("ids", array, _NONE)
        spelled_apart = is_text(array) and len(np.unique(numbers)) < len(numbers) == pc.count_distinct(array).as_py()
        if (numbers == _NONE).any() or spelled_apart:
            array = strings("ids", array)
            roster._look = _by_text(array, numbers)
        else:
            roster._look = _by_number(numbers)
        roster._ids = array
        return roster

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"Roster({self.count})" if self._ids is None else f"Roster.from_ids(<{self.count} ids>)"

    def index(self, values: Any, name: str = "id") -> np.ndarray:
        """The rank of each id, int64 of shape (m,); -1 for an id that is missing or not on the list.

        Args:
            values: a column of integers or texts, as an Arrow array, a numpy array or a sequence.
            name: name of the column in the error message.

        Raises:
            InvalidInput: the column's type, such as dates or lists, holds no ids.
        """
        return self._look(name, as_array(values))

    def rank(self, identity: str | int) -> int:
        """The rank of one id.

        Raises:
            InvalidInput: the id is not on the list.
        """
        found = UNKNOWN
        if self._ids is None and type(identity) is str:  # what everybody's request asks; as `index` reads the cell
            number = _PLAIN.fullmatch(identity.strip(_SPACE))
            found = int(number[0]) - 1 if number and int(number[0]) <= self.count else UNKNOWN
        if found == UNKNOWN:
            found = int(self._look("id", cell(identity))[0])
        if found < 0:
            first, last = self.identity(0), self.identity(self.count - 1)
            raise InvalidInput("id", f"{identity!r} is not on the public list of {self.count} ids",
                               f"ids are 1 to {last}" if (first, last) == ("1", str(self.count)) else "")
        return found

    def identity(self, index: int) -> str:
        """The id with a given rank in [0, count).

        Raises:
            InvalidInput: the rank is out of range.
        """
        if not 0 <= index < self.count:
            raise InvalidInput("index", f"{index} is out of range", f"must be in [0, {self.count})")
        return str(index + 1) if self._ids is None else str(self._ids[int(index)].as_py())


class FirstRows:
    """Assignment of the rows of one pass to ids. The record of an id is the first row with this id, in the order of the
    table.

    Args:
        roster: the public list of ids.
        id: name of the column that holds the id. With "row", the i-th row belongs to the i-th id of the list.

    Example:
        >>> import pyarrow as pa
        >>> first = FirstRows(Roster(3), id="who")
        >>> first.claim(pa.record_batch({"who": [2, 9, 2]}))
        array([ 1, -1, -2])
        >>> first.claim(pa.record_batch({"who": [1, 2]}))
        array([ 0, -2])
    """

    __slots__ = ("_seen", "column", "roster", "rows")

    def __init__(self, roster: Roster, id: str = "row") -> None:  # noqa: A002
        self.roster = roster
        self.column = None if id == "row" else id
        self.rows = 0
        self._seen = None if self.column is None else np.zeros(roster.count, np.bool_)

    def claim(self, batch: pa.RecordBatch) -> np.ndarray:
        """The index of the participant to whom each row belongs, int64 of shape (m,).

        The index is negative for a row that is no participant's record: DUPLICATE (-2) if an earlier row has the same
        id, and otherwise UNKNOWN (-1).
        """
        start, self.rows = self.rows, self.rows + batch.num_rows
        if self._seen is None or self.column is None:
            index = np.arange(start, self.rows, dtype=np.int64)
            return np.where(index < self.roster.count, index, UNKNOWN)
        index = self.roster.index(batch.column(self.column), self.column)
        known = index >= 0
        again = known & self._seen[np.where(known, index, 0)]
        if not (np.diff(index) > 0).all():
            first = np.zeros(len(index), np.bool_)
            first[np.unique(index, return_index=True)[1]] = True
            again |= known & ~first
        self._seen[index[known]] = True
        return np.where(again, DUPLICATE, index)
