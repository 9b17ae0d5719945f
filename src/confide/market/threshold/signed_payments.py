"""What a report is paid when it meets the majority of the others: more than nothing if equal, less if not.

The printed coefficients A and B, put together without cancellation. With Q paid for the bit as it is, T lost by its
opposite, U = T - Q + (1-theta) T/(2 theta - 1) and V = Q + (1-theta) T/(2 theta - 1), all positive, and
Z = P(company) P1 P0 kappa:

    report 1, M = 1:  (P1 b1 U + P0 (1-b0) V)/(2 Z)      report 0, M = 1: -(P1 b1 V + P0 (1-b0) U)/(2 Z)
    report 0, M = 0:  (P0 b0 U + P1 (1-b1) V)/(2 Z)      report 1, M = 0: -(P0 b0 V + P1 (1-b1) U)/(2 Z)

so that a match earns and a mismatch owes, for every number of participants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.market.binomials import MajorityErrors
from confide.market.signal_model import SignalModel

__all__ = ["Terms", "signed_tables"]


@dataclass(frozen=True)
class Terms:
    """What reports are worth in expectation, whatever the bit: Q if they equal it, Q - T if not.

    Args:
        threshold: c_th.
        epsilon: the least level that is bought.
    """

    threshold: float
    epsilon: float

    @property
    def truth(self) -> float:
        """Q = c_th (1 + e^-epsilon + epsilon)."""
        return self.threshold * (1.0 + math.exp(-self.epsilon) + self.epsilon)

    @property
    def stake(self) -> float:
        """T = 2 c_th (1 + cosh epsilon)."""
        return self.threshold * 2.0 * (1.0 + math.cosh(self.epsilon))

    @property
    def loss(self) -> float:
        """T - Q = c_th (1 + e^epsilon - epsilon) > 0, what the opposite of the bit costs."""
        return self.threshold * (1.0 + math.exp(self.epsilon) - self.epsilon)

    def payment(self, flip: Any) -> Any:
        """Q - T P(report differs from the bit)."""
        return self.truth - self.stake * flip


def signed_tables(terms: Terms, signal_model: SignalModel, errors: MajorityErrors,
                  company: float) -> NDArray[np.float64]:
    """(..., 2, 2) money for report x (row) when the majority of the others is m (column).

    Args:
        terms: Q and T.
        signal_model: the law of the state and of one bit.
        errors: of the majority of the others; numbers or arrays over their number.
        company: P(at least one of the others takes part).

    Raises:
        InvalidInput: payments that leave the doubles.

    Source: Wang 2016, section 4.3; the positive form is ours.
    """
    p1, p0 = signal_model.prior_one, signal_model.prior_zero
    lift = (1.0 - signal_model.signal_accuracy) / signal_model.edge * terms.stake
    u, v = terms.loss + lift, terms.truth + lift
    half = 2.0 * company * p1 * p0 * np.asarray(errors.kappa, dtype=np.float64)
    low, high = np.asarray(errors.low, dtype=np.float64), np.asarray(errors.high, dtype=np.float64)
    low_one, low_zero = p1 * low, p0 * (1.0 - high)  # P(W = w, M = 0)
    high_one, high_zero = p1 * (1.0 - low), p0 * high  # P(W = w, M = 1)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = [[(high_zero * u + high_one * v) / half, -(low_one * v + low_zero * u) / half],
                [-(high_zero * v + high_one * u) / half, (low_one * u + low_zero * v) / half]]
    table: NDArray[np.float64] = np.moveaxis(np.array(rows), (0, 1), (-2, -1))
    if not np.all(np.isfinite(table)):
        raise InvalidInput("epsilon", f"{terms.epsilon:g} needs payments beyond the doubles", "must be lower")
    return table
