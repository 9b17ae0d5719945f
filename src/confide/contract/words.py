"""Numbers as people read them."""

from __future__ import annotations

import math

__all__ = ["number"]


def number(value: str | float | None) -> str:
    """A table cell as text: four significant digits, thousands separated, an empty cell for None.

    Example:
        >>> number(61395), number(0.0123456), number(None), number(float("inf"))
        ('61,395', '0.01235', '', 'unlimited')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "not applicable"
    if math.isinf(value):
        return "unlimited" if value > 0 else "minus infinity"
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3e}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
