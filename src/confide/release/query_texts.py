"""Queries as texts: the literals of one stand between commas or "and", and names may hold both.

Of what a name could be, the longest is meant. Where that would read another query than was written, a literal stands in
quotes, as a text of JSON: "job = a, b" and "smoker".
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from confide.contract.errors import InvalidInput

if TYPE_CHECKING:
    from confide.release.schema import Schema

__all__ = ["hazards", "joined", "split"]

_BETWEEN = re.compile(r"\s*,\s*|\s+and\s+")
_ENDS = re.compile(r"(?=\s*,|\s+and\s)")
"""Where a literal may end before the last one: also within what another separator would take."""


def split(schema: Schema, text: str) -> list[str]:
    """The literals of a text. Names of bins and levels may hold commas: the longest known one is meant.

    Args:
        schema: the public columns.
        text: literals between commas or "and"; one in quotes is a text of JSON.

    Example:
        >>> from confide.release.schema import Levels, Schema
        >>> split(Schema((Levels(column="job", levels=("a", "b, c")), Levels(column="d", levels=("e", "f")))),
        ...       "job = b, c and d = e")
        ['job = b, c', 'd = e']
    """
    text = text.strip()
    ends, found, start = [each.start() for each in _ENDS.finditer(text)] + [len(text)], list[str](), 0
    while start < len(text):
        ahead = [end for end in ends if end > start]
        end = next((end for end in reversed(ahead) if _known(schema, text[start:end])), None)
        if end is None:  # up to where its brackets close: the reader is told that this is unknown
            end = next((end for end in ahead if _closed(text[start:end])), len(text))
        found.append(text[start:end].strip())
        between = _BETWEEN.match(text, end)
        start = end if between is None else between.end()
    return [each for each in found if each] if any(found) else []


def joined(schema: Schema, literals: Sequence[str]) -> str:
    """One text of literals, which `split` takes apart again."""
    text = " and ".join(literals)
    if not schema.braces and schema.hazards.isdisjoint(literals):
        return text
    if _read(schema, split(schema, text)) == _read(schema, literals):
        return text
    return " and ".join(json.dumps(each, ensure_ascii=False) for each in literals)


def hazards(known: Collection[str]) -> frozenset[str]:
    """The texts that others begin with, up to a comma or an "and" in them: the longer one could be read."""
    return frozenset(text[: found.start()] for text in known for found in _ENDS.finditer(text)) & frozenset(known)


def _read(schema: Schema, literals: Sequence[str]) -> list[tuple[tuple[int, bool], ...]] | None:
    try:
        return [schema.literals(each) for each in literals]
    except InvalidInput:
        return None


def _known(schema: Schema, text: str) -> bool:
    return _read(schema, [text]) is not None


def _closed(text: str) -> bool:
    return sum(map(text.count, "[{")) <= sum(map(text.count, ")]}"))
