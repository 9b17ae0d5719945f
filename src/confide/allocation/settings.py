"""Settings of `PMatch`, `SinkhornMatch` and `PAlloc` with high measured welfare, chosen from public sizes alone. The
measurements are no promise.

*Single goods.* The choice depends on the ratio of the counts' error to a supply. The error is computed from its exact
distribution at a noise scale at which the computation is quick, since errors are proportional to the scale. A table
called a ladder lists settings from fine to coarse. Each entry of a ladder is called a rung.

The table shows shares of the optimum on instances A and B, with supplies for 80 of 100 bidders, where k is the number
of goods and s the supply of each. "PMatch" is the result of `PMatch.for_budget`. "best rung" is the best of 23 rungs,
with increments from .05 to 1, at most 1 to 14 bids for each bidder, and .3 to .65 of epsilon for the clearing. "PMatch"
and "best rung" are means of 4 runs on each instance, or 3 runs for 50 goods or more. "charged" is the result of
`PMatch.for_budget` with charged prices, and the last column that of `SinkhornMatch.for_budget`, both means of 2 runs
each. The test tests/allocation/test_settings.py repeats the measurement.

    ====  =====  ==========  ======  =========  =======  =============
    k     s      s epsilon   PMatch  best rung  charged  SinkhornMatch
    ====  =====  ==========  ======  =========  =======  =============
    8     800    400         .70     .70        .65      .90
    8     800    800         .80     .80        .77      .96
    8     800    1,600       .86     .87        .84      .97
    8     800    4,000       .92     .92        .90      .98
    8     800    12,000      .95     .95        .93      .98
    8     800    40,000      .97     .97        .95      .98
    20    800    400         .69     .71        .66      .90
    20    800    800         .79     .79        .74      .95
    20    800    1,600       .85     .85        .82      .97
    20    800    3,200       .91     .91        .87      .97
    20    800    8,000       .94     .94        .92      .98
    20    800    40,000      .97     .97        .96      .98
    50    640    800         .78     .78        .73      .94
    50    640    1,600       .83     .84        .81      .96
    50    640    3,840       .91     .91        .87      .97
    50    640    12,800      .95     .95        .93      .97
    50    640    38,400      .97     .97        .96      .97
    100   400    400         .64     .64        .59      .85
    100   400    800         .77     .78        .71      .92
    100   400    1,600       .84     .84        .79      .94
    100   400    4,000       .90     .90        .85      .95
    100   400    12,000      .94     .95        .93      .95
    100   400    40,000      .97     .97        .96      .95
    ====  =====  ==========  ======  =========  =======  =============

`PMatch.for_budget` is never more than .02 below the best rung. With charged prices, 7 or more rungs were tried at 19 of
these sizes, and none was better than `PMatch.for_budget` by more than .02.

Source: spec allocation 4.3 with the exact error in place of its Chernoff bound, and thresholds that were measured.
Batches are half of a supply throughout: smaller batches, with more releases, measured worse even where noise is low.

*Bundles.* The choice depends on the ratio of the counts' error to a supply. This ratio grows with every good that one
person may hold. A bidder who holds b goods needs b bids, and replacing a bidder changes up to 2b cells of the clearing.
So no bidder should hold many more goods than there are copies for each person. For example, take 1.6 copies for each
person, and people who would like 8 goods. With little epsilon, bundles of 2 or 3 goods get far more welfare than
bundles of 8. With more epsilon larger bundles are better, since people's needs differ.

The table shows shares of the optimum with 800 copies of each good, by copies times epsilon, where k is the number of
goods and "each" the number of copies for each person. Each pair of numbers has the result of `PAlloc.for_budget` first,
and the result of the best of 24 rungs second. The rungs have bundles of at most b = 1 to 8 goods, and a step alpha
between prices such that alpha times the number of goods wanted is .05 to 1. At most C bids of one bidder are allowed,
with C/b from 1 to 6, and the clearing has .3, .5 or .65 of epsilon. The numbers are means of 2 runs on instances A and
B each, with rows divided by the number of goods wanted. Symmetric concave valuations have falling steps that are drawn
in the same way. The test tests/allocation/test_bundle_settings.py repeats some of the measurements.

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

On average `PAlloc.for_budget` falls short of the best rung by .02. The shortfall is largest where people want 5 goods
of any kind and there is 1 copy for each person. Where people want 5 goods and there is 1 copy for each person, one good
for each person nearly reaches the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from confide.allocation.bundles.bidders import BundleClass
from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise.discrete import DiscreteLaw
from confide.privacy.tree_blocks import levels
from confide.privacy.tree_counter import TreeCounter
from confide.privacy.tree_errors import largest_error

__all__ = [
    "BUNDLES_LADDER",
    "CHARGED",
    "LADDER",
    "arities",
    "bundle_settings",
    "first_that_fits",
    "recommended_settings",
    "scaling_settings",
    "typical",
    "usual_error",
]

# ---- settings

LADDER = (
    (0.05, 14, 50, 0.3, 0.16),
    (0.1, 6, 30, 0.3, 0.25),
    (0.15, 3, 15, 0.3, 0.5),
    (0.2, 2, 3, 0.5, 0.45),
    (0.4, 1, 1, 0.55, math.inf),
)
"""The rungs of the ladder for `PMatch`, the finest first; the first rung that fits is used.

