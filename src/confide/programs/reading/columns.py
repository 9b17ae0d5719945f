"""What may stand in a cell: a number within public bounds, or a name out of a public list.

A cell is judged by its own column's public rule alone. What is wrong with one makes the whole row unusable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from confide.tables._cells import is_text, numbers, places, plain, strings
from confide.tables.roles import FINE, INFINITE, MISSING, OUTSIDE, UNLISTED

__all__ = ["Choice", "Column", "Number", "Points", "reason"]

_Reals = NDArray[np.float64]
_Problems = NDArray[np.int8]
_SHOWN = 12  # names that a message has


@dataclass(frozen=True, kw_only=True)
class Points:
    """The public scale of values: from a lowest number, worth nothing, to a highest one, worth 1.

    Args:
        lowest: counts as 0.
        highest: counts as 1.
        clip: whether a number beyond moves to the bound; else it makes a row unusable.
    """

    lowest: float = 0.0
    highest: float = 1.0
    clip: bool = False

    @property
    def unit(self) -> float:
        """Points that a value of 1 stands for."""
        return self.highest - self.lowest


class Column(Protocol):
    """A column of the file."""

    @property
    def name(self) -> str: ...

    def cells(self, column: Any) -> tuple[_Reals, _Problems]:
        """(m,) numbers, and what is wrong with each."""
        ...

    def typed(self, cell: float) -> str | float:
        """What gives one such number."""
        ...

    def limit(self) -> str:
        """What is accepted, in words."""
        ...


@dataclass(frozen=True, kw_only=True)
class Number:
    """Numbers within public bounds, scaled to [0, 1] or to another unit.

    Args:
        name: of the column.
        lowest: what is accepted at least.
        highest: what is accepted at most.
        zero: what counts as 0.
        unit: what counts as 1.
        clip: whether a number beyond its bounds moves to them.
        empty: what an empty cell counts as, as a number of the file; None where it makes the row unusable.

    Example:
        >>> import pyarrow as pa
        >>> Number(name="law", lowest=0, highest=8, zero=0, unit=8, empty=0).cells(pa.array(["2", "", "9", "x"]))
        (array([0.25, 0.  , 0.  , 0.  ]), array([0, 0, 3, 1], dtype=int8))
    """

    name: str
    lowest: float
    highest: float
    zero: float = 0.0
    unit: float = 1.0
    clip: bool = False
    empty: float | None = None

    @classmethod
    def of_values(cls, name: str, points: Points) -> Number:
        """A column of values on the public scale; an empty cell is worth nothing.

        Args:
            name: of the column.
            points: the scale.
        """
        return cls(name=name, lowest=points.lowest, highest=points.highest, zero=points.lowest, unit=points.unit,
                   clip=points.clip, empty=points.lowest)

    def cells(self, column: Any) -> tuple[_Reals, _Problems]:
        array = plain(column)
        found = numbers(self.name, array)
        blank = np.isnan(found)
        if is_text(array):  # what is written and no number is wrong; of a column of numbers, a missing one is left out
            written = pc.fill_null(pc.not_equal(strings(self.name, array), ""), False).to_numpy(zero_copy_only=False)
            blank &= ~written
        problems = np.zeros(len(found), dtype=np.int8)
        if not self.clip:
            problems[(found < self.lowest) | (found > self.highest)] = OUTSIDE
        problems[np.isinf(found)] = INFINITE
        problems[np.isnan(found)] = MISSING
        if self.empty is not None:
            problems[blank] = FINE
            found = np.where(blank, self.empty, found)
        inside = np.clip(np.where(problems == FINE, found, self.zero), self.lowest, self.highest)
        return (inside - self.zero) / self.unit, problems

    def typed(self, cell: float) -> str | float:
        return self.zero + cell * self.unit

    def limit(self) -> str:
        return f"must be in [{self.lowest:.12g}, {self.highest:.12g}]"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Names out of a public list, as their ranks.

    Args:
        name: of the column.
        names: the list.
    """

    name: str
    names: tuple[str, ...]

    def cells(self, column: Any) -> tuple[_Reals, _Problems]:
        words = strings(self.name, plain(column))
        found = places(words, tuple(self.names)).astype(np.float64)
        return found, np.where(found < 0, UNLISTED, FINE).astype(np.int8)

    def typed(self, cell: float) -> str | float:
        return self.names[int(cell)]

    def limit(self) -> str:
        more = ", ..." if len(self.names) > _SHOWN else ""
        return f"must be one of {', '.join(self.names[:_SHOWN])}{more}"


def reason(column: Column, problem: int) -> str:
    """What is wrong with a cell, in public terms.

    Args:
        column: where it stands.
        problem: of the cell.
    """
    words = {MISSING: "is not a number", INFINITE: "is not finite", OUTSIDE: "is out of bounds",
             UNLISTED: "is not on the public list"}
    return f"{column.name}: {words[problem]}; {column.limit()}"
