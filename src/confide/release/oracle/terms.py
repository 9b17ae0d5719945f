"""The input of a best-response oracle: netted samples and public facts.

A round of DualQuery draws s queries or negations. A query q and its negation 1 - q cancel, and repeated draws add up:

    clauses satisfied by x = sum over draws = constant + sum_q w_q q(x),   w_q = #(q drawn) - #(1 - q drawn).

Here # is the number of draws, and `constant` is the number of drawn negations. `Terms` holds the weights w and the
drawn queries. No uncharged private data can reach an oracle through `Terms`, since the samples were already charged.

The second part of the module handles one-hot groups: the validity of records, and a rewriting of queries so that no two
literals share a group. In a valid record exactly one attribute of a group is on. For attributes b and c of one group,
"b off and c off" therefore equals 1 - x_b - x_c. A parity over a set R and several attributes B of a group is a sum of
parities with one attribute of B each:

    p_{R + B} = (1 - |B|) p_R + sum over b in B of p_{R + b}.

After the rewriting, the gain of a swap (one attribute off, another on) is the sum of the gains of the two flips.

Source: spec query_release E2 (one-hot groups, swap moves).

The third part handles parities: the constraint of an integer program that links a parity with its bits, and marginals
from parities. A parity query q on a set S is 1 if the number of ones in S is even. So p_S(x) = prod over S of (1 - 2
x_i) equals 2 q(x) - 1.

Source: spec query_release E3, errata 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.words import counted

__all__ = [
    "MOST_CLAUSES",
    "Bits",
    "Clauses",
    "Draws",
    "Kind",
    "ParityRow",
    "Terms",
    "all_on_from_parities",
    "group_of",
    "is_valid",
    "most_clauses",
    "parity_row",
    "repaired",
    "separated",
]

# ---- terms

Kind = Literal["conjunctions", "parities"]
Bits = NDArray[np.bool_]

MOST_CLAUSES = 2**40
"""Largest number of clauses of one round, so that every sum of weights stays far within 64 bits."""


class Draws(Protocol):
    """The public fields of a workload that `Terms.netted` reads."""

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
    """A weighted sum of queries over records of d bits, which an oracle maximises.

    Args:
        kind: "conjunctions" (1 if every literal holds) or "parities" (1 if the number of ones is even).
        attributes: number of attributes, d >= 1.
        index: attributes of each query, int32 (t, r), ascending, padded with -1 at the end.
        bits: bit that each literal requires, bool (t, r); without meaning for parities and for padding.
        weights: weight of each query, int64 (t,): number of draws minus number of draws of the negation; not 0.
        constant: number of negations that were drawn, >= 0.
        groups: declared one-hot groups. Each group is an array of attributes of which exactly one is on in a valid
            record.

    Raises:
        InvalidInput: an array has another shape or type, attributes are out of range or not ascending, a weight is
            zero, or groups overlap or are empty.

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
                               f"must be zeros and ones of shape {index.shape}")
        if len(weights) != len(index):
            raise InvalidInput("weights", f"{len(weights)} given for {counted(len(index), 'query', 'queries')}",
                               "must be one weight for each query")
        if (weights == 0).any():
            raise InvalidInput("weights", "a weight is 0", "each must differ from 0")
        _check_rows(index, d)
        constant = whole("constant", self.constant)
        if constant + int(np.abs(weights.astype(np.float64)).sum()) > MOST_CLAUSES:
            raise InvalidInput("weights", "are too large", f"must be at most {MOST_CLAUSES} clauses")
        groups = _disjoint(self.groups, d)
        for name, value in (("attributes", d), ("index", _frozen(index)), ("bits", _frozen(bits.astype(np.bool_))),
                            ("weights", _frozen(weights)), ("constant", constant), ("groups", groups)):
            object.__setattr__(self, name, value)

    @classmethod
    def netted(
        cls, workload: Draws, queries: ArrayLike, negated: ArrayLike, *, groups: Sequence[NDArray[np.int32]] = ()
    ) -> Terms:
        """The terms of s draws: a query and its negation cancel, and repeated draws add up. DualQuery nets its draws
        before it calls an oracle. This method is for users who call an oracle with their own draws.

        Args:
            workload: the public queries (`kind`, `attributes`, `index`, `bits`).
            queries: (s,) positions of the drawn queries in the workload.
            negated: (s,) whether the negation 1 - q was drawn instead of the query q.
            groups: declared one-hot groups.

        Raises:
            InvalidInput: positions are out of range, or the arrays do not fit together.
            Unsupported: the workload has predicates, which have no literals.

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
            raise Unsupported("workload", f"a best response to {workload.kind}",
                              "an oracle needs queries with literals")
        drawn, turned = _whole_array("queries", queries, 1), np.asarray(negated)
        if turned.dtype.kind != "b" or turned.shape != drawn.shape:
            raise InvalidInput("negated", f"an array of shape {turned.shape} and type {turned.dtype}",
                               f"must be truth values of shape {drawn.shape}")
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
        """The number of literals of each query, (t,)."""
        return np.asarray((self.index >= 0).sum(axis=1), dtype=np.int64)

    @property
    def clauses(self) -> int:
        """The value of a record that would satisfy every clause; no record has a larger value."""
        return self.constant + int(self.weights[self.weights > 0].sum())

    def active(self) -> NDArray[np.int64]:
        """The attributes that are in some query, ascending. Attributes in no query are free."""
        seen = np.zeros(self.attributes, dtype=np.bool_)
        seen[self.index[self.index >= 0]] = True
        return np.flatnonzero(seen)

    def holds(self, record: ArrayLike) -> Bits:
        """The values q(x) of one record of d bits, (t,)."""
        x = np.asarray(record, dtype=np.bool_)
        if x.shape != (self.attributes,):
            raise InvalidInput("record", f"an array of shape {x.shape}", f"must be {counted(self.attributes, 'bit')}")
        if self.kind == "parities":
            return np.asarray((x[self.index] & (self.index >= 0)).sum(axis=1) % 2 == 0)
        return np.asarray(((x[self.index] == self.bits) | (self.index < 0)).all(axis=1))

    def value(self, record: ArrayLike) -> int:
        """The number of clauses that a record of d bits satisfies."""
        return self.constant + int(self.weights[self.holds(record)].sum())


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
            raise InvalidInput("groups", "an attribute is in two groups", "groups must be disjoint")
    return arrays


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only copy of an array."""
    copy = np.array(array, order="C")
    copy.flags.writeable = False
    return copy


