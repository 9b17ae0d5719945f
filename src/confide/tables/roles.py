"""Public roles of columns. A role is a rule that turns a cell into a number within public bounds.

Bounds and levels are set in the campaign file. They are never taken from the data, because a bound that depends on one
participant's value reveals this value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.checks import finite
from confide.contract.errors import InvalidInput
from confide.contract.remedies import within
from confide.tables._cells import numbers, places, plain, strings, whole_numbers
from confide.tables._fields import bounds, column_name, outside_and_unit
from confide.tables._values import as_array, cell
from confide.tables.read_options import Form

__all__ = ["FINE", "INFINITE", "MISSING", "OUTSIDE", "UNEVEN", "UNLISTED", "Above", "Category", "Cells", "Measured",
           "Numeric", "Word"]

FINE, MISSING, INFINITE, OUTSIDE, UNLISTED, UNEVEN = range(6)
"""Codes of the problems of a cell. The meanings, in this order: no problem; no value, or a value of the wrong type; not
finite; out of bounds; not on the list of levels; not a whole number.
"""


class Cells(NamedTuple):
    """The cells of a column, encoded by its role.

    Args:
        values: shape (m,): the numbers that the role makes of the cells, such as scaled numbers in [-1, 1] (float64) or
            ranks of levels (int64); 0 for a cell with a problem.
        problems: code of each cell's problem, int8 of shape (m,), such as FINE or MISSING.
    """

    values: np.ndarray
    problems: np.ndarray


def _level(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if not isinstance(value, str | int | np.integer):
        raise InvalidInput("levels", f"{value!r} is not a level", "must be a text, a whole number or true/false")
    if not str(value) or str(value) != str(value).strip():
        raise InvalidInput("levels", f"{value!r} is empty or padded with white space")
    return str(value)


def _show(value: object) -> str:
    try:
        text = repr(value) if isinstance(value, str | bytes) else str(value)
    except ValueError:  # Python refuses to write out an integer of thousands of digits
        text = "the value"
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True, kw_only=True)
class Numeric:
    """The role of a number. A number v is scaled to (v - center) / max(upper - center, center - lower), which lies in
    [-1, 1].

    Args:
        column: name of the column in the table.
        lower: smallest accepted value, in units of the column.
        upper: largest accepted value, in units of the column.
        center: the value that is scaled to 0, in [lower, upper]; the midpoint when None.
        out_of_bounds: "reject" makes a record with a value out of bounds invalid; "clip" moves the value to the bound.
            NaN, infinite and missing values are invalid under both settings of `out_of_bounds`.
        unit: name of the column's unit, shown to people.

    Raises:
        InvalidInput: a field is out of range.

    Example:
        >>> Numeric(column="age", lower=20, upper=60, unit="years").encode([20, 35.0, None, 61]).values
        array([-1.  , -0.25,  0.  ,  0.  ])
    """

    column: str
    lower: float
    upper: float
    center: float | None = None
    out_of_bounds: Literal["reject", "clip"] = "reject"
    unit: str = ""
    reads: ClassVar[Form] = "numbers"
    """The form in which the role reads its column (`TableSource.for_roles`)."""

    def __post_init__(self) -> None:
        column_name(self.column)
        lower, upper = bounds(self.lower, self.upper)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        if self.center is not None:
            center = finite("center", self.center)
            object.__setattr__(self, "center", center)
            if not lower <= center <= upper:
                raise InvalidInput("center", f"{center:g} is out of bounds", f"must be in {within(lower, upper)}")
        if not math.isfinite(self.scale):
            raise InvalidInput("upper", "the bounds are too far apart for floating point")
        outside_and_unit(self.out_of_bounds, self.unit)

    @property
    def middle(self) -> float:
        """The value that is scaled to 0."""
        return self.lower / 2 + self.upper / 2 if self.center is None else self.center

    @property
    def scale(self) -> float:
        """The difference in units of the column that corresponds to a difference of 1 in the scaled number."""
        return max(self.upper - self.middle, self.middle - self.lower)

    def encode(self, cells: Any, out: np.ndarray | None = None) -> Cells:
        """Scale the cells of a column.

        Args:
            cells: Arrow array, numpy array or sequence of m numbers, or of texts that spell numbers. An object in a
                sequence that is neither a number nor a text counts as missing.
            out: float64 array of shape (m,) into which the scaled values are written; None for a new array.

        Raises:
            InvalidInput: the column's type holds no numbers. The error never depends on the values.
        """
        return self.scaled(numbers(self.column, as_array(cells)), out)

    def scaled(self, values: np.ndarray, out: np.ndarray | None = None) -> Cells:
        """Scale numbers that are already parsed: float64 of shape (m,), with NaN for a missing number. The result has
        the form of the result of `encode`.
        """
        raw = values + 0.0  # one zero: -0 and 0 would differ after clipping
        problems = np.zeros(len(raw), np.int8)
        if self.out_of_bounds == "reject":
            problems[(raw < self.lower) | (raw > self.upper)] = OUTSIDE
        problems[np.isinf(raw)] = INFINITE
        problems[np.isnan(raw)] = MISSING
        if out is None:
            out = np.empty(len(raw), np.float64)
        # The same steps for every row, whether or not another one has a problem.
        raw = np.where(problems == FINE, np.clip(raw, self.lower, self.upper), self.middle)
        # Subtraction and division are monotone under rounding, so the bounds map to at most 1 exactly.
        np.subtract(raw, self.middle, out=out)
        np.divide(out, self.scale, out=out)
        return Cells(out, problems)

    def limit(self) -> str:
        """The accepted values, as text."""
        return f"must be in [{self.lower:.12g}, {self.upper:.12g}]" + f" (unit: {self.unit})" * bool(self.unit)

    def reason(self, problem: int) -> str:
        """Text on the meaning of a problem code, without private values."""
        words = {MISSING: "is missing or not a number", INFINITE: "is not finite", OUTSIDE: "is out of bounds"}
        return f"{self.column}: {words[problem]}; {self.limit()}"

    def encode_one(self, value: object) -> tuple[float, str | None]:
        """Scale one participant's value. The function is for the participant's own device.

        Returns:
            The scaled number and None; or 0 and a message for the participant alone, with the column, the problem and
            the accepted values.
        """
        cells, message = _encode_one(self, value)
        return float(cells[0]), message


@dataclass(frozen=True, kw_only=True)
class Category:
    """The role of a level from a public list. The first level is the reference, and every other level has its own dummy
    variable.

    Args:
        column: name of the column in the table.
        levels: at least two different texts. Whole numbers and booleans are converted to texts ("0", "true"), and a
            number 1.0 in a table is the level "1". If the levels are the words true and false, letter case is ignored.

    Raises:
        InvalidInput: a field is out of range.

    Example:
        >>> Category(column="sex", levels=("female", "male")).encode(["male", "female", "x"]).values
        array([1, 0, 0])
    """

    column: str
    levels: tuple[str, ...]
    reads: ClassVar[Form] = "labels"
    """The form in which the role reads its column (`TableSource.for_roles`)."""

    def __post_init__(self) -> None:
        column_name(self.column)
        given: Any = self.levels
        if not isinstance(given, list | tuple):
            raise InvalidInput("levels", f"{given!r} is not a list", "must be at least two texts")
        levels = [_level(level) for level in given]
        if len(levels) < 2:
            raise InvalidInput("levels", f"{len(levels)} given", "must be at least two")
        twice = {level for level in levels if levels.count(level) > 1}
        if twice:
            raise InvalidInput("levels", f"{min(twice)!r} stands twice")
        object.__setattr__(self, "levels", tuple(levels))

    @property
    def boolean(self) -> bool:
        """Whether the levels are the words true and false."""
        return {level.lower() for level in self.levels} == {"true", "false"}

    @property
    def whole(self) -> tuple[int | None, ...]:
        """The whole number that each level stands for; None for a level that stands for no whole number."""
        return tuple(whole_numbers(self.levels))

    def encode(self, cells: Any) -> Cells:
        """Turn the cells of a column into ranks of levels.

        Args:
            cells: Arrow array, numpy array or sequence of m texts, whole numbers or booleans. An object in a sequence
                that is neither a number nor a text counts as missing.

        Raises:
            InvalidInput: the column's type can hold none of the levels. The error never depends on the values.
        """
        array = plain(as_array(cells))
        self._check(array.type)
        words, levels = strings(self.column, array), list(self.levels)
        if self.boolean:
            words, levels = pc.ascii_lower(words), [level.lower() for level in levels]
        values = places(words, tuple(levels))
        problems = np.zeros(len(values), np.int8)
        problems[values < 0] = UNLISTED
        empty = pc.fill_null(pc.equal(words, pa.scalar("", words.type)), True)
        problems[empty.to_numpy(zero_copy_only=False)] = MISSING
        return Cells(np.maximum(values, 0), problems)

    def _check(self, kind: pa.DataType) -> None:
        if pa.types.is_boolean(kind) and not self.boolean:
            raise InvalidInput(self.column, "the column holds true and false, but its levels are other words",
                               "the levels must be true and false")
        if pa.types.is_integer(kind) and set(self.whole) == {None}:
            raise InvalidInput(self.column, f"the column is of type {kind}, but none of its levels is a whole number",
                               "declare whole numbers as levels, or make the column a text")

    def limit(self) -> str:
        """The accepted values, as text."""
        shown = ", ".join(self.levels[:12]) + (", ..." if len(self.levels) > 12 else "")
        return f"must be one of {shown}"

    def accepted(self) -> str:
        """The accepted values, as text for an error message, with quotes around a level that has a comma."""
        shown = ", ".join(repr(level) if "," in level else level for level in self.levels[:12])
        return f"must be one of {shown}{', ...' * (len(self.levels) > 12)}"

    def reason(self, problem: int) -> str:
        """Text on the meaning of a problem code, without private values."""
        return f"{self.column}: {'is missing' if problem == MISSING else 'is not a level'}; {self.accepted()}"

    def encode_one(self, value: object) -> tuple[int, str | None]:
        """The rank of one participant's level. The function is for the participant's own device.

        Returns:
            The rank and None; or 0 and a message for the participant alone, with the column, the problem and the
            accepted values.
        """
        cells, message = _encode_one(self, value)
        return int(cells[0]), message


@dataclass(frozen=True, kw_only=True)
class Above:
    """The role of a column of numbers from which a bit is made: 1 if the number is above a public threshold, and
    otherwise 0.

    Args:
        column: name of the column in the table.
        threshold: public threshold, in units of the column.

    Example:
        >>> Above(column="affairs", threshold=0).encode([0, 1.5, None]).values
        array([0, 1, 0])
    """

    column: str
    threshold: float
    reads: ClassVar[Form] = "numbers"
    """The form in which the role reads its column (`TableSource.for_roles`)."""

    def __post_init__(self) -> None:
        column_name(self.column)
        object.__setattr__(self, "threshold", finite("threshold", self.threshold))

    def encode(self, cells: Any) -> Cells:
        """The bits of a column, int64 of shape (m,). A cell that is no number counts as missing.

        Raises:
            InvalidInput: the column's type holds no numbers. The error never depends on the values.
        """
        raw = numbers(self.column, as_array(cells))
        problems = np.where(np.isnan(raw), MISSING, FINE).astype(np.int8)
        return Cells((raw > self.threshold).astype(np.int64), problems)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The role of a number with public bounds. The number stays in the unit of the column, and is neither scaled nor
    rounded.

    Args:
        column: name of the column in the table.
        lower: smallest accepted value, in units of the column; -inf for no bound.
        upper: largest accepted value, in units of the column; inf for no bound.

    Example:
        >>> Measured(column="concern", lower=0.0, upper=1.0).encode([0.1, "1.5", None])
        Cells(values=array([0.1, 0. , 0. ]), problems=array([0, 3, 1], dtype=int8))
    """

    column: str
    lower: float = -math.inf
    upper: float = math.inf
    reads: ClassVar[Form] = "numbers"
    """The form in which the role reads its column (`TableSource.for_roles`)."""

    def __post_init__(self) -> None:
        column_name(self.column)
        if not self.lower < self.upper:
            raise InvalidInput("upper", f"{self.upper:g} is not above lower = {self.lower:g}")

    def encode(self, cells: Any) -> Cells:
        """The numbers of a column, float64 of shape (m,); 0 for a cell with a problem.

        Raises:
            InvalidInput: the column's type holds no numbers. The error never depends on the values.
        """
        raw = numbers(self.column, as_array(cells)) + 0.0
        problems = np.zeros(len(raw), np.int8)
        problems[(raw < self.lower) | (raw > self.upper)] = OUTSIDE
        problems[np.isinf(raw)] = INFINITE
        problems[np.isnan(raw)] = MISSING
        return Cells(np.where(problems == FINE, raw, 0.0), problems)

    def limit(self) -> str:
        """The accepted values, as text."""
        bounded = math.isfinite(self.lower) or math.isfinite(self.upper)
        return f"must be in [{self.lower:.12g}, {self.upper:.12g}]" if bounded else "must be a number"

    def reason(self, problem: int) -> str:
        """Text on the meaning of a problem code, without private values."""
        words = {MISSING: "is missing or not a number", INFINITE: "is not finite", OUTSIDE: "is out of bounds"}
        return f"{self.column}: {words[problem]}; {self.limit()}"

    def encode_one(self, value: object) -> tuple[float, str | None]:
        """Encode one participant's value. The function is for the participant's own device.

        Returns:
            The number and None; or 0 and a message for the participant alone, with the column, the problem and the
            accepted values.
        """
        cells, message = _encode_one(self, value)
        return float(cells[0]), message


