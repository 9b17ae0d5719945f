"""Prices at which supply meets a smoothed demand: a start where many goods would make for long searches.

    min over p >= 0 of  sum_j s_j p_j + tau sum_i ln(1 + sum_j exp((v_ij - p_j)/tau)),

the dual of the assignment with everybody's best surplus replaced by a soft one, at falling temperatures tau.

Source: spec allocation 12.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.valuations import Valuations
from confide.numerics.compiled import kernel

__all__ = ["smoothed_prices"]

_Reals = NDArray[np.float64]

_FAR = 30.0
"""Temperatures below the best good at which a good's share, below 10^-13, is left out."""
_STEPS = 100
_SLACK = 1e-4
"""Copies out of balance at which a temperature's search ends, as a share of the people, over all goods."""
_GRID = 2.0**30
"""Prices are rounded to 1/2^30: with float32 values, all sums of differences stay exact."""


@kernel
def _soft_demand(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, prices: _Reals, tau: float,
    demand: _Reals, share: _Reals, people: int,
) -> float:
    """Expected holders of each good into `demand` (k,); returns the sum of soft surpluses. `share` holds a row."""
    goods, total = len(prices), 0.0
    demand[:] = 0.0
    for i in range(people):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        best = 0.0
        for x in range(first, last):
            share[x - first] = np.float64(values[x]) - prices[x - first if dense else named[x]]
            best = max(best, share[x - first])
        weight = math.exp(-best / tau)
        for x in range(first, last):
            behind = (share[x - first] - best) / tau
            share[x - first] = math.exp(behind) if behind > -_FAR else 0.0
            weight += share[x - first]
        total += best + tau * math.log(weight)
        for x in range(first, last):
            if share[x - first] > 0.0:
                demand[x - first if dense else named[x]] += share[x - first] / weight
    return total


def smoothed_prices(
    values: Valuations, supply: NDArray[np.int64], prices: _Reals, temperatures: tuple[float, ...]
) -> _Reals:
    """(k,) minima of the smoothed dual, each from the one before; private.

    Args:
        values: everybody's.
        supply: (k,) copies.
        prices: (k,) to start from.
        temperatures: falling, > 0.
    """
    from scipy.optimize import minimize

    copies, demand = supply.astype(np.float64), np.empty(values.goods)
    longest = values.goods if values.starts is None else int(np.diff(values.starts).max())
    share = np.empty(longest)
    found = np.asarray(prices, dtype=np.float64)
    for tau in temperatures:

        def dual(at: _Reals, tau: float = tau) -> tuple[float, _Reals]:
            soft = _soft_demand(*values.rows, at, tau, demand,
                                share, values.people)
            return (float(copies @ at) + soft) / values.people, (copies - demand) / values.people

        found = minimize(dual, found, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * values.goods,
                         options={"maxiter": _STEPS, "maxcor": 20, "ftol": 0.0, "gtol": _SLACK / len(found)}).x
    return np.rint(found * _GRID) / _GRID
