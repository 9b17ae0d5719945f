"""The gain of one person from a second identity, or from a lie, in markets that hand out goods, measured on synthetic
people.

*Second identities.* The second identity has the same record as the first, and takes the place of another person in the
public order. One row changes the distribution of the published record by no more than the promise of privacy says. The
first and the second identity are therefore decoded from the same public billboard. The stated errors of a gain are
standard errors between populations. Each population has its own people and its own noise, so the errors cover the
variation of both.

*Lies.* Without charged prices nothing is promised about lies. With charged prices the promise of truthfulness covers
bidders who end satisfied. The noise and all other bidders decide which bidders get nothing, and no bound is proved for
these bidders. The gain of bidders who get nothing is therefore searched for on several synthetic populations. On each
population a few runs with simulated noise find the people who get nothing with a truthful report in all of these runs.
For each person who gets nothing, the same runs find the one good that is best to ask for alone. Separate runs measure
the gain of asking for that one good alone. A person's own row changes the distribution of the prices by no more than
the promise of privacy says. So all possible reports of a person are decoded from the same public prices.
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
"""Number of synthetic populations, each with people of its own."""

_TRIED = 40  # people of a crowd

Held = Callable[[Mapping[str, Any]], tuple[int, ...]]
Worth = Callable[[Any, tuple[int, ...]], float]


@dataclass(frozen=True, kw_only=True)
class Handed:
    """The value of the goods that second identities get in one run, in units of value, averaged over people.

    Args:
        gain: value that the second identity's goods add to the value of the first identity's goods, less the price of
            the second identity's goods.
        alone: value of the second identity's goods alone, less the price of these goods.
        both: share of the people, in [0, 1], with a good for both identities.
    """

    gain: float
    alone: float
    both: float


@wire("SecondIds", "gain error alone alone_error both people crowds")
@dataclass(frozen=True, kw_only=True)
class SecondIds:
    """The gain from second identities, averaged over synthetic populations, in units of value. Errors are standard
    errors between populations.

    Args:
        gain: gain of a bidder who adds a second identity with a copy of their record, and uses the goods of both
            identities for themselves. In a market that gives each bidder one good, the bidder uses the better of the
            two goods.
        error: standard error of `gain`.
        alone: gain of an owner who can use, or pass on, all goods of both identities.
        alone_error: standard error of `alone`.
        both: share of the people, in [0, 1], with a good for both identities.
        people: number of people in each population.
        crowds: number of synthetic populations.
    """

    gain: float
    error: float
    alone: float
    alone_error: float
    both: float
    people: int
    crowds: int


def handed(market: Any, billboard: Any, record: Callable[[int], Any], held: Held, worth: Worth) -> Handed:
    """The value of the goods that second identities of some people get in one run.

    Args:
        market: market that ran.
        billboard: billboard (public record) of the run.
        record: function from a position in the public order of bidders, from 0, to the record of the person there.
        held: function from a decoded share to the tuple of the goods in the share.
        worth: function from a record and a tuple of goods to the value of these goods together, in units of value.
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
    """Measure the gain from second identities by one run on each of several synthetic populations.

    Args:
        market: market that hands out goods.
        crowds: one pair for each population. The first element is the data of a run. The second element is a function
            from a position in the public order of bidders, from 0, to the record of the person there.
        held: function from a decoded share to the tuple of the goods in the share.
        worth: function from a record and a tuple of goods to the value of these goods together, in units of value.
    """
    certified: Any = replace(market, certify_with=0.0)
    found = [handed(certified, certified.run(data, Noise.simulated(seed)).billboard, record, held, worth)
             for seed, (data, record) in enumerate(crowds)]
    return of_runs([[each] for each in found], market.people)


def of_runs(found: Sequence[Sequence[Handed]], people: int) -> SecondIds:
    """Average the results of the runs on each population, and then over populations.

    Args:
        found: for each population, the list of the results of its runs.
        people: number of people in each population.
    """
    gain, error = over_crowds([math.fsum(each.gain for each in runs) / len(runs) for runs in found])
    alone, alone_error = over_crowds([math.fsum(each.alone for each in runs) / len(runs) for runs in found])
    both = [each.both for runs in found for each in runs]
    return SecondIds(gain=gain, error=error, alone=alone, alone_error=alone_error, both=math.fsum(both) / len(both),
                     people=people, crowds=len(found))


def over_crowds(means: Sequence[float]) -> tuple[float, float]:
    """The mean over populations, and its standard error. The error is infinite for a single population. Without any
    population the result is (0, 0).

    Args:
        means: one mean for each population; may be empty.

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
_GOODS = 8  # that one person tries, the favourites


@wire("LoneLies", "left gain gain_error second people crowds runs")
@dataclass(frozen=True, kw_only=True)
class LoneLies:
    """The gain that people who get nothing with a truthful report have from a lie. Gains are averages over synthetic
    populations, in units of value.

    Errors are standard errors between populations. Choosing runs select the people and their lies. Measuring runs,
    which have other noise, measure the gain.

    Args:
        left: share of the synthetic people, in [0, 1], who get nothing with a truthful report in every choosing run.
        gain: mean gain, from asking for one good only, of people who get nothing with a truthful report; 0 if nobody
            gets nothing.
        gain_error: standard error of `gain`; infinite if people get nothing in one population only.
        second: gain of a person from a second identity with the same record, measured in the measuring runs.
        people: number of synthetic people in each population.
        crowds: number of synthetic populations.
        runs: number of measuring runs on all populations together.
    """

    left: float
    gain: float
    gain_error: float
    second: SecondIds
    people: int
    crowds: int
    runs: int


def crowd_size(market: Market) -> Market:
    """The market itself, or a smaller market with the same behaviour, whose number of people is the size of the
    synthetic populations.

    Args:
        market: market that hands out one good to each person.
    """
    return reduced(market, goods=False, most=_VALUES)


def lone_lies(market: Market, crowds: Sequence[NDArray[Any]]) -> LoneLies:
    """Search for the best lies of people who get nothing with a truthful report, and measure their gain on other runs.

    Args:
        market: market in which each bidder has a row of values.
        crowds: values of the people of each synthetic population, each of shape (n, k); at least one population.

    Raises:
        InvalidInput: no population.
    """
    if not crowds:
        raise InvalidInput("crowds", "the list is empty", "must have at least one population")
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
    """The share of people who get nothing with a truthful report, and a list with their mean gain. The list is empty if
    nobody gets nothing with a truthful report.
    """
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
    """A copy of the row in which all values except that of one good are 0."""
    found = np.zeros(row.size)
    found[good] = row[good]
    return found


def _held(share: Any) -> tuple[int, ...]:
    return (int(share["good"]),) if share["good"] >= 0 else ()


def _best_of(row: NDArray[np.float64], goods: tuple[int, ...]) -> float:
    """The value of goods to a person who can use one of them."""
    return max((float(row[good]) for good in goods), default=0.0)


def _worth(market: Any, report: Any, row: NDArray[np.float64], person: int, outcome: Any) -> float:
    """A person's utility by a report, at the prices of a run: the value of the good less the payment."""
    share = market.decode(report, person, outcome.billboard)
    return _best_of(row, _held(share)) - (float(share["price"]) if share["good"] >= 0 else 0.0)
