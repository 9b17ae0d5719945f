"""A table from the words of confide 0.1.0 to today's words with the same meaning, so that promises and pages of that
version can be compared to the letter.

A pack keeps the words of the version that wrote it. After this table has replaced the former words, a promise is either
the promise that this version computes, to the letter, or another promise. The table changes no number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from confide.campaign.verification.former_page_words import PAGES
from confide.campaign.verification.former_promise_words import PROMISES

__all__ = ["page_today", "promises_today"]

_NUMBER = r"(-?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"


def _patterns(words: tuple[tuple[str, str], ...]) -> list[tuple[re.Pattern[str], str]]:
    """Patterns of former words, with their present words. In former words "{}" stands for a number; the present words
    name the k-th of these numbers "{k}".
    """
    return [(re.compile(_NUMBER.join(map(re.escape, former.split("{}")))), re.sub(r"{([0-9])}", r"\\g<\1>", now))
            for former, now in words]


_OF_PROMISES, _OF_PAGES = _patterns(PROMISES), _patterns(PAGES)


def promises_today(value: Any) -> Any:
    """Promises of another version, with former words replaced by present words of the same meaning; keys stay.

    Args:
        value: the promises as a manifest states them, a JSON value.

    Example:
        >>> promises_today([{"who": "everybody, whatever the others report, where contributions are verified"}])
        [{'who': 'everybody, for any reports of the other participants, if contributions are verified'}]
    """
    if isinstance(value, str):
        return _worded(value, _OF_PROMISES)
    if isinstance(value, Mapping):
        return {key: promises_today(each) for key, each in value.items()}
    return [promises_today(each) for each in value] if isinstance(value, list) else value


def page_today(text: str) -> str:
    """A text from a page of another version, with former words replaced by present words of the same meaning.

    Args:
        text: a paragraph, a heading, or a row of a table with tabs between its cells.
    """
    return _worded(text, _OF_PAGES)


def _worded(text: str, patterns: list[tuple[re.Pattern[str], str]]) -> str:
    for former, now in patterns:
        text = former.sub(now, text)
    return text
