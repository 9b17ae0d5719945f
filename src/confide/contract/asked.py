"""The form that a kind asks one participant to fill in, field by field: a kind says it, and the code that draws forms
knows no kind.

A field is judged alone, by public limits. What a kind asks of several fields together stands in their notes, and is
judged where the whole record is.

What kinds have in common whose data a custodian holds: nobody is invited, is paid, or has a share.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from confide.contract.checks import one_of
from confide.contract.errors import InvalidInput, Refused
from confide.contract.wire import wire, wire_parts
from confide.contract.worded import Worded, worded
from confide.contract.words import did_you_mean

__all__ = ["CustodiansKind", "Field", "Form", "faults", "judge"]

# ---- asked

Form = Literal["choice", "number", "text"]

_SHOWN = 12  # choices that a message names
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


@wire("Field", "column label form choices lowest above highest gaps whole unit note required")
@dataclass(frozen=True, kw_only=True)
class Field:
    """One thing that is asked of a participant.

    Args:
        column: the column under which the participant's text is handed on.
        label: the question, in the campaign's own words.
        form: "choice", one of `choices`; "number"; or "text", of which only the kind knows what it may be.
        choices: the choices of a field whose form is a choice, as they are handed on.
        lowest: the least number that is accepted; None where anything below is accepted too.
        above: the number that an answer has to exceed.
        highest: the largest number that is accepted.
        gaps: open intervals in which no number may lie.
        whole: whether a number has to be whole.
        unit: the unit of a number, for people.
        note: the facts that the participant has to know beside it, in whole sentences.
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
        """Describe, in public terms, the fault in a typed text and what would be right; the result is empty where there
        is no fault.

        Args:
            text: the participant's own text; None or white space where they left it empty.
        """
        fault = self.fault(text)
        return f"{fault}; {limit}" if fault and (limit := self.limit_of(text)) else fault

    def limit_of(self, text: str | None) -> str:
        """Describe what would be right where a typed text has a fault; the result is empty where the participant left
        the field empty.
        """
        return self.limit() if text is not None and text.strip() else ""

    def fault(self, text: str | None) -> str:
        """Describe the fault in a typed text, without what would be right."""
        given = "" if text is None else text
        if not given.strip():
            return worded("is missing") if self.required else ""
        if self.form == "choice":
            return "" if given in self.choices else worded("is not on the list")
        return self._number_fault(given) if self.form == "number" else ""

    def _number_fault(self, text: str) -> str:
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(value):
            return worded("is no number")
        low = (self.lowest is not None and value < self.lowest) or (self.above is not None and value <= self.above)
        if low or (self.highest is not None and value > self.highest):
            return worded("is out of bounds")
        if any(start < value < end for start, end in self.gaps):
            return worded("lies where no number may be")
        return worded("is not whole") if self.whole and value != math.floor(value) else ""

    def limit(self) -> Worded:
        """The texts that are accepted, in words; the field's unit and its choices are the campaign's."""
        if self.form == "choice":
            shown = f"{', '.join(self.choices[:_SHOWN])}{', ...' * (len(self.choices) > _SHOWN)}"
            return worded("must be one of %(choices)s", choices=shown)
        if self.form == "text":
            return worded("must be a text")
        found = self._range()
        for start, end in self.gaps:
            found = worded("%(limit)s, not between %(low)s and %(high)s", limit=found, low=f"{start:.12g}",
                           high=f"{end:.12g}")
        return found

    def _range(self) -> Worded:
        """Whole sentences, so that they can be told in other languages; the unit stands behind the last number."""
        unit = f" {self.unit}" if self.unit else ""
        low, high = self.lowest, "" if self.highest is None else f"{self.highest:.12g}{unit}"
        if self.above is not None and (low is None or self.above >= low):
            start = f"{self.above:.12g}{'' if high else unit}"
            if self.whole:
                return worded("must be a whole number above %(low)s and at most %(high)s", low=start, high=high) \
                    if high else worded("must be a whole number above %(low)s", low=start)
            return worded("must be above %(low)s and at most %(high)s", low=start, high=high) \
                if high else worded("must be above %(low)s", low=start)
        if low is not None:
            start = f"{low:.12g}{'' if high else unit}"
            if self.whole:
                return worded("must be a whole number at least %(low)s and at most %(high)s", low=start, high=high) \
                    if high else worded("must be a whole number at least %(low)s", low=start)
            return worded("must be at least %(low)s and at most %(high)s", low=start, high=high) \
                if high else worded("must be at least %(low)s", low=start)
        if high:
            return worded("must be a whole number at most %(high)s", high=high) if self.whole else worded(
                "must be at most %(high)s", high=high)
        if self.unit:
            return worded("must be a whole number of %(unit)s", unit=self.unit) if self.whole else worded(
                "must be a number of %(unit)s", unit=self.unit)
        return worded("must be a whole number") if self.whole else worded("must be a number")

    def to_dict(self) -> dict[str, Any]:
        """The field as a JSON-ready dictionary."""
        return {word: _plain(part) for word, part in wire_parts(self).items()}


def judge(asked: Sequence[Field], values: Mapping[str, str]) -> None:
    """Check that each field of a form is as it is asked for.

    Args:
        asked: the fields.
        values: column -> what the participant typed; what is left out is empty.

    Raises:
        InvalidInput: a column that is not asked for, or the first field that is not as it should be. The message is the
            participant's own, and does not repeat what they typed.

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
    for column, (fault, limit) in faults(asked, values).items():
        raise InvalidInput(column, fault, limit)


def faults(asked: Sequence[Field], values: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Map column -> the fault there and what would be right, for every field that is not as it is asked for.

    Args:
        asked: the fields, in the form's order.
        values: column -> what the participant typed; what is left out is empty.

    Example:
        >>> faults([Field(column="age", label="age", form="number", whole=True)], {"age": "0.5"})
        {'age': ('is not whole', 'must be a whole number')}
    """
    found = {each.column: (each.fault(text := values.get(each.column)), each.limit_of(text)) for each in asked}
    return {column: reported for column, reported in found.items() if reported[0]}


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


# ---- custody


class CustodiansKind:
    """The part of a `Kind` that is the same wherever a custodian holds all data and nobody is invited."""

    def identities(self, config: Any) -> Sequence[str]:
        """Nobody is invited: a custodian holds the data."""
        return ()

    def asked(self, config: Any, plan: Any) -> Sequence[Field]:
        """Nothing is asked of anybody."""
        return ()

    def codec(self, plan: Any) -> None:
        """The custodian's data stay where they are."""
        return

    def payouts(self, plan: Any) -> None:
        """Nothing is paid."""
        return

    def record(self, config: Any, plan: Any, folder: Path, identity: str) -> tuple[None, int]:
        """Nothing is looked up: membership in the data is not disclosed."""
        return None, 0

    def submission(self, config: Any, plan: Any, identity: str, values: Mapping[str, str]) -> tuple[int, bytes]:
        """Nobody hands in anything.

        Raises:
            Refused: always.
        """
        raise Refused("nobody is invited: a custodian holds the data", "the table comes with the campaign file")

    def parse_record(self, config: Any, plan: Any, identity: str, values: Mapping[str, str]) -> tuple[None, int]:
        """Nobody hands in a record."""
        return None, 0
