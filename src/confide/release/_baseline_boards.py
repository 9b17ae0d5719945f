"""The billboards (published results) of the baselines: noisy counts of all attributes, noisy counts of all queries, or
fixed answers that do not depend on the data.

The module also has the answers of independent attributes and of independent columns. The functions for independent
attributes and columns take given probabilities and read no data.

The function `alike` finds queries of a workload that determine each other: two queries that are the same function of a
record, or negations of each other. Of several such queries only one is measured, so the privacy cost is paid once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.release._histogram import LARGEST_BLOCK
from confide.release._inputs import of_kind
from confide.release.columns import Bit
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = [
    "Alike",
    "FixedBillboard",
    "IndependentBillboard",
    "NoisyBillboard",
    "alike",
    "column_answers",
    "product_answers",
    "uniform_answers",
]

# ---- independent

_Floats = NDArray[np.float64]


def product_answers(ones: _Floats, workload: Workload) -> _Floats:
    """The answers to all queries of a population with independent attributes, (k,).

    Args:
        ones: (d,) probability of each attribute.
        workload: the k queries.

    Raises:
        InvalidInput: the predicates are over more than 22 attributes, or the workload has another number of attributes.
    """
    if ones.shape != (workload.attributes,):
        raise InvalidInput("workload", f"is on {counted(workload.attributes, 'attribute')}", f"must be on {len(ones)}")
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
    """The answers to all queries of a population with independent columns, (k,). Each record has exactly one value of
    each column.

    The answer to a conjunction is a product with one factor for each column. A column that must have a certain value
    contributes the probability of that value. A column that must avoid certain values contributes the probability of
    its remaining values. In a parity a column contributes 1 - 2 p, where p is the probability of the attributes of the
    column that the parity counts. The answer to a predicate is a sum over all possible records.

    Args:
        ones: (d,) probability of each attribute.
        workload: the k queries.
        schema: the public columns.
        cut: whether the factor of each column is cut to [0, 1], and the probabilities of a column's values are cut at 0
            and scaled to the sum 1. If False, the numbers in `ones` are used unchanged. In this case, for a conjunction
            that excludes most values of a column, the few remaining values are added up, since a sum of fewer noisy
            counts has less noise.

    Raises:
        InvalidInput: the predicates are over more than 22 attributes, or the schema has another number of attributes.

    Example:
        >>> from confide.release.columns import Levels
        >>> schema = Schema((Levels(column="a", levels=("x", "y", "z")), Levels(column="b", levels=("u", "v"))))
        >>> workload = Workload.conjunctions([["a = x", "b != u"], ["a != x", "a != y"]], attributes=schema)
        >>> column_answers(np.array([0.5, 0.2, 0.3, 0.6, 0.4]), workload, schema).round(6)
        array([0.2, 0.3])
    """
    if schema.attributes != workload.attributes or ones.shape != (workload.attributes,):
        raise InvalidInput("workload", f"is on {counted(workload.attributes, 'attribute')}",
                           f"must be on {schema.attributes}")
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
    """The answers to all queries of uniformly distributed records, (k,). All values of a column are equally likely.
    Without a schema every attribute is on with probability 1/2.

    Args:
        workload: the k queries.
        schema: the public columns.

    Raises:
        InvalidInput: the predicates are over more than 22 attributes, or the schema has another number of attributes.

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
        raise InvalidInput("workload", f"is on {counted(workload.attributes, 'attribute')}",
                           f"must be on {schema.attributes}")
    sizes = np.array(schema.sizes)
    return column_answers(np.where(schema.cell_of >= 0, 1.0 / sizes[schema.column_of], 0.0), workload, schema)


def _by_columns(workload: Workload, schema: Schema, ones: _Floats, cut: bool) -> _Floats:
    """The products over columns for conjunctions or parities. All literals on one column form one factor, which is
    multiplied in at the first literal of the column.
    """
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
        raise InvalidInput("workload", f"has predicates on 2^{workload.attributes} cells", "must be at most 2^22 cells")


# ---- alike queries


@dataclass(frozen=True, eq=False)
class Alike:
    """The queries that are measured, and the rule by which they determine the other queries.

    Args:
        kept: (j,) positions in the workload of the measured queries, ascending.
        place: (k,) for each query of the workload, the position in `kept` of the measured query that determines it.
        negated: (k,) whether each query is the negation of the measured query that determines it.
        by_columns: whether `place` and `negated` are right only for records that have one value of each column of the
            schema.
    """

    kept: NDArray[np.int64]
    place: NDArray[np.int64]
    negated: NDArray[np.bool_]
    by_columns: bool = False

    def spread(self, measured: NDArray[np.int64], n: int) -> NDArray[np.int64]:
        """The counts of all queries, (k,), from the counts of the measured queries, (j,), for n records."""
        reported = measured[self.place]
        return np.where(self.negated, n - reported, reported)


