"""What the plans of all markets show: the mechanism to run, its figures, and what the other criteria would cost."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from confide.charts import curves
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Guarantees
from confide.contract.plan import Alternative, Plan
from confide.contract.presentation import Picture
from confide.contract.renamed import warn_of_old
from confide.contract.wire import wire_name
from confide.market.collection import LARGEST, BitCollection
from confide.market.costs import CustomCost

__all__ = ["ERROR", "LEVEL", "MONEY", "TOTAL", "PlannedMarket", "Sentences", "around", "by_criterion", "picture"]

TOTAL, ERROR, LEVEL = "expected total", "probability of a wrong guess", "level of one report"
MONEY = "in the unit of the costs"

_HUNDREDTHS = 100
_POINTS = 24
_WIDEST = 4.0  # times the plan's number on the horizontal axis of a picture, and its part


class Sentences(tuple[str, ...]):
    """A plan's warnings. Until 1.0.0 they can be called, too, because they were a method."""

    __slots__ = ()

    def __call__(self) -> Sentences:
        warn_of_old("the plan of a market", "warnings()", "warnings")
        return self


class Promising(Protocol):
    """What a plan needs of its market."""

    def payment_range(self) -> tuple[float, float]: ...

    def guarantees(self) -> Guarantees: ...


class PlannedMarket(Plan[BitCollection]):
    """The plan of a market. A subclass has the fields `market` and `total`."""

    @property
    @abstractmethod
    def _market(self) -> Promising:
        """The market whose payments are planned."""

    @property
    def mechanism(self) -> BitCollection:
        """What counts and pays the reports, in hundredths of the unit of the costs; of nobody where nothing is bought.

        Where hundredths would be too many, it pays whole units. `BitCollection(market=plan.market, ...)` takes another
        currency.

        Raises:
            InvalidInput: single payments of more than 2^62 units.
        """
        most = max(map(abs, self._market.payment_range()))
        return BitCollection(market=self._market, minor_units=_HUNDREDTHS if most * _HUNDREDTHS <= LARGEST else 1)

    @property
    def guarantees(self) -> Guarantees:
        """Every promise of the mechanism, or of the market where payments are beyond any coin."""
        try:
            return self.mechanism.guarantees()
        except InvalidInput:
            return self._market.guarantees()

    @property
    def _name(self) -> str:
        return wire_name(self._market)

    @property
    def warnings(self) -> Sentences:
        """What its reader should know, one sentence each."""
        return Sentences([*self._warned(), *self._doubts()])

    def _warned(self) -> Sequence[str]:
        """The plan's own warnings."""
        return ()

    def _doubts(self) -> Iterator[str]:
        """Why its outcome cannot be paid or published, where that is so."""
        try:
            cost = getattr(self.mechanism.market, "cost", None)
        except InvalidInput as error:
            yield f"this market cannot be run: {error}"
        else:
            if isinstance(cost, CustomCost):
                yield ("no campaign can run this market, and its outcome cannot be saved: the cost is a function of "
                       "one's own, which no file holds")


def by_criterion(compared: Mapping[str, Any], own: str) -> tuple[Alternative, ...]:
    """The plans by the other criteria, the cheapest first, then those that there are not.

    Args:
        compared: criterion -> its plan, or why there is none.
        own: the criterion of the plan.
    """
    others = [(name, each) for name, each in compared.items() if name != own]
    found = sorted((each.total, name) for name, each in others if not isinstance(each, str))
    return (*(Alternative(name=f"criterion {name}", predicted=compared[name].predicted,
                          mechanism=compared[name].mechanism) for _, name in found),
            *(Alternative(name=f"criterion {name}", refused=each) for name, each in others if isinstance(each, str)))


def around(value: float, most: float) -> list[float]:
    """Numbers from a part of a value to a multiple of it, the value among them, for a picture."""
    grid = np.geomspace(value / _WIDEST, min(value * _WIDEST, most), _POINTS)
    return sorted({*map(float, grid), value})


def picture(rows: Sequence[tuple[float, float]], mark: tuple[float, float], *, title: str, x: str, y: str,
            alt: str) -> Picture:
    """One curve with the plan marked."""
    (found,) = curves([(*each, y) for each in rows], title=title, x=x, y=y, alt=alt, marks=[(*mark, "this plan")])
    return found

