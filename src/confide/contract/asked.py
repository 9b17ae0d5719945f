"""The form that a campaign kind asks each participant to fill in, described field by field. The code that draws forms
reads this description alone, and knows no campaign kind.

Each field is checked alone, by public limits. A rule on several fields together is stated in the fields' notes. Such a
rule is checked only when the whole record is known.

`CustodiansKind` is the common part of all kinds in which a custodian holds the data. In these kinds nobody is invited
or paid, and nobody has a share.
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
    """One field of the form that a participant fills in.

    Args:
        column: name of the column of the record that holds the participant's answer.
        label: the question, in the campaign's own words.
        form: the type of the answer: "choice" for one of `choices`, "number" for a number, or "text" for a text that
            only the campaign kind can check.
        choices: the possible answers if `form` is "choice", as they are written in the record; empty for another form.
        lowest: the least accepted number; None for no lower limit.
        above: a number that an answer has to exceed; None for no such limit.
        highest: the largest accepted number; None for no upper limit.
        gaps: open intervals in which no number may lie.
        whole: whether a number has to be whole.
        unit: the unit of a number, as it is shown to the participant; empty for a number without a unit.
        note: whole sentences that the participant has to know before they answer; may be empty.
        required: whether the field must be filled in.

    Raises:
        InvalidInput: the form is unknown, or `choices` do not fit the form.

    Example:
        >>> way = Field(column="way", label="How do you get to work?", form="choice", choices=("bus", "car"))
        >>> way.problem("car"), way.problem("by air")
        ('', 'is not on the list; must be one of bus, car')
        >>> Field(column="age", label="age", form="number", lowest=20.0, highest=60.0, unit="years").problem("61")
        'is out of bounds; must be at least 20 and at most 60'
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
            raise InvalidInput("choices", "do not fit the form",
                               "only a field of the form 'choice' has choices, and such a field needs them")

    def problem(self, text: str | None) -> str:
        """Describe the fault in a typed text, and the texts that would be accepted, from public limits alone. The
        result is an empty text if there is no fault.

        Args:
            text: the text that the participant typed; None or white space for an empty field.
        """
        fault = self.fault(text)
        return f"{fault}; {limit}" if fault and (limit := self.limit_of(text)) else fault

    def limit_of(self, text: str | None) -> str:
        """Describe the texts that would be accepted in place of a faulty text. The result is an empty text if the
        participant left the field empty.
        """
        return self.limit() if text is not None and text.strip() else ""

    def fault(self, text: str | None) -> str:
        """Describe the fault in a typed text, without the texts that would be accepted. The result is an empty text if
        there is no fault.
        """
        given = "" if text is None else text
        if not given.strip():
            return worded("is missing") if self.required else ""
        if self.form == "choice":
            return "" if given in self.choices else worded("is not on the list")
        return self._number_fault(given) if self.form == "number" else ""

    def _number_fault(self, text: str) -> str:
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(value):
            return worded("is not a number")
        low = (self.lowest is not None and value < self.lowest) or (self.above is not None and value <= self.above)
        if low or (self.highest is not None and value > self.highest):
            return worded("is out of bounds")
        if any(start < value < end for start, end in self.gaps):
            return worded("lies in a gap of the allowed numbers")
        return worded("is not whole") if self.whole and value != math.floor(value) else ""

    def limit(self) -> Worded:
        """Description of the texts that the field accepts. The choices are written as in the campaign file."""
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
        """The accepted numbers as whole phrases, so that the phrases can be translated. The phrases leave out the unit,
        since the form shows the unit beside the question, and its plural is not known.
        """
        low, high = self.lowest, "" if self.highest is None else f"{self.highest:.12g}"
        if self.above is not None and (low is None or self.above >= low):
            start = f"{self.above:.12g}"
            if self.whole:
                return worded("must be a whole number above %(low)s and at most %(high)s", low=start, high=high) \
                    if high else worded("must be a whole number above %(low)s", low=start)
            return worded("must be above %(low)s and at most %(high)s", low=start, high=high) \
                if high else worded("must be above %(low)s", low=start)
        if low is not None:
            start = f"{low:.12g}"
            if self.whole:
                return worded("must be a whole number at least %(low)s and at most %(high)s", low=start, high=high) \
                    if high else worded("must be a whole number at least %(low)s", low=start)
            return worded("must be at least %(low)s and at most %(high)s", low=start, high=high) \
                if high else worded("must be at least %(low)s", low=start)
        if high:
            return worded("must be a whole number at most %(high)s", high=high) if self.whole else worded(
                "must be at most %(high)s", high=high)
        return worded("must be a whole number") if self.whole else worded("must be a number")

    def to_dict(self) -> dict[str, Any]:
        """The field as a JSON-ready dictionary."""
        return {word: _plain(part) for word, part in wire_parts(self).items()}


def judge(asked: Sequence[Field], values: Mapping[str, str]) -> None:
    """Check that every field of a form is filled in correctly.

    Args:
        asked: the fields of the form.
        values: mapping from a column to the text that the participant typed; a missing column is empty.

    Raises:
        InvalidInput: the form does not have one of the columns, or a field is faulty. The message names the first
            fault. The message is for the participant alone, and does not repeat the typed text.

    Example:
        >>> judge([Field(column="age", label="age", form="number")], {"age": "old"})
        Traceback (most recent call last):
        confide.contract.errors.InvalidInput: age: is not a number; must be a number
    """
    columns = [each.column for each in asked]
    for name in values:
        if name not in columns:
            raise InvalidInput("record", f"{name!r} is not a requested field",
                               did_you_mean(name, columns, f"give {', '.join(columns[:_SHOWN]) or 'nothing'}"))
    for column, (fault, limit) in faults(asked, values).items():
        raise InvalidInput(column, fault, limit)


def faults(asked: Sequence[Field], values: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Mapping from the column of each faulty field to a pair: the fault, and the texts that would be accepted.

    Args:
        asked: the fields, in the form's order.
        values: mapping from a column to the text that the participant typed; a missing column is empty.

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
    """The part of a `Kind` that is the same for all kinds in which a custodian holds all data and nobody is invited."""

    def identities(self, config: Any) -> Sequence[str]:
        """The empty list of invited ids, because a custodian holds the data."""
        return ()

    def asked(self, config: Any, plan: Any) -> Sequence[Field]:
        """The empty form, because no participant is asked anything."""
        return ()

    def codec(self, plan: Any) -> None:
        """No codec (`ReportCodec`), because no reports are collected from people."""
        return

    def payouts(self, plan: Any) -> None:
        """No payout terms, because nothing is paid."""
        return

    def record(self, config: Any, plan: Any, folder: Path, identity: str) -> tuple[None, int]:
        """No record (None) and the index 0 for every id, so that nobody learns whose record is in the data."""
        return None, 0

    def submission(self, config: Any, plan: Any, identity: str, values: Mapping[str, str]) -> tuple[int, bytes]:
        """Refuse the submission, because nobody is invited.

        Raises:
            Refused: always.
        """
        raise Refused("nobody is invited: a custodian holds the data", "the campaign file names the table")

    def parse_record(self, config: Any, plan: Any, identity: str, values: Mapping[str, str]) -> tuple[None, int]:
        """No record and index 0, because no participant hands in a record."""
        return None, 0