def alike(workload: Workload, schema: Schema | None) -> Alike:
    """Find queries that are the same function of a record, or negations of each other.

    The negation of a conjunction of one literal is the opposite literal on the same attribute. The negation of a
    predicate is another predicate. In a column with two values, both of them attributes, each literal on one attribute
    equals a literal on the other attribute: "sex = male" is "sex != female". The negation of a conjunction of two or
    more literals is not a conjunction.

    Args:
        workload: the queries.
        schema: the public columns; None if any combination of bits is a possible record.

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
    """Group queries by equal rows of a table. Queries with equal rows are the same function of a record, or negations
    of each other.

    Args:
        some: positions of the queries that have a row in the table.
        table: one row for each query in `some`.
        flipped: (k,) for all queries, whether the row describes the query's negation.
        by_columns: whether the rows depend on a schema.
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


# ---- baseline boards


@wire("IndependentBillboard", "records ones schema")
@dataclass(frozen=True, kw_only=True, eq=False)
class IndependentBillboard(Billboard):
    """Published result with a noisy count of every attribute.

    Args:
        records: number of records, n.
        ones: (d,) noisy counts of the attributes.
        schema: the public columns, which are treated as independent of each other. If None, the attributes are treated
            as independent.
    """

    records: int
    ones: np.ndarray
    schema: Schema | None = None

    def answers(self, workload: Workload) -> _Floats:
        """Answers as fractions, (k,): products of the measured fractions, each cut to [0, 1]. Sums of cut answers are
        biased upwards; for sums use `uncut`.
        """
        return self._products(np.clip(self.ones / self.records, 0.0, 1.0), workload, cut=True)

    def uncut(self, workload: Workload) -> _Floats:
        """The products of the measured fractions, (k,), with all of their noise. The products are unbiased if the
        columns are independent, and some lie outside [0, 1].
        """
        return self._products(self.ones / self.records, workload, cut=False)

    def _products(self, shares: _Floats, workload: Workload, cut: bool) -> _Floats:
        of_kind("workload", workload, Workload)
        if self.schema is None:
            return product_answers(shares, workload)
        return column_answers(shares, workload, self.schema, cut=cut)


@wire("FixedBillboard", "records attributes one schema")
@dataclass(frozen=True, kw_only=True, eq=False)
class FixedBillboard(Billboard):
    """Published result that does not depend on the data: the answers of all-zero records or of uniformly distributed
    records.

    Args:
        records: number of records, n.
        attributes: number of attributes, d.
        one: probability of each attribute: 0 for all-zero records, 1/2 for uniform records.
        schema: public columns of uniform records. With a schema all values of a column with bins or levels are equally
            likely, and `one` is the probability of each other attribute.
    """

    records: int
    attributes: int
    one: float
    schema: Schema | None = None

    def answers(self, workload: Workload) -> _Floats:
        """The answers as fractions, (k,)."""
        of_kind("workload", workload, Workload)
        if self.schema is not None:
            return uniform_answers(workload, self.schema)
        return product_answers(np.full(self.attributes, self.one), workload)


@wire("NoisyBillboard", "records workload noisy")
@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyBillboard(Billboard):
    """Published result with a noisy count of every query.

    Args:
        records: number of records, n.
        workload: the k queries.
        noisy: (k,) noisy counts of the queries. If the negation of a query was measured, the query's count is n minus
            the count of the negation.
    """

    records: int
    workload: Workload
    noisy: np.ndarray

    def answers(self, workload: Workload | None = None) -> _Floats:
        """The answers as fractions, (k,), cut to [0, 1]. Sums of cut answers are biased upwards if many answers are
        near 0; for sums use `uncut`.

        Raises:
            InvalidInput: the workload is not the workload of the release.
        """
        return np.asarray(np.clip(self.uncut(workload), 0.0, 1.0))

    def uncut(self, workload: Workload | None = None) -> _Floats:
        """The measured answers as fractions, (k,), without bias. Noise moves some answers below 0 or above 1.

        Raises:
            InvalidInput: the workload is not the workload of the release. `measured_sums` answers other queries that
                are sums of measured queries.
        """
        if workload is not None:
            of_kind("workload", workload, Workload)
            if not workload.same(self.workload):
                raise InvalidInput("workload", "is not the release's own", "noisy answers answer no other query")
        return np.asarray(self.noisy / self.records)
