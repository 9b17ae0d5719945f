"""Valuations of how many: any goods will do, and each further one adds no more than the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.bundles.bidders import (
    MOST,
    Bidder,
    Bundle,
    BundleClass,
    Population,
    Table,
    same_kind,
)
from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Parameter
from confide.contract.unusable import Unusable
from confide.contract.wire import wire
from confide.tables.frames import own_row

__all__ = ["SymmetricConcave"]

_Reals = NDArray[np.float64]

_ROUNDING = 2.0**-40  # by which rounded steps of a concave row may grow


def _wrong(rows: _Reals) -> NDArray[np.bool_]:
    """Whether a row does not begin at 0, falls, grows faster than before, or ends above 1."""
    steps = np.diff(rows, axis=1)
    with np.errstate(invalid="ignore"):
        fine = (rows[:, 0] == 0.0) & (steps >= 0.0).all(axis=1) & (rows[:, -1] <= MOST)
        fine &= (np.diff(steps, axis=1) <= _ROUNDING).all(axis=1)
    return np.asarray(~fine)


class _CountBidder(Bidder):
    def __init__(self, row: _Reals, goods: int) -> None:
        self.goods, self._row = goods, row

    def value(self, bundle: Bundle) -> float:
        return float(self._row[min(len(bundle), len(self._row) - 1)])

    def gains(self, held: Bundle) -> _Reals:
        size = min(len(held), len(self._row) - 1)
        more = self._row[min(size + 1, len(self._row) - 1)] - self._row[size]
        return np.full(self.goods, more)

    def surplus(self, prices: _Reals) -> float:
        return float(_surpluses(self._row[None, :], prices)[0])


def _surpluses(rows: _Reals, prices: _Reals) -> _Reals:
    sizes = np.arange(rows.shape[1], dtype=np.float64)
    found: _Reals = (rows - sizes * float(np.min(prices))).max(axis=1)
    return found


class _Counted(Population):
    def __init__(self, rows: _Reals, goods: int, valuation: BundleClass) -> None:
        self.valuation = valuation
        self.people, self.goods, self._rows = len(rows), goods, rows
        starts = np.arange(self.people + 1, dtype=np.int64) * rows.shape[1]
        self.table = Table(values=rows.reshape(-1), starts=starts, named=np.empty(0, dtype=np.int32), dense=False,
                           counted=True)

    def bidder(self, index: int) -> Bidder:
        return _CountBidder(self._rows[index], self.goods)

    def worth(self, held: NDArray[Any]) -> _Reals:
        sizes = np.minimum((np.asarray(held) >= 0).sum(axis=1), self._rows.shape[1] - 1)
        found: _Reals = self._rows[np.arange(self.people), sizes]
        return found

    def surpluses(self, prices: _Reals) -> _Reals:
        return _surpluses(self._rows, prices)


@wire("SymmetricConcave", "most")
@dataclass(frozen=True, kw_only=True)
class SymmetricConcave(BundleClass):
    """v(S) = f(|S|), copies counted: f(0) = 0, f rises, and by no more with each good. A record is f(0), ..., f(most).

    Steps of a concave f that were rounded may grow by 2^-40.

    Args:
        most: L >= 1; further goods add nothing.

    Example:
        >>> bidder = SymmetricConcave(most=2).bidder([0.0, 0.5, 0.75], goods=4)
        >>> bidder.value((3, 3)), bidder.pick((3,), [0.3, 0.2, 0.1, 0.1])
        (0.75, 2)
    """

    most: Annotated[int, Parameter("number of goods that one bidder wants at most", symbol="L", at_least=1)]

    @property
    def repeats(self) -> bool:
        return True

    def largest(self, goods: int) -> int:
        return self.most

    def bidder(self, record: Any, goods: int) -> Bidder:
        row = self._rows("record", [np.zeros(self.most + 1) if record is None else own_row(record, self.most + 1)], 1)
        if _wrong(row)[0]:
            raise InvalidInput("record", "is no f(0), f(1), ... that is concave",
                               "must begin at 0, rise by ever less, and end at 1 at most")
        return _CountBidder(row[0], goods)

    def population(self, data: Any, *, people: int, goods: int, unusable: Unusable = "refuse") -> Population:
        """Everybody's valuations.

        Args:
            data: (n, most + 1) numbers.
            people: n.
            goods: k.
            unusable: "refuse" the table for one bad row, or take that row as zeros ("null").
        """
        one_of("unusable", unusable, ("refuse", "null"))
        if isinstance(data, Population):
            return same_kind(data, self, people, goods)
        rows = self._rows("values", data, whole("people", people, at_least=1))
        bad = np.flatnonzero(_wrong(rows))
        if len(bad) and unusable == "refuse":
            raise InvalidInput("values", f"row {int(bad[0])} is no f(0), f(1), ... that is concave",
                               "each must begin at 0, rise by ever less, and end at 1 at most")
        if len(bad):
            rows = rows.copy()
            rows[bad] = 0.0
        return _Counted(rows, goods, self)

    def _rows(self, field: str, data: Any, people: int) -> _Reals:
        try:
            rows = np.ascontiguousarray(data, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(field, "is not a table of numbers") from None
        if rows.shape != (people, self.most + 1):
            shape = rows.shape if field == "values" else rows.shape[1:]
            raise InvalidInput(field, f"its shape is {shape}", f"must be f(0) to f({self.most}) in a row")
        return rows
