"""One pass over a table, which gives the participants' records as vectors, and the operator's list of rejected rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from confide.contract.errors import InvalidInput
from confide.tables._cells import strings
from confide.tables.design import Design
from confide.tables.roles import FINE, Numeric
from confide.tables.roster import DUPLICATE, FirstRows, Roster
from confide.tables.slot_rows import cell_bytes, cells_of
from confide.tables.sources import TableSource

__all__ = ["RecordCodec", "Records", "read_records", "rejections"]


@dataclass(frozen=True, eq=False)
class Records:
    """Valid records of one batch. A participant without a valid record in the whole pass has the null record.

    Args:
        index: int64 of shape (k,): the position of each record's person in the public list of ids, from 0. No position
            occurs twice in a pass.
        X: vectors of the features, float64 of shape (k, d).
        y: scaled responses in [-1, 1], float64 of shape (k,).
    """

    index: np.ndarray
    X: np.ndarray
    y: np.ndarray


def read_records(
    source: TableSource,
    *,
    design: Design,
    response: Numeric,
    roster: Roster,
    id: str = "row",  # noqa: A002
    rows: int = 65536,
    rejected: MutableMapping[str, str] | None = None,
) -> Iterator[Records]:
    """Read a table once. Each further pass needs another call of `read_records`.

    Args:
        source: the table, from `confide.tables.open_table`.
        design: design with the roles of the features.
        response: role of the response, whose column must not be a feature.
        roster: the public list of ids.
        id: name of the column that holds the id. With "row", the i-th row belongs to the i-th id of the list.
        rows: largest number of rows in a batch, at least 1. The number affects only the speed.
        rejected: mapping to which the function adds the reason of each rejection under the rejected id. The key is "row
            7" if row 7 has no id of the list, and "ann (row 7)" if row 7 is a further row of the id "ann". The mapping
            depends on private records. It is for the operator alone, and neither its content nor its size may be
            published.

    Yields:
        The valid records of each batch. A problem in one row never changes the records of another row.

    Raises:
        InvalidInput: a column is missing or has a type that cannot hold the values of its role; the response is also a
            feature; or the rows are numbered but have no order. The error never depends on the values.

    Example:
        >>> from confide.tables import open_table
        >>> people = open_table({"age": [20, 60, 99], "wage": [10, 40, 20]})
        >>> design = Design(features=(Numeric(column="age", lower=20, upper=60),))
        >>> wage, rejected = Numeric(column="wage", lower=0, upper=40), {}
        >>> for records in read_records(people, design=design, response=wage, roster=Roster(3), rejected=rejected):
        ...     print(records.index, records.y)
        [0 1] [-0.5  1. ]
        >>> rejected
        {'3': 'age: is out of bounds; must be in [20, 60]'}
    """
    if response.column in design.columns:
        raise InvalidInput("response", f"{response.column!r} is also a feature")
    if id != "row" and id in (*design.columns, response.column):
        raise InvalidInput("id", f"{id!r} is also a feature or the response")
    if id == "row" and not source.ordered:
        raise InvalidInput("id", "the rows of a query have no order",
                           "name a column of ids, or end the query with order_by")
    source = source.for_roles([*design.features, response])
    columns = [*design.columns, response.column, *([] if id == "row" else [id])]
    batches = source.batches(columns, rows)
    return _records(batches, design, response, FirstRows(roster, id), rejected)


def _records(
    batches: Iterator[pa.RecordBatch],
    design: Design,
    response: Numeric,
    first: FirstRows,
    rejected: MutableMapping[str, str] | None,
) -> Iterator[Records]:
    for batch in batches:
        index = first.claim(batch)
        X, valid, codes = design.encode(batch)
        y, problems = response.encode(batch.column(response.column))
        keep = valid & (problems == FINE) & (index >= 0)
        if keep.all():
            yield Records(index, X, y)
            continue
        if rejected is not None:
            reasons = {row: design.reason(int(codes[row])) if codes[row] else response.reason(int(problems[row]))
                       for row in np.flatnonzero(~keep & (index >= 0)).tolist()}
            rejected.update(rejections(first, batch, index, ~keep, reasons))
        yield Records(index[keep], X[keep], y[keep])


def rejections(
    first: FirstRows, batch: pa.RecordBatch, index: np.ndarray, lost: np.ndarray, reasons: Mapping[int, str]
) -> dict[str, str]:
    """Mapping from id to reason for the rows of a batch that give no record. The mapping is for the operator alone.

    Args:
        first: the object that assigned the rows to ids. The last call of `first.claim` must have been for `batch`.
        batch: Arrow record batch with the m rows.
        index: result of `first.claim(batch)`, shape (m,).
        lost: whether each row gives no record, bool of shape (m,).
        reasons: mapping from the position of a row in the batch to the reason, for rows with an id of the list.
    """
    found, start = {}, first.rows - batch.num_rows
    for row in np.flatnonzero(lost).tolist():
        claim, place = int(index[row]), f"row {start + row + 1}"
        if claim >= 0:
            found[first.roster.identity(claim)] = reasons[row]
        elif claim == DUPLICATE:
            found[f"{_identity(first, batch, row)} ({place})"] = "a later row of the same id"
        else:
            found[place] = ("beyond the declared number of rows" if first.column is None else
                            "no id of the public list")
    return found


def _identity(first: FirstRows, batch: pa.RecordBatch, row: int) -> str:
    if first.column is None:
        return ""
    return str(strings(first.column, batch.column(first.column)[row : row + 1])[0].as_py())


@dataclass(frozen=True)
class RecordCodec:
    """Conversion of records to bytes and back. A record is stored as little-endian doubles: the features, and then the
    response.

    Args:
        dimension: length d of the feature vectors.

    Example:
        >>> codec = RecordCodec(2)
        >>> slots, reports = codec.pack(Records(np.array([4]), np.array([[0.5, -0.25]]), np.array([1.0])))
        >>> back = codec.unpack(slots, reports)
        >>> back.index.tolist(), back.X.tolist(), back.y.tolist()
        ([4], [[0.5, -0.25]], [1.0])
    """

    dimension: int

    def pack(self, batch: Records) -> tuple[np.ndarray, list[bytes]]:
        """The slots of a batch, and its records as bytes."""
        return batch.index, cell_bytes(np.column_stack([batch.X, batch.y]))

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Records:
        """The batch of records that `pack` turned into the given slots and bytes."""
        rows = cells_of(reports, self.dimension + 1)
        return Records(slots, rows[:, :-1], rows[:, -1])
