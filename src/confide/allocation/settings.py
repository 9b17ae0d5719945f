"""Settings of `PMatch` that measured well, chosen from public sizes alone.

Source: spec allocation 4.3: the smallest increment whose error is within .15 of the supply; batches of half a supply
where noise is large, of a sixteenth where it is not; wide trees.
"""

from __future__ import annotations

from typing import Any

from confide.contract.errors import InvalidInput, Refused
from confide.privacy.tree_blocks import levels

__all__ = ["LADDER", "arities", "recommended_settings", "scaling_settings"]

LADDER = ((0.05, 14, 50), (0.1, 8, 30), (0.2, 5, 20), (0.3, 3, 10), (1.0, 1, 1))
"""(alpha, C, R), the finest first; the last one is a private serial dictatorship."""

_OFF = 0.15
_FINE = 3e4


def arities(horizon: int) -> tuple[int, ...]:
    """The least arity of each number of levels that a tree over N steps may have, binary to flat.

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
    """
    copies = min((supply,) if isinstance(supply, int) else tuple(supply), default=0)
    if copies < 1:
        raise InvalidInput("supply", "leaves nothing", "must be at least 1 of each good")
    batch = max(1, min(people, copies // (16 if copies * epsilon > _FINE else 2)))
    found = None
    for increment, cap, rounds in LADDER:
        horizon = options.get("rounds", rounds) * -(-people // options.get("batch", batch))
        settings = {"increment": increment, "bid_cap": cap, "rounds": rounds, "batch": batch, **options}
        tried = [_or_none(kind, people=people, goods=goods, supply=supply, epsilon=epsilon,
                          **{"arity": arity, **settings}) for arity in arities(horizon) if arity <= 512]
        fits = [auction for auction in tried if auction is not None]
        if fits:
            found = min(fits, key=lambda auction: float(auction.error))
            if found.error <= _OFF * copies:
                return found
    if found is None:
        raise Refused(f"no auction with a reserve is possible for {copies:,} copies at epsilon = {epsilon:g}",
                      "more copies, a larger epsilon, or reclear in the reserve's place")
    return found


def _or_none(kind: Any, **settings: Any) -> Any:
    try:
        return kind(**settings)
    except Refused:
        return None


def scaling_settings(
    kind: Any, *, people: int, goods: int, supply: int | tuple[int, ...], epsilon: float, **options: Any,
) -> Any:
    """A `SinkhornMatch` for these sizes.

    Args:
        kind: `SinkhornMatch`.
        people: n.
        goods: k.
        supply: s_j.
        epsilon: > 0.
        options: of the mechanism; those named here win over what is recommended.
    """
    return kind(people=people, goods=goods, supply=supply, epsilon=epsilon, **options)
