"""Messages that can be translated: each is an English text that keeps the template and the values from which it was
made.

Refusals are worded in English, for logs, programs and the command line. A page that shows a message to people looks up
the template of the message in a catalogue of translations. Each template is written in one place in the code, and the
catalogue's list of templates is made from the code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Worded", "in_words", "worded"]


class Worded(str):
    """A message in English that keeps the template and the values from which it was made; see `worded`.

    Args:
        message: the template, with `%(name)s` in place of each value.
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
    """Make a message that can be translated. The catalogue of templates is made from the calls of this function.

    Args:
        message: the template in English, as a literal, with `%(name)s` in place of each value.
        values: the values by name: numbers, names, or messages that can be translated themselves.

    Example:
        >>> worded("batch %(number)s does not exist", number=3)
        'batch 3 does not exist'
    """
    return Worded(message, values)


def in_words(text: str, translate: Callable[[str], str]) -> str:
    """A message in another language. Parts without a translation stay in English.

    Args:
        text: the message. A text that was not made by `worded` is returned unchanged.
        translate: a function from a template to its translation, or to the same template if there is none.

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
