"""Old words of campaign files. Files in old words stay readable for ever, with their old meaning.

A campaign kind that renames a key or a value of its campaign files declares the new name once, in `FileWords`. The
reader of campaign files translates with this declaration, and `confide migrate` rewrites files with it. The digest of a
campaign is computed from the oldest words for its keys and values. A file in old words and the same file in today's
words are therefore one campaign, which is charged once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from confide.contract.errors import InvalidInput

__all__ = ["FileWords"]

_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STEP = re.compile(r"([^.\[\]]+)((?:\[\d+\])*)")  # of the place that an error names, such as columns[2].upper


@dataclass(frozen=True, kw_only=True)
class FileWords:
    """The old words of a kind's campaign files.

    The place of a key is its table and its name, such as `privacy.gamma`. Lists that contain the key, such as
    `[[columns]]`, are not part of the place. In the place of an old key, the tables have their names of today. A
    renamed key stays in its table. If a key or a value had several old words, the oldest word is listed first.

    Args:
        keys: mapping from the place of an old key to the key's name today.
        values: mapping from the place of a key, in today's words, to a mapping from each old value of the key to the
            value of today.

    Raises:
        TypeError: a word cannot be a key, or a value is both an old and a present value.

    Example:
        >>> words = FileWords(keys={"privacy.gamma": "failure_probability"},
        ...                   values={"privacy.neighbours": {"substitution": "replace"}})
        >>> words.today({"privacy": {"gamma": 0.01, "neighbours": "substitution"}})
        {'privacy': {'failure_probability': 0.01, 'neighbours': 'replace'}}
    """

    keys: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, word in self.keys.items():
            if not _KEY.fullmatch(word) or place.rpartition(".")[2] == word:
                raise TypeError(f"{place}: {word!r} is not a new name")
        for place, today in self.values.items():
            if both := set(today) & set(today.values()):
                raise TypeError(f"{place}: {min(both)!r} is an old value and a new one")

    def __or__(self, other: FileWords) -> FileWords:
        """The union of two sets of old words, such as the old words of all files and the old words of one kind."""
        return FileWords(keys={**self.keys, **other.keys}, values={**self.values, **other.values})

    def key_today(self, above: tuple[str, ...], key: str) -> str:
        """Today's name of a key.

        Args:
            above: the names of the tables that contain the key, in today's words.
            key: the key as the file writes it.
        """
        return self.keys.get(".".join((*above, key)), key)

    def value_today(self, place: tuple[str, ...], value: str) -> str:
        """Today's word for a text value.

        Args:
            place: the place of the value's key, in today's words.
            value: the value as the file writes it.
        """
        return self.values.get(".".join(place), {}).get(value, value)

    def today(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The contents of a campaign file, in today's words.

        Args:
            document: the contents as the file writes them.

        Raises:
            InvalidInput: the file gives one key twice, under an old and the present name, or under two old names.
        """
        found: dict[str, Any] = self._today(document, ())
        return found

    def _today(self, value: Any, place: tuple[str, ...]) -> Any:
        if isinstance(value, str):
            return self.value_today(place, value)
        if isinstance(value, list):
            return [self._today(each, place) for each in value]
        if not isinstance(value, Mapping):
            return value
        written, found = dict[str, str](), dict[str, Any]()
        for key, inner in value.items():
            word = self.key_today(place, key)
            if word in written:
                raise InvalidInput(".".join((*place, word)),
                                   f"is in the file twice, as {written[word]!r} and as {key!r}",
                                   f"{word!r} is the present name: keep only this key")
            written[word] = key
            found[word] = self._today(inner, (*place, word))
        return found

    def first(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The contents of a campaign file in the oldest words for each key and value. The digest is computed from this
        form.

        Args:
            document: the contents of the file in today's words.
        """
        keys = dict[str, str]()
        for place, word in self.keys.items():
            above, _, old = place.rpartition(".")
            keys.setdefault(f"{above}.{word}" if above else word, old)
        values = {place: {today[old]: old for old in reversed(list(today))} for place, today in self.values.items()}
        found: dict[str, Any] = _in_first(document, "", keys, values)
        return found

    def as_written(self, error: InvalidInput, document: Mapping[str, Any]) -> InvalidInput:
        """An error about a campaign file, in which the place of the fault is written in the words of the file.

        Args:
            error: the error, in which the place of the fault is written in today's words.
            document: the contents as the file writes them.
        """
        place, steps, here = tuple[str, ...](), list[str](), [document]
        for word, position in _STEP.findall(error.field):
            written = next((key for key in _keys(here) if self.key_today(place, key) == word), word)
            here = [table[written] for table in _tables(here) if written in table]
            place = (*place, word)
            steps.append(written + position)
        where = ".".join(steps)
        if not steps or where == error.field:
            return error
        return InvalidInput(where, error.problem, error.ways)


def _in_first(value: Any, place: str, keys: Mapping[str, str], values: Mapping[str, Mapping[str, str]]) -> Any:
    if isinstance(value, str):
        return values.get(place, {}).get(value, value)
    if isinstance(value, list):
        return [_in_first(each, place, keys, values) for each in value]
    if not isinstance(value, Mapping):
        return value
    inner = {key: f"{place}.{key}" if place else key for key in value}
    return {keys.get(inner[key], key): _in_first(each, inner[key], keys, values) for key, each in value.items()}


def _tables(values: list[Any]) -> Iterator[Mapping[str, Any]]:
    """The tables in a list of values, and in the lists that the list contains."""
    for each in values:
        if isinstance(each, Mapping):
            yield each
        elif isinstance(each, list):
            yield from _tables(each)


def _keys(values: list[Any]) -> Iterator[str]:
    for table in _tables(values):
        yield from table
