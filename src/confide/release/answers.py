"""True answers: the exact number of records that satisfy each query, from any source of records.

The module also has functions that all mechanisms for a custodian's data use: true counts from a table or from given
answers, the empty table of participants' shares, and true errors for studies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import parameters
from confide.contract.words import counted
from confide.privacy.noise.discrete import LARGEST_SCALE
from confide.release._inputs import of_kind
from confide.release.columns import Bit
from confide.release.counting import count_tally
from confide.release.engine import pushed
from confide.release.reading import read_records, refuse, roster_of
from confide.release.records import Codes, PackedBits
from confide.release.schema import Schema
from confide.release.workload import Workload
from confide.tables.frames import is_table
from confide.tables.roster import Roster
from confide.tables.sources import open_table

__all__ = [
    "TrueAnswers",
    "check_answers",
    "check_parts",
    "check_scale",
    "counts_of",
    "no_shares",
    "records_of",
    "settle",
    "true_answers",
    "true_errors",
]

# ---- answers

_MOST_RECORDS = 1 << 62

_HELD = 1 << 26
"""Largest number of bytes of cells that are counted at once."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TrueAnswers:
    """The exact answers to a workload. The answers are private, and serve as the data of a mechanism. `repr` shows no
    count.

    Args:
        counts: int64 (k,): number of records that satisfy each query, in [0, n].
        records: number of records n, public, at most 2^62.
        workload: the queries to which the counts are answers; None if the queries are unknown.
        schema: the columns of the records that were counted; None if the columns are unknown. With a schema, each
            counted record has exactly one attribute of each column with bins or levels. Mechanisms that need the
            workload or the schema refuse answers in which that field is None.

    Raises:
        InvalidInput: a count is not a whole number in [0, n], or the number of counts is not the number of queries.
    """

    counts: np.ndarray = field(repr=False)
    records: int
    workload: Workload | None = field(default=None, repr=False)
    schema: Schema | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if whole("records", self.records, at_least=1) > _MOST_RECORDS:
            raise InvalidInput("records", f"{self.records} are too many", "must be at most 2^62")
        object.__setattr__(self, "records", int(self.records))
        counts = np.asarray(self.counts)
        if counts.ndim != 1 or counts.dtype.kind not in "iu" or not len(counts):
            raise InvalidInput("counts", f"are {counts.dtype} of shape {counts.shape}",
                               "must be one whole number for each query")
        if counts.min() < 0 or counts.max() > self.records:
            raise InvalidInput("counts", "a count is out of range", f"must be in [0, {self.records}]")
        for name, kind in (("workload", Workload), ("schema", Schema)):
            if getattr(self, name) is not None:
                of_kind(name, getattr(self, name), kind)
        if self.workload is not None and len(self.workload) != len(counts):
            raise InvalidInput("counts", f"{len(counts)} given",
                               f"must be one count for each of {len(self.workload)} queries")
        object.__setattr__(self, "counts", counts.astype(np.int64))

    def __repr__(self) -> str:
        return f"TrueAnswers({len(self.counts)} queries, {self.records} records)"

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def fractions(self) -> np.ndarray:
        """The counts as fractions, counts / n, float64 (k,)."""
        shares: np.ndarray = self.counts / self.records
        return shares


