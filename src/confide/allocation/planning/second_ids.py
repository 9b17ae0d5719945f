"""What a second id of one person is handed where goods are handed out, measured on made-up crowds.

The second id has the same record, and takes the place of somebody else in the public order. One row moves the law of
what is published by no more than the promise of privacy says. So both ids are decoded from the same public billboard.

Errors are between made-up crowds. Each crowd has its own people and its own noise, so that they cover both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from confide.allocation.market import Market
from confide.contract.wire import wire
from confide.privacy.noise import Noise

__all__ = ["CROWDS", "Handed", "SecondIds", "handed", "of_runs", "over_crowds", "second_ids"]

CROWDS = 5
"""Made-up crowds, each with people of its own."""

_TRIED = 40  # people of a crowd

Held = Callable[[Mapping[str, Any]], tuple[int, ...]]
Worth = Callable[[Any, tuple[int, ...]], float]


@dataclass(frozen=True, kw_only=True)
class Handed:
    """What second ids are handed in one run, on average over people.

    Args:
        gain: what both ids are worth to their owner together beyond the first one, less prices.
        alone: what the second id's goods are worth to its owner by themselves, less their price.
        both: in which share of cases both ids hold something.
    """

    gain: float
    alone: float
    both: float


@wire("SecondIds", "gain error alone alone_error both people crowds")
@dataclass(frozen=True, kw_only=True)
class SecondIds:
    """Means over made-up crowds, in the unit of a value; errors are standard errors between crowds.

    Args:
        gain: what a second id with the same record gains its owner, who uses the better of what both ids hold.
        error: of it.
        alone: what it gains an owner who can use, or pass on, all that both ids hold.
        alone_error: of it.
        both: in which share of cases both ids hold something.
        people: in each crowd.
        crowds: made up.
    """

    gain: float
    error: float
    alone: float
    alone_error: float
    both: float
    people: int
    crowds: int


def handed(market: Any, billboard: Any, record: Callable[[int], Any], held: Held, worth: Worth) -> Handed:
    """What second ids of some people are handed in one run.

    Args:
        market: that ran.
        billboard: of the run.
        record: of the person in a place.
        held: the goods of a share.
        worth: what goods are worth together to somebody with a record.
    """
    people = np.unique(np.linspace(0, market.people - 1, _TRIED).round().astype(int)).tolist()
    gains, alone, both = list[float](), list[float](), 0
    for step, person in enumerate(people):
        mine = record(person)
        # The second id's place is that of somebody who is far off in the public order.
        first, second = (market.decode(mine, where, billboard)
                         for where in (person, people[(step + len(people) // 2) % len(people)]))
        goods, more, price = held(first), held(second), float(second.get("price", 0.0))
        gains.append(worth(mine, (*goods, *more)) - worth(mine, goods) - price)
        alone.append(worth(mine, more) - price)
        both += bool(goods) and bool(more)
    return Handed(gain=math.fsum(gains) / len(people), alone=math.fsum(alone) / len(people), both=both / len(people))


def second_ids(
    market: Market, crowds: Sequence[tuple[Any, Callable[[int], Any]]], held: Held, worth: Worth
) -> SecondIds:
    """One run on each of some made-up crowds.

    Args:
        market: that hands out.
        crowds: what a run takes, and the record of the person in a place.
        held: the goods of a share.
        worth: what goods are worth together to somebody with a record.
    """
    certified: Any = replace(market, certify_with=0.0)
    found = [handed(certified, certified.run(data, Noise.simulated(seed)).billboard, record, held, worth)
             for seed, (data, record) in enumerate(crowds)]
    return of_runs([[each] for each in found], market.people)


def of_runs(found: Sequence[Sequence[Handed]], people: int) -> SecondIds:
    """The means of the runs on each crowd, and over crowds.

    Args:
        found: for each crowd, what came out in each of its runs.
        people: in each crowd.
    """
    gain, error = over_crowds([math.fsum(each.gain for each in runs) / len(runs) for runs in found])
    alone, alone_error = over_crowds([math.fsum(each.alone for each in runs) / len(runs) for runs in found])
    both = [each.both for runs in found for each in runs]
    return SecondIds(gain=gain, error=error, alone=alone, alone_error=alone_error, both=math.fsum(both) / len(both),
                     people=people, crowds=len(found))


def over_crowds(means: Sequence[float]) -> tuple[float, float]:
    """The mean over crowds, and its standard error; infinite where there are fewer than two, (0, 0) where none.

    Args:
        means: one for each crowd.

    Example:
        >>> over_crowds([1.0, 3.0]), over_crowds([])
        ((2.0, 1.0), (0.0, 0.0))
    """
    if not means:
        return 0.0, 0.0
    found = np.array(means)
    error = float(found.std(ddof=1) / math.sqrt(found.size)) if found.size > 1 else math.inf
    return float(found.mean()), error
