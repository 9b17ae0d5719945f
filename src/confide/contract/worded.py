"""Messages that can be translated: English by themselves, with the text and the values behind them.

Whoever refuses something says it in English, for logs, programs and the command line; a page that shows it to people
looks its text up in a catalogue. So the text stands in one place, and the catalogue's template is made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Worded", "in_words", "worded"]


class Worded(str):
    """A message in English that remembers what it was made of; see `worded`.

    Args:
        message: the text, with `%(name)s` where a value stands.
        values: the values by name.
    """

    __slots__ = ("message", "values")

    message: str
    values: Mapping[str, Any]

    def __new__(cls, message: str, values: Mapping[str, Any]) -> Worded:
        found = super().__new__(cls, message % values if values else message)
        found.message, found.values = message, dict(values)
        return found


def worded(message: str, **values: Any) -> Worded:
    """A message that can be translated. The catalogue's template is made of what is written here.

    Args:
        message: the text in English, literally, with `%(name)s` where a value stands.
        values: the values by name: numbers, names, or messages that can be translated themselves.

    Example:
        >>> worded("batch %(number)s does not exist", number=3)
        'batch 3 does not exist'
    """
    return Worded(message, values)


def in_words(text: str, translate: Callable[[str], str]) -> str:
    """A message in another language, where it can be translated.

    Args:
        text: a message; one that is not made by `worded` stays as it is.
        translate: a function that gives the text in the language, or the same text where it has none.

    Example:
        >>> words = {"batch %(number)s is %(state)s": "%(state)s ist Stapel %(number)s", "open": "offen"}
        >>> in_words(worded("batch %(number)s is %(state)s", number=3, state=worded("open")), words.__getitem__)
        'offen ist Stapel 3'
        >>> in_words("as it is", str.upper)
        'as it is'
    """
    if not isinstance(text, Worded):
        return text
    found = translate(text.message)
    if not text.values:
        return found
    values = {name: in_words(each, translate) if isinstance(each, str) else each for name, each in text.values.items()}
    try:
        return found % values
    except (KeyError, TypeError, ValueError):  # a translation with a value that the text does not have
        return str(text)