def true_answers(
    data: Any, workload: Workload, schema: Schema | None = None, *, records: int | Roster | None = None,
    id: str = "row",  # noqa: A002
    unusable: Literal["refuse", "null"] = "refuse", rejected: MutableMapping[str, str] | None = None,
) -> TrueAnswers:
    """The exact answers to a workload. The answers are private: no analyst may see them.

    A file or a database query is read as a stream. The memory for this stream does not grow with the number of rows.
    For an ibis expression, DuckDB and PostgreSQL map values to bins themselves. If the queries of the workload use few
    combinations of columns, DuckDB and PostgreSQL also count the records. In this case no row leaves the database,
    unless the table changes during the count.

    Args:
        data: records in one of these forms: `PackedBits`; an iterator over blocks of `PackedBits`; a bool array of
            shape (n, d); `Codes`; or, with a schema, a table of any kind that `confide.tables.open_table` reads.
        workload: k queries over d attributes.
        schema: the public columns of a table.
        records: number of records of a table, or the public list of their ids. With None, the number of rows counts,
            which becomes public (`Schema.encode`).
        id: name of the column of ids. With "row", the i-th row is the i-th record.
        unusable: treatment of a row with a value that its column does not accept. "refuse" raises an error; "null"
            replaces the row by the null record (`Schema.encode`).
        rejected: mapping to which the function adds the reason of each rejection, under the id or the row number. The
            mapping is for the operator alone. DuckDB and PostgreSQL can count the records only if `rejected` is None.

    Raises:
        InvalidInput: the data have another number of attributes than the workload, or no record; or a table comes
            without a schema. The errors of `Schema.encode` are raised too.

    Example:
        >>> true_answers([[1, 0], [1, 1]], Workload.conjunctions([[0], [0, 1]], attributes=2)).fractions
        array([1. , 0.5])
    """
    of_kind("workload", workload, Workload)
    if schema is not None:
        of_kind("schema", schema, Schema)
    if isinstance(data, np.ndarray) and data.dtype == np.bool_ and data.ndim == 2:
        data = PackedBits.pack(data)
    if isinstance(data, PackedBits | Codes):
        return TrueAnswers(counts=workload.counts(data), records=data.records, workload=workload,
                           schema=data.schema if isinstance(data, Codes) else None)
    if schema is not None:
        if schema.attributes != workload.attributes:
            raise InvalidInput("workload", f"asks about {counted(workload.attributes, 'attribute')}",
                               f"the schema has {schema.attributes}")
        roster = roster_of(records)
        if roster is None and id == "row" and rejected is None:
            found = _counted(data, workload, schema, unusable)
            if found is not None:
                return found
        return _streamed(data, workload, schema, roster, id, unusable, rejected)
    if isinstance(data, Iterator):
        return _blocks(data, workload)
    if isinstance(data, np.ndarray | Sequence) and not isinstance(data, str):
        return true_answers(PackedBits.pack(data), workload)
    raise InvalidInput("schema", "is not given", "a table needs a schema")


def _blocks(data: Iterator[Any], workload: Workload) -> TrueAnswers:
    total, records = np.zeros(len(workload), np.int64), 0
    for block in data:
        if not isinstance(block, PackedBits | Codes):
            raise InvalidInput("data", f"{type(block).__name__} is not a block of records",
                               "must be PackedBits or Codes")
        total += workload.counts(block)
        records += block.records
    return _complete(total, records, workload, None)


def _complete(total: np.ndarray, records: int, workload: Workload, schema: Schema | None) -> TrueAnswers:
    if not records:
        raise InvalidInput("data", "has no records", "must have at least one block, or give the number of records")
    return TrueAnswers(counts=total, records=records, workload=workload, schema=schema)


def _streamed(
    table: Any, workload: Workload, schema: Schema, roster: Roster | None, id: str,  # noqa: A002
    unusable: str, rejected: MutableMapping[str, str] | None,
) -> TrueAnswers:
    total, seen, held = np.zeros(len(workload), np.int64), 0, 0
    waiting: list[np.ndarray] = []

    def count() -> None:
        total[:] += workload.counts(Codes(schema=schema, cells=np.concatenate(waiting)))
        waiting.clear()

    for batch in read_records(schema, table, roster, id, unusable, rejected):
        if len(batch.cells):
            waiting.append(batch.cells)
            seen, held = seen + len(batch.cells), held + batch.cells.nbytes
        if held > _HELD:
            count()
            held = 0
    if waiting:
        count()
    if roster is None:
        return _complete(total, seen, workload, schema)
    return TrueAnswers(counts=total + (roster.count - seen) * workload.values(schema.null_record),
                       records=roster.count, workload=workload, schema=schema)


