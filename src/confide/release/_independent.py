"""Answers of independent attributes, and of independent columns whose cells are all as likely. They read no data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.release._histogram import LARGEST_BLOCK
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["product_answers", "uniform_answers"]

_Floats = NDArray[np.float64]


def product_answers(ones: _Floats, workload: Workload) -> _Floats:
    """(k,) answers of independent attributes.

    Args:
        ones: (d,) probability of each attribute.
        workload: the queries.

    Raises:
        InvalidInput: predicates on more than 2^22 cells, or other attributes.
    """
    if ones.shape != (workload.attributes,):
        raise InvalidInput("workload", f"is on {workload.attributes} attributes", f"must be on {len(ones)}")
    if workload.kind == "predicates":
        _check_cells(workload)
        law = np.ones(1)
        for one in ones.tolist():
            law = np.concatenate([law * (1 - one), law * one])
        return np.asarray(workload.truth @ law)
    there = workload.index >= 0
    p = np.where(there, ones[workload.index], 0.0)
    if workload.kind == "parities":
        return np.asarray((1 + np.prod(np.where(there, 1 - 2 * p, 1.0), axis=1)) / 2)
    return np.asarray(np.prod(np.where(there, np.where(workload.bits, p, 1 - p), 1.0), axis=1))


def uniform_answers(workload: Workload, schema: Schema | None = None) -> _Floats:
    """(k,) answers of uniform records: every cell of a column is as likely; without a schema every bit is a fair coin.

    A conjunction is a product over its columns: a column of s cells of which c satisfy all that is asked of it gives
    c/s. In a parity it gives 1 - 2c/s, where c of its cells set an attribute that the parity counts. Predicates are
    summed over all records.

    Args:
        workload: the queries.
        schema: the public columns.

    Raises:
        InvalidInput: predicates on more than 2^22 cells, or a schema of other attributes.

    Example:
        >>> from confide.release.columns import Levels
        >>> schema = Schema((Levels(column="a", levels=("x", "y", "z", "w")), Levels(column="b", levels=("u", "v"))))
        >>> workload = Workload.conjunctions([["a = x", "b != u"], ["a != x", "a != y"]], attributes=schema)
        >>> uniform_answers(workload, schema)
        array([0.125, 0.5  ])
    """
    if schema is None:
        return product_answers(np.full(workload.attributes, 0.5), workload)
    if schema.attributes != workload.attributes:
        raise InvalidInput("workload", f"is on {workload.attributes} attributes", f"must be on {schema.attributes}")
    if workload.kind == "predicates":
        _check_cells(workload)
        law: _Floats = np.ones(1)
        for start, end, cells in zip(schema.starts[:-1].tolist(), schema.starts[1:].tolist(), schema.cell_attributes,
                                     strict=True):
            column = np.zeros(1 << (end - start))  # attributes of a column are neighbours
            column[[1 << (int(each) - start) if each >= 0 else 0 for each in cells]] = 1.0 / len(cells)
            law = np.asarray(np.kron(column, law))
        return np.asarray(workload.truth @ law)
    reached = schema.cell_of >= 0
    return _by_columns(workload, schema.column_of, np.array(schema.sizes), reached)


def _by_columns(
    workload: Workload, column_of: NDArray[np.int32], sizes: NDArray[np.int64], reached: NDArray[np.bool_]
) -> _Floats:
    """The product over columns; each literal is counted with the first one of its column."""
    index, bits, width = workload.index, workload.bits, workload.index.shape[1]
    there = index >= 0
    column = np.where(there, column_of[index], -1)
    cells = np.where(there, reached[index], False)  # one where any value sets the attribute
    parity, found = workload.kind == "parities", np.ones(len(index))
    for at in range(width):
        first = there[:, at] & (column[:, :at] != column[:, at, None]).all(axis=1)
        same = (column == column[:, at, None]) & there  # attributes of a query differ, and so do their cells
        size = np.where(there[:, at], sizes[column[:, at]], 1)
        if parity:
            factor = 1 - 2 * (same & cells).sum(axis=1) / size
        else:
            wanted, banned = same & bits, same & ~bits
            one = (wanted.sum(axis=1) == 1) & (wanted & cells).any(axis=1)
            satisfied = np.where(wanted.any(axis=1), one, size - (banned & cells).sum(axis=1))
            factor = satisfied / size
        found *= np.where(first, factor, 1.0)
    return np.asarray((1 + found) / 2 if parity else found)


def _check_cells(workload: Workload) -> None:
    if workload.attributes > LARGEST_BLOCK:
        raise InvalidInput("workload", f"has predicates on 2^{workload.attributes} cells", "at most 2^22")
