"""Queries of a workload that tell each other: one is the other, or its negation. Noise is then paid for once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["Alike", "alike"]


@dataclass(frozen=True, eq=False)
class Alike:
    """Which queries are measured, and how the others follow.

    Args:
        kept: (j,) the queries that are measured, rising.
        place: (k,) which of them tells each query.
        negated: (k,) whether it is that one's negation.
        by_columns: whether that holds for records of the schema's columns only.
    """

    kept: NDArray[np.int64]
    place: NDArray[np.int64]
    negated: NDArray[np.bool_]
    by_columns: bool = False

    def spread(self, measured: NDArray[np.int64], n: int) -> NDArray[np.int64]:
        """(k,) counts of all queries from the (j,) that were measured among n records."""
        told = measured[self.place]
        return np.where(self.negated, n - told, told)


def alike(workload: Workload, schema: Schema | None) -> Alike:
    """Find queries that are the same function of a record, or each other's negation.

    The negation of one literal is the other literal on its attribute; that of a predicate another predicate. Of a
    column with two cells, as long as neither is the false of a bit, each literal on one attribute is a literal on the
    other: "sex = male" is "sex != female". A longer conjunction has no conjunction as its negation.

    Args:
        workload: the queries.
        schema: the public columns, None where records are bits of any kind.

    Example:
        >>> both = Workload.conjunctions([[0], [0], [1]], [[True], [False], [True]], attributes=2)
        >>> found = alike(both, None)
        >>> found.kept.tolist(), found.place.tolist(), found.negated.tolist()
        ([0, 2], [0, 0, 1], [False, True, False])
    """
    if workload.kind == "predicates":
        flipped = np.array(workload.truth[:, 0])
        packed = np.packbits(workload.truth ^ flipped[:, None], axis=1)
        return _grouped(np.arange(len(workload)), packed, flipped, False)
    index, single = workload.index, (workload.index >= 0).sum(axis=1) == 1
    first = np.arange(workload.attributes, dtype=np.int32)
    for cells in () if schema is None else schema.cell_attributes:
        if len(cells) == 2 and (cells >= 0).all():
            first[cells[1]] = cells[0]
    mapped = np.where(index >= 0, first[index], -1)
    both = ((mapped[:, 1:] == mapped[:, :-1]) & (mapped[:, 1:] >= 0)).any(axis=1)  # constants, or written twice
    mapped[both] = index[both]
    swapped, there = mapped != index, index >= 0
    if workload.kind == "parities":
        flipped, required = swapped.sum(axis=1) % 2 == 1, workload.bits
    else:
        required = workload.bits ^ swapped
        flipped = single & ~(required & there).any(axis=1)
        required = required | flipped[:, None] & there
    # Only these can be alike: others differ from all queries.
    doubled = np.zeros(workload.attributes + 1, dtype=np.bool_)
    doubled[first[first != np.arange(workload.attributes)]] = True
    some = np.flatnonzero((single & (workload.kind == "conjunctions")) | (doubled[mapped] & there).any(axis=1))
    if not (swapped.any() or flipped.any()):
        some = some[:0]
    table = np.concatenate([mapped[some], required[some].astype(np.int32)], axis=1)
    return _grouped(some, table, flipped, bool(swapped.any()))


def _grouped(
    some: NDArray[np.int64], table: NDArray[np.generic], flipped: NDArray[np.bool_], by_columns: bool
) -> Alike:
    """Rows that are equal are one function, but for whether they are flipped.

    Args:
        some: the queries that the rows stand for.
        table: a row for each of them.
        flipped: (k,) of all queries, whether a row stands for the negation.
        by_columns: whether the rows rest on a schema.
    """
    everyone = np.arange(len(flipped))
    if not len(some):
        return Alike(everyone, everyone, np.zeros(len(flipped), dtype=np.bool_))
    _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    leader = everyone.copy()
    leader[some] = some[first][inverse.reshape(-1)]
    kept = np.flatnonzero(leader == everyone)
    fewer = len(kept) < len(everyone)
    return Alike(kept, np.searchsorted(kept, leader), flipped ^ flipped[leader], by_columns and fewer)