@dataclass(frozen=True, kw_only=True)
class Word:
    """The role of a 64-bit integer, written as 16 hexadecimal digits. All texts have the same length, so the length
    reveals nothing about the number.

    Args:
        column: name of the column in the table.

    Example:
        >>> role = Word(column="record")
        >>> Word.spelled(-7), role.encode(["fffffffffffffff9", "-7", ""])
        ('fffffffffffffff9', Cells(values=array([-7,  0,  0]), problems=array([0, 4, 1], dtype=int8)))
    """

    column: str

    def __post_init__(self) -> None:
        column_name(self.column)

    @staticmethod
    def spelled(value: int) -> str:
        """A 64-bit integer as 16 hexadecimal digits."""
        return value.to_bytes(8, "big", signed=True).hex()

    def encode(self, cells: Any) -> Cells:
        """The integers of a column, int64 of shape (m,); 0 for a cell with a problem.

        Raises:
            InvalidInput: the column holds no texts. The error never depends on the values.
        """
        array = plain(as_array(cells))
        words = strings(self.column, array)
        fine = pc.fill_null(pc.match_substring_regex(words, "^[0-9a-fA-F]{16}$"), False)
        digits = pc.if_else(fine, words, pa.scalar("0" * 16, words.type)).to_pylist()
        values = np.frombuffer(bytes.fromhex("".join(digits)), dtype=">i8").astype(np.int64)
        problems = np.where(fine.to_numpy(zero_copy_only=False), FINE, UNLISTED).astype(np.int8)
        empty = pc.fill_null(pc.equal(words, pa.scalar("", words.type)), True)
        problems[empty.to_numpy(zero_copy_only=False)] = MISSING
        return Cells(values, problems)

    def limit(self) -> str:
        """The accepted values, as text."""
        return "must be 16 hexadecimal digits, as a device writes them"

    def reason(self, problem: int) -> str:
        """Text on the meaning of a problem code, without private values."""
        return f"{self.column}: {'is missing' if problem == MISSING else 'is not a word of 64 bits'}; {self.limit()}"

    def encode_one(self, value: object) -> tuple[int, str | None]:
        """Encode one participant's value. The function is for the participant's own device.

        Returns:
            The number and None; or 0 and a message for the participant alone, with the column, the problem and the
            accepted values.
        """
        cells, message = _encode_one(self, value)
        return int(cells[0]), message


_WORDS: Mapping[int, str] = {INFINITE: "is not finite", OUTSIDE: "is out of bounds", UNLISTED: "is not on the list"}


def _encode_one(role: Numeric | Category | Measured | Word, value: object) -> tuple[np.ndarray, str | None]:
    values, problems = role.encode(cell(value))
    problem = int(problems[0])
    if problem == FINE:
        return values, None
    if problem in _WORDS and not (problem == UNLISTED and isinstance(role, Word)):
        words = f"{_show(value)} {_WORDS[problem]}"
    elif value is None or (isinstance(value, str) and not value.strip()) or _is_nan(value):
        words = "no value is given"
    else:
        what = {Numeric: "number", Measured: "number", Category: "level", Word: "word of 64 bits"}[type(role)]
        words = f"{_show(value)} is not a {what}"
    return values, f"{role.column}: {words}; {role.accepted() if isinstance(role, Category) else role.limit()}"


def _is_nan(value: object) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
