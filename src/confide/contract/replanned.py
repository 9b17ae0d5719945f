"""Changes that would do instead of a refused campaign file: a key of it, tried on the whole plan of its kind.

A planner or constructor tries its remedies on itself. What does there may be refused by what the kind asks for beyond
it, so that a kind tries them once more, as keys of the file. Its words name no function of Python, as whoever follows
them has the file alone.
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
    """The tables of a campaign file with other values of some keys, checked as a file's are.

    Args:
        config: the configuration of the file.
        keys: "people.count" -> its value; of a key without a table, such as "method", the whole table.

    Raises:
        InvalidInput: the kind takes no such value.

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
    """A copy of a campaign file's contents, with other values of some keys.

    Args:
        document: tables, keys and values.
        keys: "people.count" -> its value; of a key without a table, such as "method", the whole table.

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
    """A way out of a refusal as keys of the file, where each of its settings is one.

    Args:
        way: out of a refusal.
        keys: name of a setting further in -> the key of the file.
        notes: key of the file -> what has to be true besides, where a smaller or larger value is a claim.

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
    """A key of a file with a place for a setting."""
    table, _, last = key.rpartition(".")
    return f"[{table}] {last} = {{{name}}}"


@contextmanager
def in_keys(keys: Mapping[str, str]) -> Iterator[None]:
    """Word the remedies of a refusal, which were tried on the whole plan already, as keys of the file.

    Args:
        keys: name of a setting further in -> the key of the file. A remedy of other settings keeps its words.
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
    """Try the numbers of a refusal on the whole plan of a kind instead, as keys of the file.

    Args:
        config: the configuration of the file.
        plan: the plan of the kind, without a cache: what is planned inside a try says nothing of what would do.
        keys: name of a setting further in -> the key of the file. A remedy of other settings cannot be followed in a
            file, and is left out.
        more: other remedies, where no number of the refusal does, and it is no bad input. Its words stay where that is
            nothing.
        notes: key of the file -> what has to be true besides.
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
    """The numbers of a refusal that do for the whole plan; see `in_file`."""
    def again(**settings: float) -> Any:
        return plan(changed(config, {keys[name]: value for name, value in settings.items()}))

    error.ways = tuple(way for way in error.remedies if set(way.settings) <= set(keys))
    return tuple(each for way in retried(error, again) if isinstance(each := keyed(way, keys, notes), Remedy))


def instead(error: InvalidInput | Refused, ways: Ways) -> ConfideError:
    """A refusal with other ways out."""
    if isinstance(error, InvalidInput):
        return InvalidInput(error.field, error.problem, ways)
    return Refused(error.reason, ways)


def nearest(
    config: C, plan: Callable[[C], Any], key: str, start: float, *, up: bool = True, digits: int = 3,
    farthest: float = 1e6, more: str = "",
) -> tuple[Remedy, ...]:
    """The value of one key nearest to a start, roughly, on one side, with which the whole plan is accepted; none where
    there is none.

    A search that takes over four seconds ends with the best that it has.

    Args:
        config: the configuration of the file.
        plan: the plan of the kind, without a cache; a refusal, or False, is a no.
        key: the key, such as "people.count".
        start: the value of the key, > 0, which does not do; whole numbers stay whole.
        up: whether to look above.
        digits: the number of digits of numbers that are not whole.
        farthest: the largest factor by which to go away from the start.
        more: words after the key and its value.
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
