"""Old names of `confide.numerics` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.numerics`, and what the new ones give."""
    from confide import numerics as n
    from confide.privacy.accounting.sums import root_down, root_up

    return {
        ("", "root_down"): (lambda: n.root_down, root_down),  # type: ignore[attr-defined]
        ("", "root_up"): (lambda: n.root_up, root_up),  # type: ignore[attr-defined]
    }
