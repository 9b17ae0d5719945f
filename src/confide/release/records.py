"""The records of a table in several forms: cells, packed bits, and a table of the schema's columns.

As cells, a record is one small number for each public column. Compiled loops find the distinct records, pack records
into bits, and build tables of counts over up to three columns, from which conjunctions are answered. Packed bits are
binary records, stored as one row of 64-bit words for each attribute. In a table of the schema's columns, levels, bins
and named bits are texts, and other bits are booleans.

The module also generates synthetic tables with a campaign's public columns, for trying a mechanism on data of no real
person.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.privacy.noise.simulated import study_generator
from confide.release._inputs import of_kind, reals
from confide.release.columns import Bit, Column
from confide.release.schema import Schema

__all__ = [
    "Codes",
    "PackedBits",
    "answer_groups",
    "as_bits",
    "bits_table",
    "cells_table",
    "columns_of",
    "key_groups",
    "made_up_table",
    "number_distinct",
    "pack_rows",
    "table_of",
]

# ---- packed

_BLOCK = 1 << 13  # records packed at a time, a multiple of 64


@wire("PackedBits", "words records")
@dataclass(frozen=True, eq=False, kw_only=True)
class PackedBits:
    """A table of n records of d binary attributes, stored attribute by attribute. `repr` shows only the numbers n and
    d.

    Args:
        words: packed bits, uint64 (d, ceil(n / 64)). Bit i % 64 of word i // 64 in row a is 1 if record i has attribute
            a. Unused bits are 0.
        records: number of records n, at least 1.

    Raises:
        InvalidInput: the shapes do not fit, or an unused bit is set.

    Example:
        >>> packed = PackedBits.pack([[1, 0], [1, 1], [0, 1]])
        >>> packed.words[:, 0], packed.record(2)
        (array([3, 6], dtype=uint64), array([False,  True]))
    """

    words: np.ndarray = field(repr=False)
    records: int

    def __post_init__(self) -> None:
        whole("records", self.records, at_least=1)
        words = np.asarray(self.words)
        if words.dtype != np.uint64 or words.ndim != 2 or words.shape[1] != -(-self.records // 64):
            raise InvalidInput("words", f"are {words.dtype} of shape {words.shape}",
                               f"must be uint64 of shape (d, {-(-self.records // 64)})")
        used = self.records % 64
        if used and np.any(words[:, -1] >> np.uint64(used)):
            raise InvalidInput("words", "a bit beyond the last record is set")
        object.__setattr__(self, "words", np.ascontiguousarray(words))

    @property
    def attributes(self) -> int:
        """The number of attributes, d."""
        return int(self.words.shape[0])

    @classmethod
    def pack(cls, bits: Any) -> PackedBits:
        """Pack records that are given as rows of bits.

        Args:
            bits: (n, d) booleans, or numbers that are all 0 or 1.

        Raises:
            InvalidInput: the array has another shape, no record, or a value that is no bit.
        """
        given = as_bits("bits", bits, 2)
        n, d = given.shape
        words = np.zeros((d, -(-n // 64)), np.uint64)
        whole("records", n, at_least=1)
        for start in range(0, n, _BLOCK):
            block = np.packbits(given[start : start + _BLOCK].T, axis=1, bitorder="little")
            block = np.pad(block, ((0, 0), (0, -block.shape[1] % 8)))
            found = np.ascontiguousarray(block).view("<u8")
            words[:, start // 64 : start // 64 + found.shape[1]] = found
        return cls(words=words, records=n)

    def unpack(self) -> np.ndarray:
        """The records as rows, bool (n, d)."""
        data = self.words.astype("<u8", copy=False).view(np.uint8)
        return np.ascontiguousarray(np.unpackbits(data, axis=1, count=self.records, bitorder="little").T).view(np.bool_)

    def record(self, number: int) -> np.ndarray:
        """One record, bool (d,).

        Args:
            number: position of the record, in [0, n).
        """
        if not 0 <= whole("number", number) < self.records:
            raise InvalidInput("number", f"{number} is out of range", f"must be below {self.records}")
        found: np.ndarray = (self.words[:, number // 64] >> np.uint64(number % 64)) & np.uint64(1) == 1
        return found


def as_bits(name: str, values: Any, dimensions: int) -> np.ndarray:
    """Values as a bool array with the given number of dimensions.

    Raises:
        InvalidInput: the values have another number of dimensions, or a value is neither 0 nor 1.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidInput(name, "are rows of different lengths") from None
    if array.ndim != dimensions:
        raise InvalidInput(name, f"have {counted(array.ndim, 'dimension')}", f"must have {dimensions}")
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iuf" or not bool(np.all((array == 0) | (array == 1))):
        raise InvalidInput(name, "are not all bits", "each must be true or false, 1 or 0")
    return array.astype(np.bool_)


