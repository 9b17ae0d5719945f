"""Errors for missing arguments, in which all missing arguments are named at once, each with its description from the
function's docstring.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from typing import Any, TypeVar

from confide.contract.checks import joined, none_given
from confide.contract.errors import InvalidInput
from confide.contract.words import printable

__all__ = ["MissingArguments", "names_missing"]

_Entry = TypeVar("_Entry", bound=Callable[..., Any])

_LONGEST = 100  # letters of what is said of one argument
_SENTENCE = re.compile(r"\.(\s|$)|;\s")


class MissingArguments(InvalidInput, TypeError):
    """The arguments that a call needs and lacks. The error is also a `TypeError`, like Python's own error for a call
    without arguments that it needs.

    Args:
        missing: a tuple of names for each missing argument. A tuple of several names means that one of these arguments
            is needed.
        said: mapping from the name of an argument to the description of the argument in the function's docstring.
    """

    def __init__(self, missing: Sequence[tuple[str, ...]], said: Mapping[str, str]) -> None:
        def reported(name: str) -> str:
            return f"{name} ({said[name]})" if said.get(name) else name

        self.missing = tuple(missing)
        names = [each[0] if len(each) == 1 else f"one of {joined(each)}" for each in missing[1:]]
        ways = [reported(each[0]) if len(each) == 1 else f"one of {joined([reported(name) for name in each])}"
                for each in missing]
        more = f"; {joined(names)} {'is' if len(names) == 1 else 'are'} missing, too" if names else ""
        one = missing[0]
        first = "is missing" if len(one) == 1 else none_given(one)
        super().__init__(one[0], f"{first}{more}", f"give {joined(ways)}")


def names_missing(*groups: str, **where: str) -> Callable[[_Entry], _Entry]:
    """Decorator that makes a function name all missing arguments of a call in one error: arguments without a default,
    and the arguments named in `groups` and `where`.

    Args:
        groups: names of arguments that are needed although their default is None. "budget | error" means that one of
            the two arguments is needed.
        where: mapping from an argument A to another argument B that needs it; A counts as missing only if B is given.

    Example:
        >>> @names_missing("budget | error", people="error")
        ... def plan(*, cost: float, budget: float | None = None, error: float | None = None,
        ...          people: int | None = None) -> None:
        ...     '''Plan something.
        ...
        ...     Args:
        ...         cost: of one report, above 0.
        ...         budget: for all reports.
        ...         error: that is wanted.
        ...     '''
        >>> plan()
        Traceback (most recent call last):
        ...
        confide.contract.missing.MissingArguments: cost: is missing; one of budget and error is missing, too; give \
cost (of one report, above 0) and one of budget (for all reports) and error (that is wanted)
    """
    needed = [tuple(each.split(" | ")) for each in groups]

    def mend(entry: _Entry) -> _Entry:
        asked = [each for each in inspect.signature(entry).parameters.values()
                 if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
        by_position = [each.name for each in asked if each.kind != each.KEYWORD_ONLY]
        without = [(each.name,) for each in asked if each.default is each.empty]
        olds: Mapping[str, str] = getattr(entry, "__renamed__", {})

        @wraps(entry)
        def checking(*given: Any, **keywords: Any) -> Any:
            if len(given) <= len(by_position):  # more are an error, or a call as it was before
                there = {**dict(zip(by_position, given, strict=False)), **keywords,
                         **{new: keywords[old] for old, new in olds.items() if old in keywords}}
                useful = {name for name, value in there.items() if value is not None}
                lacking = [*(each for each in without if each[0] not in there),
                           *(each for each in needed if useful.isdisjoint(each)),
                           *((name,) for name, other in where.items() if other in useful and name not in useful)]
                if lacking:
                    raise MissingArguments(lacking, {**_declared(given[:1]), **_said(inspect.getdoc(entry) or "")})
            return entry(*given, **keywords)

        return checking  # type: ignore[return-value]

    return mend


@cache
def _said(text: str) -> Mapping[str, str]:
    """Mapping from each argument to the first sentence of its description in a docstring, or the part before a
    semicolon.
    """
    found: dict[str, str] = {}
    name, margin = "", -1
    for line in text.partition("Args:\n")[2].splitlines():
        indent, words = len(line) - len(line.lstrip()), line.strip()
        margin = indent if margin < 0 else margin
        if not words or indent < margin:
            break
        if indent == margin:
            name, _, words = words.partition(":")
        found[name] = f"{found.get(name, '')} {words.strip()}".strip()
    return {name: printable(_SENTENCE.split(each, maxsplit=1)[0], _LONGEST) for name, each in found.items()}


def _declared(first: tuple[Any, ...]) -> Mapping[str, str]:
    """Mapping from each declared parameter to its description, if the first argument of the call is a class with
    declared parameters.
    """
    said = getattr(first[0], "_said_of_parameters", None) if first and isinstance(first[0], type) else None
    return {} if said is None else said()
