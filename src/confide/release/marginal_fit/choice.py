"""How many tables a run measures, and how much of the budget they get: chosen from its own one-way tables.

A table is worth its noise where that is small beside what it can teach. The noise is known before anything of the table
is: the penalty of a candidate, the L1 distance by which its noise would move it, follows from the one-way tables as
released. Where it is large, the budget is better spent on the one-way tables again; where it is small, on more tables.

Source: spec query_release D6 (T from the public penalty); the constants are measured, see the family's page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.release.marginal_fit.candidates import Candidates
from confide.release.marginal_fit.public_randomness import key_of, normals
from confide.release.marginal_fit.scores import penalty_of

__all__ = ["LOOKED_AT", "Choice", "choose", "most_tables", "shares_after", "usual_tables"]

_NORMALS = 2**16
_STEPS = 32  # shares are so many parts of the whole: another machine's last digit changes none
_SHARE, _SLOPE = 0.15, 0.3  # of the one-way tables: without noise, and how it rises with the penalty
_HOPELESS = 1.3  # mean penalty from which on no table is worth having
_WORTH, _CLEAR = 0.7, 0.1  # mean penalty up to which there are as many tables as usual, and more
_EACH, _FEWEST, _MOST = 2, 0.5, 4  # tables for a column: at middling sizes, at least and at most
_GRID = 2.0**-0.25  # from one number of tables to the next smaller one
_SMALL, _MOST_SMALL = 4, 8  # cells of a column that tells little, and tables at most where all do
_WEAK = 2.0  # how many times a penalty counts there
LOOKED_AT = 256
"""Candidates, evenly spaced, whose penalties are looked at."""


@dataclass(frozen=True)
class Choice:
    """What a run does after its first one-way tables.

    Args:
        tables: T.
        one_way: share of rho that all one-way tables get, what they had already with it; 1 where T = 0.
    """

    tables: int
    one_way: float


def usual_tables(sizes: tuple[int, ...], candidates: int) -> int:
    """T = 2m, or 8m where all columns have at most 4 cells: small tables tell little each."""
    return min(candidates, (_MOST_SMALL if _all_small(sizes) else _EACH) * sum(size > 1 for size in sizes))


def most_tables(sizes: tuple[int, ...], candidates: int) -> int:
    """The largest T that a run may choose: 4m, or 8m where all columns have at most 4 cells."""
    return min(candidates, (_MOST_SMALL if _all_small(sizes) else _MOST) * sum(size > 1 for size in sizes))


def shares_after(one_way: float) -> tuple[float, ...]:
    """All shares of the one-way tables that a run may choose where there are others.

    Args:
        one_way: f1, what they had already.

    Example:
        >>> len(shares_after(0.1)), shares_after(0.1)[:2]
        (29, (0.1, 0.125))
    """
    return (one_way, *(step / _STEPS for step in range(1, _STEPS) if step / _STEPS > one_way))


def _all_small(sizes: tuple[int, ...]) -> bool:
    return max(sizes) <= _SMALL


def choose(
    laws: Mapping[tuple[int, ...], NDArray[np.float64]], candidates: Candidates, *, sizes: tuple[int, ...], n: int,
    rho: float, one_way: float, selection: float, seed: int,
) -> Choice:
    """From one-way tables as released, and public facts.

    With p the mean penalty at T = 2m, the share of the one-way tables is 0.15 + 0.3 p, and all where p >= 1.3. T is
    then the largest number with a mean penalty of at most 0.7 up to 2m, or 0.1 beyond that, in steps of a quarter of an
    octave, between m/2 and 4m. Where no column has more than 4 cells it is 8m at most, and penalties count twice: what
    such tables tell is that much less.

    Args:
        laws: the distribution of each column, from the first tables.
        candidates: the tables.
        sizes: cells of each column.
        n: records.
        rho: of the whole run.
        one_way: f1, spent already.
        selection: fs.
        seed: of the public randomness.
    """
    columns, most = sum(size > 1 for size in sizes), most_tables(sizes, len(candidates))
    if not most:
        return Choice(0, 1.0)
    usual = min(most, _EACH * columns)
    weight, penalties = _WEAK if _all_small(sizes) else 1.0, _Penalties(laws, candidates, seed)
    measured = 1.0 - selection / (1.0 - one_way)  # of what tables get, the part that is not for choosing them

    def penalty(tables: int, share: float) -> float:
        return weight * penalties.mean(math.sqrt(tables / (measured * (1.0 - share) * rho)) / n)

    wanted = penalty(usual, one_way)
    if wanted >= _HOPELESS:
        return Choice(0, 1.0)
    share = max(one_way, math.floor(_STEPS * (_SHARE + _SLOPE * wanted) + 0.5) / _STEPS)
    tables = float(most)
    while tables > _FEWEST * columns and penalty(round(tables), share) > (_CLEAR if round(tables) > usual else _WORTH):
        tables *= _GRID
    return Choice(max(1, round(tables)), share)


class _Penalties:
    """The mean penalty of some candidates where columns are independent, at any noise."""

    def __init__(self, laws: Mapping[tuple[int, ...], NDArray[np.float64]], candidates: Candidates, seed: int) -> None:
        places = np.unique(np.linspace(0, len(candidates) - 1, min(len(candidates), LOOKED_AT)).astype(np.int64))
        self._tables = []
        for at in places.tolist():
            table = np.ones(())
            for j in candidates.columns(at):
                table = np.multiply.outer(table, laws[(j,)])
            self._tables.append(np.rint(table.reshape(-1) * 2.0**40).astype(np.int64))
        self._noise = normals(key_of(seed, "tables"), _NORMALS)

    def mean(self, deviation: float) -> float:
        """Of noise with this deviation in a cell, as a fraction of the records; in [0, 2]."""
        found = [penalty_of(table, float(table.sum()), deviation, self._noise, place * 40503 % _NORMALS)
                 for place, table in enumerate(self._tables)]
        return math.fsum(found) / len(found)
