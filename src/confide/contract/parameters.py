"""Declaration of parameters in one place: the type, range, unit and help of a setting are given in one annotation.

    increment: Annotated[float, Parameter("step from one price to the next", symbol="alpha", above=0, at_most=1)]

Three things are made from the annotation: the check in the constructor (`Declared`), the lines of the class's
docstring, and keys of a campaign file with their JSON schema (`confide.contract.known_keys.keys_of`). Annotations are
read when they are first needed, not at import.
"""

from __future__ import annotations

import inspect
import math
import operator
import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from itertools import chain
from numbers import Real
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from confide.contract.checks import finite, one_of, whole
from confide.contract.errors import InvalidInput
from confide.contract.missing import names_missing
from confide.contract.remedies import printed

__all__ = ["Declared", "DeclaredParameter", "Parameter", "check_parameters", "parameters"]

_SECTIONS = ("Returns:", "Raises:", "Source:", "Example:", "Examples:")
_MARGIN = " " * 4
_WIDTH = 116  # of a line of a docstring
_FEW_KINDS = 6  # that a message names
_FEW = 64  # items of a tuple that are looked at one by one
_MOST = 2**126  # of whole numbers without a bound: no people, rounds or coins are more, and products stay exact


@dataclass(frozen=True, slots=True)
class Parameter:
    """The range, the unit and the help of a setting.

    Args:
        help: a description of the setting, in a few words, without a full stop.
        symbol: the letter of the parameter in the sources, such as "alpha".
        unit: the unit of a number, such as "nats" or "people".
        above: exclusive lower limit of every number.
        at_least: inclusive lower limit of every number.
        below: exclusive upper limit of every number.
        at_most: inclusive upper limit of every number.
        infinite: whether a float may be infinite.

    Example:
        >>> Parameter("nats of privacy loss", above=0).range
        'above 0'
        >>> Parameter("a share", at_least=0, below=1).range
        'in [0, 1)'
    """

    help: str
    symbol: str = ""
    unit: str = ""
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None
    infinite: bool = False

    @property
    def range(self) -> str:
        """The range in words; empty if every number is accepted."""
        low, high = _first(self.above, self.at_least), _first(self.below, self.at_most)
        if low is not None and high is not None:
            return (f"in {'[' if self.above is None else '('}{_short(low)}, {_short(high)}"
                    f"{']' if self.below is None else ')'}")
        if low is not None:
            return f"{'at least' if self.above is None else 'above'} {_short(low)}"
        if high is not None:
            return f"{'at most' if self.below is None else 'below'} {_short(high)}"
        return ""

    @property
    def text(self) -> str:
        """The text of the help, preceded by the symbol and followed by the unit, if they are given."""
        return f"{self.symbol}, " * bool(self.symbol) + self.help + f", in {self.unit}" * bool(self.unit)

    def holds(self, value: Any) -> bool:
        """Whether a number lies in the range.

        Args:
            value: the number to check.
        """
        return not ((self.above is not None and value <= self.above)
                    or (self.at_least is not None and value < self.at_least)
                    or (self.below is not None and value >= self.below)
                    or (self.at_most is not None and value > self.at_most))


class DeclaredParameter(NamedTuple):
    """One declared parameter of a class.

    Args:
        name: the name of the field.
        kind: the type of the field, without the annotation.
        parameter: the declaration in the annotation.
    """

    name: str
    kind: Any
    parameter: Parameter


def _first(one: float | None, other: float | None) -> float | None:
    return other if one is None else one


def _short(bound: float) -> str:
    return f"{bound:,}" if isinstance(bound, int) else printed(bound, up=False)


@cache
def parameters(kind: type) -> Mapping[str, DeclaredParameter]:
    """Mapping from name to declared parameter of a dataclass, in the order of the constructor. Inherited parameters are
    included.

    Args:
        kind: a dataclass with declared parameters.

    Raises:
        TypeError: an annotation contains a name that its module does not have at run time.

    Example:
        >>> @dataclass(frozen=True)
        ... class Step(Declared):
        ...     size: Annotated[float, Parameter("from one price to the next", above=0, at_most=1)] = 0.1
        >>> parameters(Step)["size"].parameter.range
        'in (0, 1]'
        >>> Step(size=2.0)
        Traceback (most recent call last):
        ...
        confide.contract.errors.InvalidInput: size: 2.0 is out of range; must be in (0, 1]
    """
    said: dict[str, DeclaredParameter] = {}
    for base in reversed(kind.__mro__):
        for name, annotation in inspect.get_annotations(base).items():
            found = _read(base, name, annotation)
            if found is not None:
                said[name] = found
            else:
                said.pop(name, None)
    return {each.name: said[each.name] for each in fields(kind) if each.init and each.name in said}


