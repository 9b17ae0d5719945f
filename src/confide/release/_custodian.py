"""What a custodian's mechanisms share: true counts of a table or given ones, no shares, and errors for studies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.privacy.events import Event
from confide.release.answers import TrueAnswers, true_answers
from confide.release.codes import Codes
from confide.release.packed import PackedBits
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["TRIVIAL", "Charge", "counts_of", "no_shares", "records_of", "true_errors"]

TRIVIAL = 0.5
"""The largest error of answering 1/2 to everything, which takes no data."""

Charge = Callable[[Sequence[Event]], object]
"""Debits the events of a run, all or none, or raises."""


def records_of(data: Any, schema: Schema | None) -> PackedBits | Codes | TrueAnswers:
    """The data in a form that can be read twice: bits are packed, a table is encoded.

    Args:
        data: a bool array, what has such a form already, or with a schema a table of any kind.
        schema: of a table.
    """
    if isinstance(data, PackedBits | Codes | TrueAnswers):
        return data
    if schema is None or (isinstance(data, np.ndarray) and data.dtype.kind == "b"):
        return PackedBits.pack(data)
    return schema.encode(data)


def counts_of(data: Any, workload: Workload, n: int, schema: Schema | None = None) -> NDArray[np.int64]:
    """(k,) true counts; private.

    Args:
        data: `TrueAnswers` of this workload, or what `records_of` takes.
        workload: the queries.
        n: how many records there must be.
        schema: of a table.

    Raises:
        InvalidInput: not n records, or true answers of another number of queries.
    """
    read = records_of(data, schema)
    answers = read if isinstance(read, TrueAnswers) else true_answers(read, workload)
    if answers.records != n:
        raise InvalidInput("data", "is not of n records", f"must be of {n}")
    counts = np.asarray(answers.counts)
    if counts.shape != (len(workload),):
        raise InvalidInput("data", f"has answers of shape {counts.shape}", f"must be ({len(workload)},)")
    return counts.astype(np.int64)


def no_shares() -> pa.Table:
    """A table without columns: no participant gets a share."""
    return pa.table({})


def true_errors(answers: NDArray[np.float64], counts: NDArray[np.int64], n: int) -> dict[str, float]:
    """Average and maximum error of answers; a diagnostic, never for a release."""
    errors = np.abs(answers - counts / n)
    return {"mean_error": float(errors.mean()), "max_error": float(errors.max())}
