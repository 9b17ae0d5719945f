"""A participant's record as she types it: `age=40,sex=male`, in one option or several, or line by line."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from confide.contract.errors import InvalidInput

__all__ = ["values"]

_NEXT = re.compile(r",(?=[^,=]+=)")
"""A comma that starts another column; any other one belongs to the value."""

_LONGEST = 1 << 16


def values(texts: Sequence[str]) -> dict[str, str]:
    """Column -> value.

    Args:
        texts: what the options said; "-" stands for the lines of the standard input, which no history and no list of
            processes shows.

    Raises:
        InvalidInput: a piece without `=`, or a column that stands twice.
    """
    pieces: list[str] = []
    for text in texts:
        lines = sys.stdin.read(_LONGEST).splitlines() if text == "-" else [text]
        pieces.extend(piece for line in lines if line.strip() for piece in _NEXT.split(line))
    found: dict[str, str] = {}
    for piece in pieces:
        name, equals, value = piece.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InvalidInput("record", f"{piece!r} is no column=value", "write --record age=40,sex=male")
        if name in found:
            raise InvalidInput("record", f"{name!r} stands twice", "give each column once")
        found[name] = value.strip()
    return found
