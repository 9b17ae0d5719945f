"""Settings that are checked as their classes declare them, and kept as plain numbers."""

from __future__ import annotations

from functools import cache
from numbers import Number
from typing import Any

from confide.contract.parameters import Declared, parameters

__all__ = ["PlainNumbers"]


class PlainNumbers(Declared):
    """Base of markets, costs and laws: numbers are checked, and kept as Python's own, which have one arithmetic."""

    def __post_init__(self) -> None:
        super().__post_init__()
        own: Any = type(self)
        for name, kind in _plain(own):
            value = getattr(self, name)
            if type(value) is not kind and isinstance(value, Number):
                object.__setattr__(self, name, kind(value))


@cache
def _plain(own: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((name, kind) for name, kind, _ in parameters(own).values() if kind in (int, float))
