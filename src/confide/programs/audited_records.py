"""Simulated records for every family of programs: typical records, and the records that change loads most. The
simulated records are public and belong to no real person.

For a user-defined program, the user gives a few records, public or invented. Neighbouring data sets are built from the
user's records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, Unsupported
from confide.programs.families.aggregative_game import AggregativeGame
from confide.programs.families.callback_demand import CallbackDemand
from confide.programs.families.capped_additive import CappedAdditive
from confide.programs.families.electricity import Electricity
from confide.programs.families.flow import Flow
from confide.programs.families.knapsack import Knapsack
from confide.programs.families.shared_resources import SharedResources
from confide.programs.families.unit_demand import UnitDemand
from confide.programs.families.xor_bundles import XorBundles
from confide.programs.grids import LOAD_UNIT
from confide.programs.program import Program, ProgramRecords

Generator = Any
"""A numpy random generator, made by `study_generator`."""

__all__ = ["AdditiveOracle", "Pool", "added", "apart", "beyond", "drawn", "joined"]

_PLACES = 8  # numbers of a record that are wrong one at a time, at most
_FACTORS = (1.25, 3.0, 1000.0, -1.0)
_EXTREME = 6  # arcs that are cheap to somebody, of a flow


@dataclass(frozen=True)
class AdditiveOracle:
    """A record that answers demand queries by itself, for `CallbackDemand`. The value of a set of up to `size` goods is
    the sum of the goods' values, divided by `size`.

    Args:
        values: (k,) values in [0, 1], which are divided by `size`.
        size: largest number of goods in a set.
    """

    values: tuple[float, ...]
    size: int

    def demand(self, prices: NDArray[np.float64]) -> list[int]:
        """The goods with the largest positive gain, value/size less price, at most `size` of them."""
        gains = np.array(self.values) / self.size - prices
        return [int(good) for good in np.argsort(-gains, kind="stable")[: self.size] if gains[good] > 0]

    def value(self, goods: tuple[int, ...]) -> float:
        """Value of a set, in [0, 1]."""
        return min(1.0, sum(self.values[good] for good in goods) / self.size)


@singledispatch
def drawn(program: Program, _draw: Generator) -> Any:
    """A random record for a program.

    Args:
        program: program that the record is for.
        _draw: random generator, from `study_generator`.

    Raises:
        Unsupported: a user-defined program, whose records cannot be simulated.
    """
    raise Unsupported("program", type(program).__name__, "give `records`, public or synthetic; there are no records of "
                                                         "this program")


@singledispatch
def apart(_program: Program) -> list[Any]:
    """Records for a program, chosen so that their contributions to the load differ as much as possible.

    Args:
        _program: program that the records are for.
    """
    return []


def beyond(program: Program, records: Sequence[Any], most: int = 400) -> ProgramRecords | None:
    """Table of records with changed numbers, many of them out of range, read as in a release. A release treats a record
    with a number out of range as a slot without a record.

    In most of the records, a single number is multiplied by 1.25, 3 or 1000, or made negative. In some records, all
    numbers, or all numbers except the first, are changed in this way. In families with bundles, some bundles name a
    good twice, or have one good too many.

    Args:
        program: program that the records are for.
        records: valid records, each in a form that `program.one` accepts. Records that are objects with methods, as in
            `CallbackDemand`, are left out.
        most: largest number of records in the table.

    Returns:
        The table, or None where no record of the program can have a number out of range.
    """
    made = [wrong for record in records if record is not None for wrong in _wrong(record)]
    kinds = {type(one) for one in made}
    if not made or len(kinds) != 1:
        return None
    made = made[:: -(-len(made) // most)]
    table: Any = made
    if kinds != {list}:
        table = np.stack(made) if kinds == {np.ndarray} else tuple(np.stack(part) for part in zip(*made, strict=True))
    # So few people can use no more than their part of the supply.
    part = len(made) / program.people * (1.0 - 2.0**-40)
    few = replace(program, people=len(made), supply=tuple(one * part for one in program.supplies))
    return few.read(table, unusable="null")


def _wrong(record: Any) -> list[Any]:
    """Copies of a record with numbers that are beyond any bound."""
    if isinstance(record, list):
        if not all(isinstance(each, tuple) and len(each) == 2 for each in record):  # a program of one's own
            return []
        longer = [[((*goods, max(goods) - 1 if max(goods) else 1), value), *record[1:]] for goods, value in record[:1]]
        return [*longer, *([((*goods[:-1], goods[0]), value)] for goods, value in record if len(goods) > 1),
                [(goods, 3.0 * value + 1.0) for goods, value in record]]
    if isinstance(record, tuple) and all(isinstance(part, np.ndarray) for part in record):
        return [(*record[:k], wrong, *record[k + 1 :]) for k, part in enumerate(record) if part.dtype.kind == "f"
                for wrong in _wrong(part)]
    if not isinstance(record, np.ndarray) or record.dtype.kind != "f" or not record.size:
        return []
    places = np.unique(np.linspace(0, record.size - 1, min(record.size, _PLACES)).astype(np.int64))
    some = [np.array([place]) for place in places] + [np.arange(record.size)[1:], np.arange(record.size)]
    out = []
    for where in some:
        for factor in _FACTORS:
            wrong = record.astype(np.float64).copy()
            own = wrong.reshape(-1)
            own[where] = factor * np.where(own[where] == 0.0, 1.0, np.abs(own[where]))
            out.append(wrong)
    return out


def joined(program: Program, records: Sequence[Any]) -> ProgramRecords:
    """A single table of the given records.

    Args:
        program: program that the records are for.
        records: records in a form that `program.one` accepts; None for a slot without a record.
    """
    parts = [program.one(record) for record in records]
    arrays: dict[str, Any] = {one.name: np.concatenate([getattr(part, one.name) for part in parts])
              for one in fields(parts[0]) if one.name not in ("people", "reader")}
    return replace(parts[0], people=len(parts), **arrays)


def added(program: Program, table: ProgramRecords, prices: NDArray[np.int64]) -> NDArray[np.float64]:
    """Contributions of the records of a table to the load at given prices, in natural units, shape (m, k).

    Args:
        program: program that the records are for.
        table: table of m records.
        prices: (k,) prices, in price units of 2^-24.
    """
    return np.asarray(program.contributions(table, program.respond(table, prices)) / LOAD_UNIT)


@dataclass(frozen=True, eq=False)
class Pool:
    """Possible records of a program, from which the data sets of an audit are drawn.

    Args:
        program: program that the records are for.
        records: m records, each in a form that `program.one` accepts; None for a slot without a record.
        table: table of the same records.
    """

    program: Program
    records: tuple[Any, ...]
    table: ProgramRecords

    @classmethod
    def of(cls, program: Program, draw: Generator, size: int, records: Iterable[Any] | None = None) -> Pool:
        """A pool for a program. The pool has simulated records, or the given records, and always a slot without a
        record. Some simulated records have contributions that lie far apart, and the others are random.

        Args:
            program: program that the records are for.
            draw: random generator, from `study_generator`.
            size: number of random records among the simulated ones.
            records: records to use in place of all simulated records; None to simulate them.
        """
        some = [*apart(program), *(drawn(program, draw) for _ in range(size))] if records is None else list(records)
        if not some:
            raise InvalidInput("records", "the list is empty", "give a few public or synthetic records")
        if all(one is not None for one in some):
            some.append(None)
        return cls(program, tuple(some), joined(program, some))

    def distances(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        """L2 distances, in natural units of load, shape (m, m): from each record's contribution at the first prices to
        each record's contribution at the second prices.

        Args:
            first: (k,) first prices, in price units of 2^-24.
            second: (k,) second prices, in price units of 2^-24.
        """
        one, other = (self.contributed(prices) for prices in (first, second))
        squared = (one * one).sum(axis=1)[:, None] + (other * other).sum(axis=1) - 2.0 * (one @ other.T)
        return np.asarray(np.sqrt(np.maximum(squared, 0.0)))

    def contributed(self, prices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Contributions of all records of the pool to the load at given prices, in natural units, shape (m, k)."""
        return added(self.program, self.table, prices)

    def farthest(self) -> tuple[Any, Any]:
        """The two records with contributions that lie farthest apart at prices of zero."""
        first, second = self.farthest_places()
        return self.records[first], self.records[second]

    def farthest_places(self) -> tuple[int, int]:
        """Indices in `records` of the two records with contributions that lie farthest apart at prices of zero."""
        zero = np.zeros(self.program.rows, dtype=np.int64)
        first, second = np.unravel_index(int(np.argmax(self.distances(zero, zero))), (len(self.records),) * 2)
        return int(first), int(second)

    def largest(self) -> Any:
        """The record with the largest contribution at prices of zero."""
        return self.records[self.largest_place()]

    def largest_place(self) -> int:
        """Index in `records` of the record with the largest contribution at prices of zero."""
        added = self.contributed(np.zeros(self.program.rows, dtype=np.int64))
        return int(np.argmax((added * added).sum(axis=1)))


