"""True answers: how many records satisfy each query, exactly, from wherever the records are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.release.codes import Codes
from confide.release.packed import PackedBits
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["TrueAnswers", "true_answers"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TrueAnswers:
    """The exact answers to a workload: private, the data of a mechanism. `repr` shows no count.

    Args:
        counts: int64 (k,): how many records satisfy each query, in [0, n].
        records: n, public.

    Raises:
        InvalidInput: a count that is no whole number in [0, n].
    """

    counts: np.ndarray = field(repr=False)
    records: int

    def __post_init__(self) -> None:
        whole("records", self.records, at_least=1)
        counts = np.asarray(self.counts)
        if counts.ndim != 1 or counts.dtype.kind not in "iu" or not len(counts):
            raise InvalidInput("counts", f"are {counts.dtype} of shape {counts.shape}", "must be k whole numbers")
        if counts.min() < 0 or counts.max() > self.records:
            raise InvalidInput("counts", "one is out of range", f"must be in [0, {self.records}]")
        object.__setattr__(self, "counts", counts.astype(np.int64))

    def __repr__(self) -> str:
        return f"TrueAnswers({len(self.counts)} queries, {self.records} records)"

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def fractions(self) -> np.ndarray:
        """counts / n, float64 (k,)."""
        shares: np.ndarray = self.counts / self.records
        return shares


def true_answers(data: Any, workload: Workload, schema: Schema | None = None) -> TrueAnswers:
    """The exact answers to a workload. They are private: no analyst may see them.

    Args:
        data: packed bits, a bool array (n, d), codes; or, with a schema, a table of any kind.
        workload: k queries over d attributes.
        schema: the public columns of a table.

    Raises:
        InvalidInput: another number of attributes than the workload's, a table without a schema.

    Example:
        >>> true_answers([[1, 0], [1, 1]], Workload.conjunctions([[0], [0, 1]], attributes=2)).fractions
        array([1. , 0.5])
    """
    if schema is not None and not isinstance(data, PackedBits | Codes):
        data = schema.encode(data)
    elif not isinstance(data, PackedBits | Codes):
        data = PackedBits.pack(data)
    return TrueAnswers(counts=workload.counts(data), records=data.records)
