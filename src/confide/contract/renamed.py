"""Old names in Python: they work until 1.0.0, and a warning points at the caller's own line.

`renamed` is for keywords and attributes, `confide._lazy.doors(..., renamed=...)` for public names of a package. A type
checker sees today's names alone: an old one is an error there. `renames()` lists all old names, for the docs and the
tests. Names in campaign files are another matter: see `confide.contract.file_words`.

Calls as they were before: arguments by position work until 1.0.0, with a warning.
"""

from __future__ import annotations

import dataclasses
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, wraps
from importlib import import_module
from inspect import getattr_static, signature
from types import FrameType, MemberDescriptorType
from typing import Any, TypeVar

from confide.contract.errors import InvalidInput

__all__ = [
    "REMOVED_AT",
    "ConfideDeprecationWarning",
    "Rename",
    "by_position_before",
    "renamed",
    "renamed_keywords",
    "renames",
    "warn_of_old",
]

# ---- renamed

REMOVED_AT = "1.0.0"
"""The version without the old names."""

_Door = TypeVar("_Door", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)

_PASSED_THROUGH = ("copy", "dataclasses", "functools", "contextlib")
"""Modules that may stand between a caller and the house."""

_REPLACING = {getattr(dataclasses, name).__code__ for name in ("replace", "_replace") if hasattr(dataclasses, name)}
"""What `dataclasses.replace` and `copy.replace` run: they hand over all fields of the original beside the change."""


class ConfideDeprecationWarning(DeprecationWarning):
    """The use of a name of confide that will go. The message gives the name to use and the version without the old one.

    Example:
        >>> warnings.filterwarnings("error", category=ConfideDeprecationWarning)  # find all uses in your own tests
    """


@dataclasses.dataclass(frozen=True, order=True)
class Rename:
    """One old name.

    Args:
        where: the class, function or package that has it, by its public name.
        old: the word that goes.
        new: the word to use.
    """

    where: str
    old: str
    new: str


def renamed(**today: str) -> Callable[[_Door], _Door]:
    """Let a class or a function take old keywords, with a warning; old attributes of a class can be read, too.

    It stands above `@dataclass`. A dataclass that inherits old names has an `__init__` of its own, so it is decorated
    anew: `@renamed()`. Above an `__init__` it is for keywords whose old name is also that of a method.

    Args:
        today: old name -> the name of the parameter or attribute now.

    Raises:
        TypeError: an old name is in use, or a new one does not exist.

    Example:
        >>> @renamed(n="people")
        ... def share_of_one(*, people: int) -> float:
        ...     return 1 / people
        >>> with warnings.catch_warnings(record=True) as found:
        ...     warnings.simplefilter("always")
        ...     share_of_one(n=4)
        0.25
        >>> str(found[0].message)
        "share_of_one: 'n' is called 'people' now; the old name goes with confide 1.0.0"
    """

    def mend(door: _Door) -> _Door:
        if not isinstance(door, type):
            names = dict(today)
            _check(door.__qualname__, names, signature(door).parameters)
            called = door.__qualname__.split(".")[-2] if door.__name__ == "__init__" else door.__name__
            return _translating(door, names, called)  # type: ignore[return-value]
        of_the_keywords = getattr(door.__init__, "__renamed__", {})  # type: ignore[misc]
        names = {**getattr(door, "__renamed__", {}), **of_the_keywords, **today}
        takes = signature(door.__init__).parameters  # type: ignore[misc]
        _check(door.__qualname__, {old: new for old, new in names.items() if not hasattr(door, new)}, takes)
        for old, new in today.items():
            if old in takes or hasattr(door, old):
                raise TypeError(f"{door.__qualname__}: {old!r} is in use")
            setattr(door, old, _OldAttribute(old, new))
        keywords = {old: new for old, new in names.items() if new in takes}
        setattr(door, "__init__", _translating(door.__init__, keywords, door.__name__))  # type: ignore[misc] # noqa: B010
        setattr(door, "__renamed__", names)  # noqa: B010
        return door

    return mend


def renamed_keywords(**today: str) -> Callable[[_Class], _Class]:
    """Let a class take old keywords that today are attributes with another meaning. It stands between `renamed` and
    `@dataclass`.

    Args:
        today: old name -> the name of the parameter now.

    Raises:
        TypeError: an old name is a parameter, or a new one is none.
    """

    def mend(door: _Class) -> _Class:
        setattr(door, "__init__", renamed(**today)(door.__init__))  # type: ignore[misc] # noqa: B010
        return door

    return mend


def _check(called: str, names: Mapping[str, str], takes: Mapping[str, Any]) -> None:
    """Whether each new name is a parameter, and no old one is."""
    for old, new in names.items():
        if new not in takes:
            raise TypeError(f"{called}: there is no {new!r}, which was {old!r}")
        if old in takes:
            raise TypeError(f"{called}: {old!r} is in use")


def _translating(function: Callable[..., Any], names: Mapping[str, str], called: str) -> Callable[..., Any]:
    @wraps(function)
    def translating(*given: Any, **keywords: Any) -> Any:
        if not names.keys().isdisjoint(keywords):
            _translate(keywords, names, called, sys._getframe(1))
        return function(*given, **keywords)

    translating.__renamed__ = names  # type: ignore[attr-defined]
    return translating


def _translate(keywords: dict[str, Any], names: Mapping[str, str], called: str, caller: FrameType) -> None:
    """Put today's names in place of old ones."""
    for old, new in names.items():
        if old not in keywords:
            continue
        value = keywords.pop(old)
        if new in keywords and not _is_the_originals(keywords[new], new, caller):
            raise InvalidInput(new, f"is given twice, also as {old!r}, its old name", f"give {new} alone")
        warn_of_old(called, old, new)
        keywords[new] = value


