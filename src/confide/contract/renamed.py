"""Old names in Python, which work until 1.0.0 with a warning at the caller's own line.

`renamed` is for keywords and attributes, `confide._lazy.exports(..., renamed=...)` for public names of a package. Type
checkers know only today's names, and report an old name as an error. `renames()` lists all old names, for the
documentation and the tests. Old names in campaign files are handled by `confide.contract.file_words`.

`by_position_before` accepts, until 1.0.0 and with a warning, arguments by position that are keyword-only today.
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
"""The version of confide that no longer accepts the old names."""

_Entry = TypeVar("_Entry", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)

_PASSED_THROUGH = ("copy", "dataclasses", "functools", "contextlib")
"""Modules of the standard library whose frames may lie between a caller and confide's code."""

_REPLACING = {getattr(dataclasses, name).__code__ for name in ("replace", "_replace") if hasattr(dataclasses, name)}
"""The code objects that `dataclasses.replace` and `copy.replace` run. Both functions pass on all fields of the original
together with the changed fields.
"""


class ConfideDeprecationWarning(DeprecationWarning):
    """The use of a name of confide that will be removed. The message gives the name to use, and the version without the
    old name.

    Example:
        >>> warnings.filterwarnings("error", category=ConfideDeprecationWarning)  # find all uses in your own tests
    """


@dataclasses.dataclass(frozen=True, order=True)
class Rename:
    """An old name and the name that replaces it.

    Args:
        where: the public name of the class, function or package that has the old name.
        old: the old name, which will be removed.
        new: the name to use.
    """

    where: str
    old: str
    new: str


def renamed(**today: str) -> Callable[[_Entry], _Entry]:
    """Decorator with which a class or a function accepts old keywords, with a warning. Old attributes of a class can be
    read, too.

    The decorator stands above `@dataclass`. A dataclass that inherits old names has its own `__init__`, so it needs the
    decorator again: `@renamed()`. Above an `__init__` the decorator serves keywords whose old name is also the name of
    a method.

    Args:
        today: mapping from an old name to the name of the parameter or attribute now.

    Raises:
        TypeError: an old name is still the name of a parameter or an attribute, or a new name does not exist.

    Example:
        >>> @renamed(n="people")
        ... def share_of_one(*, people: int) -> float:
        ...     return 1 / people
        >>> with warnings.catch_warnings(record=True) as found:
        ...     warnings.simplefilter("always")
        ...     share_of_one(n=4)
        0.25
        >>> str(found[0].message)
        "share_of_one: 'n' is called 'people' now; confide 1.0.0 removes the old name"
    """

    def mend(entry: _Entry) -> _Entry:
        if not isinstance(entry, type):
            names = dict(today)
            _check(entry.__qualname__, names, signature(entry).parameters)
            called = entry.__qualname__.split(".")[-2] if entry.__name__ == "__init__" else entry.__name__
            return _translating(entry, names, called)  # type: ignore[return-value]
        of_the_keywords = getattr(entry.__init__, "__renamed__", {})  # type: ignore[misc]
        names = {**getattr(entry, "__renamed__", {}), **of_the_keywords, **today}
        takes = signature(entry.__init__).parameters  # type: ignore[misc]
        _check(entry.__qualname__, {old: new for old, new in names.items() if not hasattr(entry, new)}, takes)
        for old, new in today.items():
            if old in takes or hasattr(entry, old):
                raise TypeError(f"{entry.__qualname__}: {old!r} is in use")
            setattr(entry, old, _OldAttribute(old, new))
        keywords = {old: new for old, new in names.items() if new in takes}
        setattr(entry, "__init__", _translating(entry.__init__, keywords, entry.__name__))  # type: ignore[misc] # noqa: B010
        setattr(entry, "__renamed__", names)  # noqa: B010
        return entry

    return mend


def renamed_keywords(**today: str) -> Callable[[_Class], _Class]:
    """Decorator with which a class accepts an old keyword although the old name is today an attribute with another
    meaning. The decorator stands between `renamed` and `@dataclass`.

    Args:
        today: mapping from an old name to the name of the parameter now.

    Raises:
        TypeError: an old name is still a parameter, or a new name is not a parameter.
    """

    def mend(entry: _Class) -> _Class:
        setattr(entry, "__init__", renamed(**today)(entry.__init__))  # type: ignore[misc] # noqa: B010
        return entry

    return mend


def _check(called: str, names: Mapping[str, str], takes: Mapping[str, Any]) -> None:
    """Check that each new name is a parameter, and that no old name is."""
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
    """Replace old names among the keywords of a call by today's names, with a warning."""
    for old, new in names.items():
        if old not in keywords:
            continue
        value = keywords.pop(old)
        if new in keywords and not _is_the_originals(keywords[new], new, caller):
            raise InvalidInput(new, f"is given twice, also as {old!r}, its old name", f"give {new} alone")
        warn_of_old(called, old, new)
        keywords[new] = value


def _is_the_originals(value: Any, name: str, caller: FrameType) -> bool:
    """Whether a keyword's value was taken from an object that `dataclasses.replace` copies, and so was not passed by
    the caller.
    """
    if caller.f_code not in _REPLACING:
        return False
    original = caller.f_locals.get("obj", caller.f_locals.get("self"))
    return value is getattr(original, name)