# ---- cells


@kernel
def number_distinct(cells: np.ndarray, first: np.ndarray, numbers: np.ndarray, table: np.ndarray) -> int:
    """Find the distinct rows, in the order of their first occurrence.

    Args:
        cells: the cells of n records, uint16 of shape (n, m).
        first: int64 (n,), filled with the position of the first occurrence of each distinct row.
        numbers: int32 (n,), filled with the number of the distinct row that each row equals.
        table: scratch hash table, int32, all -1. The length of the table is a power of two above n.

    Returns:
        The number of distinct rows.
    """
    found = 0
    mask = np.uint64(len(table) - 1)
    for row in range(len(cells)):
        value = np.uint64(0x9E3779B97F4A7C15)
        for column in range(cells.shape[1]):
            value = (value ^ np.uint64(cells[row, column])) * np.uint64(0xD6E8FEB86659FD93)
            value ^= value >> np.uint64(32)
        place = value & mask
        while True:
            number = table[place]
            if number < 0:
                table[place] = found
                first[found] = row
                numbers[row] = found
                found += 1
                break
            same = True
            for column in range(cells.shape[1]):
                if cells[row, column] != cells[first[number], column]:
                    same = False
                    break
            if same:
                numbers[row] = number
                break
            place = (place + np.uint64(1)) & mask
    return found


@kernel
def pack_rows(
    cells: np.ndarray, rows: np.ndarray, starts: np.ndarray, attributes: np.ndarray, words: np.ndarray, word: int
) -> None:
    """Set the bits of some records in packed words, one record after the other, from a given word on.

    Args:
        cells: the cells of n records, uint16 of shape (n, m).
        rows: positions of the records in `cells`, int64.
        starts: number of the first cell of each column, if the cells of all columns are numbered one after another, and
            the end; int64 (m + 1,).
        attributes: number of the attribute that each cell sets, int32; -1 for a cell that sets none.
        words: uint64 (d, w), changed in place.
        word: position of the word that has the first record as bit 0.
    """
    for place in range(len(rows)):
        at, bit = word + (place >> 6), np.uint64(1) << np.uint64(place & 63)
        for column in range(cells.shape[1]):
            attribute = attributes[starts[column] + cells[rows[place], column]]
            if attribute >= 0:
                words[attribute, at] |= bit


@kernel
def key_groups(index: np.ndarray, column_of: np.ndarray, none: int, keys: np.ndarray) -> None:
    """The combination of columns that each query names, as one number per query. The columns are the digits of this
    number in base `none` + 1.

    Args:
        index: attributes of the queries, int32 (k, r), r at most 3, padded with -1.
        column_of: column of each attribute, int32 (d,), ascending.
        none: number of columns m, which stands for a missing or repeated column.
        keys: int64 (k,), filled with the number of each query.
    """
    for query in range(len(index)):
        key, before = 0, -1
        for literal in range(3):
            column = none
            if literal < index.shape[1] and index[query, literal] >= 0 and column_of[index[query, literal]] != before:
                column = before = column_of[index[query, literal]]
            key = key * (none + 1) + column
        keys[query] = key


