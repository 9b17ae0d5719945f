"""Weak duality for bundles: what prices say of the best welfare, and what that tells after a run.

OPT <= sum_j s_j p_j + sum_i max_S (v_i(S) - p(S)) for any p >= 0: in the optimum bidder i's bundle O_i is worth
v_i(O_i) = (v_i(O_i) - p(O_i)) + p(O_i), and no good is in more than s_j of them. Each bidder's surplus and value lie in
[0, 1], so either sum moves by one bidder's at most.

Source: spec allocation 4.2 and 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.allocation.bundles.bidders import Population
from confide.allocation.duality import CertificatePlan
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise

__all__ = ["BUNDLES_CERTIFIED", "BundleCertificatePlan", "bundle_dual_bound"]

_GRID = 20
_UNIT = 2.0**-_GRID
_SURPLUS, _WELFARE = (1 << _GRID) + 1, 1 << _GRID
BUNDLES_CERTIFIED = (_SURPLUS + _WELFARE, _SURPLUS**2 + _WELFARE**2)
"""How far one bidder moves both sums, in units of the grid: in l1, and in squared l2. What a record may be worth
beyond 1 is half a unit, so her surplus, rounded up, is one unit more at most."""

_ROUNDING = 2.0**-40  # more than that of a sum of doubles below 1


def bundle_dual_bound(population: Population, supply: ArrayLike, prices: ArrayLike) -> float:
    """An upper bound on the welfare of any allocation of bundles, at any prices. Private.

    Args:
        population: everybody's valuations; of programs, gross substitutes.
        supply: (k,) or one number.
        prices: (k,) >= 0.

    Example:
        >>> from confide.allocation.bundles import CappedAdditiveValuation
        >>> of = CappedAdditiveValuation(cap=2).population([[0.5, 0.5, 0.25], [0.5, 0.25, 0.0]], people=2, goods=3)
        >>> bundle_dual_bound(of, 1, [0.25, 0.0, 0.0])
        1.5
    """
    at = np.asarray(prices, dtype=np.float64)
    if at.shape != (population.goods,) or not bool((at >= 0.0).all()):
        raise InvalidInput("prices", "are not one number >= 0 for each good")
    copies = np.broadcast_to(np.asarray(supply, dtype=np.float64), at.shape)
    return math.fsum([math.fsum(copies * at), math.fsum(population.surpluses(at))])


@dataclass(frozen=True, kw_only=True)
class BundleCertificatePlan(CertificatePlan):
    """How surplus and welfare of bundles are measured: each bidder's on the grid, surplus up and welfare down, and
    within [0, 1] whatever a program says.
    """

    def told_of(
        self, population: Population, prices: NDArray[np.float64], held: NDArray[Any], noise: Noise
    ) -> tuple[float, float]:
        """Noisy surplus and welfare.

        Args:
            population: everybody's valuations. Private.
            prices: (k,) at the end.
            held: (n, b) goods, -1 for none. Private.
            noise: where it comes from.
        """
        gained, worth = population.surpluses(prices), population.worth(held)
        up = np.ceil((gained + np.where(gained > 0.0, _ROUNDING, 0.0)) / _UNIT)
        down = np.floor((worth - _ROUNDING) / _UNIT)
        surplus = int(np.clip(np.nan_to_num(up, nan=_SURPLUS), 0, _SURPLUS).astype(np.int64).sum())
        welfare = int(np.clip(np.nan_to_num(down, nan=0.0), 0, _WELFARE).astype(np.int64).sum())
        drawn = self.measure.draw(np.array([surplus, welfare]), noise, "certificate")
        return float(drawn[0]) * _UNIT, float(drawn[1]) * _UNIT