class _OldAttribute:
    """A class's attribute under its old name, which still can be read. On the class itself, the old name gives a
    constant, a default or a method.
    """

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def __get__(self, it: Any, owner: type | None = None) -> Any:
        if it is None and (isinstance(getattr_static(owner, self._new, self), _OF_OBJECTS) or _looks(sys._getframe(1))):
            return self
        warn_of_old((owner or type(it)).__name__, self._old, self._new)
        return getattr(owner if it is None else it, self._new)


_OF_OBJECTS = (property, cached_property, MemberDescriptorType, _OldAttribute)
"""Types of class attributes that give a value only for an instance, not for the class."""

_LOOKING = ("inspect", "pydoc", "sphinx")


def _looks(caller: FrameType) -> bool:
    """Whether the caller inspects a whole class, as documentation tools do, and uses no name in particular."""
    return str(caller.f_globals.get("__name__", "")).partition(".")[0] in _LOOKING


def warn_of_old(called: str, old: str, new: str) -> None:
    """Warn of an old name, at the first line outside of confide in the call stack.

    Args:
        called: the public name of the class, function or package that has the old name.
        old: the name that was used.
        new: the name to use.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_between(str(frame.f_globals.get("__name__", ""))):
        frame = frame.f_back
    message = f"{called}: {old!r} is called {new!r} now; confide {REMOVED_AT} removes the old name"
    warnings.warn_explicit(message, ConfideDeprecationWarning, frame.f_code.co_filename, frame.f_lineno,
                           module=frame.f_globals.get("__name__", "<unknown>"),
                           registry=frame.f_globals.setdefault("__warningregistry__", {}))


def _is_between(module: str) -> bool:
    return module.partition(".")[0] == "confide" or module in _PASSED_THROUGH


def renames() -> tuple[Rename, ...]:
    """All old names that still work, sorted by the class, function or package that has them.

    The list is made from the code. To find all public names, the function imports all packages of confide. A package
    that needs an extra that is not installed is left out.
    """
    from confide._lazy import RENAMED

    house = import_module("confide")
    found, seen, public = set[Rename](), set[int](), list[tuple[str, Any]]()
    packages = [house, *_packages(house)]
    for package in sorted(packages, key=lambda each: each.__name__.count(".")):  # the shortest public name is listed
        place = package.__name__
        found |= {Rename(place, old, new) for old, new in RENAMED.get(place, {}).items()}
        for name in getattr(package, "__all__", ()):
            with suppress(ModuleNotFoundError):
                entry = getattr(package, name)
                if id(entry) not in seen:
                    seen.add(id(entry))
                    public.append((f"{place}.{name}", entry))
    reported = set[int]()
    for place, entry in public:
        found |= set(_of_public_name(place, entry, reported))
    for place, entry in public:  # methods of bases that are not public stand at the first class that has them
        for base in entry.__mro__[1:] if isinstance(entry, type) else ():
            found |= set(_of_methods(place, base, reported))
    return tuple(sorted(found))


def _packages(package: Any) -> Iterator[Any]:
    for each in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if each.ispkg:
            with suppress(ModuleNotFoundError):
                inner = import_module(each.name)
                yield inner
                yield from _packages(inner)


def _of_public_name(place: str, entry: Any, reported: set[int]) -> Iterator[Rename]:
    """The old names of a class or a function, and of the class's methods."""
    if not isinstance(entry, type):
        yield from (Rename(place, old, new) for old, new in getattr(entry, "__renamed__", {}).items())
        return
    yield from (Rename(place, old, new) for old, new in vars(entry).get("__renamed__", {}).items())
    yield from _of_methods(place, entry, reported)


def _of_methods(place: str, entry: type, reported: set[int]) -> Iterator[Rename]:
    """The old names of a class's methods, except methods that were listed before."""
    for name, part in vars(entry).items():
        inner = getattr(part, "__func__", part)  # of a class method
        if name == "__init__" or not callable(inner) or isinstance(inner, type) or id(inner) in reported:
            continue  # neither default nor class
        names = getattr(inner, "__renamed__", {})
        if names:
            reported.add(id(inner))
        yield from (Rename(f"{place}.{name}", old, new) for old, new in names.items())


# ---- former calls


def by_position_before(*names: str, first: int = 1) -> Callable[[_Entry], _Entry]:
    """Decorator with which a function accepts keyword-only arguments by position, as in earlier versions.

    Args:
        names: the names of all arguments that earlier versions accepted by position, in the order of positions. The
            list includes arguments that are accepted by position today.
        first: the number of arguments that are accepted by position today. For a method, the class or the object counts
            as the first argument.

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
        "share: 'epsilon by position' is called 'epsilon=' now; confide 1.0.0 removes the old name"
    """

    def mend(entry: _Entry) -> _Entry:
        @wraps(entry)
        def taking(*given: Any, **keywords: Any) -> Any:
            late = dict(zip(names[first:], given[first:], strict=False))
            if not late or len(given) > len(names) or not late.keys().isdisjoint(keywords):
                return entry(*given, **keywords)  # nothing to mend, or an error as ever
            words = list(late)
            warn_of_old(entry.__name__, f"{', '.join(words)} by position", f"{'=, '.join(words)}=")
            return entry(*given[:first], **late, **keywords)

        taking.__by_position__ = names  # type: ignore[attr-defined]
        return taking  # type: ignore[return-value]

    return mend
