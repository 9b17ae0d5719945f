"""Public roles of columns. A role turns values into bits: the bins of a number, the levels of a list, or a single bit.

Everything about the bits is public: bounds, numbers of bins, levels and their order are in the plan and never depend on
the data. A number outside the bounds of its column is clipped or makes the record unusable. A text outside the list of
levels makes the record unusable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.checks import finite, joined, whole
from confide.contract.direction_marks import check_direction, check_directions
from confide.contract.errors import InvalidInput
from confide.contract.wire import wire
from confide.privacy.accounting import written, written_up
from confide.release._inputs import flag
from confide.tables._cells import is_text, numbers, plain
from confide.tables._fields import bounds, column_name, outside_and_unit
from confide.tables._values import as_array
from confide.tables.roles import FINE, INFINITE, MISSING, OUTSIDE, UNEVEN, UNLISTED, Category, Cells

__all__ = ["MOST_CELLS", "Binned", "Bit", "Column", "Levels", "cells_of"]

MOST_CELLS = 1 << 16
"""Largest number of values (cells) of one column, which are stored in 16 bits."""

_EXACT = 2.0**53  # up to here doubles hold every whole number


def _bins(value: object) -> int:
    bins = whole("bins", value, at_least=1)
    if bins > MOST_CELLS:
        raise InvalidInput("bins", f"{bins} is too many", f"must be at most {MOST_CELLS}")
    return bins


def _edges(value: object) -> tuple[float, ...]:
    """Check that the edges of bins are finite and ascending. A negative zero becomes a plain zero."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise InvalidInput("edges", f"{type(value).__name__} is not a sequence",
                           "must be at least two ascending numbers")
    if not 2 <= len(value) <= MOST_CELLS + 1:
        raise InvalidInput("edges", f"{len(value)} given", f"must be 2 to {MOST_CELLS + 1} ascending numbers")
    found = tuple(finite("edges", each) + 0.0 for each in value)
    for low, high in pairwise(found):
        if not low < high:
            raise InvalidInput("edges", f"{high:.12g} comes after {low:.12g}", "must ascend strictly")
    return found


def _text(edge: float) -> str:
    """A number in 12 digits, or in as many digits as its exact value needs."""
    short = f"{edge:.12g}"
    return short if float(short) == edge else repr(edge)


