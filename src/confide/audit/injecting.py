"""Mechanisms broken on purpose, from sound ones: the same parameters with other code on top of their class."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

__all__ = ["inject_fault"]

_Made = TypeVar("_Made")


def inject_fault(made: _Made, code: type[Any], **changes: Any) -> _Made:
    """A dataclass's instance with the same fields and other code; one that has the code already keeps its class.

    Args:
        made: a mechanism, or a part of one.
        code: what is put on top of its class.
        changes: of fields.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Noise:
        ...     scale: float
        ...     def deviation(self): return self.scale
        >>> class Quarter:
        ...     def deviation(self): return super().deviation() / 4
        >>> inject_fault(Noise(8.0), Quarter).deviation(), inject_fault(Noise(8.0), Quarter, scale=4.0).deviation()
        (2.0, 1.0)
    """
    kind: Any = type(made) if isinstance(made, code) else type(code.__name__, (code, type(made)), {})
    known = {one.name: getattr(made, one.name) for one in fields(made) if one.init}  # type: ignore[arg-type]
    found: _Made = kind(**{**known, **changes})
    return found
