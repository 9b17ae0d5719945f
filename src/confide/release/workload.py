"""A workload: the list of counting queries that a release answers, in one canonical form."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput, PublicWarning
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.release._inputs import flag, of_kind, reals
from confide.release.counting import add_record, count_records, weigh_records
from confide.release.queries import all_queries, canonical, firsts, keys_of, named, one_value, random_queries
from confide.release.records import Codes, PackedBits, as_bits
from confide.release.schema import Schema, joined
from confide.release.sets import shortened

__all__ = ["MOST_UNIVERSE", "Workload"]

Kind = Literal["conjunctions", "parities", "predicates"]

_MOST_ATTRIBUTES = (1 << 31) - 2  # numbered in 32 bits

MOST_UNIVERSE = 22
"""Largest number of attributes of a universe that is enumerated."""


@wire("Workload", "kind attributes index bits truth seed")
@dataclass(frozen=True, eq=False, kw_only=True)
class Workload:
    """A list of k counting queries over d binary attributes. The answer to a query is the fraction of the records that
    satisfy it.

    The negation 1 - q of each query q also belongs to the queries, although the workload does not list it. A
    conjunction is satisfied if some attributes have given bits. A parity is satisfied if the number of ones among its
    attributes is even. The value of a parity query is (1 + p)/2 for the parity p = +1 or -1, so errors on the scale of
    p are twice as large. A predicate is given by its truth values on the whole universe.

    Workloads are built with `conjunctions`, `parities`, `predicates`, `random` or `complete`, which bring queries into
    the canonical form: literals are sorted, and contradictory and repeated queries are dropped. The constructor only
    checks the form.

    Args:
        kind: kind of the queries.
        attributes: number of attributes d, at least 1.
        index: attributes of each query, int32 (k, r), ascending, padded with -1 at the end; (k, 0) for predicates.
        bits: bit that each literal requires, bool (k, r); True for padding and for parities.
        truth: whether each possible record satisfies each predicate, bool (k, 2^d); (0, 0) for other kinds. In record
            number u, attribute i is bit i of u.
        seed: public seed of a random workload, stored for information only; None for other workloads.

    Raises:
        InvalidInput: there is no query, the shapes do not fit, or the form is not canonical.

    Source: spec query_release B1.

    Example:
        >>> workload = Workload.conjunctions([[0, 1], [2, -1]], [[True, False], [True, True]], attributes=3)
        >>> workload.values([True, False, False]), workload.counts(PackedBits.pack([[1, 0, 0], [1, 0, 1]]))
        (array([ True, False]), array([2, 1]))
    """

    kind: Kind
    attributes: int
    index: np.ndarray = field(repr=False)
    bits: np.ndarray = field(repr=False)
    truth: np.ndarray = field(repr=False, default_factory=lambda: np.zeros((0, 0), np.bool_))
    seed: int | None = None

    def __post_init__(self) -> None:
        one_of("kind", self.kind, ("conjunctions", "parities", "predicates"))
        whole("attributes", self.attributes, at_least=1)
        if self.seed is not None:
            whole("seed", self.seed)
        for name, kind in (("index", np.int32), ("bits", np.bool_), ("truth", np.bool_)):
            array = np.asarray(getattr(self, name))
            if array.dtype != kind or array.ndim != 2:
                raise InvalidInput(name, f"is {array.dtype} with {counted(array.ndim, 'dimension')}",
                                   f"must be {np.dtype(kind)} with 2 dimensions")
            array = np.array(array, order="C") if _can_change(array) else np.ascontiguousarray(array)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.kind == "predicates":
            self._check_truth()
        else:
            self._check_literals()

    def _check_truth(self) -> None:
        if self.attributes > MOST_UNIVERSE:
            raise InvalidInput("attributes", f"a universe of 2^{self.attributes} records is too large for a list",
                               f"must be at most {MOST_UNIVERSE} attributes")
        if not len(self.truth):
            raise InvalidInput("workload", "has no queries", "must hold at least one")
        shapes = self.truth.shape[1], self.index.shape, self.bits.shape
        if shapes != (1 << self.attributes, (len(self.truth), 0), (len(self.truth), 0)):
            raise InvalidInput("truth", f"is of shape {self.truth.shape}", f"must be (k, {1 << self.attributes})")
        if not firsts(_rows(self.truth)).all():
            raise InvalidInput("truth", "a predicate occurs twice", "build it with Workload.predicates")

    def _check_literals(self) -> None:
        index = self.index
        if not len(index):
            raise InvalidInput("workload", "has no queries", "must hold at least one")
        if self.bits.shape != index.shape or index.shape[1] < 1 or self.truth.shape != (0, 0):
            raise InvalidInput("bits", f"index, bits and truth have the shapes {index.shape}, {self.bits.shape} and "
                                       f"{self.truth.shape}",
                               "must be (k, r), (k, r) and (0, 0)")
        if index.max() >= self.attributes or index.min() < -1:
            raise InvalidInput("index", "an attribute is out of range", f"must be in [0, {self.attributes})")
        before, after = index[:, :-1], index[:, 1:]
        fits = bool(np.all((after > before) | (after == -1))) and bool(np.all((before >= 0) | (after == -1)))
        if not fits or (index[:, 0] < 0).any() or not np.all(self.bits | (index >= 0)):
            raise InvalidInput("index", "is not in canonical form", "build it with Workload.conjunctions or parities")
        if self.kind == "parities" and not self.bits.all():
            raise InvalidInput("bits", "a parity has no bits to require", "must all be True")
        if not firsts(keys_of(index, self.bits, self.attributes)).all():
            raise InvalidInput("index", "a query occurs twice", "build it with Workload.conjunctions or parities")

    def __len__(self) -> int:
        """The number of queries, k."""
        return len(self.truth) if self.kind == "predicates" else len(self.index)

    def __repr__(self) -> str:
        """A short description with the number and the kind of the queries, without their arrays."""
        many = f"{len(self):,} {self.kind if len(self) > 1 else self.kind[:-1].replace('ie', 'y')}"
        over = "over" if self.kind == "predicates" else f"of up to {self.width} of"
        return f"<Workload: {many} {over} {counted(self.attributes, 'attribute')}>"

    @property
    def width(self) -> int:
        """The largest number of attributes of a query, r; d for predicates."""
        return self.attributes if self.kind == "predicates" else int(self.index.shape[1])

    @cached_property
    def order(self) -> np.ndarray:
        """An order of the queries in which queries with equal first literals are adjacent, int64 (k,)."""
        key = keys_of(self.index, self.bits, self.attributes)
        return np.argsort(key, kind="stable")

    # ---- how to build one

    @classmethod
    def conjunctions(cls, index: Any, bits: Any = None, *, attributes: int | Schema) -> Workload:
        """A workload of conjunctions of literals "attribute a has bit b".

        Args:
            index: (k, r) attributes by number, -1 for none. With a schema, `index` may also be k sequences of attribute
                names, plain or negated, such as [["sex = male", "age not in [0, 50)"]]. A range over several bins, "age
                in [20, 40)", and a list of levels, "job in {none, part}", stand for the negated literals of all other
                bins or levels (`Schema.literals`). Sequences may have different lengths.
            bits: (k, r) required bits. With None all bits are True, except for negated names.
            attributes: number of attributes d, or the schema that defines the attributes.

        Raises:
            InvalidInput: there is no query, an attribute is out of range or unknown, the shapes do not fit, a query has
                no literals, or no query is left. For an unknown attribute the message names the nearest one.

        Warns:
            Queries that occur twice, or that require an attribute to be both true and false, are dropped.

        Example:
            >>> workload = Workload.conjunctions([[2, 0], [1, 1]], attributes=3)
            >>> workload.index.tolist()
            [[0, 2], [1, -1]]
        """
        return cls._canonical("conjunctions", index, bits, attributes)

    @classmethod
    def parities(cls, index: Any, *, attributes: int | Schema) -> Workload:
        """A workload of parities of sets of attributes. A parity is satisfied if the number of ones is even.

        Args:
            index: (k, r) attributes by number, -1 for none, or sequences of names as in `conjunctions`. An attribute
                that a query names twice cancels.
            attributes: number of attributes d, or the schema that defines the attributes.

        Raises:
            InvalidInput: as in `conjunctions`. A parity of no attribute is constant and is refused.

        Example:
            >>> Workload.parities([[0, 1], [2, 2]], attributes=3)
            Traceback (most recent call last):
            ...
            confide.contract.errors.InvalidInput: index: query 1 has no attribute; each must have at least one
        """
        return cls._canonical("parities", index, None, attributes)

    @classmethod
    def predicates(cls, truth: Any, *, negations: Literal["implied", "given"] = "implied") -> Workload:
        """A workload of arbitrary predicates over a universe that is small enough to be enumerated.

        Args:
            truth: (k, 2^d): whether record u satisfies query j, where attribute i of record u is bit i of u.
            negations: treatment of negations. With "implied" the rows hold only queries, and the class implicitly
                contains their negations. With "given" the rows hold every query together with its negation; the first
                one of each pair is kept, and the second one is implied.

        Raises:
            InvalidInput: there is no query, the number of columns is no power of two up to 2^22, or with "given" a
                query has no negation.

        Warns:
            Rows that occur twice are dropped.

        Example:
            >>> Workload.predicates([[0, 1, 0, 1], [1, 0, 1, 0]], negations="given").truth.astype(int).tolist()
            [[0, 1, 0, 1]]
        """
        one_of("negations", negations, ("implied", "given"))
        table = as_bits("truth", truth, 2)
        universe = table.shape[1]
        attributes = universe.bit_length() - 1
        if not len(table):
            raise InvalidInput("workload", "has no queries", "must hold at least one")
        if universe < 2 or universe != 1 << attributes or attributes > MOST_UNIVERSE:
            raise InvalidInput("truth", f"has {counted(universe, 'column')}",
                               f"must have 2^d columns, d from 1 to {MOST_UNIVERSE}")
        first = np.flatnonzero(firsts(_rows(table)))
        if len(first) < len(table):
            _warn(len(table) - len(first), "stand twice")
        table = table[first]
        if negations == "given":
            places = {row.tobytes(): place for place, row in enumerate(_rows(table))}
            pairs = np.array([places.get(row.tobytes(), -1) for row in _rows(~table)])
            if (pairs < 0).any():
                raise InvalidInput("truth", f"query {int(first[np.argmax(pairs < 0)])} has no negation",
                                   'list the negation, or set negations="implied"')
            table = table[pairs > np.arange(len(pairs))]
        empty = np.zeros((len(table), 0))
        return cls(kind="predicates", attributes=attributes, index=empty.astype(np.int32),
                   bits=empty.astype(np.bool_), truth=table)

    @classmethod
    def random(
        cls, domain: Schema | int, count: int, *, width: int = 3, seed: int, signed: bool = True,
        kind: Literal["conjunctions", "parities"] = "conjunctions", distinct_columns: bool = True,
    ) -> Workload:
        """A workload of different random queries, each equally likely, in the order in which they were drawn.

        Args:
            domain: the schema, or the number of attributes d.
            count: number of queries, k.
            width: number of attributes of each query.
            seed: public seed, which is stored in the workload. Equal seeds give equal queries.
            signed: whether the bit that each literal requires is drawn at random. With `signed=False` all literals
                require the bit True.
            kind: kind of the queries, "conjunctions" or "parities".
            distinct_columns: whether the attributes of a query come from different columns. With
                `distinct_columns=False` each attribute is drawn independently, as in the prototype of the authors of Wu
                2017. An attribute may then be drawn twice, which makes the query shorter.

        Raises:
            InvalidInput: fewer than `count` different queries exist, or a number is out of range.

        Source: spec query_release F and erratum 12.

        Example:
            >>> workload = Workload.random(100, 5000, seed=1)
            >>> len(workload), workload.width, workload.seed
            (5000, 3, 1)
        """
        one_of("kind", kind, ("conjunctions", "parities"))
        attributes = _attributes(domain)
        index, bits = random_queries(domain, whole("count", count, at_least=1), whole("width", width, at_least=1),
                                     whole("seed", seed), flag("signed", signed) and kind == "conjunctions",
                                     kind == "parities", flag("distinct_columns", distinct_columns))
        return cls(kind=kind, attributes=attributes, index=index, bits=bits, seed=seed)

    @classmethod
    def complete(
        cls, domain: Schema | int, *, width: int = 3, positive: bool = True,
        kind: Literal["conjunctions", "parities"] = "conjunctions", smaller: bool | None = None,
    ) -> Workload:
        """A workload of all queries with `width` attributes, in lexicographic order. The attributes of one query come
        from different columns.

        Args:
            domain: the schema, or the number of attributes d.
            width: number of attributes of each query.
            positive: whether all literals require the bit True. With `positive=False` there is a query for every
                combination of required bits.
            kind: kind of the queries, "conjunctions" or "parities".
            smaller: whether to add all queries with fewer attributes, which come first. The default None adds these
                queries for parities only, since parities of up to r attributes determine the marginals of r attributes
                (see `marginals_from_parities`).

        Raises:
            InvalidInput: there are more than 2^26 queries, or the width is larger than the number of columns. The
                message says how many queries there are.

        Example:
            >>> len(Workload.complete(16, width=3)), len(Workload.complete(16, width=3, kind="parities"))
            (560, 696)
        """
        one_of("kind", kind, ("conjunctions", "parities"))
        attributes = _attributes(domain)
        whole("width", width, at_least=1)
        flag("positive", positive)
        with_smaller = kind == "parities" if smaller is None else flag("smaller", smaller)
        widths = range(1, width + 1) if with_smaller else range(width, width + 1)
        index, bits = all_queries(domain, widths, positive or kind == "parities")
        return cls(kind=kind, attributes=attributes, index=index, bits=bits)

    @classmethod
    def _canonical(cls, kind: Kind, index: Any, bits: Any, attributes: int | Schema) -> Workload:
        count = _attributes(attributes)
        schema = attributes if isinstance(attributes, Schema) else None
        found, required = named(index, bits, schema)
        if not len(found):
            raise InvalidInput("workload", "has no queries", "must hold at least one")
        if kind == "parities" and not required.all():
            raise InvalidInput(f"index[{int(np.argmin(required.all(axis=1)))}]",
                               "the query has a negated attribute, or a set of attributes",
                               "name each attribute without a negation, since a parity counts ones")
        if schema is not None and kind == "conjunctions":
            found, required, twice = one_value(found, required, schema)
            if twice:
                _warn(twice, "require two values of one column together")
            if not len(found):
                raise InvalidInput("workload", "has no queries that can be satisfied", "must hold at least one")
        kept, required, contradictory, repeated = canonical(found, required, count, kind == "parities")
        if not len(kept):
            raise InvalidInput("workload", "has no queries that can be satisfied", "must hold at least one")
        if contradictory:
            _warn(contradictory, "require an attribute to be true and false")
        if repeated:
            _warn(repeated, "stand twice")
        return cls(kind=kind, attributes=count, index=kept, bits=required)

    def words(self, schema: Schema, count: int | None = None) -> list[str]:
        """A text for each of the k conjunctions or parities, or for the first `count` of them. The function `split` of
        `confide.release.schema` turns the text of a conjunction back into its literals.

        Args:
            schema: schema that defines the attributes.
            count: number of texts; if left out, one for each query.

        Raises:
            InvalidInput: the schema has another number of attributes, or the queries are predicates.

        Example:
            >>> from confide.release import Levels
            >>> jobs = Schema((Levels(column="job", levels=("none", "part", "full", "self", "both")),))
            >>> Workload.conjunctions([["job = none"], ["job != full"], ["job in {none, part}"]],
            ...                       attributes=jobs).words(jobs)
            ['job = none', 'job != full', 'job in {none, part}']
            >>> Workload.parities([["job = none", "job = part"]], attributes=jobs).words(jobs)
            ['an even number of: job = none; job = part']
        """
        if self.kind == "predicates":
            raise InvalidInput("workload", "holds predicates", "only conjunctions and parities have words")
        of_kind("schema", schema, Schema)
        if schema.attributes != self.attributes:
            raise InvalidInput("schema", f"has {counted(schema.attributes, 'attribute')}",
                               f"must have {self.attributes}")
        if count is not None:
            whole("count", count)
        texts = np.array([*schema.negated, *schema.names, ""], dtype=object)
        index, bits = self.index[:count], self.bits[:count]
        chosen = texts[np.where(index >= 0, index + self.attributes * bits, 2 * self.attributes)].tolist()
        if self.kind == "parities":
            return [f"an even number of: {'; '.join(filter(None, each))}" for each in chosen]
        # Several literals of one column may have one text for all of them.
        columns = np.sort(np.where((index >= 0) & ~bits, schema.column_of[index], -1), axis=1)
        for row in np.flatnonzero(((columns[:, 1:] == columns[:, :-1]) & (columns[:, 1:] >= 0)).any(axis=1)).tolist():
            there = index[row] >= 0
            chosen[row] = shortened(schema, list(zip(index[row][there].tolist(), bits[row][there].tolist(),
                                                     strict=True)))
        return [joined(schema, [each for each in literals if each]) for literals in chosen]

    def some(self, queries: np.ndarray) -> Workload:
        """A workload of some of the queries, given by their positions, each at most once.

        Raises:
            InvalidInput: the positions are not whole numbers in [0, k), or a position occurs twice.
        """
        queries = np.asarray(queries)
        if queries.ndim != 1 or queries.dtype.kind not in "iu" or not len(queries):
            raise InvalidInput("queries", f"are {queries.dtype} of shape {queries.shape}", "must be whole numbers")
        if queries.min() < 0 or queries.max() >= len(self):
            raise InvalidInput("queries", "a query is out of range", f"must be in [0, {len(self)})")
        if self.kind == "predicates":
            return Workload(kind=self.kind, attributes=self.attributes, index=self.index[queries],
                            bits=self.bits[queries], truth=self.truth[queries])
        return Workload(kind=self.kind, attributes=self.attributes, index=self.index[queries], bits=self.bits[queries])

    def same(self, other: Workload) -> bool:
        """Whether another workload holds the same queries in the same order. The seeds of both workloads may differ."""
        of_kind("other", other, Workload)
        return self is other or ((self.kind, self.attributes) == (other.kind, other.attributes) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("index", "bits", "truth")))

    # ---- what it says of records

    def counts(self, records: PackedBits | Codes) -> np.ndarray:
        """The number of records that satisfy each query, int64 (k,).

        Args:
            records: records of d attributes.

        Raises:
            InvalidInput: the records have another number of attributes.
        """
        of_kind("records", records, PackedBits, Codes)
        return count_records(self, records)

    def answers(self, records: PackedBits | Codes, weights: Any = None) -> np.ndarray:
        """The fraction, or the total weight, of the records that satisfy each query, float64 (k,).

        Args:
            records: T records of d attributes.
            weights: (T,) finite weights; 1/T each when None. The weights need not sum to 1.

        Raises:
            InvalidInput: the number of attributes or weights is wrong.

        Source: spec query_release D6 (tables with inclusion and exclusion; on packed bits, the bits one by one).

        Example:
            >>> workload = Workload.conjunctions([[0], [1]], attributes=2)
            >>> workload.answers(PackedBits.pack([[1, 0], [1, 1]]), [0.25, 0.75])
            array([1.  , 0.75])
        """
        of_kind("records", records, PackedBits, Codes)
        return weigh_records(self, records, None if weights is None else reals("weights", weights))

    def values(self, record: Any) -> np.ndarray:
        """Whether one record, given as d bits, satisfies each query: bool (k,)."""
        total = np.zeros(len(self), np.int32)
        self.add_values(record, total)
        return total.astype(np.bool_)

    def add_values(self, record: Any, total: np.ndarray) -> None:
        """Add 1 to the total of each query that a record satisfies, in place and in one pass.

        Args:
            record: the d bits of the record.
            total: int32 (k,), contiguous, changed in place.
        """
        bits = np.ascontiguousarray(as_bits("record", record, 1))
        of_kind("total", total, np.ndarray)
        if len(bits) != self.attributes:
            raise InvalidInput("record", f"has {counted(len(bits), 'bit')}", f"must have {self.attributes}")
        if total.dtype != np.int32 or total.shape != (len(self),):
            raise InvalidInput("total", f"is {total.dtype} of shape {total.shape}",
                               f"must be int32 of shape ({len(self)},)")
        if self.kind == "predicates":
            total += self.truth[:, int(bits @ (1 << np.arange(len(bits), dtype=np.int64)))]
        else:
            add_record(self.index, self.bits, self.kind == "parities", bits, total)

    def parity_errors(self, errors: Any) -> np.ndarray:
        """Errors of the answers, converted to the scale of parities from -1 to +1. On this scale the errors are twice
        as large.

        Raises:
            InvalidInput: the queries are not parities.

        Source: spec query_release E3.
        """
        if self.kind != "parities":
            raise InvalidInput("workload", f"holds {self.kind}", "must hold parities")
        doubled: np.ndarray = 2.0 * reals("errors", errors)
        return doubled

    @property
    def log_queries(self) -> float:
        """The logarithm ln 2k of the number of queries and their negations."""
        return math.log(2 * len(self))


def _attributes(domain: int | Schema) -> int:
    if isinstance(domain, Schema):
        return domain.attributes
    attributes = whole("attributes", domain, at_least=1)
    if attributes > _MOST_ATTRIBUTES:
        raise InvalidInput("attributes", f"{attributes} are too many", f"must be at most {_MOST_ATTRIBUTES}")
    return attributes


def _can_change(array: np.ndarray) -> bool:
    """Whether an array can be written to, directly or through an array of which it is a view."""
    owner: object = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return True
        owner = owner.base
    return owner is not None


def _rows(table: np.ndarray) -> np.ndarray:
    """Each predicate as one byte string."""
    packed = np.packbits(table, axis=1)
    whole_rows: np.ndarray = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1])))[:, 0]
    return whole_rows


def _warn(count: int, what: str) -> None:
    warnings.warn(f"{count} queries are dropped: they {what}", PublicWarning, stacklevel=4)
