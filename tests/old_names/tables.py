"""Old names of `confide.tables` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.tables`, and what the new ones give."""
    from confide import tables as t

    return {("", "Source"): (lambda: t.Source, t.TableSource)}  # type: ignore[attr-defined]
