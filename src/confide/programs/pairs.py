"""Records of two tables: values and demands, contributions and what is allowed."""

from __future__ import annotations

from typing import Any

from confide.contract.errors import InvalidInput

__all__ = ["two"]


def two(name: str, data: Any, first: str, second: str) -> tuple[Any, Any]:
    """Both tables, from a pair of them.

    Args:
        name: of the field.
        data: a tuple or a list of two.
        first: what the first one is.
        second: what the other one is.

    Raises:
        InvalidInput: it is no pair.

    Example:
        >>> two("record", ([0.5], [1]), "values", "demands")
        ([0.5], [1])
    """
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise InvalidInput(name, f"{type(data).__name__} is no pair", f"must be ({first}, {second})")
    return data[0], data[1]
