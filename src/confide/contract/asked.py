"""What a form asks of one participant, field by field: a kind says it, and whoever draws forms knows no kind.

A field is judged alone, by public limits. What a kind asks of several fields together stands in their notes, and is
judged where the whole record is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from confide.contract.checks import one_of
from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean

__all__ = ["Field", "Form", "judge", "problems"]

Form = Literal["choice", "number", "text"]

_SHOWN = 12  # choices that a message names
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Field:
    """One thing that is asked of a participant.

    Args:
        column: under which name her text is handed on.
        label: what is asked, in the campaign's own words.
        form: "choice", one of `choices`; "number"; or "text", of which only the kind knows what it may be.
        choices: of a choice, as they are handed on.
        lowest: what a number is at least; None where anything below is accepted too.
        above: what a number has to exceed.
        highest: what a number is at most.
        gaps: open intervals in which no number may lie.
        whole: whether a number has to be whole.
        unit: of a number, for people.
        note: what she has to know beside it, in whole sentences.
        required: whether it may not be left empty.

    Raises:
        InvalidInput: no such form, or a choice of nothing.

    Example:
        >>> way = Field(column="way", label="How do you get to work?", form="choice", choices=("bus", "car"))
        >>> way.problem("car"), way.problem("by air")
        ('', 'is not on the list; must be one of bus, car')
        >>> Field(column="age", label="age", form="number", lowest=20.0, highest=60.0, unit="years").problem("61")
        'is out of bounds; must be at least 20 and at most 60 years'
    """

    column: str
    label: str
    form: Form
    choices: tuple[str, ...] = ()
    lowest: float | None = None
    above: float | None = None
    highest: float | None = None
    gaps: tuple[tuple[float, float], ...] = ()
    whole: bool = False
    unit: str = ""
    note: str = ""
    required: bool = True

    def __post_init__(self) -> None:
        one_of("form", self.form, ("choice", "number", "text"))
        if (self.form == "choice") is not bool(self.choices):
            raise InvalidInput("choices", "do not fit the form", "a choice needs some, and nothing else has any")

    def problem(self, text: str | None) -> str:
        """What is wrong with what she typed, in public terms; empty where nothing is.

        Args:
            text: hers; None or white space where she left it empty.
        """
        given = "" if text is None else text
        if not given.strip():
            return "is missing" if self.required else ""
        if self.form == "choice":
            return "" if given in self.choices else f"is not on the list; {self.limit()}"
        return self._number_problem(given) if self.form == "number" else ""

    def _number_problem(self, text: str) -> str:
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(value):
            return f"is no number; {self.limit()}"
        low = (self.lowest is not None and value < self.lowest) or (self.above is not None and value <= self.above)
        if low or (self.highest is not None and value > self.highest):
            return f"is out of bounds; {self.limit()}"
        if any(start < value < end for start, end in self.gaps):
            return f"lies where no number may be; {self.limit()}"
        return f"is not whole; {self.limit()}" if self.whole and value != math.floor(value) else ""

    def limit(self) -> str:
        """What is accepted, in words."""
        if self.form == "choice":
            return f"must be one of {', '.join(self.choices[:_SHOWN])}{', ...' * (len(self.choices) > _SHOWN)}"
        if self.form == "text":
            return "must be a text"
        ends = [f"{words} {end:.12g}" for words, end in (("at least", self.lowest), ("above", self.above),
                                                         ("at most", self.highest)) if end is not None]
        apart = ", ".join(f"not between {start:.12g} and {end:.12g}" for start, end in self.gaps)
        what = "a whole number" if self.whole else "" if ends else "a number"
        found = " ".join(filter(None, ("must be", what, " and ".join(ends), self.unit)))
        return f"{found}, {apart}" if apart else found

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {part.name: _plain(getattr(self, part.name)) for part in fields(self)}


def judge(asked: Sequence[Field], values: Mapping[str, str]) -> None:
    """Whether each field of a form is as it is asked for.

    Args:
        asked: the fields.
        values: column -> what she typed; what is left out is empty.

    Raises:
        InvalidInput: a column that is not asked for, or the first field that is not as it should be. The message is
            hers, and does not repeat what she typed.

    Example:
        >>> judge([Field(column="age", label="age", form="number")], {"age": "old"})
        Traceback (most recent call last):
        confide.contract.errors.InvalidInput: age: is no number; must be a number
    """
    columns = [each.column for each in asked]
    for name in values:
        if name not in columns:
            raise InvalidInput("record", f"{name!r} is not asked for",
                               did_you_mean(name, columns, f"give {', '.join(columns[:_SHOWN]) or 'nothing'}"))
    for column, found in problems(asked, values).items():
        problem, _, limit = found.partition("; ")
        raise InvalidInput(column, problem, limit)


def problems(asked: Sequence[Field], values: Mapping[str, str]) -> dict[str, str]:
    """column -> what is wrong there, of every field that is not as it is asked for, in the form's order.

    Args:
        asked: the fields.
        values: column -> what she typed; what is left out is empty.

    Example:
        >>> way, age = (Field(column=name, label=name, form="number", lowest=0.0) for name in ("way", "age"))
        >>> problems([way, age], {"way": "-1"})
        {'way': 'is out of bounds; must be at least 0', 'age': 'is missing'}
    """
    found = {each.column: each.problem(values.get(each.column)) for each in asked}
    return {column: problem for column, problem in found.items() if problem}


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, tuple) else value
