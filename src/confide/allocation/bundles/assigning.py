"""Assignment valuations (OXS): a bidder has a few places, and each good may fill one of them.

v(S) is the best way to put copies of S into places, one in each: unit demands merged into one bidder. A second copy of
a good may fill another place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.bundles.bidders import MOST, Bidder, Bundle, BundleClass, refuse_total
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Parameter
from confide.contract.wire import wire

__all__ = ["Assignment"]

_Reals = NDArray[np.float64]

_GRID = 2.0**40
_MOST_PLACES = 10


class _PlaceBidder(Bidder):
    """Values are multiples of 2^-40, so that sums are exact, and the best is the same number however it is found."""

    def __init__(self, rows: _Reals) -> None:
        self._rows = np.floor(rows * _GRID) / _GRID
        places, self.goods = rows.shape
        masks = np.arange(1 << places)
        self._without = [masks[(masks >> place) & 1 == 0] for place in range(places)]

    @property
    def named(self) -> NDArray[np.int64]:
        return np.flatnonzero((self._rows > 0.0).any(axis=0))

    def _filled(self, bundle: Bundle) -> _Reals:
        """(2^m,) the most that goods of the bundle are worth in each set of places, at most one in each."""
        best = np.zeros(1 << len(self._rows))
        for good in bundle:
            before = best.copy()
            for place, free in enumerate(self._without):
                with_it = free | (1 << place)
                best[with_it] = np.maximum(best[with_it], before[free] + self._rows[place, good])
        return best

    def value(self, bundle: Bundle) -> float:
        return float(self._filled(bundle)[-1])

    def gains(self, held: Bundle) -> _Reals:
        best = self._filled(held)
        found = np.zeros(self.goods)
        full = len(best) - 1
        for place in range(len(self._rows)):  # a further good leaves its place to none of those that are held
            found = np.maximum(found, best[full ^ (1 << place)] + self._rows[place] - best[full])
        return found

    def surplus(self, prices: _Reals) -> float:
        # With copies enough each place takes its own best.
        return float(np.maximum(0.0, (self._rows - prices).max(axis=1)).sum())


@wire("Assignment", "places")
@dataclass(frozen=True, kw_only=True)
class Assignment(BundleClass):
    """v(S) = the heaviest matching of places and copies of S; copies counted. A record is (places, k) numbers >= 0.

    Each number is rounded down to a multiple of 2^-40. What everything is worth, the sum over places of their best
    goods, is 1 at most.

    Source: Shapley 1962; Lehmann, Lehmann and Nisan 2006 (OXS); spec allocation 5.

    Example:
        >>> bidder = Assignment(places=2).bidder([[0.5, 0.25, 0.0], [0.5, 0.0, 0.125]], goods=3)
        >>> bidder.value((0, 1)), bidder.value((0, 0)), bidder.value((1, 2))
        (0.75, 1.0, 0.375)
    """

    places: Annotated[int, Parameter("number of places", symbol="m", at_least=1, at_most=_MOST_PLACES)]

    @property
    def repeats(self) -> bool:
        return True

    def largest(self, goods: int) -> int:
        return self.places

    def bidder(self, record: Any, goods: int) -> Bidder:
        try:
            rows = np.zeros((self.places, goods)) if record is None else np.asarray(record, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput("record", "is not a table of numbers") from None
        if rows.shape != (self.places, goods):
            raise InvalidInput("record", f"its shape is {rows.shape}", f"must be ({self.places}, {goods})")
        if not bool(((rows >= 0.0) & (rows <= 1.0)).all()):
            raise InvalidInput("record", "holds a value that is not a number in [0, 1]", "each must be in [0, 1]")
        found = _PlaceBidder(rows)
        total = found.surplus(np.zeros(goods))
        if total > MOST:
            raise refuse_total(total)
        return found
