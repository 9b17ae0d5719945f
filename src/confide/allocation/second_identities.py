"""The goods that a second id of one person gets where goods are handed out, measured on made-up crowds.

The second id has the same record, and takes the place of somebody else in the public order. One row moves the law of
what is published by no more than the promise of privacy says. So both ids are decoded from the same public billboard.

Errors are between made-up crowds. Each crowd has its own people and its own noise, so that they cover both.

The gain of one person alone, or of one with two ids, where goods are handed out; on made-up people.

Without prices nothing is promised of a lie. Where prices are charged, the promise of truth covers bidders who end
satisfied. Who is left with nothing is decided by the noise and by all others, and no bound is proved for them. So their
gain is searched for, on several made-up crowds. On each of them a few runs with simulated noise choose the people whom
truth always leaves with nothing, and for each of them the one good that is best to ask for alone. Other runs, which
chose nothing, measure what that gains. A person's own row moves the law of the prices by no more than the promise of
privacy says, so every report of theirs is decoded from the same public prices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.market import Market
from confide.allocation.predicted import reduced
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput
from confide.contract.wire import wire
from confide.privacy.noise import Noise
from confide.tables.frames import numpy_numbers

__all__ = [
    "CROWDS",
    "Handed",
    "LoneLies",
    "SecondIds",
    "crowd_size",
    "handed",
    "lone_lies",
    "of_runs",
    "over_crowds",
    "second_ids",
]

# ---- second ids

CROWDS = 5
"""Made-up crowds, each with people of its own."""

_TRIED = 40  # people of a crowd

Held = Callable[[Mapping[str, Any]], tuple[int, ...]]
Worth = Callable[[Any, tuple[int, ...]], float]


@dataclass(frozen=True, kw_only=True)
class Handed:
    """The worth of what second ids are handed in one run, on average over people.

    Args:
        gain: worth of both ids' goods to their owner together beyond the first one's, less prices.
        alone: worth of the second id's goods to its owner by themselves, less their price.
        both: share of cases in which both ids hold something.
    """

    gain: float
    alone: float
    both: float


@wire("SecondIds", "gain error alone alone_error both people crowds")
@dataclass(frozen=True, kw_only=True)
class SecondIds:
    """Means over made-up crowds, in the unit of a value; errors are standard errors between crowds.

    Args:
        gain: gain of the owner of a second id with the same record, who uses the better of what both ids hold.
        error: standard error of `gain`.
        alone: gain of an owner who can use, or pass on, all that both ids hold.
        alone_error: standard error of `alone`.
        both: share of cases in which both ids hold something.
        people: number of people in each crowd.
        crowds: number of made-up crowds.
    """

    gain: float
    error: float
    alone: float
    alone_error: float
    both: float
    people: int
    crowds: int


def handed(market: Any, billboard: Any, record: Callable[[int], Any], held: Held, worth: Worth) -> Handed:
    """The worth of what second ids of some people are handed in one run.

    Args:
        market: the market that ran.
        billboard: the run's billboard.
        record: function from a place to the record of the person in it.
        held: function from a share to its goods.
        worth: function from a record and goods to the worth of the goods together.
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
        market: the market that hands out goods.
        crowds: for each crowd, the data of a run and a function from a place to the record of the person in it.
        held: function from a share to its goods.
        worth: function from a record and goods to the worth of the goods together.
    """
    certified: Any = replace(market, certify_with=0.0)
    found = [handed(certified, certified.run(data, Noise.simulated(seed)).billboard, record, held, worth)
             for seed, (data, record) in enumerate(crowds)]
    return of_runs([[each] for each in found], market.people)


def of_runs(found: Sequence[Sequence[Handed]], people: int) -> SecondIds:
    """The means of the runs on each crowd, and over crowds.

    Args:
        found: for each crowd, what came out in each of its runs.
        people: number of people in each crowd.
    """
    gain, error = over_crowds([math.fsum(each.gain for each in runs) / len(runs) for runs in found])
    alone, alone_error = over_crowds([math.fsum(each.alone for each in runs) / len(runs) for runs in found])
    both = [each.both for runs in found for each in runs]
    return SecondIds(gain=gain, error=error, alone=alone, alone_error=alone_error, both=math.fsum(both) / len(both),
                     people=people, crowds=len(found))


def over_crowds(means: Sequence[float]) -> tuple[float, float]:
    """The mean over crowds, and its standard error; infinite where there are fewer than two, (0, 0) where none.

    Args:
        means: one mean for each crowd.

    Example:
        >>> over_crowds([1.0, 3.0]), over_crowds([])
        ((2.0, 1.0), (0.0, 0.0))
    """
    if not means:
        return 0.0, 0.0
    found = np.array(means)
    error = float(found.std(ddof=1) / math.sqrt(found.size)) if found.size > 1 else math.inf
    return float(found.mean()), error


# ---- lone lies

_VALUES = 200_000  # of the made-up table
_CHOOSING, _MEASURING = 3, 2  # runs on each crowd
_GOODS = 8  # that one person tries, her favourites


@wire("LoneLies", "left gain gain_error second people crowds runs")
@dataclass(frozen=True, kw_only=True)
class LoneLies:
    """Means over made-up crowds, on the scale from 0 to 1. Errors are standard errors between crowds.

    Args:
        left: share of the made-up people whom truth leaves with nothing in each of the choosing runs.
        gain: gain of one of them from asking for one good only; 0 where there are none.
        gain_error: standard error of `gain`; infinite where one crowd alone has such people.
        second: gain from a second id of the same person, in the measuring runs.
        people: number of made-up people in each crowd.
        crowds: number of made-up crowds.
        runs: number of measuring runs, on all crowds.
    """

    left: float
    gain: float
    gain_error: float
    second: SecondIds
    people: int
    crowds: int
    runs: int


def crowd_size(market: Market) -> Market:
    """The market for which people are made up: itself, or a smaller one that behaves alike.

    Args:
        market: a market that hands out goods, one to each person.
    """
    return reduced(market, goods=False, most=_VALUES)


def lone_lies(market: Market, crowds: Sequence[NDArray[Any]]) -> LoneLies:
    """Search, and measure on runs that did not take part in the search.

    Args:
        market: a market with a row of values for each bidder.
        crowds: (n, k) values of the made-up people of this market, of each crowd; at least one.

    Raises:
        InvalidInput: there is no crowd.
    """
    if not crowds:
        raise InvalidInput("crowds", "are none", "must be at least one")
    certified: Any = replace(market, certify_with=0.0)
    left, gains, second = list[float](), list[float](), list[Any]()
    for number, values in enumerate(crowds):
        shared = Valuations.of(values, people=market.people, goods=market.goods)
        seeds = range(number * (_CHOOSING + _MEASURING), (number + 1) * (_CHOOSING + _MEASURING))
        boards = [certified.run(shared, Noise.simulated(seed)) for seed in seeds]
        share, gained = _lone(certified, values, boards[:_CHOOSING], boards[_CHOOSING:])
        left.append(share)
        gains += gained
        rows = np.asarray(values, dtype=np.float64)
        second.append([handed(certified, each.billboard, rows.__getitem__, _held, _best_of) for each in
                       boards[_CHOOSING:]])
    gain, error = over_crowds(gains)
    return LoneLies(left=math.fsum(left) / len(left), gain=gain, gain_error=error,
                    second=of_runs(second, market.people), people=market.people, crowds=len(crowds),
                    runs=_MEASURING * len(crowds))


def _lone(
    market: Any, values: NDArray[Any], choosing: Sequence[Any], measuring: Sequence[Any]
) -> tuple[float, list[float]]:
    """The share of people whom truth leaves with nothing, and what they gain on average; nothing where none is."""
    nothing = np.ones(market.people, dtype=np.bool_)
    for each in choosing:
        nothing &= numpy_numbers(each.shares["good"]) < 0
    left = np.flatnonzero(nothing & (values.max(axis=1) > 0))
    if not left.size:
        return 0.0, []
    gains = list[float]()
    for person in left[np.unique(np.linspace(0, left.size - 1, _TRIED).round().astype(int))].tolist():
        row = np.asarray(values[person], dtype=np.float64)
        alone = [_only(row, good) for good in np.argsort(-row, kind="stable")[:_GOODS].tolist() if row[good] > 0]
        paid = [math.fsum(_worth(market, one, row, person, each) for each in choosing) for one in alone]
        lie = alone[int(np.argmax(paid))]
        gains += [_worth(market, lie, row, person, each) - _worth(market, row, row, person, each) for each in measuring]
    return left.size / market.people, [math.fsum(gains) / len(gains)]


def _only(row: NDArray[np.float64], good: int) -> NDArray[np.float64]:
    """Her row with one good in it."""
    found = np.zeros(row.size)
    found[good] = row[good]
    return found


def _held(share: Any) -> tuple[int, ...]:
    return (int(share["good"]),) if share["good"] >= 0 else ()


def _best_of(row: NDArray[np.float64], goods: tuple[int, ...]) -> float:
    """What goods are worth to somebody who can use one of them."""
    return max((float(row[good]) for good in goods), default=0.0)


def _worth(market: Any, report: Any, row: NDArray[np.float64], person: int, outcome: Any) -> float:
    """What she gets by a report, less what she pays, at the prices of a run."""
    share = market.decode(report, person, outcome.billboard)
    return _best_of(row, _held(share)) - (float(share["price"]) if share["good"] >= 0 else 0.0)
