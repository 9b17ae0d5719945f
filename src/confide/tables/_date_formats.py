"""The display formats of SPSS, Stata and SAS: which stored numbers are dates, times or durations, and on what scale.

Readers of statistical files convert some formats and leave others as numbers, and they disagree. This table knows all
formats of the three packages. A format that it does not know is refused, because its numbers may be dates.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.tables._conversions import FIRST_DAY, LAST_DAY

__all__ = ["Meaning", "converted", "meaning", "name_of_format"]

Kind = Literal["number", "date", "datetime", "duration"]
Period = Literal["", "week", "month", "quarter", "half-year", "year"]


class Meaning(NamedTuple):
    """The meaning of the numbers of a column.

    Args:
        kind: "number" for numbers as they are; "date" (date32); "datetime" (timestamp in microseconds); or "duration"
            (numbers of seconds).
        scale: function from the m stored numbers to days since 1970 for dates, to seconds for durations, and to days
            since 1970 and microseconds of the day, shape (2, m), for timestamps. None for numbers.
        period: the period by which dates are shown.
    """

    kind: Kind
    scale: Callable[[np.ndarray], np.ndarray] | None = None
    period: Period = ""


NUMBER = Meaning("number")
_MICROS = 1_000_000
_DAY = 86_400


def _days(date: str) -> int:
    return int(np.datetime64(date, "D").astype(int))


_SPSS_ZERO, _ZERO = -_days("1582-10-14"), -_days("1960-01-01")
"""Days from the zero of SPSS, and from the zero of Stata and SAS, to 1970."""

# ---- SPSS: seconds since 14 October 1582


def _spss_days(seconds: np.ndarray) -> np.ndarray:
    days: np.ndarray = np.floor(seconds / _DAY) - _SPSS_ZERO
    return days


def _day_and_micros(seconds: np.ndarray) -> np.ndarray:
    """Seconds as days and microseconds of the day, shape (2, m). One number would not hold the microseconds."""
    days = np.floor(seconds / _DAY)
    return np.stack([days, np.round((seconds - days * _DAY) * _MICROS)])


def _spss_micros(seconds: np.ndarray) -> np.ndarray:
    days, micros = _day_and_micros(seconds)
    return np.stack([days - _SPSS_ZERO, micros])


def _as_they_are(numbers: np.ndarray) -> np.ndarray:
    return numbers


_DURATION = Meaning("duration", _as_they_are)
_SPSS: dict[str, Meaning] = {
    **dict.fromkeys(("F", "COMMA", "DOLLAR", "DOT", "PCT", "N", "E", "Z", "IB", "PIB", "PIBHEX", "P", "PK", "RB",
                     "RBHEX", "CCA", "CCB", "CCC", "CCD", "CCE", "WKDAY", "MONTH", "A", "AHEX", ""), NUMBER),
    **dict.fromkeys(("DATE", "ADATE", "EDATE", "SDATE", "JDATE"), Meaning("date", _spss_days)),
    "QYR": Meaning("date", _spss_days, "quarter"), "MOYR": Meaning("date", _spss_days, "month"),
    "WKYR": Meaning("date", _spss_days, "week"),
    **dict.fromkeys(("DATETIME", "YMDHMS"), Meaning("datetime", _spss_micros)),
    **dict.fromkeys(("TIME", "DTIME", "MTIME"), _DURATION),
}

# ---- Stata: days, milliseconds or periods since 1960

_LEAPS = tuple(_days(day) + 1 for day in (
    "1972-06-30", "1972-12-31", "1973-12-31", "1974-12-31", "1975-12-31", "1976-12-31", "1977-12-31", "1978-12-31",
    "1979-12-31", "1981-06-30", "1982-06-30", "1983-06-30", "1985-06-30", "1987-12-31", "1989-12-31", "1990-12-31",
    "1992-06-30", "1993-06-30", "1994-06-30", "1995-12-31", "1997-06-30", "1998-12-31", "2005-12-31", "2008-12-31",
    "2012-06-30", "2015-06-30", "2016-12-31"))
"""The days that follow the 27 leap seconds, in days since 1970."""


def _stata_days(days: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.floor(days) - _ZERO
    return found


def _stata_micros(milliseconds: np.ndarray) -> np.ndarray:
    days, micros = _day_and_micros(milliseconds / 1000)
    return np.stack([days - _ZERO, micros])


def _with_leap_seconds(milliseconds: np.ndarray) -> np.ndarray:
    """Days and microseconds without the leap seconds, which Stata's %tC counts."""
    starts = np.array([((day + _ZERO) * _DAY + count) * 1000.0 for count, day in enumerate(_LEAPS)])
    return _stata_micros(milliseconds - 1000.0 * np.searchsorted(starts, milliseconds, side="right"))


