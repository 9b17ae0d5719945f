"""Final clearing: a fresh noisy histogram of who bid last on what, and how long ago, says who is admitted.

A reserve is needed only because the number of holders is known through counters that count every bid. In the end each
bidder lies in one cell at most: the good of her last bid, and its age, the bids that were counted since. Replacing a
bidder moves two cells by one, however often she bid. Whoever is admitted sees it from the public cut and her own cell.

Source: ours; spec allocation 4.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.allocation.billboards import Clearing
from confide.numerics.compiled import kernel
from confide.privacy.accounting import float_up, written
from confide.privacy.noise import Noise

__all__ = ["ClearingPlan", "slacks"]

_Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ClearingPlan:
    """The public half of the clearing.

    Args:
        supply: s_j.
        edges: (k, B) ages, ascending for each good; whoever's is above the last is in no cell.
        epsilon: what it may cost.
        distance: how many cells one neighbour step moves by one: 2 for a replaced bidder, 1 for an added one.
        gamma: probability that some good is given to more than s_j.
    """

    supply: tuple[int, ...]
    edges: tuple[tuple[int, ...], ...]
    epsilon: float
    distance: int
    gamma: float

    @property
    def scale(self) -> float:
        """Of the Laplace noise of each cell, rounded up."""
        return float_up(Fraction(self.distance) / written(self.epsilon))

    def clear(self, latest: NDArray[np.int32], ages: _Integers, noise: Noise, stream: str = "clearing") -> Clearing:
        """Noisy cells, and the cuts that follow from them.

        Args:
            latest: (n,) the good of each one's last bid, -1 for none. Private.
            ages: (n,) bids on it that were counted since. Private.
            noise: where it comes from.
            stream: name of the draw.
        """
        edges = np.array(self.edges, dtype=np.int64)
        true = _cells(latest, ages, edges)
        cells = noise.discrete_laplace(self.scale, true.shape, stream=stream, center=true)
        return Clearing(edges=edges, cells=cells, cuts=self.cuts(cells))

    def cuts(self, cells: _Integers) -> _Integers:
        """(k,) the largest age up to which surely few enough wait; -1 where there is none.

        Args:
            cells: (k, B) as released.
        """
        edges, most = np.array(self.edges, dtype=np.int64), np.array(self.supply, dtype=np.int64)
        goods, buckets = edges.shape
        fits = np.cumsum(cells, axis=1) + slacks(self.scale, buckets, goods, self.gamma) <= most[:, None]
        last = buckets - 1 - np.argmax(fits[:, ::-1], axis=1)
        return np.where(fits.any(axis=1), edges[np.arange(goods), last], -1)


@kernel
def _cells(latest: NDArray[np.int32], ages: _Integers, edges: _Integers) -> _Integers:
    """(k, B) how many bidders there are of each good and age."""
    found = np.zeros(edges.shape, dtype=np.int64)
    for i in range(len(latest)):
        j = latest[i]
        if j < 0:
            continue
        for b in range(edges.shape[1]):
            if ages[i] <= edges[j, b]:
                found[j, b] += 1
                break
    return found


def slacks(scale: float, cells: int, goods: int, gamma: float) -> _Integers:
    """(B,) by how much a sum of the noise of the first b cells falls short of 0, of any good and any b, at most.

    The Chernoff bound of spec allocation 4.1, min over 0 < theta < 1/b of (ln(k B/gamma) - b ln(1 - scale^2
    theta^2))/theta, rounded up.

    Args:
        scale: of the noise.
        cells: B.
        goods: k.
        gamma: failure probability of all together.
    """
    goal = math.log(goods * cells / gamma)
    found = []
    for terms in range(1, cells + 1):
        low, high = 0.0, 1.0 - 2.0**-53
        for _ in range(60):  # where 2 b u/(1 - u) + b ln(1 - u) = goal
            u = (low + high) / 2
            low, high = (u, high) if terms * (2.0 * u / (1.0 - u) + math.log1p(-u)) < goal else (low, u)
        u = low or high
        found.append(math.ceil(scale * (goal - terms * math.log1p(-u)) / math.sqrt(u) * (1 + 1e-12)))
    return np.array(found, dtype=np.int64)
