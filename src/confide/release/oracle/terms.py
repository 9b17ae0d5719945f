"""What a best-response oracle may see: netted samples and public facts, and nothing else.

A round of DualQuery draws s queries or negations. A query q and its negation 1 - q cancel, repeats add:

    clauses satisfied by x = sum over draws = constant + sum_q w_q q(x),   w_q = #(q drawn) - #(1 - q drawn),

with `constant` the number of negations drawn. `Terms` holds w and the drawn queries. No data can reach an oracle
through it: the samples are what was paid for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput, Unsupported

__all__ = ["MOST_CLAUSES", "Bits", "Draws", "Kind", "Terms"]

Kind = Literal["conjunctions", "parities"]
Bits = NDArray[np.bool_]

MOST_CLAUSES = 2**40
"""Clauses of one round at most, so that every sum of weights stays far within 64 bits."""


class Draws(Protocol):
    """What `Terms.netted` reads of a workload, all of it public."""

    @property
    def kind(self) -> str: ...

    @property
    def attributes(self) -> int: ...

    @property
    def index(self) -> NDArray[np.int32]: ...

    @property
    def bits(self) -> Bits: ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Terms:
    """A weighted sum of queries over records of d bits, to be maximised.

    Args:
        kind: "conjunctions" (1 where every literal holds) or "parities" (1 where the number of ones is even).
        attributes: d >= 1.
        index: int32 (t, r), the attributes of each query, ascending, padded with -1 at the end.
        bits: bool (t, r), the bit that each literal requires; of no meaning for parities and for padding.
        weights: int64 (t,), not zero, negative where negations prevail.
        constant: negations drawn, >= 0.
        groups: declared one-hot groups, each an array of attributes of which exactly one is on in a valid record.

    Raises:
        InvalidInput: arrays of another shape or type, attributes out of range or not ascending, a zero weight, groups
            that overlap or are empty.

    Source: spec query_release D1 (netting) and E2.

    Example:
        >>> terms = Terms(kind="conjunctions", attributes=3, index=[[0, 1], [2, -1]], bits=[[1, 0], [1, 0]],
        ...               weights=[2, -1], constant=1)
        >>> terms.value([True, False, False]), terms.clauses
        (3, 3)
    """

    kind: Kind
    attributes: int
    index: NDArray[np.int32]
    bits: Bits
    weights: NDArray[np.int64]
    constant: int = 0
    groups: tuple[NDArray[np.int32], ...] = ()

    def __post_init__(self) -> None:
        one_of("kind", self.kind, get_args(Kind))
        d = whole("attributes", self.attributes, at_least=1)
        index = _whole_array("index", self.index, 2).astype(np.int32)
        weights = _whole_array("weights", self.weights, 1).astype(np.int64)
        bits = np.asarray(self.bits)
        if bits.dtype.kind not in "biu" or bits.shape != index.shape or ((bits != 0) & (bits != 1)).any():
            raise InvalidInput("bits", f"an array of shape {bits.shape} and type {bits.dtype}",
                               f"must be {index.shape} zeros and ones")
        if len(weights) != len(index) or (weights == 0).any():
            raise InvalidInput("weights", f"{len(weights)} for {len(index)} queries",
                               "must be one each, none of them 0")
        _check_rows(index, d)
        constant = whole("constant", self.constant)
        if constant + int(np.abs(weights.astype(np.float64)).sum()) > MOST_CLAUSES:
            raise InvalidInput("weights", "are too large", f"at most {MOST_CLAUSES} clauses")
        groups = _disjoint(self.groups, d)
        for name, value in (("attributes", d), ("index", _frozen(index)), ("bits", _frozen(bits.astype(np.bool_))),
                            ("weights", _frozen(weights)), ("constant", constant), ("groups", groups)):
            object.__setattr__(self, name, value)

    @classmethod
    def netted(
        cls, workload: Draws, queries: ArrayLike, negated: ArrayLike, *, groups: Sequence[NDArray[np.int32]] = ()
    ) -> Terms:
        """The terms of s draws: q and 1 - q cancel, repeats add.

        Args:
            workload: the queries, public (`kind`, `attributes`, `index`, `bits`).
            queries: (s,) positions of the drawn queries in the workload.
            negated: (s,) true where the negation 1 - q was drawn.
            groups: declared one-hot groups.

        Raises:
            InvalidInput: positions out of range, or arrays that do not go together.
            Unsupported: a workload of predicates; they have no literals.

        Source: spec query_release D1.

        Example:
            >>> from types import SimpleNamespace
            >>> queries = SimpleNamespace(kind="conjunctions", attributes=2, index=np.array([[0], [1]], np.int32),
            ...                           bits=np.array([[True], [True]]))
            >>> terms = Terms.netted(queries, [0, 0, 1, 1], [False, False, True, False])
            >>> terms.weights.tolist(), terms.constant, terms.value([True, True])
            ([2], 1, 3)
        """
        if workload.kind not in get_args(Kind):
            raise Unsupported("workload", f"a best response to {workload.kind}", "an oracle needs literals")
        drawn, turned = _whole_array("queries", queries, 1), np.asarray(negated)
        if turned.dtype.kind != "b" or turned.shape != drawn.shape:
            raise InvalidInput("negated", f"an array of shape {turned.shape} and type {turned.dtype}",
                               f"must be {drawn.shape} truth values")
        if drawn.size and (int(drawn.min()) < 0 or int(drawn.max()) >= len(workload.index)):
            raise InvalidInput("queries", "a position is out of range", f"must be in 0..{len(workload.index) - 1}")
        ids, place = np.unique(drawn, return_inverse=True)
        # Sums of ones in doubles are exact far beyond any number of draws.
        weights = np.bincount(place, weights=np.where(turned, -1.0, 1.0), minlength=len(ids)).astype(np.int64)
        kept = weights != 0
        rows = ids[kept]
        return cls(kind=workload.kind, attributes=workload.attributes,  # type: ignore[arg-type]
                   index=workload.index[rows], bits=workload.bits[rows], weights=weights[kept],
                   constant=int(turned.sum()), groups=tuple(groups))

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def widths(self) -> NDArray[np.int64]:
        """(t,) literals of each query."""
        return np.asarray((self.index >= 0).sum(axis=1), dtype=np.int64)

    @property
    def clauses(self) -> int:
        """The value of a record that satisfies every netted clause; no record has more."""
        return self.constant + int(self.weights[self.weights > 0].sum())

    def active(self) -> NDArray[np.int64]:
        """The attributes in some query, ascending; the others are free."""
        seen = np.zeros(self.attributes, dtype=np.bool_)
        seen[self.index[self.index >= 0]] = True
        return np.flatnonzero(seen)

    def holds(self, record: ArrayLike) -> Bits:
        """(t,) q(x) of one record of d bits."""
        x = np.asarray(record, dtype=np.bool_)
        if x.shape != (self.attributes,):
            raise InvalidInput("record", f"an array of shape {x.shape}", f"must be {self.attributes} bits")
        if self.kind == "parities":
            return np.asarray((x[self.index] & (self.index >= 0)).sum(axis=1) % 2 == 0)
        return np.asarray(((x[self.index] == self.bits) | (self.index < 0)).all(axis=1))

    def value(self, record: ArrayLike) -> int:
        """Clauses that a record of d bits satisfies."""
        return self.constant + int(self.weights[self.holds(record)].sum())

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, arrays included."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _whole_array(field: str, values: ArrayLike, dimensions: int) -> NDArray[Any]:
    array = np.asarray(values)
    if not array.size and array.ndim == dimensions:
        return array.astype(np.int64)
    if array.ndim != dimensions or array.dtype.kind not in "iu":
        raise InvalidInput(field, f"an array of shape {array.shape} and type {array.dtype}",
                           f"must be {dimensions}-dimensional whole numbers")
    return array


def _check_rows(index: NDArray[np.int32], d: int) -> None:
    if not index.size:
        return
    if int(index.min()) < -1 or int(index.max()) >= d:
        raise InvalidInput("index", "an attribute is out of range", f"must be in 0..{d - 1}, or -1 for padding")
    left, right = index[:, :-1], index[:, 1:]
    if ((left < 0) & (right >= 0)).any():
        raise InvalidInput("index", "padding stands before an attribute", "must stand at the end")
    if ((right >= 0) & (left >= right)).any():
        raise InvalidInput("index", "the attributes of a query are not ascending", "must be distinct and in order")


def _disjoint(groups: Sequence[ArrayLike], d: int) -> tuple[NDArray[np.int32], ...]:
    arrays = tuple(_frozen(_whole_array("groups", group, 1).astype(np.int32)) for group in groups)
    if any(not len(group) for group in arrays):
        raise InvalidInput("groups", "a group has no attribute", "exactly one of its attributes must be on")
    if arrays:
        members = np.concatenate(arrays)
        if int(members.min()) < 0 or int(members.max()) >= d:
            raise InvalidInput("groups", "an attribute is out of range", f"must be in 0..{d - 1}")
        if len(np.unique(members)) < len(members):
            raise InvalidInput("groups", "an attribute stands in two places", "groups must be disjoint")
    return arrays


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A copy that nobody can write to."""
    copy = np.array(array, order="C")
    copy.flags.writeable = False
    return copy