A rung is (alpha, C, R, share of epsilon for the clearing, largest ratio of error to supply): alpha is the step of
prices, C the largest number of bids of one bidder, and R the number of rounds. With the last rung each bidder bids
once, and a good whose supply was reached costs .4, so bidders to whom this good is worth little more choose another
good. The fine prices of the first rung need most bids, and uneven supplies harm that rung first.
"""

CHARGED = (
    (0.02, 20, 80, 0.3, 0.15),
    (0.05, 6, 30, 0.3, 0.45),
    (0.1, 3, 10, 0.5, 0.6),
    (0.1, 2, 3, 0.5, 0.8),
    (0.2, 1, 1, 0.55, math.inf),
)
"""The ladder for a `PMatch` that charges prices, in the form of `LADDER`.

A bidder who would pay more than their good is worth goes without a good. So coarse prices, and prices that end above a
good's worth, cost more welfare if they are charged. With SinkhornMatch charging prices costs no welfare at all.
"""

_RESERVED = (0.02, 0.03, 0.05, 0.1, 0.15)
"""Share of the optimum that each rung loses even without noise. If a reserve replaces the clearing, a share equal to
the error is lost too.
"""

_CHARGED_RESERVED = (0.03, 0.05, 0.1, 0.15, 0.23)

_WIDEST = 512  # arity
_SCALE = 16.0  # of the noise for which the law of the error is computed


def arities(horizon: int) -> tuple[int, ...]:
    """The least arity for each possible number of levels of a tree over N steps, from a binary tree to a tree of one
    level.

    Args:
        horizon: number N >= 1 of steps, which are the releases of a counter.

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


def usual_error(counter: TreeCounter, failure_probability: float) -> float:
    """A close estimate of a bound on the errors of all counts, in bids, which holds except with the failure
    probability. The bound is computed exactly at another noise scale, and scaled in proportion.

    Args:
        counter: counter with noise on the integers.
        failure_probability: probability in (0, 1) that some count has a larger error.
    """
    law: DiscreteLaw = "discrete_laplace" if counter.law == "discrete_laplace" else "discrete_gaussian"
    scale = min(_SCALE, counter.scale)
    small = TreeCounter(horizon=counter.horizon, scale=scale, counters=counter.counters, arity=counter.arity, law=law)
    found = largest_error(counter.horizon, counter.arity, law, scale, counters=counter.counters,
                          gamma=failure_probability, enough=small.error_bound(failure_probability))
    return found * (counter.scale / scale)


def typical(supply: int | tuple[int, ...]) -> int:
    """A typical supply among unequal supplies. Half of all copies belong to goods with at least that many copies.

    Example:
        >>> typical((1, 50, 100, 100))
        100
    """
    given: Any = supply
    given = given.tolist() if isinstance(given, np.ndarray) else given
    copies: list[int] = sorted(given, reverse=True) if isinstance(given, tuple | list) else [given]
    if not copies:
        raise InvalidInput("supply", "the list is empty", "must have a number of copies for at least one good")
    half = sum(whole("supply", copy, at_least=1) for copy in copies) / 2
    return next(copy for copy, passed in zip(copies, accumulate(copies), strict=True) if passed >= half)


