"""Cases of a test of which the first belong to every run of the suite, and the others to `make test-all`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

__all__ = ["fast", "few"]


def fast(number: int, cases: Iterable[Any]) -> list[Any]:
    """The cases, marked slow but for the first ones; a tuple is a case of several parameters.

    Args:
        number: how many are not slow.
        cases: as `pytest.mark.parametrize` takes them.
    """
    slow = pytest.mark.slow
    return [case if k < number else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=slow)
            for k, case in enumerate(cases)]


def few(cases: Iterable[Any], slow: str | Collection[str]) -> list[Any]:
    """The cases, some of them marked slow.

    Args:
        cases: each a name, or what has one as `name`.
        slow: names of those that are slow.

    Raises:
        ValueError: none of the cases has such a name.
    """
    names = {slow} if isinstance(slow, str) else set(slow)
    found = [(str(getattr(each, "name", each)), each) for each in cases]
    if missing := names - {name for name, _ in found}:
        raise ValueError(f"no case is called {', '.join(sorted(missing))}")
    return [pytest.param(each, marks=pytest.mark.slow) if name in names else each for name, each in found]
