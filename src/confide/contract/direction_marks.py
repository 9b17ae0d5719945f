"""Characters that turn the direction of the text around them, such as U+202E. If a title or a level contains such a
character, a page shows other words and numbers than the campaign file has.

Words of campaign files and of roles may not have these characters. Languages that are written from right to left do not
need these characters. The marks U+200E and U+200F are allowed, since they turn no other letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from confide.contract.errors import InvalidInput

__all__ = ["UNTURNED", "already_judged", "character", "check_direction", "check_directions"]

_MARKS = r"\u202a-\u202e\u2066-\u2069"
_TURNING = re.compile(f"[{_MARKS}]")

UNTURNED = f"^[^{_MARKS}]*$"
"""Pattern of the texts without such a character, for JSON schemas."""

_JUDGED = ContextVar("judged", default=False)


def character(letter: str) -> str:
    r"""The code point of a character, and its name where it has one.

    Example:
        >>> character("\u202e"), character("\t")
        ('U+202E RIGHT-TO-LEFT OVERRIDE', 'U+0009')
    """
    import unicodedata  # only messages need it

    return f"U+{ord(letter):04X} {unicodedata.name(letter, '')}".rstrip()


def check_direction(field: str, text: object, within: str = "") -> None:
    r"""Check that a text has no character that turns the direction of the text around it.

    Args:
        field: the name of the field, for the message.
        text: the text; a value of another type passes.
        within: the part of the field that has the text, such as " in a key"; empty for the whole field.

    Raises:
        InvalidInput: the text has such a character. The message names the character by its code point.

    Example:
        >>> check_direction("title", "Wages \u202e000,02")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        confide.contract.errors.InvalidInput: title: has U+202E RIGHT-TO-LEFT OVERRIDE, which turns the direction...
    """
    found = _TURNING.search(text) if isinstance(text, str) and not _JUDGED.get() else None
    if found is not None:
        raise InvalidInput(field, f"has {character(found[0])}{within}, which turns the direction of the text around it",
                           "delete this character: letters that are written from right to left need none")


def check_directions(document: Any, field: str = "") -> None:
    """Check all texts and all keys of nested mappings and lists, as `check_direction` does.

    Args:
        document: the mappings, lists and texts.
        field: the name of the field that holds the document; empty for a whole file.

    Raises:
        InvalidInput: a text or a key has such a character. The message names the place of the text, and counts places
            in a list from 1.
    """
    if isinstance(document, dict):
        for key, part in document.items():
            check_direction(field or "campaign", key, " in a key")
            check_directions(part, f"{field}.{key}" if field else key)
    elif isinstance(document, list | tuple):
        for place, part in enumerate(document, 1):
            check_directions(part, f"{field}[{place}]")
    else:
        check_direction(field or "campaign", document)


@contextmanager
def already_judged() -> Iterator[None]:
    """Context in which `check_direction` accepts every text. It is for words of a campaign file, which were checked
    when the file was loaded, and for stored results, which an older version may have written.
    """
    token = _JUDGED.set(True)
    try:
        yield
    finally:
        _JUDGED.reset(token)