def recommended_settings(
    kind: Any, *, people: int, goods: int, supply: int | tuple[int, ...], epsilon: float, **options: Any,
) -> Any:
    """A `PMatch` with recommended settings for the given sizes.

    Args:
        kind: class `PMatch`, or a subclass.
        people: number n of public positions for bidders.
        goods: number k of goods.
        supply: number of copies s_j of each good: one number for all, or k numbers.
        epsilon: privacy loss of the whole outcome, in nats, > 0.
        options: options of the auction; they take precedence over the recommended settings.

    Raises:
        InvalidInput: a number out of range.
        Refused: a reserve that leaves no copy of a good, or an option that needs a delta.
    """
    copies = typical(supply)
    people = whole("people", people, at_least=1)
    positive("epsilon", epsilon)
    batch = max(1, min(people, copies // 2))
    common = {"people": people, "goods": goods, "supply": supply, "epsilon": epsilon}
    ladder, reserved = (CHARGED, _CHARGED_RESERVED) if options.get("charge") else (LADDER, _RESERVED)
    return first_that_fits(kind, common, copies, (
        ({"increment": increment, "bid_cap": cap, "rounds": rounds, "batch": batch, "reclear": clear, **options}, most)
        for increment, cap, rounds, clear, most in ladder), reserved)


def first_that_fits(
    kind: Any, common: dict[str, Any], copies: int, rungs: Iterable[tuple[dict[str, Any], float]],
    reserved: Sequence[float],
) -> Any:
    """The auction with the settings of the first rung whose error is small enough. If a reserve replaces the clearing,
    the function takes the rung that, according to a rule of thumb, loses the least welfare.

    Args:
        kind: class of the auction.
        common: parameters that all rungs share: people, goods, supply and epsilon.
        copies: number of copies of a typical good, from `typical`.
        rungs: pairs of the settings of a rung and the largest ratio of error to supply at which the rung is used.
        reserved: share of the optimal welfare that each rung loses even without noise, in the order of the rungs.
    """
    found = []
    for number, (settings, most) in enumerate(rungs):
        auction = _best_arity(kind, common, settings)
        off = usual_error(auction.counter, auction.failure_probability) / copies
        if auction.reclear and (off <= most or auction.plentiful):
            return auction
        found.append((off + reserved[number], number, {**settings, "arity": auction.arity}))
    # A reserve is as large as the error, nearly. To simulate it takes a while: it is done for one of them.
    return kind(**common, **min(found, key=lambda one: one[:2])[2])


def _best_arity(kind: Any, common: dict[str, Any], settings: dict[str, Any]) -> Any:
    """The auction whose arity gives the least error bound. Without a final clearing, the reserve is 0 unless the
    settings name one.
    """
    if not settings["reclear"]:
        settings = {"reserve": 0, **settings}
    if "arity" in settings:
        return kind(**common, **settings)
    horizon = whole("rounds", settings["rounds"], at_least=1) * -(
        -common["people"] // whole("batch", settings["batch"], at_least=1))
    tried = [kind(**common, **settings, arity=arity) for arity in arities(horizon) if arity <= _WIDEST]
    return min(tried, key=lambda auction: float(auction.error))


def scaling_settings(
    kind: Any, *, people: int, goods: int, supply: int | tuple[int, ...], epsilon: float, **options: Any,
) -> Any:
    """A `SinkhornMatch` with recommended settings for the given sizes.

    The temperature falls as far as the noise allows. The error of a price is the temperature times the ratio of the
    noise to the supply. At a lower temperature, demand reacts more strongly to prices. Measured welfare changed little
    when the final temperature was doubled or halved.

    Args:
        kind: class `SinkhornMatch`, or a subclass.
        people: number n of public positions for bidders.
        goods: number k of goods.
        supply: number of copies s_j of each good: one number for all, or k numbers.
        epsilon: privacy loss of the whole outcome, in nats, > 0.
        options: options of the mechanism; they take precedence over the recommended settings.
    """
    signal = typical(supply) * positive("epsilon", epsilon)
    coolest = min(_COOL[1], max(_COOL[0], round(_COOL_AT / math.sqrt(signal), 4)))
    settings = {"rounds": 16, "growth": 1.3, "step": 1.4, "clear": 0.65, "end_temperature": coolest,
                "start_temperature": max(0.2, float(options.get("end_temperature", coolest))), **options}
    return kind(people=people, goods=goods, supply=supply, epsilon=epsilon, **settings)


_COOL, _COOL_AT = (0.002, 0.02), 0.2


# ---- settings

BUNDLES_LADDER = (
    (0.1, 6.0, 7.5, 0.3, (2.0, 1), 0.2),
    (0.1, 3.0, 3.75, 0.5, (2.0, 1), 0.4),
    (0.1, 3.0, 3.75, 0.5, (1.0, 1), 0.85),
    (0.3, 2.0, 4.0, 0.5, (1.1, 0), 1.0),
    (0.3, 1.0, 1.0, 0.65, (1.1, 0), 1.0),
    (0.3, 1.0, 1.0, 0.65, (0.75, 0), math.inf),
)
"""The rungs of the ladder for `PAlloc`, the finest first; the first rung that fits is used.

A rung is (alpha over the largest value of one good, C/b, R/b, share of epsilon for the clearing, (x, y), largest ratio
of error to supply), for bundles of b goods. The pair (x, y) gives bundles of x times the number of copies for each
person, rounded up, plus y goods.
"""

_RESERVED_FOR_BUNDLES = (0.02, 0.04, 0.05, 0.08, 0.15, 0.15)
"""Rough share of the optimum that each rung for bundles loses even without noise. If a reserve replaces the clearing, a
share equal to the error is lost too.
"""


def bundle_settings(
    kind: Any, *, people: int, goods: int, supply: int | tuple[int, ...], epsilon: float, valuation: BundleClass,
    highest: float | None = None, **options: Any,
) -> Any:
    """A `PAlloc` with recommended settings for the given sizes.

    Args:
        kind: class `PAlloc`, or a subclass.
        people: number n of public positions for bidders.
        goods: number k of goods.
        supply: number of copies s_j of each good: one number for all, or k numbers.
        epsilon: privacy loss of the whole outcome, in nats, > 0.
        valuation: class of all bidders' valuations.
        highest: upper bound on the value of one good alone, in (0, 1]. The default is 1 over the number of goods that
            one person wants.
        options: options of the auction; they take precedence over the recommended settings.

    Raises:
        InvalidInput: a number out of range.
        Refused: a reserve that leaves no copy of a good, or an option that needs a delta.
    """
    if not isinstance(valuation, BundleClass):
        raise InvalidInput("valuation", f"{valuation!r} is not a class of valuations")
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
    return first_that_fits(kind, common, copies, rungs, _RESERVED_FOR_BUNDLES)
