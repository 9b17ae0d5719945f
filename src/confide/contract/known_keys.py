"""Base classes for the tables of campaign files. Unknown keys are refused, and no value changes after the file was
read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import reduce
from operator import or_
from types import GenericAlias, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model

from confide.contract.mechanism import MOST_UNUSABLE
from confide.contract.parameters import Declared, Parameter, parameters

__all__ = ["MOST_PEOPLE", "DataTable", "FileTable", "Keys", "PeopleTable", "PeoplesTables", "RehearsalTable",
           "keys_of"]

_Table = TypeVar("_Table", bound="type[Keys]")


class Keys(BaseModel):
    """A table of a campaign file that refuses unknown keys, and whose values never change.

    Example:
        >>> class Spent(Keys):
        ...     epsilon: float
        >>> Spent(epsilon=1.0, epsilom=2.0)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        pydantic_core._pydantic_core.ValidationError: ...
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class FileTable(Keys):
    """A table of a campaign file that names a file of records."""

    accept_unusable: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False, description=(
        f"share of the file's rows that may be unusable; default {MOST_UNUSABLE:g}. A run with a larger share stops "
        "before the charge. Set this share before anybody looks at the file"))


def keys_of(
    kind: type[Declared], names: str, /, *, optional: bool = False, **called: str,
) -> Callable[[_Table], _Table]:
    """Decorator that adds keys to a table of a campaign file: one key for each named parameter of a class, with the
    type, range and help of the parameter.

    The keys that the table declares by itself come first.

    Args:
        kind: a class with declared parameters (`confide.contract.parameters`).
        names: the names of the parameters that become keys, with spaces between them.
        optional: True if every key may be left out; the value is then None, and a planner chooses. If False, only a key
            of a parameter with a default may be left out, and the default applies.
        called: mapping from the name of a key to the name of its parameter, for keys with another name than the
            parameter.

    Raises:
        TypeError: the class does not declare one of the parameters, or the table already has a key of the same name.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True, kw_only=True)
        ... class Auction(Declared):
        ...     rounds: Annotated[int, Parameter("times that everybody bids", at_least=1)]
        >>> @keys_of(Auction, "rounds", optional=True)
        ... class AuctionTable(Keys):
        ...     method: str = "auction"
        >>> AuctionTable().rounds, AuctionTable(rounds=3).rounds
        (None, 3)
        >>> AuctionTable.model_json_schema()["properties"]["rounds"]["description"]
        'times that everybody bids'
    """
    wanted = {**{name: name for name in names.split()}, **called}

    def extend(table: _Table) -> _Table:
        known, defaults = parameters(kind), {each.name: each.default for each in fields(kind)}  # type: ignore[arg-type]
        more: dict[str, Any] = {}
        for key, name in wanted.items():
            if name not in known:
                raise TypeError(f"{kind.__qualname__} declares no parameter {name!r}")
            if key in table.__pydantic_fields__:
                raise TypeError(f"{table.__qualname__} has a key {key!r} already")
            more[key] = _key(known[name].kind, known[name].parameter, None if optional else defaults[name])
        made = create_model(table.__name__, __base__=table, __module__=table.__module__, __doc__=table.__doc__, **more)
        made.__qualname__ = table.__qualname__
        return cast("_Table", made)

    return extend


def _key(kind: Any, parameter: Parameter, default: Any) -> tuple[Any, Any]:
    """The type of a key, and pydantic's field for it."""
    limited = _limited(kind, parameter)
    if default is None and type(None) not in get_args(limited):
        limited |= None
    return limited, Field(description=parameter.text) if default is MISSING else Field(
        default=default, description=parameter.text)


def _limited(kind: Any, parameter: Parameter) -> Any:
    """The type of a parameter, in which every number is limited to the declared range."""
    if get_origin(kind) in (Union, UnionType):
        return reduce(or_, (_limited(each, parameter) for each in get_args(kind)))
    if get_origin(kind) is tuple:
        return GenericAlias(tuple, (_limited(get_args(kind)[0], parameter), ...))
    if kind is bool or kind not in (int, float):
        return kind
    limits = {"gt": parameter.above, "ge": parameter.at_least, "lt": parameter.below, "le": parameter.at_most}
    more: dict[str, Any] = {name: bound for name, bound in limits.items() if bound is not None}
    if kind is float:
        more["allow_inf_nan"] = parameter.infinite
    return Annotated[kind, Field(**more)]


MOST_PEOPLE = 10**8
"""Largest number of invited slots of one campaign. The public list of ids has to fit into memory."""


class PeopleTable(Keys):
    """`[people]`: the invited slots, whose ids are the numbers from 1 to the count."""

    count: int = Field(ge=1, le=MOST_PEOPLE, description="n, number of invited slots; fixed and public")
    id: str = Field(default="row", min_length=1, description=
                    "column with the id, or 'row': the number of the row in the file is the id")


class DataTable(FileTable):
    """`[data]`: the source of the records that people hand in."""

    source: str = Field(min_length=1, description="a .parquet, .csv or .arrow file, or a data set PACKAGE:NAME")


class RehearsalTable(Keys):
    """`[rehearsal]`: true answers that are already public, with which a campaign is rehearsed. A run that releases an
    outcome never reads `[rehearsal]`.
    """

    source: str = Field(min_length=1, description="a file, or a data set PACKAGE:NAME; its ids as those of [data]")
    column: str = Field(min_length=1, description="column of the true answers")


class PeoplesTables(Keys):
    """The tables `[people]` and `[data]`; a kind adds its own tables as further fields of a subclass.

    Example:
        >>> class Survey(PeoplesTables):
        ...     levels: tuple[str, ...]
        >>> Survey(people={"count": 3}, data={"source": "answers.csv"}, levels=("no", "yes")).people.id
        'row'
    """

    people: PeopleTable
    data: DataTable
