"""`CappedAdditive`: each participant wants up to `cap` different goods, and the value of a set is the sum of the goods'
values.

Source: Wu 2017, section 5.4.1; spec convex_programs 4 (d-demand, additive with cap d).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.programs.grids import LOAD_BITS, LOAD_UNIT, PRICE_UNIT
from confide.programs.linear import LinearProgram, choices
from confide.programs.program import MOST_ROWS, ProgramRecords
from confide.programs.sets_of_goods import SetsOfGoods, WorthRecords, one_worth, read_worth
from confide.programs.tables import refused_or_null

__all__ = ["CappedAdditive"]

_ROUNDED = 0.5 / PRICE_UNIT


@wire("CappedAdditive", "people supply tau goods cap most")
@dataclass(frozen=True)
class CappedAdditive(SetsOfGoods):
    """A program of n people who each want up to `cap` of k goods, in several copies each. A record is k values in [0,
    1], of which the best `cap` count.

    The value of a set of up to `cap` goods is the sum of the goods' values, each in [0, 1], so the value of a set can
    be as large as `cap`. A participant who loses a good loses at most the value of that good, which is at most 1. So 1
    is a dual bound of every good. If a smaller bound on the value of a set is public, `most` can state this bound. The
    promises about lies and about the gap refer to the largest value of a set.

    Raises:
        InvalidInput: a number out of range.

    Example:
        >>> program = CappedAdditive(3, (1, 2, 2), cap=2)
        >>> records = program.read([[1.0, 0.5, 0.75], [0.25, 0.0, 0.0], [0.0, 0.0, 0.0]])
        >>> program.respond(records, np.zeros(3, dtype=np.int64)).tolist()
        [[0, 2], [0, -1], [-1, -1]]
    """

    cap: Annotated[int, Parameter("largest number of goods of one participant",
                                  symbol="d", at_least=1, at_most=MOST_ROWS)
                   ] = field(kw_only=True)
    most: Annotated[float | None, Parameter(
        "largest sum of any `cap` values of a record, up to half a unit of 2^-24 for each value; `cap` by default",
        above=0)] = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._size("cap", self.cap)

    def _fits(self) -> None:
        if self.most is not None:
            object.__setattr__(self, "most", float(self.most))

    @property
    def width(self) -> int:
        return self.cap

    @property
    def most_worth(self) -> float:
        if self.most is None or self.most >= self.cap:
            return float(self.cap)
        return min(float(self.cap), self.most + self.cap * _ROUNDED)

    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records of all participants.

        Args:
            data: (n, k) values in [0, 1].
            unusable: treatment of a bad row, "refuse" or "null".
        """
        records = read_worth(data, self.people, self.rows, unusable)
        rich = self._too_rich(records)
        refused_or_null("records", rich, f"no {self.cap} values may add up to more than {self.most_worth:g}", unusable)
        records.worth[rich] = 0
        return records

    def one(self, record: Any) -> WorthRecords:
        """One participant's record, checked without any other record.

        Args:
            record: (k,) values in [0, 1].
        """
        records = one_worth(record, self.rows)
        if bool(self._too_rich(records).any()):
            raise InvalidInput("record", "the sum of its best values is too large",
                               f"no {self.cap} values may add up to more than {self.most_worth:g}")
        return records

    def _too_rich(self, records: WorthRecords) -> NDArray[np.bool_]:
        """Whether the best set of each participant has a value above `most`, on the grid, shape (m,)."""
        if self.most_worth >= self.cap:
            return np.zeros(records.people, dtype=bool)
        best = self.respond(records, np.zeros(self.rows, dtype=np.int64))
        return self.values(records, best) > self.most_worth * PRICE_UNIT

    def respond(self, records: WorthRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        return self._best(records, prices)[0]

    def load_at(self, records: WorthRecords, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._best(records, prices)[1] << LOAD_BITS

    def _best(
        self, records: WorthRecords, prices: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        chosen = np.empty((records.people, self.cap), dtype=np.int32)
        taken = np.zeros(self.rows, dtype=np.int64)
        _dearest(records.worth, prices.astype(np.int32), chosen, taken)
        return chosen, taken

    def values(self, records: WorthRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        found = np.take_along_axis(records.worth, np.maximum(actions, 0), axis=1)
        total: NDArray[np.int64] = np.where(actions >= 0, found, 0).sum(axis=1, dtype=np.int64)
        return total

    def linear_program(self, records: WorthRecords) -> LinearProgram:
        people, goods = np.nonzero(records.worth)
        return choices(self, values=records.worth[people, goods], people=people, rows=goods, most=float(self.cap),
                       loads=np.full(len(goods), LOAD_UNIT), entries=np.arange(len(goods)))


@kernel
def _dearest(worth: Any, prices: Any, chosen: Any, taken: Any) -> None:
    """Goods with the largest gain, value less price, for each participant. Among equal gains the first goods count.

    The code bisects on a threshold until `cap` gains reach it, which takes about log k passes without branches. All
    goods with gains at or above the threshold are chosen. Where several gains equal the threshold, the first of them
    count.

    Args:
        worth: (n, k) int32 values.
        prices: (k,) int32 prices.
        chosen: (n, cap) int32 output: goods ascending, then -1.
        taken: (k,) int64 number of choices of each good, to which the new choices are added.
    """
    k, cap = len(prices), chosen.shape[1]
    gains, listed = np.empty(k, dtype=np.int32), np.empty(k + 1, dtype=np.int32)
    for i in range(len(worth)):
        good, top = np.int32(0), np.int32(0)
        for j in range(k):
            gains[j] = worth[i, j] - prices[j]
            good = np.int32(good + (gains[j] > 0))
            top = max(top, gains[j])
        # `over` gains reach the bar, `above` reach `high`
        bar, over, above, high = np.int32(1), good, np.int32(0), np.int32(top + 1)
        while over > cap and high - bar > 1:
            middle = np.int32(bar + ((high - bar) >> 1))
            count = np.int32(0)
            for j in range(k):
                count = np.int32(count + (gains[j] >= middle))
            if count >= cap:
                bar, over = middle, count
            else:
                high, above = middle, count
        found = 0
        if over <= cap:
            for j in range(k):
                listed[found] = j
                found += gains[j] >= bar
        else:
            equals = cap - above
            for j in range(k):
                if gains[j] > bar or (gains[j] == bar and equals > 0):
                    equals -= gains[j] == bar
                    listed[found] = j
                    found += 1
        for at in range(found):
            chosen[i, at] = listed[at]
            taken[listed[at]] += 1
        for at in range(found, cap):
            chosen[i, at] = -1
