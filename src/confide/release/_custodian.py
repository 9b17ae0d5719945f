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
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["TRIVIAL", "Charge", "counts_of", "no_shares", "true_errors"]

TRIVIAL = 0.5
"""The largest error of answering 1/2 to everything, which takes no data."""

Charge = Callable[[Sequence[Event]], object]
"""Debits the events of a run, all or none, or raises."""


def counts_of(data: Any, workload: Workload, n: int, schema: Schema | None = None) -> NDArray[np.int64]:
    """(k,) true counts; private.

    Args:
        data: `TrueAnswers` of this workload, or whatever `true_answers` takes.
        workload: the queries.
        n: how many records there must be.
        schema: of a table.

    Raises:
        InvalidInput: not n records, or true answers of another number of queries.
    """
    answers = data if isinstance(data, TrueAnswers) else true_answers(data, workload, schema)
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
    return {"average_error": float(errors.mean()), "maximum_error": float(errors.max())}
