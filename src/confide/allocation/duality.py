"""Weak duality: any prices bound the best welfare from above, and what that tells after a run.

OPT <= sum_j s_j p_j + sum_i max(0, max_j v_ij - p_j) for any p >= 0: whoever holds good j in the optimum has v_ij <=
p_j + (v_ij - p_j).

Source: spec allocation 4.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.allocation.billboards import WelfareCertificate
from confide.allocation.measuring import Measure
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput
from confide.numerics.compiled import kernel
from confide.privacy.noise import Noise

__all__ = ["CERTIFIED", "CertificatePlan", "dual_bound", "surpluses"]

_GRID = 20
_UNIT = 2.0**-_GRID
CERTIFIED = (2 << _GRID, 2 << 2 * _GRID)
"""How far a neighbour step moves both sums, in units of the grid: in l1, and in squared l2."""


@kernel
def _surpluses(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, prices: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    goods = len(prices)
    for i in range(len(out)):
        best = 0.0
        if dense:
            for j in range(goods):
                best = max(best, np.float64(values[i * goods + j]) - prices[j])
        else:
            for place in range(starts[i], starts[i + 1]):
                best = max(best, np.float64(values[place]) - prices[named[place]])
        out[i] = best


def surpluses(values: Valuations, prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) what each bidder would gain at some prices; private."""
    out = np.empty(values.people)
    _surpluses(*values.rows, np.ascontiguousarray(prices, dtype=np.float64), out)
    return out


def dual_bound(values: Any, supply: ArrayLike, prices: ArrayLike) -> float:
    """An upper bound on the welfare of any allocation, at any prices. Private.

    Args:
        values: (n, k) valuations, dense or sparse, or `Valuations`.
        supply: (k,) or one number.
        prices: (k,) >= 0.

    Example:
        >>> round(dual_bound([[1.0, 0.5], [0.9, 0.5]], 1, [0.4, 0.0]), 6)
        1.5
    """
    of = Valuations.whole(values)
    at = np.asarray(prices, dtype=np.float64)
    if at.shape != (of.goods,) or not bool((at >= 0.0).all()):
        raise InvalidInput("prices", "are not one number >= 0 for each good")
    copies = np.broadcast_to(np.asarray(supply, dtype=np.float64), at.shape)
    return math.fsum([math.fsum(copies * at), math.fsum(surpluses(of, at))])


@dataclass(frozen=True, kw_only=True)
class CertificatePlan:
    """How surplus and welfare are measured: together, each moved by one at most.

    Each bidder's two terms are rounded to the grid, surplus up and welfare down, so that the bound stays one.

    Args:
        supply: s_j.
        measure: the noise of both, in units of the grid.
        failure_probability: of what is claimed.
    """

    supply: tuple[int, ...]
    measure: Measure
    failure_probability: float

    def told(
        self, values: Valuations, prices: NDArray[np.float64], held: NDArray[Any], noise: Noise
    ) -> tuple[float, float]:
        """Noisy surplus and welfare."""
        surplus = int(np.ceil(surpluses(values, prices) / _UNIT).astype(np.int64).sum())
        welfare = int(np.floor(values.of_goods(held) / _UNIT).astype(np.int64).sum())
        drawn = self.measure.draw(np.array([surplus, welfare]), noise, "certificate")
        return float(drawn[0]) * _UNIT, float(drawn[1]) * _UNIT

    def certificate(self, prices: NDArray[np.float64], surplus: float, welfare: float) -> WelfareCertificate:
        """What follows from these, with probability 1 - failure_probability."""
        off = self.measure.reach(self.failure_probability / 2) * _UNIT  # one tail of each
        most = math.fsum(np.array(self.supply) * prices) + surplus + off
        least = max(0.0, welfare - off)
        ratio = least / most if most > 0 else 0.0
        return WelfareCertificate(ratio=ratio, welfare=least, optimum=most,
                                  failure_probability=self.failure_probability)