def _read(base: type, name: str, annotation: Any) -> DeclaredParameter | None:
    if isinstance(annotation, str):
        if not annotation.startswith("Annotated["):
            return None
        known = vars(sys.modules[base.__module__])
        try:
            annotation = eval(annotation, dict(known), dict(vars(base)))  # noqa: S307 - the class's own source
        except NameError as error:
            raise TypeError(f"{base.__qualname__}.{name}: {error}; import the name for the running program, not only "
                            "for type checkers") from None
    if get_origin(annotation) is not Annotated:
        return None
    kind, *more = get_args(annotation)
    found = next((each for each in more if isinstance(each, Parameter)), None)
    return None if found is None else DeclaredParameter(name, kind, found)


# ---- checks


class Declared:
    """Base class of dataclasses with declared parameters, which are checked in the constructor and described in the
    docstring.

    A subclass with checks of its own calls `super().__post_init__()` first. If a subclass has a method `for_budget`,
    the error for an incomplete call of this method names all missing arguments.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        own = vars(cls).get("__doc__")
        if own is None or isinstance(own, str):
            setattr(cls, "__doc__", _Described(own))  # noqa: B010
        for_budget = vars(cls).get("for_budget")
        if isinstance(for_budget, classmethod):
            setattr(cls, "for_budget", classmethod(names_missing()(for_budget.__func__)))  # noqa: B010

    def __post_init__(self) -> None:
        check_parameters(self)

    @classmethod
    def _said_of_parameters(cls) -> Mapping[str, str]:
        """Mapping from each parameter to its declaration in words, for errors that name missing arguments."""
        kind: Any = cls  # mypy holds no class with a `__hash__` of its instances for hashable
        return {name: ", ".join(filter(None, (each.parameter.text, each.parameter.range)))
                for name, each in parameters(kind).items()}


def check_parameters(it: Any) -> None:
    """Check all declared parameters of an instance of a dataclass, in the order of the fields.

    Numbers of numpy are replaced by Python's own numbers, which do not overflow in products.

    Args:
        it: an instance of a dataclass with declared parameters.

    Raises:
        InvalidInput: a value has a wrong type, or is out of range. The message names the field and the limit.
    """
    of_it: Any = type(it)
    for name, number, low, high, words, passes, usual, items, kind, parameter in _usual(of_it):
        value = getattr(it, name)
        of = type(value)
        if (low <= value <= high) if of is number else value in words if of is str and words else of in passes:
            continue  # this is `usual.holds`, without a call
        if items is not None and type(value) is tuple and len(value) <= _FEW and all(map(items.holds, value)):
            continue
        _check(name, value, kind, parameter)
        plain = _plain(value)
        if plain is not value:
            object.__setattr__(it, name, plain)
        usual.remember(value)
        if items is not None and type(value) is tuple:
            for each in value[:_FEW]:
                items.remember(each)


def _plain(value: Any) -> Any:
    """A number of numpy as Python's own number, also inside a tuple or list; any other value unchanged."""
    if type(value) in (tuple, list):
        there = set(map(type, value))
        if there == {tuple}:
            there = set(map(type, chain.from_iterable(value)))
        if not any(each.__module__ == "numpy" or each in (tuple, list) for each in there):
            return value
        found = [_plain(each) for each in value]
        return value if all(map(operator.is_, found, value)) else type(value)(found)
    if type(value).__module__ != "numpy" or not hasattr(value, "item") or not (
            isinstance(value, Real) or type(value).__name__ == "bool"):
        return value
    plain = value.item()
    return plain if type(plain) in (int, float, bool) else float(plain)  # a long double has no type of Python's


