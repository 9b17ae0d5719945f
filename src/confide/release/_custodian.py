"""What a custodian's mechanisms share: true counts of a table or given ones, no shares, and errors for studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.parameters import parameters
from confide.privacy.noise.discrete import LARGEST_SCALE
from confide.release.answers import TrueAnswers, true_answers
from confide.release.codes import Codes
from confide.release.columns import Bit
from confide.release.packed import PackedBits
from confide.release.schema import Schema
from confide.release.workload import Workload
from confide.tables.frames import is_table
from confide.tables.sources import open_table

__all__ = [
    "check_answers",
    "check_parts",
    "check_scale",
    "counts_of",
    "no_shares",
    "records_of",
    "settle",
    "true_errors",
]


def records_of(
    data: Any, schema: Schema | None, *, attributes: int | None = None, one_hot: bool = False
) -> PackedBits | Codes | TrueAnswers:
    """The data in a form that can be read twice: bits are packed, a table is encoded.

    Args:
        data: a bool array, what has such a form already, or a table of any kind. Without a schema each column of a
            table is a bit.
        schema: of a table, and of codes.
        attributes: d, checked where given.
        one_hot: whether bits too must have exactly one attribute of each column with bins or levels. Where a
            sensitivity is smaller for such records, others would break the promise.

    Raises:
        InvalidInput: codes of another schema, records of other attributes, bits that are not one-hot where they must
            be, or a value that its column does not accept.
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
        raise InvalidInput("data", f"records of {records.attributes} attributes", f"the workload is over {attributes}")
    if schema is not None:
        if records.attributes != schema.attributes:
            raise InvalidInput("data", f"has {records.attributes} attributes", f"the schema has {schema.attributes}")
        if isinstance(records, Codes):
            if records.schema is not schema and records.schema != schema:
                raise InvalidInput("data", "are codes of another schema", "must be of the mechanism's own columns")
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
            raise InvalidInput("data", "a record has not exactly one attribute of a column", "encode the table")


def counts_of(
    data: Any, workload: Workload, n: int, schema: Schema | None = None, *, one_hot: bool = False
) -> NDArray[np.int64]:
    """(k,) true counts; private.

    Args:
        data: `TrueAnswers` of this workload, blocks of packed bits from an iterator, or what `records_of` takes.
        workload: the queries.
        n: how many records there must be.
        schema: of a table.
        one_hot: as for `records_of`; true answers must then say that they are of the schema's codes.

    Raises:
        InvalidInput: not n records, answers to other queries, or what `records_of` raises.
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
    """Refuse true answers that are not of this workload, or not of n records.

    Args:
        answers: from anywhere.
        workload: the queries.
        n: records.
        schema: the mechanism's columns.
        one_hot: whether they must say of which queries and of which schema's codes they are.

    Raises:
        InvalidInput: says what they are of.
    """
    if answers.records != n:
        raise InvalidInput("data", f"{answers.records:,} records", f"must be records = {n:,}")
    if len(answers) != len(workload):
        raise InvalidInput("data", f"{len(answers):,} true answers", f"must be one for each of {len(workload):,}")
    if answers.workload is not None and not answers.workload.same(workload):
        raise InvalidInput("data", "are true answers to other queries", "must be to the mechanism's own")
    if schema is not None and answers.schema is not None and answers.schema is not schema and answers.schema != schema:
        raise InvalidInput("data", "are true answers of another schema's records", "must be of the mechanism's columns")
    if one_hot and (answers.workload is None or answers.schema is None):
        raise InvalidInput("data", "are true answers that do not say of which queries and one-hot records",
                           "use true_answers with the schema, or give the records")


def settle(it: Any) -> None:
    """Keep plain numbers instead of those given: a numpy scalar has an arithmetic of its own, and a smaller range.

    Args:
        it: frozen, under construction, and checked.
    """
    kind: Any = type(it)
    for name, plain in _numbers(kind):
        value = getattr(it, name)
        if value is not None and type(value) is not plain:
            object.__setattr__(it, name, plain(value))


@cache
def _numbers(kind: Any) -> tuple[tuple[str, type[float] | type[int]], ...]:
    """The declared parameters that are one number, or None."""
    plain: tuple[type[float] | type[int], ...] = (float, int)
    return tuple((name, each) for name, setting in parameters(kind).items() for each in plain
                 if setting.kind in (each, each | None))


def check_parts(workload: Workload, schema: Schema | None) -> None:
    """Refuse a workload without queries, and a schema of other attributes.

    Raises:
        InvalidInput: names the part.
    """
    if not len(workload):
        raise InvalidInput("workload", "is empty", "must be a Workload of one query or more")
    if schema is not None and schema.attributes != workload.attributes:
        raise InvalidInput("schema", f"has {schema.attributes} attributes",
                           f"must have the workload's {workload.attributes}")


def check_scale(field: str, scale: float) -> None:
    """Refuse parameters whose noise is beyond what can be drawn, before any data is read.

    Args:
        field: the parameter that is too small.
        scale: of the noise that it asks for, in counts.

    Raises:
        InvalidInput: names the field.
    """
    if not scale <= LARGEST_SCALE:
        raise InvalidInput(field, f"is too small: it asks for noise of {scale:.3g} counts", "at most 2^55")


def no_shares() -> pa.Table:
    """A table without columns: no participant gets a share."""
    return pa.table({})


def true_errors(answers: NDArray[np.float64], counts: NDArray[np.int64], n: int) -> dict[str, float]:
    """Average and maximum error of answers; a diagnostic, never for a release."""
    errors = np.abs(answers - counts / n)
    return {"mean_error": float(errors.mean()), "max_error": float(errors.max())}
