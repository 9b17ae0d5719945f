"""`CallbackDemand`: each record is an object with a method that returns the demanded goods at given prices. Programs of
this family are slow, but support any values of sets of goods.

Source: Wu 2017, section 5.4.1 (demand oracle); spec convex_programs 4 (d-demand, callback).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from math import comb
from numbers import Integral, Real
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, Refused
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Parameter
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.linear import LinearProgram, choices
from confide.programs.program import MOST_ROWS, ProgramRecords
from confide.programs.sets_of_goods import SetsOfGoods
from confide.programs.tables import answered, each_aside, refused_or_null

__all__ = ["CallbackDemand", "DemandOracle", "OracleRecords"]

_MOST_SETS = 1_000_000  # of a program for a solver


class DemandOracle(Protocol):
    """Interface of a record: an object with two methods. The same call must always give the same answer."""

    def demand(self, prices: NDArray[np.float64]) -> Iterable[int]:
        """The indices, from 0, of a set of goods with the largest value less price; empty for no good.

        Args:
            prices: (k,) price of one copy of each good, in natural units.
        """
        ...

    def value(self, goods: tuple[int, ...]) -> float:
        """Value of a set of goods, in [0, 1].

        Args:
            goods: indices of different goods, from 0, ascending.
        """
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OracleRecords(ProgramRecords):
    """Records of all participants, one object for each participant. The data are private and must not be published.

    Args:
        oracles: (n,) objects with the methods of a `DemandOracle`; None in a slot without a record.
    """

    oracles: NDArray[np.object_]


@dataclass(frozen=True)
class CallbackDemand(SetsOfGoods):
    """A program of n people and k goods in several copies each. A record is an object with the methods `demand(prices)`
    and `value(goods)`.

    Each round calls up to two methods of every object, in Python and one object after the other. So a run is feasible
    for at most about a million people times rounds. An answer is counted and delivered only if it follows the rules: up
    to `size` different goods in 0..k-1, with a finite value in [0, 1] that is above the price of the goods. An answer
    against the rules, or a call that fails, counts as an empty set of goods. No error is raised, because others would
    see the error. The methods are called on another thread than the main thread, and only the main thread receives
    signals. So an exception of any kind, even `SystemExit` or `KeyboardInterrupt`, comes from the object. The
    operator's own interrupt ends a run even while an object does not return.

    The promises of value and satisfaction hold for objects that always answer with a best set, and give the same answer
    to the same call. The promises of privacy and of feasible averages need only answers that follow the rules and do
    not change. The printed output and the running time of an object depend on the record, so others must see neither.

    Raises:
        InvalidInput: a number out of range.

    Example:
        >>> class Pair:
        ...     def demand(self, prices):
        ...         return (0, 1) if prices[0] + prices[1] < 0.8 else ()
        ...     def value(self, goods):
        ...         return 0.8 if goods == (0, 1) else 0.0
        >>> program = CallbackDemand(2, (1, 1), size=2)
        >>> records = program.read([Pair(), None])
        >>> program.respond(records, np.array([1 << 23, 0])).tolist()
        [[0, 1], [-1, -1]]
    """

    size: Annotated[int, Parameter("largest number of goods in a set",
                                   symbol="d", at_least=1, at_most=MOST_ROWS)] = field(
        kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._size("size", self.size)

    @property
    def width(self) -> int:
        return self.size

    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Records of all participants, after a check that each has the methods of a `DemandOracle`.

        Args:
            data: n objects, or None for a slot without a record.
            unusable: treatment of an object without the methods of a `DemandOracle`, "refuse" or "null".
        """
        given = data.tolist() if isinstance(data, np.ndarray) else data
        if not isinstance(given, Sequence) or isinstance(given, str | bytes):
            raise InvalidInput("records", f"{type(data).__name__} is not a list of objects")
        if len(given) != self.people:
            raise InvalidInput("records", f"{len(given)} records", f"must be {self.people} records, one for each slot")
        bad = ~np.array(each_aside(_can_be_asked, given))
        refused_or_null("records", bad, "each must have methods demand(prices) and value(goods)", unusable)
        oracles = np.full(self.people, None, dtype=object)
        for i, one in enumerate(given):
            oracles[i] = None if bad[i] else one
        return OracleRecords(people=self.people, oracles=oracles)

    def one(self, record: Any) -> OracleRecords:
        """One participant's record, checked without any other record.

        Args:
            record: an object with the methods of a `DemandOracle`.
        """
        if each_aside(_can_be_asked, [record]) != [True]:
            raise InvalidInput("record", f"{type(record).__name__} lacks a method",
                               "must have methods demand(prices) and value(goods)")
        oracles = np.full(1, None, dtype=object)
        oracles[0] = record
        return OracleRecords(people=1, oracles=oracles)

    def respond(self, records: OracleRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        chosen = np.full((records.people, self.size), -1, dtype=np.int32)
        natural, units = prices / PRICE_UNIT, prices.tolist()  # exact, both

        def taken(oracle: Any) -> tuple[int, ...]:
            goods = self._wanted(oracle, natural) if oracle is not None else ()
            return goods if goods and self._worth(oracle, goods) > sum(units[good] for good in goods) else ()

        for i, goods in enumerate(each_aside(taken, records.oracles)):
            chosen[i, : len(goods)] = goods
        return chosen

    def respond_along(self, records: OracleRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        return np.stack(each_aside(lambda row: self.respond(records, row), prices), axis=1)  # one thread for all rounds

    def _wanted(self, oracle: Any, prices: NDArray[np.float64]) -> tuple[int, ...]:
        """Goods that an object demands, ascending; nothing where the answer is against the rules."""
        nothing: list[int] = []
        found = answered(
            lambda: [_index(one) for one in islice(oracle.demand(prices.copy()), self.size + 1)], nothing)
        goods = tuple(sorted(set(found)))
        if len(found) > self.size or len(goods) < len(found) or (goods and not 0 <= goods[0] <= goods[-1] < self.rows):
            return ()
        return goods

    def _worth(self, oracle: Any, goods: tuple[int, ...]) -> int:
        """Value of goods according to an object, in units of 2^-24; 0 where the answer is against the rules."""
        return answered(lambda: _units(oracle.value(goods)), 0)

    def values(self, records: OracleRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        def worth(asked: tuple[Any, list[int]]) -> int:
            goods = tuple(one for one in asked[1] if one >= 0)
            return self._worth(asked[0], goods) if asked[0] is not None and goods else 0

        return np.array(each_aside(worth, zip(records.oracles, actions.tolist(), strict=True)), dtype=np.int64)

    def linear_program(self, records: OracleRecords) -> LinearProgram:
        count = sum(comb(self.rows, d) for d in range(1, self.size + 1))
        if count * records.people > _MOST_SETS:
            raise Refused(f"{count:,} sets for each of {records.people:,} participants are too many for a solver",
                          f"all participants can have at most {_MOST_SETS:,} sets together")
        sets = [goods for d in range(1, self.size + 1) for goods in combinations(range(self.rows), d)]
        asked = [(i, goods) for i, oracle in enumerate(records.oracles) if oracle is not None for goods in sets]
        worths = each_aside(lambda one: self._worth(records.oracles[one[0]], one[1]), asked)
        found = [(i, goods, worth) for (i, goods), worth in zip(asked, worths, strict=True) if worth > 0]
        sizes = [len(goods) for _, goods, _ in found]
        return choices(self, values=[worth for _, _, worth in found], people=[i for i, _, _ in found],
                       rows=[good for _, goods, _ in found for good in goods], loads=np.full(sum(sizes), LOAD_UNIT),
                       entries=np.repeat(np.arange(len(found)), sizes))


def _can_be_asked(record: Any) -> bool:
    return record is None or answered(lambda: callable(record.demand) and callable(record.value), False)


def _index(good: Any) -> int:
    if type(good) is int:
        return good
    if good is True or good is False or not isinstance(good, Integral):
        raise TypeError
    return int(good)


def _units(value: Any) -> int:
    number = value if type(value) is float else float(value) if isinstance(value, Real) else -1.0
    return round(number * PRICE_UNIT) if 0.0 <= number <= 1.0 else 0