@kernel
def answer_groups(
    columns: np.ndarray, weights: np.ndarray, sizes: np.ndarray, members: np.ndarray, groups: np.ndarray,
    order: np.ndarray, index: np.ndarray, bits: np.ndarray, column_of: np.ndarray, cell_of: np.ndarray,
    table: np.ndarray, out: np.ndarray,
) -> None:
    """Answer conjunctions of at most three literals. All queries on the same columns are answered from one table of
    weights with margins (sums over a column).

    By inclusion and exclusion over its negative literals, a query is a sum of cells and margins of the table, with
    signs. The last position along each axis of the table is the margin.

    Args:
        columns: cells of the n records, uint16 (m + 1, n), stored column by column; the last column is all 0.
        weights: weights of the records, float64 (n,).
        sizes: number of cells of each column, int64 (m + 1,); the last is 1.
        members: columns of each of g groups of queries, int64 (g, 3). A missing or repeated column has number m.
        groups: positions in `order`, int64 (g + 1,): the queries of group j are order[groups[j]:groups[j + 1]].
        order: positions of the queries, sorted by group, int64 (k,).
        index: attributes of the queries, int32 (k, r), r at most 3, padded with -1.
        bits: bits that the literals require, bool (k, r).
        column_of: column of each attribute, int32 (d,).
        cell_of: cell that sets each attribute, int32 (d,); -1 if no record can have the attribute.
        table: scratch array, float64, as long as the largest table.
        out: float64 (k,), filled with the answers to the queries of the given groups.
    """
    chosen = np.empty(3, np.int64)
    negative = np.empty(3, np.int64)
    places = np.empty(3, np.int64)
    picked = np.empty(3, np.int64)
    limits = np.empty(3, np.int64)
    for group in range(len(members)):
        a, b, c = columns[members[group, 0]], columns[members[group, 1]], columns[members[group, 2]]
        s0, s1, s2 = sizes[members[group, 0]], sizes[members[group, 1]], sizes[members[group, 2]]
        step1 = s2 + 1
        step0 = (s1 + 1) * step1
        table[: (s0 + 1) * step0] = 0.0
        for row in range(len(weights)):
            table[a[row] * step0 + b[row] * step1 + c[row]] += weights[row]
        for i in range(s0):
            for j in range(s1):
                line = i * step0 + j * step1
                for k in range(s2):
                    table[line + s2] += table[line + k]
                for k in range(s2 + 1):
                    table[i * step0 + s1 * step1 + k] += table[line + k]
            for j in range(step0):
                table[s0 * step0 + j] += table[i * step0 + j]
        limits[0], limits[1], limits[2] = s0, s1, s2
        for at in range(groups[group], groups[group + 1]):
            query = order[at]
            count = 0
            possible = True
            chosen[:] = limits
            for literal in range(index.shape[1]):
                attribute = index[query, literal]
                if attribute < 0:
                    break
                place, wanted = 0, np.int64(cell_of[attribute])
                while members[group, place] != column_of[attribute]:
                    place += 1
                if not bits[query, literal]:
                    if wanted >= 0:
                        negative[count], places[count] = wanted, place
                        count += 1
                    continue
                if wanted < 0 or chosen[place] not in (limits[place], wanted):
                    possible = False
                chosen[place] = wanted
            total = 0.0
            for subset in range(1 << count if possible else 0):
                picked[:] = chosen
                sign = 1.0
                possible = True
                for bit in range(count):
                    if subset >> bit & 1:
                        sign = -sign
                        place, wanted = places[bit], negative[bit]
                        if picked[place] not in (limits[place], wanted):
                            possible = False
                        picked[place] = wanted
                if possible:
                    total += sign * table[picked[0] * step0 + picked[1] * step1 + picked[2]]
            out[query] = total


# ---- codes


