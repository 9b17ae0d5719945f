"""Wire names: the names of types and their fields in files, apart from their names in Python.

Packs, stores and journals hold wire names alone. So a class or a field may be renamed in Python: the
declaration above the class keeps the name under which it was written. A type has a version, too; version 1 is written
without a number, a later one as "name/version".

A type that declares nothing is written as its class and its fields are called, as version 1; fields that it inherits
keep the names that were declared for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, NamedTuple, TypeVar

__all__ = ["Wire", "declared", "from_parts", "named", "parts_of", "wire", "wire_name", "wire_of", "wire_parts",
           "wire_types", "word_of"]

_Kind = TypeVar("_Kind", bound=type)
_Made = TypeVar("_Made")
_HELD = "__wire__"
_VERSIONED = re.compile(r"(.+)/([2-9]|[1-9][0-9]{1,5})", re.DOTALL)


class Wire(NamedTuple):
    """The written form of a type.

    Args:
        name: the name of the type.
        version: the version of the form, from 1; raised where an older file means something else than its fields say
            now.
        fields: name in Python -> wire name, of all fields that are given to the constructor.
        absent: wire name of a younger field -> what older files without it mean; it is left out where it says that.
        words: name in Python -> value in Python -> the word that is written of it.
    """

    name: str
    version: int
    fields: Mapping[str, str]
    absent: Mapping[str, Any]
    words: Mapping[str, Mapping[str, str]] = {}

    def written(self, field: str, value: Any) -> Any:
        """A field's value as it is written.

        Args:
            field: the name of the field in Python.
            value: the value in Python.
        """
        if isinstance(value, Enum):
            return word_of(value)
        return self.words.get(field, {}).get(value, value) if isinstance(value, str) else value

    def read(self, field: str, value: Any) -> Any:
        """A field's value in Python.

        Args:
            field: the name of the field in Python.
            value: the value as it is written.
        """
        words = self.words.get(field, {})
        return next((own for own, word in words.items() if word == value), value) if isinstance(value, str) else value

    @property
    def tag(self) -> str:
        """The mark of an object that is written of this type: its name, and its version from 2 on."""
        return self.name if self.version == 1 else f"{self.name}/{self.version}"


def word_of(value: Enum) -> Any:
    """The word that is written for a member of an enumeration: its `wire_word`, where it has one, or else its value.

    Args:
        value: the member.
    """
    return getattr(value, "wire_word", value.value)


def wire(
    name: str, names: str, /, *, version: int = 1, absent: Mapping[str, Any] | None = None,
    words: Mapping[str, Mapping[str, str]] | None = None, **renamed: str,
) -> Callable[[_Kind], _Kind]:
    """Declare the written form of a dataclass; it stands above `@dataclass`.

    Args:
        name: the name of the type.
        names: the wire names of all fields that are given to the constructor, with spaces between them, in any order.
        version: the version of what is written, >= 1; older ones are read by `confide.contract.upgrades`.
        absent: wire name -> value of a field that is younger than some files: what these mean.
        words: name in Python -> value in Python -> the word that is written of it, where they differ.
        renamed: name in Python = wire name, where they differ.

    Raises:
        TypeError: the fields in Python do not have exactly these wire names. The message says what to declare.

    Example:
        >>> from dataclasses import dataclass
        >>> @wire("Coins", "people beta", failure_probability="beta")
        ... @dataclass(frozen=True, kw_only=True)
        ... class Coin:
        ...     people: int
        ...     failure_probability: float
        >>> wire_name(Coin(people=3, failure_probability=0.1)), wire_parts(Coin(people=3, failure_probability=0.1))
        ('Coins', {'people': 3, 'beta': 0.1})
    """

    def declare(kind: _Kind) -> _Kind:
        setattr(kind, _HELD, _checked(kind, Wire(name, version, renamed, absent or {}, words or {}), names.split()))
        return kind

    return declare


def _checked(kind: type, said: Wire, names: list[str]) -> Wire:
    """A declaration with the names of all fields, if it fits the class."""
    what, python = f"@wire of {kind.__qualname__}", _init_fields(kind)
    if not said.name.isidentifier() or said.version < 1:
        raise TypeError(f"{what}: {said.name!r} of version {said.version} must be one word, from version 1 on")
    strangers = [each for each in (*said.fields, *said.words) if each not in python]
    if strangers:
        raise TypeError(f"{what}: {', '.join(strangers)} is no field; write name in Python = wire name")
    found = {each: said.fields.get(each, each) for each in python}
    without = [each for each, word in found.items() if word not in names]
    unused = [word for word in names if word not in found.values()]
    if without:
        before = f"\"{unused[0] if unused else 'its former name'}\""
        raise TypeError(f"{what}: the field {without[0]!r} has no wire name. If it was renamed, write "
                        f"{without[0]}={before} in the declaration; if it is new, add it to the list of names, and its "
                        "meaning in files without it to `absent`")
    if unused:
        raise TypeError(f"{what}: no field is written as {unused[0]!r}. If that field is gone, take it from the list, "
                        "raise the version, and upgrade older files in confide/contract/upgrades.py")
    if len(set(found.values())) < len(found) or len(set(names)) < len(names):
        raise TypeError(f"{what}: two fields have one wire name")
    if not said.absent.keys() <= set(names):
        raise TypeError(f"{what}: `absent` names {', '.join(sorted(said.absent.keys() - set(names)))}, and no field is "
                        "written so")
    return said._replace(fields=found)


def _init_fields(kind: type) -> list[str]:
    return [each.name for each in fields(kind) if each.init]


def declared(kind: type) -> Wire:
    """The wire declaration of a class, or else of the nearest class above it that declares one.

    Args:
        kind: the class.

    Raises:
        AttributeError: none of them does.
    """
    found: Wire = getattr(kind, _HELD)
    return found


def wire_of(kind: type) -> Wire:
    """The written form of a dataclass, declared or not.

    Args:
        kind: the class.

    Raises:
        TypeError: no dataclass, or two of its fields would be written under one name.
    """
    own: Wire | None = vars(kind).get(_HELD)
    if own is not None:
        return own
    above: Wire = getattr(kind, _HELD, Wire("", 1, {}, {}))
    found = {each: above.fields.get(each, each) for each in _init_fields(kind)}
    if len(set(found.values())) < len(found):
        raise TypeError(f"two fields of {kind.__qualname__} would be written under one name: declare others with @wire")
    return Wire(kind.__name__, 1, found, above.absent, above.words)


def wire_name(value: Any) -> str:
    """The name of a value's type where it is written; the name in Python where it is no dataclass."""
    kind = type(value)
    return wire_of(kind).name if hasattr(kind, "__dataclass_fields__") else kind.__name__