def _months(months: np.ndarray) -> np.ndarray:
    """The first day of months since 1960."""
    whole = np.floor(np.nan_to_num(months, nan=0.0, posinf=0.0, neginf=0.0))
    whole = np.clip(whole, -12 * 10_000, 12 * 10_000)
    days = (whole - 120).astype(np.int64).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return np.where(np.isfinite(months), days.astype(np.float64), np.nan)


def _weeks(weeks: np.ndarray) -> np.ndarray:
    """The first day of Stata's weeks since 1960, of which each year has 52."""
    year = np.floor(weeks / 52)
    days: np.ndarray = _months(12 * year) + 7 * (np.floor(weeks) - 52 * year)
    return days


_STATA: dict[str, Meaning] = {
    "td": Meaning("date", _stata_days), "d": Meaning("date", _stata_days), "tc": Meaning("datetime", _stata_micros),
    "tC": Meaning("datetime", _with_leap_seconds), "tw": Meaning("date", _weeks, "week"),
    "tm": Meaning("date", _months, "month"),
    "tq": Meaning("date", lambda quarters: _months(3 * np.floor(quarters)), "quarter"),
    "th": Meaning("date", lambda halves: _months(6 * np.floor(halves)), "half-year"), "ty": NUMBER, "tg": NUMBER,
}
_STATA_NUMBER = re.compile(r"%[-~]?0?\d+(?:[.,]\d+)?[efgxHLsS]c?|%[-~]?\d*s|")
_STATA_DATE = re.compile(r"%-?(t[a-zA-Z]|d)(.*)", re.DOTALL)
_CLOCK = re.compile(r"[Hh]{1,2}(:?[Mm]{2})?(:?[Ss]{2}(\.s+)?)?(\s*_?[aApP]\.?[mM]\.?)?")
_MILLISECONDS = Meaning("duration", lambda milliseconds: milliseconds / 1000)
"""Timestamps of which Stata shows the time of day alone."""

# ---- SAS: days or seconds since 1960

_LEAP_4000, _LEAP_8000 = _days("4000-02-29"), _days("8000-02-29")


def _sas_days(days: np.ndarray) -> np.ndarray:
    """Days since 1970. SAS has no 29 February in the years 4000 and 8000."""
    found: np.ndarray = np.floor(days) - _ZERO
    found = found + (found >= _LEAP_4000)
    return found + np.asarray(found >= _LEAP_8000)


def _sas_micros(seconds: np.ndarray) -> np.ndarray:
    days, micros = _day_and_micros(seconds)
    return np.stack([_sas_days(days), micros])


def _sas_days_of_seconds(seconds: np.ndarray) -> np.ndarray:
    return _sas_days(np.floor(seconds / _DAY))


def _day(period: Period = "") -> Meaning:
    return Meaning("date", _sas_days, period)