# ---- one hot

_Literals = tuple[tuple[int, bool], ...]


class Clauses(NamedTuple):
    """Weighted queries, stored in the same arrays as in `Terms`. On valid records the weighted sum of queries plus
    `shift` is the objective.
    """

    attributes: NDArray[np.int32]
    bits: Bits
    weights: NDArray[np.int64]
    shift: int


def group_of(terms: Terms) -> NDArray[np.int32]:
    """The one-hot group of each attribute, (d,); -1 for an attribute in no group."""
    home = np.full(terms.attributes, -1, dtype=np.int32)
    for g, members in enumerate(terms.groups):
        home[members] = g
    return home


def is_valid(terms: Terms, record: Bits) -> bool:
    """Whether a record is valid: each group has exactly one attribute on."""
    return all(int(record[members].sum()) == 1 for members in terms.groups)


def repaired(terms: Terms, record: ArrayLike) -> Bits:
    """A valid copy of a record. In a group without exactly one attribute on, only the first attribute that is on stays
    on; if none is on, the group's first attribute is turned on.
    """
    x = np.array(record, dtype=np.bool_)
    for members in terms.groups:
        if int(x[members].sum()) != 1:
            first = members[int(np.argmax(x[members]))]
            x[members] = False
            x[first] = True
    return x


def separated(terms: Terms) -> Clauses:
    """The objective, rewritten with queries in which no two literals are in the same one-hot group.

    For each group, the rewriting multiplies a weight by at most the number of literals in the group. In total a weight
    grows at most 2^r-fold for queries of r literals.
    """
    plain = Clauses(terms.index, terms.bits, terms.weights, terms.constant)
    if not terms.groups or not len(terms):
        return plain
    home = group_of(terms)
    groups = np.where(terms.index >= 0, home[terms.index], -1)
    order = np.sort(groups, axis=1)
    shared = ((order[:, 1:] == order[:, :-1]) & (order[:, 1:] >= 0)).any(axis=1)
    if not shared.any():
        return plain
    total: dict[_Literals, int] = {}
    expand = _parity if terms.kind == "parities" else _conjunction
    for row in np.flatnonzero(shared):
        width = int((terms.index[row] >= 0).sum())
        literals = [(int(a), bool(b)) for a, b in zip(terms.index[row, :width], terms.bits[row, :width], strict=True)]
        for query, factor in expand(literals, home):
            total[query] = total.get(query, 0) + factor * int(terms.weights[row])
    kept = [(query, weight) for query, weight in total.items() if weight]
    index = np.full((len(kept), terms.index.shape[1]), -1, dtype=np.int32)
    bits = np.zeros(index.shape, dtype=np.bool_)
    for place, (query, _) in enumerate(kept):
        for column, (attribute, bit) in enumerate(query):
            index[place, column], bits[place, column] = attribute, bit
    weights = np.array([weight for _, weight in kept], dtype=np.int64)
    return Clauses(np.concatenate([terms.index[~shared], index]), np.concatenate([terms.bits[~shared], bits]),
                   np.concatenate([terms.weights[~shared], weights]), terms.constant)