def wire_parts(value: Any) -> dict[str, Any]:
    """The fields of a dataclass's instance by their wire names; a field is left out where its absence means its
    value.
    """
    it = wire_of(type(value))
    found = {word: it.written(each, getattr(value, each)) for each, word in it.fields.items()}
    return {word: part for word, part in found.items() if word not in it.absent or part != it.absent[word]}


def parts_of(value: Any) -> dict[str, Any]:
    """The parts of a value as in `wire_parts`, by the names in Python and with the values there: for pages and
    `--json`, which no file keeps.

    Args:
        value: the instance.
    """
    it = wire_of(type(value))
    found = {each: getattr(value, each) for each in it.fields}
    return {each: part for each, part in found.items()
            if it.fields[each] not in it.absent or part != it.absent[it.fields[each]]}


def from_parts(kind: type[_Made], parts: Mapping[str, Any]) -> _Made:
    """An instance, made from the result of `wire_parts`.

    Args:
        kind: the dataclass.
        parts: wire name -> value.

    Raises:
        LookupError: there is no such field.
        TypeError: a field is missing.
    """
    it = wire_of(kind)
    own = {word: each for each, word in it.fields.items()}
    return kind(**{own[word]: it.read(own[word], part) for word, part in {**it.absent, **parts}.items()})


def wire_types(*kinds: _Kind) -> dict[str, _Kind]:
    """Map wire name -> type, as in a kind's `types`, for all types in an outcome of its mechanisms.

    Args:
        kinds: dataclasses.

    Raises:
        TypeError: two are written under one name.
    """
    found = {wire_of(each).name: each for each in kinds}
    if len(found) < len(set(kinds)):
        raise TypeError("two of these types have one wire name")
    return found


def named(tag: str) -> tuple[str, int]:
    """The name and the version in an object's tag (`Wire.tag`).

    Args:
        tag: a stranger's, too.

    Example:
        >>> named("PMatch"), named("PMatch/2"), named("PMatch/1")
        (('PMatch', 1), ('PMatch', 2), ('PMatch/1', 1))
    """
    found = _VERSIONED.fullmatch(tag)
    return (found[1], int(found[2])) if found else (tag, 1)
