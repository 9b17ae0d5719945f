"""What a market offers one person, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.market.matching import MatchingPayment

__all__ = ["Quote", "quote_of"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Quote:
    """An offer that makes the epsilon-strategy each person's one best reply to everybody else's.

    Money is in the unit of the cost.

    Args:
        epsilon: the level that is bought, local differential privacy of her one report about her one bit.
        expected_payment: E[R] of one person.
        lower_bound: V_LB, which no nonnegative mechanism can undercut.
        margin: by how much the epsilon-strategy beats every report that ignores the bit.
        unit: c(epsilon); `payments` are table A times it.
        payments: (2, 2) money for report x (row) when the peer statistic is m (column): c A[x, m].
        participation: what taking part is worth to her: expected payment less the cost of the level.
        gap: E[R] - V_LB, computed without cancellation where the mechanism has a form for it.
    """

    epsilon: float
    expected_payment: float
    lower_bound: float
    margin: float
    unit: float
    payments: NDArray[np.float64]
    participation: float
    gap: float

    @property
    def table(self) -> NDArray[np.float64]:
        """(2, 2) A[x, m], the payments in units of c(epsilon)."""
        found: NDArray[np.float64] = self.payments / self.unit
        return found

    @property
    def largest_payment(self) -> float:
        """The largest single payment."""
        return float(self.payments.max())

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"epsilon": self.epsilon, "expected_payment": self.expected_payment, "lower_bound": self.lower_bound,
                "margin": self.margin, "unit": self.unit, "payments": self.payments.tolist(),
                "participation": self.participation, "gap": self.gap}


def quote_of(payment: MatchingPayment, floor: float, *, gap: float = 0.0, expected: float | None = None) -> Quote:
    """The quote of a matching payment.

    Args:
        payment: whose.
        floor: V_LB.
        gap: E[R] - V_LB, stable.
        expected: E[R], where it is not floor + gap.
    """
    return Quote(epsilon=payment.epsilon, expected_payment=floor + gap if expected is None else expected,
                 lower_bound=floor, margin=payment.margin, unit=payment.unit, payments=payment.table,
                 participation=payment.utility, gap=gap)
