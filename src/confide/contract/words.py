"""Texts for people: numbers in readable form, suggestions for misspelt names, and safe display of untrusted texts.

The module also describes errors in a third party's code: the type, the file and the line. Before any record is read,
the description includes the first line of the message.
"""

from __future__ import annotations

import difflib
import errno
import json
import math
import os
import traceback
from collections.abc import Collection, Iterable, Mapping
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

__all__ = [
    "Measured",
    "as_sentence",
    "cause",
    "counted",
    "did_you_mean",
    "fault",
    "few",
    "json_ready",
    "line_of",
    "money",
    "money_at_least",
    "money_at_most",
    "number",
    "percent",
    "percent_at_most",
    "printable",
    "says_nothing",
]

# ---- words

_MOST_DIGITS = 8  # of a percentage
_EXACT = Context(prec=700)  # for doubles of any size
_FEW = 0.01  # of the invited: plans warn where fewer decide something


_CAUSES: tuple[tuple[type[BaseException], str], ...] = (
    (FileNotFoundError, "it does not exist"), (FileExistsError, "the path exists already"),
    (IsADirectoryError, "it is a folder"), (NotADirectoryError, "a part of its path is not a folder"),
    (PermissionError, "this user has no permission"), (UnicodeError, "it is not UTF-8 text"),
    (json.JSONDecodeError, "it is not JSON"), (RecursionError, "it is nested too deeply"),
    (MemoryError, "it is larger than the free memory"), (EOFError, "it ends too early"))
_CODES = {errno.ENOSPC: "no space is left on the device", errno.EDQUOT: "no space is left on the device",
          errno.EROFS: "the file system is read-only", errno.ENAMETOOLONG: "its name is too long",
          errno.ELOOP: "it is a link without a target, or a link that is not followed",
          errno.EIO: "the disk has failed"}


def cause(error: BaseException) -> str:
    """The reason why a file cannot be used. The reason follows from the type of an error alone, because the error's
    message may quote the file's contents.

    Args:
        error: the error of the system, or of a reader.

    Example:
        >>> cause(FileNotFoundError("/secret")), cause(ValueError("41.5"))
        ('it does not exist', 'it is damaged, or it has another format')
    """
    if isinstance(error, OSError) and error.errno in _CODES:
        return _CODES[error.errno]
    known = next((words for kind, words in _CAUSES if isinstance(error, kind)), None)
    return known or ("the system refuses it" if isinstance(error, OSError) else
                     "it is damaged, or it has another format")


def counted(many: int, one: str, several: str = "") -> str:
    """A number with its noun, which is in the singular after 1.

    Args:
        many: the number.
        one: the noun in the singular.
        several: the noun in the plural, if the plural is not the singular with an "s".

    Example:
        >>> counted(1, "row"), counted(2000, "row"), counted(0, "entry", "entries")
        ('1 row', '2,000 rows', '0 entries')
    """
    return f"{many:,} {one if many == 1 else several or f'{one}s'}"


def few(many: int | None, people: int, who: str = "people") -> str | None:
    """A phrase that says that a number of people is less than 1% of all invited people. The result is None if the
    number is larger, or unknown.

    Args:
        many: the number of people, such as the number of people who decide a result; None if it is unknown.
        people: the number of invited people.
        who: the plural noun for the people that are counted.

    Example:
        >>> few(9, 1000), few(10, 1000)
        ('9 people of 1,000, fewer than 1%', None)
    """
    return None if many is None or many >= _FEW * people else f"{many:,} {who} of {people:,}, fewer than {_FEW:.0%}"


