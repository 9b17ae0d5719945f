"""Final clearing: a fresh noisy histogram of who bid last on what, and how long ago, says who is admitted.

A reserve is needed only because the number of holders is known through counters that count every bid. In the end each
bidder lies in one cell at most: the good of her last bid, and its age, the bids that were counted since. Replacing a
bidder moves two cells by one, however often she bid. Whoever is admitted sees it from the public cut and her own cell.

Source: ours; spec allocation 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from confide.allocation.billboards import Clearing
from confide.allocation.measuring import Measure
from confide.numerics.compiled import kernel
from confide.privacy.noise import Noise

__all__ = ["ClearingPlan"]

_Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ClearingPlan:
    """The public half of the clearing.

    Args:
        supply: s_j.
        edges: (k, B) ages, ascending for each good; whoever's is above the last is in no cell.
        measure: the noise of the cells, of which one neighbour step moves two by one each: one of a bidder who is
            replaced by zeros.
        failure_probability: that some good is given to more than s_j.
    """

    supply: tuple[int, ...]
    edges: tuple[tuple[int, ...], ...]
    measure: Measure
    failure_probability: float

    @cached_property
    def slacks(self) -> _Integers:
        """(B,) by how much a sum of the first b cells of any good may fall short of the truth, together."""
        goods, buckets = len(self.edges), len(self.edges[0])
        return np.array([self.measure.reach(self.failure_probability / (goods * buckets),
                                            b) for b in range(1, buckets + 1)],
                        dtype=np.int64)

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
        cells = self.measure.draw(true, noise, stream)
        return Clearing(edges=edges, cells=cells, cuts=self.cuts(cells))

    def cuts(self, cells: _Integers) -> _Integers:
        """(k,) the largest age up to which surely few enough wait; -1 where there is none.

        Args:
            cells: (k, B) as released.
        """
        edges, most = np.array(self.edges, dtype=np.int64), np.array(self.supply, dtype=np.int64)
        goods, buckets = edges.shape
        fits = np.cumsum(cells, axis=1) + self.slacks <= most[:, None]
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

