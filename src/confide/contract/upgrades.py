"""Older versions of what was written, in the form of this version: the one place that knows how they differ.

A step takes the JSON object of one version of a type, without its tag, and gives that of the next. The objects within
it are still as they were written: each is upgraded after the one around it. A step is never changed or taken away: the
files that need it stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confide.contract.errors import InvalidInput
from confide.contract.wire import named, wire_of

__all__ = ["UPGRADES", "newest", "upgraded"]

UPGRADES: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""(wire name of a type, version) -> the step from that version to the next."""


def newest(value: Mapping[str, Any], tag: str, kind: type) -> dict[str, Any]:
    """One JSON object as this version writes it.

    Args:
        value: of a stranger's file.
        tag: the key under which its type stands: "type", "event", "loss" or "guarantee".
        kind: that type.

    Raises:
        InvalidInput: it was written by a newer version.
    """
    (name, found), known = named(value[tag]), wire_of(kind).version
    if found > known:
        raise InvalidInput(tag, f"{name!r} was written in version {found}, by a newer confide",
                           f"the newest that this one knows is version {known}: update it")
    if found == known:
        return dict(value)
    parts = {key: part for key, part in value.items() if key != tag}
    for version in range(found, known):
        parts = UPGRADES[name, version](parts)
    return {tag: wire_of(kind).tag, **parts}


def upgraded(value: Any, types: Mapping[str, type], *tags: str) -> Any:
    """A JSON value with all objects in it as this version writes them; what is not of these types stays as it is.

    Args:
        value: of a stranger's file.
        types: wire name -> type.
        tags: keys under which the names of types stand.

    Raises:
        InvalidInput: something in it was written by a newer version.
    """
    if isinstance(value, list):
        return [upgraded(each, types, *tags) for each in value]
    if not isinstance(value, dict):
        return value
    for tag in tags:
        kind = types.get(named(value[tag])[0]) if isinstance(value.get(tag), str) else None
        if kind is not None:
            value = newest(value, tag, kind)
            break
    return {key: upgraded(each, types, *tags) for key, each in value.items()}
