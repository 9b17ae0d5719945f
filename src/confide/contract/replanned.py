"""Remedies for a refused campaign file: changes of keys of the file, tested on the whole plan of the campaign.

A planner or constructor tests a remedy only by a call of the same planner or constructor. A campaign kind has more
requirements than its planner, so the kind may refuse a remedy that the planner accepts. The kind therefore tests the
remedies again, as keys of the file. The words of a remedy name no Python function, because the reader has only the
file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import ValidationError

from confide.contract.errors import ConfideError, InvalidInput, Refused, Ways
from confide.contract.known_keys import Keys
from confide.contract.remedies import Remedy, first_that, retried, tried, trying

__all__ = ["changed", "in_file", "in_keys", "instead", "keyed", "nearest", "replanned", "with_keys"]

C = TypeVar("C", bound=Keys)

_PATIENCE = 4.0  # seconds of this process, of one search


def changed(config: C, keys: Mapping[str, Any]) -> C:
    """The contents of a campaign file with other values for some keys. The new values are checked like the values in a
    file.

    Args:
        config: the configuration of the file.
        keys: mapping from a key in a table, such as "people.count", to the new value, and from the name of a table,
            such as "method", to the whole new table.

    Raises:
        InvalidInput: the kind does not accept a new value.

    Example:
        >>> class People(Keys):
        ...     count: int
        >>> class Config(Keys):
        ...     people: People
        >>> changed(Config(people=People(count=3)), {"people.count": 4}).people.count
        4
    """
    try:
        return type(config).model_validate(with_keys(config.model_dump(exclude_unset=True), keys))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InvalidInput(".".join(map(str, first["loc"])), str(first["msg"])) from None


def with_keys(document: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a campaign file's contents, with other values for some keys.

    Args:
        document: contents of a campaign file: tables, keys and values.
        keys: mapping from a key in a table, such as "people.count", to the new value, and from the name of a table,
            such as "method", to the whole new table.

    Example:
        >>> with_keys({"people": {"count": 3}}, {"people.count": 4, "privacy.delta": 0.0})
        {'people': {'count': 4}, 'privacy': {'delta': 0.0}}
    """
    found = deepcopy(dict(document))
    for key, value in keys.items():
        *tables, name = key.split(".")
        place = found
        for table in tables:
            place = place.setdefault(table, {})
        place[name] = value
    return found


def keyed(way: str | Remedy, keys: Mapping[str, str], notes: Mapping[str, str] = MappingProxyType({})) -> str | Remedy:
    """A remedy for a refusal, written as keys of the campaign file if each of its settings is a key.

    Args:
        way: a remedy for a refusal, as a text or a `Remedy`.
        keys: mapping from the name of a planner's setting to the key of the file.
        notes: mapping from a key of the file to a further condition, which is added to the remedy. Such a condition is
            needed if the value of the key is a claim about the world.

    Example:
        >>> str(keyed(Remedy("an epsilon of {epsilon}", {"epsilon": 0.148}), {"epsilon": "privacy.epsilon"}))
        '[privacy] epsilon = 0.148'
    """
    if isinstance(way, str) or way.file or not way.settings or not way.settings.keys() <= keys.keys():
        return way
    words = " and ".join(_line(keys[name], name) + notes.get(keys[name], "") for name in way.settings)
    return replace(way, words=words,
                   file={keys[name]: value for name, value in way.settings.items()})


def _line(key: str, name: str) -> str:
    """A key of a campaign file as a line of TOML, with a place for the value."""
    table, _, last = key.rpartition(".")
    return f"[{table}] {last} = {{{name}}}"


@contextmanager
def in_keys(keys: Mapping[str, str]) -> Iterator[None]:
    """Context manager that writes the remedies of a refusal as keys of the file. The remedies must already be tested on
    the whole plan.

    Args:
        keys: mapping from the name of a planner's setting to the key of the file. A remedy that names other settings is
            not changed.
    """
    try:
        yield
    except (InvalidInput, Refused) as error:
        if not error.remedies:
            raise
        raise instead(error, [keyed(way, keys) for way in error.ways]) from None


@contextmanager
def in_file(
    config: C, plan: Callable[[C], Any], keys: Mapping[str, str],
    more: Callable[[], Iterable[str | Remedy]] = tuple, notes: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[None]:
    """Context manager that tests the numbers in a refusal again, as keys of the file and on the whole plan of a kind.

    Args:
        config: the configuration of the file.
        plan: function from a configuration to the plan of the kind. The function must not use a cache, because a plan
            that is made inside a test lists no remedies.
        keys: mapping from the name of a planner's setting to the key of the file. A remedy with other settings cannot
            be applied in a file, and is left out.
        more: function that returns other remedies. The function is called if no number in the refusal is accepted, but
            not for an `InvalidInput` without numbers. If there is no remedy at all, the refusal is not changed.
        notes: mapping from a key of the file to a further condition, which is added to the remedy.
    """
    try:
        yield
    except (InvalidInput, Refused) as error:
        if trying() or not (error.remedies or (more is not tuple and isinstance(error, Refused))):
            raise
        words = [way for way in error.ways if isinstance(way, str)]
        raise instead(error, replanned(error, config, plan, keys, notes) or [*more()] or words) from None


def replanned(
    error: ConfideError, config: C, plan: Callable[[C], Any], keys: Mapping[str, str],
    notes: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Remedy, ...]:
    """The remedies with those numbers of a refusal that the whole plan accepts; see `in_file`."""
    def again(**settings: float) -> Any:
        return plan(changed(config, {keys[name]: value for name, value in settings.items()}))

    error.ways = tuple(way for way in error.remedies if set(way.settings) <= set(keys))
    return tuple(each for way in retried(error, again) if isinstance(each := keyed(way, keys, notes), Remedy))


def instead(error: InvalidInput | Refused, ways: Ways) -> ConfideError:
    """A copy of a refusal with other remedies."""
    if isinstance(error, InvalidInput):
        return InvalidInput(error.field, error.problem, ways)
    return Refused(error.reason, ways)


def nearest(
    config: C, plan: Callable[[C], Any], key: str, start: float, *, up: bool = True, digits: int = 3,
    farthest: float = 1e6, more: str = "",
) -> tuple[Remedy, ...]:
    """A remedy that sets one key of the campaign file to a value that the whole plan accepts. The value is close to the
    nearest accepted value on one side of `start`. The result is empty if no accepted value is found.

    A search that takes over four seconds ends with the best value found so far.

    Args:
        config: the configuration of the file.
        plan: function from a configuration to the plan of the kind, without a cache. A refusal, or the result False,
            means that a value is not accepted.
        key: the key, such as "people.count".
        start: the value at which the search begins, > 0. This value itself is not accepted. If it is an int, only whole
            numbers are tried.
        up: True to search above the start, False to search below.
        digits: the number of significant digits of a value that is not whole.
        farthest: the largest factor by which the result may exceed `start`, or fall below it.
        more: text that is added after the key and its value.
    """
    name, spent = key.rpartition(".")[2], 0.0

    def again(**settings: float) -> Any:
        return plan(changed(config, {key: settings[name]}))

    def quickly(value: float) -> Any:
        nonlocal spent
        if spent > _PATIENCE:
            return False
        begun = time.process_time()
        try:
            return again(**{name: value})
        finally:
            spent += time.process_time() - begun

    search: Any = partial(first_that, quickly, start, up=up, close=1e-2, farthest=farthest)
    words = _line(key, name) + more
    return tuple(replace(each, file={key: each.settings[name]})
                 for each in tried(words, again, up=up, digits=digits, **{name: search}))
