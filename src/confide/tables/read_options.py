"""Public settings for the reading of a table, and the facts about a column that a file or a codebook declares."""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput

__all__ = ["THOUSANDS", "ColumnFacts", "Form", "ReadOptions", "codec", "date_order", "is_superset_of_ascii"]

THOUSANDS = ("", ",", ".", " ", "'")
"""Accepted signs between thousands. A blank stands for a space, a no-break space and a narrow no-break space, and a
straight apostrophe also for a curved one."""

Form = Literal["labels", "numbers", "dates"]
"""A form in which a column is read: value labels, numbers in the declared style, or dates in the declared order."""

_ORDER = re.compile(r"(year|month|day)([-./ ]?)(year|month|day)\2(year|month|day)")
_STATEFUL = {"utf_7", "hz", "iso2022_jp", "iso2022_jp_1", "iso2022_jp_2", "iso2022_jp_2004", "iso2022_jp_3",
             "iso2022_jp_ext", "iso2022_kr"}
"""Codecs in which the meaning of a byte depends on earlier bytes: one record could change the reading of the next."""


def date_order(field_name: str, text: object) -> tuple[tuple[str, ...], str]:
    """The parts of a date in their order, and the sign between two parts.

    Args:
        field_name: name of the setting in messages.
        text: the words year, month and day with one sign between them, such as "day.month.year".

    Raises:
        InvalidInput: the text is no order of dates.

    Example:
        >>> date_order("dates", "day.month.year")
        (('day', 'month', 'year'), '.')
    """
    found = _ORDER.fullmatch(text) if isinstance(text, str) else None
    if found is None or len({found[1], found[3], found[4]}) < 3:
        raise InvalidInput(field_name, f"{text!r} is no order of dates",
                           "must be the words year, month and day with one sign between them, such as "
                           "'year-month-day', 'day.month.year' or 'month/day/year'")
    return (found[1], found[3], found[4]), found[2]


def codec(field_name: str, name: str) -> str:
    """The name under which Python knows an encoding.

    Raises:
        InvalidInput: Python does not know the encoding, or the meaning of its bytes depends on earlier bytes.

    Example:
        >>> codec("encoding", "Windows-1252"), codec("encoding", "UTF8")
        ('cp1252', 'utf-8')
    """
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        found = None
    if found is None or not getattr(found, "_is_text_encoding", True):
        raise InvalidInput(field_name, f"{name!r} is an unknown encoding",
                           "must be an encoding such as 'utf-8', 'utf-16' or 'cp1252'")
    if found.name.replace("-", "_") in _STATEFUL:
        raise InvalidInput(field_name, f"the bytes of {name!r} have no meaning of their own",
                           "save the file as UTF-8")
    return found.name


def is_superset_of_ascii(encoding: str) -> bool:
    """Whether the bytes below 128 are ASCII characters in an encoding, wherever they stand between characters."""
    try:
        return bytes(range(128)).decode(encoding) == bytes(range(128)).decode("ascii")
    except UnicodeDecodeError:
        return False


