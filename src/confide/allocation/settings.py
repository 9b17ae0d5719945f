"""Settings of `PMatch` and `SinkhornMatch` that measured well, chosen from public sizes alone.

What decides is how large the counts' error is beside a supply. It is looked up in the exact law of the error, at a
scale of the noise at which that is quick: errors are in proportion to the scale. Nothing here is a promise.

Measured, mean of 2 seeds on instances A and B each, PMatch, the share of the optimum that `recommended` gets, and the
best one of the ladder (tests/allocation/test_settings.py measures again):

====  ==========  ===========  ============
k     s epsilon   recommended  best rung
====  ==========  ===========  ============
8     400         .54          .54
8     800         .71          .71
8     1,600       .78          .79
8     4,000       .88          .89
8     12,000      .95          .95
8     40,000      .97          .97
20    800         .73          .73
20    1,600       .81          .81
20    3,200       .87          .87
20    8,000       .91          .91
20    40,000      .97          .97
50    384         .57          .57
50    800         .71          .71
50    1,600       .78          .79
50    3,840       .87          .87
50    12,800      .92          .93
50    38,400      .96          .96
====  ==========  ===========  ============

Source: spec allocation 4.3 with the exact error in place of its Chernoff bound, and thresholds that were measured.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput, Refused
from confide.privacy.noise.discrete import DiscreteLaw
from confide.privacy.tree_blocks import levels
from confide.privacy.tree_counter import TreeCounter
from confide.privacy.tree_errors import largest_error

__all__ = ["LADDER", "arities", "recommended_settings", "scaling_settings", "typical", "usual_error"]

LADDER = (
    (0.05, 14, 50, 0.3, 0.3),
    (0.3, 3, 10, 0.3, 0.65),
    (1.0, 1, 1, 0.45, math.inf),
)
"""(alpha, C, R, share of the clearing, largest error over supply), the finest first: the first one that fits is taken.
The last is a private serial dictatorship: everybody bids once, on her favourite of the goods that are left.
"""

_RESERVED = (0.02, 0.06, 0.15)
"""What a rung loses without noise. Where a reserve stands in the place of the clearing, the error is lost too."""

_FINE = 3e4  # of supply times epsilon: noise is so low that smaller batches pay
_WIDEST = 512  # arity
_SCALE = 16.0  # of the noise for which the law of the error is walked through


def arities(horizon: int) -> tuple[int, ...]:
    """The least arity of each number of levels that a tree over N steps may have, binary to flat.

    Args:
        horizon: N.

    Example:
        >>> arities(500)
        (2, 3, 4, 5, 8, 23, 501)
    """
    found: dict[int, int] = {}
    most = levels(horizon, 2)
    for height in range(1, most + 1):
        low, high = 2, horizon + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if levels(horizon, middle) <= height else (middle + 1, high)
        found[levels(horizon, low)] = low
    return tuple(sorted(set(found.values())))


def usual_error(counter: TreeCounter, gamma: float) -> float:
    """The error that no count exceeds with probability 1 - gamma, nearly: exact at another scale of the noise.

    Args:
        counter: of noise on the integers.
        gamma: in (0, 1).
    """
    law: DiscreteLaw = "discrete_laplace" if counter.law == "discrete_laplace" else "discrete_gaussian"
    scale = min(_SCALE, counter.scale)
    small = TreeCounter(horizon=counter.horizon, scale=scale, counters=counter.counters, arity=counter.arity, law=law)
    found = largest_error(counter.horizon, counter.arity, law, scale, counters=counter.counters, gamma=gamma,
                          enough=small.error_bound(gamma))
    return found * (counter.scale / scale)


def typical(supply: int | tuple[int, ...]) -> int:
    """Of unequal supplies, the one at which half of all copies are of goods with at least so many.

    Example:
        >>> typical((1, 50, 100, 100))
        100
    """
    copies = sorted(supply, reverse=True) if isinstance(supply, tuple | list) else [supply]
    if not copies:
        raise InvalidInput("supply", "names no good")
    half = sum(whole("supply", copy, at_least=1) for copy in copies) / 2
    return next(copy for copy, passed in zip(copies, accumulate(copies), strict=True) if passed >= half)


def recommended_settings(
    kind: Any, *, people: int, goods: int, supply: int | tuple[int, ...], epsilon: float, **options: Any,
) -> Any:
    """An auction for these sizes.

    Args:
        kind: `PMatch`.
        people: n.
        goods: k.
        supply: s_j.
        epsilon: > 0.
        options: of the auction; those named here win over what is recommended.

    Raises:
        InvalidInput: a number out of range.
        Refused: no auction of the ladder is possible: a reserve leaves nothing, or an option needs a delta.
    """
    copies = typical(supply)
    people = whole("people", people, at_least=1)
    batch = max(1, min(people, copies // (16 if copies * positive("epsilon", epsilon) > _FINE else 2)))
    found: list[tuple[float, Any]] = []
    refused: Refused | None = None
    for lost, (increment, cap, rounds, clear, most) in zip(_RESERVED, LADDER, strict=True):
        settings = {"increment": increment, "bid_cap": cap, "rounds": rounds, "batch": batch, "reclear": clear,
                    **options}
        common = {"people": people, "goods": goods, "supply": supply, "epsilon": epsilon}
        try:
            auction = _best_arity(kind, common, settings)
        except Refused as error:
            refused = error
            continue
        off = usual_error(auction.counter, auction.gamma) / copies
        if auction.reclear and (off <= most or auction.plentiful):
            return auction
        found.append((off + lost, auction))
    if not found:
        raise refused or Refused("no auction is possible", "more copies, or a larger epsilon")
    return min(found, key=lambda pair: pair[0])[1]


def _best_arity(kind: Any, common: dict[str, Any], settings: dict[str, Any]) -> Any:
    """The auction with the least error bound."""
    if "arity" in settings:
        return kind(**common, **settings)
    horizon = whole("rounds", settings["rounds"], at_least=1) * -(
        -common["people"] // whole("batch", settings["batch"], at_least=1))
    # A reserve is simulated; which arity is best is seen without one.
    without = {**settings, "reserve": 0}
    tried = [(kind(**common, **without, arity=arity).error, arity) for arity in arities(horizon) if arity <= _WIDEST]
    return kind(**common, **settings, arity=min(tried)[1])


def scaling_settings(
    kind: Any, *, people: int, goods: int, supply: int | tuple[int, ...], epsilon: float, **options: Any,
) -> Any:
    """A `SinkhornMatch` for these sizes.

    The temperature falls as far as the noise allows: a price moves by the temperature times the noise over the supply,
    and demand answers the faster, the colder it is. Measured flat within a factor of two either way.

    Args:
        kind: `SinkhornMatch`.
        people: n.
        goods: k.
        supply: s_j.
        epsilon: > 0.
        options: of the mechanism; those named here win over what is recommended.
    """
    signal = typical(supply) * positive("epsilon", epsilon)
    coolest = min(_COOL[1], max(_COOL[0], round(_COOL_AT / math.sqrt(signal), 4)))
    settings = {"rounds": 16, "growth": 1.3, "step": 1.4, "clear": 0.65, "coolest": coolest,
                "hottest": max(0.2, coolest), **options}
    return kind(people=people, goods=goods, supply=supply, epsilon=epsilon, **settings)


_COOL, _COOL_AT = (0.002, 0.02), 0.2
