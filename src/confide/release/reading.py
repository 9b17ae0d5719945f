"""One pass over a table, which gives the records of the table as cells, and the operator's list of the rows that give
no record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput
from confide.release._inputs import of_kind
from confide.release.columns import Bit, cells_of
from confide.release.engine import pushed
from confide.release.records import Codes, PackedBits
from confide.release.schema import Schema
from confide.tables.records import rejections
from confide.tables.roles import FINE
from confide.tables.roster import FirstRows, Roster
from confide.tables.sources import TableSource, open_table

__all__ = ["Batch", "HeldTable", "encode_batch", "read_codes", "read_records", "refuse", "roster_of"]

_ROWS = 65536
_MOST_RECORDS = 1 << 62
_REMEDY = ('or encode the table first with schema.encode(table, records=n, unusable="null", rejected=lost), where '
           "lost = {}: this counts such rows as the null record and lists them, so that you can read the list before a "
           "release")


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table, each of a different record.

    Args:
        index: int64 (k,): number of the record of each row.
        cells: uint16 (k, m); 0 in every column of an unusable row.
        usable: number of usable rows.
    """

    index: np.ndarray
    cells: np.ndarray
    usable: int


def encode_batch(schema: Schema, batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
    """The cells of a batch of k rows, uint16 (k, m), and the problem code of each value, int8 (k, m)."""
    cells = np.zeros((batch.num_rows, len(schema.columns)), np.uint16)
    problems = np.zeros(cells.shape, np.int8)
    for place, column in enumerate(schema.columns):
        found, wrong = column.encode(batch.column(column.column))
        # Reachable bins ascend, so their number is their rank.
        cells[:, place] = np.where(wrong == FINE, cells_of(column, found), 0)
        problems[:, place] = wrong
    return cells, problems


def read_records(
    schema: Schema, table: Any, roster: Roster | None, id: str, unusable: str,  # noqa: A002
    rejected: MutableMapping[str, str] | None,
) -> Iterator[Batch]:
    """Read a table once, and give its rows in batches, each row with the number of its record.

    With "refuse" an unusable row raises an error only after the whole table was read, so that `rejected` is complete.
    The error names the first column of the schema that has an unusable value in any row.
    """
    one_of("unusable", unusable, ("refuse", "null"))
    of_kind("id", id, str)
    if rejected is not None:
        of_kind("rejected", rejected, MutableMapping)
    table = _with_names(schema, table)
    source = open_table(table)
    names = [column.column for column in schema.columns]
    if id != "row" and id in names:
        raise InvalidInput("id", f"{id!r} is also a column of the schema")
    if roster is None and id != "row":
        raise InvalidInput("records", "are not given", "a column of ids needs the public list of ids, or their number")
    if id == "row" and roster is not None and not source.ordered:
        raise InvalidInput("id", 'the rows of a query have no order, and id="row" makes the i-th row record i',
                           'name the column of ids, id="...", or end the query with .order_by(a column that is '
                           "different in every row)")
    first = FirstRows(roster if roster is not None else Roster(2**62), id)
    least = 0 if roster is None else roster.count
    more = () if id == "row" else (id,)
    query = pushed(schema, table)
    if query is not None:
        batches = query.source(more).batches([*query.names, *more], _ROWS)
        return _read(schema, batches, query.decode, first, least, unusable, rejected)
    batches = source.batches([*names, *more], _ROWS)
    return _read(schema, batches, lambda batch: encode_batch(schema, batch), first, least, unusable, rejected)


def _with_names(schema: Schema, table: Any) -> Any:
    """A table whose columns have names. Rows of bits without names are accepted if the schema has only bits without
    named texts, like `Schema.bits`.
    """
    if isinstance(table, Codes):
        raise InvalidInput("table", "the records are Codes, which are encoded already", "use the Codes directly")
    if isinstance(table, str | bytes) or not isinstance(table, np.ndarray | Sequence | PackedBits):
        return table
    if all(isinstance(column, Bit) and column.category is None for column in schema.columns):
        bits = table.unpack() if isinstance(table, PackedBits) else _cell_by_cell(table)
        # What stands in a cell is the column's to judge, row by row: here only the shape counts.
        if bits.ndim == 2 and bits.shape[1] == len(schema.columns):
            return {column.column: bits[:, place] for place, column in enumerate(schema.columns)}
    names = ", ".join(column.column for column in schema.columns[:4]) + (", ..." if len(schema.columns) > 4 else "")
    raise InvalidInput("table", f"{type(table).__name__} has no column names",
                       f"must be a table with the columns {names}, such as a mapping of names to values; rows of one "
                       "bit for each attribute go into true_answers or DualQuery as PackedBits.pack(bits), and, for a "
                       "schema of bits only, into this function")


def _cell_by_cell(rows: Any) -> np.ndarray:
    """Rows as an array with a type that does not depend on the content of a single cell."""
    try:
        found: np.ndarray = rows if isinstance(rows, np.ndarray) else np.asarray(rows, dtype=object)
    except ValueError:
        return np.zeros(0)
    return found


def _read(
    schema: Schema, batches: Iterator[pa.RecordBatch],
    encode: Callable[[pa.RecordBatch], tuple[np.ndarray, np.ndarray]], first: FirstRows, least: int, unusable: str,
    rejected: MutableMapping[str, str] | None,
) -> Iterator[Batch]:
    refused = len(schema.columns)  # the first column that has an unusable value
    strangers, seen = False, 0
    for batch in batches:
        index = first.claim(batch)
        cells, problems = encode(batch)
        wrong, claimed = problems != FINE, index >= 0
        lost = wrong.any(axis=1)
        if rejected is not None and (lost | ~claimed).any():
            reasons = {row: _reason(schema, problems[row]) for row in np.flatnonzero(lost & claimed).tolist()}
            rejected.update(rejections(first, batch, index, lost | ~claimed, reasons))
        hit = wrong[claimed].any(axis=0)
        refused = min(refused, int(np.argmax(hit)) if hit.any() else refused)
        strangers |= not bool(claimed.all())
        seen += int(np.count_nonzero(claimed))
        cells[lost] = 0
        yield Batch(index[claimed], cells[claimed], int(np.count_nonzero(claimed & ~lost)))
    if unusable == "refuse":
        refuse(schema, refused)
        if strangers:
            raise InvalidInput("records", "the table has rows beyond the records, or two of one record",
                               'correct the table, or set unusable="null"')
        if seen < least:
            raise InvalidInput("records", f"the table has rows for {seen:,} of n = {least:,}",
                               "correct the table or n; unusable='null' counts missing rows as the null record")


def refuse(schema: Schema, column: int) -> None:
    """Raise an error that names a column in which some value is not accepted. If `column` equals the number of columns,
    no column has such a value, and no error is raised.
    """
    if column < len(schema.columns):
        role = schema.columns[column]
        raise InvalidInput(role.column, "the column has a value that it does not accept",
                           f"{role.limit()}; {_REMEDY}")


def _reason(schema: Schema, problems: np.ndarray) -> str:
    place = int(np.flatnonzero(problems)[0])
    return schema.columns[place].reason(int(problems[place]))


def read_codes(
    schema: Schema, table: Any, records: int | Roster | None, id: str, unusable: str,  # noqa: A002
    rejected: MutableMapping[str, str] | None,
) -> tuple[Codes, int]:
    """The records of a table as cells, as in `Schema.encode`, and the number of records with a usable row."""
    roster = roster_of(records)
    if roster is None:
        found = [(batch.cells, batch.usable) for batch in read_records(schema, table, None, id, unusable, rejected)]
        if not sum(len(cells) for cells, _ in found):
            raise InvalidInput("table", "has no rows", "must have at least one block, or give the number of records")
        return (Codes(schema=schema, cells=np.concatenate([cells for cells, _ in found])),
                sum(usable for _, usable in found))
    try:
        cells = np.zeros((roster.count, len(schema.columns)), np.uint16)
    except (ValueError, MemoryError):
        raise InvalidInput("records", f"{roster.count} do not fit into memory",
                           "use true_answers, which reads the records as a stream") \
            from None
    usable = 0
    for batch in read_records(schema, table, roster, id, unusable, rejected):
        cells[batch.index] = batch.cells
        usable += batch.usable
    return Codes(schema=schema, cells=cells), usable


def roster_of(records: int | Roster | None) -> Roster | None:
    """The public list of ids of the records; None if neither a list nor a number of records is given."""
    if records is None or isinstance(records, Roster):
        return records
    if whole("records", records, at_least=1) > _MOST_RECORDS:
        raise InvalidInput("records", f"{records} are too many", "must be at most 2^62")
    return Roster(records)


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldTable:
    """A table of n records that is read only when needed.

    A row that is missing or unusable counts as the null record: cell 0 of every column, which is fixed and public. Rows
    beyond n, and further rows of one id, are ignored.

    Args:
        source: the table as a stream of rows.
        schema: the public columns.
        records: number of records, n.
        identity: name of the column of ids. With "row", the i-th row is the i-th record.
        rejected: mapping to which a pass adds the reason of each rejection, under the id or the row number. The mapping
            is complete after one pass, and is for the operator alone.
    """

    source: TableSource
    schema: Schema
    records: int
    identity: str
    rejected: dict[str, str] = field(default_factory=dict, repr=False)

    def check(self) -> None:
        """Raise an error if a column is missing or has a type that cannot hold the values of its role. The first row is
        read for its types only; its values change nothing.

        Raises:
            InvalidInput: a column is missing or has a wrong type. The message names the column.
        """
        names = [column.column for column in self.schema.columns]
        ids = [] if self.identity == "row" else [self.identity]
        if not ids and not self.source.ordered:
            raise InvalidInput("data.id", "the rows of a query have no order, and \"row\" makes the i-th row record i",
                               "name a column of ids")
        first = next(self.source.batches([*names, *ids], 1), None)
        if first is not None:
            encode_batch(self.schema, first)
            if ids:
                Roster(self.records).index(first.column(self.identity), self.identity)

    def read(self) -> Codes:
        """All n records as cells."""
        self.rejected.clear()
        codes, _ = read_codes(self.schema, self.source, self.records, self.identity, "null", self.rejected)
        return codes

    def count(self) -> int:
        """The number of rows of the table, from one pass that also fills `rejected`. The number is private."""
        self.rejected.clear()
        rows = 0

        def seen(done: int, _total: int | None) -> None:
            nonlocal rows
            rows = done

        for _ in read_records(self.schema, self.source.watched(seen), Roster(self.records), self.identity, "null",
                              self.rejected):
            pass
        return rows