def _character(name: str, value: object, *, empty: bool) -> None:
    good = isinstance(value, str) and len(value) <= 1 and (bool(value) or empty)
    if not good or (value and (str(value).isalnum() or not str(value).isascii() or str(value) in "\r\n\x00")):
        raise InvalidInput(name, f"{value!r} is no sign between cells" if name == "separator" else
                           f"{value!r} is no sign around cells",
                           "must be one ASCII character that is no letter, digit or line break")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    r"""The public settings for the reading of a table. None of them is ever taken from the cells.

    Args:
        separator: the character between cells of a text file; "" for a comma in a .csv file and a tab in a .tsv, .tab
            or .txt file.
        decimal: the decimal mark of numbers that are texts, "." or ",".
        thousands: the sign between thousands of numbers that are texts: "", ",", ".", " " (any blank) or "'".
        quote: the character around cells with a separator or a line break in a text file; "" for none.
        encoding: encoding of a text file or of a statistical file; "" for UTF-8 in a text file, and for the encoding
            that a statistical file declares.
        dates: order of year, month and day in dates that are texts, such as "day.month.year".
        missing: texts that stand for an empty cell, such as "NA", in columns of text.
        sheet: name of the sheet of a workbook; "" for its only visible sheet.
        header_row: number of the row that names the columns of a text file or a sheet, from 1.
        labels: whether value labels are the levels of a column. If False, the codes of the file are the levels.
        table: name of the table in a database.
        codebook: path of a REDCap data dictionary (.csv) or a SAS catalog (.sas7bcat), relative to the campaign file;
            "" for none.

    Raises:
        InvalidInput: a setting is not accepted; the message names the setting.

    Example:
        >>> ReadOptions(separator=";", decimal=",", thousands=".", dates="day.month.year").decimal
        ','
        >>> ReadOptions(decimal=",", thousands=",")
        Traceback (most recent call last):
        ...
        confide.contract.errors.InvalidInput: thousands: ',' is also the decimal mark; must be another sign, or ""
    """

    separator: str = ""
    decimal: str = "."
    thousands: str = ""
    quote: str = '"'
    encoding: str = ""
    dates: str = "year-month-day"
    missing: tuple[str, ...] = ()
    sheet: str = ""
    header_row: int = 1
    labels: bool = True
    table: str = ""
    codebook: str = ""

    def __post_init__(self) -> None:
        _character("separator", self.separator, empty=True)
        _character("quote", self.quote, empty=True)
        if self.separator and self.separator == self.quote:
            raise InvalidInput("quote", f"{self.quote!r} is also the separator", "must be another character")
        if self.decimal not in (".", ","):
            raise InvalidInput("decimal", f"{self.decimal!r} is no decimal mark", 'must be "." or ","')
        if self.thousands not in THOUSANDS:
            raise InvalidInput("thousands", f"{self.thousands!r} is no sign between thousands",
                               "must be one of " + ", ".join(f'"{sign}"' for sign in THOUSANDS))
        if self.thousands == self.decimal:
            raise InvalidInput("thousands", f"{self.thousands!r} is also the decimal mark",
                               'must be another sign, or ""')
        for name in ("encoding", "sheet", "table", "codebook"):
            if not isinstance(getattr(self, name), str):
                raise InvalidInput(name, f"{getattr(self, name)!r} is not a text")
        if self.encoding:
            codec("encoding", self.encoding)
        date_order("dates", self.dates)
        if not isinstance(self.labels, bool):
            raise InvalidInput("labels", f"{self.labels!r} is not true or false")
        object.__setattr__(self, "missing", _words("missing", self.missing))
        whole("header_row", self.header_row, at_least=1)

    def changed(self) -> tuple[str, ...]:
        """Names of the settings that are not the default ones."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name) != each.default)

    def allow_only(self, names: Collection[str], what: str) -> None:
        """Refuse settings that have no meaning for a kind of table.

        Args:
            names: names of the settings that have a meaning.
            what: the kind of table, in words, such as "a Stata file".

        Raises:
            InvalidInput: a setting that is not the default one has no meaning; the message names the setting.
        """
        for name in self.changed():
            if name not in names:
                raise InvalidInput(name, f"has no meaning for {what}", "leave it out")


def _words(name: str, words: Any) -> tuple[str, ...]:
    if isinstance(words, str) or not isinstance(words, list | tuple) or any(
            not isinstance(each, str) or not each.strip() for each in words):
        raise InvalidInput(name, f"{words!r} is no list of texts", "must be texts that are not empty, such as ['NA']")
    return tuple(each.strip() for each in words)


@dataclass(frozen=True, kw_only=True)
class ColumnFacts:
    """The facts about a column that its file or its codebook declares. They are facts about the form of the data, and
    never come from the cells.

    A code is a text: a number without zeros at its end ("1", "-8", "99.5"), a tag of Stata (".a") or SAS (".A"), or the
    text of a cell.

    Args:
        label: description of the column, such as the question.
        labels: mapping from code to value label, in the order of the file; codes that mean a missing answer too.
        missing_codes: codes that mean a missing answer.
        missing_ranges: pairs of the lowest and the highest number that mean a missing answer; infinite for no bound.
        kind: kind of the values: "number", "whole" (whole numbers), "text", "date", "datetime", "duration" (in seconds)
            or "boolean"; "" if unknown.
        period: the coarser period by which dates are shown, of which the date is the first day or some day: "week",
            "month", "quarter", "half-year" or "year"; "" for days.
        format: the display format of the file, such as "DATE11" or "%9.2f".
        unit: unit of the values, such as "seconds"; "" if unknown.
        lower: smallest value that the codebook accepts, a number or a date (ISO 8601); None if it declares none.
        upper: largest value that the codebook accepts; None if it declares none.
        identifier: whether the codebook calls the column an identifier of a person.

    Example:
        >>> facts = ColumnFacts(labels={"1": "Female", "2": "Male", "9": "Refused"}, missing_codes=("9",))
        >>> facts.levels, facts.is_missing("9")
        (('Female', 'Male'), True)
    """

    label: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    missing_codes: tuple[str, ...] = ()
    missing_ranges: tuple[tuple[float, float], ...] = ()
    kind: Literal["", "number", "whole", "text", "date", "datetime", "duration", "boolean"] = ""
    period: Literal["", "week", "month", "quarter", "half-year", "year"] = ""
    format: str = ""
    unit: str = ""
    lower: float | str | None = None
    upper: float | str | None = None
    identifier: bool = False

    def is_missing(self, code: str) -> bool:
        """Whether a code means a missing answer."""
        if code in self.missing_codes:
            return True
        try:
            number = float(code)
        except ValueError:
            return False
        return any(low <= number <= high for low, high in self.missing_ranges)

    @property
    def levels(self) -> tuple[str, ...]:
        """The different value labels of codes that are answers, in the order of the file."""
        return tuple(dict.fromkeys(label for code, label in self.labels.items() if not self.is_missing(code)))