@wire("Binned", "column lower upper bins whole out_of_bounds unit")
@dataclass(frozen=True, kw_only=True)
class Binned:
    """The role of a number that is stored as its bin. Each bin is an attribute.

    The edges in the names of the bins are the edges of the bins, unless two different edges would have the same
    spelling. Given `edges` are spelled exactly in the names. Edges of bins of equal width are spelled with 12 digits:
    the first of three bins of [0, 1] ends at 0.333333333333. A floating-point value of 32 or 64 bits counts as its
    printed decimal number. With ten bins of [0, 1], the value 0.3 therefore lies in [0.3, 0.4).

    Args:
        column: name of the column in the table.
        lower: smallest accepted value, in units of the column.
        upper: largest accepted value, in units of the column.
        bins: number of bins of equal width, in [1, 65,536]. If `edges` is given, the field `bins` holds the edges, as
            in manifests.
        whole: whether the values are whole numbers, with absolute values of at most 2^53. A bin that contains no whole
            number has no values, and the name of the bin states this.
        out_of_bounds: "reject" makes a record with a value out of bounds unusable; "clip" moves the value to the bound.
            NaN, infinite and missing values are unusable under both settings of `out_of_bounds`, and so are fractions
            if values must be whole.
        unit: unit of the column, for display only.
        edges: 2 to 65,537 ascending numbers, in place of `lower`, `upper` and `bins`; None for equal widths. The edges
            are public. The edges must come from the question of the study or from general knowledge of the field, never
            from the data.

    Raises:
        InvalidInput: a field is out of range; the bins are defined both by `edges` and by `bins`, or in neither way; or
            `column` or `unit` has a character that turns the direction of the text around it.

    Source: spec query_release F (the published binning).

    Example:
        >>> age = Binned(column="age", lower=0, upper=100, bins=20, unit="years")
        >>> age.encode([0, 24.9, 25, 100, 101]).values, age.names[5]
        (array([ 0,  4,  5, 19,  0]), 'age in [25, 30)')
        >>> age = Binned(column="age", edges=(0, 18, 25, 40, 65, 100), whole=True)
        >>> age.encode([17, 18, 100]).values, age.names[1], age.names[4]
        (array([0, 1, 4]), 'age in [18, 25)', 'age in [65, 100]')
    """

    column: str
    lower: float = None  # type: ignore[assignment]  # never after construction
    upper: float = None  # type: ignore[assignment]
    bins: int | tuple[float, ...] = None  # type: ignore[assignment]
    whole: bool = False
    out_of_bounds: Literal["reject", "clip"] = "reject"
    unit: str = ""
    edges: InitVar[Sequence[float] | None] = None

    def __post_init__(self, edges: Sequence[float] | None) -> None:
        column_name(self.column)
        unequal = edges is not None or isinstance(self.bins, list | tuple | np.ndarray)
        lower, upper, bins = self._unequal(edges) if unequal else self._equal()
        for name, value in (("lower", lower), ("upper", upper), ("bins", bins)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "edges", bins if isinstance(bins, tuple) else None)
        object.__setattr__(self, "whole", flag("whole", self.whole))
        outside_and_unit(self.out_of_bounds, self.unit)
        check_direction("column", self.column)
        check_direction("unit", self.unit)
        if self.whole and max(abs(lower), abs(upper)) > _EXACT:
            raise InvalidInput("whole", f"is set for a column with bounds up to {max(abs(lower), abs(upper)):.6g}",
                               "bounds must be in [-2^53, 2^53], where 64-bit floats have all whole numbers")
        if not len(self.reachable):
            raise InvalidInput("whole", f"no whole number lies in [{lower:g}, {upper:g}]")

    def _equal(self) -> tuple[float, float, int]:
        for name in ("lower", "upper", "bins"):
            if getattr(self, name) is None:
                raise InvalidInput(name, "is not given", "give lower, upper and bins, or give edges alone")
        lower, upper = bounds(self.lower, self.upper)
        bins = _bins(self.bins)
        step = (upper - lower) / bins
        if not (np.isfinite(upper - lower) and step > 0 and np.isfinite((upper - lower) / step)):
            wrong = "close" if np.isfinite(upper - lower) else "far apart"
            raise InvalidInput("upper", f"the bounds are too {wrong} for floating point")
        return lower, upper, bins

    def _unequal(self, edges: Sequence[float] | None) -> tuple[float, float, tuple[float, ...]]:
        given = {name: getattr(self, name) for name in ("lower", "upper", "bins")}
        # dataclasses.replace says everything again: the bounds, and the edges twice.
        if edges is not None and not (isinstance(given["bins"], tuple) and given["bins"] == edges):
            both = [name for name, value in given.items() if value is not None]
            if both:
                raise InvalidInput("edges", f"are given together with {joined(both)}",
                                   "give lower, upper and bins, or give edges alone")
            found = _edges(edges)
            return found[0], found[-1], found
        found = _edges(given["bins"])
        for name, edge in (("lower", found[0]), ("upper", found[-1])):
            if given[name] is not None and finite(name, given[name]) != edge:
                raise InvalidInput(name, f"{given[name]!r} differs from the edge {edge:.12g}",
                                                                      "leave out this bound, since `edges` is given")
        return found[0], found[-1], found

    @property
    def count(self) -> int:
        """Number of bins."""
        return len(self.bins) - 1 if isinstance(self.bins, tuple) else self.bins

    @property
    def step(self) -> float:
        """Width of each bin, in units of the column; NaN for bins with given `edges`."""
        return math.nan if isinstance(self.bins, tuple) else (self.upper - self.lower) / self.bins

    @cached_property
    def cuts(self) -> tuple[str, ...]:
        """The edges as texts, as spelled in the names: with 12 digits for equal widths, exactly for given edges."""
        if isinstance(self.bins, tuple):
            return tuple(map(_text, self.bins))
        return tuple(f"{self.lower + bin_ * (self.upper - self.lower) / self.bins:.12g}"
                     for bin_ in range(self.bins + 1))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each bin, with its edges."""
        ends = [*[")"] * (self.count - 1), "]"]
        return tuple(f"{self.column} in [{self.cuts[k]}, {self.cuts[k + 1]}{ends[k]}" for k in range(self.count))

    @cached_property
    def reachable(self) -> np.ndarray:
        """The bins that a value can lie in, ascending, int64."""
        bins = np.arange(self.count)
        if not self.whole:
            return bins
        near = np.ceil(np.append(self.lower, self.starts))[:, None] + np.arange(-1, 3)
        near = near[(near >= self.lower) & (near <= self.upper)]
        return np.unique(self.place(near))

    @cached_property
    def starts(self) -> np.ndarray:
        """The smallest double in each bin except the first bin, ascending; float64 (count - 1,)."""
        if isinstance(self.bins, tuple):
            return np.array(self.bins[1:-1])
        named = self._named_starts
        if named is not None:
            return named
        # The names do not tell these edges apart: they are what the bounds, as they are written, give.
        lower, upper = written(self.lower), written(self.upper)
        return np.array([written_up(lower + (upper - lower) * Fraction(place, self.bins))
                         for place in range(1, self.bins)])

    @cached_property
    def _named_starts(self) -> np.ndarray | None:
        """The starts of bins of equal widths, as spelled in their names; None if the edges are given, or if two names
        are equal.
        """
        if isinstance(self.bins, tuple):
            return None
        found = np.array([float(cut) for cut in self.cuts[1:-1]])
        return found if (np.diff(found, prepend=self.lower, append=self.upper) > 0).all() else None

    def place(self, values: np.ndarray) -> np.ndarray:
        """The bin of each value, int64. The values must be finite numbers within the bounds of the column."""
        if self._named_starts is None:
            return np.searchsorted(self.starts, values, side="right").astype(np.int64)
        # A quotient that is off by less than 1: a name is off by half of its last digit at most, and names differ.
        ends = np.concatenate(([-math.inf], self.starts, [math.inf]))
        found = np.minimum(((values - self.lower) / self.step).astype(np.int64), self.count - 1)
        found += values >= ends[found + 1]
        found -= values < ends[found]
        return found

    def encode(self, cells: Any) -> Cells:
        """The bin of each of m cells.

        Args:
            cells: Arrow array, numpy array or sequence of m numbers, or of texts that spell numbers.

        Returns:
            The bins, int64 (0 for a cell with a problem), and the problem code of each cell.

        Raises:
            InvalidInput: the column's type holds no numbers. The error never depends on the values.
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
        """The accepted values, in words."""
        what = "a whole number in " if self.whole else "in "
        return f"must be {what}[{self.lower:.12g}, {self.upper:.12g}]" + f" (unit: {self.unit})" * bool(self.unit)

    def reason(self, problem: int) -> str:
        """Text on the meaning of a problem code, without private values."""
        words = {MISSING: "is missing or not a number", INFINITE: "is not finite", OUTSIDE: "is out of bounds",
                 UNEVEN: "is not a whole number"}
        return f"{self.column}: {words[problem]}; {self.limit()}"


