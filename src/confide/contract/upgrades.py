"""Upgrades of stored objects from older versions of their stored form to the present version. Only this module knows
how the versions differ.

A step takes the JSON object of one version of a type, without its tag, and returns the object of the next version.
Objects inside the upgraded object are still in their stored form. They are upgraded after the object that contains
them. A step is never changed or removed, because files that need the step still exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from confide.contract.errors import InvalidInput
from confide.contract.wire import named, wire_of

__all__ = ["UPGRADES", "newest", "printed_types", "type_said", "upgraded"]

UPGRADES: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""Mapping from (wire name of a type, version) to the step that turns this version into the next version."""


_PRINTED = {
    "PrintedDualQuery": "wu_2017.query_release", "PrintedIntegerProgram": "wu_2017.query_release",
    "PrintedTruthfulRegression": "cummings_2015", "PrintedRidge": "cummings_2015",
}
"""Mapping from the wire name of a mechanism as printed in a source to the package of `confide.evidence` that defines
it. The other packages of confide have no classes for mechanisms as printed in a source.
"""

_SETTINGS = {
    ("DualQuery", "literal", True): "PrintedDualQuery", ("IntegerProgram", "form", "printed"): "PrintedIntegerProgram",
    ("PrivateTruthfulRegression", "mode", "paper"): "PrintedTruthfulRegression",
}
"""Mapping from (wire name of a type, wire name of a field, value) to the present type. In files of confide 0.1.0, these
values of fields select a mechanism as printed in a source.
"""


def type_said(value: Mapping[str, Any], tag: str) -> Any:
    """The type name of a stored object, with its version. Names that have changed since are replaced by the present
    names.

    Args:
        value: the stored object, which may come from a stranger's file.
        tag: the key under which the object's type is stored.
    """
    said = value[tag]
    if not isinstance(said, str):
        return said
    return next((now for (name, key, setting), now in _SETTINGS.items()
                 if name == said and type(value.get(key)) is type(setting) and value[key] == setting), said)


def printed_types(value: Any) -> dict[str, type]:
    """The classes of `confide.evidence` that occur in a JSON value, by wire name.

    Args:
        value: the JSON value, which may come from a stranger's file.

    Raises:
        InvalidInput: the package `confide.evidence` is not installed.
    """
    names = sorted({each for each in _types_said(value) if each in _PRINTED})
    try:
        return {each: getattr(import_module(f"confide.evidence.{_PRINTED[each]}"), each) for each in names}
    except ModuleNotFoundError:
        raise InvalidInput("type", f"{', '.join(names)} cannot be read, since confide.evidence is not installed",
                           "mechanisms as printed are in this package") from None


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
    """One JSON object in the form that the present version writes.

    Args:
        value: the stored object, which may come from a stranger's file.
        tag: the key under which the object's type is stored: "type", "event", "loss" or "guarantee".
        kind: the class for the type of the stored object.

    Raises:
        InvalidInput: the object was written by a newer version.
    """
    (name, found), known = named(type_said(value, tag)), wire_of(kind).version
    if found > known:
        raise InvalidInput(tag, f"{name!r} was written in version {found}, by a newer confide",
                           f"this confide knows versions up to {known}: update confide")
    if found == known:
        return {**value, tag: wire_of(kind).tag}
    parts = {key: part for key, part in value.items() if key != tag}
    for version in range(found, known):
        parts = UPGRADES[name, version](parts)
    return {tag: wire_of(kind).tag, **parts}


def upgraded(value: Any, types: Mapping[str, type], *tags: str) -> Any:
    """A JSON value in which all objects of known types have the form that the present version writes. Objects of other
    types are unchanged.

    Args:
        value: the JSON value, which may come from a stranger's file.
        types: mapping from wire name to type.
        tags: keys under which the types of objects are stored.

    Raises:
        InvalidInput: some object was written by a newer version.
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
