"""Settings of `PAlloc` that measured well, chosen from public sizes alone. Nothing here is a promise.

What decides is how large the counts' error is beside a supply, and that grows with every good that one person may
hold: the clearing looks at 2b cells of hers, and she needs b bids. So nobody may hold many more than there are copies
for each: where there are 1.6 for each of people who would like 8, bundles of 2 or 3 get far more out of little epsilon
than those of 8. With more epsilon larger ones are better, since people's needs differ.

PLACE_FOR_TABLE
"""

from __future__ import annotations

import math
from typing import Any

from confide.allocation.bundles.bidders import BundleClass
from confide.allocation.settings import _best_arity, typical, usual_error
from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput

__all__ = ["BUNDLES_LADDER", "bundle_settings"]

BUNDLES_LADDER = (
    (0.1, 6.0, 7.5, 0.3, (2.0, 1), 0.2),
    (0.1, 3.0, 3.75, 0.5, (2.0, 1), 0.4),
    (0.1, 3.0, 3.75, 0.5, (1.0, 1), 0.85),
    (0.3, 2.0, 4.0, 0.5, (1.0, 0), 1.0),
    (0.3, 1.0, 1.0, 0.65, (1.0, 0), math.inf),
)
"""(alpha over the most that one good is worth, C/b, R/b, share of the clearing, (x, y): bundles of x copies for each
person, rounded up, and y more, largest error over supply), the finest first: the first one that fits is taken.
"""

_RESERVED = (0.02, 0.04, 0.05, 0.08, 0.15)
"""What a rung loses without noise, roughly. Where a reserve stands in the place of the clearing, the error is lost too.
"""


def bundle_settings(
    kind: Any, *, people: int, goods: int, supply: int | tuple[int, ...], epsilon: float, valuation: BundleClass,
    highest: float | None = None, **options: Any,
) -> Any:
    """An auction of bundles for these sizes.

    Args:
        kind: `PAlloc`.
        people: n.
        goods: k.
        supply: s_j.
        epsilon: > 0.
        valuation: the class.
        highest: what one good alone is worth at most, in (0, 1]; by default 1 over the goods that one person wants.
        options: of the auction; those named here win over what is recommended.

    Raises:
        InvalidInput: a number out of range.
        Refused: a reserve leaves nothing, or an option needs a delta.
    """
    if not isinstance(valuation, BundleClass):
        raise InvalidInput("valuation", f"{valuation!r} is no class of valuations")
    copies, people = typical(supply), whole("people", people, at_least=1)
    wanted = valuation.largest(whole("goods", goods, at_least=1))
    one = 1.0 / wanted if highest is None else positive("highest", highest, at_most=1.0)
    for_each = (sum(supply) if isinstance(supply, tuple | list) else supply * goods) / people
    common = {"people": people, "goods": goods, "supply": supply, "epsilon": positive("epsilon", epsilon)}
    found = []
    for number, (increment, bids, rounds, clear, (factor, more), most) in enumerate(BUNDLES_LADDER):
        bundle = options.get("bundle")
        if bundle is None:
            bundle = max(1, min(wanted, math.ceil(factor * for_each) + more))
        cap = whole("bid_cap", options.get("bid_cap", round(bids * whole("bundle", bundle, at_least=1))), at_least=1)
        settings = {"valuation": valuation, "increment": increment * one, "bid_cap": cap,
                    "rounds": max(cap, math.ceil(rounds * bundle)), "batch": max(1, min(people, copies // 2)),
                    "reclear": clear, **options, "bundle": bundle}
        auction = _best_arity(kind, common, settings)
        off = usual_error(auction.counter, auction.gamma) / copies
        if auction.reclear and (off <= most or auction.plentiful):
            return auction
        found.append((off + _RESERVED[number], number, {**settings, "arity": auction.arity}))
    # A reserve is as large as the error, nearly. To simulate it takes a while: it is done for one of them.
    return kind(**common, **min(found, key=lambda one: one[:2])[2])
