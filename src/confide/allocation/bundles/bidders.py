"""The interface of valuations of bundles: the values, gains and surpluses of one bidder, and of all bidders together.

A bundle is a tuple of goods. The tuple lists a good once for each copy in the bundle, in any order.

All goods together may be worth at most 1 to a bidder. A bidder's record is accepted if its sum in doubles is at most 1
+ 2^-21. So a row that adds up to 1 except for rounding, even in single precision, is accepted. Welfare certificates add
up values in steps of 2^-20, and the excess of 2^-21 is half a step. So one bidder adds at most 2^20 + 1 steps to a sum.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Declared
from confide.contract.words import counted

__all__ = ["MOST", "Bidder", "Bundle", "BundleClass", "Listed", "Population", "Table", "refuse_total"]

Bundle = Sequence[int]

MOST = 1.0 + 2.0**-21
"""Largest accepted value of all goods together, as a sum in doubles."""

_Reals = NDArray[np.float64]


def refuse_total(total: float, row: int | None = None) -> InvalidInput:
    """The error for a record in which all goods together are worth more than 1. Only the bidder with the record may see
    this error.
    """
    whose = "record" if row is None else "values"
    what = "" if row is None else f"row {row}: "
    short = f"{total:.6g}"
    worth = "not a number" if math.isnan(total) else short if float(short) > 1.0 else f"{float(total)!r}"
    return InvalidInput(whose, f"{what}all goods together are worth {worth}", "must be at most 1")


class Bidder(ABC):
    """One bidder's valuation v of bundles, which is private. The valuation is monotone and has gross substitutes, with
    v(empty) = 0 and v(all goods) <= 1.
    """

    goods: int
    """Number k of goods."""

    @property
    def named(self) -> NDArray[np.int64]:
        """Goods that may have a positive value to the bidder, in ascending order."""
        return np.arange(self.goods, dtype=np.int64)

    @abstractmethod
    def value(self, bundle: Bundle) -> float:
        """The value v(bundle) of a bundle to the bidder, in [0, 1]."""

    @abstractmethod
    def gains(self, held: Bundle) -> _Reals:
        """The gain v(held + j) - v(held) from one more copy of each good j, shape (k,)."""

    @abstractmethod
    def surplus(self, prices: _Reals) -> float:
        """The bidder's surplus at given prices: the maximum of v(S) - p(S) over bundles S."""

    def pick(self, held: Bundle, prices: ArrayLike) -> int:
        """The good with the largest positive gain over its price, when added to the held goods; -1 if no good adds more
        than its price. Among equal gains the good with the smallest number is picked.

        For a gross-substitutes valuation the picked good lies in a most-preferred superset of the held goods. If the
        answer is -1, no superset is strictly better than the held goods themselves. The greedy choice of a good is
        exact, because a contraction of a gross-substitutes valuation has gross substitutes.

        Args:
            held: goods that the bidder holds. Their prices no longer matter to the choice.
            prices: price of one more copy of each good, shape (k,).

        Source: spec allocation 5.
        """
        gains = self.gains(held) - np.asarray(prices, dtype=np.float64)
        best = int(np.argmax(gains))
        return best if bool(gains[best] > 0.0) else -1

    def demand(self, held: Bundle, prices: ArrayLike, most: int) -> tuple[int, ...]:
        """A most-preferred superset of the held goods, with at most `most` goods. Goods are added by repeated `pick`
        until no good adds more than its price.

        Args:
            held: goods that the bidder holds. Their prices no longer matter to the choice.
            prices: price of one more copy of each good, shape (k,).
            most: largest number of goods in the superset, the held goods included.

        Example:
            >>> from confide.allocation.bundles import SymmetricConcave
            >>> bidder = SymmetricConcave(most=3).bidder([0.0, 0.5, 0.75, 0.875], goods=2)
            >>> bidder.demand((1,), [0.2, 0.3], most=3)
            (1, 0)
        """
        found = list(held)
        while len(found) < most:
            good = self.pick(found, prices)
            if good < 0:
                break
            found.append(good)
        return tuple(found)


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """The numbers of all bidders' records, one row for each of the n bidders, in the form that the compiled auction
    reads. The table is private.

    Args:
        values: numbers of all rows, one row after another, float32 or float64.
        starts: index in `values` at which each row begins, int64, shape (n + 1,). Shape (1,) for a dense table of n k
            numbers.
        named: good of each number in `values`, int32. The array is empty if rows hold all goods.
        dense: whether each row holds all goods.
        counted: whether the numbers of a row are the values of 0, 1, 2, ... copies of any goods, instead of the values
            of single goods.
    """

    values: NDArray[Any]
    starts: NDArray[np.int64]
    named: NDArray[np.int32]
    dense: bool
    counted: bool


