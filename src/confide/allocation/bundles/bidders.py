"""The questions that every valuation of bundles answers, of one bidder and of all.

A bundle is a tuple of goods, a good as often as copies of it are in it; its order does not matter.

Rule for v(all) <= 1: a record is accepted where its sum in doubles is at most 1 + 2^-21, half a step of the grid on
which certificates count. So a row that adds up to 1 but for rounding, in single precision too, is not refused, and one
bidder still counts for 2^20 + 1 steps at most.
"""

from __future__ import annotations

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

__all__ = ["MOST", "Bidder", "Bundle", "BundleClass", "Listed", "Population", "Table", "refuse_total"]

Bundle = Sequence[int]

MOST = 1.0 + 2.0**-21
"""What everything together may be worth in doubles."""

_Reals = NDArray[np.float64]


def refuse_total(total: float, row: int | None = None) -> InvalidInput:
    """The error for a record whose goods are together worth more than 1: for the bidder alone."""
    whose = "record" if row is None else "values"
    what = "" if row is None else f"row {row}: "
    return InvalidInput(whose, f"{what}all goods together are worth {total:.6g}", "must be at most 1")


class Bidder(ABC):
    """One bidder's valuation of bundles: monotone, v(empty) = 0, v(all) <= 1, gross substitutes. Private."""

    goods: int
    """k."""

    @property
    def named(self) -> NDArray[np.int64]:
        """Goods that the bidder may ever want, ascending."""
        return np.arange(self.goods, dtype=np.int64)

    @abstractmethod
    def value(self, bundle: Bundle) -> float:
        """The value v(bundle)."""

    @abstractmethod
    def gains(self, held: Bundle) -> _Reals:
        """The gain from one more of each good, v(held + j) - v(held), shape (k,)."""

    @abstractmethod
    def surplus(self, prices: _Reals) -> float:
        """The surplus at some prices: max over bundles S of v(S) - p(S)."""

    def pick(self, held: Bundle, prices: ArrayLike) -> int:
        """The good that adds most above its price to what is held, the smallest of equals; -1 where none adds more.

        For gross substitutes it is in a most-preferred superset of what is held, and there is none strictly better than
        that itself where it is -1: a contraction of gross substitutes is gross substitutes, and greedy is exact.

        Args:
            held: goods that are held; their price is sunk.
            prices: (k,) prices of one more of each good.

        Source: spec allocation 5.
        """
        gains = self.gains(held) - np.asarray(prices, dtype=np.float64)
        best = int(np.argmax(gains))
        return best if bool(gains[best] > 0.0) else -1

    def demand(self, held: Bundle, prices: ArrayLike, most: int) -> tuple[int, ...]:
        """A most-preferred superset of at most so many goods: `pick` until nothing adds more.

        Args:
            held: goods that are held; their price is sunk.
            prices: (k,) prices of one more of each good.
            most: largest number of goods in a bundle.

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
    """Rows of numbers that the compiled auction reads; private.

    Args:
        values: float32 or float64.
        starts: int64 (n + 1,) where each row begins in `values`; (1,) for a dense table of n k.
        named: int32 goods of `values`; empty where rows hold all goods.
        dense: whether rows hold all goods.
        counted: whether a row holds what 0, 1, 2... goods of any type are worth, instead of a value for each good.
    """

    values: NDArray[Any]
    starts: NDArray[np.int64]
    named: NDArray[np.int32]
    dense: bool
    counted: bool


class Population(ABC):
    """The valuations of bundles of n bidders, checked. Private."""

    people: int
    goods: int
    valuation: BundleClass
    """Whose records it was made of, and checked against."""

    table: Table | None = None
    """Of classes that are numbers; None for those that are objects."""

    def __repr__(self) -> str:
        return f"<valuations of bundles of {self.people:,} bidders for {self.goods:,} goods>"  # no number of them

    @abstractmethod
    def bidder(self, index: int) -> Bidder:
        """One of them."""

    @abstractmethod
    def worth(self, held: NDArray[Any]) -> _Reals:
        """The worth of everybody's bundle to them, (n,).

        Args:
            held: (n, b) goods, -1 for none.
        """

    @abstractmethod
    def surpluses(self, prices: _Reals) -> _Reals:
        """Everybody's surplus at some prices, (n,): max over bundles S of v_i(S) - p(S)."""


@dataclass(frozen=True, kw_only=True)
class BundleClass(Declared, ABC):
    """A class of valuations: public, one for all bidders."""

    @property
    def repeats(self) -> bool:
        """Whether a second copy of a good may be worth something."""
        return False

    @abstractmethod
    def largest(self, goods: int) -> int:
        """The largest bundle that is worth more than any smaller one.

        Args:
            goods: k.
        """

    @abstractmethod
    def bidder(self, record: Any, goods: int) -> Bidder:
        """One bidder's valuation, checked alone; of a slot without a record, None, all is worth nothing.

        Args:
            record: as the class has it.
            goods: k.

        Raises:
            InvalidInput: names what is wrong with it, to the bidder alone.
        """

    def population(self, data: Any, *, people: int, goods: int, unusable: Unusable = "refuse") -> Population:
        """Everybody's valuations, checked row by row.

        Args:
            data: n records.
            people: n.
            goods: k.
            unusable: "refuse" them all for one bad record, which tells whoever sees the message; or take that record
                as one of a slot that stays empty ("null").

        Raises:
            InvalidInput: another number of records, or a bad one where they are refused.
        """
        one_of("unusable", unusable, ("refuse", "null"))
        if isinstance(data, Population):
            return same_kind(data, self, people, goods)
        if not isinstance(data, Iterable):
            raise InvalidInput("values", "are not a row of records")
        records = list(data)
        if len(records) != whole("people", people, at_least=1):
            raise InvalidInput("values", f"{len(records)} records", f"must be {people}")
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
    """A population that is there already, if it is of this class and size: what a bidder can move depends on both."""
    if data.valuation != valuation:
        raise InvalidInput("values", f"are of {data.valuation}", f"must be of {valuation}")
    if (data.people, data.goods) != (people, goods):
        raise InvalidInput("values", f"are of {data.people} bidders and {data.goods} goods",
                           f"must be {people} and {goods}")
    return data


class Listed(Population):
    """Bidders that are objects, one by one.

    Args:
        bidders: n of them.
        goods: k.
        valuation: their class.
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
