"""The billboards of the baselines: noisy counts of attributes or of queries, or nothing that any data enters.

Answers of independent attributes, and of independent columns whose cells are all as likely. They read no data.

Queries of a workload that determine each other: one is the other, or its negation. Noise is then paid for once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard
from confide.contract.wire import wire
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
    """The answers of independent attributes, (k,).

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
    """The answers of independent columns, (k,), each record having one value of each.

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
    """Answers of uniform records, (k,): each cell of a column is as likely; without a schema every bit is a fair coin.

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


# ---- alike queries


@dataclass(frozen=True, eq=False)
class Alike:
    """The queries that are measured, and how the others follow.

    Args:
        kept: (j,) the queries that are measured, rising.
        place: (k,) the measured query that determines each query.
        negated: (k,) whether it is that one's negation.
        by_columns: whether that holds for records of the schema's columns only.
    """

    kept: NDArray[np.int64]
    place: NDArray[np.int64]
    negated: NDArray[np.bool_]
    by_columns: bool = False

    def spread(self, measured: NDArray[np.int64], n: int) -> NDArray[np.int64]:
        """The counts of all queries, (k,), from the (j,) that were measured among n records."""
        reported = measured[self.place]
        return np.where(self.negated, n - reported, reported)


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


# ---- baseline boards


@wire("IndependentBillboard", "records ones schema")
@dataclass(frozen=True, kw_only=True, eq=False)
class IndependentBillboard(Billboard):
    """Noisy counts of every attribute.

    Args:
        records: n.
        ones: (d,) noisy counts.
        schema: the public columns, independent of each other; None where attributes are.
    """

    records: int
    ones: np.ndarray
    schema: Schema | None = None

    def answers(self, workload: Workload) -> _Floats:
        """Answers as fractions, (k,): products of what is measured, each cut to [0, 1]. Sums of them are too high: see
        `uncut`.
        """
        return self._products(np.clip(self.ones / self.records, 0.0, 1.0), workload, cut=True)

    def uncut(self, workload: Workload) -> _Floats:
        """The products of what is measured, (k,), with all of its noise: without bias for independent columns, and some
        lie outside [0, 1].
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
    """Answers that no data enters: of the record of zeros, or of uniform records.

    Args:
        records: n.
        attributes: d.
        one: the probability of an attribute, 0 for the record of zeros, 1/2 for uniform records.
        schema: schema of uniform records: its columns are uniform over their cells, and `one` is that of a bit.
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
    """Noisy counts of every query.

    Args:
        records: n.
        workload: the queries.
        noisy: (k,) counts with noise; n less that of its negation where a query's negation was measured.
    """

    records: int
    workload: Workload
    noisy: np.ndarray

    def answers(self, workload: Workload | None = None) -> _Floats:
        """The answers as fractions, (k,), cut to [0, 1]. Sums of them are too high where many are near 0: add up those
        of `uncut`.

        Raises:
            InvalidInput: other queries than the release's own.
        """
        return np.asarray(np.clip(self.uncut(workload), 0.0, 1.0))

    def uncut(self, workload: Workload | None = None) -> _Floats:
        """The answers as they were measured, as fractions, (k,), without bias; noise takes some of them below 0 or
        above 1.

        Raises:
            InvalidInput: other queries than the release's own; `measured_sums` adds up what others are made of.
        """
        if workload is not None:
            of_kind("workload", workload, Workload)
            if not workload.same(self.workload):
                raise InvalidInput("workload", "is not the release's own", "noisy answers answer no other query")
        return np.asarray(self.noisy / self.records)
