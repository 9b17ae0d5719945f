"""Who gets what by a rule that looks at everybody's values: never private, and marked so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from confide.allocation.valuations import Valuations

__all__ = ["Handout", "welfare_of"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Handout:
    """An allocation without any privacy: for studies with made-up bidders, and for an operator's own eyes.

    Args:
        method: that found it.
        allocation: (n,) the good of each bidder, -1 for none; (n, b) where bidders may have several, ascending and
            -1 behind them.
        welfare: the sum of what everybody's goods are worth to them, rounded once.
    """

    method: str
    allocation: NDArray[np.int32]
    welfare: float

    label: ClassVar[str] = "not private: for studies, and for an operator's own eyes"
    release_safe: ClassVar[bool] = False

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} of {len(self.allocation):,} bidders by {self.method}, "
                f"welfare {self.welfare:,.6g}, {self.label}>")

    def given(self, goods: int) -> NDArray[np.int64]:
        """(k,) how many copies of each good are handed out.

        Args:
            goods: k.
        """
        return np.bincount(self.allocation[self.allocation >= 0], minlength=goods).astype(np.int64)


def welfare_of(values: Valuations, allocation: NDArray[Any]) -> float:
    """The exact sum of what (n,) goods are worth to their holders, rounded once."""
    return math.fsum(values.of_goods(allocation).tolist())
