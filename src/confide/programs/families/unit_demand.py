"""`UnitDemand`: everybody wants one of k goods, of which there are some copies each.

Source: Wu 2017, section 5.4.1 with d = 1; spec convex_programs 4 (d-demand).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.unusable import Unusable
from confide.contract.wire import wire
from confide.programs.families.favourites import favourite_counts, favourites, favourites_along
from confide.programs.grids import LOAD_BITS, LOAD_UNIT
from confide.programs.linear import LinearProgram, choices
from confide.programs.program import ProgramRecords
from confide.programs.sets_of_goods import SetsOfGoods
from confide.programs.worth import WorthRecords, one_worth, read_worth

__all__ = ["UnitDemand"]

_FEW = 48  # goods up to which good by good is faster than person by person


@wire("UnitDemand", "people supply tau goods")
@dataclass(frozen=True)
class UnitDemand(SetsOfGoods):
    """n people, k goods in several copies each; a record is k values in [0, 1].

    Raises:
        InvalidInput: a number out of range.

    Example:
        >>> program = UnitDemand(3, (1, 2))
        >>> records = program.read([[1.0, 0.5], [0.25, 0.5], [0.0, 0.0]])
        >>> program.respond(records, np.zeros(2, dtype=np.int64)).ravel().tolist()
        [0, 1, -1]
    """

    @property
    def width(self) -> int:
        return 1

    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records.

        Args:
            data: (n, k) values in [0, 1].
            unusable: what becomes of a bad row.
        """
        return read_worth(data, self.people, self.rows, unusable)

    def one(self, record: Any) -> WorthRecords:
        """A record checked alone.

        Args:
            record: (k,) values in [0, 1].
        """
        return one_worth(record, self.rows)

    def respond(self, records: WorthRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        chosen = np.empty((records.people, 1), dtype=np.int32)
        favourites(records.worth, prices.astype(np.int32), chosen)
        return chosen

    def respond_along(self, records: WorthRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        chosen = np.empty((records.people, len(prices), 1), dtype=np.int32)
        favourites_along(records.worth, np.ascontiguousarray(prices.T, dtype=np.int32), chosen)
        return chosen

    def load_at(self, records: Any, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.rows > _FEW:
            return super().load_at(records, prices)
        counts = np.zeros(1 + self.rows, dtype=np.int64)
        favourite_counts(records.columns, prices.astype(np.int32), counts)
        return counts[1:] << LOAD_BITS

    def values(self, records: WorthRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        found = np.take_along_axis(records.worth, np.maximum(actions, 0), axis=1)[:, 0].astype(np.int64)
        return np.where(actions[:, 0] >= 0, found, 0)

    def linear_program(self, records: WorthRecords) -> LinearProgram:
        people, goods = np.nonzero(records.worth)
        return choices(self, values=records.worth[people, goods], people=people, rows=goods,
                       loads=np.full(len(goods), LOAD_UNIT), entries=np.arange(len(goods)))
