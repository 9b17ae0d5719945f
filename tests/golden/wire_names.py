"""The names under which confide writes, as `wire_names.toml` holds them: `python tests/golden/wire_names.py` renews it.

See `test_golden_wire_names.py`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import confide
from confide.contract import kind, kind_names
from confide.contract.guarantees import GUARANTEES
from confide.contract.metered import Metered, MeteredLine
from confide.contract.outcome import Provenance
from confide.contract.wire import wire_of
from confide.privacy.events import EVENTS
from confide.privacy.losses import LOSSES

FILE = Path(__file__).with_name("wire_names.toml")
HEAD = """\
# All names under which confide writes: table -> type with its version -> names of its fields; "?" marks a field that is
# younger than some files. Made by `python tests/golden/wire_names.py`, and compared by a test.
#
# Renew it where a type or a field is new. Where a line here changes or goes otherwise, files that somebody holds can no
# longer be read: declare the former name (`@wire`), or raise the type's version and upgrade what is older
# (CONTRIBUTING.md, "Golden files").
"""
_NOT_IMPORTED = ("confide.cli.demo", "confide.service", "confide.campaign.store.migrations")
"""A script, and what writes by declared models and columns alone."""


def modules() -> Iterator[ModuleType]:
    """All of confide's."""
    for each in pkgutil.walk_packages(confide.__path__, "confide."):
        if not each.name.startswith(_NOT_IMPORTED) and not each.name.endswith("__main__"):
            yield importlib.import_module(each.name)


def declaring() -> list[type]:
    """All of confide's classes that declare wire names."""
    found = {each for module in modules() for each in vars(module).values()
             if isinstance(each, type) and "__wire__" in vars(each)}
    return sorted(found, key=lambda each: (each.__module__, each.__name__))


def tables() -> dict[str, list[type]]:
    """All of these classes, by where they are written; what no kind reads again is "elsewhere"."""
    found = {f"kind {name}": list(kind(name).types.values()) for name in kind_names()
             if type(kind(name)).__module__.startswith("confide.")}
    found |= {"every outcome": [Provenance, Metered, MeteredLine], "guarantees": list(GUARANTEES.values()),
              "losses": list(LOSSES.values()), "events": list(EVENTS.values())}
    listed = {each for table in found.values() for each in table}
    return {**found, "elsewhere": [each for each in declaring() if each not in listed]}


def text() -> str:
    """What the file should hold."""
    lines = [HEAD]
    for table, kinds in sorted(tables().items()):
        lines.append(f'["{table}"]')
        for it in sorted(map(wire_of, kinds), key=lambda it: it.name):
            fields = sorted(word + "?" * (word in it.absent) for word in it.fields.values())
            lines.append(f'"{it.tag}" = "{" ".join(fields)}"')
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