def most_clauses(index: NDArray[np.int32], groups: Sequence[NDArray[np.int32]], attributes: int) -> int:
    """The largest number of clauses into which `separated` may rewrite one of the given conjunctions or parities.

    Args:
        index: (k, r) attributes of each query, -1 for padding.
        groups: the one-hot groups.
        attributes: number of attributes, d.
    """
    home = np.full(attributes + 1, -1, dtype=np.int64)
    for g, members in enumerate(groups):
        home[members] = g
    ranked = np.sort(home[np.asarray(index, dtype=np.int64)], axis=1)  # -1 finds the last entry, of no group
    factors, run = np.ones(len(ranked)), np.ones(len(ranked))
    for place in range(1, ranked.shape[1]):
        same = (ranked[:, place] == ranked[:, place - 1]) & (ranked[:, place] >= 0)
        factors *= np.where(~same & (run > 1), 1 + run, 1)
        run = np.where(same, run + 1, 1)
    factors *= np.where(run > 1, 1 + run, 1)
    return int(min(factors.max(initial=1.0), 2.0**62))


def _by_group(literals: list[tuple[int, bool]], home: NDArray[np.int32]) -> Mapping[int, list[tuple[int, bool]]]:
    """The literals of a query by group. An attribute in no group has its own key, below 0."""
    parts: dict[int, list[tuple[int, bool]]] = {}
    for attribute, bit in literals:
        group = int(home[attribute])
        parts.setdefault(group if group >= 0 else -1 - attribute, []).append((attribute, bit))
    return parts


def _conjunction(
    literals: list[tuple[int, bool]], home: NDArray[np.int32]
) -> Iterator[tuple[_Literals, int]]:
    choices: list[list[tuple[_Literals, int]]] = []
    for group, part in _by_group(literals, home).items():
        on = [attribute for attribute, bit in part if bit]
        if group < 0 or len(part) == 1:
            choices.append([(tuple(part), 1)])
        elif len(on) > 1:
            return  # two attributes of a group are never on together
        elif on:
            choices.append([(((on[0], True),), 1)])  # the others are off by themselves
        else:
            choices.append([((), 1), *((((attribute, True),), -1) for attribute, _ in part)])
    yield from _products(choices)


def _parity(
    literals: list[tuple[int, bool]], home: NDArray[np.int32]
) -> Iterator[tuple[_Literals, int]]:
    # With v = (1 + p)/2 the coefficients of p sum to 1 in each group, so the same ones hold for v.
    choices: list[list[tuple[_Literals, int]]] = []
    for part in _by_group(literals, home).values():
        single: list[tuple[_Literals, int]] = [((literal,), 1) for literal in part]
        choices.append([((), 1 - len(part)), *single] if len(part) > 1 else single)
    yield from _products(choices)


def _products(choices: list[list[tuple[_Literals, int]]]) -> Iterator[tuple[_Literals, int]]:
    for combination in product(*choices):
        literals = sorted(literal for part, _ in combination for literal in part)
        yield tuple(literals), int(np.prod([factor for _, factor in combination], dtype=np.int64))


# ---- parities


class ParityRow(NamedTuple):
    """The constraint `sum x + half * d + clause * c = total` of a parity in an integer program, with an integer d in
    0..most and c in {0, 1}.

    Args:
        half: coefficient of the integer d, which counts pairs of ones.
        clause: coefficient of the variable c, which is 1 if the clause is satisfied.
        total: right-hand side of the constraint.
        most: largest value of d.
    """

    half: int
    clause: int
    total: int
    most: int


def parity_row(size: int, *, positive: bool) -> ParityRow:
    """The constraint of a parity query, or of its negation, over `size` attributes.

    Args:
        size: number of attributes of the parity, >= 0.
        positive: whether the clause is the query (an even number of ones) rather than its negation.

    Example:
        >>> parity_row(3, positive=True), parity_row(3, positive=False)
        (ParityRow(half=-2, clause=1, total=1, most=1), ParityRow(half=-2, clause=-1, total=0, most=1))
    """
    most = max(1, whole("size", size) // 2)  # the text has d binary for sizes up to 3
    return ParityRow(-2, 1, 1, most) if positive else ParityRow(-2, -1, 0, most)


def all_on_from_parities(size: int, parity: Callable[[tuple[int, ...]], Any]) -> Any:
    """The fraction of records with all attributes of a set S on, computed from parities: 2^-|S| sum over subsets U of S
    of (-1)^|U| p_U. Here p_U is the mean of +1 for an even and -1 for an odd number of ones in U.

    Without the signs the sum gives the fraction of records with all attributes off. If each p_U has an error of at most
    a, the fraction has an error of at most (1 - 2^-|S|) a, because p of the empty set is exactly 1.

    Args:
        size: size of S, >= 0.
        parity: function that returns p_U, on the scale from -1 to 1, for a non-empty subset U of 0, ..., size-1.

    Source: spec query_release E3, erratum 5.

    Example:
        >>> ones = (1, 1, 0)
        >>> all_on_from_parities(2, lambda subset: (-1) ** sum(ones[i] for i in subset))
        1.0
    """
    total: Any = 1
    for width in range(1, whole("size", size) + 1):
        for subset in combinations(range(size), width):
            total = total + (-1) ** width * parity(subset)
    return total / 2**size
