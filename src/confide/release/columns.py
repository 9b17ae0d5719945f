"""Public roles of columns that end in bits: bins of a number, listed levels, a bit of its own.

Everything about the bits is public: bounds, numbers of bins, levels and their order stand in the plan. A value out of
them is clipped or makes its record unusable; nothing is ever taken from the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from confide.contract.checks import finite, one_of, whole
from confide.contract.errors import InvalidInput
from confide.tables._cells import numbers
from confide.tables._values import as_array
from confide.tables.roles import FINE, INFINITE, MISSING, OUTSIDE, UNLISTED, Category, Cells

__all__ = ["MOST_CELLS", "UNEVEN", "Binned", "Bit", "Column", "Levels"]

MOST_CELLS = 1 << 16
"""Cells of one column, which are stored in 16 bits."""

UNEVEN = UNLISTED + 1
"""The problem of a number that must be whole and is not."""


def _name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidInput("column", f"{value!r} is no column name", "must be a text that is not empty")
    return value


def _bins(value: object) -> int:
    bins = whole("bins", value, at_least=1)
    if bins > MOST_CELLS:
        raise InvalidInput("bins", f"{bins} is too many", f"must be at most {MOST_CELLS}")
    return bins


@dataclass(frozen=True, kw_only=True)
class Binned:
    """A number, told by the bin that it lies in; each bin is an attribute.

    The bin of a value v is floor((v - lower) / ((upper - lower) / bins)) in double precision, and `upper` belongs to
    the last bin. The rule never decreases in v, so that every bin is an interval; at an edge that is no double it can
    round down: with ten bins of [0, 1], 0.3 / 0.1 is 2.9999999999999996 and 0.3 lies in the third bin.

    Args:
        column: the column's name.
        lower: smallest value that is accepted, in units of the column.
        upper: largest value that is accepted.
        bins: how many of equal width, in [1, 65,536].
        whole: whether the values are whole numbers. Bins without a whole number are then never reached, and that is
            public.
        out_of_bounds: "reject" makes a record with a value out of bounds unusable; "clip" moves the value to the
            bound. NaN, infinite and missing values are unusable under both, and fractions where values must be whole.
        unit: unit of the column, for people.

    Raises:
        InvalidInput: a field is out of range.

    Source: spec query_release F (the published binning).

    Example:
        >>> age = Binned(column="age", lower=0, upper=100, bins=20, unit="years")
        >>> age.encode([0, 24.9, 25, 100, 101]).values, age.names[5]
        (array([ 0,  4,  5, 19,  0]), 'age in [25, 30)')
    """

    column: str
    lower: float
    upper: float
    bins: int
    whole: bool = False
    out_of_bounds: Literal["reject", "clip"] = "reject"
    unit: str = ""

    def __post_init__(self) -> None:
        _name(self.column)
        lower, upper = finite("lower", self.lower), finite("upper", self.upper)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "bins", _bins(self.bins))
        if not lower < upper:
            raise InvalidInput("upper", f"{upper:g} is not above lower = {lower:g}")
        if not (np.isfinite(upper - lower) and self.step > 0 and np.isfinite((upper - lower) / self.step)):
            raise InvalidInput("upper", "the bounds are too far apart, or too close, for floating point")
        one_of("out_of_bounds", self.out_of_bounds, ("reject", "clip"))
        if not isinstance(self.unit, str):
            raise InvalidInput("unit", f"{self.unit!r} is not a text")
        if not len(self.reachable):
            raise InvalidInput("whole", f"no whole number lies in [{lower:g}, {upper:g}]")

    @property
    def step(self) -> float:
        """Width of a bin."""
        return (self.upper - self.lower) / self.bins

    @cached_property
    def names(self) -> tuple[str, ...]:
        """One text for each bin, with its edges to 12 digits."""
        edges = [f"{self.lower + bin_ * (self.upper - self.lower) / self.bins:.12g}" for bin_ in range(self.bins + 1)]
        ends = [*[")"] * (self.bins - 1), "]"]
        return tuple(f"{self.column} in [{edges[k]}, {edges[k + 1]}{ends[k]}" for k in range(self.bins))

    @cached_property
    def reachable(self) -> np.ndarray:
        """The bins that a value can lie in, ascending, int64."""
        bins = np.arange(self.bins)
        if not self.whole:
            return bins
        near = np.ceil(self.lower + bins * self.step)[:, None] + np.arange(-1, 3)
        near = near[(near >= self.lower) & (near <= self.upper)]
        return np.unique(self.place(near))

    def place(self, values: np.ndarray) -> np.ndarray:
        """The bins of finite numbers within the bounds, int64."""
        found = np.minimum(np.floor((values - self.lower) / self.step).astype(np.int64), self.bins - 1)
        found[values == self.upper] = self.bins - 1
        return found

    def encode(self, cells: Any) -> Cells:
        """The bin of each of m cells.

        Args:
            cells: Arrow or numpy array or sequence of numbers, or of texts that spell them.

        Returns:
            Bins, int64 (0 where not fine), and what is wrong with each cell.

        Raises:
            InvalidInput: the column's type holds no numbers. Never depends on the values.
        """
        raw = numbers(self.column, as_array(cells)) + 0.0
        problems = np.zeros(len(raw), np.int8)
        if self.out_of_bounds == "reject":
            problems[(raw < self.lower) | (raw > self.upper)] = OUTSIDE
        if self.whole:
            problems[(problems == FINE) & (raw != np.floor(raw))] = UNEVEN
        problems[np.isinf(raw)] = INFINITE
        problems[np.isnan(raw)] = MISSING
        raw = np.where(problems == FINE, np.clip(raw, self.lower, self.upper), self.lower)
        if self.whole:  # a bound that is no whole number is none of the values
            raw = np.clip(raw, np.ceil(self.lower), np.floor(self.upper))
        return Cells(np.where(problems == FINE, self.place(raw), 0), problems)

    def limit(self) -> str:
        """What is accepted, in words."""
        what = "a whole number in " if self.whole else "in "
        return f"must be {what}[{self.lower:.12g}, {self.upper:.12g}]" + (f" {self.unit}" if self.unit else "")

    def reason(self, problem: int) -> str:
        """What a problem means, in public terms."""
        words = {MISSING: "is missing or not a number", INFINITE: "is not finite", OUTSIDE: "is out of bounds",
                 UNEVEN: "is not a whole number"}
        return f"{self.column}: {words[problem]}; {self.limit()}"


@dataclass(frozen=True, kw_only=True)
class Levels:
    """A level out of a public list; each one is an attribute, or each of more or fewer bins over their ranks.

    Args:
        column: the column's name.
        levels: at least two different texts. Whole numbers and true/false count by their text; a list of the words
            true and false is compared without regard to case.
        bins: None gives each level its own attribute. Otherwise level number i, from 0, of L lies in the bin
            floor(i bins / (L - 1)), the last one in the last bin: the published experiments spread six levels over
            sixty attributes, of which 54 are always 0, and put 66 levels into 65.

    Raises:
        InvalidInput: a field is out of range.

    Example:
        >>> Levels(column="sex", levels=("female", "male")).names
        ('sex = female', 'sex = male')
        >>> Levels(column="kin", levels=("wife", "child", "other"), bins=5).reachable
        array([0, 2, 4])
    """

    column: str
    levels: tuple[str, ...]
    bins: int | None = None

    def __post_init__(self) -> None:
        role = Category(column=_name(self.column), levels=self.levels)
        object.__setattr__(self, "levels", role.levels)
        if self.bins is not None:
            object.__setattr__(self, "bins", _bins(self.bins))
        elif len(self.levels) > MOST_CELLS:
            raise InvalidInput("levels", f"{len(self.levels)} are too many", f"must be at most {MOST_CELLS}")

    @cached_property
    def category(self) -> Category:
        """The role that reads the texts."""
        return Category(column=self.column, levels=self.levels)

    @cached_property
    def bin_of(self) -> np.ndarray:
        """The bin of each level, int64."""
        rank, last = np.arange(len(self.levels)), len(self.levels) - 1
        return rank if self.bins is None else np.minimum(rank * self.bins // last, self.bins - 1)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """One text for each attribute; one that no level reaches says so."""
        count = len(self.levels) if self.bins is None else self.bins
        words: list[list[str]] = [[] for _ in range(count)]
        for level, found in zip(self.levels, self.bin_of.tolist(), strict=True):
            words[found].append(level)
        return tuple(f"{self.column} = {' or '.join(each)}" if each else f"{self.column} bin {k} (unreachable)"
                     for k, each in enumerate(words))

    @cached_property
    def reachable(self) -> np.ndarray:
        """The bins that have a level, ascending, int64."""
        return np.unique(self.bin_of)

    def encode(self, cells: Any) -> Cells:
        """The bin of each of m cells (int64; 0 where not fine) and what is wrong with it.

        Raises:
            InvalidInput: the column's type can hold none of the levels. Never depends on the values.
        """
        values, problems = self.category.encode(cells)
        return Cells(np.where(problems == FINE, self.bin_of[values], 0), problems)

    def limit(self) -> str:
        """What is accepted, in words."""
        return self.category.limit()

    def reason(self, problem: int) -> str:
        """What a problem means, in public terms."""
        return self.category.reason(problem)


@dataclass(frozen=True, kw_only=True)
class Bit:
    """A column that is one attribute: true or false, 1 or 0.

    Args:
        column: the column's name, which is the attribute's too.

    Example:
        >>> Bit(column="smoker").encode([True, "0", 2, None])
        Cells(values=array([1, 0, 0, 0]), problems=array([0, 0, 4, 1], dtype=int8))
    """

    column: str

    def __post_init__(self) -> None:
        _name(self.column)

    @property
    def names(self) -> tuple[str, ...]:
        """The column's name."""
        return (self.column,)

    @property
    def reachable(self) -> np.ndarray:
        """Both values, as cells."""
        return np.arange(2)

    def encode(self, cells: Any) -> Cells:
        """0 or 1 of each of m cells, int64, and what is wrong with it.

        Raises:
            InvalidInput: the column's type holds neither numbers nor true and false. Never depends on the values.
        """
        raw = numbers(self.column, as_array(cells))
        problems = np.where((raw == 0) | (raw == 1), FINE, UNLISTED).astype(np.int8)
        problems[np.isnan(raw)] = MISSING
        return Cells((raw == 1).astype(np.int64), problems)

    def limit(self) -> str:
        """What is accepted, in words."""
        return "must be true or false, 1 or 0"

    def reason(self, problem: int) -> str:
        """What a problem means, in public terms."""
        return f"{self.column}: {'is missing' if problem == MISSING else 'is no bit'}; {self.limit()}"


Column = Binned | Levels | Bit