@dataclass(frozen=True, eq=False, kw_only=True)
class Codes:
    """A table of n records as cells, one small number for each column of a schema. `repr` shows only the number of
    records.

    The null record, which stands for a missing or unusable record, has cell 0 in every column.

    Args:
        schema: the public columns.
        cells: cell of each record and column, uint16 (n, m), each below the number of cells of the column.

    Raises:
        InvalidInput: the shape is wrong, there is no record, or a cell is too large for its column.

    Example:
        >>> from confide.release import Bit, Levels, Schema
        >>> schema = Schema((Levels(column="sex", levels=("female", "male")), Bit(column="smoker")))
        >>> codes = schema.encode({"sex": ["male", "male", "female"], "smoker": [1, 1, 0]})
        >>> codes, codes.distinct()[1].tolist(), codes.packed().unpack().astype(int).tolist()
        (Codes(3 records of 2 columns), [2, 1], [[0, 1, 1], [0, 1, 1], [1, 0, 0]])
    """

    schema: Schema
    cells: np.ndarray = field(repr=False)

    def __post_init__(self) -> None:
        of_kind("schema", self.schema, Schema)
        cells = np.asarray(self.cells)
        columns = len(self.schema.columns)
        if cells.dtype != np.uint16 or cells.ndim != 2 or cells.shape[1] != columns:
            raise InvalidInput("cells", f"are {cells.dtype} of shape {cells.shape}",
                               f"must be uint16 of shape (n, {columns})")
        if not len(cells):
            raise InvalidInput("cells", "there is no record", "must be at least one")
        if np.any(cells.max(axis=0) >= np.array(self.schema.sizes)):
            raise InvalidInput("cells", "a cell is not below the size of its column")
        object.__setattr__(self, "cells", np.ascontiguousarray(cells))

    def __repr__(self) -> str:
        return f"Codes({self.records} records of {len(self.schema.columns)} columns)"

    @property
    def records(self) -> int:
        """The number of records, n."""
        return len(self.cells)

    @property
    def attributes(self) -> int:
        """The number of binary attributes, d."""
        return self.schema.attributes

    def table(self) -> pa.Table:
        """The records as a table of the schema's columns: levels, bins and named bits as texts, other bits as booleans.

        Example:
            >>> from confide.release import Levels, Schema
            >>> sexes = Schema((Levels(column="sex", levels=("female", "male")),))
            >>> sexes.encode({"sex": ["male", "female"]}).table().to_pylist()
            [{'sex': 'male'}, {'sex': 'female'}]
        """
        return cells_table(self.cells, self.schema)

    def packed(self) -> PackedBits:
        """The records' attributes as packed bits, in the records' order."""
        words = np.zeros((self.attributes, -(-self.records // 64)), np.uint64)
        pack_rows(self.cells, np.arange(self.records), *self.schema.sets, words, 0)
        return PackedBits(words=words, records=self.records)

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct records, uint16 (u, m), in the order of their first occurrence, and the number of times that
        each occurs (its multiplicity), int64 (u,).

        Only the order of the records is lost. The number u of distinct records is private, since it depends on the
        data.
        """
        first, numbers = self._numbered()
        return self.cells[first], np.bincount(numbers, minlength=len(first))

    def weighted(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distinct records, as from `distinct`, and the total weight of each, float64 (u,)."""
        given = reals("weights", weights)
        if given.shape != (self.records,):
            raise InvalidInput("weights", f"are of shape {given.shape}", f"must be {counted(self.records, 'number')}")
        first, numbers = self._numbered()
        return self.cells[first], np.bincount(numbers, given, minlength=len(first))

    def _numbered(self) -> tuple[np.ndarray, np.ndarray]:
        first, numbers = np.empty(self.records, np.int64), np.empty(self.records, np.int32)
        table = np.full(1 << (2 * self.records).bit_length(), -1, np.int32)
        return first[: number_distinct(self.cells, first, numbers, table)].copy(), numbers


# ---- rows


def columns_of(schema: object) -> None:
    """Refuse an argument that is no schema, such as a number of rows.

    Raises:
        InvalidInput: the argument is no schema. The message names the type of the argument and the right call.
    """
    if not isinstance(schema, Schema):
        raise InvalidInput("schema", f"is of type {type(schema).__name__}",
                           "must be the Schema that the attributes came from: rows(schema)")


def bits_table(records: PackedBits, schema: Schema) -> pa.Table:
    """Packed records as a table of the schema's columns.

    A record that is not one-hot may have no attribute or several attributes of a column on. In the row of such a
    record, the column is null.

    Args:
        records: records of the schema's attributes.
        schema: the public columns that define the attributes.

    Raises:
        InvalidInput: the schema has another number of attributes.
    """
    columns_of(schema)
    if schema.attributes != records.attributes:
        raise InvalidInput("schema", f"has {counted(schema.attributes, 'attribute')}",
                           f"must have {records.attributes}")
    bits = records.unpack()
    columns: dict[str, Any] = {}
    ends = schema.starts.tolist()
    for column, start, end in zip(schema.columns, ends[:-1], ends[1:], strict=True):
        some = bits[:, start:end]
        if isinstance(column, Bit):
            columns[column.column] = _truths(column, some[:, 0])
        else:
            columns[column.column] = _texts(column, np.argmax(some, axis=1), some.sum(axis=1) == 1)
    return pa.table(columns)


def cells_table(cells: NDArray[np.uint16], schema: Schema) -> pa.Table:
    """Records given as cells, uint16 (n, m), as a table of the schema's columns.

    Example:
        >>> from confide.release import Bit, Levels
        >>> schema = Schema((Levels(column="sex", levels=("female", "male")), Bit(column="smoker")))
        >>> cells_table(np.array([[1, 0]], np.uint16), schema).to_pylist()
        [{'sex': 'male', 'smoker': False}]
    """
    columns: dict[str, Any] = {}
    for place, column in enumerate(schema.columns):
        reached = column.reachable[cells[:, place]]
        columns[column.column] = _truths(column, reached == 1) if isinstance(column, Bit) else _texts(
            column, reached, np.ones(len(cells), np.bool_))
    return pa.table(columns)


def _truths(column: Bit, values: NDArray[np.bool_]) -> pa.Array:
    """Booleans, or the texts that a bit names for true and false."""
    if column.category is None:
        return pa.array(values)
    return pa.array(column.category.levels, pa.string()).take(pa.array(values.astype(np.int64)))


def _texts(column: Column, places: NDArray[Any], sure: NDArray[np.bool_]) -> pa.Array:
    """The names of attributes without the name of the column; null where `sure` is False."""
    words = pa.array([name.removeprefix(f"{column.column} ").removeprefix("= ").removeprefix("in ")
                      for name in column.names], pa.string())
    return words.take(pa.array(places.astype(np.int64), mask=~sure))


# ---- made up

_LARGEST = 200_000  # records that are made up at most


def made_up_table(schema: Schema, records: int, *, seed: int, classes: int = 6, sharpness: float = 1.0) -> Codes:
    """A synthetic table of records in a few latent classes. Each class has its own distribution of every column, and
    the columns are independent within a class.

    With several classes all columns depend on each other, as in most tables of people. With one class the columns are
    independent.

    Args:
        schema: the public columns.
        records: number of records, n.
        seed: public seed of the pseudorandom numbers.
        classes: number of classes. The sizes of the classes are random.
        sharpness: number > 0; larger values make the distributions less uniform. Each distribution is a draw from a
            Dirichlet distribution with all parameters equal to 1/sharpness.

    Example:
        >>> from confide.release import Bit
        >>> made_up_table(Schema((Bit(column="a"), Bit(column="b"))), 100, seed=1)
        Codes(100 records of 2 columns)
    """
    coins = study_generator(seed, "made-up table")
    kinds = whole("classes", classes, at_least=1)
    sizes = coins.dirichlet(np.full(kinds, 2.0))
    member = coins.choice(kinds, size=whole("records", records, at_least=1), p=sizes)
    cells = np.empty((records, len(schema.columns)), np.uint16)
    for place, size in enumerate(schema.sizes):
        laws = coins.dirichlet(np.full(size, 1.0 / sharpness), size=kinds)
        ends = np.cumsum(laws, axis=1)
        ends[:, -1] = 1.0
        cells[:, place] = (coins.random(records)[:, None] > ends[member]).sum(axis=1)
    return Codes(schema=schema, cells=cells)


def table_of(schema: Schema, records: int, *, seed: int) -> Codes:
    """A synthetic table of any size. If there are more than 200,000 records, the first 200,000 records are repeated
    about equally often.

    Args:
        schema: the public columns.
        records: number of records, n.
        seed: public seed of the pseudorandom numbers.
    """
    made = made_up_table(schema, min(records, _LARGEST), seed=seed)
    times = -(-records // made.records)
    return made if times == 1 else Codes(schema=schema, cells=np.tile(made.cells, (times, 1))[:records])