def _counted(table: Any, workload: Workload, schema: Schema, unusable: str) -> TrueAnswers | None:
    """The answers from counts by the query engine; None if the rows must be read and counted outside the engine. The
    result is None in three cases: the table is on no engine; the workload uses many combinations of columns; or the
    engine's counts do not agree, because the table changed during the count.
    """
    query = pushed(schema, table)
    choices = None if query is None else query.choices(workload)
    if query is None or choices is None:
        return None
    rows, bad = query.check()
    if one_of("unusable", unusable, ("refuse", "null")) == "refuse":
        refuse(schema, bad.index(True) if any(bad) else len(bad))
    total = np.zeros(len(workload), np.int64)
    margins: dict[int, np.ndarray] = {}
    for columns, queries in choices if rows else ():
        cells, counts = query.tally(columns)
        for place in columns:
            margin = np.zeros(schema.sizes[place], np.int64)
            np.add.at(margin, cells[:, place], counts)
            if margin.sum() != rows or not np.array_equal(margins.setdefault(place, margin), margin):
                return None
        total[queries] = count_tally(workload.some(queries), schema, cells, counts)
    return _complete(total, rows, workload, schema)


# ---- custodian


def records_of(
    data: Any, schema: Schema | None, *, attributes: int | None = None, one_hot: bool = False
) -> PackedBits | Codes | TrueAnswers:
    """The data in a form that can be read twice: bits are packed, and a table is encoded.

    Args:
        data: a bool array, `PackedBits`, `Codes`, `TrueAnswers`, or a table of any kind. Without a schema each column
            of a table is a bit.
        schema: the public columns of the table or of the codes; None for bits.
        attributes: required number of attributes d; None for any number.
        one_hot: whether records given as bits are refused unless they are one-hot, that is, have exactly one attribute
            of each column with bins or levels. A mechanism that uses the smaller sensitivity of one-hot records must
            refuse other records. With other records, the privacy promise of such a mechanism would be broken.

    Raises:
        InvalidInput: the codes have another schema, the records have other attributes, the bits are not one-hot
            although they must be, or a column does not accept a value.
    """
    if isinstance(data, TrueAnswers):
        return data
    if isinstance(data, PackedBits | Codes):
        records = data
    elif schema is None and _is_table(data):
        table = open_table(data)
        records = Schema(tuple(Bit(column=name) for name in table.column_names)).encode(table)
    elif schema is None or (isinstance(data, np.ndarray) and data.dtype.kind == "b" and data.ndim == 2):
        records = PackedBits.pack(data)
    else:
        records = schema.encode(data)
    if attributes is not None and records.attributes != attributes:
        raise InvalidInput("data", f"has records of {counted(records.attributes, 'attribute')}",
                           f"the workload is over {attributes}")
    if schema is not None:
        if records.attributes != schema.attributes:
            raise InvalidInput("data", f"has {counted(records.attributes, 'attribute')}",
                               f"the schema has {schema.attributes}")
        if isinstance(records, Codes):
            if records.schema is not schema and records.schema != schema:
                raise InvalidInput("data", "have the codes of another schema", "must be of the mechanism's own columns")
        elif one_hot:
            _check_one_hot(records, schema)
    return records


def _is_table(data: Any) -> bool:
    return is_table(data) or isinstance(data, Mapping) or hasattr(data, "__arrow_c_stream__")


def _check_one_hot(records: PackedBits, schema: Schema) -> None:
    for members in schema.groups:
        words = records.words[members]
        if np.bitwise_count(words).sum() != records.records or \
                np.bitwise_count(np.bitwise_or.reduce(words)).sum() != records.records:
            raise InvalidInput("data", "a record does not have exactly one attribute of each column",
                               "encode the table with the schema")


def counts_of(
    data: Any, workload: Workload, n: int, schema: Schema | None = None, *, one_hot: bool = False
) -> NDArray[np.int64]:
    """The true counts of all queries, (k,), which are private.

    Args:
        data: `TrueAnswers` of this workload, an iterator over blocks of packed bits, or any data that `records_of`
            accepts.
        workload: the queries.
        n: required number of records.
        schema: the public columns of a table.
        one_hot: whether records must be one-hot, that is, have exactly one attribute of each column with bins or
            levels. If True, `TrueAnswers` without a schema are refused.

    Raises:
        InvalidInput: there are not n records, or the true answers belong to other queries. The errors of `records_of`
            are raised too.
    """
    if schema is None and isinstance(data, Iterator):
        answers = true_answers(data, workload)
    else:
        read = records_of(data, schema, attributes=workload.attributes, one_hot=one_hot)
        answers = read if isinstance(read, TrueAnswers) else true_answers(read, workload)
    check_answers(answers, workload, n, schema, one_hot=one_hot and isinstance(data, TrueAnswers))
    return np.asarray(answers.counts, dtype=np.int64)


