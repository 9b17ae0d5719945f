"""Where keys and texts stand in a TOML document: what a rewriting needs that leaves every other letter as it is.

The standard library's reader gives values without places. So this looks at the letters again, of a document that the
reader has accepted: it need not know what is wrong TOML, and whoever rewrites compares what the reader says afterwards.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Generator, Iterator
from dataclasses import dataclass

__all__ = ["Place", "places"]

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_TEXT = re.compile(r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})' r"|'''.*?'''(?:'{0,2})"
                   r'|"(?:[^"\\]|\\.)*"' r"|'[^']*'", re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^,\]}#\r\n]+")  # numbers, dates, true and false


@dataclass(frozen=True)
class Place:
    """A key, or a text, of a document.

    Args:
        path: the keys that lead to it, as they are written, without lists on the way. Of a key, itself is the last.
        start: where it begins.
        end: where it ends.
        text: what it says.
        is_key: whether it is a key.
    """

    path: tuple[str, ...]
    start: int
    end: int
    text: str
    is_key: bool


def places(document: str) -> Iterator[Place]:
    """All keys and texts, in their order.

    Args:
        document: what `tomllib.loads` accepts.

    Example:
        >>> [(".".join(each.path), each.text) for each in places('goods = { name = "a" } # b = "c"')]
        [('goods', 'goods'), ('goods.name', 'name'), ('goods.name', 'a')]
    """
    table: tuple[str, ...] = ()
    at = _after(_SPACE, document, 0)
    while at < len(document):
        if document[at] == "[":
            deep = 2 if document.startswith("[[", at) else 1
            keys = list(_keys(document, at + deep, ()))
            yield from keys
            table, at = keys[-1].path, document.index("]", keys[-1].end) + deep
        else:
            at = yield from _pair(document, at, table)
        at = _after(_SPACE, document, at)


def _after(pattern: re.Pattern[str], document: str, at: int) -> int:
    found = pattern.match(document, at)
    return found.end() if found else at


def _keys(document: str, at: int, above: tuple[str, ...]) -> Iterator[Place]:
    """The parts of a key with dots."""
    while True:
        at = _after(_BLANK, document, at)
        end = _after(_TEXT, document, at) if document[at] in "\"'" else _after(_BARE, document, at)
        text = _said(document[at:end]) if document[at] in "\"'" else document[at:end]
        above = (*above, text)
        yield Place(above, at, end, text, is_key=True)
        at = _after(_BLANK, document, end)
        if document[at] != ".":
            return
        at += 1


def _pair(document: str, at: int, table: tuple[str, ...]) -> Generator[Place, None, int]:
    """A key and its value; gives the end."""
    keys = list(_keys(document, at, table))
    yield from keys
    at = _after(_BLANK, document, document.index("=", keys[-1].end) + 1)
    return (yield from _value(document, at, keys[-1].path))


def _value(document: str, at: int, path: tuple[str, ...]) -> Generator[Place, None, int]:
    """A value; gives the end."""
    if document[at] in "\"'":
        end = _after(_TEXT, document, at)
        yield Place(path, at, end, _said(document[at:end]), is_key=False)
        return end
    if document[at] not in "[{":
        return _after(_PLAIN, document, at)
    last = "]" if document[at] == "[" else "}"
    at = _after(_SPACE, document, at + 1)
    while document[at] != last:
        at = yield from (_value if last == "]" else _pair)(document, at, path)
        at = _after(_SPACE, document, at)
        if document[at] == ",":
            at = _after(_SPACE, document, at + 1)
    return at + 1


def _said(literal: str) -> str:
    text: str = tomllib.loads(f"it = {literal}")["it"]
    return text
