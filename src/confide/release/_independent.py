"""Answers of independent attributes, and of independent columns whose cells are all as likely. They read no data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.release._histogram import LARGEST_BLOCK
from confide.release.columns import Bit
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["column_answers", "product_answers", "uniform_answers"]

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


def column_answers(ones: _Floats, workload: Workload, schema: Schema, *, cut: bool = True) -> _Floats:
    """(k,) answers of independent columns, each record having one value of each.

    A conjunction is a product over its columns: of one, it asks for a value, or that none of some values holds, which
    has the probability that these leave over. In a parity a column gives 1 - 2 p, where p is the probability of the
    attributes that the parity counts. Predicates are summed over all records, with each column's law cut at 0 and
    scaled to 1.

    Args:
        ones: (d,) probability of each attribute.
        workload: the queries.
        schema: the public columns.
        cut: whether each column's share is cut to [0, 1], and a law at 0. Without it, whatever stands in `ones` counts,
            and what is left over by most of a column's values is the sum of the others, which holds less noise.

    Raises:
        InvalidInput: predicates on more than 2^22 cells, or a schema of other attributes.

    Example:
        >>> from confide.release.columns import Levels
        >>> schema = Schema((Levels(column="a", levels=("x", "y", "z")), Levels(column="b", levels=("u", "v"))))
        >>> workload = Workload.conjunctions([["a = x", "b != u"], ["a != x", "a != y"]], attributes=schema)
        >>> column_answers(np.array([0.5, 0.2, 0.3, 0.6, 0.4]), workload, schema).round(6)
        array([0.2, 0.3])
    """
    if schema.attributes != workload.attributes or ones.shape != (workload.attributes,):
        raise InvalidInput("workload", f"is on {workload.attributes} attributes", f"must be on {schema.attributes}")
    if workload.kind == "predicates":
        _check_cells(workload)
        law: _Floats = np.ones(1)
        for start, end, cells in zip(schema.starts[:-1].tolist(), schema.starts[1:].tolist(), schema.cell_attributes,
                                     strict=True):
            column = np.zeros(1 << (end - start))  # attributes of a column are neighbours
            for each in cells.tolist():
                left = ones[each] if each >= 0 else 1.0 - ones[start:end].sum()
                column[1 << (each - start) if each >= 0 else 0] = max(0.0, left) if cut else left
            law = np.asarray(np.kron(column / max(column.sum(), 1e-300) if cut else column, law))
        return np.asarray(workload.truth @ law)
    return _by_columns(workload, schema, ones, cut)


def uniform_answers(workload: Workload, schema: Schema | None = None) -> _Floats:
    """(k,) answers of uniform records: every cell of a column is as likely; without a schema every bit is a fair coin.

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
    sizes = np.array(schema.sizes)
    return column_answers(np.where(schema.cell_of >= 0, 1.0 / sizes[schema.column_of], 0.0), workload, schema)


def _by_columns(workload: Workload, schema: Schema, ones: _Floats, cut: bool) -> _Floats:
    """The product over columns; each literal is counted with the first one of its column."""
    column_of = schema.column_of
    # The false of a bit is no attribute: those that are do not sum to 1.
    sizes = np.array([np.inf if isinstance(each, Bit) else len(each.names) for each in schema.columns])
    totals = np.add.reduceat(ones, schema.starts[:-1])
    index, bits, width = workload.index, workload.bits, workload.index.shape[1]
    there = index >= 0
    column = np.where(there, column_of[index], -1)
    p = np.where(there, ones[index], 0.0)
    parity, found = workload.kind == "parities", np.ones(len(index))
    for at in range(width):
        first = there[:, at] & (column[:, :at] != column[:, at, None]).all(axis=1)
        same = (column == column[:, at, None]) & there  # attributes of a query differ, and so do their values
        if parity:
            factor = 1 - 2 * np.sum(p * same, axis=1)
        else:
            wanted, banned = same & bits, same & ~bits
            one = np.where(wanted.sum(axis=1) == 1, np.sum(p * wanted, axis=1), 0.0)
            few = cut | (2 * banned.sum(axis=1) <= sizes[column[:, at]])
            factor = np.where(wanted.any(axis=1), one,
                              np.where(few, 1.0, totals[column[:, at]]) - np.sum(p * banned, axis=1))
        found *= np.where(first, np.clip(factor, -1.0 if parity else 0.0, 1.0) if cut else factor, 1.0)
    return np.asarray((1 + found) / 2 if parity else found)


def _check_cells(workload: Workload) -> None:
    if workload.attributes > LARGEST_BLOCK:
        raise InvalidInput("workload", f"has predicates on 2^{workload.attributes} cells", "at most 2^22")