class Population(ABC):
    """The checked valuations of bundles of n bidders. The valuations are private."""

    people: int
    goods: int
    valuation: BundleClass
    """Class of valuations that the records belong to and were checked against."""

    table: Table | None = None
    """Table of all bidders' numbers. The table is None for classes whose records are objects."""

    def __repr__(self) -> str:
        return f"<valuations of bundles of {self.people:,} bidders for {self.goods:,} goods>"  # no number of them

    @abstractmethod
    def bidder(self, index: int) -> Bidder:
        """The valuation of the bidder at position `index`, from 0, in the public order of bidders."""

    @abstractmethod
    def worth(self, held: NDArray[Any]) -> _Reals:
        """The value of each bidder's bundle to that bidder, shape (n,).

        Args:
            held: goods of each bidder, shape (n, b), with -1 for none.
        """

    @abstractmethod
    def surpluses(self, prices: _Reals) -> _Reals:
        """Each bidder's surplus at given prices, shape (n,): the maximum of v_i(S) - p(S) over bundles S."""


@dataclass(frozen=True, kw_only=True)
class BundleClass(Declared, ABC):
    """A class of valuations of bundles, such as additive ones. The class is public and the same for all bidders."""

    @property
    def repeats(self) -> bool:
        """Whether a second copy of the same good may add value."""
        return False

    @abstractmethod
    def largest(self, goods: int) -> int:
        """Largest number of goods in a bundle that may be worth more than every smaller bundle.

        Args:
            goods: number k of goods.
        """

    @abstractmethod
    def bidder(self, record: Any, goods: int) -> Bidder:
        """One bidder's valuation, from a record that is checked without any other record. The record None stands for an
        absent bidder, to whom every bundle is worth 0.

        Args:
            record: bidder's record, in the form that the class defines.
            goods: number k of goods.

        Raises:
            InvalidInput: a record that cannot be used. The message describes the error, and is meant for the bidder
                alone.
        """

    def population(self, data: Any, *, people: int, goods: int, unusable: Unusable = "refuse") -> Population:
        """All bidders' valuations, checked row by row.

        Args:
            data: records of all n bidders, in the form that the class defines, or a ready `Population` of the same
                class and size.
            people: number n of bidders.
            goods: number k of goods.
            unusable: treatment of a bad record. "refuse" raises an error for the whole data set, which reveals the bad
                record to anyone who sees the message. "null" treats the record as that of an absent bidder.

        Raises:
            InvalidInput: another number of records, or a bad record under "refuse".
        """
        one_of("unusable", unusable, ("refuse", "null"))
        if isinstance(data, Population):
            return same_kind(data, self, people, goods)
        if not isinstance(data, Iterable):
            raise InvalidInput("values", "are not a row of records")
        records = list(data)
        if len(records) != whole("people", people, at_least=1):
            raise InvalidInput("values", counted(len(records), "record"), f"must be {people}")
        found = []
        for row, record in enumerate(records):
            try:
                found.append(self.bidder(record, goods))
            except InvalidInput as error:
                if unusable == "refuse":
                    raise InvalidInput("values", f"row {row} cannot be used: {error.problem}", error.limit) from None
                found.append(self.bidder(None, goods))
        return Listed(found, goods, self)


def same_kind(data: Population, valuation: BundleClass, people: int, goods: int) -> Population:
    """Return a population after a check of its class and size, on which the sensitivity to one bidder depends. The
    class and size must equal the given ones.
    """
    if data.valuation != valuation:
        raise InvalidInput("values", f"are of {data.valuation}", f"must be of {valuation}")
    if (data.people, data.goods) != (people, goods):
        raise InvalidInput("values", f"are for {data.people} bidders and {counted(data.goods, 'good')}",
                           f"must be {people} and {goods}")
    return data


class Listed(Population):
    """A population in which each bidder is a `Bidder` object that is asked separately.

    Args:
        bidders: the n bidders.
        goods: number k of goods.
        valuation: class of the bidders' valuations.
    """

    def __init__(self, bidders: Sequence[Bidder], goods: int, valuation: BundleClass) -> None:
        self._bidders, self.people, self.goods, self.valuation = tuple(bidders), len(bidders), goods, valuation

    def bidder(self, index: int) -> Bidder:
        return self._bidders[index]

    def worth(self, held: NDArray[Any]) -> _Reals:
        rows = np.asarray(held).tolist()
        return np.array([one.value([good for good in row if good >= 0])
                         for one, row in zip(self._bidders, rows, strict=True)], dtype=np.float64)

    def surpluses(self, prices: _Reals) -> _Reals:
        return np.array([one.surplus(prices) for one in self._bidders], dtype=np.float64)
