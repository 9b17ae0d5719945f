"""Cases of a test of which the first belong to every run of the suite, and the others to `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["fast"]


def fast(number: int, cases: Iterable[Any]) -> list[Any]:
    """The cases, marked slow but for the first ones; a tuple is a case of several parameters.

    Args:
        number: how many are not slow.
        cases: as `pytest.mark.parametrize` takes them.
    """
    slow = pytest.mark.slow
    return [case if k < number else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=slow)
            for k, case in enumerate(cases)]
