"""What one person alone, or one with two ids, gains where goods are sold at private prices; on made-up people.

The promise of truth covers bidders who end satisfied. Who is left with nothing is decided by the noise and by all
others, and no bound is proved for them. So their gain is searched for. A few runs with simulated noise choose the
people whom truth always leaves with nothing, and for each of them the one good that is best to ask for alone. Other
runs, which chose nothing, measure what that gains. Her own row moves the law of the prices by no more than the promise
of privacy says, so every report of hers is decoded from the same public prices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.market import Market
from confide.allocation.planning.predicted import reduced
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise

__all__ = ["LoneLies", "crowd_size", "lone_lies"]

_VALUES = 200_000  # of the made-up table
_CHOOSING, _MEASURING = 4, 8  # runs
_TRIED = 40  # people
_GOODS = 8  # that one person tries, her favourites


@dataclass(frozen=True, kw_only=True)
class LoneLies:
    """Means over people and runs, on the scale from 0 to 1. Errors are standard errors over the runs.

    Args:
        left: share of the made-up people whom truth leaves with nothing in each of the choosing runs.
        gain: what one of them gains by asking for one good only; 0 where there are none.
        gain_error: of it.
        second: what a second id of the same person with the same row gains her, whoever she is: she pays for each
            good, and one is worth nothing beside a better one.
        second_error: of it.
        people: made up.
        runs: that measured.
    """

    left: float
    gain: float
    gain_error: float
    second: float
    second_error: float
    people: int
    runs: int


def crowd_size(market: Market) -> Market:
    """The market for which people are made up: itself, or a smaller one that behaves alike.

    Args:
        market: that sells.
    """
    return reduced(market, goods=False, most=_VALUES)


def lone_lies(market: Market, values: NDArray[Any]) -> LoneLies:
    """Search, and measure on runs that did not take part in the search.

    Args:
        market: that charges prices, with a row of values for each bidder.
        values: (n, k) of made-up people of this market.

    Raises:
        InvalidInput: the market charges nothing.
    """
    if not getattr(market, "charge", False):
        raise InvalidInput("market", "charges no prices", "must have charge=True")
    shared = Valuations.of(values, people=market.people, goods=market.goods)
    certified: Any = replace(market, certify_with=0.0)
    boards = [certified.run(shared, Noise.simulated(seed)) for seed in range(_CHOOSING + _MEASURING)]
    choosing, measuring = boards[:_CHOOSING], boards[_CHOOSING:]
    nothing = np.ones(market.people, dtype=np.bool_)
    for each in choosing:
        nothing &= each.shares["good"].to_numpy() < 0
    left = np.flatnonzero(nothing & (values.max(axis=1) > 0))
    tried = left[np.unique(np.linspace(0, left.size - 1, _TRIED).round().astype(int))] if left.size else left
    gains = np.zeros((_MEASURING, tried.size))
    for place, person in enumerate(tried.tolist()):
        row = np.asarray(values[person], dtype=np.float64)
        alone = [_only(row, good) for good in np.argsort(-row, kind="stable")[:_GOODS].tolist() if row[good] > 0]
        paid = [math.fsum(_worth(certified, one, row, person, each) for each in choosing) for one in alone]
        lie = alone[int(np.argmax(paid))]
        for run, each in enumerate(measuring):
            gains[run, place] = (_worth(certified, lie, row, person, each)
                                 - _worth(certified, row, row, person, each))
    anybody = np.linspace(0, market.people - 1, _TRIED).round().astype(int)
    others = np.roll(anybody, _TRIED // 2)  # the second id's place
    second = np.zeros((_MEASURING, anybody.size))
    for place, (person, other) in enumerate(zip(anybody.tolist(), others.tolist(), strict=True)):
        row = np.asarray(values[person], dtype=np.float64)
        for run, each in enumerate(measuring):
            shares = [certified.decode(row, where, each.billboard) for where in (person, other)]
            second[run, place] = _together(row, shares) - _together(row, shares[:1])
    return LoneLies(left=left.size / market.people, people=market.people, runs=_MEASURING,
                    **dict(zip(("gain", "gain_error"), _mean(gains), strict=True)),
                    **dict(zip(("second", "second_error"), _mean(second), strict=True)))


def _only(row: NDArray[np.float64], good: int) -> NDArray[np.float64]:
    """Her row with one good in it."""
    found = np.zeros(row.size)
    found[good] = row[good]
    return found


def _worth(market: Any, report: Any, row: NDArray[np.float64], person: int, outcome: Any) -> float:
    """What she gets by a report, less what she pays, at the prices of a run."""
    return _together(row, [market.decode(report, person, outcome.billboard)])


def _together(row: NDArray[np.float64], shares: Sequence[Mapping[str, Any]]) -> float:
    """The best of the goods that all of her ids hold, less all prices."""
    held = [share for share in shares if share["good"] >= 0]
    best = max((float(row[share["good"]]) for share in held), default=0.0)
    return best - math.fsum(float(share["price"]) for share in held)


def _mean(found: NDArray[np.float64]) -> tuple[float, float]:
    """The mean, and its standard error over the runs."""
    if not found.size:
        return 0.0, 0.0
    runs = found.mean(axis=1)
    return float(runs.mean()), float(runs.std(ddof=1) / math.sqrt(runs.size))