class _Usual:
    """A fast check that accepts valid values of the most common types. A value that the fast check does not accept is
    checked in full.
    """

    __slots__ = ("classes", "high", "low", "number", "passes", "words")

    def __init__(self, kind: Any, it: Parameter) -> None:
        kinds = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
        numbers = [each for each in kinds if each in (int, float)]
        number = numbers[0] if len(numbers) == 1 else None
        self.number: type | None = number
        self.classes = tuple(each for each in kinds if isinstance(each, type)
                             and not getattr(each, "_is_protocol", False)
                             and (each is bool or not issubclass(each, Real)))
        self.passes = set[type](self.classes)
        least, most = ((-_MOST, _MOST) if number is int else (-math.inf, math.inf) if it.infinite
                       else (-sys.float_info.max, sys.float_info.max))
        low = _first(it.at_least, None if it.above is None else math.nextafter(it.above, math.inf))
        high = _first(it.at_most, None if it.below is None else math.nextafter(it.below, -math.inf))
        self.low: float = least if low is None else low
        self.high: float = most if high is None else high
        self.words = frozenset(word for each in kinds if get_origin(each) is Literal for word in get_args(each))

    def holds(self, value: Any) -> bool:
        of = type(value)
        if of is self.number:
            return bool(self.low <= value <= self.high)
        return value in self.words if of is str and self.words else of in self.passes

    def remember(self, value: Any) -> None:
        """Record that the type of a value is accepted, after the value has passed the full check. The record stays
        valid, because the classes of a type never change.
        """
        if isinstance(value, self.classes) and not isinstance(value, Real | str):
            self.passes.add(type(value))


class _Prepared(NamedTuple):
    """The prepared check of one field, and of its items if the field is a tuple of values of one type."""

    name: str
    number: type | None
    low: float
    high: float
    words: frozenset[str]
    passes: set[type]
    usual: _Usual
    items: _Usual | None
    kind: Any
    parameter: Parameter


@cache
def _usual(of: Any) -> tuple[_Prepared, ...]:
    """The checks of a dataclass, prepared only once because planners build thousands of mechanisms in loops."""
    found = list[_Prepared]()
    for name, kind, it in parameters(of).values():
        if _can_fail(kind):
            usual = _Usual(kind, it)
            several, _ = _distinguished(get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,))
            items = _Usual(get_args(several[0])[0], it) if several else None
            found.append(_Prepared(name, usual.number, usual.low, usual.high, usual.words, usual.passes, usual, items,
                                   kind, it))
    return tuple(found)


def _can_fail(kind: Any) -> bool:
    """Whether a declared type can be checked on a value, unlike function types and array types with a shape."""
    return kind is not Any and (isinstance(kind, type) or get_origin(kind) in (Union, types.UnionType, Literal, tuple))


def _check(name: str, value: Any, kind: Any, parameter: Parameter) -> None:
    if get_origin(kind) in (Union, types.UnionType):
        _check_one_of(name, value, get_args(kind), parameter)
    elif get_origin(kind) is Literal:
        one_of(name, value, get_args(kind))
    elif get_origin(kind) is tuple:
        _check_items(name, value, get_args(kind)[0], parameter)
    elif kind is bool:
        if not isinstance(value, bool) and type(value).__name__ != "bool":  # numpy's is one, too
            raise InvalidInput(name, f"{value!r} is neither true nor false")
    elif kind in (int, float):
        _check_number(name, value, kind, parameter)
    elif kind is not Any and isinstance(kind, type) and not isinstance(value, kind):
        raise _no_such(name, value, (kind,))


def _check_one_of(name: str, value: Any, kinds: tuple[Any, ...], parameter: Parameter) -> None:
    """Check a value against the one alternative of a union type that it resembles."""
    if value is None and type(None) in kinds:
        return
    several, single = _distinguished(kinds)
    if several and (isinstance(value, tuple | list) or not single):
        _check(name, value, several[0], parameter)
        return
    words = tuple(word for each in single if get_origin(each) is Literal for word in get_args(each))
    if isinstance(value, str) and words:
        one_of(name, value, words)
        return
    classes = tuple(each for each in single if isinstance(each, type) and each not in (int, float, bool))
    if classes and isinstance(value, classes) and not isinstance(value, Real):  # numbers keep to the range
        return
    plain = next((each for each in (float, int, bool) if each in single), None)
    if bool in single and type(value).__name__ == "bool":  # numpy's is one, too
        return
    if plain is not None:
        _check(name, value, plain, parameter)
    elif words:
        one_of(name, value, words)
    elif classes:
        raise _no_such(name, value, classes)