@wire("Levels", "column levels bins")
@dataclass(frozen=True, kw_only=True)
class Levels:
    """The role of a column with values (levels) from a public list. Each level is an attribute; alternatively the
    levels are spread over a given number of bins, by their positions in the list.

    Args:
        column: name of the column in the table.
        levels: at least two different texts. Whole numbers and booleans are converted to texts. If the levels are the
            words true and false, letter case is ignored.
        bins: number of bins. The default None gives each level its own attribute. If a number of bins is given, level
            number i of L levels (counted from 0) lies in bin floor(i bins / (L - 1)). The last level lies in the last
            bin. The published experiments spread six levels over sixty attributes, of which 54 are always 0, and put 66
            levels into 65 bins.

    Raises:
        InvalidInput: a field is out of range, or a text has a character that turns the direction of the text around it.

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
        role = Category(column=self.column, levels=self.levels)
        object.__setattr__(self, "levels", role.levels)
        check_direction("column", self.column)
        check_directions(self.levels, "levels")
        if self.bins is not None:
            object.__setattr__(self, "bins", _bins(self.bins))
        elif len(self.levels) > MOST_CELLS:
            raise InvalidInput("levels", f"{len(self.levels)} are too many", f"must be at most {MOST_CELLS}")

    @cached_property
    def category(self) -> Category:
        """The role that reads the texts of the levels."""
        return Category(column=self.column, levels=self.levels)

    @cached_property
    def bin_of(self) -> np.ndarray:
        """The bin in which each level lies, int64."""
        rank, last = np.arange(len(self.levels)), len(self.levels) - 1
        return rank if self.bins is None else np.minimum(rank * self.bins // last, self.bins - 1)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each attribute. The name of an attribute that no level reaches says that the attribute is
        unreachable.
        """
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
        """The bin of each of m cells (int64; 0 for a cell with a problem), and the problem code of each cell.

        Raises:
            InvalidInput: the column's type can hold none of the levels. The error never depends on the values.
        """
        values, problems = self.category.encode(cells)
        return Cells(np.where(problems == FINE, self.bin_of[values], 0), problems)

    def limit(self) -> str:
        """The accepted values, in words."""
        return self.category.accepted()

    def reason(self, problem: int) -> str:
        """Text on the meaning of a problem code, without private values."""
        return self.category.reason(problem)


