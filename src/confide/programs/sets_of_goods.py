"""Programs where everybody takes a set of goods: what such families share, whatever people want of sets.

The goods of a set fill an action in ascending order. One copy of each is taken, so a set of d goods contributes 1 to
each of d rows.

Source: Wu 2017, section 5.4.1; spec convex_programs 4 (d-demand).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.parameters import Parameter
from confide.programs.constants import Constants
from confide.programs.grids import LOAD_BITS, LOAD_UNIT
from confide.programs.program import MOST_ROWS, Program

__all__ = ["SetsOfGoods"]

_MOST_TAU = 32.0  # prices and values stay inside 32 bits
_STEADY = 16.0  # what a good's load is expected to be, when everybody takes as much as she may, so many times over


@dataclass(frozen=True)
class SetsOfGoods(Program):
    """Base: n people, k goods in several copies each, and sets of at most `width` goods.

    Raises:
        InvalidInput: a number out of range.
    """

    supply: Annotated[float | tuple[float, ...], Parameter(
        "copies of each good: k numbers, or one for all", symbol="b", at_least=0)]
    tau: Annotated[float | tuple[float, ...] | None, Parameter(
        "dual bound of each good, or one for all; 1 by default, which holds always, where no good adds more than 1 to "
        "the value of a set", above=0, at_most=_MOST_TAU)] = field(default=None, kw_only=True)
    goods: Annotated[int | None, Parameter(
        "their number, where `supply` is one number", symbol="k", at_least=1, at_most=MOST_ROWS)] = field(
            default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.goods is None:
            if np.ndim(self.supply) != 1:
                raise InvalidInput("goods", "are not numbered", "one number of copies for all goods needs `goods`")
            object.__setattr__(self, "goods", len(self.supply))  # type: ignore[arg-type]
        super().__post_init__()

    @property
    def rows(self) -> int:
        return int(self.goods)  # type: ignore[arg-type]

    @property
    def most_worth(self) -> float:
        """V, no set is worth more to anybody."""
        return 1.0

    @cached_property
    def constants(self) -> Constants:
        tau = (1.0,) * self.rows if self.tau is None else self.tau
        # With many goods each of them is wanted by few, and steps by n are too small for its price to arrive in time.
        usual = min(float(self.people), _STEADY * self.people * self.width / self.rows)
        return Constants(rows=self.rows, largest_entry=1.0, largest_sum=float(self.width), least_entry=1.0,
                         least_sum=1.0, most_value=self.most_worth, tau=tau,  # type: ignore[arg-type]
                         width=float(max(self.people, *self.supplies)), step_scale=(usual,) * self.rows)

    def _size(self, name: str, value: int) -> int:
        """A number of goods in a set."""
        if value > int(self.goods):  # type: ignore[arg-type]
            raise InvalidInput(name, f"{value} is too large", f"there are {self.goods} goods")
        return int(value)

    def load(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.bincount(actions.reshape(-1) + 1, minlength=self.rows + 1)[1:].astype(np.int64) << LOAD_BITS

    def weighted_load(
        self, records: Any, actions: NDArray[np.int32], times: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        often = np.repeat(times.astype(np.float64), self.width)  # sums of whole numbers, exact below 2^53
        return np.bincount(actions.reshape(-1) + 1, often, self.rows + 1)[1:].astype(np.int64) << LOAD_BITS

    def contributions(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        out = np.zeros((len(actions), self.rows), dtype=np.int64)
        person, place = np.nonzero(actions >= 0)
        out[person, actions[person, place]] = LOAD_UNIT
        return out

    def paid(self, records: Any, actions: NDArray[np.int32], prices: NDArray[np.int64]) -> NDArray[np.int64]:
        total: NDArray[np.int64] = np.append(prices, 0)[actions].sum(axis=1)  # -1 is the last, which costs nothing
        return total
