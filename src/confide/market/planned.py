"""What the plans of all markets show: the mechanism to run, its figures, and what the other criteria would cost."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from confide.charts import curves
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Guarantees
from confide.contract.plan import Alternative, Plan
from confide.contract.presentation import Picture, Table
from confide.contract.renamed import warn_of_old
from confide.contract.wire import wire_name
from confide.market.collection import BitCollection

__all__ = ["ERROR", "LEVEL", "MONEY", "TOTAL", "PlannedMarket", "Sentences", "around", "by_criterion", "picture"]

TOTAL, ERROR, LEVEL = "expected total", "probability of a wrong guess", "level of one report"
MONEY = "in the unit of the costs"

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

    def guarantees(self) -> Guarantees: ...


class PlannedMarket(Plan[BitCollection | None]):
    """The plan of a market. A subclass has the fields `market` and `total`."""

    @property
    @abstractmethod
    def _market(self) -> Promising | None:
        """The market whose payments are planned; None where nothing is bought."""

    @property
    def mechanism(self) -> BitCollection | None:
        """What counts and pays the reports, in hundredths of the unit of the costs; None where nothing is bought, and
        where the payments cannot be published. `BitCollection(market=plan.market, ...)` takes another currency.
        """
        return self._collection()[0]

    def _collection(self) -> tuple[BitCollection | None, str]:
        """The mechanism, or why this market has none."""
        if self._market is None:
            return None, ""
        try:
            return BitCollection(market=self._market), ""
        except InvalidInput as error:
            return None, str(error)

    @property
    def guarantees(self) -> Guarantees:
        """Every promise of the mechanism, or of the market where there is no mechanism."""
        it = self.mechanism or self._market
        return Guarantees(()) if it is None else it.guarantees()

    @property
    def warnings(self) -> Sentences:
        """What its reader should know, one sentence each."""
        why = self._collection()[1]
        return Sentences([*self._warned(), *([f"no campaign can run this market: {why}"] if why else [])])

    def _warned(self) -> Sequence[str]:
        """The plan's own warnings."""
        return ()

    def table(self) -> Table:
        """The plan and its alternatives, with a row each and a column for each figure."""
        shown, it = super().table(), self._market
        if it is None:
            return shown
        first = (wire_name(it), *shown.rows[0][1:])
        return Table(columns=shown.columns, rows=(first, *shown.rows[1:]), note=shown.note)


def by_criterion(compared: Mapping[str, Any], own: str) -> tuple[Alternative, ...]:
    """The plans by the other criteria, the cheapest first, then those that there are not.

    Args:
        compared: criterion -> its plan, or why there is none.
        own: the criterion of the plan.
    """
    others = [(name, each) for name, each in compared.items() if name != own]
    found = sorted((each.total, name) for name, each in others if not isinstance(each, str))
    return (*(Alternative(name=f"criterion {name}", predicted=compared[name].predicted) for _, name in found),
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

