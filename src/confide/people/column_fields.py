"""From the public role of a column to the field of a form, so that a kind of rows has a form for free."""

from __future__ import annotations

import math

from confide.contract.asked import Field
from confide.tables import Category, Numeric
from confide.tables.column_rows import Role

__all__ = ["MOVED", "field_of"]

MOVED = "A number beyond these ends counts as the nearer one."
"""Said where a number out of bounds is moved to them."""


def field_of(role: Role, *, label: str = "", note: str = "") -> Field:
    """What is asked for a column.

    Args:
        role: of the column.
        label: the question; the column's name where it is left out.
        note: what she has to know beside it.

    Example:
        >>> field_of(Category(column="mood", levels=("bad", "good"))).choices
        ('bad', 'good')
        >>> clipped = field_of(Numeric(column="age", lower=20, upper=60, out_of_bounds="clip", unit="years"))
        >>> clipped.highest, clipped.note
        (None, 'From 20 to 60 years. A number beyond these ends counts as the nearer one.')
    """
    name = label or role.column
    if isinstance(role, Category):
        return Field(column=role.column, label=name, form="choice", choices=role.levels, note=note)
    unit = role.unit if isinstance(role, Numeric) else ""
    if isinstance(role, Numeric) and role.out_of_bounds == "clip":
        ends = f"From {role.lower:.12g} to {role.upper:.12g}{f' {unit}' if unit else ''}. {MOVED}"
        return Field(column=role.column, label=name, form="number", unit=unit,
                     note=" ".join(filter(None, (note, ends))))
    low, high = (end if math.isfinite(end) else None for end in (role.lower, role.upper))
    return Field(column=role.column, label=name, form="number", lowest=low, highest=high, unit=unit, note=note)
