"""Writes the public names of the build that is installed, as JSON: `python former_names.py TO`.

It ran once, in the environment of 9376621e, and made `made_by_9376621e/public_names.json`. It uses nothing of confide
but what any build has: packages with `__all__`.

    package -> name -> {"takes": parameters of a class or a function, "attributes": fields and properties of a class,
                        "methods": method -> parameters}

Parameters are the names in their order; one that can stand by its name alone has a "*" before it. Those without a name
of their own (`*rest`, `**rest`) are left out.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["public_names", "taken"]


def taken(entry: Any) -> list[str] | None:
    """The names of parameters; None where nobody says them."""
    try:
        parameters = list(inspect.signature(entry).parameters.values())
    except (TypeError, ValueError):
        return None
    if isinstance(entry, type) or (parameters and parameters[0].name not in ("self", "cls")):
        own = parameters
    else:
        own = parameters[1:]
    return [f"{'*' if each.kind is each.KEYWORD_ONLY else ''}{each.name}" for each in own
            if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]


def packages(house: ModuleType) -> Iterator[ModuleType]:
    """A package and all that lie in it."""
    yield house
    for each in pkgutil.iter_modules(house.__path__, f"{house.__name__}."):
        if each.ispkg:
            yield from packages(importlib.import_module(each.name))


def described(entry: Any) -> dict[str, Any]:
    """What can be written after a public name: its arguments, and of a class its parts."""
    if not isinstance(entry, type):
        return {"takes": taken(entry)} if callable(entry) else {}
    attributes = {each.name for each in dataclasses.fields(entry)} if dataclasses.is_dataclass(entry) else set[str]()
    methods = dict[str, list[str] | None]()
    for name in dir(entry):
        owner = next((each for each in entry.__mro__ if name in vars(each)), object)
        if name.startswith("_") or name in attributes or not owner.__module__.startswith("confide."):
            continue
        part = inspect.getattr_static(entry, name)
        if isinstance(part, property) or isinstance(getattr(entry, name), type) or not callable(getattr(entry, name)):
            attributes.add(name)
        else:
            methods[name] = taken(getattr(entry, name))
    return {"takes": taken(entry), "attributes": sorted(attributes), "methods": methods}


def public_names() -> dict[str, dict[str, Any]]:
    """Package -> name -> what it takes and has."""
    return {place.__name__: {name: described(getattr(place, name)) for name in place.__all__}
            for place in packages(importlib.import_module("confide")) if hasattr(place, "__all__")}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(public_names(), sort_keys=True, separators=(",", ":")) + "\n",
                                 encoding="utf-8")