def did_you_mean(name: str, known: Iterable[str], otherwise: str, *, cutoff: float = 0.6) -> str:
    """A hint for an unknown name: the most similar known name, or other words if no known name is similar.

    Args:
        name: the name that was given.
        known: the names that could have been meant.
        otherwise: the hint if no known name is similar.
        cutoff: the least similarity of a suggested name, in [0, 1].

    Example:
        >>> did_you_mean("agee", ["age", "sex"], "known: age, sex")
        "did you mean 'age'?"
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"did you mean {near[0]!r}?" if near else otherwise


def as_sentence(clause: str) -> str:
    """A clause as a sentence of its own, with a capital letter and a full stop.

    Args:
        clause: a clause without a full stop, such as a guarantee's `sentence()`.

    Example:
        >>> as_sentence("no lie gains more than 0.01 EUR")
        'No lie gains more than 0.01 EUR.'
    """
    return f"{clause[:1].upper()}{clause[1:]}."


def printable(text: str, longest: int | None = None) -> str:
    r"""A text as one line that cannot control a terminal: every invisible character is replaced by its escape sequence.

    Invisible characters are control characters, line breaks, marks that change the direction of writing, and spaces
    other than the plain one.

    Args:
        text: the text, which may come from a stranger.
        longest: largest number of characters that are kept; "..." marks a cut. None keeps the whole text.

    Example:
        >>> printable("all is well\x1b[2J\u202e"), printable("a long story", 6)
        ('all is well\\x1b[2J\\u202e', 'a long...')
    """
    # One letter too many is enough to see that something is cut off, however long the text.
    kept = text if longest is None else text[: longest + 1]
    line = "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in kept)
    return line if longest is None or len(line) <= longest else f"{line[:longest]}..."


def money(coins: int, minor_units: int, currency: str) -> str:
    """An amount in the smallest units of a currency, such as cents, as text in the unit of the currency, with all its
    decimal places.

    Args:
        coins: the amount in the smallest units of the currency.
        minor_units: the number of smallest units in one unit of the currency, such as 100 cents in one euro; a power of
            ten.
        currency: the name of the currency.

    Example:
        >>> money(123_456, 100, "EUR")
        '1,234.56 EUR'
    """
    digits = len(str(minor_units)) - 1
    from decimal import Decimal  # a command line's help needs no decimals

    return f"{Decimal(f'{coins}E-{digits}'):,.{digits}f} {currency}"


def money_at_most(amount: float, minor_units: int, currency: str) -> str:
    """An upper bound on an amount of money as text, rounded up to the smallest unit of the currency, so that the amount
    is never above the printed bound.

    Args:
        amount: the amount in the currency's unit.
        minor_units: the number of smallest units in one unit of the currency, such as 100 cents in one euro; a power of
            ten.
        currency: the name of the currency.

    Example:
        >>> money_at_most(51.00404, 100, "EUR"), money_at_most(51.0, 100, "EUR")
        ('51.01 EUR', '51.00 EUR')
    """
    return money(math.ceil(amount * minor_units), minor_units, currency) if math.isfinite(amount) else (
        f"{amount} {currency}")


def money_at_least(amount: float, minor_units: int, currency: str) -> str:
    """A lower bound on an amount of money as text, rounded down to the smallest unit of the currency; see
    `money_at_most`.

    Example:
        >>> money_at_least(-3.4312, 100, "EUR")
        '-3.44 EUR'
    """
    return money(math.floor(amount * minor_units), minor_units, currency) if math.isfinite(amount) else (
        f"{amount} {currency}")


def percent(probability: float, digits: int = 1) -> str:
    """A probability in per cent. If `digits` digits would wrongly show 0 or 100 per cent, more digits are written. If
    too many digits would be needed, the text has words in place of a number.

    Args:
        probability: a probability in [0, 1].
        digits: the number of digits after the decimal point.

    Example:
        >>> percent(0.7311), percent(0.99966), percent(0.999_999), percent(1.0, 0)
        ('73.1%', '99.97%', '99.9999%', '100%')
        >>> percent(1 - 1e-12), percent(1e-12)
        ('just under 100%', 'just over 0%')
    """
    for more in range(digits, _MOST_DIGITS + 1):
        shown = f"{100.0 * probability:.{more}f}"
        if float(shown) not in (0.0, 100.0) or not 0.0 < probability < 1.0:
            return f"{shown}%"
    return "just over 0%" if probability < 0.5 else "just under 100%"


def percent_at_most(probability: float, digits: int = 1) -> str:
    """An upper bound on a probability in per cent, rounded up; see `money_at_most`.

    Args:
        probability: a bound in [0, 1].
        digits: the number of digits after the decimal point.

    Example:
        >>> percent_at_most(0.1234), percent_at_most(0.123)
        ('12.4%', '12.3%')
    """
    up = (Decimal(repr(float(probability))) * 100).quantize(Decimal(1).scaleb(-digits), ROUND_CEILING)
    return f"{up:f}%"


class Measured(float):
    """A number with a bound on its error. `number` chooses the written form from the number and the bound.

    Args:
        value: the number.
        error: bound on the number's error; None if no bound is known.
        share: whether the number is a share, which is written in per cent.
    """

    __slots__ = ("error", "share")

    error: float | None
    share: bool

    def __new__(cls, value: float, error: float | None = None, *, share: bool = False) -> Measured:
        found = super().__new__(cls, value)
        found.error, found.share = error, share
        return found

    def __str__(self) -> str:
        return number(self)


def number(value: str | float | None) -> str:
    """A table cell as text: four significant digits, or as many digits as an error allows; an empty text for None.

    If the number has an error bound, the rounding error of the displayed number is added to the bound, and the sum is
    rounded up to two digits. The displayed interval therefore contains the proved interval. A share is written in per
    cent.

    Example:
        >>> number(61395), number(0.0123456), number(None), number(float("inf"))
        ('61,395', '0.01235', '', 'unlimited')
        >>> number(Measured(8.988e-06, 0.0063)), number(Measured(17.16, 10.89)), number(Measured(0.758, share=True))
        ('0.0000 +- 0.0064', '17 +- 12', '75.8%')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Measured) and math.isfinite(value):
        if value.error is not None and 0.0 < value.error < math.inf:
            return _with_error(float(value), value.error, share=value.share)
        if value.share:
            return percent(value)
        value = float(value)
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "not applicable"
    if math.isinf(value):
        return "unlimited" if value > 0 else "minus infinity"
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3e}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def _with_error(value: float, error: float, *, share: bool) -> str:
    number, off = (Decimal(repr(each)) * (100 if share else 1) for each in (value, error))
    place = _EXACT.scaleb(Decimal(1), off.adjusted() - 1)
    near = number.quantize(place, context=_EXACT)
    off = (off + abs(number - near)).quantize(place, ROUND_CEILING, _EXACT)
    shown = [f"{each + 0:,.{max(0, -place.adjusted())}f}" for each in (near, off)]  # adding 0 makes 0 of minus 0
    return " +- ".join(f"{each}%" if share else each for each in shown)


