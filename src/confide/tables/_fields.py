"""Checks that several roles of columns use: of the column's name, of the bounds, and of the treatment of values out of
bounds.
"""

from __future__ import annotations

from confide.contract.checks import finite, one_of
from confide.contract.errors import InvalidInput

__all__ = ["bounds", "column_name", "outside_and_unit"]


def column_name(value: object) -> str:
    """Check the name of a column.

    Raises:
        InvalidInput: the value is no text, or an empty one.
    """
    if not isinstance(value, str) or not value:
        raise InvalidInput("column", f"{value!r} is not a column name", "must be a text that is not empty")
    return value


def bounds(lower: object, upper: object) -> tuple[float, float]:
    """Check that two numbers are finite, and that the first number is below the second number.

    Raises:
        InvalidInput: the numbers are not finite, or the first number is not below the second number. The message names
            `lower` or `upper`.
    """
    low, high = finite("lower", lower), finite("upper", upper)
    if not low < high:
        raise InvalidInput("upper", f"{high:g} is not above lower = {low:g}")
    return low, high


def outside_and_unit(out_of_bounds: object, unit: object) -> None:
    """Check a role's treatment of values out of bounds, and the name of the role's unit.

    Raises:
        InvalidInput: `out_of_bounds` is neither "reject" nor "clip", or `unit` is no text; the message names the field.
    """
    one_of("out_of_bounds", out_of_bounds, ("reject", "clip"))
    if not isinstance(unit, str):
        raise InvalidInput("unit", f"{unit!r} is not a text")