_SAS_INSTANT = Meaning("datetime", _sas_micros)
_SIGNS = ("", "B", "C", "D", "N", "P", "S")
_SAS: dict[str, Meaning] = {
    **dict.fromkeys(("", "$", "$CHAR", "$F", "F", "BEST", "BESTX", "BESTD", "COMMA", "COMMAX", "DOLLAR", "DOLLARX",
                     "D", "E", "EURO", "EUROX", "FRACT", "HEX", "IEEE", "NEGPAREN", "NLNUM", "NUMX", "N", "OCTAL",
                     "PERCENT", "PERCENTN", "PVALUE", "PCT", "ROMAN", "SSN", "WORDF", "WORDS", "YEN", "Z", "ZD",
                     "BINARY", "IB", "IBR", "PIB", "PIBR", "RB", "PD", "PK"), NUMBER),
    **dict.fromkeys((f"{name}{sign}" for name in ("DDMMYY", "MMDDYY", "YYMMDD") for sign in _SIGNS), _day()),
    **dict.fromkeys(("DATE", "WEEKDATE", "WEEKDATX", "WORDDATE", "WORDDATX", "JULIAN", "B8601DA", "E8601DA", "DAY",
                     "JULDAY", "WEEKDAY", "DOWNAME", "NLDATE", "PDJULG", "PDJULI", "IS8601DA"), _day()),
    **dict.fromkeys((*(f"{name}{sign}" for name in ("MMYY", "YYMM") for sign in _SIGNS), "MONYY", "YYMON", "MONNAME",
                     "MONTH"), _day("month")),
    **dict.fromkeys((*(f"YYQ{sign}" for sign in _SIGNS), *(f"YYQR{sign}" for sign in _SIGNS), "QTR", "QTRR"),
                    _day("quarter")),
    **dict.fromkeys(("WEEKU", "WEEKV", "WEEKW"), _day("week")), "YEAR": _day("year"),
    **dict.fromkeys(("DATETIME", "DATEAMPM", "MDYAMPM", "NLDATM",
                     *(f"{base}8601{name}" for base in "BE" for name in ("DT", "DX", "DZ", "LX"))), _SAS_INSTANT),
    "TOD": Meaning("duration", lambda seconds: np.mod(seconds, _DAY)),
    **dict.fromkeys(("DTDATE", "DTWKDATX", "B8601DN", "E8601DN"), Meaning("date", _sas_days_of_seconds)),
    "DTMONYY": Meaning("date", _sas_days_of_seconds, "month"), "DTYEAR": Meaning("date", _sas_days_of_seconds, "year"),
    "DTYYQC": Meaning("date", _sas_days_of_seconds, "quarter"),
    **dict.fromkeys(("TIME", "HHMM", "HOUR", "MMSS", "TIMEAMPM", "B8601TM", "E8601TM", "B8601TZ", "E8601TZ", "B8601LZ",
                     "E8601LZ", "NLTIME"), _DURATION),
}
_SAS_NAME = re.compile(r"(.*?)\d*(?:\.\d*)?", re.DOTALL)
_SPSS_NAME = re.compile(r"([A-Z]*)\d*(?:\.\d*)?", re.IGNORECASE)


def name_of_format(form: str) -> str:
    """The name of a SAS format without width and decimals, in capitals: DATE9. is DATE."""
    found = _SAS_NAME.fullmatch(form)
    return (found[1] if found else form.rstrip(".")).upper()


def meaning(package: Literal["spss", "stata", "sas"], form: str) -> Meaning | None:
    """The meaning of the numbers of a column with a display format; None if the format is unknown.

    Example:
        >>> meaning("spss", "EDATE10").kind, meaning("stata", "%tm").period, meaning("sas", "DTDATE9").kind
        ('date', 'month', 'date')
        >>> meaning("stata", "%tbnyse")  # a business calendar, which is in another file
    """
    if package == "spss":
        found = _SPSS_NAME.fullmatch(form)
        return _SPSS.get(found[1].upper()) if found else None
    if package == "sas":
        return _SAS.get(name_of_format(form))
    date = _STATA_DATE.fullmatch(form)
    if date is None:
        return NUMBER if _STATA_NUMBER.fullmatch(form) else None
    if date[1] in ("tc", "tC") and _CLOCK.fullmatch(date[2]):
        return _MILLISECONDS
    return _STATA.get(date[1])


def converted(values: pa.Array, what: Meaning) -> tuple[pa.Array, np.ndarray]:
    """Stored numbers as dates, timestamps or durations.

    Args:
        values: Arrow array of the m stored numbers.
        what: the meaning of the numbers.

    Returns:
        The converted column, and a mask of shape (m,) of the numbers that stand for no day of the years 1 to 9999.
        These cells are null.
    """
    if what.scale is None:
        return values, np.zeros(len(values), np.bool_)
    there = pc.is_valid(values).to_numpy(zero_copy_only=False)
    stored = pc.fill_null(pc.cast(values, pa.float64()), 0.0).to_numpy(zero_copy_only=False)
    with np.errstate(all="ignore"):
        found = what.scale(stored)
    if what.kind == "duration":
        return pa.array(found, pa.float64(), mask=~there), np.zeros(len(values), np.bool_)
    days = found if what.kind == "date" else found[0]
    inside = there & (days >= FIRST_DAY) & (days <= LAST_DAY)
    whole = np.where(inside, days, 0).astype(np.int64)
    if what.kind == "date":
        return pa.array(whole.astype(np.int32), pa.int32(), mask=~inside).cast(pa.date32()), there & ~inside
    micros = whole * _DAY * _MICROS + np.where(inside, found[1], 0).astype(np.int64)
    return pa.array(micros, pa.int64(), mask=~inside).cast(pa.timestamp("us")), there & ~inside
