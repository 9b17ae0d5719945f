"""Older versions of written objects, in the form of this version: the one place that knows how they differ.

A step takes the JSON object of one version of a type, without its tag, and gives that of the next. The objects within
it are still as they were written: each is upgraded after the one around it. A step is never changed or taken away: the
files that need it stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from confide.contract.errors import InvalidInput
from confide.contract.wire import named, wire_of

__all__ = ["UPGRADES", "newest", "printed_types", "type_said", "upgraded"]

UPGRADES: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""(wire name of a type, version) -> the step from that version to the next."""


_PRINTED = {
    "PrintedDualQuery": "wu_2017.query_release", "PrintedIntegerProgram": "wu_2017.query_release",
    "PrintedTruthfulRegression": "cummings_2015", "PrintedRidge": "cummings_2015",
}
"""Wire name of what a source prints -> the package of `confide.evidence` that has it: a family has no such class."""

_SETTINGS = {
    ("DualQuery", "literal", True): "PrintedDualQuery", ("IntegerProgram", "form", "printed"): "PrintedIntegerProgram",
    ("PrivateTruthfulRegression", "mode", "paper"): "PrintedTruthfulRegression",
}
"""(wire name of a type, of a field, value) by which files of confide 0.1.0 ask for what is printed -> its type now."""


def type_said(value: Mapping[str, Any], tag: str) -> Any:
    """The type of an object of a file, with its version: the type it names, or the one by which it is called now.

    Args:
        value: the value of a stranger's file.
        tag: the key under which its type stands.
    """
    said = value[tag]
    if not isinstance(said, str):
        return said
    return next((now for (name, key, setting), now in _SETTINGS.items()
                 if name == said and type(value.get(key)) is type(setting) and value[key] == setting), said)


def printed_types(value: Any) -> dict[str, type]:
    """The classes of `confide.evidence` that a JSON value names, by wire name.

    Args:
        value: the value of a stranger's file.

    Raises:
        InvalidInput: this installation is without the evidence.
    """
    names = sorted({each for each in _types_said(value) if each in _PRINTED})
    try:
        return {each: getattr(import_module(f"confide.evidence.{_PRINTED[each]}"), each) for each in names}
    except ModuleNotFoundError:
        raise InvalidInput("type", f"{', '.join(names)}: a mechanism as printed is in confide.evidence",
                           "it is missing here") from None


def _types_said(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            if isinstance(part.get("type"), str):
                yield named(type_said(part, "type"))[0]
            left.extend(part.values())
        elif isinstance(part, list):
            left.extend(part)


def newest(value: Mapping[str, Any], tag: str, kind: type) -> dict[str, Any]:
    """One JSON object as this version writes it.

    Args:
        value: the value of a stranger's file.
        tag: the key under which its type stands: "type", "event", "loss" or "guarantee".
        kind: the class of that type.

    Raises:
        InvalidInput: it was written by a newer version.
    """
    (name, found), known = named(type_said(value, tag)), wire_of(kind).version
    if found > known:
        raise InvalidInput(tag, f"{name!r} was written in version {found}, by a newer confide",
                           f"the newest that this one knows is version {known}: update it")
    if found == known:
        return {**value, tag: wire_of(kind).tag}
    parts = {key: part for key, part in value.items() if key != tag}
    for version in range(found, known):
        parts = UPGRADES[name, version](parts)
    return {tag: wire_of(kind).tag, **parts}


def upgraded(value: Any, types: Mapping[str, type], *tags: str) -> Any:
    """A JSON value with all objects in it as this version writes them; objects of other types stay as they are.

    Args:
        value: the value of a stranger's file.
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
        kind = types.get(named(type_said(value, tag))[0]) if isinstance(value.get(tag), str) else None
        if kind is not None:
            value = newest(value, tag, kind)
            break
    return {key: upgraded(each, types, *tags) for key, each in value.items()}