def _values(rows: int, draw: Generator) -> NDArray[np.float64]:
    return np.asarray(draw.random(rows) * draw.uniform(0.3, 1.0))


def _ends(rows: int, many: int, worth: float = 1.0) -> list[NDArray[np.float64]]:
    """Value vectors: the first `many` goods alone, the last `many` goods alone, and all goods with rising or falling
    values.
    """
    first, last = np.zeros(rows), np.zeros(rows)
    first[:many], last[-many:] = worth, worth
    rising = np.linspace(0.5, 1.0, rows) * worth
    return [first, last, rising, rising[::-1].copy()]


@drawn.register
def _(program: UnitDemand, draw: Generator) -> Any:
    return _values(program.rows, draw)


@apart.register
def _(program: UnitDemand) -> list[Any]:
    return list(_ends(program.rows, 1))


def _worth(program: CappedAdditive) -> float:
    """Largest value that each of `cap` goods may have."""
    return 1.0 if program.most is None else min(1.0, program.most / program.cap)


@drawn.register
def _(program: CappedAdditive, draw: Generator) -> Any:
    return _values(program.rows, draw) * _worth(program)


@apart.register
def _(program: CappedAdditive) -> list[Any]:
    return list(_ends(program.rows, program.cap, _worth(program)))


@drawn.register
def _(program: XorBundles, draw: Generator) -> Any:
    bids = []
    for _ in range(int(draw.integers(1, program.bids + 1))):
        goods = draw.permutation(program.rows)[: int(draw.integers(1, program.size + 1))]
        bids.append((tuple(goods.tolist()), float(draw.random())))
    return bids


