"""What people do who know their own group: the condition under which a pair market works, checked on a table.

Bits go together because people belong to groups. A person who knows hers sees her peers' bits as independent of her own
(without replacement: a little opposed), is paid nothing for her bit, and best reports what is paid more in her group.
The result is made of the table's bits: it is for the operator, never a release.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from confide.contract.errors import InvalidInput
from confide.market.pairs.market import PairMarket
from confide.market.pairs.prior import as_groups
from confide.market.replies import BestReply, best_response, utility

__all__ = ["Insider", "audit_groups", "group_counts"]


@dataclass(frozen=True, kw_only=True)
class Insider:
    """The situation of a person who knows that she and her peer are of one group.

    Args:
        group: her group.
        size: how many people it has.
        ones: how many of them have the bit 1.
        best: her best replies while everybody else plays the market's strategy.
        honest: what that strategy earns her.
    """

    group: object
    size: int
    ones: int
    best: BestReply
    honest: float

    @property
    def gain(self) -> float:
        """What the best reply earns more than the market's strategy."""
        return self.best.utility - self.honest

    @property
    def truthful(self) -> bool:
        """Whether the best reply still depends on her bit."""
        return any(reply.informative for reply in self.best.replies)


def group_counts(groups: ArrayLike, bits: ArrayLike) -> tuple[list[object], list[int], list[int]]:
    """Groups in sorted order, how many people each has, and how many ones.

    Args:
        groups: (n,) one label for each person.
        bits: (n,) 0 or 1.

    Example:
        >>> group_counts(["b", "a", "a", "b", "a"], [1, 0, 1, 1, 0])
        (['a', 'b'], [3, 2], [1, 2])
    """
    labels, values = np.asarray(groups), np.asarray(bits)
    if labels.ndim != 1 or values.shape != labels.shape:
        raise InvalidInput("bits", f"have shape {values.shape}", f"must be {labels.shape}, one for each label")
    if not np.all((values == 0) | (values == 1)):
        raise InvalidInput("bits", "contain something else", "each must be 0 or 1")
    names, which = np.unique(labels, return_inverse=True)
    sizes, ones = np.bincount(which), np.bincount(which, weights=values.astype(np.float64))
    return names.tolist(), sizes.tolist(), ones.astype(np.int64).tolist()


def audit_groups(market: PairMarket, sizes: ArrayLike, ones: ArrayLike,
                 groups: list[object] | None = None) -> tuple[Insider, ...]:
    """What a member of each group does best when she knows her group, and what it gains her.

    Args:
        market: designed for people who do not know their group.
        sizes: number of people of each group, at least 2.
        ones: number of them whose bit is 1.
        groups: their names; default 1, 2, ...

    Returns:
        One row for each group. The market works among these people only if every row is `truthful`.

    Source: spec data_market section 6, real data.

    Example:
        >>> from confide.market import LinearCost, PairPrior
        >>> sizes, ones = [99, 348, 993, 2242, 2684], [74, 221, 547, 724, 487]
        >>> market = PairMarket(PairPrior.of_groups(sizes, ones), LinearCost(1.0), 1.0)
        >>> [(row.best.name, round(row.gain, 2)) for row in audit_groups(market, sizes, ones)][2:]
        [('always 1', 12.3), ('always 1', 1.03), ('always 0', 6.17)]
    """
    size, one = as_groups(sizes, ones)
    names = list(range(1, size.size + 1)) if groups is None else list(groups)
    if len(names) != size.size:
        raise InvalidInput("groups", f"are {len(names)} names", f"must be {size.size}")
    peer, found = market.strategy.channel[:2], []
    for name, n, k in zip(names, size, one, strict=True):
        zero = n - k
        pairs = np.array([[zero * (zero - 1.0), zero * k], [zero * k, k * (k - 1.0)]]) / (n * (n - 1.0))
        a = np.vstack([market.company * market.table @ peer @ pairs, np.zeros(2)])
        found.append(Insider(group=name, size=int(n), ones=int(k), best=best_response(a, market.cost),
                             honest=utility(a, market.strategy, market.cost)))
    return tuple(found)
