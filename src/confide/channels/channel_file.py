"""A channel file: a user's own randomisation as JSON. Either a table, or the design of a survey.

::

    {"format": 1, "title": "Smoking",                            what it is called
     "response": {"letters": ["never", "sometimes", "often"],    or their number
                  "truth": 0.7,                                  probability that the truth is told
                  "otherwise": "another"},                       another letter; or "any": the truth may come up again
     "rows": 1000,                                               people; 1 if left out
     "prior": [0.6, 0.3, 0.1]}                                   law of one row; uniform if left out

In place of `response`, `channel` gives the probabilities of the outputs, one row for each letter. With `letters` m and
m^rows table rows, it is the channel of the whole database, first row slowest; `prior` may then list all m^rows
probabilities, or one law for each row.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.channels.channel import Channel, FiniteChannel, RowProduct, as_table
from confide.channels.priors import IndependentRows, Prior, as_prior
from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput
from confide.contract.files import as_path, read_json
from confide.contract.words import did_you_mean

__all__ = ["ChannelFile", "read_channel", "read_channel_file"]

_KEYS = ("format", "title", "channel", "response", "letters", "rows", "prior")
_RESPONSE = ("letters", "truth", "otherwise")
_MOST = 1024  # letters
_ROWS = 10**7


@dataclass(frozen=True, kw_only=True)
class ChannelFile:
    """What a channel file says.

    Args:
        title: what it is called.
        channel: the randomisation.
        prior: what is known beforehand.
        prior_given: whether the file has a prior; otherwise it is uniform.
        names: of the letters, where they have some.
    """

    title: str
    channel: FiniteChannel
    prior: Prior
    prior_given: bool
    names: tuple[str, ...] = ()


def read_channel_file(path: str | os.PathLike[str]) -> ChannelFile:
    """Read a channel file.

    Raises:
        InvalidInput: not there, no JSON, or not a channel file; names the key, the problem and what would be right.
    """
    where = as_path("file", path)
    document, _ = read_json("file", where)
    return read_channel(document, title=Path(where).stem)


def read_channel(document: Any, *, title: str = "A channel") -> ChannelFile:
    """The same from what the JSON says.

    Args:
        document: the object.
        title: used where the object has none.

    Raises:
        InvalidInput: see `read_channel_file`.

    Example:
        >>> it = read_channel({"format": 1, "response": {"letters": 2, "truth": 0.75}, "prior": [0.9, 0.1]})
        >>> it.channel.tables[0].tolist()
        [[0.75, 0.25], [0.25, 0.75]]
    """
    _known("", document, _KEYS)
    if isinstance(document.get("format"), bool) or document.get("format") != 1:
        raise InvalidInput("format", "is missing" if "format" not in document else "is not known", "must be 1")
    name = document.get("title", title)
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput("title", "is no text")
    if "channel" not in document and "response" not in document:
        raise InvalidInput("channel", "is missing, and so is response", "give one of them")
    if "channel" in document and "response" in document:
        raise InvalidInput("channel", "stands beside response", "give one of them, and not both")
    rows = whole("rows", document.get("rows", 1), at_least=1)
    if rows > _ROWS:
        raise InvalidInput("rows", f"{rows:,} is too large", f"must be at most {_ROWS:,}: each row has the same levels")
    channel, names = (_table if "channel" in document else _response)(document, rows)
    prior = document.get("prior")
    if prior is None:
        law: Prior = IndependentRows([np.full(channel.letters, 1.0 / channel.letters)], [rows])
    else:
        law = as_prior(_numbers("prior", prior), channel.letters, rows)
    return ChannelFile(title=name, channel=channel, prior=law, prior_given=prior is not None, names=names)


def _table(document: Mapping[str, Any], rows: int) -> tuple[FiniteChannel, tuple[str, ...]]:
    table = as_table("channel", _numbers("channel", document["channel"]))
    letters, names = _letters("letters", document.get("letters", len(table)))
    if len(table) == letters:  # of one row; each row goes through it
        return RowProduct([table], np.zeros(rows, dtype=np.int64)), names
    if rows * np.log2(letters) > 40 or len(table) != letters**rows:
        whole_database = f" or {letters}^{rows} (the whole database does)" if rows > 1 else ""
        raise InvalidInput("letters", f"{letters} letters, and a table of {len(table)} rows", f"its rows must be "
                           f"{letters} (each row of the database goes through it){whole_database}")
    return Channel(table, letters, rows), names


def _response(document: Mapping[str, Any], rows: int) -> tuple[FiniteChannel, tuple[str, ...]]:
    design = document["response"]
    _known("response", design, _RESPONSE)
    if "letters" in document:
        raise InvalidInput("letters", "belongs into response")
    for key in ("letters", "truth"):
        if key not in design:
            raise InvalidInput(f"response.{key}", "is missing")
    m, names = _letters("response.letters", design["letters"])
    otherwise = one_of("response.otherwise", design.get("otherwise", "another"), ("another", "any"))
    truth = design["truth"]
    if isinstance(truth, bool) or not isinstance(truth, int | float) or not 0.0 <= truth <= 1.0:
        raise InvalidInput("response.truth", f"{truth!r} is no probability", "must be in [0, 1]")
    kept = truth if otherwise == "another" else truth + (1.0 - truth) / m
    table = np.full((m, m), (1.0 - kept) / (m - 1))
    np.fill_diagonal(table, kept)
    return RowProduct([table], np.zeros(rows, dtype=np.int64)), names


def _letters(field: str, value: Any) -> tuple[int, tuple[str, ...]]:
    names: tuple[str, ...] = ()
    if isinstance(value, list):
        if not all(isinstance(each, str) and each for each in value) or len(set(value)) != len(value):
            raise InvalidInput(field, "names must be different texts")
        names, value = tuple(value), len(value)
    m = whole(field, value, at_least=2)
    if m > _MOST:
        raise InvalidInput(field, f"{m} is too large", f"must be at most {_MOST}")
    return m, names


def _numbers(field: str, value: Any) -> NDArray[np.float64]:
    """A list of numbers, or of such lists of one length; texts and booleans are no numbers."""

    def plain(part: Any) -> bool:
        return isinstance(part, int | float) and not isinstance(part, bool)

    if not isinstance(value, list) or not all(
            plain(part) or (isinstance(part, list) and all(plain(each) for each in part)) for part in value):
        raise InvalidInput(field, "is no list of numbers", "must be a list, or a list of lists")
    try:
        return np.array(value, dtype=np.float64)
    except (ValueError, OverflowError):
        raise InvalidInput(field, "its rows have different lengths, or a number is beyond the doubles") from None


def _known(where: str, document: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(document, dict):
        raise InvalidInput(where or "file", "is no JSON object", f"known keys: {', '.join(keys)}")
    for key in document:
        if key not in keys:
            field = f"{where}.{key}" if where else str(key)
            raise InvalidInput(field, "is not a known key", did_you_mean(key, keys, f"known: {', '.join(keys)}"))
