"""Settings of `PAlloc` that measured well, chosen from public sizes alone. Nothing here is a promise.

What decides is how large the counts' error is beside a supply, and that grows with every good that one person may
hold: the clearing looks at 2b cells of hers, and she needs b bids. So nobody may hold many more than there are copies
for each: where there are 1.6 for each of people who would like 8, bundles of 2 or 3 get far more out of little epsilon
than those of 8. With more epsilon larger ones are better, since people's needs differ.

Measured with 800 copies of each good, the share of the optimum by copies times epsilon: what `PAlloc.for_budget` gets,
and the best of 24 rungs with bundles of 1 to 8 goods (alpha times the goods wanted from .05 to 1, C/b from 1 to 6, a
share of the clearing of .3, .5 and .65). Means of 2 runs on instances A and B each, their rows divided by the goods
wanted; of symmetric concave valuations, on falling steps that are drawn alike. "each" is how many copies there are for
each person (tests/allocation/test_bundle_settings.py measures some of it again):

======================  ==  ====  ========  ========  ========  ========  ========  ========
class                   k   each  400       800       1,600     4,000     12,000    40,000
======================  ==  ====  ========  ========  ========  ========  ========  ========
unit demand             8   0.8   .69  .70  .76  .79  .89  .89  .92  .93  .95  .95  .96  .96
capped additive, cap 2  20  1.6   .55  .55  .71  .71  .79  .80  .89  .89  .94  .95  .96  .97
capped additive, cap 3  20  2.4   .49  .50  .63  .64  .73  .77  .85  .86  .93  .93  .96  .97
capped additive, cap 5  20  1.5   .48  .49  .64  .64  .71  .72  .80  .81  .89  .91  .96  .96
additive                8   0.8   .61  .62  .70  .70  .79  .79  .87  .87  .93  .94  .94  .96
additive                8   1.6   .56  .56  .64  .66  .72  .75  .85  .85  .93  .93  .94  .96
additive                8   3.2   .50  .50  .59  .64  .70  .72  .79  .82  .90  .91  .96  .96
symmetric concave, 3    20  2.4   .35  .44  .53  .53  .69  .69  .81  .82  .87  .91  .92  .92
symmetric concave, 3    8   1.2   .45  .49  .61  .61  .73  .73  .78  .84  .83  .88  .91  .91
symmetric concave, 5    8   1.0   .46  .47  .43  .61  .72  .72  .79  .83  .85  .85  .83  .93
======================  ==  ====  ========  ========  ========  ========  ========  ========

The mean shortfall is .02. It is largest where 5 alike goods are wanted and there is 1 for each: there everybody does
best with one of them.
"""

from __future__ import annotations

import math
from typing import Any

from confide.allocation.bundles.bidders import BundleClass
from confide.allocation.planning.settings import first_that_fits, typical
from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput

__all__ = ["BUNDLES_LADDER", "bundle_settings"]

BUNDLES_LADDER = (
    (0.1, 6.0, 7.5, 0.3, (2.0, 1), 0.2),
    (0.1, 3.0, 3.75, 0.5, (2.0, 1), 0.4),
    (0.1, 3.0, 3.75, 0.5, (1.0, 1), 0.85),
    (0.3, 2.0, 4.0, 0.5, (1.1, 0), 1.0),
    (0.3, 1.0, 1.0, 0.65, (1.1, 0), 1.0),
    (0.3, 1.0, 1.0, 0.65, (0.75, 0), math.inf),
)
"""(alpha over the most that one good is worth, C/b, R/b, share of the clearing, (x, y): bundles of x copies for each
person, rounded up, and y more, largest error over supply), the finest first: the first one that fits is taken.
"""

_RESERVED = (0.02, 0.04, 0.05, 0.08, 0.15, 0.15)
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
    rungs = []
    for increment, bids, rounds, clear, (factor, more), most in BUNDLES_LADDER:
        bundle = options.get("bundle")
        if bundle is None:
            bundle = max(1, min(wanted, math.ceil(factor * for_each) + more))
        cap = whole("bid_cap", options.get("bid_cap", round(bids * whole("bundle", bundle, at_least=1))), at_least=1)
        rungs.append(({"valuation": valuation, "increment": increment * one, "bid_cap": cap,
                       "rounds": max(cap, math.ceil(rounds * bundle)), "batch": max(1, min(people, copies // 2)),
                       "reclear": clear, **options, "bundle": bundle}, most))
    return first_that_fits(kind, common, copies, rungs, _RESERVED)