@apart.register
def _(program: XorBundles) -> list[Any]:
    return [[(tuple(range(program.size)), 1.0)],
            [(tuple(range(program.rows - program.size, program.rows)), 1.0)]]


@drawn.register
def _(program: CallbackDemand, draw: Generator) -> Any:
    return AdditiveOracle(tuple(_values(program.rows, draw).tolist()), program.size)


@apart.register
def _(program: CallbackDemand) -> list[Any]:
    return [AdditiveOracle(tuple(values.tolist()), program.size) for values in _ends(program.rows, program.size)]


@drawn.register
def _(program: Flow, draw: Generator) -> Any:
    ends = draw.permutation(sorted({node for arc in program.arcs for node in arc}))[:2].astype(np.float64)
    return ends if program.costs is not None else np.concatenate([ends, draw.random(program.rows)])


@apart.register
def _(program: Flow) -> list[Any]:
    some = np.unique(np.linspace(0, program.rows - 1, _EXTREME).astype(np.int64)).tolist()
    ends = [np.array(program.arcs[arc], dtype=np.float64) for arc in some]
    if program.costs is not None:
        return list(ends)
    out = []
    for arc, pair in zip(some, ends, strict=True):
        costs = np.ones(program.rows)
        costs[arc] = 0.0
        out += [np.concatenate([pair, costs]), np.concatenate([pair, 1.0 - costs])]
    return out


@drawn.register
def _(program: Knapsack, draw: Generator) -> Any:
    least = np.broadcast_to(np.array(program.least_weight), (program.rows,))
    weights = np.where(draw.random(program.rows) < 0.7, draw.uniform(least, 1.0), 0.0)
    for j in range(program.rows):  # the first ones that fit
        if program.most_weight is not None and weights[: j + 1].sum() > program.most_weight:
            weights[j] = 0.0
    return np.concatenate([[draw.random()], weights])


@apart.register
def _(program: Knapsack) -> list[Any]:
    many = program.rows if program.most_weight is None else min(program.rows, int(program.most_weight))
    weights = _ends(program.rows, many)[:2] if many else []
    return [np.concatenate([[1.0], each]) for each in weights]


@drawn.register
def _(program: SharedResources, draw: Generator) -> Any:
    return _values(program.projects, draw)


@apart.register
def _(program: SharedResources) -> list[Any]:
    large = sorted(range(program.projects), key=lambda project: -len(program.needs[project]))[:_EXTREME]
    return list(np.eye(program.projects)[large])


@drawn.register
def _(program: AggregativeGame, draw: Generator) -> Any:
    most = program.constants.largest_sum
    parts = draw.uniform(-1.0 if program.signed else 0.0, 1.0, (program.actions, program.rows)) * program.largest
    parts *= np.minimum(1.0, 0.999 * most / np.maximum(np.abs(parts).sum(axis=1, keepdims=True), 1e-9))
    allowed = draw.random(program.actions) < 0.6
    allowed[int(draw.integers(program.actions))] = True
    return parts, allowed


@apart.register
def _(program: AggregativeGame) -> list[Any]:
    many = min(program.rows, int(program.constants.largest_sum / program.largest))
    first, last, *_ = _ends(program.rows, many, program.largest)
    all_of = np.ones(program.actions, dtype=bool)
    found = [(np.tile(each, (program.actions, 1)), all_of) for each in (first, last)]
    return [*found, (-found[0][0], all_of)] if program.signed else found


@drawn.register
def _(program: Electricity, draw: Generator) -> Any:
    shape = int(program.intervals or 0), int(program.slots or 0)
    values = draw.random(shape) * draw.uniform(0.3, 1.0)
    if not program.asks_needs:
        return values
    needs, left = np.zeros(shape[0]), program.most
    for t in draw.permutation(shape[0]).tolist():
        needs[t] = int(draw.integers(0, min(left, shape[1]) + 1))
        left -= int(needs[t])
    return values, needs


@apart.register
def _(program: Electricity) -> list[Any]:
    shape = int(program.intervals or 0), int(program.slots or 0)
    values = [each.reshape(shape) for each in _ends(program.rows, program.most)]
    return [(each, np.zeros(shape[0])) for each in values] if program.asks_needs else list(values)