@wire("Bit", "column true false")
@dataclass(frozen=True, kw_only=True)
class Bit:
    """The role of a column that is a single attribute: true or false, 1 or 0, or one of two named texts.

    Args:
        column: the column's name, which is also the attribute's name unless texts are named.
        true: the text for which the attribute is 1; whole numbers are converted to texts. The default None stands for
            true and 1.
        false: the text for which the attribute is 0; the default None stands for false and 0. Either both texts are
            named or neither.

    Raises:
        InvalidInput: only one text is named, both texts are equal, or a text has a character that turns the direction
            of the text around it.

    Example:
        >>> Bit(column="smoker").encode([True, "0", 2, None])
        Cells(values=array([1, 0, 0, 0]), problems=array([0, 0, 4, 1], dtype=int8))
        >>> Bit(column="smoker").encode(["yes", ""]).problems  # one is no bit, the other is missing
        array([4, 1], dtype=int8)
        >>> smoker = Bit(column="smoker", true="yes", false="no")
        >>> smoker.names, smoker.encode(["yes", "no", "1", None])
        (('smoker = yes',), Cells(values=array([1, 0, 0, 0]), problems=array([0, 0, 4, 1], dtype=int8)))
    """

    column: str
    true: str | None = None
    false: str | None = None

    def __post_init__(self) -> None:
        column_name(self.column)
        if (self.true is None) != (self.false is None):
            raise InvalidInput("false" if self.false is None else "true", "is missing",
                               "give the texts of both true and false, or neither")
        if self.true is not None:
            false, true = Category(column=self.column, levels=(self.false, self.true)).levels  # type: ignore[arg-type]
            object.__setattr__(self, "false", false)
            object.__setattr__(self, "true", true)
        for name in ("column", "true", "false"):
            check_direction(name, getattr(self, name))

    @cached_property
    def category(self) -> Category | None:
        """The role that reads the two named texts, first the text for 0 and then the text for 1; None if no texts are
        named.
        """
        if self.true is None or self.false is None:
            return None
        return Category(column=self.column, levels=(self.false, self.true))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of the attribute: the column's name, followed by the text for 1 if texts are named."""
        return (self.column if self.true is None else f"{self.column} = {self.true}",)

    @property
    def reachable(self) -> np.ndarray:
        """The values 0 and 1, int64."""
        return np.arange(2)

    def encode(self, cells: Any) -> Cells:
        """The bit of each of m cells (0 or 1, int64), and the problem code of each cell.

        Raises:
            InvalidInput: the column's type holds neither numbers nor booleans, or none of the named texts. The error
                never depends on the values.
        """
        if self.category is not None:
            return self.category.encode(cells)
        array = plain(as_array(cells))
        raw = numbers(self.column, array)
        problems = np.where((raw == 0) | (raw == 1), FINE, UNLISTED).astype(np.int8)
        empty = np.isnan(raw)
        if is_text(array):  # a text that is no number is there, but for the one of what is none
            texts = pc.ascii_lower(pc.ascii_trim_whitespace(array))
            empty = pc.is_in(texts, value_set=pa.array(["", "nan", None], texts.type)).to_numpy(zero_copy_only=False)
        problems[empty] = MISSING
        return Cells((raw == 1).astype(np.int64), problems)

    def limit(self) -> str:
        """The accepted values, in words."""
        return "must be true or false, 1 or 0" if self.category is None else self.category.accepted()

    def reason(self, problem: int) -> str:
        """Text on the meaning of a problem code, without private values."""
        if self.category is not None:
            return self.category.reason(problem)
        if problem == MISSING:
            return f"{self.column}: is missing; {self.limit()}"
        return f"{self.column}: is not a bit; {self.limit()}, or texts that the file names: {_NAMED}"


    @property
    def unlisted(self) -> tuple[str, str] | None:
        """Two texts of error messages: for one cell that is no bit, and for several such cells. The result is None if
        texts are named. In this case the general message about levels is used.
        """
        return None if self.category is not None else (
            f"is not a bit (name its text: {_NAMED})", f"are not bits (name their texts: {_NAMED})")


_NAMED = 'true = "yes", false = "no"'
"""Example of the entries in a campaign file that name the two texts of a bit."""

Column = Binned | Levels | Bit


def cells_of(column: Column, bins: np.ndarray) -> np.ndarray:
    """The cell numbers of bins: the positions of the bins among the bins that values can reach.

    Args:
        column: the public role of the column.
        bins: bins of accepted values. For a bin that no value reaches, the result is still some cell of the column,
            because no content of a record may stop a run.

    Example:
        >>> cells_of(Binned(column="a", lower=0, upper=1, bins=4, whole=True), np.array([0, 3])).tolist()
        [0, 1]
    """
    return np.minimum(np.searchsorted(column.reachable, bins), len(column.reachable) - 1)