def check_answers(
    answers: TrueAnswers, workload: Workload, n: int, schema: Schema | None = None, *, one_hot: bool = False
) -> None:
    """Refuse true answers that belong to another workload, or to another number of records.

    Args:
        answers: true answers from any source.
        workload: the queries.
        n: number of records.
        schema: the public columns of the mechanism.
        one_hot: whether answers without a workload or without a schema are refused.

    Raises:
        InvalidInput: the answers do not fit. The message names the queries or records to which the answers belong.
    """
    if answers.records != n:
        raise InvalidInput("data", f"has {counted(answers.records, 'record')}",
                           f"must have {n:,}, the number in `records`")
    if len(answers) != len(workload):
        raise InvalidInput("data", f"has {counted(len(answers), 'true answer')}",
                           f"must have one for each query of the workload, {len(workload):,} in all")
    if answers.workload is not None and not answers.workload.same(workload):
        raise InvalidInput("data", "are true answers to other queries",
                           "must be answers to the mechanism's own queries")
    if schema is not None and answers.schema is not None and answers.schema is not schema and answers.schema != schema:
        raise InvalidInput("data", "are true answers for the records of another schema",
                           "must be answers for the mechanism's own columns")
    if one_hot and (answers.workload is None or answers.schema is None):
        raise InvalidInput("data", "are true answers without their queries or their one-hot schema",
                           "use true_answers with the schema, or give the records")


def settle(it: Any) -> None:
    """Replace numpy numbers in the parameters of a mechanism by Python numbers. Arithmetic with numpy numbers differs
    from Python's arithmetic, and overflows earlier.

    Args:
        it: the mechanism, a frozen dataclass with parameters that were already checked.
    """
    kind: Any = type(it)
    for name, plain in _numbers(kind):
        value = getattr(it, name)
        if value is not None and type(value) is not plain:
            object.__setattr__(it, name, plain(value))


@cache
def _numbers(kind: Any) -> tuple[tuple[str, type[float] | type[int]], ...]:
    """The declared parameters that are a single number or None, with their types."""
    plain: tuple[type[float] | type[int], ...] = (float, int)
    return tuple((name, each) for name, setting in parameters(kind).items() for each in plain
                 if setting.kind in (each, each | None))


def check_parts(workload: Workload, schema: Schema | None) -> None:
    """Refuse a workload without queries, and a schema with other attributes than the workload.

    Raises:
        InvalidInput: the workload is empty, or the schema does not fit. The message names the faulty argument.
    """
    if not len(workload):
        raise InvalidInput("workload", "is empty", "must be a Workload of one query or more")
    if schema is not None and schema.attributes != workload.attributes:
        raise InvalidInput("schema", f"has {counted(schema.attributes, 'attribute')}",
                           f"must have the workload's {workload.attributes}")


def check_scale(field: str, scale: float) -> None:
    """Refuse a noise scale that is so large that the noise cannot be drawn. The check is made before any data are read.

    Args:
        field: name of the parameter that determines the scale, for the error message.
        scale: noise scale that follows from the parameter, in counts.

    Raises:
        InvalidInput: the scale is too large. The message names the field.
    """
    if not scale <= LARGEST_SCALE:
        raise InvalidInput(field, f"is too small: the noise would have a scale of {scale:.3g} counts",
                           "the scale must be at most 2^55")


def no_shares() -> pa.Table:
    """A table without columns: no participant gets a share."""
    return pa.table({})


def true_errors(answers: NDArray[np.float64], counts: NDArray[np.int64], n: int) -> dict[str, float]:
    """The average true error ("mean_error") and the largest true error ("max_error") of answers, as fractions of the
    records. True errors are diagnostics for studies and must never be published.
    """
    errors = np.abs(answers - counts / n)
    return {"mean_error": float(errors.mean()), "max_error": float(errors.max())}
