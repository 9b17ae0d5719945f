"""Settings that are checked as their classes declare them, and kept as plain numbers."""

from __future__ import annotations

from numbers import Number
from typing import Any

from confide.contract.parameters import Declared, parameters

__all__ = ["Settled"]


class Settled(Declared):
    """Base of markets, costs and laws: numbers are checked, and kept as Python's own, which have one arithmetic."""

    def __post_init__(self) -> None:
        super().__post_init__()
        own: Any = type(self)
        for name, kind, _ in parameters(own).values():
            value = getattr(self, name)
            if kind in (int, float) and isinstance(value, Number) and type(value) is not kind:
                object.__setattr__(self, name, kind(value))
