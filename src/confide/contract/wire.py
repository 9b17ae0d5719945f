"""Wire names: the names of types and of their fields in files, which are independent of their names in Python.

Evidence packs, stores and journals contain only wire names. A class or a field may be renamed in Python, because the
declaration above the class keeps the name in files unchanged. A type in a file also has a version. Version 1 is written
without a number, and a later version as "name/version".

A type without a declaration is written as version 1, under the names that its class and its fields have in Python.
Inherited fields keep the names that were declared for them.
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
    """The form in which a type is written to files.

    Args:
        name: the wire name of the type.
        version: the version of the form, >= 1. The version increases when the fields in older files have another
            meaning than the present fields.
        fields: mapping from the name in Python to the wire name, for all fields that the constructor takes.
        absent: mapping from the wire name of a field that was added later to the value that the field has in older
            files. A field with this value is not written.
        words: mapping from the name of a field in Python to a mapping from its values in Python to the written words.
    """

    name: str
    version: int
    fields: Mapping[str, str]
    absent: Mapping[str, Any]
    words: Mapping[str, Mapping[str, str]] = {}

    def written(self, field: str, value: Any) -> Any:
        """The value of a field in the form that is written to files.

        Args:
            field: the name of the field in Python.
            value: the value in Python.
        """
        if isinstance(value, Enum):
            return word_of(value)
        return self.words.get(field, {}).get(value, value) if isinstance(value, str) else value

    def read(self, field: str, value: Any) -> Any:
        """The value of a field in Python.

        Args:
            field: the name of the field in Python.
            value: the value in the form that is written to files.
        """
        words = self.words.get(field, {})
        return next((own for own, word in words.items() if word == value), value) if isinstance(value, str) else value

    @property
    def tag(self) -> str:
        """The tag of a written object: the wire name of its type, followed by "/" and the version if the version is
        above 1.
        """
        return self.name if self.version == 1 else f"{self.name}/{self.version}"


def word_of(value: Enum) -> Any:
    """The word that is written for a member of an enumeration: its `wire_word` if it has one, otherwise its value.

    Args:
        value: the member of the enumeration.
    """
    return getattr(value, "wire_word", value.value)


def wire(
    name: str, names: str, /, *, version: int = 1, absent: Mapping[str, Any] | None = None,
    words: Mapping[str, Mapping[str, str]] | None = None, **renamed: str,
) -> Callable[[_Kind], _Kind]:
    """Decorator that declares the written form of a dataclass; it stands above `@dataclass`.

    Args:
        name: the wire name of the type.
        names: the wire names of all fields that the constructor takes, with spaces between them, in any order.
        version: the version of the written form, >= 1. `confide.contract.upgrades` reads older versions.
        absent: mapping from the wire name of a field that was added later to the value that the field has in older
            files.
        words: mapping from the name of a field in Python to a mapping from its values in Python to the written words,
            for words that differ from the values.
        renamed: mapping from the name of a field in Python to its wire name, for fields with two different names.

    Raises:
        TypeError: the fields in Python do not have exactly these wire names. The error message says which declaration
            of the wire names is needed.

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
    """The declaration with the names of all fields, after a check that it fits the class."""
    what, python = f"@wire of {kind.__qualname__}", _init_fields(kind)
    if not said.name.isidentifier() or said.version < 1:
        raise TypeError(f"{what}: {said.name!r} of version {said.version} must be one word, from version 1 on")
    strangers = [each for each in (*said.fields, *said.words) if each not in python]
    if strangers:
        raise TypeError(f"{what}: {', '.join(strangers)} is not a field; write name in Python = wire name")
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
        raise TypeError(f"{what}: `absent` names {', '.join(sorted(said.absent.keys() - set(names)))}, which no field "
                        "has as its wire name")
    return said._replace(fields=found)


def _init_fields(kind: type) -> list[str]:
    return [each.name for each in fields(kind) if each.init]


def declared(kind: type) -> Wire:
    """The wire declaration of a class, or otherwise of its nearest base class that has one.

    Args:
        kind: the class whose declaration is wanted.

    Raises:
        AttributeError: neither the class nor a base class has a declaration.
    """
    found: Wire = getattr(kind, _HELD)
    return found


def wire_of(kind: type) -> Wire:
    """The written form of a dataclass, with or without a declaration.

    Args:
        kind: the dataclass, with or without a wire declaration.

    Raises:
        TypeError: the class is no dataclass, or two of its fields would be written under one name.
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
    """The wire name of a value's type; for a value that is no dataclass, the name of its type in Python."""
    kind = type(value)
    return wire_of(kind).name if hasattr(kind, "__dataclass_fields__") else kind.__name__


def wire_parts(value: Any) -> dict[str, Any]:
    """Mapping from wire name to value, for the fields of an instance of a dataclass. A field is left out if its value
    is the value that the field has in files without it (`Wire.absent`).
    """
    it = wire_of(type(value))
    found = {word: it.written(each, getattr(value, each)) for each, word in it.fields.items()}
    return {word: part for word, part in found.items() if word not in it.absent or part != it.absent[word]}


def parts_of(value: Any) -> dict[str, Any]:
    """Mapping from the name of each field of an instance to its value, with names and values as in Python. The fields
    are those that `wire_parts` returns. This form is for pages and `--json`, and is never stored in a file.

    Args:
        value: the instance of a dataclass.
    """
    it = wire_of(type(value))
    found = {each: getattr(value, each) for each in it.fields}
    return {each: part for each, part in found.items()
            if it.fields[each] not in it.absent or part != it.absent[it.fields[each]]}


def from_parts(kind: type[_Made], parts: Mapping[str, Any]) -> _Made:
    """An instance of a dataclass, made from the result of `wire_parts`.

    Args:
        kind: the dataclass of the instance.
        parts: mapping from wire name to value.

    Raises:
        LookupError: the dataclass has no field of the given wire name.
        TypeError: a field is missing.
    """
    it = wire_of(kind)
    own = {word: each for each, word in it.fields.items()}
    return kind(**{own[word]: it.read(own[word], part) for word, part in {**it.absent, **parts}.items()})


def wire_types(*kinds: _Kind) -> dict[str, _Kind]:
    """Mapping from wire name to type, as for the attribute `types` of a campaign kind.

    Args:
        kinds: the dataclasses that the mapping lists.

    Raises:
        TypeError: two types are written under one name.
    """
    found = {wire_of(each).name: each for each in kinds}
    if len(found) < len(set(kinds)):
        raise TypeError("two of these types have one wire name")
    return found


def named(tag: str) -> tuple[str, int]:
    """The wire name and the version in the tag of a written object (`Wire.tag`).

    Args:
        tag: the tag, which may come from a stranger's file.

    Example:
        >>> named("PMatch"), named("PMatch/2"), named("PMatch/1")
        (('PMatch', 1), ('PMatch', 2), ('PMatch/1', 1))
    """
    found = _VERSIONED.fullmatch(tag)
    return (found[1], int(found[2])) if found else (tag, 1)