def says_nothing(bound: str = "this bound", than: str = "any possible error") -> str:
    """The sentence about a bound that says nothing, because it is no smaller than the largest possible error or amount.

    Args:
        bound: noun for the bound, as the sentence uses it.
        than: noun for the error or amount that is known without the bound and is at most as large as the bound.

    Example:
        >>> says_nothing()
        'At these sizes this bound is larger than any possible error, so it says nothing.'
    """
    return f"At these sizes {bound} is larger than {than}, so it says nothing."


def json_ready(value: Any) -> Any:
    """A value of numbers, texts, sequences and mappings in a form that every JSON reader accepts.

    Sequences become lists. Infinities become the strings "Infinity" and "-Infinity", and not-a-number becomes "NaN".

    Args:
        value: the value, with plain Python or numpy numbers.

    Example:
        >>> json_ready({"a": (1.5, float("inf"))})
        {'a': [1.5, 'Infinity']}
    """
    if isinstance(value, Mapping):
        return {k: json_ready(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(v) for v in value]
    if hasattr(value, "tolist"):  # numpy's
        return json_ready(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


# ---- faults

_LONGEST = 200


def line_of(error: BaseException, files: Collection[str] = ()) -> str:
    """The place of an error as FILE:LINE. The place is the last line in one of the preferred files that the exception
    passed through, or otherwise the last line in any file. For a `SyntaxError` the place is the faulty line.

    Args:
        error: the error that was caught.
        files: names of the preferred files, as in Python's code objects.

    Example:
        >>> try:
        ...     compile("x = (", "mine.py", "exec")
        ... except SyntaxError as error:
        ...     print(line_of(error))
        mine.py:1
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{os.path.basename(error.filename)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if frame.filename in files] or [
        frame for frame in frames if not frame.filename.startswith("<")] or frames
    return f"{os.path.basename(last[-1].filename)}:{last[-1].lineno}" if last else "an unknown place"


def fault(error: BaseException, files: Collection[str] = ()) -> str:
    """The type of an error, its place and the first line of its message. Use the function only for code that has not
    yet read a record.

    Args:
        error: the error that was caught.
        files: names of the files in which the place of the error is searched first; see `line_of`.
    """
    said = str(error.msg if isinstance(error, SyntaxError) else error)
    said = next((line.strip() for line in said.splitlines() if line.strip()), "")
    return f"{type(error).__name__} at {line_of(error, files)}" + (f": {said[:_LONGEST]}" if said else "")