def _no_such(name: str, value: Any, classes: tuple[type, ...]) -> InvalidInput:
    """The error for a value of another class, which names the value's class and the accepted classes."""
    wanted = " or ".join(each.__name__ for each in classes)
    if value is None:
        return InvalidInput(name, "is missing", f"must be a {wanted}{_such_as(classes)}")
    if isinstance(value, type) and issubclass(value, classes):
        return InvalidInput(name, f"is the class {value.__name__}",
                            f"must be an object of this class, {value.__name__}(...)")
    return InvalidInput(name, f"is of type {type(value).__name__}, not {wanted}",
                        f"must be a {wanted}{known}" if (known := _such_as(classes)) else "")


def _such_as(classes: tuple[type, ...]) -> str:
    """A few known public subclasses of the given classes, as a phrase for an error message."""
    found = dict[str, None]()
    waiting: list[type] = []
    for kind in classes:
        waiting += kind.__subclasses__()
    while waiting:
        each = waiting.pop(0)
        waiting += each.__subclasses__()
        public = not each.__name__.startswith("_") and each.__module__.startswith("confide.")
        if public and not inspect.isabstract(each):
            found[each.__name__] = None
    return f", such as {', '.join(list(found)[:_FEW_KINDS])}" if found else ""


@cache
def _distinguished(kinds: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """Two lists: the sequence types among some types, and the types of single values."""
    several = [each for each in kinds if get_origin(each) is tuple]
    return several, [each for each in kinds if each is not type(None) and each not in several]


def _check_items(name: str, value: Any, kind: Any, parameter: Parameter) -> None:
    """Check each item of a sequence. Of many plain numbers only the smallest and the largest are checked, because the
    others lie between them.
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidInput(name, f"{value!r} is not a sequence")
    types_there = set(map(type, value)) if type(value) is tuple else None
    if types_there == {tuple} and get_origin(kind) is tuple:
        _check_items(name, tuple(chain.from_iterable(value)), get_args(kind)[0], parameter)
    elif types_there == {kind} and (kind is int or (kind is float and not any(map(math.isnan, value)))):
        for end in (min(value), max(value)):
            _check_number(name, end, kind, parameter)
    else:
        for each in value:
            _check(name, each, kind, parameter)


def _check_number(name: str, value: Any, kind: type, parameter: Parameter) -> None:
    if kind is int:
        whole(name, value, at_least=-_MOST)
        if value > _MOST:
            bounded = parameter.at_most is not None or parameter.below is not None
            raise InvalidInput(name, f"a whole number of {int(value).bit_length()} bits is too large",
                               f"must be {parameter.range}" if bounded else "must be at most 2^126")
    elif not (parameter.infinite and isinstance(value, float) and math.isinf(value)):
        finite(name, value)
    if not parameter.holds(value):
        problem = "is out of range"
        if kind is int and parameter.at_least is not None:
            problem = "is too small" if value < parameter.at_least else "is too large"
        raise InvalidInput(name, f"{value!r} {problem}", f"must be {parameter.range}")


# ---- docstrings


class _Described:
    """The docstring of a class. The declared parameters are added when the docstring is read."""

    def __init__(self, own: str | None) -> None:
        self.own = own

    def __get__(self, instance: object, owner: type) -> str | None:
        # `@dataclass` asks for the docstring before it is done; only then does it set `__match_args__`.
        if self.own is None or "__match_args__" not in vars(owner):
            return self.own
        return _described(owner, self.own)


@cache
def _described(kind: type, own: str) -> str:
    lines, there = own.splitlines(), set[str]()
    head = next((at for at, line in enumerate(lines) if line.strip() == "Args:"), None)
    if head is not None:
        there = {line.split(":")[0].strip() for line in lines[head + 1:] if ":" in line}
    said = [line for name, setting in parameters(kind).items() if name not in there for line in _wrapped(name, setting)]
    if not said:
        return own
    if head is not None:
        return "\n".join([*lines[:head + 1], *said, *lines[head + 1:]])
    at = next((at for at, line in enumerate(lines) if line.strip() in _SECTIONS), None)
    if at is None:
        return "\n".join([own.rstrip(), "", f"{_MARGIN}Args:", *said, _MARGIN])
    return "\n".join([*lines[:at], f"{_MARGIN}Args:", *said, "", *lines[at:]])


def _wrapped(name: str, setting: DeclaredParameter) -> list[str]:
    import textwrap

    limits = setting.parameter.range
    text = f"{name}: {setting.parameter.text}{f'; {limits}' if limits else ''}."
    return textwrap.wrap(text, _WIDTH, initial_indent=_MARGIN * 2, subsequent_indent=_MARGIN * 3)
