"""Tables that list every key of a kind's campaign file, with its meaning, its range, and its default.

The tables are made from the JSON schema of the kind, so they state exactly the limits that are checked. The tables are
also made for kinds of other packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from confide.campaign.file import schema
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.words import number

__all__ = ["key_sections"]

_COLUMNS = ("key", "must be", "default", "meaning")
_TYPES = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
_BOUNDS = (("exclusiveMinimum", "above"), ("minimum", "at least"), ("exclusiveMaximum", "below"),
           ("maximum", "at most"))
_SIZES = (("minItems", "at least"), ("maxItems", "at most"))
_NEEDED = "(needed)"
_HEAD = re.compile(r"^`\[[^:]*: ")  # what tables say of themselves may begin with their name, which is the title


def key_sections(name: str) -> list[Section]:
    """The keys of a kind's campaign file: first the keys above all tables, then a section for each table.

    Args:
        name: the name of the kind, as `confide kinds` lists it.

    Raises:
        InvalidInput: no kind has this name; the message names the nearest one.

    Example:
        >>> top, *tables = key_sections("regression")
        >>> [row[0] for row in top.blocks[0].rows]
        ['format', 'kind', 'title']
        >>> tables[0].title
        '[budget]'
    """
    whole = schema(name)
    top = {key: what for key, what in whole["properties"].items() if not _tables(what, whole)}
    needed = set(whole.get("required", ()))
    found = [Section(title=f"Campaign files of kind {name}", blocks=(_keys(top, needed, whole),))]
    for key, what in whole["properties"].items():
        found += _sections(key, what, key in needed, whole)
    return found


def _sections(key: str, what: Mapping[str, Any], needed: bool, whole: Mapping[str, Any]) -> Iterator[Section]:
    """The sections of a table: one section for each kind of the table, and the sections of the tables inside it."""
    several = any(each.get("type") == "array" for each in _choices(what))
    title = f"[[{key}]]" if several else f"[{key}]"
    for table in _tables(what, whole):
        tags = [f"{name} = {_values(it)}" for name, it in table["properties"].items()
                if name in table.get("required", ()) and _values(it)]
        of = f" with {', '.join(tags)}" if tags and len(_tables(what, whole)) > 1 else ""
        about = _HEAD.sub("", str(table.get("description", "")).split("\n\n", maxsplit=1)[0].replace("\n", " "))
        blocks: list[Block] = [Text((about[:1].upper() + about[1:],))] if about else []
        inner = {name: it for name, it in table["properties"].items() if not _tables(it, whole)}
        blocks.append(_keys(inner, set(table.get("required", ())), whole))
        yield Section(title=f"{title}{of}{'' if needed else ' (may be left out)'}", blocks=tuple(blocks))
        for name, it in table["properties"].items():
            yield from _sections(f"{key}.{name}", it, name in table.get("required", ()), whole)


def _keys(some: Mapping[str, Any], needed: set[str], whole: Mapping[str, Any]) -> Table:
    return Table(columns=_COLUMNS, rows=tuple(
        (key, _limits(what, whole), _NEEDED if key in needed else _value(what.get("default")),
         str(what.get("description", "")).replace("\n", " ")) for key, what in some.items()))


def _choices(what: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemas of the values that a key may have, without null, which TOML cannot write."""
    several = what.get("anyOf") or what.get("oneOf") or [what]
    return [each for each in several if each.get("type") != "null"]


def _tables(what: Mapping[str, Any], whole: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemas of the tables that a key may be, or may hold a list of; empty where the key is a plain value."""
    found: list[Mapping[str, Any]] = []
    for each in _choices(what):
        if "$ref" in each:
            table = whole["$defs"][each["$ref"].rsplit("/", maxsplit=1)[-1]]
            if "properties" in table and table not in found:
                found.append(table)
        elif isinstance(each.get("items"), Mapping):
            found += [table for table in _tables(each["items"], whole) if table not in found]
    return found


def _limits(what: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    return " or ".join(dict.fromkeys(_limit({**_shared(what), **each}, whole) for each in _choices(what)))


def _shared(what: Mapping[str, Any]) -> Mapping[str, Any]:
    """Limits that the schema states beside the alternatives of a key, and that hold for each alternative."""
    return {key: value for key, value in what.items() if key not in ("anyOf", "oneOf", "default", "description")}


def _limit(what: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    """The text on one alternative of a key."""
    if "$ref" in what:
        return _limits(whole["$defs"][what["$ref"].rsplit("/", maxsplit=1)[-1]], whole)
    if values := _values(what):
        return values
    if what.get("type") == "array":
        if "prefixItems" in what:
            return f"[{', '.join(_limits(each, whole) for each in what['prefixItems'])}]"
        inner = _limits(what.get("items") or {}, whole)
        if what.get("minItems") is not None and what.get("minItems") == what.get("maxItems"):
            return f"list of {what['minItems']}, each {inner}"
        sizes = [f"{word} {number(what[key])}" for key, word in _SIZES if what.get(key, 0) > (key == "minItems")]
        return f"list{''.join(f', {size}' for size in sizes)}; each {inner}"
    if what.get("format") == "date":
        return "date YYYY-MM-DD"
    bounds = [f"{word} {number(what[key])}" for key, word in _BOUNDS if key in what]
    return f"{_TYPES.get(str(what.get('type')), 'anything')}{''.join(f', {bound}' for bound in bounds)}".replace(
        "number, ", "number ", 1)


def _values(what: Mapping[str, Any]) -> str:
    """The allowed values, where the schema lists them; empty elsewhere."""
    few = [what["const"]] if "const" in what else what.get("enum", [])
    return " or ".join(map(_value, few))


def _value(given: Any) -> str:
    """A value as a campaign file writes it."""
    if given is None:
        return ""
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, list | tuple):
        return f"[{', '.join(map(_value, given))}]"
    return f'"{given}"' if isinstance(given, str) else f"{given:g}" if isinstance(given, float) else str(given)