def _is_the_originals(value: Any, name: str, caller: FrameType) -> bool:
    """Whether a value is no caller's, but was taken from an object that `dataclasses.replace` copies."""
    if caller.f_code not in _REPLACING:
        return False
    original = caller.f_locals.get("obj", caller.f_locals.get("self"))
    return value is getattr(original, name)


class _OldAttribute:
    """An attribute under its old name; of the class, a constant, a default or a method."""

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def __get__(self, it: Any, owner: type | None = None) -> Any:
        if it is None and (isinstance(getattr_static(owner, self._new, self), _OF_OBJECTS) or _looks(sys._getframe(1))):
            return self
        warn_of_old((owner or type(it)).__name__, self._old, self._new)
        return getattr(owner if it is None else it, self._new)


_OF_OBJECTS = (property, cached_property, MemberDescriptorType, _OldAttribute)
"""What a class holds of an attribute that its objects alone have."""

_LOOKING = ("inspect", "pydoc", "sphinx")


def _looks(caller: FrameType) -> bool:
    """Whether somebody looks through a whole class, as documentation does, and asks for no name in particular."""
    return str(caller.f_globals.get("__name__", "")).partition(".")[0] in _LOOKING


def warn_of_old(called: str, old: str, new: str) -> None:
    """Warn of an old name, at the first line outside of confide.

    Args:
        called: the object that has the name.
        old: the name that was used.
        new: the name to use.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_between(str(frame.f_globals.get("__name__", ""))):
        frame = frame.f_back
    message = f"{called}: {old!r} is called {new!r} now; the old name goes with confide {REMOVED_AT}"
    warnings.warn_explicit(message, ConfideDeprecationWarning, frame.f_code.co_filename, frame.f_lineno,
                           module=frame.f_globals.get("__name__", "<unknown>"),
                           registry=frame.f_globals.setdefault("__warningregistry__", {}))


def _is_between(module: str) -> bool:
    return module.partition(".")[0] == "confide" or module in _PASSED_THROUGH


def renames() -> tuple[Rename, ...]:
    """All old names that still work, sorted by the place that has them.

    It is made from the code: each package is asked for its public names, so all of confide is imported, also what lies
    above this module. A package whose extra is not installed is left out.
    """
    from confide._lazy import RENAMED

    house = import_module("confide")
    found, seen, public = set[Rename](), set[int](), list[tuple[str, Any]]()
    packages = [house, *_packages(house)]
    for package in sorted(packages, key=lambda each: each.__name__.count(".")):  # the shortest public name is told
        place = package.__name__
        found |= {Rename(place, old, new) for old, new in RENAMED.get(place, {}).items()}
        for name in getattr(package, "__all__", ()):
            with suppress(ModuleNotFoundError):
                door = getattr(package, name)
                if id(door) not in seen:
                    seen.add(id(door))
                    public.append((f"{place}.{name}", door))
    reported = set[int]()
    for place, door in public:
        found |= set(_of_door(place, door, reported))
    for place, door in public:  # methods of bases that are not public stand at the first class that has them
        for base in door.__mro__[1:] if isinstance(door, type) else ():
            found |= set(_of_methods(place, base, reported))
    return tuple(sorted(found))


def _packages(package: Any) -> Iterator[Any]:
    for each in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if each.ispkg:
            with suppress(ModuleNotFoundError):
                inner = import_module(each.name)
                yield inner
                yield from _packages(inner)


def _of_door(place: str, door: Any, reported: set[int]) -> Iterator[Rename]:
    """The old names of a class or a function, and of the class's methods."""
    if not isinstance(door, type):
        yield from (Rename(place, old, new) for old, new in getattr(door, "__renamed__", {}).items())
        return
    yield from (Rename(place, old, new) for old, new in vars(door).get("__renamed__", {}).items())
    yield from _of_methods(place, door, reported)


def _of_methods(place: str, door: type, reported: set[int]) -> Iterator[Rename]:
    """The old names of a class's methods, but for those that were told."""
    for name, part in vars(door).items():
        inner = getattr(part, "__func__", part)  # of a class method
        if name == "__init__" or not callable(inner) or isinstance(inner, type) or id(inner) in reported:
            continue  # neither default nor class
        names = getattr(inner, "__renamed__", {})
        if names:
            reported.add(id(inner))
        yield from (Rename(f"{place}.{name}", old, new) for old, new in names.items())


# ---- former calls


def by_position_before(*names: str, first: int = 1) -> Callable[[_Door], _Door]:
    """Let a function take keyword-only arguments by position, as it did before.

    Args:
        names: the names of all arguments that once could stand by position, in that order; also those that still can.
        first: the number of those that still can; the first one is the class, or the object that is planned for.

    Example:
        >>> @by_position_before("people", "epsilon")
        ... def share(people: int, *, epsilon: float) -> float:
        ...     return epsilon / people
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as found:
        ...     warnings.simplefilter("always")
        ...     share(4, 2.0)
        0.5
        >>> str(found[0].message)
        "share: 'epsilon by position' is called 'epsilon=' now; the old name goes with confide 1.0.0"
    """

    def mend(door: _Door) -> _Door:
        @wraps(door)
        def taking(*given: Any, **keywords: Any) -> Any:
            late = dict(zip(names[first:], given[first:], strict=False))
            if not late or len(given) > len(names) or not late.keys().isdisjoint(keywords):
                return door(*given, **keywords)  # nothing to mend, or an error as ever
            words = list(late)
            warn_of_old(door.__name__, f"{', '.join(words)} by position", f"{'=, '.join(words)}=")
            return door(*given[:first], **late, **keywords)

        taking.__by_position__ = names  # type: ignore[attr-defined]
        return taking  # type: ignore[return-value]

    return mend
