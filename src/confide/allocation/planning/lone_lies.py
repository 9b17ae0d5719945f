"""What one person alone, or one with two ids, gains where goods are handed out; on made-up people.

Without prices nothing is promised of a lie. Where prices are charged, the promise of truth covers bidders who end
satisfied. Who is left with nothing is decided by the noise and by all others, and no bound is proved for them. So their
gain is searched for, on several made-up crowds. On each of them a few runs with simulated noise choose the people whom
truth always leaves with nothing, and for each of them the one good that is best to ask for alone. Other runs, which
chose nothing, measure what that gains. Her own row moves the law of the prices by no more than the promise of privacy
says, so every report of hers is decoded from the same public prices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.market import Market
from confide.allocation.planning.predicted import reduced
from confide.allocation.planning.second_ids import SecondIds, handed, of_runs, over_crowds
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput
from confide.contract.wire import wire
from confide.privacy.noise import Noise
from confide.tables.frames import numpy_numbers

__all__ = ["LoneLies", "crowd_size", "lone_lies"]

_VALUES = 200_000  # of the made-up table
_CHOOSING, _MEASURING = 3, 2  # runs on each crowd
_TRIED = 40  # people of each crowd
_GOODS = 8  # that one person tries, her favourites


@wire("LoneLies", "left gain gain_error second people crowds runs")
@dataclass(frozen=True, kw_only=True)
class LoneLies:
    """Means over made-up crowds, on the scale from 0 to 1. Errors are standard errors between crowds.

    Args:
        left: share of the made-up people whom truth leaves with nothing in each of the choosing runs.
        gain: what one of them gains by asking for one good only; 0 where there are none.
        gain_error: of it; infinite where one crowd alone has such people.
        second: what a second id of the same person gains, in the measuring runs.
        people: made up, in each crowd.
        crowds: made up.
        runs: that measured, on all crowds.
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
        market: that hands out goods, one to each person.
    """
    return reduced(market, goods=False, most=_VALUES)


def lone_lies(market: Market, crowds: Sequence[NDArray[Any]]) -> LoneLies:
    """Search, and measure on runs that did not take part in the search.

    Args:
        market: with a row of values for each bidder.
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
